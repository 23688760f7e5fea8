import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** What docs/in-tests.md shows of Java: a server for each test, with nothing left of it afterwards. InTests BINARY. */
public final class InTests {
  public static void main(String[] args) throws Exception {
    Checks checks = new Checks();
    TableName name = TableName.valueOf("t");
    byte[] cf = Bytes.toBytes("cf");
    for (String test : new String[] {"first", "second"}) {
      try (RowhouseServer server = new RowhouseServer(args[0]);
          Connection connection = ConnectionFactory.createConnection(server.configuration());
          Admin admin = connection.getAdmin()) {
        checks.equal(test + ": no table is there", false, () -> admin.tableExists(name));
        admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of(cf)).build());
        try (Table table = connection.getTable(name)) {
          table.put(new Put(Bytes.toBytes("r")).addColumn(cf, cf, Bytes.toBytes(test)));
          checks.equal(test + ": a put is read", test, () -> Bytes.toString(table.get(new Get(Bytes.toBytes("r"))).value()));
        }
      }
    }
    checks.finish();
  }
}
