import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.mapreduce.CopyTable;
import org.apache.hadoop.hbase.mapreduce.Export;
import org.apache.hadoop.hbase.mapreduce.Import;
import org.apache.hadoop.hbase.mapreduce.IndexBuilder;
import org.apache.hadoop.hbase.mapreduce.RowCounter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * HBase's MapReduce jobs, as they are, over a table of people: Jobs DIR.
 *
 * <p>IndexBuilder makes an index table of each attribute, which has each value once with its row; RowCounter counts; CopyTable and Export with
 * Import make the same cells in another table.
 */
public final class Jobs {
  private static final byte[] ATTRIBUTES = Bytes.toBytes("attributes"), INDEX = Bytes.toBytes("INDEX"), ROW = Bytes.toBytes("ROW");
  private static final String[] NAMES = {"name", "email", "phone"};
  private static final int PEOPLE = 3000;

  private final Configuration conf = HBaseConfiguration.create();
  private final String suffix = UUID.randomUUID().toString().substring(0, 8);

  private Jobs(String dir) {
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    conf.set("hadoop.tmp.dir", dir + "/tmp");
    conf.setInt("mapreduce.local.map.tasks.maximum", 2);
  }

  public static void main(String[] args) throws Exception {
    new Jobs(args[0]).run(args[0]);
    System.out.println("ok MapReduce");
    System.exit(0);
  }

  private void run(String dir) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      String people = "people" + suffix;
      create(admin, people, ATTRIBUTES, Bytes.toBytes("person1"), Bytes.toBytes("person2"));
      Map<String, Map<String, String>> expected = new TreeMap<>();
      for (String name : NAMES) {
        expected.put(name, new TreeMap<>());
        create(admin, people + "-" + name, INDEX);
      }
      try (Table table = connection.getTable(TableName.valueOf(people))) {
        List<Put> puts = new ArrayList<>();
        for (int number = 0; number < PEOPLE; number++) {
          Put put = new Put(Bytes.toBytes("person" + number));
          for (String name : NAMES) {
            // Every seventh person has no phone.
            if (name.equals("phone") && number % 7 == 0) continue;
            String value = name + (number * 7919 % PEOPLE);
            put.addColumn(ATTRIBUTES, Bytes.toBytes(name), Bytes.toBytes(value));
            expected.get(name).put(value, "person" + number);
          }
          puts.add(put);
        }
        table.put(puts);
      }

      job(new IndexBuilder(), people, "attributes", "name", "email", "phone");
      for (String name : NAMES) {
        same("index of " + name, expected.get(name).toString(), entries(connection, people + "-" + name).toString());
      }
      job(new RowCounter(), people);
      String copy = people + "copy", imported = people + "imported";
      create(admin, copy, ATTRIBUTES);
      create(admin, imported, ATTRIBUTES);
      String cells = cells(connection, people);
      job(new CopyTable(), "--new.name=" + copy, people);
      same("CopyTable", cells, cells(connection, copy));
      job(new Export(), people, dir + "/" + people);
      job(new Import(), imported, dir + "/" + people);
      same("Export and Import", cells, cells(connection, imported));
      for (TableName table : admin.listTableNames()) {
        if (!table.getNameAsString().startsWith(people)) continue;
        admin.disableTable(table);
        admin.deleteTable(table);
      }
    }
  }

  private void job(Tool tool, String... args) throws Exception {
    int status = ToolRunner.run(new Configuration(conf), tool, args);
    if (status != 0) throw new AssertionError(tool.getClass().getSimpleName() + " ended with " + status);
    System.out.println("ok " + tool.getClass().getSimpleName());
  }

  private static void create(Admin admin, String name, byte[] family, byte[]... splits) throws Exception {
    ColumnFamilyDescriptor descriptor = ColumnFamilyDescriptorBuilder.of(family);
    var table = TableDescriptorBuilder.newBuilder(TableName.valueOf(name)).setColumnFamily(descriptor).build();
    if (splits.length == 0) admin.createTable(table);
    else admin.createTable(table, splits);
  }

  /** The rows of an index table, with the row that each names. */
  private static Map<String, String> entries(Connection connection, String name) throws Exception {
    Map<String, String> entries = new TreeMap<>();
    try (Table table = connection.getTable(TableName.valueOf(name)); ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) entries.put(Bytes.toString(result.getRow()), Bytes.toString(result.getValue(INDEX, ROW)));
    }
    return entries;
  }

  private static String cells(Connection connection, String name) throws Exception {
    StringBuilder cells = new StringBuilder();
    try (Table table = connection.getTable(TableName.valueOf(name)); ResultScanner scanner = table.getScanner(new Scan().readAllVersions())) {
      for (Result result : scanner) {
        for (Cell cell : result.rawCells()) {
          cells.append(cell).append('=').append(Bytes.toStringBinary(CellUtil.cloneValue(cell))).append('\n');
        }
      }
    }
    return cells.toString();
  }

  private static void same(String what, String expected, String found) {
    if (expected.isEmpty() || !expected.equals(found)) throw new AssertionError(what + " differs: " + found.length() + " for " + expected.length());
  }
}
