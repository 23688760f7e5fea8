import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.ScanResultConsumer;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Scans of the asynchronous client, several at once, over nine regions and with every bound on an answer: all of them end, with every
 * row once and in order. AsyncScans REGISTRY HOST:PORT [ROUNDS].
 *
 * <p>The client suspends a scan when its cache is full and resumes it on the thread that takes rows, where an answer that arrives at
 * once meets code that was written for answers that take longer (FACTS.md).
 */
public final class AsyncScans {
  private static final TableName TABLE = TableName.valueOf("async_scans");
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final int ROWS = 1000;
  private static final int AT_ONCE = 4;
  private static final long SECONDS_MAX = 30;

  public static void main(String[] args) throws Exception {
    int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 5;
    Checks checks = new Checks();
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      fill(connection, admin);
      ExecutorService pool = Executors.newFixedThreadPool(2 * AT_ONCE);
      try (AsyncConnection async = ConnectionFactory.createAsyncConnection(connection.getConfiguration()).get()) {
        for (long maxResultSize : new long[] {1, 200, 5000, -1}) {
          for (boolean isReversed : new boolean[] {false, true}) {
            long bytes = maxResultSize;
            boolean reversed = isReversed;
            String name = "maxResultSize " + bytes + (reversed ? " reversed" : "");
            checks.equal("getScanner with a pool, " + name, "ok", () -> all(rounds, () -> read(async.getTable(TABLE, pool), bytes, reversed, 0)));
            checks.equal("getScanner, " + name, "ok", () -> all(rounds, () -> read(async.getTable(TABLE), bytes, reversed, 0)));
            checks.equal("getScanner, batch 1, " + name, "ok", () -> all(rounds, () -> read(async.getTable(TABLE), bytes, reversed, 1)));
            checks.equal("scan with a pool, " + name, "ok", () -> all(rounds, () -> consume(async.getTable(TABLE, pool), bytes, reversed)));
          }
        }
      }
      pool.shutdownNow();
    }
    checks.finish();
  }

  private static void fill(Connection connection, Admin admin) throws Exception {
    Cluster.drop(admin, TABLE);
    byte[][] splits = new byte[8][];
    for (int i = 0; i < splits.length; i++) splits[i] = Bytes.toBytes(String.format("%03d", 111 * (i + 1)));
    admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build(), splits);
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      Put put = new Put(Bytes.toBytes(String.format("%03d", i)));
      puts.add(put.addColumn(CF, Bytes.toBytes("a"), Bytes.toBytes(i)));
    }
    try (Table table = connection.getTable(TABLE)) {
      table.put(puts);
    }
  }

  private interface Reading {
    String read() throws Exception;
  }

  /** Runs several readings at once; the first answer that is not "ok". */
  private static String all(int rounds, Reading reading) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    try {
      for (int round = 0; round < rounds; round++) {
        List<Future<String>> running = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) running.add(threads.submit(reading::read));
        for (Future<String> one : running) {
          String answer = one.get(SECONDS_MAX, TimeUnit.SECONDS);
          if (!answer.equals("ok")) return answer;
        }
      }
      return "ok";
    } catch (TimeoutException stalled) {
      return "a scan has not ended after " + SECONDS_MAX + " s";
    } finally {
      threads.shutdownNow();
    }
  }

  private static String read(AsyncTable<?> table, long bytes, boolean reversed, int batch) throws Exception {
    Scan scan = new Scan().setMaxResultSize(bytes).setReversed(reversed);
    if (batch > 0) scan.setBatch(batch);
    int results = 0;
    int each = 1;
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result; (result = scanner.next()) != null; results++) {
        String wrong = wrong(result, results / each, reversed);
        if (wrong != null) return wrong;
      }
    }
    return results == ROWS * each ? "ok" : results + " results";
  }

  private static String consume(AsyncTable<ScanResultConsumer> table, long bytes, boolean reversed) throws Exception {
    CompletableFuture<String> ended = new CompletableFuture<>();
    table.scan(new Scan().setMaxResultSize(bytes).setReversed(reversed), new ScanResultConsumer() {
      private int results;
      private String wrong;

      @Override
      public boolean onNext(Result result) {
        wrong = wrong(result, results++, reversed);
        return wrong == null;
      }

      @Override
      public void onError(Throwable error) {
        ended.completeExceptionally(error);
      }

      @Override
      public void onComplete() {
        ended.complete(wrong != null ? wrong : results == ROWS ? "ok" : results + " results");
      }
    });
    return ended.get();
  }

  private static String wrong(Result result, int at, boolean reversed) {
    String expected = String.format("%03d", reversed ? ROWS - 1 - at : at);
    String got = Bytes.toString(result.getRow());
    return got.equals(expected) ? null : "expected " + expected + ", got " + got;
  }
}
