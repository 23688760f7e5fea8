import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.coprocessor.AggregationClient;
import org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Scans with the attribute rowhouse.query, and indexes declared by modifyTable, which Apache HBase does not have: Queries REGISTRY
 * HOST:PORT. Every answer is that of a full scan whose rows the client chooses.
 */
public final class Queries {
  private static final TableName MAIL = TableName.valueOf("queries"), ENTRIES = TableName.valueOf("queries.by_sender");
  private static final byte[] D = Bytes.toBytes("d"), S = Bytes.toBytes("s"), Z = Bytes.toBytes("z"), TEXT = Bytes.toBytes("text");
  private static final int ROWS = 3000;

  private record Question(String query, Predicate<Result> matches) {}

  private static final List<Question> QUESTIONS = List.of(
      new Question("sender = 'eve'", row -> sender(row).equals("eve")),
      new Question("sender = 'eve' and size >= 500", row -> sender(row).equals("eve") && size(row) >= 500),
      new Question("user = 'u07'", row -> Bytes.toString(row.getRow()).startsWith("u07-")),
      new Question("size < 300", row -> size(row) < 300),
      new Question("at during 2022-12-10", row -> day(row) == 10),
      new Question("sender = 'nobody'", row -> false));

  private final Checks checks = new Checks();

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin(); Table mail = connection.getTable(MAIL)) {
      new Queries().run(connection, admin, mail);
    } catch (Exception failed) {
      failed.printStackTrace();
      System.exit(1); // A thread may still scan.
    }
  }

  private void run(Connection connection, Admin admin, Table mail) throws Exception {
    Cluster.drop(admin, MAIL);
    TableDescriptorBuilder described = TableDescriptorBuilder.newBuilder(MAIL).setColumnFamily(ColumnFamilyDescriptorBuilder.of(D))
        .setCoprocessor("org.apache.hadoop.hbase.coprocessor.AggregateImplementation");
    described.setValue("rowhouse.key", "1 [user text]-[at ymd]-[n digits 4]").setValue("rowhouse.columns", "1 d:s sender string; d:z size u64");
    admin.createTable(described.build(), new byte[][] {Bytes.toBytes("u3")});
    write(mail);
    compare("by key", mail);
    refusals(mail);
    described.setValue("rowhouse.indexes", "1 by_sender [sender]");
    admin.modifyTable(described.build());
    ready(admin);
    compare("by index", mail);
    checks.equal("rows that are looked at", (long) rows(mail, new Scan(), QUESTIONS.get(0).matches).size(), () -> {
      try (ResultScanner results = mail.getScanner(asked(new Scan().setScanMetricsEnabled(true), QUESTIONS.get(0)))) {
        while (results.next() != null) {}
        return results.getScanMetrics().countOfRowsScanned.get();
      }
    });
    checks.equal("aggregate", (long) rows(mail, new Scan(), QUESTIONS.get(0).matches).size(), () -> {
      try (AggregationClient client = new AggregationClient(connection.getConfiguration())) {
        return client.rowCount(mail, new LongColumnInterpreter(), asked(new Scan().addFamily(D), QUESTIONS.get(0)));
      } catch (Throwable failed) {
        throw new IllegalStateException(failed);
      }
    });
    entries(connection, mail);
    procedures(admin, mail);
    splits(admin, mail);
    checks.refused("a declaration that is wrong", DoNotRetryIOException.class, "did you mean `sender`", () -> {
      admin.modifyTable(described.setValue("rowhouse.indexes", "1 by_sender [sendr]").build());
      return "altered";
    });
    Cluster.drop(admin, MAIL);
    checks.equal("the entries are dropped too", false, () -> admin.tableExists(ENTRIES));
    checks.finish();
  }

  private static void write(Table mail) throws Exception {
    List<Put> puts = new ArrayList<>();
    for (int n = 0; n < ROWS; n++) {
      Put put = new Put(Bytes.toBytes(String.format("u%02d-202212%02d-%04d", n % 60, 1 + n % 31, n)));
      put.addColumn(D, S, Bytes.toBytes(n % 150 == 0 ? "eve" : "x" + n % 9));
      put.addColumn(D, Z, ByteBuffer.allocate(8).putLong(n * 7919L % 1000).array());
      puts.add(put.addColumn(D, TEXT, Bytes.toBytes("text")));
    }
    mail.put(puts);
    mail.put(new Put(Bytes.toBytes("no fit")).addColumn(D, S, Bytes.toBytes("eve")));
    mail.delete(new Delete(puts.get(300).getRow()));
  }

  private void compare(String how, Table mail) throws Exception {
    for (Question question : QUESTIONS) {
      for (Scan scan : List.of(new Scan(), new Scan().setCaching(1), new Scan().setReversed(true).setCaching(3), new Scan().setLimit(5),
          new Scan().setMaxResultSize(100), new Scan().setBatch(2), new Scan().withStartRow(Bytes.toBytes("u05")).withStopRow(Bytes.toBytes("u4")),
          new Scan().withStartRow(Bytes.toBytes("u4")).withStopRow(Bytes.toBytes("u05")).setReversed(true).setLimit(20))) {
        checks.equal(how + ": " + question.query + " " + scan, rows(mail, scan, question.matches), () -> rows(mail, asked(scan, question), row -> true));
      }
    }
    Question eve = QUESTIONS.get(0);
    checks.equal(how + ": other columns", rows(mail, new Scan(), eve.matches).size(), () -> {
      List<String> texts = rows(mail, asked(new Scan().addColumn(D, TEXT), eve), row -> row.size() == 1 && row.containsColumn(D, TEXT));
      return texts.size();
    });
    checks.equal(how + ": a page of each region", 6, () -> rows(mail, asked(new Scan().setFilter(new PageFilter(3)), eve), row -> true).size());
  }

  private void refusals(Table mail) {
    checks.refused("an unknown name", DoNotRetryIOException.class, "did you mean `sender`", () -> rows(mail, asked("sendr = 'eve'"), row -> true));
    checks.refused("no query", DoNotRetryIOException.class, "expected a value", () -> rows(mail, asked("sender = = 'eve'"), row -> true));
    checks.refused("a get", DoNotRetryIOException.class, "attribute=rowhouse.query",
        () -> mail.get(new Get(Bytes.toBytes("u00")).setAttribute("rowhouse.query", Bytes.toBytes("sender = 'eve'"))));
  }

  /** Everyone reads the table of an index, and no client writes it. */
  private void entries(Connection connection, Table mail) throws Exception {
    try (Table entries = connection.getTable(ENTRIES)) {
      checks.equal("entries", rows(mail, new Scan(), row -> true).size(), () -> rows(entries, new Scan(), row -> true).size());
      checks.refused("a write", DoNotRetryIOException.class, "queries.by_sender holds the entries of index .*the rows of queries", () -> {
        entries.put(new Put(Bytes.toBytes("x")).addColumn(Bytes.toBytes("e"), new byte[0], new byte[0]));
        return "written";
      });
    }
  }

  /** Indexes are verified and repaired by procedures. */
  private void procedures(Admin admin, Table mail) throws Exception {
    Map<String, String> verify = Map.of("index", "by_sender", "operation", "verify");
    Map<String, String> repair = Map.of("index", "by_sender", "operation", "repair");
    int rows = rows(mail, new Scan(), row -> true).size();
    // A row does not fit the template and has no entry.
    String clean = "done=true rows=" + (rows + 1) + " unfit_rows=1 entries=" + rows + " missing=0 stale=0";
    checks.equal("a check that answers", clean, () -> Bytes.toString(admin.execProcedureWithReturn("rowhouse-index", MAIL.toString(), verify)));
    checks.equal("a check that is waited for", true, () -> {
      admin.execProcedure("rowhouse-index", MAIL.toString(), verify);
      return admin.isProcedureFinished("rowhouse-index", MAIL.toString(), verify);
    });
    checks.equal("a repair that is waited for", "ready", () -> {
      admin.execProcedure("rowhouse-index", MAIL.toString(), repair);
      return admin.getDescriptor(ENTRIES).getValue("rowhouse.index_state");
    });
    checks.equal("after the repair", clean, () -> Bytes.toString(admin.execProcedureWithReturn("rowhouse-index", MAIL.toString(), verify)));
    checks.refused("an index that is none", DoNotRetryIOException.class, "no index `by_size` is declared", () -> {
      admin.execProcedure("rowhouse-index", MAIL.toString(), Map.of("index", "by_size", "operation", "verify"));
      return "verified";
    });
    checks.refused("an unknown operation", DoNotRetryIOException.class, "operation=rebuild", () -> {
      admin.execProcedure("rowhouse-index", MAIL.toString(), Map.of("index", "by_sender", "operation", "rebuild"));
      return "rebuilt";
    });
  }

  /** Regions split beside scans in both directions. */
  private void splits(Admin admin, Table mail) throws Exception {
    Question eve = QUESTIONS.get(0);
    AtomicBoolean ended = new AtomicBoolean();
    List<CompletableFuture<Integer>> scans = new ArrayList<>();
    for (boolean reversed : new boolean[] {false, true}) {
      Scan scan = new Scan().setReversed(reversed).setCaching(2);
      String expected = rows(mail, scan, eve.matches).toString();
      scans.add(CompletableFuture.supplyAsync(() -> {
        int count = 0;
        for (; !ended.get() || count == 0; count++) {
          try {
            String found = rows(mail, asked(scan, eve), row -> true).toString();
            if (!found.equals(expected)) throw new IllegalStateException("scan " + count + ": " + found + " instead of " + expected);
          } catch (Exception failed) {
            throw new IllegalStateException(failed);
          }
        }
        return count;
      }));
    }
    for (String at : List.of("u1", "u5", "u15", "u45", "u05", "u55")) split(admin, Bytes.toBytes(at));
    ended.set(true);
    for (CompletableFuture<Integer> scan : scans) checks.equal("scans beside splits", true, () -> scan.get(60, TimeUnit.SECONDS) > 0);
    checks.equal("regions", 8, () -> admin.getRegions(MAIL).size());
    compare("after splits", mail);
  }

  private static void split(Admin admin, byte[] at) throws Exception {
    for (int attempt = 0; ; attempt++) {
      RegionInfo region = admin.getRegions(MAIL).stream().filter(it -> it.containsRow(at)).findFirst().orElseThrow();
      try {
        admin.splitRegionAsync(region.getRegionName(), at).get(60, TimeUnit.SECONDS);
        return;
      } catch (ExecutionException error) {
        // Files that the last split left may have to be written anew first.
        if (attempt == 100) throw error;
        admin.majorCompact(MAIL);
        Thread.sleep(500);
      }
    }
  }

  private static void ready(Admin admin) throws Exception {
    for (int attempt = 0; attempt < 600; attempt++) {
      TableDescriptor entries = admin.getDescriptor(ENTRIES);
      if ("ready".equals(entries.getValue("rowhouse.index_state"))) return;
      Thread.sleep(100);
    }
    throw new IllegalStateException("the index is not ready: " + admin.getDescriptor(ENTRIES));
  }

  private static Scan asked(Scan scan, Question question) throws Exception {
    return new Scan(scan).setAttribute("rowhouse.query", Bytes.toBytes(question.query));
  }

  private static Scan asked(String query) throws Exception {
    return asked(new Scan(), new Question(query, row -> false));
  }

  /** The rows of a scan that match, up to its limit, which counts these. Rows whose keys do not fit never do. */
  private static List<String> rows(Table table, Scan scan, Predicate<Result> matches) throws Exception {
    boolean chosenHere = scan.getAttribute("rowhouse.query") == null;
    Scan sent = new Scan(scan);
    if (chosenHere) sent.setLimit(-1).setBatch(-1).setCaching(1000);
    List<String> rows = new ArrayList<>();
    String last = null;
    int count = 0;
    try (ResultScanner results = table.getScanner(sent)) {
      for (Result row; (row = results.next()) != null; ) {
        if (!matches.test(row) || (chosenHere && Bytes.toString(row.getRow()).equals("no fit"))) continue;
        String key = Bytes.toStringBinary(row.getRow());
        // With a batch a row has several results.
        if (key.equals(last) && scan.getBatch() > 0) continue;
        if (chosenHere && scan.getLimit() > 0 && count == scan.getLimit()) break;
        last = key;
        count++;
        rows.add(key);
      }
    }
    return rows;
  }

  private static String sender(Result row) {
    return Bytes.toString(row.getValue(D, S));
  }

  private static long size(Result row) {
    return row.containsColumn(D, Z) ? Bytes.toLong(row.getValue(D, Z)) : -1;
  }

  private static int day(Result row) {
    String key = Bytes.toString(row.getRow());
    return key.startsWith("no") ? 0 : Integer.parseInt(key.substring(10, 12));
  }
}
