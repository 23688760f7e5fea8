import java.util.StringJoiner;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A region that is closed flushes its memstores by the declaration it was opened with, so what is surplus then is gone:
 * Reopened REGISTRY HOST:PORT.
 */
public final class Reopened {
  private static final TableName TABLE = TableName.valueOf("reopened");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] ROW = Bytes.toBytes("r");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");

  private final Checks checks = new Checks();
  private final Connection connection;
  private final Admin admin;

  private Reopened(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  interface Step {
    void run() throws Exception;
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      Reopened program = new Reopened(connection, admin);
      program.surplusVersions();
      program.declarations();
      program.checks.finish();
    }
  }

  private void surplusVersions() throws Exception {
    afterDeleteOfNewest("nothing is closed", "10", () -> { });
    afterDeleteOfNewest("flush", "-", () -> admin.flush(TABLE));
    afterDeleteOfNewest("disable, enable", "-", () -> {
      admin.disableTable(TABLE);
      admin.enableTable(TABLE);
    });
    afterDeleteOfNewest("alter a family", "-", () -> admin.modifyColumnFamily(TABLE, family(1, 65535)));
    afterDeleteOfNewest("alter a table", "-", () ->
        admin.modifyTable(TableDescriptorBuilder.newBuilder(admin.getDescriptor(TABLE)).setValue("note", "x").build()));
    afterDeleteOfNewest("alter to what it is", "-", () -> admin.modifyTable(admin.getDescriptor(TABLE)));
    afterDeleteOfNewest("add a family", "-", () -> admin.addColumnFamily(TABLE, ColumnFamilyDescriptorBuilder.of("g")));
    afterDeleteOfNewest("unassign, assign", "-", () -> {
      byte[] region = admin.getRegions(TABLE).get(0).getRegionName();
      admin.unassign(region, false);
      admin.assign(region);
    });
    afterDeleteOfNewest("split", "-", () -> {
      admin.splitRegionAsync(admin.getRegions(TABLE).get(0).getRegionName(), Bytes.toBytes("m")).get();
    });
    afterDeleteOfNewest("move to where it is", "10", () -> {
      String region = admin.getRegions(TABLE).get(0).getEncodedName();
      admin.move(Bytes.toBytes(region));
    });
  }

  /** Writes versions 10 and 20, does something, deletes version 20 and reads. */
  private void afterDeleteOfNewest(String what, String expected, Step step) throws Exception {
    create(1);
    try (Table table = connection.getTable(TABLE)) {
      put(table, 10, 20);
      step.run();
      retried(() -> table.delete(new Delete(ROW).addColumn(FAMILY, QUALIFIER, 20)));
      checks.equal("versions 10 and 20, " + what + ", version 20 is deleted", expected, () -> versions(table));
    }
  }

  private void declarations() throws Exception {
    create(1);
    try (Table table = connection.getTable(TABLE)) {
      put(table, 1, 2, 3);
      table.incrementColumnValue(ROW, FAMILY, Bytes.toBytes("n"), 1);
      table.incrementColumnValue(ROW, FAMILY, Bytes.toBytes("n"), 1);
      admin.modifyColumnFamily(TABLE, family(5, 65536));
      checks.equal("of three versions written under VERSIONS 1 one is left under 5", "3", () -> versions(table));
      checks.equal("of a counter too", 1, () -> table.get(new Get(ROW).addColumn(FAMILY, Bytes.toBytes("n")).readAllVersions()).size());
      put(table, 4, 5, 6);
      checks.equal("four versions under VERSIONS 5", "6 5 4 3", () -> versions(table));
      admin.modifyColumnFamily(TABLE, family(2, 65536));
      checks.equal("two under VERSIONS 2", "6 5", () -> versions(table));
      admin.modifyColumnFamily(TABLE, family(5, 65536));
      checks.equal("what was flushed under VERSIONS 5 comes back", "6 5 4 3", () -> versions(table));
      admin.disableTable(TABLE);
      admin.modifyColumnFamily(TABLE, family(3, 65536));
      admin.enableTable(TABLE);
      checks.equal("a disabled table is altered", "6 5 4", () -> versions(table));
    }
  }

  private void create(int versions) throws Exception {
    Cluster.drop(admin, TABLE);
    admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(family(versions, 65536)).build());
  }

  private static ColumnFamilyDescriptor family(int versions, int blockSize) {
    return ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setMaxVersions(versions).setBlocksize(blockSize).build();
  }

  /** A region that was assigned again may be on its way still. */
  private static void retried(Step step) throws Exception {
    for (int attempt = 0; ; attempt++) {
      try {
        step.run();
        return;
      } catch (NotServingRegionException e) {
        if (attempt == 50) throw e;
        Thread.sleep(100);
      }
    }
  }

  private static void put(Table table, long... timestamps) throws Exception {
    for (long timestamp : timestamps) {
      table.put(new Put(ROW).addColumn(FAMILY, QUALIFIER, timestamp, Bytes.toBytes("" + timestamp)));
    }
  }

  private static String versions(Table table) throws Exception {
    Result result = table.get(new Get(ROW).addColumn(FAMILY, QUALIFIER).readAllVersions());
    if (result.isEmpty()) return "-";
    StringJoiner values = new StringJoiner(" ");
    for (Cell cell : result.rawCells()) values.add(Bytes.toString(cell.getValueArray(), cell.getValueOffset(), cell.getValueLength()));
    return values.toString();
  }
}
