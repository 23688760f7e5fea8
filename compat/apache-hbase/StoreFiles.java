import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BloomFilterMetrics;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.ReaderContext;
import org.apache.hadoop.hbase.io.hfile.ReaderContextBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.compress.ZStandardCodec;
import org.apache.hadoop.util.NativeCodeLoader;

/**
 * Reads and writes HFiles cell by cell with Apache's own code, of every compression, encoding and bloom.
 *
 * <pre>
 *   StoreFiles exchange DIR                             compares DIR/ours/*.hfile with DIR/cells.txt, and writes DIR/apache/*.hfile from it
 *   StoreFiles write CELLS OUT CODEC ENCODING BLOOM TAGS   one file: CODEC as in CODECS, TAGS true, false or compressed
 * </pre>
 *
 * A line of cells.txt is a cell: row, family and qualifier in hex, timestamp, kind, mvcc, value and tags in hex.
 */
public final class StoreFiles {
  private static final HexFormat HEX = HexFormat.of();
  private static final String HBASE = "org.apache.hadoop.hbase.io.compress.";

  /** What blooms over prefixes of rows take of them. */
  private static final int PREFIX_LENGTH = 7;

  /** Codecs by the name files have: HBase's compression, and the class where it is not its default. */
  private static final Map<String, String[]> CODECS = new LinkedHashMap<>();

  static {
    codec("none", "NONE", null);
    codec("gz", "GZ", null);
    codec("snappy", "SNAPPY", null);
    codec("lz4", "LZ4", null);
    // The default, Hadoop's, writes bare frames, and works where libhadoop.so does (fetch.sh). The next two put them into chunks.
    if (NativeCodeLoader.isNativeCodeLoaded() && ZStandardCodec.isNativeCodeLoaded()) codec("zstd", "ZSTD", null);
    codec("zstd_jni", "ZSTD", HBASE + "zstd.ZstdCodec");
    codec("air_zstd", "ZSTD", HBASE + "aircompressor.ZstdCodec");
    codec("air_snappy", "SNAPPY", HBASE + "aircompressor.SnappyCodec");
    codec("air_lz4", "LZ4", HBASE + "aircompressor.Lz4Codec");
  }

  private final Configuration conf = HBaseConfiguration.create();
  private final HFileSystem files;
  private final List<KeyValue> cells = new ArrayList<>();

  private StoreFiles(String lines) throws Exception {
    conf.set("fs.defaultFS", "file:///");
    // Small, so that few cells make many blocks, leaves and chunks.
    conf.setInt("hfile.index.block.max.size", 400);
    conf.setInt("io.storefile.bloom.block.size", 1024);
    conf.setInt("RowPrefixBloomFilter.prefix_length", PREFIX_LENGTH);
    files = new HFileSystem(conf, true);
    for (String line : Files.readAllLines(Paths.get(lines))) cells.add(cell(line));
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("write")) {
      new StoreFiles(args[1]).write(args[2], args[3], args[4], args[5], args[6]);
      System.exit(0);
    }
    System.exit(new StoreFiles(args[1] + "/cells.txt").exchange(args[1]) ? 0 : 1);
  }

  private boolean exchange(String dir) throws Exception {
    int failed = 0;
    String[] ours = new java.io.File(dir, "ours").list();
    java.util.Arrays.sort(ours);
    for (String name : ours) {
      String[] kinds = name.replace(".hfile", "").split("-");
      if (!CODECS.containsKey(kinds[0])) {
        System.out.println("not checked: " + name + ", for want of its codec");
        continue;
      }
      String wrong;
      try {
        wrong = wrong(dir + "/ours/" + name, kinds);
      } catch (Exception e) {
        wrong = e.toString();
      }
      if (wrong == null) continue;
      failed++;
      System.out.println("FAIL " + name + ": " + wrong);
    }
    System.out.println((failed == 0 ? "ok " : "FAIL ") + ours.length + " files read by Apache, " + cells.size() + " cells each");
    int written = 0;
    for (String codec : CODECS.keySet()) {
      for (String encoding : List.of("NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1")) {
        for (String bloom : List.of("NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH")) {
          // As a region server writes them, tags that repeat are compressed where the encoding can.
          write(dir + "/apache/" + codec + "-" + encoding + "-" + bloom + ".hfile", codec, encoding, bloom, "compressed");
          written++;
        }
      }
    }
    System.out.println("ok " + written + " files written by Apache");
    return failed == 0 && ours.length > 0;
  }

  /** What is wrong with a file that is to be of these kinds; null for nothing. */
  private String wrong(String file, String[] kinds) throws Exception {
    use(kinds[0]);
    HFile.getAndResetChecksumFailuresCount();
    ReaderContext context = new ReaderContextBuilder().withFileSystemAndPath(files, new Path(file)).build();
    HFileInfo info = new HFileInfo(context, conf);
    StoreFileReader reader = new StoreFileReader(context, info, new CacheConfig(conf), null, conf);
    info.initMetaAndIndex(reader.getHFileReader());
    reader.loadFileInfo();
    reader.loadBloomfilter(BlockType.GENERAL_BLOOM_META, new BloomFilterMetrics());
    reader.loadBloomfilter(BlockType.DELETE_FAMILY_BLOOM_META, new BloomFilterMetrics());
    HFile.Reader hfile = reader.getHFileReader();
    String have = hfile.getTrailer().getCompressionCodec() + " " + hfile.getDataBlockEncoding() + " " + reader.getBloomFilterType();
    String want = CODECS.get(kinds[0])[0] + " " + kinds[1] + " " + kinds[2];
    if (!have.equals(want)) return "it is " + have;
    int at = 0;
    HFileScanner scanner = hfile.getScanner(conf, false, false, false);
    for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
      String got = line(scanner.getCell());
      if (at >= cells.size() || !got.equals(line(cells.get(at)))) return "cell " + at + " is " + got;
      at++;
    }
    if (at != cells.size()) return "it ends after " + at + " cells";
    long failures = HFile.getAndResetChecksumFailuresCount();
    if (failures > 0) return failures + " block checksums do not fit";
    return reader.getBloomFilterType() == BloomType.NONE ? null : wrongBloom(reader);
  }

  private String wrongBloom(StoreFileReader reader) throws Exception {
    Method passes = StoreFileReader.class.getDeclaredMethod("passesBloomFilter", Scan.class, SortedSet.class);
    passes.setAccessible(true);
    int let = 0;
    for (Cell cell : cells) {
      for (byte[] suffix : new byte[][] {{}, {'x', 'x'}}) {
        byte[] row = CellUtil.cloneRow(cell);
        if (reader.getBloomFilterType() == BloomType.ROW) row = Bytes.add(row, suffix);
        // Another last byte of the prefix, one that stands in front of every digit.
        if (reader.getBloomFilterType() == BloomType.ROWPREFIX_FIXED_LENGTH && suffix.length > 0) row[PREFIX_LENGTH - 1] = '!';
        TreeSet<byte[]> columns = new TreeSet<>(Bytes.BYTES_COMPARATOR);
        columns.add(Bytes.add(CellUtil.cloneQualifier(cell), suffix));
        boolean passed = (boolean) passes.invoke(reader, new Scan(new Get(row)), columns);
        if (suffix.length == 0 && !passed) return "its bloom does not know " + line(cell);
        boolean marked = reader.getBloomFilterType() == BloomType.ROWCOL && nameless(row);
        if (suffix.length > 0 && passed && !marked) let++;
      }
      boolean marker = PrivateCellUtil.isDeleteFamily(cell) || PrivateCellUtil.isDeleteFamilyVersion(cell);
      if (marker && !reader.passesDeleteFamilyBloomFilter(cell.getRowArray(), cell.getRowOffset(), cell.getRowLength())) {
        return "its bloom of deletes does not know " + line(cell);
      }
    }
    return let > cells.size() / 20 ? "its bloom lets " + let + " of " + cells.size() + " through" : null;
  }

  /** Whether a row has the column without a name, as which markers over the family count: then a ROWCOL bloom lets every column of it through. */
  private boolean nameless(byte[] row) {
    return cells.stream().anyMatch(cell -> cell.getQualifierLength() == 0 && Bytes.equals(CellUtil.cloneRow(cell), row));
  }

  private void write(String file, String codec, String encoding, String bloom, String tags) throws Exception {
    use(codec);
    HFileContextBuilder context = new HFileContextBuilder().withBlockSize(1024).withIncludesTags(!tags.equals("false"))
        .withCompressTags(tags.equals("compressed")).withIncludesMvcc(true)
        .withHBaseCheckSum(true).withCreateTime(1_700_000_000_000L).withColumnFamily(CellUtil.cloneFamily(cells.get(0)))
        .withCompression(Compression.Algorithm.valueOf(CODECS.get(codec)[0])).withDataBlockEncoding(DataBlockEncoding.valueOf(encoding));
    files.delete(new Path(file), false);
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, new CacheConfig(conf), files).withFilePath(new Path(file))
        .withBloomType(BloomType.valueOf(bloom)).withMaxKeyCount(cells.size()).withFileContext(context.build()).build();
    for (KeyValue cell : cells) writer.append(cell);
    writer.appendMetadata(1234, false);
    writer.close();
    Files.deleteIfExists(Paths.get(new java.io.File(file).getParent(), "." + new java.io.File(file).getName() + ".crc"));
  }

  /** Has HBase take this codec from now on. */
  private static void use(String codec) {
    String[] names = CODECS.get(codec);
    Compression.Algorithm algorithm = Compression.Algorithm.valueOf(names[0]);
    if (algorithm == Compression.Algorithm.NONE) return;
    Configuration conf = HBaseConfiguration.create();
    String key = "hbase.io.compress." + names[0].toLowerCase() + ".codec";
    if (names[1] == null) conf.unset(key);
    else conf.set(key, names[1]);
    algorithm.reload(conf);
  }

  private static void codec(String name, String compression, String type) {
    CODECS.put(name, new String[] {compression, type});
  }

  private static KeyValue cell(String line) {
    String[] parts = line.split(" ", -1);
    byte[] tags = HEX.parseHex(parts[7]);
    List<Tag> list = new ArrayList<>();
    for (int at = 0; at < tags.length; at += 2 + Bytes.readAsInt(tags, at, 2)) {
      list.add(new ArrayBackedTag(tags, at, 2 + Bytes.readAsInt(tags, at, 2)));
    }
    KeyValue cell = new KeyValue(HEX.parseHex(parts[0]), HEX.parseHex(parts[1]), HEX.parseHex(parts[2]), Long.parseLong(parts[3]),
        KeyValue.Type.codeToType(Byte.parseByte(parts[4])), HEX.parseHex(parts[6]), list);
    cell.setSequenceId(Long.parseLong(parts[5]));
    return cell;
  }

  private static String line(Cell cell) {
    return String.join(" ", HEX.formatHex(CellUtil.cloneRow(cell)), HEX.formatHex(CellUtil.cloneFamily(cell)),
        HEX.formatHex(CellUtil.cloneQualifier(cell)), Long.toString(cell.getTimestamp()), Byte.toString(cell.getTypeByte()),
        Long.toString(cell.getSequenceId()), HEX.formatHex(CellUtil.cloneValue(cell)), HEX.formatHex(PrivateCellUtil.cloneTags(cell)));
  }
}
