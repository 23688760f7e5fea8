import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.replication.ReplicationPeerConfig;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Apache HBase replicates to another server, and both must have the same cells:
 *
 * <pre>
 * Replicated REGISTRY HOST:PORT create SINK [NO_PEER]     makes the tables on both, and the peers on the first
 * Replicated REGISTRY HOST:PORT write PHASE COUNT         random mutations of every kind, the same for each PHASE
 * Replicated REGISTRY HOST:PORT disturb                   splits a region and moves the regions
 * Replicated REGISTRY HOST:PORT compare SINK SECONDS      waits until both are equal
 * Replicated REGISTRY HOST:PORT blog PHASE COUNT          the same mutations in a table `blog`
 * Replicated REGISTRY HOST:PORT equal SINK SECONDS TABLE  waits until one table is read the same on both
 * Replicated REGISTRY HOST:PORT dump                      prints the cells: `every` raw, of the others what is read
 * </pre>
 *
 * SINK is the host and port of the other's ZooKeeper. Table {@code every} keeps all versions and deleted cells: it is compared raw.
 * {@code some} keeps three versions: its reads are compared, then raw cells after a major compaction on both sides. {@code ordered} has
 * NEW_VERSION_BEHAVIOR and a SERIAL peer: the order of changes decides there.
 *
 * <p>Without SERIAL the order of changes may change, when the log of a killed source is shipped beside that of its successor. So a value
 * follows from its coordinates, and increments and appends of each phase have their own rows. In a family that drops deleted cells, a
 * put below an earlier delete is visible once a compaction has dropped the marker, which happens on each side at its own time: there each
 * put is newer than all before it.
 */
public final class Replicated {
  private static final TableName EVERY = TableName.valueOf("every");
  private static final TableName SOME = TableName.valueOf("some");
  private static final TableName ORDERED = TableName.valueOf("ordered");
  private static final TableName BLOG = TableName.valueOf("blog");
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final byte[] LOCAL = Bytes.toBytes("local");
  private static final int ROWS = 2_000;
  private static final int BATCH = 50;
  private static final long FIRST_TIME = 1_000_000_000_000L;
  /** The time of the last put in tables that drop deleted cells. */
  private static long last;

  public static void main(String[] args) throws Exception {
    try (Connection source = Cluster.connect(args); Admin admin = source.getAdmin()) {
      switch (args[2]) {
        case "create" -> {
          try (Connection sink = Cluster.connect(new String[] {"zk", args[3]}); Admin sinkAdmin = sink.getAdmin()) {
            create(admin);
            create(sinkAdmin);
            if (args.length < 5) addPeers(admin, args[3]);
          }
        }
        case "write" -> write(source, Integer.parseInt(args[3]), Integer.parseInt(args[4]), List.of(EVERY, SOME, ORDERED));
        case "blog" -> write(source, Integer.parseInt(args[3]), Integer.parseInt(args[4]), List.of(BLOG));
        case "equal" -> {
          try (Connection sink = Cluster.connect(new String[] {"zk", args[3]})) {
            long until = System.currentTimeMillis() + 1_000L * Integer.parseInt(args[4]);
            for (ServerName server : admin.getRegionServers()) admin.rollWALWriter(server);
            compare(args[5] + ", read", source, sink, TableName.valueOf(args[5]), false, until);
          }
        }
        case "dump" -> {
          for (TableName name : List.of(EVERY, SOME, ORDERED)) {
            try (Table table = source.getTable(name); ResultScanner rows = table.getScanner(allCells(name == EVERY))) {
              for (Result row : rows) shown(row).forEach(cell -> System.out.println(name + " " + cell));
            }
          }
        }
        case "disturb" -> disturb(admin);
        case "compare" -> {
          try (Connection sink = Cluster.connect(new String[] {"zk", args[3]}); Admin sinkAdmin = sink.getAdmin()) {
            long until = System.currentTimeMillis() + 1_000L * Integer.parseInt(args[4]);
            for (ServerName server : admin.getRegionServers()) admin.rollWALWriter(server);
            compare("every, raw", source, sink, EVERY, true, until);
            compare("some, read", source, sink, SOME, false, until);
            compare("ordered, read", source, sink, ORDERED, false, until);
            for (Admin one : List.of(admin, sinkAdmin)) compact(one, SOME);
            compare("some, raw after a major compaction", source, sink, SOME, true, until);
          }
        }
        default -> throw new IOException("create, write, disturb or compare, not " + args[2]);
      }
    }
    System.exit(0);
  }

  private static void create(Admin admin) throws IOException {
    for (TableName name : List.of(EVERY, SOME, ORDERED)) {
      ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(CF).setScope(1);
      if (name == EVERY) family.setMaxVersions(Integer.MAX_VALUE).setKeepDeletedCells(KeepDeletedCells.TRUE);
      if (name == SOME) family.setMaxVersions(3);
      if (name == ORDERED) family.setMaxVersions(5).setNewVersionBehavior(true);
      // A family of the source alone: what is in it stays there.
      admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(family.build())
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of(LOCAL)).build(), new byte[][] {row(500), row(1_000), row(1_500)});
    }
  }

  private static void addPeers(Admin admin, String sink) throws IOException {
    for (boolean serial : new boolean[] {false, true}) {
      Map<TableName, List<String>> tables = serial ? Map.of(ORDERED, List.of()) : Map.of(EVERY, List.of(), SOME, List.of());
      admin.addReplicationPeer(serial ? "ordered" : "rh", ReplicationPeerConfig.newBuilder().setClusterKey(sink + ":/hbase")
          .setReplicateAllUserTables(false).setTableCFsMap(tables).setSerial(serial)
          // Without it the tags of cells stay behind, and with them a cell's own TTL.
          .putConfiguration("hbase.replication.rpc.codec", "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags").build());
    }
  }

  private static void write(Connection source, int phase, int count, List<TableName> tables) throws Exception {
    Random random = new Random(phase);
    last = FIRST_TIME + 10_000_000L * phase;
    if (phase == 1 && tables.contains(EVERY)) putOldest(source);
    int written = 0;
    while (written < count) {
      try (Table table = source.getTable(tables.get(random.nextInt(tables.size())))) {
        List<Row> batch = new ArrayList<>();
        while (batch.size() < BATCH && written + batch.size() < count) batch.add(mutation(random, table.getName(), phase));
        table.batch(batch, new Object[batch.size()]);
        written += batch.size();
      }
    }
    System.out.println(written + " mutations of phase " + phase);
  }

  /** Puts a cell older than all others into each row: a major compaction drops the markers that are older than each put of its files. */
  private static void putOldest(Connection source) throws IOException {
    try (Table table = source.getTable(EVERY)) {
      List<Put> puts = new ArrayList<>();
      for (int number = 0; number < ROWS; number++) {
        puts.add(new Put(row(number)).addColumn(CF, Bytes.toBytes("q0"), FIRST_TIME - 1, Bytes.toBytes("oldest")));
      }
      table.put(puts);
    }
  }

  private static Row mutation(Random random, TableName table, int phase) throws IOException {
    byte[] row = row(random.nextInt(ROWS));
    int kind = random.nextInt(20);
    if (kind == 0) return new Increment(own(random, phase)).addColumn(CF, Bytes.toBytes("n"), 1 + random.nextInt(5));
    if (kind == 1) return new Append(own(random, phase)).addColumn(CF, Bytes.toBytes("a"), Bytes.toBytes("+" + random.nextInt(10)));
    if (kind == 2) {
      return RowMutations.of(List.of(put(random, row, table), new Delete(row).addColumns(CF, qualifier(random), past(random, table))));
    }
    if (kind < 14) return put(random, row, table);
    return delete(random, row, table);
  }

  private static Put put(Random random, byte[] row, TableName table) throws IOException {
    Put put = new Put(row);
    for (int n = 1 + random.nextInt(3); n > 0; n--) {
      byte[] qualifier = qualifier(random);
      long time = keepsAll(table) ? time(random) : ++last;
      // The same again has the same value, but where the order is kept.
      String value = table.equals(ORDERED) ? "v" + random.nextInt() : Bytes.toString(row) + Bytes.toString(qualifier) + time;
      put.addColumn(CF, qualifier, time, Bytes.toBytes(value));
    }
    if (!table.equals(BLOG) && random.nextInt(10) == 0) put.addColumn(LOCAL, qualifier(random), Bytes.toBytes("stays"));
    // Has passed: times are of 2001.
    if (random.nextInt(25) == 0) put.setTTL(60_000);
    return put;
  }

  private static Delete delete(Random random, byte[] row, TableName table) throws IOException {
    Delete delete = new Delete(row);
    // Whether a deleted version uncovers an older one depends on the flushes of a family that keeps few versions.
    int kind = table.equals(EVERY) ? random.nextInt(5) : random.nextInt(2);
    return switch (kind) {
      case 0 -> delete.addColumns(CF, qualifier(random), past(random, table));
      case 1 -> delete.addFamily(CF, past(random, table));
      case 2 -> delete.addColumn(CF, qualifier(random), time(random));
      case 3 -> delete.addFamilyVersion(CF, time(random));
      default -> delete.addColumn(CF, qualifier(random));
    };
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("row%05d", number));
  }

  private static byte[] own(Random random, int phase) {
    return Bytes.toBytes(String.format("row%05d-%d", random.nextInt(50) * 40, phase));
  }

  private static byte[] qualifier(Random random) {
    return Bytes.toBytes("q" + random.nextInt(5));
  }

  private static long time(Random random) {
    return FIRST_TIME + random.nextInt(1_000);
  }

  /** A time at which puts have been made. */
  private static long past(Random random, TableName table) {
    return keepsAll(table) ? time(random) : last - random.nextInt(1_000);
  }

  /** Whether deleted cells stay, or a delete covers only what was written before it. */
  private static boolean keepsAll(TableName table) {
    return table.equals(EVERY) || table.equals(ORDERED);
  }

  private static void disturb(Admin admin) throws Exception {
    for (TableName table : List.of(EVERY, SOME)) {
      List<RegionInfo> regions = admin.getRegions(table);
      RegionInfo largest = regions.get(regions.size() / 2);
      byte[] start = largest.getStartKey();
      if (regions.size() < 7) admin.split(table, Bytes.toBytes(Bytes.toString(start) + "-" + System.nanoTime()));
      List<ServerName> servers = new ArrayList<>(admin.getRegionServers());
      if (servers.size() < 2) continue;
      for (RegionInfo region : regions) {
        if (region.equals(largest)) continue;
        try {
          admin.move(region.getEncodedNameAsBytes(), servers.get(new Random().nextInt(servers.size())));
        } catch (IOException busy) {
          System.out.println("not moved: " + region.getEncodedName());
        }
      }
    }
  }

  private static void compact(Admin admin, TableName table) throws Exception {
    admin.flush(table);
    admin.majorCompact(table);
    Thread.sleep(2_000);
    while (admin.getCompactionState(table) != CompactionState.NONE) Thread.sleep(200);
  }

  /** Waits until both tables have the same cells; ends the program if they have not in time. */
  private static void compare(String name, Connection source, Connection sink, TableName table, boolean raw, long until) throws Exception {
    while (true) {
      String difference;
      try {
        difference = difference(source, sink, table, raw);
      } catch (IOException | UncheckedIOException e) {
        difference = "! " + e; // A server may be starting.
      }
      if (!difference.startsWith("!")) {
        System.out.println("ok " + name + ": " + difference + " cells");
        return;
      }
      if (System.getProperty("show.waiting") != null) System.out.println(name + " " + difference);
      if (System.currentTimeMillis() > until) {
        System.out.println("FAIL " + name + " " + difference);
        System.exit(1);
      }
      Thread.sleep(1_000);
    }
  }

  /** The number of cells, or the first difference after "!". */
  private static String difference(Connection source, Connection sink, TableName name, boolean raw) throws IOException {
    Scan scan = allCells(raw);
    long cells = 0;
    try (Table first = source.getTable(name); Table second = sink.getTable(name);
        ResultScanner firstRows = first.getScanner(scan); ResultScanner secondRows = second.getScanner(scan)) {
      Iterator<Result> there = secondRows.iterator();
      for (Result expected : firstRows) {
        if (!there.hasNext()) return "! the sink ends before " + Bytes.toStringBinary(expected.getRow());
        List<String> here = shown(expected);
        List<String> got = shown(there.next());
        if (!here.equals(got)) {
          Set<String> both = here.stream().filter(got::contains).collect(Collectors.toSet());
          here.removeAll(both);
          got.removeAll(both);
          return "! only at the source: " + here + ", only at the sink: " + got;
        }
        cells += here.size();
      }
      if (there.hasNext()) return "! the sink has more: " + Bytes.toStringBinary(there.next().getRow());
    }
    return cells == 0 ? "! no cells" : String.valueOf(cells);
  }

  private static Scan allCells(boolean raw) {
    return new Scan().addFamily(CF).readAllVersions().setRaw(raw).setCaching(500);
  }

  private static List<String> shown(Result row) {
    return Arrays.stream(row.rawCells()).map(Replicated::shown).collect(Collectors.toCollection(ArrayList::new));
  }

  private static String shown(Cell cell) {
    return Bytes.toStringBinary(CellUtil.cloneRow(cell)) + " " + Bytes.toStringBinary(CellUtil.cloneQualifier(cell)) + "@"
        + cell.getTimestamp() + " " + cell.getType() + " " + Bytes.toStringBinary(CellUtil.cloneValue(cell));
  }
}
