import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.UnknownRegionException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Regions that split by themselves, or may not; out of service and in it again: Regions REGISTRY HOST:PORT. */
public final class Regions {
  private static final TableName TABLE = TableName.valueOf("regions"), GROWING = TableName.valueOf("growing"),
      RESTRICTED = TableName.valueOf("restricted");
  private static final byte[] CF = Bytes.toBytes("cf"), Q = Bytes.toBytes("q"), M = Bytes.toBytes("m");
  private static final int ROWS = 4000;

  private final Checks checks = new Checks();

  public static void main(String[] args) throws Exception {
    // A region that is not served is to be told, not waited for.
    Configuration impatient = Cluster.configuration(args[0], args[1]);
    impatient.setInt("hbase.client.retries.number", 1);
    try (Connection connection = Cluster.connect(args); Connection hasty = ConnectionFactory.createConnection(impatient); Admin admin = connection.getAdmin()) {
      new Regions().run(admin, connection, hasty);
    }
  }

  private void run(Admin admin, Connection connection, Connection hasty) throws Exception {
    for (TableName table : new TableName[] {TABLE, GROWING, RESTRICTED}) Cluster.drop(admin, table);
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF));
    admin.createTable(table.build(), new byte[][] {M});
    switches(admin, table);
    service(admin, connection, hasty);
    restricted(admin, connection);
    growth(admin, connection);
    checks.finish();
  }

  private void switches(Admin admin, TableDescriptorBuilder table) throws Exception {
    checks.equal("splits are on", true, admin::isSplitEnabled);
    checks.equal("and turned off", true, () -> admin.splitSwitch(false, true));
    checks.equal("once", false, () -> admin.splitSwitch(false, true));
    checks.equal("they are off", false, admin::isSplitEnabled);
    checks.equal("merges are not", true, admin::isMergeEnabled);
    checks.refused("no split", DoNotRetryIOException.class, "Split region .* failed due to split switch off", () -> split(admin, "f"));
    checks.equal("splits were off", false, () -> admin.splitSwitch(true, true));
    checks.equal("merges were on", true, () -> admin.mergeSwitch(false, true));
    checks.refused("no merge", DoNotRetryIOException.class, "Merge of .* failed because merge switch is off", () -> merge(admin));
    checks.equal("merges were off", false, () -> admin.mergeSwitch(true, true));
    admin.modifyTable(table.setSplitEnabled(false).setMergeEnabled(false).build());
    checks.refused("not this table", DoNotRetryIOException.class, "failed as region split is disabled for the table", () -> split(admin, "f"));
    checks.refused("nor merged", DoNotRetryIOException.class, "failed as region merge is disabled for the table", () -> merge(admin));
    String disabled = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy";
    admin.modifyTable(table.setSplitEnabled(true).setRegionSplitPolicyClassName(disabled).build());
    checks.refused("nor one whose policy has none", DoNotRetryIOException.class, "[0-9a-f]{32} NOT splittable", () -> split(admin, "f"));
    checks.refused("nor in the middle", DoNotRetryIOException.class, "[0-9a-f]{32} NOT splittable",
        () -> wait(admin.splitRegionAsync(admin.getRegions(TABLE).get(0).getRegionName(), null)));
    checks.refused("nor the whole table", DoNotRetryIOException.class, "NOT splittable", () -> {
      admin.split(TABLE);
      return "split";
    });
    checks.refused("a policy that nobody has", DoNotRetryIOException.class, "(?i)split.policy", () -> {
      admin.modifyTable(table.setRegionSplitPolicyClassName("example.NoSplitPolicy").build());
      return "altered";
    });
    checks.equal("regions", 2, () -> admin.getRegions(TABLE).size());
  }

  private void service(Admin admin, Connection connection, Connection hasty) throws Exception {
    RegionInfo region = admin.getRegions(TABLE).get(0);
    try (Table patient = connection.getTable(TABLE); Table table = hasty.getTable(TABLE)) {
      patient.put(new Put(Bytes.toBytes("a")).addColumn(CF, Q, Q));
      admin.unassign(region.getRegionName(), false);
      checks.equal("out of service", true, () -> {
        try {
          return "served: " + table.get(new Get(Bytes.toBytes("a")));
        } catch (java.io.IOException refused) {
          for (Throwable why = refused; why != null; why = why.getCause()) {
            if (why instanceof NotServingRegionException) return true;
          }
          // The client of Apache HBase looks where it is, and finds it nowhere.
          return refused instanceof org.apache.hadoop.hbase.client.NoServerForRegionException
              || refused.getMessage().contains("NotServingRegionException") ? true : refused;
        }
      });
      checks.equal("its neighbour", false, () -> table.exists(new Get(Bytes.toBytes("z"))));
      admin.assign(region.getRegionName());
      checks.equal("in service", "q", () -> Bytes.toString(patient.get(new Get(Bytes.toBytes("a"))).value()));
      admin.move(region.getEncodedNameAsBytes());
      checks.equal("moved", "q", () -> Bytes.toString(patient.get(new Get(Bytes.toBytes("a"))).value()));
    }
    checks.refused("no such region is moved", UnknownRegionException.class, "", () -> {
      admin.move(Bytes.toBytes("0123456789abcdef0123456789abcdef"));
      return "moved";
    });
  }

  /** Rows that belong together by what is in front of a comma, or by their first bytes. */
  private void restricted(Admin admin, Connection connection) throws Exception {
    String key = "hbase.regionserver.region.split_restriction.";
    for (String[] declared : new String[][] {{"DelimitedKeyPrefix", "delimiter", ","}, {"KeyPrefix", "prefix_length", "1"}}) {
      admin.createTable(TableDescriptorBuilder.newBuilder(RESTRICTED).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF))
          .setValue(key + "type", declared[0]).setValue(key + declared[1], declared[2]).build());
      try (Table table = connection.getTable(RESTRICTED)) {
        for (int number = 0; number < 100; number++) table.put(new Put(Bytes.toBytes("a," + number)).addColumn(CF, Q, Q));
        for (int number = 0; number < 100; number++) table.put(new Put(Bytes.toBytes("b," + number)).addColumn(CF, Q, Q));
      }
      admin.flush(RESTRICTED);
      checks.equal(declared[0] + ": split in front of what belongs together", true, () -> {
        wait(admin.splitRegionAsync(admin.getRegions(RESTRICTED).get(0).getRegionName(), Bytes.toBytes("b,5")));
        return true;
      });
      checks.equal(declared[0] + ": where it begins", "b", () -> Bytes.toString(admin.getRegions(RESTRICTED).get(1).getStartKey()));
      checks.refused(declared[0] + ": not within", DoNotRetryIOException.class, "", () ->
          wait(admin.splitRegionAsync(admin.getRegions(RESTRICTED).get(1).getRegionName(), Bytes.toBytes("b,5"))));
      Cluster.drop(admin, RESTRICTED);
    }
  }

  /** More than twice what the table flushes at, in one region. */
  private void growth(Admin admin, Connection connection) throws Exception {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(GROWING).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF))
        .setMemStoreFlushSize(1 << 20);
    admin.createTable(table.build());
    try (Table growing = connection.getTable(GROWING)) {
      for (int from = 0; from < ROWS; from += 500) {
        List<Put> puts = new java.util.ArrayList<>();
        for (int number = from; number < from + 500; number++) {
          puts.add(new Put(Bytes.toBytes(String.format("%08d", number * 7919L % ROWS))).addColumn(CF, Q, new byte[1000]));
        }
        growing.put(puts);
        admin.flush(GROWING);
      }
      // HBase looks at a region after a flush of its own and after a compaction, not after a flush that was asked for.
      admin.majorCompact(GROWING);
      for (int tries = 0; tries < 300 && admin.getRegions(GROWING).size() == 1; tries++) Thread.sleep(100);
      checks.equal("a table that has grown is split", true, () -> admin.getRegions(GROWING).size() > 1);
      checks.equal("and has all its rows", ROWS, () -> {
        int rows = 0;
        try (ResultScanner scanner = growing.getScanner(new Scan().setCaching(500))) {
          for (Result ignored : scanner) rows++;
        }
        return rows;
      });
    }
  }

  private static Object split(Admin admin, String at) throws Exception {
    return wait(admin.splitRegionAsync(admin.getRegions(TABLE).get(0).getRegionName(), Bytes.toBytes(at)));
  }

  private static Object merge(Admin admin) throws Exception {
    List<RegionInfo> regions = admin.getRegions(TABLE);
    return wait(admin.mergeRegionsAsync(new byte[][] {regions.get(0).getEncodedNameAsBytes(), regions.get(1).getEncodedNameAsBytes()}, false));
  }

  private static Object wait(java.util.concurrent.Future<Void> change) throws Exception {
    try {
      return change.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof Exception cause) throw cause;
      throw failed;
    }
  }
}
