import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * The classic experiment, by the stock client on four region servers of limited operations: Hotspot REGISTRY HOST:PORT. Keys
 * foo00000100, foo00000101, … load one server; with one of four random salts in front they load all.
 */
public final class Hotspot {
  private static final byte[] F = Bytes.toBytes("f");
  private static final String[] SALTS = {"a-", "b-", "c-", "d-"};
  private static final int SECONDS = 4;

  private final Checks checks = new Checks();
  private final Connection connection;
  private final GrowingKeys keys;

  private Hotspot(Connection connection) {
    this.connection = connection;
    this.keys = new GrowingKeys(connection);
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      admin.balancerSwitch(false, true);
      new Hotspot(connection).run(admin);
    }
  }

  private void run(Admin admin) throws Exception {
    TableName plain = create(admin, "plain", "foo00000010", "foo00000020", "foo00000030");
    TableName salted = create(admin, "salted", "b", "c", "d");
    double one = keys.write(plain, random -> "", SECONDS);
    double four = keys.write(salted, random -> SALTS[random.nextInt(4)], SECONDS);
    System.out.printf("plain %.0f writes/s, with four salts %.0f: %.1f times as many%n", one, four, four / one);
    checks.equal("no write is refused", 0L, keys::refused);
    checks.equal("four salts write at least 3.5 times as much", true, () -> four >= 3.5 * one);
    checks.equal("plain keys load one server", 1, () -> loaded(admin, plain));
    checks.equal("salted keys load four", 4, () -> loaded(admin, salted));
    try (Table table = connection.getTable(salted)) {
      List<Get> gets = new ArrayList<>();
      for (String salt : SALTS) gets.add(new Get(Bytes.toBytes(salt + GrowingKeys.key(100))));
      int found = 0;
      for (boolean exists : table.exists(gets)) if (exists) found++;
      int rows = found;
      checks.equal("a get without the salt asks for four rows and finds one", 1, () -> rows);
    }
    checks.finish();
  }

  private TableName create(Admin admin, String name, String... splits) throws Exception {
    TableName table = TableName.valueOf(name);
    Cluster.drop(admin, table);
    byte[][] rows = new byte[splits.length][];
    for (int at = 0; at < splits.length; at++) rows[at] = Bytes.toBytes(splits[at]);
    admin.createTable(TableDescriptorBuilder.newBuilder(table).setColumnFamily(ColumnFamilyDescriptorBuilder.of(F)).build(), rows);
    return table;
  }

  /** Returns how many servers have a region of the table with at least a tenth of the writes of the busiest. */
  private static int loaded(Admin admin, TableName table) throws Exception {
    List<Long> writes = new ArrayList<>();
    for (var server : admin.getClusterMetrics().getLiveServerMetrics().values()) {
      writes.add(server.getRegionMetrics().values().stream()
          .filter(region -> region.getNameAsString().startsWith(table + ",")).mapToLong(region -> region.getWriteRequestCount()).sum());
    }
    long most = writes.stream().mapToLong(it -> it).max().orElse(0);
    return (int) writes.stream().filter(it -> it * 10 >= most && it > 0).count();
  }
}
