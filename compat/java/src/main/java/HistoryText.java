import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** A history: a table, and what is done to it step by step. The format is drawn in compat/histories/README.md. */
record HistoryText(int number, Set<String> features, String table, List<Step> steps) {
  /** One line of a history, and the lines a server answered it with. */
  record Step(String text, List<String> answer) {
    /** Steps that every history of a table takes together. */
    boolean isMaintenance() {
      return text.equals("flush") || text.equals("compact");
    }

    String verb() {
      int end = text.indexOf(' ');
      return end < 0 ? text : text.substring(0, end);
    }
  }

  /** Histories that can share a table: the same families, flushed and compacted at the same places. */
  String group() {
    List<String> group = new ArrayList<>(List.of(HistoryTables.families(table)));
    steps.stream().filter(Step::isMaintenance).map(Step::text).forEach(group::add);
    return String.join(" ", group);
  }

  HistoryText withSteps(List<Step> others) {
    return new HistoryText(number, features, table, others);
  }

  private void write(Writer out) throws IOException {
    out.write("history " + number + " " + String.join(",", features) + "\ntable " + table + "\n");
    for (Step step : steps) {
      out.write(step.text + "\n");
      for (String line : step.answer) out.write("= " + line + "\n");
    }
    out.write("\n");
  }

  static void writeAll(Path file, List<HistoryText> histories) throws IOException {
    try (OutputStream plain = Files.newOutputStream(file);
        OutputStream bytes = isZipped(file) ? new GZIPOutputStream(plain) : plain;
        Writer out = new BufferedWriter(new OutputStreamWriter(bytes, StandardCharsets.UTF_8))) {
      for (HistoryText history : histories) history.write(out);
    }
  }

  static List<HistoryText> readAll(Path file) throws IOException {
    List<HistoryText> histories = new ArrayList<>();
    try (InputStream plain = Files.newInputStream(file);
        InputStream bytes = isZipped(file) ? new GZIPInputStream(plain) : plain;
        BufferedReader in = new BufferedReader(new InputStreamReader(bytes, StandardCharsets.UTF_8))) {
      String header = null;
      for (String line; (line = in.readLine()) != null; ) {
        if (line.isBlank() || line.startsWith("#")) continue;
        HistoryText last = histories.isEmpty() ? null : histories.get(histories.size() - 1);
        if (line.startsWith("history ")) header = line;
        else if (line.startsWith("table ") && header != null) {
          histories.add(begin(header, line.substring("table ".length())));
          header = null;
        } else if (last == null || header != null) throw new IOException("a step before its table: " + line);
        else if (!line.startsWith("= ")) last.steps.add(new Step(line, new ArrayList<>()));
        else if (last.steps.isEmpty()) throw new IOException("an answer before its step: " + line);
        else last.steps.get(last.steps.size() - 1).answer.add(line.substring(2));
      }
    }
    return histories;
  }

  private static HistoryText begin(String header, String table) throws IOException {
    String[] words = header.split(" ", 3);
    if (words.length != 3) throw new IOException("not `history NUMBER FEATURES`: " + header);
    return new HistoryText(Integer.parseInt(words[1]), new TreeSet<>(Arrays.asList(words[2].split(","))), table, new ArrayList<>());
  }

  private static boolean isZipped(Path file) {
    return file.toString().endsWith(".gz");
  }
}
