import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/**
 * Random histories, and what servers answer to them:
 *
 * <pre>
 * History REGISTRY HOST:PORT record FILE FIRST COUNT [FEATURES]   writes the histories FIRST … with this server's answers
 * History REGISTRY HOST:PORT replay FILE [FEATURES]               takes the same steps on this server and compares
 * History REGISTRY HOST:PORT shrink FILE NUMBER REGISTRY HOST:PORT
 *     removes steps from a history as long as the two servers still answer something in it differently
 * </pre>
 *
 * FEATURES (HistoryMaker.FEATURES, with commas; by default all) are what recorded histories may use, and of replayed ones those
 * that use nothing else are taken. A FILE that ends in .gz is compressed.
 */
public final class History {
  private static final int SHOWN = 40;

  public static void main(String[] args) throws Exception {
    if (args.length < 4) {
      System.err.println("usage: History REGISTRY HOST:PORT record FILE FIRST COUNT [FEATURES] | replay FILE [FEATURES] | shrink FILE NUMBER REGISTRY HOST:PORT");
      System.exit(2);
    }
    Path file = Path.of(args[3]);
    int differences = 0;
    try (Connection connection = connect(args[0], args[1]); Admin admin = connection.getAdmin()) {
      HistoryRun run = new HistoryRun(connection, admin);
      switch (args[2]) {
        case "record" -> record(run, file, Integer.parseInt(args[4]), Integer.parseInt(args[5]), features(args, 6));
        case "replay" -> differences = replay(run, file, features(args, 4));
        case "shrink" -> {
          try (Connection other = connect(args[5], args[6]); Admin otherAdmin = other.getAdmin()) {
            shrink(run, new HistoryRun(other, otherAdmin), file, Integer.parseInt(args[4]));
          }
        }
        default -> throw new IOException("record, replay or shrink, not " + args[2]);
      }
    }
    System.exit(differences == 0 ? 0 : 1);
  }

  /** Errors are to come soon. */
  private static Connection connect(String registry, String address) throws IOException {
    Configuration conf = Cluster.configuration(registry, address);
    conf.setInt("hbase.client.retries.number", 4);
    conf.setInt("hbase.client.pause", 50);
    conf.setInt("hbase.rpc.timeout", 20_000);
    conf.setInt("hbase.client.operation.timeout", 60_000);
    conf.setInt("hbase.client.scanner.timeout.period", 20_000);
    return ConnectionFactory.createConnection(conf);
  }

  private static Set<String> features(String[] args, int at) {
    Set<String> features = new TreeSet<>(args.length > at ? Arrays.asList(args[at].split(",")) : HistoryMaker.FEATURES);
    features.add("base");
    for (String feature : features) {
      if (!feature.equals("base") && !HistoryMaker.FEATURES.contains(feature)) throw new IllegalArgumentException("no such feature: " + feature);
    }
    return features;
  }

  private static void record(HistoryRun run, Path file, int first, int count, Set<String> features) throws Exception {
    List<HistoryText> histories = new ArrayList<>();
    for (int number = first; number < first + count; number++) histories.add(HistoryMaker.make(number, features));
    List<HistoryText> answered = run.answer(histories);
    // It leaves a scanner open, for which the server keeps in the table what compactions should drop.
    Set<String> failed = answered.stream().filter(History::failed).map(HistoryText::group).collect(Collectors.toSet());
    List<HistoryText> kept = answered.stream().filter(history -> !failed.contains(history.group())).toList();
    HistoryText.writeAll(file, kept);
    System.out.println("recorded " + kept.size() + " histories of " + kept.stream().mapToInt(history -> history.steps().size()).sum() + " steps"
        + (kept.size() == count ? "" : ", without those that shared a table with a read in which the server itself failed"));
  }

  /** Whether a read ended in an exception that the server did not foresee: what it refuses is a DoNotRetryIOException. */
  private static boolean failed(HistoryText history) {
    return history.steps().stream().anyMatch(step -> Set.of("get", "exists", "scan").contains(step.verb()) && step.answer().contains("error IOException"));
  }

  private static int replay(HistoryRun run, Path file, Set<String> features) throws Exception {
    List<HistoryText> recorded = HistoryText.readAll(file).stream().filter(history -> features.containsAll(history.features())).toList();
    for (HistoryText history : recorded) {
      if (!HistoryRules.hold(history.table(), history.steps())) throw new IOException("history " + history.number() + " has no single answer: see HistoryRules");
    }
    List<HistoryText> answered = run.answer(recorded);
    int histories = 0, steps = 0;
    TreeMap<String, Integer> verbs = new TreeMap<>();
    for (int i = 0; i < recorded.size(); i++) {
      int at = firstDifference(recorded.get(i), answered.get(i));
      for (HistoryText.Step step : recorded.get(i).steps()) if (!step.answer().isEmpty()) steps++;
      if (at < 0) continue;
      if (histories++ < SHOWN) show(recorded.get(i), answered.get(i), at);
      verbs.merge(recorded.get(i).steps().get(at).verb(), 1, Integer::sum);
    }
    System.out.println(recorded.size() + " histories, " + steps + " answers; " + histories + " histories differ" + (histories == 0 ? "" : " first in " + verbs));
    return histories;
  }

  private static int firstDifference(HistoryText one, HistoryText other) {
    for (int i = 0; i < one.steps().size(); i++) {
      if (!one.steps().get(i).answer().equals(other.steps().get(i).answer())) return i;
    }
    return -1;
  }

  private static void show(HistoryText recorded, HistoryText answered, int at) {
    System.out.println("FAIL history " + recorded.number() + " " + String.join(",", recorded.features()) + ": " + recorded.steps().get(at).text());
    recorded.steps().get(at).answer().forEach(line -> System.out.println("  expected " + line));
    answered.steps().get(at).answer().forEach(line -> System.out.println("       got " + line));
  }

  private static void shrink(HistoryRun one, HistoryRun other, Path file, int number) throws Exception {
    HistoryText history = HistoryText.readAll(file).stream().filter(candidate -> candidate.number() == number).findFirst().orElseThrow();
    HistoryText least = differing(one, other, history);
    if (least == null) throw new IOException("both answer history " + number + " alike");
    for (int size = Math.max(1, least.steps().size() / 2); ; size = Math.max(1, size / 2)) {
      boolean smaller = false;
      for (int at = least.steps().size() - size; at >= 0; at -= size) {
        if (at + size > least.steps().size()) continue;
        List<HistoryText.Step> steps = new ArrayList<>(least.steps());
        steps.subList(at, at + size).clear();
        if (steps.isEmpty() || !HistoryRules.hold(least.table(), steps)) continue;
        HistoryText found = differing(one, other, least.withSteps(steps));
        if (found == null) continue;
        least = found;
        smaller = true;
      }
      if (size == 1 && !smaller) break;
    }
    System.out.println("history " + number + " " + String.join(",", least.features()) + "\ntable " + least.table());
    HistoryText answered = other.answer(List.of(least)).get(0);
    for (int i = 0; i < least.steps().size(); i++) {
      HistoryText.Step step = least.steps().get(i);
      System.out.println(step.text());
      step.answer().forEach(line -> System.out.println("= " + line));
      if (!step.answer().equals(answered.steps().get(i).answer())) answered.steps().get(i).answer().forEach(line -> System.out.println("# differs: " + line));
    }
  }

  /** The history up to the first different answer, with the answers of {@code one}; null when there is none. */
  private static HistoryText differing(HistoryRun one, HistoryRun other, HistoryText history) throws Exception {
    HistoryText expected = one.answer(List.of(history)).get(0), got = other.answer(List.of(history)).get(0);
    int at = firstDifference(expected, got);
    return at < 0 ? null : expected.withSteps(new ArrayList<>(expected.steps().subList(0, at + 1)));
  }
}
