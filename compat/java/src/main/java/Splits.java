import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.UnknownRegionException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Regions split and merged while a client writes and scans: nothing lost, missing or doubled. Splits REGISTRY HOST:PORT [ROUNDS].
 *
 * <p>Two threads put rows one after the other, alone and in batches, and count each in a counter; two scan all the time, one from the
 * end, and expect every row that was acknowledged before they began, once.
 */
public final class Splits {
  private static final TableName TABLE = TableName.valueOf("splits");
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] COUNTER = Bytes.toBytes("counter");
  private static final int WRITERS = 2;

  private final Connection connection;
  private final Checks checks = new Checks();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicLong[] acknowledged = {new AtomicLong(), new AtomicLong()};
  private final AtomicLong scans = new AtomicLong();

  private Splits(Connection connection) {
    this.connection = connection;
  }

  public static void main(String[] args) throws Exception {
    int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 10;
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      Cluster.drop(admin, TABLE);
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
      new Splits(connection).run(admin, rounds);
    } catch (Exception failed) {
      failed.printStackTrace();
      System.exit(1); // Threads may still write and read.
    }
  }

  private void run(Admin admin, int rounds) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 2);
    List<Future<?>> working = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      int number = writer;
      working.add(threads.submit(() -> { write(number); return null; }));
    }
    for (boolean reversed : new boolean[] {false, true}) working.add(threads.submit(() -> { scan(reversed); return null; }));
    int splits = 0, merges = 0;
    for (int round = 0; round < rounds; round++) {
      while (acknowledged[0].get() < 200 * (round + 1) && working.stream().noneMatch(Future::isDone)) Thread.sleep(2);
      // At a row, at another that nobody has written, and in the middle of what there is.
      split(admin, row(0, 50), row(0, 50 + round));
      split(admin, row(1, 0), Bytes.toBytes("1-"));
      admin.flush(TABLE);
      split(admin, row(1, 10), null);
      splits += 3;
      while (admin.getRegions(TABLE).size() > 1) {
        List<RegionInfo> regions = admin.getRegions(TABLE);
        merge(admin, regions.get(0), regions.get(1));
        merges++;
      }
    }
    ended.set(true);
    threads.shutdown();
    for (Future<?> thread : working) thread.get(60, TimeUnit.SECONDS);
    int splitsDone = splits, mergesDone = merges;
    System.out.println(splits + " splits and " + merges + " merges beside " + (acknowledged[0].get() + acknowledged[1].get()) + " puts and "
        + scans.get() + " scans");
    checks.equal("as many merges as splits", splitsDone, () -> mergesDone);
    checks.equal("scans went on", true, () -> scans.get() > 0);
    for (int writer = 0; writer < WRITERS; writer++) {
      int number = writer;
      checks.equal("rows of writer " + number, acknowledged[number].get(), () -> count(number));
      checks.equal("its counter", acknowledged[number].get(), () -> {
        try (Table table = connection.getTable(TABLE)) {
          return Bytes.toLong(table.get(new Get(Bytes.add(COUNTER, Bytes.toBytes(number)))).value());
        }
      });
    }
    RegionInfo gone = regionOf(admin, row(0, 0));
    split(admin, row(0, 0), row(0, 7));
    checks.refused("a region that was split is not split again", UnknownRegionException.class, "", () -> {
      admin.splitRegionAsync(gone.getRegionName(), row(0, 5)).get(60, TimeUnit.SECONDS);
      return "split";
    });
    checks.finish();
  }

  private interface Change {
    Future<Void> begin() throws Exception;
  }

  private static void split(Admin admin, byte[] row, byte[] at) throws Exception {
    finish(admin, () -> admin.splitRegionAsync(regionOf(admin, row).getRegionName(), at));
  }

  private static void merge(Admin admin, RegionInfo one, RegionInfo other) throws Exception {
    finish(admin, () -> admin.mergeRegionsAsync(new byte[][] {one.getEncodedNameAsBytes(), other.getEncodedNameAsBytes()}, false));
  }

  /** Again where files that a split left have to be written anew first. */
  private static void finish(Admin admin, Change change) throws Exception {
    for (int attempt = 0; ; attempt++) {
      try {
        change.begin().get(60, TimeUnit.SECONDS);
        return;
      } catch (ExecutionException | java.io.IOException error) {
        if (attempt == 100) throw error;
        admin.majorCompact(TABLE);
        Thread.sleep(500);
      }
    }
  }

  private static RegionInfo regionOf(Admin admin, byte[] row) throws Exception {
    return admin.getRegions(TABLE).stream().filter(region -> region.containsRow(row)).findFirst().orElseThrow();
  }

  private static byte[] row(int writer, long number) {
    return Bytes.toBytes(String.format("%d/%08d", writer, number));
  }

  private void write(int writer) throws Exception {
    byte[] counter = Bytes.add(COUNTER, Bytes.toBytes(writer));
    try (Table table = connection.getTable(TABLE)) {
      while (!ended.get()) {
        long next = acknowledged[writer].get();
        if (next % 10 != 9) {
          table.put(put(writer, next));
          table.increment(new Increment(counter).addColumn(CF, Q, 1));
          acknowledged[writer].incrementAndGet();
          continue;
        }
        List<Row> batch = new ArrayList<>();
        for (int i = 0; i < 5; i++) batch.add(put(writer, next + i));
        batch.add(new Increment(counter).addColumn(CF, Q, 5));
        table.batch(batch, new Object[batch.size()]);
        acknowledged[writer].addAndGet(5);
      }
    }
  }

  private static Put put(int writer, long number) {
    return new Put(row(writer, number)).addColumn(CF, Q, Bytes.toBytes(number));
  }

  private void scan(boolean reversed) throws Exception {
    while (!ended.get()) {
      long[] least = {acknowledged[0].get(), acknowledged[1].get()};
      long[] found = new long[WRITERS];
      byte[] before = null;
      try (Table table = connection.getTable(TABLE); ResultScanner scanner = table.getScanner(new Scan().setReversed(reversed).setCaching(50))) {
        for (Result result; (result = scanner.next()) != null; before = result.getRow()) {
          if (before != null && Bytes.compareTo(before, result.getRow()) < 0 == reversed) throw new IllegalStateException("a row out of place: " + result);
          if (before != null && Bytes.equals(before, result.getRow())) throw new IllegalStateException("a row twice: " + result);
          if (Bytes.startsWith(result.getRow(), COUNTER)) continue;
          long number = Bytes.toLong(result.value());
          int writer = result.getRow()[0] - '0';
          if (!Bytes.equals(result.getRow(), row(writer, number))) throw new IllegalStateException("another value: " + result);
          if (number < least[writer]) found[writer]++;
        }
      }
      for (int writer = 0; writer < WRITERS; writer++) {
        if (found[writer] == least[writer]) continue;
        throw new IllegalStateException("rows of " + writer + (reversed ? ", from the end: " : ": ") + found[writer] + " of " + least[writer]
            + "; another scan finds " + count(writer));
      }
      scans.incrementAndGet();
    }
  }

  private long count(int writer) throws Exception {
    long rows = 0;
    try (Table table = connection.getTable(TABLE); ResultScanner scanner = table.getScanner(new Scan().setStartStopRowForPrefixScan(Bytes.toBytes(writer + "/")))) {
      while (scanner.next() != null) rows++;
    }
    return rows;
  }
}
