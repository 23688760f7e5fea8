import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** Named checks, one line each, and a count at the end. */
final class Checks {
  private int passed;
  private int failed;
  private int notYet;
  /** Checks that a server may still refuse, as "not supported": patterns of their names, one a line of the file -Dnot.yet names. */
  private final List<Pattern> later = later();

  interface Attempt {
    Object run() throws Exception;
  }

  /** The two print the same. A check that throws fails, and the ones after it still run. */
  void equal(String name, Object expected, Attempt actual) {
    Object got;
    try {
      got = actual.run();
    } catch (Exception e) {
      got = e;
    }
    report(name, Objects.toString(expected), Objects.toString(got));
  }

  /** Refused with this exception class, and a message whose first line contains a match of the pattern. */
  void refused(String name, Class<? extends Throwable> type, String message, Attempt attempt) {
    String expected = type.getName() + " /" + message + "/";
    try {
      report(name, expected, "no exception, but " + attempt.run());
    } catch (Throwable e) {
      String text = Objects.toString(e.getMessage(), "");
      String line = text.lines().findFirst().orElse("");
      boolean fits = e.getClass() == type && Pattern.compile(message).matcher(line).find();
      report(name, expected, fits ? expected : e.getClass().getName() + " /" + text.replace("\n", "\\n") + "/");
    }
  }

  /** Ends the program: status 0 when every check passed. */
  void finish() {
    System.out.println(passed + " ok, " + failed + " failed" + (notYet == 0 ? "" : ", " + notYet + " not yet"));
    System.exit(failed == 0 ? 0 : 1);
  }

  private void report(String name, String expected, String got) {
    boolean fits = expected.equals(got);
    if (later.stream().anyMatch(pattern -> pattern.matcher(name).matches())) {
      if (!fits && got.contains("not supported")) {
        notYet++;
        System.out.println("not yet " + name);
        return;
      }
      if (fits) {
        failed++;
        System.out.println("FAIL " + name + ": it is supported now, take it off the list of what is not");
        return;
      }
    }
    if (fits) passed++;
    else failed++;
    System.out.println(fits ? "ok " + name : "FAIL " + name + ": expected " + expected + " got " + got);
  }

  private static List<Pattern> later() {
    String file = System.getProperty("not.yet");
    if (file == null) return List.of();
    try (Stream<String> lines = Files.lines(Path.of(file))) {
      return lines.filter(line -> !line.isBlank() && !line.startsWith("#")).map(Pattern::compile).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A result as text: {@code row cf:q@ts=value …}; without {@code @ts} where the timestamp was the server's. */
  static String show(Result result) {
    if (result.isEmpty()) return "-";
    return Bytes.toStringBinary(result.getRow()) + " "
        + Stream.of(result.rawCells()).map(Checks::show).collect(Collectors.joining(" "));
  }

  static String show(Table table, Scan scan) throws Exception {
    try (ResultScanner scanner = table.getScanner(scan)) {
      StringBuilder text = new StringBuilder();
      for (Result result; (result = scanner.next()) != null; ) {
        text.append(text.length() == 0 ? "" : " | ").append(show(result));
      }
      return text.toString();
    }
  }

  /** The row keys a scan returns, in its order. */
  static String rows(Table table, Scan scan) throws Exception {
    try (ResultScanner scanner = table.getScanner(scan)) {
      StringBuilder text = new StringBuilder();
      for (Result result; (result = scanner.next()) != null; ) {
        text.append(text.length() == 0 ? "" : " ").append(Bytes.toStringBinary(result.getRow()));
      }
      return text.toString();
    }
  }

  private static String show(Cell cell) {
    boolean servers = cell.getTimestamp() > 1_000_000_000_000L;
    String kind = cell.getType() == Cell.Type.Put ? "=" + Bytes.toStringBinary(CellUtil.cloneValue(cell)) : " " + cell.getType();
    return Bytes.toStringBinary(CellUtil.cloneFamily(cell)) + ":" + Bytes.toStringBinary(CellUtil.cloneQualifier(cell))
        + (servers ? "" : "@" + cell.getTimestamp()) + kind;
  }
}
