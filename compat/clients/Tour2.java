import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ForkJoinPool;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.AsyncAdmin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.util.Bytes;

/** The tour with the classes of HBase 2.0 to 3.0, and of their asynchronous client: Tour2 REGISTRY HOST:PORT. Tour1 takes the same steps. */
public final class Tour2 extends TourNames {
  public static void main(String[] args) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(Steps.configuration(args[0], args[1]));
        Admin admin = connection.getAdmin()) {
      new Tour2(connection, admin).run();
    }
    System.exit(0); // Some releases leave threads behind.
  }

  private final Connection connection;
  private final Admin admin;

  private Tour2(Connection connection, Admin admin) {
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
    asynchronous();
    states();
    end();
  }

  /** What a tour has left that did not come to its end. */
  private void clear() throws Exception {
    for (SnapshotDescription snapshot : admin.listSnapshots(Pattern.compile("tour_.*"))) admin.deleteSnapshot(snapshot.getName());
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
      TableDescriptor descriptor = TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(family(CF, 3))
          .setColumnFamily(family(D, 1)).build();
      admin.createTable(descriptor, new byte[][] {b("m")});
      return admin.tableExists(TABLE) + " " + admin.isTableEnabled(TABLE) + " " + admin.isTableDisabled(TABLE) + " "
          + admin.isTableAvailable(TABLE);
    });
    Steps.step("list tables", () -> Arrays.toString(admin.listTableNames(Pattern.compile("tour:.*"))) + " " + Arrays.toString(admin.listTableNamesByNamespace(NAMESPACE)));
    Steps.step("describe", this::describe);
    Steps.step("regions", this::starts);
    Steps.step("servers", () -> admin.getClusterMetrics().getLiveServerMetrics().size());
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
        + Arrays.toString(table.exists(Arrays.asList(new Get(b("n")), new Get(b("none"))))));
    Steps.step("versions", () -> {
      for (int i = 1; i <= 4; i++) table.put(new Put(b("v")).addColumn(CF, Q, i * 10, b("v" + i)));
      return Steps.show(table.get(new Get(b("v")).readAllVersions())) + " / " + Steps.show(table.get(new Get(b("v")).setTimeRange(0, 30)));
    });
    Steps.step("get a family, a column", () -> Steps.show(table.get(new Get(b("a")).addFamily(D))) + " / "
        + Steps.show(table.get(new Get(b("a")).addColumn(CF, Q))) + " / " + Steps.show(table.get(new Get(b("a")).addColumn(CF, b("no")))));
    Steps.step("a buffered mutator", () -> {
      try (BufferedMutator mutator = connection.getBufferedMutator(TABLE)) {
        for (int i = 0; i < MANY; i++) mutator.mutate(new Put(b(String.format("many%05d", i))).addColumn(CF, Q, new byte[100]));
      }
      return Steps.count(table.getScanner(scan("many", "manz")));
    });
  }

  private void scans(Table table) {
    Scan few = scan("a", "c");
    Steps.step("scan", () -> Steps.show(table.getScanner(few)));
    Steps.step("scan a column", () -> Steps.show(table.getScanner(new Scan(few).addColumn(D, Q))));
    Steps.step("scan small", () -> Steps.show(table.getScanner(new Scan(few).setReadType(Scan.ReadType.PREAD).setLimit(10))));
    Steps.step("scan row by row", () -> {
      Scan scan = new Scan();
      scan.setCaching(1);
      scan.setFilter(new PageFilter(3));
      return Steps.show(table.getScanner(scan.withStopRow(b("m"))));
    });
    Steps.step("scan cell by cell", () -> {
      Scan scan = scan("a", "b");
      scan.setBatch(1);
      return Steps.show(table.getScanner(scan));
    });
    Steps.step("scan backwards", () -> {
      Scan scan = scan("v", "m");
      scan.setReversed(true);
      scan.setFilter(new PageFilter(2));
      return Steps.show(table.getScanner(scan.readVersions(2)));
    });
    Steps.step("scan by small answers", () -> {
      Scan scan = new Scan();
      scan.setMaxResultSize(1000);
      return Steps.count(table.getScanner(scan));
    });
    Steps.step("scan with a prefix", () -> Steps.count(table.getScanner(new Scan().setFilter(new PrefixFilter(b("many0000"))))));
    Steps.step("scan for a value", () -> {
      SingleColumnValueFilter filter = new SingleColumnValueFilter(D, Q, CompareOperator.EQUAL, b("2"));
      filter.setFilterIfMissing(true);
      return Steps.show(table.getScanner(new Scan().setFilter(filter)));
    });
  }

  private void changes(Table table) {
    Steps.step("increment", () -> Steps.show(table.increment(new Increment(b("c")).addColumn(CF, N, 5).addColumn(D, N, 7))) + " "
        + table.incrementColumnValue(b("c"), CF, N, -2) + " " + Steps.show(table.get(new Get(b("c")))));
    Steps.step("append", () -> {
      Append append = new Append(b("a"));
      append.addColumn(CF, Q, b("more"));
      append.addColumn(D, N, b("new"));
      return Steps.show(table.append(append));
    });
    Steps.step("check and put", () -> {
      Put put = new Put(b("k")).addColumn(CF, Q, b("first"));
      return table.checkAndMutate(b("k"), CF).qualifier(Q).ifNotExists().thenPut(put) + " "
          + table.checkAndMutate(b("k"), CF).qualifier(Q).ifNotExists().thenPut(put) + " "
          + table.checkAndMutate(b("k"), CF).qualifier(Q).ifMatches(CompareOperator.GREATER, b("z")).thenPut(new Put(b("k")).addColumn(CF, Q, b("second"))) + " "
          + Steps.show(table.get(new Get(b("k"))));
    });
    Steps.step("check and mutate", () -> {
      RowMutations both = new RowMutations(b("k"));
      both.add(new Put(b("k")).addColumn(D, Q, b("d")));
      both.add(new Delete(b("k")).addColumns(CF, Q));
      return table.checkAndMutate(b("k"), CF).qualifier(Q).ifEquals(b("no")).thenMutate(both) + " "
          + table.checkAndMutate(b("k"), CF).qualifier(Q).ifEquals(b("second")).thenMutate(both) + " " + Steps.show(table.get(new Get(b("k"))));
    });
    Steps.step("check and delete", () -> table.checkAndMutate(b("k"), D).qualifier(Q).ifEquals(b("no")).thenDelete(new Delete(b("k"))) + " "
        + table.checkAndMutate(b("k"), D).qualifier(Q).ifEquals(b("d")).thenDelete(new Delete(b("k"))) + " " + Steps.show(table.get(new Get(b("k")))));
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
      append.addColumn(CF, Q, b("+"));
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
      String one = Steps.show(table.get(new Get(b("v")).readAllVersions()));
      table.delete(new Delete(b("v")).addColumns(CF, Q, 20));
      String older = Steps.show(table.get(new Get(b("v")).readAllVersions()));
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
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(family(CF, 1)).build());
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
      List<RegionInfo> regions = admin.getRegions(TABLE);
      admin.mergeRegionsAsync(new byte[][] {regions.get(0).getEncodedNameAsBytes(), regions.get(1).getEncodedNameAsBytes()}, false).get();
      return Steps.eventually("[, m]", this::starts);
    });
    Steps.step("count after a merge", () -> Steps.count(table.getScanner(new Scan())));
  }

  private void snapshots() throws Exception {
    Steps.step("snapshot", () -> {
      admin.snapshot(SNAPSHOT, TABLE);
      List<String> names = new ArrayList<>();
      for (SnapshotDescription one : admin.listSnapshots(Pattern.compile("tour_.*"))) names.add(one.getName());
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
        admin.restoreSnapshot(SNAPSHOT);
        admin.enableTable(TABLE);
        return Steps.show(table.get(new Get(b("a"))));
      }
    });
    Steps.step("delete a snapshot", () -> {
      admin.deleteSnapshot(SNAPSHOT);
      return admin.listSnapshots(Pattern.compile("tour_.*")).size();
    });
    Steps.step("drop the clone", () -> {
      admin.disableTable(CLONE);
      admin.deleteTable(CLONE);
      return admin.tableExists(CLONE);
    });
  }

  private void descriptors() {
    Steps.step("add a family", () -> {
      admin.addColumnFamily(TABLE, family(b("e"), 1));
      return Steps.eventually("{cf VERSIONS=3, d VERSIONS=1, e VERSIONS=1}", this::describe);
    });
    Steps.step("alter a family", () -> {
      admin.modifyColumnFamily(TABLE, family(b("e"), 7));
      return Steps.eventually("{cf VERSIONS=3, d VERSIONS=1, e VERSIONS=7}", this::describe);
    });
    Steps.step("delete a family", () -> {
      admin.deleteColumnFamily(TABLE, b("e"));
      return Steps.eventually("{cf VERSIONS=3, d VERSIONS=1}", this::describe);
    });
    Steps.step("alter a table", () -> {
      admin.modifyTable(TableDescriptorBuilder.newBuilder(admin.getDescriptor(TABLE)).setMaxFileSize(1L << 30).build());
      return Steps.eventually(1L << 30, () -> admin.getDescriptor(TABLE).getMaxFileSize());
    });
  }

  private void asynchronous() throws Exception {
    try (AsyncConnection async = ConnectionFactory.createAsyncConnection(connection.getConfiguration()).get()) {
      AsyncTable<?> table = async.getTable(TABLE);
      AsyncAdmin admin = async.getAdmin();
      Steps.step("async put and get", () -> {
        table.put(new Put(b("async")).addColumn(CF, Q, b("1"))).get();
        return Steps.show(table.get(new Get(b("async"))).get());
      });
      Steps.step("async batch", () -> Steps.show(table.batchAll(Arrays.asList(new Get(b("a")),
          new Put(b("async")).addColumn(D, Q, b("2")), new Increment(b("c")).addColumn(CF, N, 1))).get().toArray()));
      Steps.step("async check and put", () -> table.checkAndMutate(b("async"), CF).qualifier(Q).ifEquals(b("1"))
          .thenPut(new Put(b("async")).addColumn(CF, Q, b("3"))).get() + " " + Steps.show(table.get(new Get(b("async"))).get()));
      Steps.step("async scan all", () -> table.scanAll(new Scan()).get().size());
      Steps.step("async scanner", () -> Steps.count(async.getTable(TABLE, ForkJoinPool.commonPool()).getScanner(new Scan().setMaxResultSize(1000))));
      Steps.step("async get an unknown family", () -> table.get(new Get(b("a")).addFamily(b("nope"))).get());
      Steps.step("async create a table", () -> {
        admin.createTable(TableDescriptorBuilder.newBuilder(CLONE).setColumnFamily(family(CF, 1)).build()).get();
        return admin.isTableEnabled(CLONE).get() + " " + admin.listTableNamesByNamespace(NAMESPACE).get();
      });
      Steps.step("async flush", () -> admin.flush(CLONE).get());
      Steps.step("async drop", () -> {
        admin.disableTable(CLONE).get();
        admin.deleteTable(CLONE).get();
        return admin.tableExists(CLONE).get();
      });
    }
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

  private static Scan scan(String start, String stop) {
    return new Scan().withStartRow(b(start)).withStopRow(b(stop));
  }

  private static ColumnFamilyDescriptor family(byte[] name, int versions) {
    return ColumnFamilyDescriptorBuilder.newBuilder(name).setMaxVersions(versions).build();
  }

  private int count() throws Exception {
    try (Table table = connection.getTable(TABLE)) {
      return Steps.count(table.getScanner(new Scan()));
    }
  }

  private String describe() throws Exception {
    Set<String> families = new TreeSet<>();
    for (ColumnFamilyDescriptor family : admin.getDescriptor(TABLE).getColumnFamilies()) {
      families.add(family.getNameAsString() + " VERSIONS=" + family.getMaxVersions());
    }
    return families.toString().replace('[', '{').replace(']', '}');
  }

  private String starts() throws Exception {
    List<String> starts = new ArrayList<>();
    try (RegionLocator locator = connection.getRegionLocator(TABLE)) {
      for (HRegionLocation location : locator.getAllRegionLocations()) starts.add(Bytes.toStringBinary(location.getRegion().getStartKey()));
    }
    return starts.toString();
  }
}
