import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Takes the steps of histories on a server. Those that can share a table do: each has its own rows, and they wait for
 * each other before the table is flushed or compacted.
 */
final class HistoryRun {
  private final Connection connection;
  private final Admin admin;

  HistoryRun(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  /** The same histories, with the answers of this server. */
  List<HistoryText> answer(List<HistoryText> histories) throws Exception {
    Map<String, List<HistoryText>> groups = new LinkedHashMap<>();
    for (HistoryText history : histories) groups.computeIfAbsent(history.group(), key -> new ArrayList<>()).add(history);
    Map<Integer, HistoryText> answered = new LinkedHashMap<>();
    for (HistoryText history : histories) answered.put(history.number(), null);
    if (answered.size() < histories.size()) throw new IOException("two histories have the same number");
    for (List<HistoryText> group : groups.values()) {
      for (HistoryText history : together(group)) answered.put(history.number(), history);
    }
    return new ArrayList<>(answered.values());
  }

  private List<HistoryText> together(List<HistoryText> group) throws Exception {
    TableName name = TableName.valueOf("history_" + group.get(0).number());
    List<byte[]> splits = new ArrayList<>();
    for (HistoryText history : group) {
      String split = HistoryTables.split(history.table());
      if (split != null) splits.add(Bytes.toBytes(prefix(history) + split));
    }
    HistoryTables.create(admin, name, HistoryTables.families(group.get(0).table()), splits);
    List<HistoryText> answered = new ArrayList<>();
    for (HistoryText history : group) answered.add(history.withSteps(new ArrayList<>()));
    try (Table table = connection.getTable(name)) {
      floor(table, group.get(0).table());
      for (boolean more = true; more; ) {
        String maintenance = null;
        for (int i = 0; i < group.size(); i++) maintenance = untilMaintenance(table, group.get(i), answered.get(i));
        more = maintenance != null;
        if (more) HistoryTables.maintain(admin, name, maintenance);
      }
    }
    Cluster.drop(admin, name);
    return answered;
  }

  /**
   * An old put in each family, before every row of a history; in one with a TTL it is of 2000, which is alive. Which markers a compaction keeps where KEEP_DELETED_CELLS says so
   * depends on the oldest put of the whole store, and histories are not to see each other.
   */
  private static void floor(Table table, String families) throws IOException {
    Put put = new Put(Bytes.toBytes("!"));
    HistoryTables.attributes(families).forEach((family, attributes) -> {
      long time = attributes.containsKey("TTL") ? 946_684_800_000L : 0;
      put.addColumn(Bytes.toBytes(family), Bytes.toBytes("floor"), time, Bytes.toBytes("0"));
    });
    table.put(put);
  }

  /** Takes the steps up to the next that is for the whole table, which is returned; null at the end. */
  private String untilMaintenance(Table table, HistoryText history, HistoryText answered) throws Exception {
    while (answered.steps().size() < history.steps().size()) {
      HistoryText.Step step = history.steps().get(answered.steps().size());
      List<String> answer = step.isMaintenance() ? List.of() : answer(table, prefix(history), step);
      answered.steps().add(new HistoryText.Step(step.text(), answer));
      if (step.isMaintenance()) return step.text();
    }
    return null;
  }

  static String prefix(HistoryText history) {
    return String.format("%06d/", history.number());
  }

  private static List<String> answer(Table table, String prefix, HistoryText.Step step) throws Exception {
    List<String> lines = new ArrayList<>();
    long begun = System.nanoTime();
    try {
      take(table, prefix, step, lines);
    } catch (IOException | RuntimeException error) {
      lines.add(show(error));
    }
    if (System.nanoTime() - begun > 10_000_000_000L) System.err.println("no answer to " + prefix + " " + step.text() + ": " + lines);
    // What is stamped next is to be later, and what lives for a millisecond is to be over: rowhouse's stamps may be five ahead of the clock.
    if (HistoryMutations.takesTime(step.text())) Thread.sleep(step.text().contains("ttl=1 ") ? 10 : 2);
    return lines;
  }

  private static void take(Table table, String prefix, HistoryText.Step step, List<String> lines) throws Exception {
    HistoryMutations mutations = new HistoryMutations(prefix);
    HistoryReads reads = new HistoryReads(prefix);
    String text = step.text();
    switch (step.verb()) {
      case "get" -> lines.add(reads.show(table.get(reads.get(text))));
      case "exists" -> lines.add(Boolean.toString(table.exists(reads.get(text))));
      case "scan" -> scan(table, reads, reads.scan(text), lines);
      case "check" -> {
        CheckAndMutateResult result = table.checkAndMutate(mutations.check(text));
        lines.add(result.isSuccess() + (result.getResult() == null ? "" : " " + reads.show(result.getResult())));
      }
      case "list" -> list(table, mutations, reads, text.substring("list ".length()), lines);
      default -> mutate(table, reads, mutations.parse(text), lines);
    }
  }

  private static void mutate(Table table, HistoryReads reads, Row mutation, List<String> lines) throws Exception {
    if (mutation instanceof Put put) table.put(put);
    else if (mutation instanceof Delete delete) table.delete(delete);
    else if (mutation instanceof Increment increment) lines.add(reads.show(table.increment(increment)));
    else if (mutation instanceof Append append) lines.add(reads.show(table.append(append)));
    else lines.add(reads.show(table.mutateRow((RowMutations) mutation)));
  }

  /** Parts of rows are shown as they come where their ends are asked for, and put together where the server chooses them. */
  private static void scan(Table table, HistoryReads reads, Scan scan, List<String> lines) throws Exception {
    List<Result> parts = new ArrayList<>();
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result; (result = scanner.next()) != null; ) {
        Result before = parts.isEmpty() ? null : parts.get(parts.size() - 1);
        if (!scan.getAllowPartialResults() || before == null || !Bytes.equals(before.getRow(), result.getRow())) parts.add(result);
        else parts.set(parts.size() - 1, Result.create(Stream.concat(before.listCells().stream(), result.listCells().stream()).toList()));
      }
    }
    for (int i = 0; i < parts.size(); i++) lines.add(reads.show(parts.get(i), i + 1 < parts.size() ? parts.get(i + 1) : null));
    if (lines.isEmpty()) lines.add("-");
  }

  private static void list(Table table, HistoryMutations mutations, HistoryReads reads, String text, List<String> lines) throws Exception {
    List<Row> actions = new ArrayList<>();
    for (String part : text.split(" ; ")) {
      actions.add(part.startsWith("get ") ? reads.get(part) : part.startsWith("check ") ? mutations.check(part) : mutations.parse(part));
    }
    Object[] results = new Object[actions.size()];
    try {
      table.batch(actions, results);
    } catch (RetriesExhaustedWithDetailsException error) {
      // Each is in its place of the results.
    }
    for (Object result : results) {
      if (result instanceof Result row) lines.add(reads.show(row));
      else if (result instanceof CheckAndMutateResult check) lines.add(Boolean.toString(check.isSuccess()) + " " + reads.show(check.getResult()));
      else lines.add(result instanceof Throwable error ? show(error) : String.valueOf(result));
    }
  }

  /** The class alone: messages name regions and machines. */
  private static String show(Throwable error) {
    Throwable cause = error;
    if (cause instanceof RetriesExhaustedWithDetailsException details) cause = details.getCause(0);
    while (cause instanceof RetriesExhaustedException && cause.getCause() != null) cause = cause.getCause();
    if (System.getProperty("history.errors") != null) System.err.println(cause);
    return "error " + cause.getClass().getSimpleName();
  }
}
