import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** The tables of histories: {@code f VERSIONS=3 TTL=10 ; g ; split b}. Nothing happens to them but what a step says. */
final class HistoryTables {
  private HistoryTables() {}

  /** What a table line says about families; the rest is where regions end. */
  static String families(String line) {
    int split = line.indexOf(" ; split ");
    return split < 0 ? line : line.substring(0, split);
  }

  /** The row at which a region ends within the history, or null. */
  static String split(String line) {
    int split = line.indexOf(" ; split ");
    return split < 0 ? null : line.substring(split + " ; split ".length());
  }

  /** The attributes of each family. */
  static Map<String, Map<String, String>> attributes(String line) {
    Map<String, Map<String, String>> families = new TreeMap<>();
    for (String family : families(line).split(" ; ")) {
      String[] words = family.split(" ");
      Map<String, String> attributes = families.computeIfAbsent(words[0], name -> new TreeMap<>());
      for (int i = 1; i < words.length; i++) {
        String[] pair = words[i].split("=", 2);
        attributes.put(pair[0], pair[1]);
      }
    }
    return families;
  }

  static void create(Admin admin, TableName name, String families, List<byte[]> splits) throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    attributes(families).forEach((family, attributes) -> {
      ColumnFamilyDescriptorBuilder builder = ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(family));
      attributes.forEach(builder::setValue);
      // Files are merged when a step says so.
      builder.setConfiguration("hbase.hstore.compaction.min", "10000");
      builder.setConfiguration("hbase.hstore.blockingStoreFiles", "10000");
      builder.setConfiguration("hbase.hregion.majorcompaction", "0");
      table.setColumnFamily(builder.build());
    });
    Cluster.drop(admin, name);
    if (splits.isEmpty()) admin.createTable(table.build());
    else admin.createTable(table.build(), splits.stream().sorted(Bytes.BYTES_COMPARATOR).toArray(byte[][]::new));
  }

  static void maintain(Admin admin, TableName name, String step) throws Exception {
    admin.flush(name);
    if (step.equals("flush")) return;
    admin.majorCompact(name);
    while (admin.getCompactionState(name) != CompactionState.NONE) Thread.sleep(5);
  }

  /** Versions a column may get between two flushes, for each family, so that both drop the same at a flush. */
  static Map<String, Integer> versionsToFlush(String line, boolean cellTtls) {
    Map<String, Integer> versions = new TreeMap<>();
    attributes(line).forEach((family, attributes) -> {
      boolean plain = !cellTtls && Stream.of("MIN_VERSIONS", "KEEP_DELETED_CELLS", "NEW_VERSION_BEHAVIOR").noneMatch(attributes::containsKey);
      int least = Integer.parseInt(attributes.getOrDefault("MIN_VERSIONS", "0"));
      int kept = least > 0 ? least : Integer.parseInt(attributes.getOrDefault("VERSIONS", "1"));
      versions.put(family, plain ? Integer.MAX_VALUE : kept);
    });
    return versions;
  }
}
