import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A family of every compression and bloom, written, flushed, deleted from, flushed again and read: Families REGISTRY HOST:PORT.
 * What is deleted lies in other files than its markers, and gets name columns that some files have and some do not.
 */
public final class Families {
  private static final TableName TABLE = TableName.valueOf("families");
  private static final List<String> COMPRESSIONS = List.of("NONE", "GZ", "SNAPPY", "LZ4", "ZSTD");
  private static final List<BloomType> BLOOMS = List.of(BloomType.NONE, BloomType.ROW, BloomType.ROWCOL);
  private static final int ROWS = 300;

  public static void main(String[] args) throws Exception {
    Checks checks = new Checks();
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      Cluster.drop(admin, TABLE);
      List<String> families = new ArrayList<>();
      TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TABLE);
      for (String compression : COMPRESSIONS) {
        for (BloomType bloom : BLOOMS) {
          String name = compression + "-" + bloom;
          families.add(name);
          table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(name)).setBlocksize(4096)
              .setCompressionType(Compression.Algorithm.valueOf(compression)).setBloomFilterType(bloom).build());
        }
      }
      admin.createTable(table.build());
      try (Table rows = connection.getTable(TABLE)) {
        for (String family : families) write(rows, Bytes.toBytes(family));
        admin.flush(TABLE);
        for (String family : families) delete(rows, Bytes.toBytes(family));
        // One by one, which is asked for in another way.
        for (String family : families) admin.flush(TABLE, Bytes.toBytes(family));
        for (ColumnFamilyDescriptor family : rows.getDescriptor().getColumnFamilies()) {
          String kinds = family.getCompressionType().name() + "-" + family.getBloomFilterType();
          checks.equal(family.getNameAsString() + " is what it was declared", family.getNameAsString(), () -> kinds);
          read(checks, rows, family.getName());
        }
      }
    }
    checks.finish();
  }

  private static byte[] row(int at) {
    return Bytes.toBytes(String.format("row%05d", at));
  }

  /** Row n has the columns a and b, c if n is even, and one without a name if it is a multiple of five. */
  private static void write(Table table, byte[] family) throws Exception {
    List<Put> puts = new ArrayList<>();
    for (int at = 0; at < ROWS; at++) {
      Put put = new Put(row(at)).addColumn(family, Bytes.toBytes("a"), 10, Bytes.toBytes("again and again and again " + at))
          .addColumn(family, Bytes.toBytes("b"), 10, Bytes.toBytes(Long.hashCode(at * 0x9E3779B97F4A7C15L)));
      if (at % 2 == 0) put.addColumn(family, Bytes.toBytes("c"), 10, Bytes.toBytes(at));
      if (at % 5 == 0) put.addColumn(family, new byte[0], 10, Bytes.toBytes("nameless"));
      puts.add(put);
    }
    table.put(puts);
  }

  /** Rows that are multiples of 7 lose the family, of 11 column a, of 13 gain column d. */
  private static void delete(Table table, byte[] family) throws Exception {
    for (int at = 0; at < ROWS; at++) {
      if (at % 7 == 0) table.delete(new Delete(row(at)).addFamily(family, 20));
      else if (at % 11 == 0) table.delete(new Delete(row(at)).addColumns(family, Bytes.toBytes("a"), 20));
      else if (at % 13 == 0) table.put(new Put(row(at)).addColumn(family, Bytes.toBytes("d"), 30, Bytes.toBytes("later")));
    }
  }

  private static void read(Checks checks, Table table, byte[] family) {
    String name = Bytes.toString(family);
    checks.equal(name + ": gets of columns", expected(), () -> {
      StringJoiner found = new StringJoiner(" ");
      for (int at = 0; at < ROWS; at++) {
        List<Get> gets = new ArrayList<>();
        for (String column : new String[] {"a", "b", "c", "d", "", "e"}) gets.add(new Get(row(at)).addColumn(family, Bytes.toBytes(column)));
        gets.add(new Get(row(at)).addColumn(family, Bytes.toBytes("c")).addColumn(family, Bytes.toBytes("d")));
        StringBuilder text = new StringBuilder();
        for (var result : table.get(gets)) text.append(result.size());
        found.add(text);
      }
      return found.toString();
    });
    checks.equal(name + ": a row that is not there", "-", () -> Checks.show(table.get(new Get(Bytes.toBytes("row00000x")).addFamily(family))));
    checks.equal(name + ": a scan", scanned(), () -> {
      try (var scanner = table.getScanner(new Scan().addFamily(family).readAllVersions())) {
        int cells = 0;
        for (var result : scanner) cells += result.size();
        return cells;
      }
    });
  }

  /** Cells found per row, by the gets of read(). */
  private static String expected() {
    StringJoiner rows = new StringJoiner(" ");
    for (int at = 0; at < ROWS; at++) {
      boolean gone = at % 7 == 0;
      int a = gone || at % 11 == 0 ? 0 : 1, b = gone ? 0 : 1, c = gone || at % 2 != 0 ? 0 : 1;
      int d = gone || at % 11 == 0 || at % 13 != 0 ? 0 : 1, nameless = gone || at % 5 != 0 ? 0 : 1;
      rows.add("" + a + b + c + d + nameless + 0 + (c + d));
    }
    return rows.toString();
  }

  private static int scanned() {
    int cells = 0;
    for (String row : expected().split(" ")) {
      for (char found : row.substring(0, 5).toCharArray()) cells += found - '0';
    }
    return cells;
  }
}
