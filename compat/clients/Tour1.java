import java.util.Arrays;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.Set;
import org.apache.hadoop.hbase.HColumnDescriptor;
import org.apache.hadoop.hbase.HRegionInfo;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.HTableDescriptor;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.CompareFilter.CompareOp;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.protobuf.generated.HBaseProtos.SnapshotDescription;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.VersionInfo;

/** The tour with the classes of HBase 1, from 1.1 on: Tour1 zk HOST:PORT. Tour2 takes the same steps. */
public final class Tour1 extends TourNames {
  public static void main(String[] args) throws Exception {
    // 1.1 reads the Java release from the version and understands "1.8" only.
    if (VersionInfo.getVersion().startsWith("1.1.")) System.setProperty("java.version", "1.8.0");
    try (Connection connection = ConnectionFactory.createConnection(Steps.configuration(args[0], args[1]));
        Admin admin = connection.getAdmin()) {
      new Tour1(connection, admin).run();
    }
    System.exit(0); // Some releases leave threads behind.
  }

  private final Connection connection;
  private final Admin admin;

  private Tour1(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  private void run() throws Exception {
    clear();
    tables();
    try (Table table = connection.getTable(TABLE)) {
      cells(table);
      scans(table);
      changes(table);
      refusals(table);
      regions(table);
    }
    snapshots();
    descriptors();
    states();
    end();
  }

  /** What a tour has left that did not come to its end. */
  private void clear() throws Exception {
    for (SnapshotDescription snapshot : admin.listSnapshots("tour_.*")) admin.deleteSnapshot(snapshot.getName());
    for (NamespaceDescriptor namespace : admin.listNamespaceDescriptors()) {
      if (!namespace.getName().equals(NAMESPACE)) continue;
      for (TableName table : admin.listTableNamesByNamespace(NAMESPACE)) {
        if (admin.isTableEnabled(table)) admin.disableTable(table);
        admin.deleteTable(table);
      }
      admin.deleteNamespace(NAMESPACE);
    }
  }

  private void tables() {
    Steps.step("create a namespace", () -> {
      admin.createNamespace(NamespaceDescriptor.create(NAMESPACE).build());
      return Arrays.stream(admin.listNamespaceDescriptors()).map(NamespaceDescriptor::getName).anyMatch(NAMESPACE::equals);
    });
    Steps.step("create a table", () -> {
      HTableDescriptor descriptor = new HTableDescriptor(TABLE);
      descriptor.addFamily(new HColumnDescriptor(CF).setMaxVersions(3));
      descriptor.addFamily(new HColumnDescriptor(D));
      admin.createTable(descriptor, new byte[][] {b("m")});
      return admin.tableExists(TABLE) + " " + admin.isTableEnabled(TABLE) + " " + admin.isTableDisabled(TABLE) + " "
          + admin.isTableAvailable(TABLE);
    });
    Steps.step("list tables", () -> Arrays.toString(admin.listTableNames("tour:.*")) + " " + Arrays.toString(admin.listTableNamesByNamespace(NAMESPACE)));
    Steps.step("describe", this::describe);
    Steps.step("regions", this::starts);
    Steps.step("servers", () -> admin.getClusterStatus().getServersSize());
  }

  private void cells(Table table) {
    Steps.step("put and get", () -> {
      table.put(new Put(b("a")).addColumn(CF, Q, b("1")).addColumn(D, Q, b("2")));
      return Steps.show(table.get(new Get(b("a"))));
    });
    Steps.step("put a list", () -> {
      table.put(Arrays.asList(new Put(b("b")).addColumn(CF, Q, b("b")), new Put(b("n")).addColumn(CF, Q, b("n"))));
      return Steps.show(table.get(Arrays.asList(new Get(b("b")), new Get(b("n")), new Get(b("none")))));
    });
    Steps.step("exists", () -> table.exists(new Get(b("a"))) + " " + table.exists(new Get(b("none"))) + " "
        + Arrays.toString(table.existsAll(Arrays.asList(new Get(b("n")), new Get(b("none"))))));
    Steps.step("versions", () -> {
      for (int i = 1; i <= 4; i++) table.put(new Put(b("v")).addColumn(CF, Q, i * 10, b("v" + i)));
      return Steps.show(table.get(new Get(b("v")).setMaxVersions())) + " / " + Steps.show(table.get(new Get(b("v")).setTimeRange(0, 30)));
    });
    Steps.step("get a family, a column", () -> Steps.show(table.get(new Get(b("a")).addFamily(D))) + " / "
        + Steps.show(table.get(new Get(b("a")).addColumn(CF, Q))) + " / " + Steps.show(table.get(new Get(b("a")).addColumn(CF, b("no")))));
    Steps.step("a buffered mutator", () -> {
      try (BufferedMutator mutator = connection.getBufferedMutator(TABLE)) {
        for (int i = 0; i < MANY; i++) mutator.mutate(new Put(b(String.format("many%05d", i))).addColumn(CF, Q, new byte[100]));
      }
      return Steps.count(table.getScanner(new Scan(b("many"), b("manz"))));
    });
  }

  private void scans(Table table) {
    Scan few = new Scan(b("a"), b("c"));
    Steps.step("scan", () -> Steps.show(table.getScanner(few)));
    Steps.step("scan a column", () -> Steps.show(table.getScanner(new Scan(few).addColumn(D, Q))));
    Steps.step("scan small", () -> Steps.show(table.getScanner(new Scan(few).setSmall(true))));
    Steps.step("scan row by row", () -> {
      Scan scan = new Scan();
      scan.setCaching(1);
      scan.setFilter(new PageFilter(3));
      return Steps.show(table.getScanner(scan.setStopRow(b("m"))));
    });
    Steps.step("scan cell by cell", () -> {
      Scan scan = new Scan(b("a"), b("b"));
      scan.setBatch(1);
      return Steps.show(table.getScanner(scan));
    });
    Steps.step("scan backwards", () -> {
      Scan scan = new Scan(b("v"), b("m"));
      scan.setReversed(true);
      scan.setFilter(new PageFilter(2));
      return Steps.show(table.getScanner(scan.setMaxVersions(2)));
    });
    Steps.step("scan by small answers", () -> {
      Scan scan = new Scan();
      scan.setMaxResultSize(1000);
      return Steps.count(table.getScanner(scan));
    });
    Steps.step("scan with a prefix", () -> Steps.count(table.getScanner(new Scan().setFilter(new PrefixFilter(b("many0000"))))));
    Steps.step("scan for a value", () -> {
      SingleColumnValueFilter filter = new SingleColumnValueFilter(D, Q, CompareOp.EQUAL, b("2"));
      filter.setFilterIfMissing(true);
      return Steps.show(table.getScanner(new Scan().setFilter(filter)));
    });
  }

  private void changes(Table table) {
    Steps.step("increment", () -> Steps.show(table.increment(new Increment(b("c")).addColumn(CF, N, 5).addColumn(D, N, 7))) + " "
        + table.incrementColumnValue(b("c"), CF, N, -2) + " " + Steps.show(table.get(new Get(b("c")))));
    Steps.step("append", () -> {
      Append append = new Append(b("a"));
      append.add(CF, Q, b("more"));
      append.add(D, N, b("new"));
      return Steps.show(table.append(append));
    });
    Steps.step("check and put", () -> {
      Put put = new Put(b("k")).addColumn(CF, Q, b("first"));
      return table.checkAndPut(b("k"), CF, Q, null, put) + " " + table.checkAndPut(b("k"), CF, Q, null, put) + " "
          + table.checkAndPut(b("k"), CF, Q, CompareOp.GREATER, b("z"), new Put(b("k")).addColumn(CF, Q, b("second"))) + " "
          + Steps.show(table.get(new Get(b("k"))));
    });
    Steps.step("check and mutate", () -> {
      RowMutations both = new RowMutations(b("k"));
      both.add(new Put(b("k")).addColumn(D, Q, b("d")));
      both.add(new Delete(b("k")).addColumns(CF, Q));
      return table.checkAndMutate(b("k"), CF, Q, CompareOp.EQUAL, b("no"), both) + " "
          + table.checkAndMutate(b("k"), CF, Q, CompareOp.EQUAL, b("second"), both) + " " + Steps.show(table.get(new Get(b("k"))));
    });
    Steps.step("check and delete", () -> table.checkAndDelete(b("k"), D, Q, b("no"), new Delete(b("k"))) + " "
        + table.checkAndDelete(b("k"), D, Q, b("d"), new Delete(b("k"))) + " " + Steps.show(table.get(new Get(b("k")))));
    Steps.step("mutate a row", () -> {
      RowMutations both = new RowMutations(b("b"));
      both.add(new Put(b("b")).addColumn(D, Q, b("d")));
      both.add(new Delete(b("b")).addColumns(CF, Q));
      table.mutateRow(both);
      return Steps.show(table.get(new Get(b("b"))));
    });
    Steps.step("batch", () -> {
      Object[] results = new Object[5];
      Append append = new Append(b("n"));
      append.add(CF, Q, b("+"));
      table.batch(Arrays.asList(new Get(b("a")), new Put(b("x")).addColumn(CF, Q, b("x")), new Delete(b("b")),
          new Increment(b("c")).addColumn(CF, N, 10), append), results);
      return Steps.show(results) + " / " + Steps.show(table.get(Arrays.asList(new Get(b("x")), new Get(b("b")))));
    });
    Steps.step("batch with a bad action", () -> {
      Object[] results = new Object[2];
      try {
        table.batch(Arrays.asList(new Put(b("x")).addColumn(b("nope"), Q, b("x")), new Put(b("y")).addColumn(CF, Q, b("y"))), results);
      } catch (Exception e) {
        return "throws / " + Steps.show(results) + " / " + Steps.show(table.get(new Get(b("y"))));
      }
      return "no exception";
    });
    Steps.step("delete", () -> {
      table.delete(new Delete(b("v")).addColumn(CF, Q, 30));
      String one = Steps.show(table.get(new Get(b("v")).setMaxVersions()));
      table.delete(new Delete(b("v")).addColumns(CF, Q, 20));
      String older = Steps.show(table.get(new Get(b("v")).setMaxVersions()));
      table.delete(new ArrayList<>(Arrays.asList(new Delete(b("v")).addFamily(CF), new Delete(b("x")))));
      return one + " / " + older + " / " + Steps.show(table.get(Arrays.asList(new Get(b("v")), new Get(b("x")))));
    });
  }

  private void refusals(Table table) {
    Steps.step("get an unknown family", () -> table.get(new Get(b("a")).addFamily(b("nope"))));
    Steps.step("put an unknown family", () -> {
      table.put(new Put(b("a")).addColumn(b("nope"), Q, Q));
      return "no exception";
    });
    Steps.step("scan an unknown family", () -> Steps.show(table.getScanner(new Scan().addFamily(b("nope")))));
    Steps.step("increment what is no counter", () -> table.incrementColumnValue(b("a"), CF, Q, 1));
    Steps.step("get of an unknown table", () -> {
      try (Table unknown = connection.getTable(TableName.valueOf("tour:unknown"))) {
        return unknown.get(new Get(b("a")));
      }
    });
    Steps.step("create a table that exists", () -> {
      admin.createTable(new HTableDescriptor(TABLE).addFamily(new HColumnDescriptor(CF)));
      return "no exception";
    });
  }

  private void regions(Table table) throws Exception {
    Steps.step("flush", () -> {
      admin.flush(TABLE);
      return Steps.count(table.getScanner(new Scan()));
    });
    Steps.step("compact", () -> {
      admin.compact(TABLE);
      admin.majorCompact(TABLE);
      return Steps.count(table.getScanner(new Scan()));
    });
    Steps.step("split", () -> {
      admin.split(TABLE, b("f"));
      return Steps.eventually("[, f, m]", this::starts);
    });
    Steps.step("count after a split", () -> Steps.count(table.getScanner(new Scan())));
    Steps.step("merge", () -> {
      List<HRegionInfo> regions = admin.getTableRegions(TABLE);
      admin.mergeRegions(regions.get(0).getEncodedNameAsBytes(), regions.get(1).getEncodedNameAsBytes(), false);
      return starts();
    });
    Steps.step("count after a merge", () -> Steps.count(table.getScanner(new Scan())));
  }

  private void snapshots() throws Exception {
    Steps.step("snapshot", () -> {
      admin.snapshot(SNAPSHOT, TABLE);
      List<String> names = new ArrayList<>();
      for (SnapshotDescription one : admin.listSnapshots("tour_.*")) names.add(one.getName());
      return names;
    });
    Steps.step("clone a snapshot", () -> {
      admin.cloneSnapshot(SNAPSHOT, CLONE);
      try (Table clone = connection.getTable(CLONE)) {
        return Steps.count(clone.getScanner(new Scan()));
      }
    });
    Steps.step("restore a snapshot of an enabled table", () -> {
      admin.restoreSnapshot(SNAPSHOT);
      return "no exception";
    });
    Steps.step("restore a snapshot", () -> {
      try (Table table = connection.getTable(TABLE)) {
        table.delete(new Delete(b("a")));
        admin.disableTable(TABLE);
        try {
          admin.restoreSnapshot(SNAPSHOT);
        } finally {
          admin.enableTable(TABLE);
        }
        return Steps.show(table.get(new Get(b("a"))));
      }
    });
    Steps.step("delete a snapshot", () -> {
      admin.deleteSnapshot(SNAPSHOT);
      return admin.listSnapshots("tour_.*").size();
    });
    Steps.step("drop the clone", () -> {
      admin.disableTable(CLONE);
      admin.deleteTable(CLONE);
      return admin.tableExists(CLONE);
    });
  }

  private void descriptors() {
    Steps.step("add a family", () -> {
      admin.addColumn(TABLE, new HColumnDescriptor("e"));
      return Steps.eventually("{cf VERSIONS=3, d VERSIONS=1, e VERSIONS=1}", this::describe);
    });
    Steps.step("alter a family", () -> {
      admin.modifyColumn(TABLE, new HColumnDescriptor("e").setMaxVersions(7));
      return Steps.eventually("{cf VERSIONS=3, d VERSIONS=1, e VERSIONS=7}", this::describe);
    });
    Steps.step("delete a family", () -> {
      admin.deleteColumn(TABLE, b("e"));
      return Steps.eventually("{cf VERSIONS=3, d VERSIONS=1}", this::describe);
    });
    Steps.step("alter a table", () -> {
      HTableDescriptor descriptor = new HTableDescriptor(admin.getTableDescriptor(TABLE));
      descriptor.setMaxFileSize(1L << 30);
      admin.modifyTable(TABLE, descriptor);
      return Steps.eventually(1L << 30, () -> admin.getTableDescriptor(TABLE).getMaxFileSize());
    });
  }

  private void states() {
    Steps.step("disable", () -> {
      admin.disableTable(TABLE);
      return admin.isTableEnabled(TABLE) + " " + admin.isTableDisabled(TABLE);
    });
    Steps.step("truncate, keeping the regions", () -> {
      admin.truncateTable(TABLE, true);
      return admin.isTableEnabled(TABLE) + " " + starts() + " " + count();
    });
    Steps.step("truncate", () -> {
      admin.disableTable(TABLE);
      admin.truncateTable(TABLE, false);
      return admin.isTableEnabled(TABLE) + " " + starts() + " " + count();
    });
    Steps.step("disable and enable", () -> {
      admin.disableTable(TABLE);
      admin.enableTable(TABLE);
      return admin.isTableEnabled(TABLE) + " " + admin.isTableDisabled(TABLE);
    });
  }

  private void end() {
    Steps.step("drop an enabled table", () -> {
      admin.deleteTable(TABLE);
      return "no exception";
    });
    Steps.step("drop", () -> {
      admin.disableTable(TABLE);
      admin.deleteTable(TABLE);
      admin.deleteNamespace(NAMESPACE);
      return admin.tableExists(TABLE);
    });
  }

  private int count() throws Exception {
    try (Table table = connection.getTable(TABLE)) {
      return Steps.count(table.getScanner(new Scan()));
    }
  }

  private String describe() throws Exception {
    Set<String> families = new TreeSet<>();
    for (HColumnDescriptor family : admin.getTableDescriptor(TABLE).getColumnFamilies()) {
      families.add(family.getNameAsString() + " VERSIONS=" + family.getMaxVersions());
    }
    return families.toString().replace('[', '{').replace(']', '}');
  }

  private String starts() throws Exception {
    List<String> starts = new ArrayList<>();
    try (RegionLocator locator = connection.getRegionLocator(TABLE)) {
      for (HRegionLocation location : locator.getAllRegionLocations()) starts.add(Bytes.toStringBinary(location.getRegionInfo().getStartKey()));
    }
    return starts.toString();
  }
}
