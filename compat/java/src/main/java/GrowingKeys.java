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
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** Many threads that put the rows foo00000100, foo00000101, …, with or without a prefix. */
final class GrowingKeys {
  private static final int WRITERS = 48, FIRST = 100;
  private static final byte[] F = Bytes.toBytes("f"), Q = Bytes.toBytes("q");

  private final Connection connection;
  private final AtomicLong refused = new AtomicLong();

  GrowingKeys(Connection connection) {
    this.connection = connection;
  }

  interface Prefix {
    String of(Random random);
  }

  static String key(long number) {
    return String.format("foo%08d", number);
  }

  /** The puts that the client gave up, of all calls of write. */
  long refused() {
    return refused.get();
  }

  /** Writes for some seconds; returns the writes per second. */
  double write(TableName name, Prefix prefix, int seconds) throws Exception {
    AtomicLong next = new AtomicLong(FIRST);
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    List<Future<Long>> writers = new ArrayList<>();
    long begun = System.nanoTime();
    for (int writer = 0; writer < WRITERS; writer++) {
      Random random = new Random(writer);
      writers.add(threads.submit(() -> {
        long written = 0;
        try (Table table = connection.getTable(name)) {
          while (!stop.get()) {
            Put put = new Put(Bytes.toBytes(prefix.of(random) + key(next.getAndIncrement()))).addColumn(F, Q, Q);
            try {
              table.put(put);
              written++;
            } catch (RetriesExhaustedException e) {
              refused.incrementAndGet(); // The writer goes on.
            }
          }
        }
        return written;
      }));
    }
    TimeUnit.SECONDS.sleep(seconds);
    stop.set(true);
    long written = 0;
    for (Future<Long> writer : writers) written += writer.get();
    threads.shutdown();
    return written * 1e9 / (System.nanoTime() - begun);
  }
}
