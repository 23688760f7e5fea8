import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.InvalidFamilyOperationException;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * What families keep, in memory, in files and after a major compaction, and tables that are altered while they are read and written:
 * Kept REGISTRY HOST:PORT.
 */
public final class Kept {
  private static final TableName TABLE = TableName.valueOf("kept");
  private static final TableName ALTERED = TableName.valueOf("kept_altered");
  private static final byte[] ROW = bytes("r");

  private final Checks checks = new Checks();
  private final Connection connection;
  private final Admin admin;

  private Kept(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      Kept program = new Kept(connection, admin);
      program.families();
      program.alterations();
      program.truncation();
      program.checks.finish();
    }
  }

  private static ColumnFamilyDescriptorBuilder family(String name) {
    return ColumnFamilyDescriptorBuilder.newBuilder(bytes(name)).setMaxVersions(5);
  }

  private void families() throws Exception {
    Cluster.drop(admin, TABLE);
    TableDescriptorBuilder declared = TableDescriptorBuilder.newBuilder(TABLE)
        .setColumnFamily(family("plain").build())
        .setColumnFamily(family("true").setKeepDeletedCells(KeepDeletedCells.TRUE).build())
        .setColumnFamily(family("ttl").setKeepDeletedCells(KeepDeletedCells.TTL).setTimeToLive(2_000_000_000).build())
        .setColumnFamily(family("newer").setNewVersionBehavior(true).build())
        .setColumnFamily(family("one").setNewVersionBehavior(true).setMaxVersions(1).build())
        .setColumnFamily(family("least").setTimeToLive(10).setMinVersions(1).build());
    for (DataBlockEncoding encoding : DataBlockEncoding.values()) {
      declared.setColumnFamily(family("e-" + encoding).setDataBlockEncoding(encoding).build());
    }
    admin.createTable(declared.build());
    try (Table table = connection.getTable(TABLE)) {
      for (ColumnFamilyDescriptor family : table.getDescriptor().getColumnFamilies()) {
        String name = family.getNameAsString();
        if (!name.startsWith("e-")) continue;
        checks.equal(name + " is what it was declared", name.substring(2), () -> family.getDataBlockEncoding());
        put(table, name, 1, 2, 3);
      }
      write(table);
      read("in memory", table);
      admin.flush(TABLE);
      read("in files", table);
      compact();
      read("compacted", table);
      for (String name : List.of("plain", "true", "ttl", "newer")) put(table, name, 2);
      // A marker that is gone covers nothing more.
      checks.equal("a put below a marker, compacted", "2", () -> versions(table, "plain", 0, Long.MAX_VALUE));
      checks.equal("true: a put below a marker that is kept", "-", () -> versions(table, "true", 0, Long.MAX_VALUE));
      checks.equal("ttl: a put below a marker that is kept", "-", () -> versions(table, "ttl", 0, Long.MAX_VALUE));
      checks.equal("newer: a put below a marker, compacted", "2", () -> versions(table, "newer", 0, Long.MAX_VALUE));
    }
  }

  private void write(Table table) throws Exception {
    for (String name : List.of("plain", "true", "ttl", "newer")) {
      put(table, name, 1, 2, 3);
      table.delete(new Delete(ROW).addColumns(bytes(name), bytes("q"), 4));
    }
    // Written later, with a lower timestamp.
    for (String name : List.of("plain", "newer")) {
      Put put = new Put(ROW).addColumn(bytes(name), bytes("p"), 2, bytes("2"));
      table.delete(new Delete(ROW).addColumns(bytes(name), bytes("p"), 3));
      table.put(put);
    }
    // A surplus version stays so when the newer one is deleted.
    put(table, "one", 1, 2);
    table.delete(new Delete(ROW).addColumn(bytes("one"), bytes("q"), 2));
    long now = System.currentTimeMillis();
    for (long age : new long[] {100_000, 200_000, 300_000}) {
      table.put(new Put(ROW).addColumn(bytes("least"), bytes("q"), now - age, bytes("" + age)));
    }
  }

  private void read(String when, Table table) {
    long all = Long.MAX_VALUE;
    checks.equal("plain: deleted, " + when, "-", () -> versions(table, "plain", 0, all));
    checks.equal("plain: before it was deleted, " + when, "-", () -> versions(table, "plain", 0, 4));
    for (String name : List.of("true", "ttl")) {
      checks.equal(name + ": deleted, " + when, "-", () -> versions(table, name, 0, all));
      checks.equal(name + ": before it was deleted, " + when, "3 2 1", () -> versions(table, name, 0, 4));
      checks.equal(name + ": some of it, " + when, "2", () -> versions(table, name, 2, 3));
    }
    checks.equal("newer: deleted, " + when, "-", () -> versions(table, "newer", 0, all));
    checks.equal("plain: put behind a delete, " + when, "-", () -> values(table.get(new Get(ROW).addColumn(bytes("plain"), bytes("p")))));
    checks.equal("newer: put behind a delete, " + when, "2", () -> values(table.get(new Get(ROW).addColumn(bytes("newer"), bytes("p")))));
    checks.equal("newer: surplus before a delete, " + when, "-", () -> versions(table, "one", 0, all));
    checks.equal("least: one version outlives the TTL, " + when, "100000", () -> values(table.get(new Get(ROW).addFamily(bytes("least")).readAllVersions())));
    for (DataBlockEncoding encoding : DataBlockEncoding.values()) {
      checks.equal("e-" + encoding + ": read, " + when, "3 2 1", () -> versions(table, "e-" + encoding, 0, all));
    }
  }

  /** Waits for the major compaction of everything. */
  private void compact() throws Exception {
    admin.majorCompact(TABLE);
    for (int quiet = 0; quiet < 5; ) {
      Thread.sleep(200);
      quiet = admin.getCompactionState(TABLE) == CompactionState.NONE ? quiet + 1 : 0;
    }
  }

  private void alterations() throws Exception {
    Cluster.drop(admin, ALTERED);
    admin.createTable(TableDescriptorBuilder.newBuilder(ALTERED).setColumnFamily(ColumnFamilyDescriptorBuilder.of("f")).build(), new byte[][] {bytes("m")});
    try (Table table = connection.getTable(ALTERED)) {
      put(table, "f", 1, 2, 3);
      checks.equal("one version is kept", "3", () -> versions(table, "f", 0, Long.MAX_VALUE));
      admin.modifyColumnFamily(ALTERED, ColumnFamilyDescriptorBuilder.newBuilder(bytes("f")).setMaxVersions(2).build());
      checks.equal("a family is altered", "2", () -> "" + table.getDescriptor().getColumnFamily(bytes("f")).getMaxVersions());
      put(table, "f", 4, 5, 6);
      checks.equal("two versions are kept", "6 5", () -> versions(table, "f", 0, Long.MAX_VALUE));

      admin.addColumnFamily(ALTERED, ColumnFamilyDescriptorBuilder.of("g"));
      put(table, "g", 7);
      checks.equal("a family is added", "f g", () -> names(table.getDescriptor()));
      checks.equal("it is written and read", "7", () -> versions(table, "g", 0, Long.MAX_VALUE));
      admin.deleteColumnFamily(ALTERED, bytes("g"));
      checks.equal("a family is deleted", "f", () -> names(table.getDescriptor()));
      checks.refused("it is not read", NoSuchColumnFamilyException.class, "Column family g does not exist in region", () -> versions(table, "g", 0, Long.MAX_VALUE));
      admin.addColumnFamily(ALTERED, ColumnFamilyDescriptorBuilder.of("g"));
      checks.equal("it is empty when it comes again", "-", () -> versions(table, "g", 0, Long.MAX_VALUE));
      checks.equal("the other family is as it was", "6 5", () -> versions(table, "f", 0, Long.MAX_VALUE));

      TableDescriptor whole = TableDescriptorBuilder.newBuilder(table.getDescriptor()).removeColumnFamily(bytes("g"))
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of("h")).setValue("note", "x").setMaxFileSize(1L << 30).build();
      admin.modifyTable(whole);
      checks.equal("a whole table is altered", "f h", () -> names(table.getDescriptor()));
      checks.equal("its attributes too", "x 1073741824", () -> table.getDescriptor().getValue("note") + " " + table.getDescriptor().getMaxFileSize());

      refused("a family that is there is added", "Column family 'h' in table 'kept_altered' already exists so cannot be added",
          () -> { admin.addColumnFamily(ALTERED, ColumnFamilyDescriptorBuilder.of("h")); return null; });
      refused("a family that is not there is altered", "Family 'nope' does not exist, so it cannot be modified",
          () -> { admin.modifyColumnFamily(ALTERED, ColumnFamilyDescriptorBuilder.of("nope")); return null; });
      refused("a family that is not there is deleted", "Family 'nope' does not exist, so it cannot be deleted",
          () -> { admin.deleteColumnFamily(ALTERED, bytes("nope")); return null; });
      admin.deleteColumnFamily(ALTERED, bytes("h"));
      refused("the last family is deleted", "Family 'f' is the only column family in the table, so it cannot be deleted",
          () -> { admin.deleteColumnFamily(ALTERED, bytes("f")); return null; });

      admin.modifyTable(TableDescriptorBuilder.newBuilder(table.getDescriptor()).setReadOnly(true).build());
      checks.refused("a put to a table that is read only", DoNotRetryIOException.class, "region is read only", () -> { put(table, "f", 9); return null; });
      checks.equal("it is read", "6 5", () -> versions(table, "f", 0, Long.MAX_VALUE));
      admin.modifyTable(TableDescriptorBuilder.newBuilder(table.getDescriptor()).setReadOnly(false).build());
      put(table, "f", 9);
      checks.equal("it is written again", "9 6", () -> versions(table, "f", 0, Long.MAX_VALUE));
    }
  }

  private void truncation() throws Exception {
    checks.refused("an enabled table is truncated", TableNotDisabledException.class, "", () -> { admin.truncateTable(ALTERED, true); return null; });
    for (boolean splits : new boolean[] {true, false}) {
      admin.disableTable(ALTERED);
      admin.truncateTable(ALTERED, splits);
      checks.equal("truncated, it is enabled, splits " + splits, "true", () -> admin.isTableEnabled(ALTERED));
      checks.equal("it has regions, splits " + splits, splits ? "2" : "1", () -> admin.getRegions(ALTERED).size());
      try (Table table = connection.getTable(ALTERED)) {
        checks.equal("it is empty, splits " + splits, "", () -> Checks.rows(table, new Scan()));
        put(table, "f", 1);
        checks.equal("it is written, splits " + splits, "r", () -> Checks.rows(table, new Scan()));
      }
    }
  }

  private void refused(String name, String message, Callable<Object> call) {
    checks.refused(name, InvalidFamilyOperationException.class, message, call::call);
  }

  private static void put(Table table, String family, long... timestamps) throws Exception {
    for (long timestamp : timestamps) {
      table.put(new Put(ROW).addColumn(bytes(family), bytes("q"), timestamp, bytes("" + timestamp)));
    }
  }

  private static String versions(Table table, String family, long from, long to) throws Exception {
    Get get = new Get(ROW).addColumn(bytes(family), bytes("q")).readAllVersions();
    return values(table.get(get.setTimeRange(from, to)));
  }

  private static String values(Result result) {
    if (result.isEmpty()) return "-";
    StringJoiner values = new StringJoiner(" ");
    for (Cell cell : result.rawCells()) values.add(Bytes.toString(cell.getValueArray(), cell.getValueOffset(), cell.getValueLength()));
    return values.toString();
  }

  private static String names(TableDescriptor table) {
    List<String> names = new ArrayList<>();
    for (ColumnFamilyDescriptor family : table.getColumnFamilies()) names.add(family.getNameAsString());
    return String.join(" ", names);
  }

  private static byte[] bytes(String text) {
    return Bytes.toBytes(text);
  }
}
