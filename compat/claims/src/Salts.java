import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.ThrottleType;
import org.apache.hadoop.hbase.util.Bytes;

/** Claim 1: growing keys with and without one of four salts, on four region servers that each take the same requests a second. */
final class Salts {
  private static final int WRITERS = 48, SECONDS = 10, LIMIT = 500;
  private static final byte[] F = Bytes.toBytes("f"), Q = Bytes.toBytes("q");

  private final Bench bench;
  private final AtomicLong next = new AtomicLong();

  Salts(Bench bench) {
    this.bench = bench;
  }

  void run() throws Exception {
    bench.admin.balancerSwitch(false, true);
    if (bench.server.startsWith("Apache")) {
      bench.admin.setQuota(QuotaSettingsFactory.throttleRegionServer("all", ThrottleType.REQUEST_NUMBER, LIMIT, TimeUnit.SECONDS));
      Thread.sleep(5_000);
    }
    TableName plain = bench.create("c1_plain", "foo00000010", "foo00000020", "foo00000030"), salted = bench.create("c1_salted", "b", "c", "d");
    bench.report(1, "growing keys", "writes per second", Math.rint(write(plain, random -> "")));
    bench.report(1, "four random salts", "writes per second", Math.rint(write(salted, random -> "abcd".charAt(random.nextInt(4)) + "-")));
  }

  private interface Salt {
    String of(Random random);
  }

  private double write(TableName name, Salt salt) throws Exception {
    next.set(100);
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    List<Future<Long>> writers = new ArrayList<>();
    long begun = System.nanoTime();
    for (int writer = 0; writer < WRITERS; writer++) {
      Random random = new Random(writer);
      writers.add(threads.submit(() -> {
        long written = 0;
        try (Table table = bench.connection.getTable(name)) {
          while (!stop.get()) {
            Put put = new Put(Bytes.toBytes(salt.of(random) + String.format("foo%08d", next.getAndIncrement()))).addColumn(F, Q, Q);
            try {
              table.put(put);
              written++;
            } catch (RetriesExhaustedException refused) {
              // Apache HBase refuses what is above the quota, and the client gives up after 16 attempts: the writer goes on.
            }
          }
        }
        return written;
      }));
    }
    TimeUnit.SECONDS.sleep(SECONDS);
    stop.set(true);
    long written = 0;
    for (Future<Long> writer : writers) written += writer.get();
    threads.shutdown();
    return written * 1e9 / (System.nanoTime() - begun);
  }
}
