import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFile;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Writes an HFile with HBase 1.x: StoreFiles1 CELLS OUT COMPRESSION ENCODING BLOOM COMPRESS_TAGS, the cells as in StoreFiles.
 */
public final class StoreFiles1 {
  private static final HexFormat HEX = HexFormat.of();

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("fs.defaultFS", "file:///");
    // Small, so that few cells make many blocks, leaves and chunks.
    conf.setInt("hfile.index.block.max.size", 400);
    conf.setInt("io.storefile.bloom.block.size", 1024);
    HFileSystem files = new HFileSystem(conf, true);
    List<KeyValue> cells = new ArrayList<>();
    for (String line : Files.readAllLines(Paths.get(args[0]))) cells.add(cell(line));
    HFileContext context = new HFileContextBuilder().withBlockSize(1024).withIncludesTags(true)
        .withCompressTags(Boolean.parseBoolean(args[5])).withIncludesMvcc(true).withHBaseCheckSum(true)
        .withCompression(Compression.Algorithm.valueOf(args[2])).withDataBlockEncoding(DataBlockEncoding.valueOf(args[3])).build();
    Path out = new Path(args[1]);
    files.delete(out, false);
    StoreFile.Writer writer = new StoreFile.WriterBuilder(conf, new CacheConfig(conf), files).withFilePath(out)
        .withBloomType(BloomType.valueOf(args[4])).withMaxKeyCount(cells.size()).withFileContext(context)
        .withComparator(KeyValue.COMPARATOR).build();
    for (KeyValue cell : cells) writer.append(cell);
    writer.appendMetadata(1234, false);
    writer.close();
    Files.deleteIfExists(Paths.get(out.getParent().toString(), "." + out.getName() + ".crc"));
    System.exit(0);
  }

  private static KeyValue cell(String line) {
    String[] parts = line.split(" ", -1);
    byte[] tags = HEX.parseHex(parts[7]);
    List<Tag> list = new ArrayList<>();
    for (int at = 0; at < tags.length; at += 2 + Bytes.readAsInt(tags, at, 2)) {
      list.add(new Tag(tags, at, 2 + Bytes.readAsInt(tags, at, 2)));
    }
    KeyValue cell = new KeyValue(HEX.parseHex(parts[0]), HEX.parseHex(parts[1]), HEX.parseHex(parts[2]), Long.parseLong(parts[3]),
        KeyValue.Type.codeToType(Byte.parseByte(parts[4])), HEX.parseHex(parts[6]), list);
    cell.setSequenceId(Long.parseLong(parts[5]));
    return cell;
  }
}
