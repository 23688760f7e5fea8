import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.tool.BulkLoadHFilesTool;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.util.ToolRunner;

/**
 * HFiles by Apache's writer, loaded by Apache's tool while others write, split regions and read: BulkLoad DIR ROUNDS.
 *
 * <p>Each round loads files over all regions, which the tool divides, and files that fit one. Every version of every cell that was loaded or put is
 * there at the end, nothing else, and never a row of one family without the other.
 */
public final class BulkLoad {
  private static final TableName TABLE = TableName.valueOf("bulk");
  private static final byte[] A = Bytes.toBytes("a"), B = Bytes.toBytes("b"), Q = Bytes.toBytes("q");
  private static final int ROWS = 900, PUT_AT = 1_000_000;

  private final Configuration conf = HBaseConfiguration.create();
  private final Path dir;
  private final AtomicInteger puts = new AtomicInteger();
  private final AtomicBoolean ended = new AtomicBoolean();

  private BulkLoad(String dir) {
    this.dir = new Path("file://" + dir);
    // The tool's default makes a table that is not there; here it must be there.
    conf.set("create.table", "no");
  }

  public static void main(String[] args) throws Exception {
    try {
      new BulkLoad(args[0]).run(Integer.parseInt(args[1]));
      System.exit(0);
    } catch (Exception failed) {
      failed.printStackTrace();
      System.exit(1); // Threads still write and read.
    }
  }

  private void run(int rounds) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      if (admin.tableExists(TABLE)) {
        admin.disableTable(TABLE);
        admin.deleteTable(TABLE);
      }
      ColumnFamilyDescriptor b = ColumnFamilyDescriptorBuilder.newBuilder(B).setMaxVersions(100)
          .setCompressionType(Compression.Algorithm.GZ).setDataBlockEncoding(DataBlockEncoding.FAST_DIFF).build();
      TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TABLE)
          .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(A).setMaxVersions(100).build()).setColumnFamily(b);
      admin.createTable(table.build(), new byte[][] {row(300), row(600)});
      refuseUnknownFamily();
      ExecutorService threads = Executors.newFixedThreadPool(3);
      List<Future<?>> working = new ArrayList<>();
      working.add(threads.submit(() -> { write(connection); return null; }));
      working.add(threads.submit(() -> { read(connection); return null; }));
      for (int round = 1; round <= rounds; round++) {
        CountDownLatch begun = new CountDownLatch(1);
        byte[] at = row(37 * round % ROWS);
        Future<?> split = threads.submit(() -> { begun.await(); split(admin, at); return null; });
        begun.countDown();
        loadOverRegions(round);
        split.get(60, TimeUnit.SECONDS);
      }
      loadOneRegion(admin, rounds + 1, false);
      loadOneRegion(admin, rounds + 2, true);
      ended.set(true);
      threads.shutdown();
      for (Future<?> thread : working) thread.get(60, TimeUnit.SECONDS);
      long cells = verify(connection, rounds);
      System.out.println("ok " + (rounds + 2) + " loads, " + cells + " cells, beside " + puts.get() + " puts, "
          + admin.getRegions(TABLE).size() + " regions");
    }
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("row%04d", number));
  }

  /** A cell of each row from FIRST to LAST, in HFiles of both families; DIR. */
  private Path make(String name, int first, int last, int round) throws Exception {
    Path out = new Path(dir, name);
    for (byte[] family : new byte[][] {A, B}) {
      boolean encoded = family == B;
      HFileContextBuilder context = new HFileContextBuilder().withBlockSize(4096)
          .withCompression(encoded ? Compression.Algorithm.GZ : Compression.Algorithm.NONE)
          .withDataBlockEncoding(encoded ? DataBlockEncoding.FAST_DIFF : DataBlockEncoding.NONE);
      FileSystem files = dir.getFileSystem(conf);
      StoreFileWriter writer = new StoreFileWriter.Builder(conf, new CacheConfig(conf), files)
          .withOutputDir(new Path(out, Bytes.toString(family))).withBloomType(BloomType.ROW).withFileContext(context.build()).build();
      for (int number = first; number <= last; number++) {
        writer.append(new KeyValue(row(number), family, Q, round, Bytes.toBytes(round + " of " + number)));
      }
      writer.close();
    }
    return out;
  }

  private int load(Path from, String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(options));
    arguments.addAll(List.of(from.toString(), TABLE.getNameAsString()));
    return ToolRunner.run(new Configuration(conf), new BulkLoadHFilesTool(conf), arguments.toArray(new String[0]));
  }

  private void loadOverRegions(int round) throws Exception {
    expect("status of round " + round, 0, load(make("round" + round, 0, ROWS - 1, round)));
  }

  /** On a local file system HBase copies what it loads, whether it is to be copied or not. */
  private void loadOneRegion(Admin admin, int round, boolean copied) throws Exception {
    Path out = make("one" + round, 0, 0, round);
    expect("status", 0, copied ? load(out, "-Dalways.copy.files=true") : load(out));
    for (byte[] family : new byte[][] {A, B}) {
      expect("files left", 1, dir.getFileSystem(conf).listStatus(new Path(out, Bytes.toString(family))).length);
    }
  }

  private void refuseUnknownFamily() throws Exception {
    Path out = make("unknown", 0, 1, 1);
    FileSystem files = dir.getFileSystem(conf);
    files.rename(new Path(out, "b"), new Path(out, "none"));
    try {
      load(out);
      throw new IllegalStateException("a family that the table has not was loaded");
    } catch (java.io.IOException refused) {
      if (!refused.getMessage().contains("Unmatched family names found")) throw refused;
    }
    expect("files", 1, files.listStatus(new Path(out, "a")).length);
  }

  private static void split(Admin admin, byte[] at) throws Exception {
    RegionInfo region = admin.getRegions(TABLE).stream().filter(it -> it.containsRow(at)).findFirst().orElseThrow();
    if (Bytes.equals(region.getStartKey(), at)) return;
    try {
      admin.splitRegionAsync(region.getRegionName(), at).get(60, TimeUnit.SECONDS);
    } catch (Exception refused) {
      // HBase does not split a region whose files have not been written anew since its own split.
    }
  }

  /** Puts one row after the other, over and over, into both families. */
  private void write(Connection connection) throws Exception {
    try (Table table = connection.getTable(TABLE)) {
      while (!ended.get()) {
        int number = puts.get();
        byte[] value = Bytes.toBytes("put " + number);
        table.put(new Put(row(number % ROWS)).addColumn(A, Q, PUT_AT + number, value).addColumn(B, Q, PUT_AT + number, value));
        puts.incrementAndGet();
      }
    }
  }

  /** A row has as many versions in one family as in the other, at every moment. */
  private void read(Connection connection) throws Exception {
    while (!ended.get()) {
      try (Table table = connection.getTable(TABLE); ResultScanner rows = table.getScanner(new Scan().readAllVersions().setCaching(100))) {
        for (Result row : rows) expect("versions of " + row, row.getColumnCells(A, Q).size(), row.getColumnCells(B, Q).size());
      }
    }
  }

  private long verify(Connection connection, int rounds) throws Exception {
    long cells = 0;
    int number = 0;
    try (Table table = connection.getTable(TABLE); ResultScanner rows = table.getScanner(new Scan().readAllVersions())) {
      for (Result row : rows) {
        for (byte[] family : new byte[][] {A, B}) {
          List<String> want = new ArrayList<>(), have = new ArrayList<>();
          for (int put = puts.get() - 1; put >= 0; put--) {
            if (put % ROWS == number) want.add((PUT_AT + put) + " put " + put);
          }
          for (int round = rounds + (number == 0 ? 2 : 0); round > 0; round--) want.add(round + " " + round + " of " + number);
          row.getColumnCells(family, Q).forEach(cell -> have.add(cell.getTimestamp() + " " + Bytes.toString(CellUtil.cloneValue(cell))));
          expect("cells of row " + number, want, have);
          cells += have.size();
        }
        expect("row", Bytes.toString(row(number++)), Bytes.toString(row.getRow()));
      }
    }
    expect("rows", ROWS, number);
    return cells;
  }

  private static void expect(String what, Object want, Object have) {
    if (!want.equals(have)) throw new IllegalStateException(what + ": expected " + want + ", got " + have);
  }
}
