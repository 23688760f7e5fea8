import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HColumnDescriptor;
import org.apache.hadoop.hbase.HTableDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Tables of a running HBase 1.x whose files are of every encoding, compression and bloom, flushed and merged.
 *
 * <pre>
 *   Tables1 make OUT          writes, and leaves OUT/TABLE/STAGE/FAMILY/FILE, and in OUT/TABLE/STAGE.txt and STAGE-raw.txt what HBase answers
 *   Tables1 read TABLE OUT    OUT.txt and OUT-raw.txt, of whoever serves TABLE at the ZooKeeper that is configured
 *   Tables1 cells FILE OUT    all that is in an HFile
 * </pre>
 *
 * A line of them is a cell: row, family and qualifier in hex, timestamp, kind, sequence number, value and tags in hex. Clients are not told sequence
 * numbers.
 */
public final class Tables1 {
  private static final HexFormat HEX = HexFormat.of();
  private static final long NEVER = 1_000_000_000_000L; // a time to live, in milliseconds
  private static final String[] COMPRESSIONS = {"NONE", "GZ", "SNAPPY", "LZ4"};

  private final Connection connection;
  private final Admin admin;
  private final Path files;
  private final Path out;

  private Tables1(Connection connection, Path out) throws Exception {
    this.connection = connection;
    this.admin = connection.getAdmin();
    this.files = Paths.get(connection.getConfiguration().get("hbase.rootdir").replaceFirst("^file:/*", "/"), "data", "default");
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    // Tags come to clients by this codec alone.
    conf.set("hbase.client.rpc.codec", "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags");
    conf.setInt("hbase.client.retries.number", 5);
    if (args[0].equals("cells")) {
      cells(conf, args[1], args[2]);
      System.exit(0);
    }
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      if (args[0].equals("make")) {
        new Tables1(connection, Paths.get(args[1])).make();
      } else {
        read(connection, TableName.valueOf(args[1]), Paths.get(args[2]));
      }
    }
    System.exit(0);
  }

  private void make() throws Exception {
    kinds();
    few();
    levels();
  }

  /** Small files of every kind, in blocks so small that there are leaves and chunks. */
  private void kinds() throws Exception {
    HTableDescriptor table = small("kinds");
    List<String> families = new ArrayList<>();
    for (String encoding : List.of("NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1")) {
      for (String compression : COMPRESSIONS) {
        for (BloomType bloom : BloomType.values()) {
          // Tags that repeat are compressed where nothing else is said and the encoding can.
          boolean tags = !compression.equals("LZ4");
          families.add(String.join("-", encoding, compression, bloom.name()));
          table.addFamily(family(families.get(families.size() - 1), encoding, compression, bloom).setCompressTags(tags));
        }
      }
    }
    admin.createTable(table);
    for (int batch = 0; batch < 4; batch++) {
      write(table.getTableName(), families, batch, batch == 0 ? 160 : 12);
      admin.flush(table.getTableName());
    }
    keep(table, "flushed", 4);
    // The first file is too large to be merged with the others.
    table.setConfiguration("hbase.hstore.compaction.min", "3");
    admin.modifyTable(table.getTableName(), table);
    waitFor(table, 2, () -> admin.compact(table.getTableName()));
    keep(table, "minor", 2);
    waitFor(table, 1, () -> admin.majorCompact(table.getTableName()));
    keep(table, "major", 1);
    write(table.getTableName(), families, 4, 12);
    admin.flush(table.getTableName());
    age(table);
    keep(table, "old", 1);
  }

  /** Merges files as if they had been there for days: then cells lose their sequence numbers. */
  private void age(HTableDescriptor table) throws Exception {
    admin.disableTable(table.getTableName());
    List<Path> before = storeFiles(table);
    for (Path file : before) Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis() - 20L * 86_400_000));
    admin.enableTable(table.getTableName());
    waitFor(table, 1, () -> admin.majorCompact(table.getTableName()));
    for (int tries = 0; storeFiles(table).stream().anyMatch(before::contains); tries++) {
      if (tries == 300) throw new IllegalStateException(table.getTableName() + " is not merged after 60 s");
      Thread.sleep(200);
    }
  }

  /** Few cells of some kinds, flushed and long after, and of the encoding that HBase 2 has no more. */
  private void few() throws Exception {
    HTableDescriptor table = small("few").addFamily(family("n", "NONE", "NONE", BloomType.ROW)).addFamily(family("p", "PREFIX", "GZ", BloomType.NONE))
        .addFamily(family("d", "DIFF", "LZ4", BloomType.ROWCOL)).addFamily(family("f", "FAST_DIFF", "SNAPPY", BloomType.ROWCOL))
        .addFamily(family("r", "ROW_INDEX_V1", "NONE", BloomType.ROW)).addFamily(family("t", "PREFIX_TREE", "NONE", BloomType.ROW));
    admin.createTable(table);
    write(table.getTableName(), List.of("n", "p", "d", "f", "r", "t"), 0, 24);
    admin.flush(table.getTableName());
    keep(table, "flushed", 1);
    age(table);
    keep(table, "old", 1);
  }

  /** A table of several regions whose files are as HBase makes them where nothing is said but the size of blocks. */
  private void levels() throws Exception {
    HTableDescriptor table = new HTableDescriptor(TableName.valueOf("levels"))
        .addFamily(family("f", "FAST_DIFF", "SNAPPY", BloomType.ROW).setMaxVersions(2)).addFamily(family("p", "NONE", "NONE", BloomType.ROWCOL));
    admin.createTable(table, new byte[][] {Bytes.toBytes("k0100000"), Bytes.toBytes("k0140000")});
    byte[] value = new byte[60];
    Random random = new Random(7);
    for (int pass = 0; pass < 2; pass++) {
      try (Table there = connection.getTable(table.getTableName())) {
        List<Put> puts = new ArrayList<>();
        for (int i = pass; i < 200_000; i += 1 + pass * 2) {
          random.nextBytes(value);
          puts.add(new Put(Bytes.toBytes(String.format("k%07d", i))).addColumn(Bytes.toBytes("f"), Bytes.toBytes("q"), 1_000 + pass, value.clone())
              .addColumn(Bytes.toBytes("p"), Bytes.toBytes("q" + i % 3), 1_000 + pass, value.clone()));
          if (puts.size() == 5_000 || i + 1 + pass * 2 >= 200_000) {
            there.put(puts);
            puts.clear();
          }
        }
      }
      admin.flush(table.getTableName());
    }
    keep(table, "flushed", 2);
    waitFor(table, 1, () -> admin.majorCompact(table.getTableName()));
    keep(table, "major", 1);
  }

  private static HTableDescriptor small(String name) {
    return new HTableDescriptor(TableName.valueOf(name)).setConfiguration("hfile.index.block.max.size", "400")
        .setConfiguration("io.storefile.bloom.block.size", "1024").setConfiguration("hbase.hstore.compaction.min", "10")
        .setConfiguration("hbase.hstore.compaction.min.size", "1");
  }

  private static HColumnDescriptor family(String name, String encoding, String compression, BloomType bloom) {
    return new HColumnDescriptor(name).setDataBlockEncoding(DataBlockEncoding.valueOf(encoding)).setMaxVersions(4).setBlocksize(1024)
        .setCompressionType(Compression.Algorithm.valueOf(compression)).setBloomFilterType(bloom);
  }

  private void write(TableName name, List<String> families, int batch, int rows) throws Exception {
    try (Table table = connection.getTable(name)) {
      for (String family : families) {
        Random random = new Random(31 + batch);
        List<Mutation> written = new ArrayList<>();
        for (int at = 0; at < rows; at++) {
          byte[] row = Bytes.toBytes(String.format("row%05d", batch == 0 ? at : random.nextInt(175)));
          row(written, row, Bytes.toBytes(family), batch, random);
        }
        List<Mutation> deltas = new ArrayList<>();
        written.removeIf(change -> (change instanceof Increment || change instanceof Append) && deltas.add(change));
        table.batch(written, new Object[written.size()]);
        table.batch(deltas, new Object[deltas.size()]);
      }
    }
  }

  /** What is done to one row: versions, empty and long names and values, times to live, markers of each kind, counters. */
  private static void row(List<Mutation> to, byte[] row, byte[] family, int batch, Random random) {
    byte[][] qualifiers = {{}, {'a'}, {'b', 0, (byte) 0xff}, Bytes.toBytes("a-long-name-that-begins-alike-1"), Bytes.toBytes("a-long-name-that-begins-alike-2")};
    for (byte[] qualifier : qualifiers) {
      for (int version = random.nextInt(4); version > 0; version--) {
        byte[] value = new byte[random.nextInt(8) == 0 ? 300 : random.nextInt(24)];
        if (random.nextBoolean()) random.nextBytes(value);
        // Few timestamps, so that the same one is written again in another file.
        long timestamp = random.nextInt(5) == 0 ? 1_600_000_000_000L + random.nextInt(1_000) : random.nextInt(6);
        Put put = new Put(row).addColumn(family, qualifier, timestamp, value);
        if (random.nextInt(5) == 0) put.setTTL(NEVER + random.nextInt(3));
        to.add(put);
      }
    }
    long timestamp = random.nextInt(6);
    switch (random.nextInt(10)) {
      case 0 -> to.add(new Delete(row).addFamily(family, timestamp));
      case 1 -> to.add(new Delete(row).addFamilyVersion(family, timestamp));
      case 2 -> to.add(new Delete(row).addColumns(family, qualifiers[random.nextInt(5)], timestamp));
      case 3, 4 -> to.add(new Delete(row).addColumn(family, qualifiers[random.nextInt(5)], timestamp));
      case 5 -> to.add(new Increment(row).addColumn(family, Bytes.toBytes("counter"), 1 + batch).setTTL(NEVER));
      case 6 -> to.add(new Append(row).add(family, Bytes.toBytes("appended"), new byte[] {(byte) batch}));
      case 7 -> to.add(new Put(row).addColumn(family, Bytes.toBytes("gone"), Bytes.toBytes("soon")).setTTL(1));
      default -> { }
    }
  }

  private interface Ask {
    void ask() throws Exception;
  }

  private void waitFor(HTableDescriptor table, int files, Ask ask) throws Exception {
    int want = files * table.getColumnFamilies().length * admin.getTableRegions(table.getTableName()).size();
    for (int tries = 0; ; tries++) {
      if (tries % 50 == 0) ask.ask();
      // Files that were merged away stay in their folders until the discharger comes.
      if (storeFiles(table).size() == want) return;
      if (tries == 300) throw new IllegalStateException(table.getTableName() + " has " + storeFiles(table).size() + " files, not " + want);
      Thread.sleep(200);
    }
  }

  private List<Path> storeFiles(HTableDescriptor table) throws Exception {
    try (Stream<Path> paths = Files.walk(files.resolve(table.getTableName().getNameAsString()))) {
      List<Path> found = new ArrayList<>();
      paths.filter(path -> path.toString().matches(".*/[0-9a-f]{32}/[^./]+/[0-9a-f]{32}")).forEach(found::add);
      return found;
    } catch (java.io.UncheckedIOException e) {
      return List.of(); // a file that went meanwhile
    }
  }

  /** Leaves the table's files, and what is in it. */
  private void keep(HTableDescriptor table, String stage, int files) throws Exception {
    waitFor(table, files, () -> { });
    Path there = out.resolve(table.getTableName().getNameAsString());
    for (Path file : storeFiles(table)) {
      Path to = there.resolve(stage).resolve(file.getParent().getFileName());
      Files.createDirectories(to);
      Files.copy(file, to.resolve(file.getFileName()));
    }
    read(connection, table.getTableName(), there.resolve(stage));
    System.out.println(table.getTableName() + " " + stage + ": " + storeFiles(table).size() + " files");
  }

  private static void read(Connection connection, TableName table, Path out) throws Exception {
    for (boolean raw : new boolean[] {false, true}) {
      int cells = 0;
      try (PrintWriter lines = new PrintWriter(out + (raw ? "-raw.txt" : ".txt"), StandardCharsets.UTF_8);
          Table there = connection.getTable(table);
          ResultScanner rows = there.getScanner(new Scan().setMaxVersions().setRaw(raw).setCaching(1000).setCacheBlocks(false))) {
        for (Result row : rows) {
          for (Cell cell : row.rawCells()) lines.println(line(cell));
          cells += row.size();
        }
      }
      System.out.println(table + ": " + cells + (raw ? " cells and markers in all" : " cells to be seen"));
    }
  }

  private static void cells(Configuration conf, String file, String out) throws Exception {
    HFileSystem files = new HFileSystem(conf, true);
    HFile.Reader reader = HFile.createReader(files, new org.apache.hadoop.fs.Path(file), new CacheConfig(conf), conf);
    reader.loadFileInfo();
    HFileScanner scanner = reader.getScanner(false, false);
    try (PrintWriter lines = new PrintWriter(out, StandardCharsets.UTF_8)) {
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) lines.println(line(scanner.getKeyValue()));
    }
  }

  private static String line(Cell cell) {
    return String.join(" ", HEX.formatHex(CellUtil.cloneRow(cell)), HEX.formatHex(CellUtil.cloneFamily(cell)),
        HEX.formatHex(CellUtil.cloneQualifier(cell)), Long.toString(cell.getTimestamp()), Byte.toString(cell.getTypeByte()), Long.toString(cell.getSequenceId()),
        HEX.formatHex(CellUtil.cloneValue(cell)), HEX.formatHex(cell.getTagsArray(), cell.getTagsOffset(), cell.getTagsOffset() + cell.getTagsLength()));
  }
}
