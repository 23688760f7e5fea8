import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.SnapshotType;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.snapshot.RestoreSnapshotException;
import org.apache.hadoop.hbase.snapshot.SnapshotCreationException;
import org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException;
import org.apache.hadoop.hbase.snapshot.SnapshotExistsException;
import org.apache.hadoop.hbase.snapshot.SnapshotTTLExpiredException;
import org.apache.hadoop.hbase.snapshot.UnknownSnapshotException;
import org.apache.hadoop.hbase.util.Bytes;

/** Snapshots taken, listed, cloned, restored and deleted, as HBase's own client does it. Snapshots REGISTRY HOST:PORT. */
public final class Snapshots {
  private static final TableName TABLE = TableName.valueOf("snapped");
  private static final TableName CLONE = TableName.valueOf("snapped_clone");
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final byte[] LATER = Bytes.toBytes("later");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final Pattern ALL = Pattern.compile(".*");
  private static final int ROWS = 50;

  private final Connection connection;
  private final Admin admin;
  private final Checks checks = new Checks();

  private Snapshots(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      Cluster.drop(admin, TABLE);
      Cluster.drop(admin, CLONE);
      admin.deleteSnapshots(Pattern.compile("snap.*"));
      Snapshots snapshots = new Snapshots(connection, admin);
      snapshots.run();
      snapshots.checks.finish();
    }
  }

  private void run() throws Exception {
    TableDescriptor declared =
        TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build();
    admin.createTable(declared, new byte[][] {Bytes.toBytes("r2"), Bytes.toBytes("r4")});
    fill(TABLE, "then");
    Map<String, String> then = rows(TABLE);
    taken();
    cloned(then);
    restored(then);
    skipped();
    expired();
    sized();
    listed();
    refused();
    deleted(then);
  }

  private void taken() throws Exception {
    admin.snapshot("snap-then", TABLE);
    fill(TABLE, "later");
    SnapshotDescription found = find("snap-then");
    checks.equal("of its table", TABLE, () -> found.getTableName());
    checks.equal("with a flush", SnapshotType.FLUSH, () -> found.getType());
    checks.equal("just now", true, () -> Math.abs(System.currentTimeMillis() - found.getCreationTime()) < 3_600_000);
    checks.equal("for ever", 0L, () -> found.getTtl());
    checks.equal("finished", true, () -> admin.isSnapshotFinished(found));
    admin.snapshotAsync(new SnapshotDescription("snap-async", TABLE, SnapshotType.FLUSH)).get(60, TimeUnit.SECONDS);
    checks.equal("taken in the background", TABLE, () -> find("snap-async").getTableName());
  }

  private void cloned(Map<String, String> then) throws Exception {
    admin.cloneSnapshot("snap-then", CLONE);
    checks.equal("a clone holds what was there", then, () -> rows(CLONE));
    checks.equal("a clone has the regions", 3, () -> admin.getRegions(CLONE).size());
    checks.equal("a clone is declared alike", true, () -> admin.getDescriptor(CLONE).hasColumnFamily(CF));
    try (Table clone = connection.getTable(CLONE)) {
      clone.delete(new Delete(Bytes.toBytes("r0001")));
      clone.put(new Put(Bytes.toBytes("r0002")).addColumn(CF, Q, Bytes.toBytes("of the clone")));
    }
    checks.equal("what a clone loses its origin keeps", "later1", () -> rows(TABLE).get("r0001"));
    admin.flush(CLONE);
    admin.disableTable(TABLE);
    admin.majorCompact(CLONE);
    checks.equal("a clone keeps its own", "of the clone", () -> rows(CLONE).get("r0002"));
    checks.equal("a clone has lost a row", ROWS - 1, () -> rows(CLONE).size());
    Cluster.drop(admin, CLONE);
    admin.cloneSnapshot("snap-then", CLONE);
    checks.equal("a second clone is as the first was", then, () -> rows(CLONE));
    admin.enableTable(TABLE);
  }

  private void restored(Map<String, String> then) throws Exception {
    admin.addColumnFamily(TABLE, ColumnFamilyDescriptorBuilder.of(LATER));
    fails("an enabled table is not restored", TableNotDisabledException.class, () -> admin.restoreSnapshot("snap-then"));
    admin.disableTable(TABLE);
    admin.restoreSnapshot("snap-then");
    checks.equal("a restored table is disabled", true, () -> admin.isTableDisabled(TABLE));
    checks.equal("what was declared later is gone", false, () -> admin.getDescriptor(TABLE).hasColumnFamily(LATER));
    admin.enableTable(TABLE);
    checks.equal("a restored table is what it was", then, () -> rows(TABLE));
    fill(TABLE, "after");
    admin.disableTable(TABLE);
    admin.restoreSnapshot("snap-then", true);
    admin.enableTable(TABLE);
    checks.equal("restored with another snapshot before", then, () -> rows(TABLE));
    checks.equal("which is gone then", 0, () -> admin.listSnapshots(Pattern.compile("hbase-failsafe.*")).size());
    Cluster.drop(admin, TABLE);
    admin.restoreSnapshot("snap-then");
    checks.equal("a table that is gone comes back, enabled", then, () -> rows(TABLE));
  }

  private void skipped() throws Exception {
    admin.flush(TABLE);
    fill(TABLE, "memory");
    admin.snapshot("snap-skipped", TABLE, SnapshotType.SKIPFLUSH);
    Cluster.drop(admin, CLONE);
    admin.cloneSnapshot("snap-skipped", CLONE);
    checks.equal("without what was in memory", "then1", () -> rows(CLONE).get("r0001"));
    admin.disableTable(TABLE);
    admin.snapshot("snap-disabled", TABLE);
    checks.equal("of a disabled table", SnapshotType.DISABLED, () -> find("snap-disabled").getType());
    admin.enableTable(TABLE);
    Cluster.drop(admin, CLONE);
    admin.cloneSnapshot("snap-disabled", CLONE);
    checks.equal("with what was in memory", "memory1", () -> rows(CLONE).get("r0001"));
  }

  private void expired() throws Exception {
    Map<String, Object> ttl = new HashMap<>();
    ttl.put("TTL", 100_000L);
    admin.snapshot("snap-ttl", TABLE, ttl);
    checks.equal("with a time to live", 100_000L, () -> find("snap-ttl").getTtl());
    ttl.put("TTL", 1L);
    admin.snapshot("snap-short", TABLE, ttl);
    Thread.sleep(1500);
    Cluster.drop(admin, CLONE);
    fails("one that has expired makes no table", SnapshotTTLExpiredException.class, () -> admin.cloneSnapshot("snap-short", CLONE));
    checks.equal("and none is left", false, () -> admin.tableExists(CLONE));
    checks.equal("they are removed", true, admin::isSnapshotCleanupEnabled);
    checks.equal("which is turned off", true, () -> admin.snapshotCleanupSwitch(false, true));
    checks.equal("once", false, () -> admin.snapshotCleanupSwitch(false, false));
    checks.equal("they stay", false, admin::isSnapshotCleanupEnabled);
    checks.equal("it was off", false, () -> admin.snapshotCleanupSwitch(true, true));
  }

  private void sized() throws Exception {
    Map<String, Object> size = new HashMap<>();
    size.put("MAX_FILESIZE", 5_000_000L);
    admin.snapshot("snap-sized", TABLE, size);
    checks.equal("with a size", 5_000_000L, () -> find("snap-sized").getMaxFileSize());
    checks.equal("its table has none", -1L, () -> admin.getDescriptor(TABLE).getMaxFileSize());
    admin.cloneSnapshot("snap-sized", CLONE);
    checks.equal("a clone has it", 5_000_000L, () -> admin.getDescriptor(CLONE).getMaxFileSize());
    size.put("MAX_FILESIZE", 7_000_000L);
    admin.snapshot("snap-larger", CLONE, size);
    Cluster.drop(admin, CLONE);
    admin.cloneSnapshot("snap-larger", CLONE);
    checks.equal("the table's own goes before", 5_000_000L, () -> admin.getDescriptor(CLONE).getMaxFileSize());
    Cluster.drop(admin, CLONE);
  }

  private void listed() throws Exception {
    checks.equal("by name", List.of("snap-disabled"), () -> names(admin.listSnapshots(Pattern.compile(".*-disabled"))));
    checks.equal("by table", true, () -> names(admin.listTableSnapshots(Pattern.compile("snap.*"), ALL)).contains("snap-then"));
    checks.equal("by table and name", List.of("snap-then"), () -> names(admin.listTableSnapshots(Pattern.compile("snapped"), Pattern.compile(".*-then"))));
    checks.equal("of no table", Collections.emptyList(), () -> names(admin.listTableSnapshots(Pattern.compile("nowhere"), ALL)));
  }

  private void refused() throws Exception {
    fails("the same name", SnapshotExistsException.class, () -> admin.snapshot("snap-then", TABLE));
    fails("no table", SnapshotCreationException.class, () -> admin.snapshot("snap-none", TableName.valueOf("nowhere")));
    fails("a bad name", IllegalArgumentException.class, () -> admin.snapshot("-snap", TABLE));
    fails("a system table", IllegalArgumentException.class, () -> admin.snapshot("snap-meta", TableName.META_TABLE_NAME));
    fails("nothing to delete", SnapshotDoesNotExistException.class, () -> admin.deleteSnapshot("snap-none"));
    fails("nothing to restore", RestoreSnapshotException.class, () -> admin.restoreSnapshot("snap-none"));
    fails("nothing to clone", SnapshotDoesNotExistException.class,
        () -> admin.cloneSnapshot("snap-none", TableName.valueOf("snapped_none")));
    fails("a table that is there", TableExistsException.class, () -> admin.cloneSnapshot("snap-then", TABLE));
    fails("nothing to wait for", UnknownSnapshotException.class,
        () -> admin.isSnapshotFinished(new SnapshotDescription("snap-none", TABLE)));
  }

  private void deleted(Map<String, String> then) throws Exception {
    Cluster.drop(admin, CLONE);
    admin.cloneSnapshot("snap-then", CLONE);
    admin.deleteSnapshot("snap-then");
    checks.equal("deleted", 0, () -> admin.listSnapshots(Pattern.compile("snap-then")).size());
    admin.deleteTableSnapshots(Pattern.compile("snapped"), Pattern.compile("snap-d.*"));
    checks.equal("of a table", 0, () -> admin.listSnapshots(Pattern.compile("snap-disabled")).size());
    admin.deleteSnapshots(Pattern.compile("snap-.*"));
    checks.equal("all", 0, () -> admin.listSnapshots(Pattern.compile("snap-.*")).size());
    Cluster.drop(admin, TABLE);
    checks.equal("a clone outlives snapshot and table", then, () -> rows(CLONE));
    Cluster.drop(admin, CLONE);
  }

  private interface Action {
    void run() throws Exception;
  }

  private void fails(String name, Class<? extends Throwable> type, Action action) {
    checks.refused(name, type, "", () -> {
      action.run();
      return null;
    });
  }

  private SnapshotDescription find(String name) throws Exception {
    return admin.listSnapshots(Pattern.compile(name)).get(0);
  }

  private static List<String> names(List<SnapshotDescription> snapshots) {
    return snapshots.stream().map(SnapshotDescription::getName).sorted().collect(Collectors.toList());
  }

  private void fill(TableName name, String value) throws Exception {
    try (Table table = connection.getTable(name)) {
      for (int row = 0; row < ROWS; row++) {
        table.put(new Put(Bytes.toBytes(String.format("r%04d", row * 1000 % 4999))).addColumn(CF, Q, Bytes.toBytes(value + row)));
      }
      table.put(new Put(Bytes.toBytes("r0001")).addColumn(CF, Q, Bytes.toBytes(value + 1)));
      table.put(new Put(Bytes.toBytes("r0002")).addColumn(CF, Q, Bytes.toBytes(value + 2)));
    }
  }

  private Map<String, String> rows(TableName name) throws Exception {
    Map<String, String> rows = new TreeMap<>();
    try (Table table = connection.getTable(name); ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result row : scanner) rows.put(Bytes.toString(row.getRow()), Bytes.toString(row.getValue(CF, Q)));
    }
    return rows;
  }
}
