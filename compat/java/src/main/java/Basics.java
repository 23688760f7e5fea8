import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** The everyday operations, each answer compared with Apache HBase's: Basics REGISTRY HOST:PORT. */
public final class Basics {
  private static final String NAMESPACE = "basics";
  private static final TableName TABLE = TableName.valueOf(NAMESPACE, "t");
  private static final TableName PLAIN = TableName.valueOf("basics_plain");
  private static final byte[] CF = bytes("cf");
  private static final byte[] D = bytes("d");
  private static final byte[] Q = bytes("q");
  /** Start keys of the pre-split table: one byte of zero, a comma, bytes above ASCII. */
  private static final byte[][] SPLITS = {{0}, bytes("a,b"), bytes("m"), {(byte) 0xff, 0}};
  /** One row in each of its five regions, in order. */
  private static final byte[][] ROWS = {{0}, bytes("a,a"), bytes("a,b"), bytes("m"), {(byte) 0xff, (byte) 0xff}};

  private final Checks checks = new Checks();
  private final Connection connection;
  private final Admin admin;

  private Basics(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      Basics program = new Basics(connection, admin);
      program.clear();
      program.namespaces();
      program.descriptors();
      program.regions();
      program.catalog();
      try (Table table = connection.getTable(TABLE)) {
        program.acrossRegions(table);
      }
      program.flushAndState();
      try (Table table = connection.getTable(PLAIN)) {
        program.gets(table);
        program.versions(table);
        program.deletes(table);
        program.increments(table);
        program.lists(table);
        program.scans(table);
      }
      program.manyCells();
      program.cluster();
      program.goodbye();
      program.checks.finish();
    }
  }

  private void clear() throws IOException {
    Cluster.drop(admin, PLAIN);
    if (!List.of(admin.listNamespaces()).contains(NAMESPACE)) return;
    for (TableName table : admin.listTableNamesByNamespace(NAMESPACE)) Cluster.drop(admin, table);
    admin.deleteNamespace(NAMESPACE);
  }

  private void namespaces() throws IOException {
    admin.createNamespace(NamespaceDescriptor.create(NAMESPACE).addConfiguration("owner", "someone").build());
    checks.equal("list namespaces", "true", () -> List.of(admin.listNamespaces()).containsAll(List.of("default", "hbase", NAMESPACE)));
    checks.equal("namespace descriptors", "{NAME => 'basics', owner => 'someone'}", () -> Stream.of(admin.listNamespaceDescriptors())
        .filter(namespace -> namespace.getName().equals(NAMESPACE)).map(Object::toString).collect(Collectors.joining()));
    checks.equal("namespace descriptor", "{owner=someone}", () -> admin.getNamespaceDescriptor(NAMESPACE).getConfiguration());
    admin.modifyNamespace(NamespaceDescriptor.create(NAMESPACE).addConfiguration("owner", "else").build());
    checks.equal("modify namespace", "{owner=else}", () -> admin.getNamespaceDescriptor(NAMESPACE).getConfiguration());
    admin.createNamespace(NamespaceDescriptor.create("basics_gone").build());
    admin.deleteNamespace("basics_gone");
    checks.equal("delete namespace", false, () -> List.of(admin.listNamespaces()).contains("basics_gone"));
  }

  private void descriptors() throws IOException {
    TableDescriptor created = TableDescriptorBuilder.newBuilder(TABLE)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CF).setMaxVersions(3).setTimeToLive(2_000_000_000)
            .setValue("note", "列族").build())
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(D))
        .setValue("note", "表")
        .build();
    checks.equal("table does not exist yet", false, () -> admin.tableExists(TABLE));
    admin.createTable(created, SPLITS);
    admin.createTable(TableDescriptorBuilder.newBuilder(PLAIN)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CF).setMaxVersions(3).build())
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(D)).build());
    checks.equal("table exists", true, () -> admin.tableExists(TABLE));
    checks.equal("list table names", true, () -> List.of(admin.listTableNames()).containsAll(List.of(TABLE, PLAIN)));
    checks.equal("list table names by namespace", "[basics:t]", () -> List.of(admin.listTableNamesByNamespace(NAMESPACE)));
    checks.equal("list table names by pattern", "[basics_plain]",
        () -> List.of(admin.listTableNames(java.util.regex.Pattern.compile("basics_p.*"))));
    checks.equal("system tables are listed when asked for", true,
        () -> List.of(admin.listTableNames((java.util.regex.Pattern) null, true)).contains(TableName.META_TABLE_NAME));
    for (byte[] family : created.getColumnFamilyNames()) {
      checks.equal("descriptor of family " + Bytes.toString(family), text(created.getColumnFamily(family).getValues()),
          () -> text(admin.getDescriptor(TABLE).getColumnFamily(family).getValues()));
    }
    checks.equal("table attribute", "表", () -> admin.getDescriptor(TABLE).getValue("note"));
    checks.equal("families in the list of descriptors", "[cf, d]", () -> admin.listTableDescriptors(List.of(TABLE)).get(0)
        .getColumnFamilyNames().stream().map(Bytes::toString).toList());
  }

  private void regions() throws IOException {
    String keys = "[ .. \\x00, \\x00 .. a,b, a,b .. m, m .. \\xFF\\x00, \\xFF\\x00 .. ]";
    checks.equal("regions of a pre-split table", keys, () -> admin.getRegions(TABLE).stream().map(Basics::keys).toList());
    checks.equal("encoded names are the MD5 of the names", true, () -> admin.getRegions(TABLE).stream()
        .allMatch(region -> RegionInfo.encodeRegionName(region.getRegionName()).equals(region.getEncodedName())));
    try (RegionLocator locator = connection.getRegionLocator(TABLE)) {
      checks.equal("all region locations", keys,
          () -> locator.getAllRegionLocations().stream().map(HRegionLocation::getRegion).map(Basics::keys).toList());
      checks.equal("start keys", "[, \\x00, a,b, m, \\xFF\\x00]", () -> Stream.of(locator.getStartKeys()).map(Bytes::toStringBinary).toList());
      for (String round : List.of("", " after clearing the cache", " with reload")) {
        if (round.equals(" after clearing the cache")) connection.clearRegionLocationCache();
        boolean reload = round.equals(" with reload");
        String[] expected = {"\\x00 .. a,b", "\\x00 .. a,b", "a,b .. m", "m .. \\xFF\\x00", "\\xFF\\x00 .. "};
        for (int i = 0; i < ROWS.length; i++) {
          byte[] row = ROWS[i];
          checks.equal("location of " + Bytes.toStringBinary(row) + round, expected[i],
              () -> keys(locator.getRegionLocation(row, reload).getRegion()));
        }
        checks.equal("location of the empty row" + round, " .. \\x00", () -> keys(locator.getRegionLocation(new byte[0], reload).getRegion()));
      }
      checks.equal("all on the one live server", true, () -> {
        ServerName live = admin.getClusterMetrics().getLiveServerMetrics().keySet().iterator().next();
        return locator.getAllRegionLocations().stream().allMatch(location -> location.getServerName().equals(live));
      });
    }
    checks.equal("regions of the server include them", true, () -> {
      ServerName live = admin.getClusterMetrics().getLiveServerMetrics().keySet().iterator().next();
      return admin.getRegions(live).containsAll(admin.getRegions(TABLE));
    });
  }

  private void catalog() throws IOException {
    try (Table meta = connection.getTable(TableName.META_TABLE_NAME);
        Table namespaces = connection.getTable(TableName.valueOf("hbase:namespace"))) {
      List<Result> forward = results(meta, new Scan());
      List<Result> backward = results(meta, new Scan().setReversed(true));
      checks.equal("hbase:meta has rows", true, () -> forward.size() > 6);
      List<Result> reversed = new ArrayList<>(backward);
      java.util.Collections.reverse(reversed);
      checks.equal("hbase:meta reversed is hbase:meta the other way round", names(forward), () -> names(reversed));
      String prefix = "basics:t,";
      List<Result> rows = forward.stream().filter(row -> Bytes.toString(row.getRow()).startsWith(prefix)).toList();
      checks.equal("rows of the table in hbase:meta, in order",
          admin.getRegions(TABLE).stream().map(region -> Bytes.toStringBinary(region.getRegionName())).toList(), () -> names(rows));
      checks.equal("columns of a region in hbase:meta",
          "[info:regioninfo, info:seqnumDuringOpen, info:server, info:serverstartcode, info:sn, info:state]",
          () -> Stream.of(rows.get(0).rawCells())
              .map(cell -> Bytes.toString(org.apache.hadoop.hbase.CellUtil.cloneFamily(cell)) + ":"
                  + Bytes.toString(org.apache.hadoop.hbase.CellUtil.cloneQualifier(cell))).toList());
      checks.equal("info:regioninfo parses to the row key", true, () -> rows.stream().allMatch(row -> Bytes.equals(row.getRow(),
          RegionInfo.parseFromOrNull(row.getValue(bytes("info"), bytes("regioninfo"))).getRegionName())));
      checks.equal("info:state", "[OPEN, OPEN, OPEN, OPEN, OPEN]",
          () -> rows.stream().map(row -> Bytes.toString(row.getValue(bytes("info"), bytes("state")))).toList());
      checks.equal("table:state", "\\x08\\x00", () -> Bytes.toStringBinary(
          meta.get(new Get(bytes("basics:t")).addColumn(bytes("table"), bytes("state"))).value()));
      checks.equal("get of one region's row", 6, () -> meta.get(new Get(rows.get(2).getRow())).size());
      checks.equal("range scan of hbase:meta", "5", () -> results(meta, new Scan().addFamily(bytes("info"))
          .withStartRow(bytes("basics:t,,")).withStopRow(bytes("basics:t ,,"))).size());
      checks.equal("reversed look-up in hbase:meta", Bytes.toStringBinary(rows.get(2).getRow()), () -> Bytes.toStringBinary(
          results(meta, new Scan().addFamily(bytes("info")).setReversed(true).setLimit(1)
              .withStartRow(bytes("basics:t,b,99999999999999")).withStopRow(bytes("basics:t,,"), true)).get(0).getRow()));
      checks.equal("hbase:namespace", true,
          () -> names(results(namespaces, new Scan())).containsAll(List.of("basics", "default", "hbase")));
    }
  }

  private void acrossRegions(Table table) throws Exception {
    List<Put> puts = new ArrayList<>();
    for (byte[] row : ROWS) puts.add(new Put(row).addColumn(CF, Q, 1, row));
    table.put(puts);
    checks.equal("one row in every region", "\\x00 a,a a,b m \\xFF\\xFF", () -> Checks.rows(table, new Scan()));
    checks.equal("reversed over all regions", "\\xFF\\xFF m a,b a,a \\x00", () -> Checks.rows(table, new Scan().setReversed(true)));
    checks.equal("reversed from a region's start key", "a,b a,a \\x00",
        () -> Checks.rows(table, new Scan().setReversed(true).withStartRow(bytes("a,b"))));
    checks.equal("reversed from a region's start key, exclusive", "a,a \\x00",
        () -> Checks.rows(table, new Scan().setReversed(true).withStartRow(bytes("a,b"), false)));
    checks.equal("reversed down to a region's start key", "\\xFF\\xFF m",
        () -> Checks.rows(table, new Scan().setReversed(true).withStopRow(bytes("a,b"))));
    checks.equal("reversed down to a region's start key, inclusive", "\\xFF\\xFF m a,b",
        () -> Checks.rows(table, new Scan().setReversed(true).withStopRow(bytes("a,b"), true)));
    checks.equal("up to a region's start key", "\\x00 a,a", () -> Checks.rows(table, new Scan().withStopRow(bytes("a,b"))));
    checks.equal("limit across regions", "\\x00 a,a a,b", () -> Checks.rows(table, new Scan().setLimit(3).setCaching(2)));
    checks.equal("limit 1", "\\x00", () -> Checks.rows(table, new Scan().setLimit(1)));
    checks.equal("multi get across regions", "[true, false, true, true]", () -> Stream.of(
        table.get(List.of(new Get(ROWS[4]), new Get(bytes("nowhere")), new Get(ROWS[0]), new Get(ROWS[2]))))
        .map(result -> !result.isEmpty()).toList());
    checks.equal("get in every region", true, () -> {
      for (byte[] row : ROWS) if (!Bytes.equals(table.get(new Get(row)).value(), row)) return Bytes.toStringBinary(row);
      return true;
    });
    table.delete(new ArrayList<>(Stream.of(ROWS).map(Delete::new).toList()));
    checks.equal("delete across regions", "", () -> Checks.rows(table, new Scan()));
  }

  private void flushAndState() throws IOException {
    checks.equal("enabled", "true false true", () -> admin.isTableEnabled(TABLE) + " " + admin.isTableDisabled(TABLE) + " "
        + admin.isTableAvailable(TABLE));
    try (Table table = connection.getTable(TABLE)) {
      table.put(new Put(bytes("kept")).addColumn(CF, Q, 1, Q));
      admin.flush(TABLE);
      table.put(new Put(bytes("kept too")).addColumn(CF, Q, 1, Q));
      admin.disableTable(TABLE);
      checks.equal("disabled", "false true", () -> admin.isTableEnabled(TABLE) + " " + admin.isTableDisabled(TABLE));
      checks.equal("regions of a disabled table", 5, () -> admin.getRegions(TABLE).size());
      checks.equal("descriptor of a disabled table", "表", () -> admin.getDescriptor(TABLE).getValue("note"));
      admin.enableTable(TABLE);
      checks.equal("rows kept by disable and enable", "kept kept too", () -> Checks.rows(table, new Scan()));
    }
  }

  private void gets(Table table) throws IOException {
    table.put(new Put(bytes("get")).addColumn(CF, bytes("a"), 5, bytes("1")).addColumn(CF, bytes("b"), 6, bytes("2"))
        .addColumn(D, bytes("c"), 7, bytes("3")).addColumn(CF, new byte[0], 8, new byte[0]));
    checks.equal("get a row", "get cf:@8= cf:a@5=1 cf:b@6=2 d:c@7=3", () -> get(table, new Get(bytes("get"))));
    checks.equal("get a family", "get d:c@7=3", () -> get(table, new Get(bytes("get")).addFamily(D)));
    checks.equal("get a column", "get cf:b@6=2", () -> get(table, new Get(bytes("get")).addColumn(CF, bytes("b"))));
    checks.equal("get the empty qualifier", "get cf:@8=", () -> get(table, new Get(bytes("get")).addColumn(CF, new byte[0])));
    checks.equal("get two columns", "get cf:a@5=1 d:c@7=3",
        () -> get(table, new Get(bytes("get")).addColumn(D, bytes("c")).addColumn(CF, bytes("a"))));
    checks.equal("get a missing row", "-", () -> get(table, new Get(bytes("missing"))));
    checks.equal("get a missing column", "-", () -> get(table, new Get(bytes("get")).addColumn(CF, bytes("z"))));
    checks.equal("exists", "true false", () -> table.exists(new Get(bytes("get"))) + " " + table.exists(new Get(bytes("missing"))));
    checks.equal("exists of a column", "true false", () -> table.exists(new Get(bytes("get")).addColumn(CF, bytes("a"))) + " "
        + table.exists(new Get(bytes("get")).addColumn(CF, bytes("z"))));
    checks.equal("columns per family limited", "get cf:a@5=1 cf:b@6=2",
        () -> get(table, new Get(bytes("get")).addFamily(CF).setMaxResultsPerColumnFamily(2).setRowOffsetPerColumnFamily(1)));
    for (Durability durability : Durability.values()) {
      byte[] row = bytes("durability " + durability);
      table.put(new Put(row).addColumn(CF, Q, 1, Q).setDurability(durability));
      checks.equal("put with durability " + durability, true, () -> table.exists(new Get(row)));
    }
    long before = System.currentTimeMillis();
    table.put(new Put(bytes("now")).addColumn(CF, Q, Q));
    checks.equal("a put without timestamp takes the server's clock", true, () -> {
      long timestamp = table.get(new Get(bytes("now"))).rawCells()[0].getTimestamp();
      return timestamp >= before - 1000 && timestamp <= System.currentTimeMillis() + 1000;
    });
  }

  private void versions(Table table) throws IOException {
    byte[] row = bytes("versions");
    for (int at : new int[] {3, 1, 5, 2, 4}) table.put(new Put(row).addColumn(CF, Q, at, bytes("v" + at)));
    checks.equal("the newest version whatever came last", "versions cf:q@5=v5", () -> get(table, new Get(row)));
    checks.equal("three versions kept", "versions cf:q@5=v5 cf:q@4=v4 cf:q@3=v3", () -> get(table, new Get(row).readAllVersions()));
    checks.equal("two versions", "versions cf:q@5=v5 cf:q@4=v4", () -> get(table, new Get(row).readVersions(2)));
    table.put(new Put(row).addColumn(CF, Q, 5, bytes("again")));
    checks.equal("same timestamp: the later put", "versions cf:q@5=again cf:q@4=v4", () -> get(table, new Get(row).readVersions(2)));
    byte[] ranges = bytes("ranges");
    for (int at = 1; at <= 3; at++) table.put(new Put(ranges).addColumn(CF, Q, at, bytes("v" + at)));
    checks.equal("time range is [min, max)", "ranges cf:q@2=v2", () -> get(table, new Get(ranges).setTimeRange(2, 3).readAllVersions()));
    checks.equal("newest within a time range", "ranges cf:q@2=v2", () -> get(table, new Get(ranges).setTimeRange(0, 3)));
    checks.equal("a time range of nothing", "-", () -> get(table, new Get(ranges).setTimeRange(7, 9)));
    checks.equal("one timestamp", "ranges cf:q@1=v1", () -> get(table, new Get(ranges).setTimestamp(1)));
    checks.equal("time range of one family", "ranges cf:q@1=v1", () -> get(table, new Get(ranges).setColumnFamilyTimeRange(CF, 0, 2)));
    checks.equal("scan with versions and time range", "ranges cf:q@3=v3 cf:q@2=v2",
        () -> Checks.show(table, new Scan().withStartRow(ranges).setOneRowLimit().readAllVersions().setTimeRange(2, 9)));
    checks.equal("versions of a VERSIONS=1 family", "single d:q@2=b", () -> {
      table.put(new Put(bytes("single")).addColumn(D, Q, 1, bytes("a")));
      table.put(new Put(bytes("single")).addColumn(D, Q, 2, bytes("b")));
      return get(table, new Get(bytes("single")).readAllVersions());
    });
  }

  /** Each case starts from versions 1, 2, 3 of cf:q, cf:r at 2 and d:q at 2; nothing is flushed in between. */
  private void deletes(Table table) throws IOException {
    Map<String, Delete> cases = new TreeMap<>();
    Map<String, String> remains = new TreeMap<>();
    delete(cases, remains, "a the latest version", row -> new Delete(row).addColumn(CF, Q), "cf:q@2=v2 cf:q@1=v1 cf:r@2=r d:q@2=d");
    delete(cases, remains, "b one version", row -> new Delete(row).addColumn(CF, Q, 2), "cf:q@3=v3 cf:q@1=v1 cf:r@2=r d:q@2=d");
    delete(cases, remains, "c a version that is not there", row -> new Delete(row).addColumn(CF, Q, 9),
        "cf:q@3=v3 cf:q@2=v2 cf:q@1=v1 cf:r@2=r d:q@2=d");
    delete(cases, remains, "d a column", row -> new Delete(row).addColumns(CF, Q), "cf:r@2=r d:q@2=d");
    delete(cases, remains, "e a column up to a time", row -> new Delete(row).addColumns(CF, Q, 2), "cf:q@3=v3 cf:r@2=r d:q@2=d");
    delete(cases, remains, "f a family", row -> new Delete(row).addFamily(CF), "d:q@2=d");
    delete(cases, remains, "g a family up to a time", row -> new Delete(row).addFamily(CF, 2), "cf:q@3=v3 d:q@2=d");
    delete(cases, remains, "h a family at one time", row -> new Delete(row).addFamilyVersion(CF, 2), "cf:q@3=v3 cf:q@1=v1 d:q@2=d");
    delete(cases, remains, "i a row", Delete::new, "");
    delete(cases, remains, "j a row up to a time", row -> new Delete(row, 2), "cf:q@3=v3");
    delete(cases, remains, "k two columns", row -> new Delete(row).addColumns(CF, Q).addColumns(CF, bytes("r")), "d:q@2=d");
    delete(cases, remains, "l the latest version twice", row -> new Delete(row).addColumn(CF, Q).addColumn(CF, Q),
        "cf:q@1=v1 cf:r@2=r d:q@2=d");
    for (Map.Entry<String, Delete> entry : cases.entrySet()) {
      byte[] row = entry.getValue().getRow();
      table.put(List.of(
          new Put(row).addColumn(CF, Q, 1, bytes("v1")), new Put(row).addColumn(CF, Q, 2, bytes("v2")),
          new Put(row).addColumn(CF, Q, 3, bytes("v3")), new Put(row).addColumn(CF, bytes("r"), 2, bytes("r")),
          new Put(row).addColumn(D, Q, 2, bytes("d"))));
      table.delete(entry.getValue());
      String remaining = remains.get(entry.getKey());
      checks.equal("delete " + entry.getKey().substring(2), remaining.isEmpty() ? "-" : Bytes.toString(row) + " " + remaining,
          () -> get(table, new Get(row).readAllVersions()));
    }
    byte[] row = bytes("delete b one version");
    table.put(new Put(row).addColumn(CF, Q, 2, bytes("again")));
    checks.equal("a put under a delete marker stays hidden", "delete b one version cf:q@3=v3 cf:q@1=v1",
        () -> get(table, new Get(row).addColumn(CF, Q).readAllVersions()));
    byte[] whole = bytes("delete i a row");
    table.put(new Put(whole).addColumn(CF, Q, Long.MAX_VALUE - 1, bytes("later")));
    checks.equal("a put newer than a row's delete is seen", 1, () -> table.get(new Get(whole)).size());
    checks.equal("a raw scan shows markers", "delete e a column up to a time cf:q@3=v3 cf:q@2 DeleteColumn cf:q@2=v2 cf:q@1=v1 cf:r@2=r d:q@2=d",
        () -> Checks.show(table, new Scan().setRaw(true).readAllVersions().withStartRow(bytes("delete e a column up to a time")).setLimit(1)));
    checks.equal("delete of a row that is not there", "-", () -> {
      table.delete(new Delete(bytes("missing")));
      return get(table, new Get(bytes("missing")));
    });
  }

  interface Form {
    Delete of(byte[] row);
  }

  private static void delete(Map<String, Delete> cases, Map<String, String> remains, String name, Form form, String remaining) {
    cases.put(name, form.of(bytes("delete " + name)));
    remains.put(name, remaining);
  }

  private void increments(Table table) throws IOException {
    byte[] row = bytes("counter");
    checks.equal("increment what is not there", 5L, () -> table.incrementColumnValue(row, CF, Q, 5));
    checks.equal("increment", 12L, () -> table.incrementColumnValue(row, CF, Q, 7));
    checks.equal("increment by a negative amount", -3L, () -> table.incrementColumnValue(row, CF, Q, -15));
    checks.equal("increment by nothing reads", -3L, () -> table.incrementColumnValue(row, CF, Q, 0));
    checks.equal("increment wraps around", Long.MIN_VALUE + 1, () -> {
      table.incrementColumnValue(row, CF, bytes("wrap"), Long.MAX_VALUE);
      return table.incrementColumnValue(row, CF, bytes("wrap"), 2);
    });
    checks.equal("increment several columns of two families", "a=1 q=-2 z=-9 q=4", () -> {
      Result result = table.increment(new Increment(bytes("counters")).addColumn(CF, bytes("z"), -9).addColumn(CF, Q, -2)
          .addColumn(CF, bytes("a"), 1).addColumn(D, Q, 4));
      return counters(result);
    });
    checks.equal("… and again", "a=2 q=-4 z=-18 q=8", () -> counters(table.increment(new Increment(bytes("counters"))
        .addColumn(CF, bytes("z"), -9).addColumn(CF, Q, -2).addColumn(CF, bytes("a"), 1).addColumn(D, Q, 4))));
    checks.equal("increment without results", "-", () -> Checks.show(
        table.increment(new Increment(row).addColumn(CF, Q, 1).setReturnResults(false))));
    checks.equal("… was done", -2L, () -> Bytes.toLong(table.get(new Get(row).addColumn(CF, Q)).value()));
    table.put(new Put(bytes("preset")).addColumn(CF, Q, Bytes.toBytes(40L)));
    checks.equal("increment of a put value", 42L, () -> table.incrementColumnValue(bytes("preset"), CF, Q, 2));
    checks.equal("increment after delete starts anew", 1L, () -> {
      table.delete(new Delete(bytes("preset")).addColumns(CF, Q));
      return table.incrementColumnValue(bytes("preset"), CF, Q, 1);
    });
    checks.equal("older values of a counter are versions", 3, () -> table.get(new Get(row).addColumn(CF, Q).readAllVersions()).size());
  }

  private void lists(Table table) throws Exception {
    List<Put> puts = new ArrayList<>();
    List<Get> gets = new ArrayList<>();
    for (int i = 0; i < 100; i++) puts.add(new Put(bytes("list " + i)).addColumn(CF, Q, 1, bytes("" + i)));
    for (int i = 99; i >= -1; i--) gets.add(new Get(bytes("list " + i)));
    table.put(puts);
    checks.equal("get a list in its own order", true, () -> {
      Result[] results = table.get(gets);
      for (int i = 0; i < 100; i++) if (!Bytes.toString(results[i].value()).equals("" + (99 - i))) return "at " + i + ": " + results[i];
      return results.length == 101 && results[100].isEmpty();
    });
    checks.equal("exists of a list", "[true, false]",
        () -> Arrays.toString(table.exists(List.of(new Get(bytes("list 7")), new Get(bytes("list -1"))))));
    checks.equal("a mixed batch", "[list 1 cf:q@1=1, -, q=1, -]", () -> {
      List<Row> batch = List.of(new Get(bytes("list 1")), new Put(bytes("list put")).addColumn(CF, Q, 1, Q),
          new Increment(bytes("list count")).addColumn(CF, Q, 1), new Delete(bytes("list 2")));
      Object[] results = new Object[4];
      table.batch(batch, results);
      return List.of(Checks.show((Result) results[0]), Checks.show((Result) results[1]), counters((Result) results[2]),
          Checks.show((Result) results[3]));
    });
    checks.equal("… was done", "true false", () -> table.exists(new Get(bytes("list put"))) + " " + table.exists(new Get(bytes("list 2"))));
    checks.equal("deleted from the list handed in", 0, () -> {
      List<Delete> deletes = new ArrayList<>(List.of(new Delete(bytes("list 3")), new Delete(bytes("list 4"))));
      table.delete(deletes);
      return deletes.size();
    });
    checks.equal("buffered mutator", true, () -> {
      try (BufferedMutator mutator = connection.getBufferedMutator(PLAIN)) {
        for (int i = 0; i < 1000; i++) mutator.mutate(new Put(bytes("buffer " + i)).addColumn(CF, Q, 1, bytes("" + i)));
        mutator.mutate(new Delete(bytes("buffer 5")));
      }
      return results(table, new Scan().setRowPrefixFilter(bytes("buffer "))).size() == 999;
    });
  }

  private void scans(Table table) throws Exception {
    List<Put> puts = new ArrayList<>();
    for (char c = 'a'; c <= 'e'; c++) {
      puts.add(new Put(bytes("scan " + c)).addColumn(CF, Q, 1, bytes("q")).addColumn(CF, bytes("r"), 1, bytes("r")).addColumn(D, Q, 1, bytes("d")));
    }
    table.put(puts);
    String[] starts = {"scan b", "scan bb"}, stops = {"scan d", "scan dd"};
    String[][] expected = { // by start, by stop; each: start in or out × stop in or out
        {"b c d|b c|c d|c", "b c d|b c d|c d|c d"},
        {"c d|c|c d|c", "c d|c d|c d|c d"},
    };
    for (int i = 0; i < 2; i++) {
      for (int j = 0; j < 2; j++) {
        String[] each = expected[i][j].split("\\|");
        for (int form = 0; form < 4; form++) {
          boolean startIn = form < 2, stopIn = form % 2 == 0;
          byte[] start = bytes(starts[i]), stop = bytes(stops[j]);
          String name = (startIn ? "[" : "(") + starts[i] + ", " + stops[j] + (stopIn ? "]" : ")");
          checks.equal("scan " + name, each[form], () -> letters(table, new Scan().withStartRow(start, startIn).withStopRow(stop, stopIn)));
          // Reversed, the same set comes from the stop to the start.
          checks.equal("reversed scan of " + name, new StringBuilder(each[form]).reverse(),
              () -> letters(table, new Scan().setReversed(true).withStartRow(stop, stopIn).withStopRow(start, startIn)));
        }
      }
    }
    checks.equal("scan of one row as start and inclusive stop", "c",
        () -> letters(table, new Scan().withStartRow(bytes("scan c")).withStopRow(bytes("scan c"), true)));
    checks.equal("start equal to stop, exclusive", "",
        () -> letters(table, new Scan().withStartRow(bytes("scan c")).withStopRow(bytes("scan c"))));
    checks.equal("scan by prefix", "a b c d e", () -> letters(table, new Scan().setRowPrefixFilter(bytes("scan "))));
    checks.equal("scan of nothing", "", () -> letters(table, new Scan().withStartRow(bytes("scan f")).withStopRow(bytes("scan g"))));
    for (int caching : new int[] {1, 2, 5, 6, 1000}) {
      checks.equal("caching " + caching, "a b c d e", () -> letters(table, prefix().setCaching(caching)));
    }
    checks.equal("limit 2", "a b", () -> letters(table, prefix().setLimit(2)));
    checks.equal("limit 5 of 5", "a b c d e", () -> letters(table, prefix().setLimit(5)));
    checks.equal("limit 3, caching 2, reversed", "e d c", () -> letters(table, new Scan().setReversed(true).setLimit(3).setCaching(2)
        .withStartRow(bytes("scan ~")).withStopRow(bytes("scan "))));
    for (Scan.ReadType type : Scan.ReadType.values()) {
      checks.equal("read type " + type, "a b c d e", () -> letters(table, prefix().setReadType(type)));
    }
    checks.equal("small scan", "a b c d e", () -> letters(table, prefix().setSmall(true)));
    checks.equal("results of at most one byte", "a b c d e", () -> letters(table, prefix().setMaxResultSize(1)));
    checks.equal("families and columns of a scan", "scan a cf:r@1=r d:q@1=d",
        () -> Checks.show(table, prefix().addColumn(CF, bytes("r")).addFamily(D).setLimit(1)));
    checks.equal("batch of two cells", "scan a cf:q@1=q cf:r@1=r | scan a d:q@1=d | scan b cf:q@1=q cf:r@1=r | scan b d:q@1=d",
        () -> Checks.show(table, new Scan().setBatch(2).withStartRow(bytes("scan a")).withStopRow(bytes("scan c"))));
    checks.equal("partial results", true, () -> {
      int cells = 0;
      for (Result result : results(table, prefix().setAllowPartialResults(true).setMaxResultSize(1))) cells += result.size();
      return cells == 15;
    });
    checks.equal("rows without cells of the family are left out", "", () -> letters(table, prefix().addColumn(D, bytes("none"))));
    checks.equal("a scanner closed early", "a", () -> {
      try (ResultScanner scanner = table.getScanner(prefix().setCaching(1))) {
        return letter(scanner.next());
      }
    });
    checks.equal("a scanner reads on after renewing its lease", "a true b", () -> {
      try (ResultScanner scanner = table.getScanner(prefix().setCaching(1))) {
        return letter(scanner.next()) + " " + scanner.renewLease() + " " + letter(scanner.next());
      }
    });
    checks.equal("a scan sees the rows of its beginning", "a b c d e", () -> {
      try (ResultScanner scanner = table.getScanner(prefix().setCaching(1))) {
        StringBuilder seen = new StringBuilder(letter(scanner.next()));
        table.put(new Put(bytes("scan cc")).addColumn(CF, Q, 1, Q));
        for (Result result; (result = scanner.next()) != null; ) seen.append(" ").append(letter(result));
        table.delete(new Delete(bytes("scan cc")));
        return seen;
      }
    });
  }

  /** More than one answer holds: 3,000 rows of 2 kB, and one row wider than the client's result size. */
  private void manyCells() throws Exception {
    try (Table table = connection.getTable(TABLE)) {
      byte[] value = new byte[2000];
      List<Put> puts = new ArrayList<>();
      TreeSet<String> expected = new TreeSet<>();
      for (int i = 0; i < 3000; i++) {
        String row = "" + (char) ('!' + i % 90) + i;
        expected.add(row);
        puts.add(new Put(bytes(row)).addColumn(D, Q, 1, value));
      }
      table.put(puts);
      checks.equal("3000 rows of 2 kB", expected.size(), () -> results(table, new Scan().addFamily(D)).size());
      checks.equal("… in order", String.join(" ", expected).hashCode(), () -> results(table, new Scan().addFamily(D)).stream()
          .map(result -> Bytes.toString(result.getRow())).collect(Collectors.joining(" ")).hashCode());
      checks.equal("… reversed", String.join(" ", expected.descendingSet()).hashCode(),
          () -> results(table, new Scan().addFamily(D).setReversed(true)).stream()
              .map(result -> Bytes.toString(result.getRow())).collect(Collectors.joining(" ")).hashCode());
      Put wide = new Put(bytes("wide"));
      for (int i = 0; i < 2000; i++) wide.addColumn(D, bytes(String.format("q%04d", i)), 1, value);
      table.put(wide);
      checks.equal("a row of 4 MB by get", 2000, () -> table.get(new Get(bytes("wide"))).size());
      checks.equal("a row of 4 MB by scan", 2000,
          () -> results(table, new Scan().withStartRow(bytes("wide")).withStopRow(bytes("wide"), true)).get(0).size());
      checks.equal("a row of 4 MB in batches of 700", "[700, 700, 600]", () -> results(table, new Scan().setBatch(700)
          .withStartRow(bytes("wide")).withStopRow(bytes("wide"), true)).stream().map(Result::size).toList());
    }
  }

  private void cluster() {
    checks.equal("one live server", 1, () -> admin.getClusterMetrics().getLiveServerMetrics().size());
    checks.equal("cluster metrics", true, () -> {
      ClusterMetrics metrics = admin.getClusterMetrics();
      return metrics.getClusterId() != null && metrics.getHBaseVersion() != null && metrics.getMasterName() != null
          && metrics.getDeadServerNames().isEmpty() && metrics.getRegionCount() > 6;
    });
    checks.equal("one region server", 1, () -> admin.getRegionServers().size());
    checks.equal("the master is named", true, () -> admin.getMaster() != null);
    checks.equal("the balancer and normalizer can be asked", true, () -> {
      admin.isBalancerEnabled();
      admin.isNormalizerEnabled();
      return true;
    });
  }

  private void goodbye() throws IOException {
    for (TableName name : List.of(TABLE, PLAIN)) {
      admin.disableTable(name);
      admin.deleteTable(name);
      checks.equal(name + " is gone", "false false", () -> admin.tableExists(name) + " " + List.of(admin.listTableNames()).contains(name));
    }
    try (Table meta = connection.getTable(TableName.META_TABLE_NAME)) {
      checks.equal("no row of them in hbase:meta", "[]",
          () -> names(results(meta, new Scan())).stream().filter(row -> row.startsWith("basics")).toList());
    }
    admin.deleteNamespace(NAMESPACE);
    checks.equal("namespace is gone", false, () -> List.of(admin.listNamespaces()).contains(NAMESPACE));
    admin.createTable(TableDescriptorBuilder.newBuilder(PLAIN).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
    try (Table table = connection.getTable(PLAIN)) {
      checks.equal("a table made again is empty", "", () -> Checks.rows(table, new Scan()));
    }
    Cluster.drop(admin, PLAIN);
  }

  private static Scan prefix() {
    return new Scan().withStartRow(bytes("scan ")).withStopRow(bytes("scan!"));
  }

  private static String get(Table table, Get get) throws IOException {
    return Checks.show(table.get(get));
  }

  private static String letters(Table table, Scan scan) throws Exception {
    return Checks.rows(table, scan).replace("scan ", "");
  }

  private static String letter(Result result) {
    return Bytes.toString(result.getRow()).replace("scan ", "");
  }

  private static String counters(Result result) {
    return Stream.of(result.rawCells())
        .map(cell -> Bytes.toString(org.apache.hadoop.hbase.CellUtil.cloneQualifier(cell)) + "="
            + Bytes.toLong(org.apache.hadoop.hbase.CellUtil.cloneValue(cell)))
        .collect(Collectors.joining(" "));
  }

  private static String keys(RegionInfo region) {
    return Bytes.toStringBinary(region.getStartKey()) + " .. " + Bytes.toStringBinary(region.getEndKey());
  }

  private static String text(Map<org.apache.hadoop.hbase.util.Bytes, Bytes> values) {
    TreeMap<String, String> text = new TreeMap<>();
    values.forEach((key, value) -> text.put(Bytes.toString(key.copyBytes()), Bytes.toString(value.copyBytes())));
    return text.toString();
  }

  private static List<Result> results(Table table, Scan scan) throws IOException {
    List<Result> results = new ArrayList<>();
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result; (result = scanner.next()) != null; ) results.add(result);
    }
    return results;
  }

  private static List<String> names(List<Result> results) {
    return results.stream().map(result -> Bytes.toStringBinary(result.getRow())).toList();
  }

  private static byte[] bytes(String text) {
    return Bytes.toBytes(text);
  }
}
