import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Four region servers of one process, as the stock client sees them: RegionServers REGISTRY HOST:PORT ROUNDS. Rows that
 * point at each other, and rows whose cells are all alike, are written while servers end and start and regions move.
 */
public final class RegionServers {
  private static final TableName TABLE = TableName.valueOf("servers"), CHAIN = TableName.valueOf("chain"), ALIKE = TableName.valueOf("alike");
  private static final byte[] F = Bytes.toBytes("f"), G = Bytes.toBytes("g"), PREVIOUS = Bytes.toBytes("previous");
  private static final int SERVERS = 4;

  private final Checks checks = new Checks();
  private final Connection connection;
  private final Admin admin;

  private RegionServers(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      RegionServers program = new RegionServers(connection, admin);
      for (TableName table : new TableName[] {TABLE, CHAIN, ALIKE}) Cluster.drop(admin, table);
      program.administration();
      program.disturbed(Integer.parseInt(args[2]));
      program.checks.finish();
    }
  }

  private void create(TableName table, int regions, byte[]... families) throws IOException {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(table);
    for (byte[] family : families) builder.setColumnFamily(ColumnFamilyDescriptorBuilder.of(family));
    byte[][] splits = new byte[regions - 1][];
    for (int at = 1; at < regions; at++) splits[at - 1] = new byte[] {(byte) (at * 256 / regions)};
    admin.createTable(builder.build(), splits);
  }

  /** Returns how many regions of the table each server has, as hbase:meta has it. */
  private Map<ServerName, Integer> spread(TableName table) throws IOException {
    Map<ServerName, Integer> spread = new TreeMap<>();
    try (RegionLocator locator = connection.getRegionLocator(table)) {
      locator.clearRegionLocationCache();
      for (HRegionLocation location : locator.getAllRegionLocations()) spread.merge(location.getServerName(), 1, Integer::sum);
    }
    return spread;
  }

  private void administration() throws Exception {
    Collection<ServerName> live = admin.getRegionServers();
    checks.equal("servers", SERVERS, live::size);
    checks.equal("the master is none of them", false, () -> live.contains(admin.getMaster()));
    create(TABLE, 8, F);
    checks.equal("all have regions", List.of(2, 2, 2, 2), () -> List.copyOf(spread(TABLE).values()));
    ServerName first = live.iterator().next();
    for (RegionInfo region : admin.getRegions(TABLE)) admin.move(region.getEncodedNameAsBytes(), first);
    checks.equal("moved to one", Map.of(first, 8), () -> spread(TABLE));
    checks.equal("it reports them", 8L, () -> admin.getRegions(first).stream().filter(it -> it.getTable().equals(TABLE)).count());
    checks.equal("its metrics, too", 8L, () -> admin.getClusterMetrics().getLiveServerMetrics().get(first).getRegionMetrics().values().stream()
        .filter(it -> it.getNameAsString().startsWith("servers,")).count());
    try (Table table = connection.getTable(TABLE)) {
      table.put(new Put(Bytes.toBytes("a")).addColumn(F, F, F));
      checks.equal("off", true, () -> admin.balancerSwitch(false, true));
      checks.equal("the balancer does not run", false, admin::balance);
      checks.equal("on", false, () -> admin.balancerSwitch(true, true));
      checks.equal("it runs", true, admin::balance);
      // One run moves a bounded number of regions, of all tables.
      for (int run = 0; run < 20 && !List.copyOf(spread(TABLE).values()).equals(List.of(2, 2, 2, 2)); run++) admin.balance();
      checks.equal("and spreads the regions", List.of(2, 2, 2, 2), () -> List.copyOf(spread(TABLE).values()));
      admin.decommissionRegionServers(List.of(first), true);
      checks.equal("decommissioned", List.of(first), admin::listDecommissionedRegionServers);
      checks.equal("its regions leave", false, () -> spread(TABLE).containsKey(first));
      checks.equal("rows are found", true, () -> table.exists(new Get(Bytes.toBytes("a"))));
      byte[] region = admin.getRegions(TABLE).get(3).getEncodedNameAsBytes();
      admin.recommissionRegionServer(first, List.of(region));
      checks.equal("one comes back", 1, () -> spread(TABLE).get(first));
      admin.stopRegionServer(first.getHostname() + ":" + first.getPort());
      checks.equal("stopped", SERVERS - 1, () -> admin.getRegionServers().size());
      checks.equal("dead", List.of(first), () -> List.copyOf(admin.getClusterMetrics().getDeadServerNames()));
      checks.equal("known as dead", List.of(first), () -> List.copyOf(admin.listDeadServers()));
      checks.equal("all regions are on the others", 8, () -> spread(TABLE).values().stream().mapToInt(it -> it).sum());
      checks.equal("rows are found after", true, () -> table.exists(new Get(Bytes.toBytes("a"))));
      checks.equal("forgotten", List.of(), () -> admin.clearDeadServers(List.of(first)));
      checks.equal("none is dead", 0, () -> admin.listDeadServers().size());
    }
    for (int number = 0; number < SERVERS; number++) change(number, "start");
    checks.equal("all run", SERVERS, () -> admin.getRegionServers().size());
  }

  /** Starts, stops or kills a region server, if that is possible now. */
  private boolean change(int number, String change) {
    try {
      admin.execProcedure("rowhouse-region-server", Integer.toString(number), Map.of("change", change));
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  private void disturbed(int rounds) throws Exception {
    create(CHAIN, 8, F);
    create(ALIKE, 8, F, G);
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong progress = new AtomicLong(), readings = new AtomicLong();
    ExecutorService threads = Executors.newFixedThreadPool(6);
    List<Future<Set<Long>>> chains = new ArrayList<>();
    for (int writer = 0; writer < 2; writer++) {
      int seed = writer;
      chains.add(threads.submit(() -> chain(seed, stop, progress)));
    }
    List<Future<?>> others = new ArrayList<>();
    others.add(threads.submit(() -> alike(stop)));
    others.add(threads.submit(() -> readAlike(stop, readings)));
    Random random = new Random(7);
    int done = 0;
    for (int round = 0; round < rounds; round++) {
      long before = progress.get();
      if (disturb(random)) done++;
      while (progress.get() < before + 50 && others.stream().noneMatch(Future::isDone) && chains.stream().noneMatch(Future::isDone)) Thread.sleep(5);
    }
    stop.set(true);
    for (Future<?> other : others) other.get();
    Set<Long> written = new HashSet<>();
    for (Future<Set<Long>> chain : chains) written.addAll(chain.get());
    threads.shutdown();
    checkChain(written);
    int disturbances = done;
    long read = readings.get();
    checks.equal("most rounds disturbed", true, () -> disturbances > rounds / 2);
    checks.equal("rows that are alike were read", true, () -> read > 0);
    System.out.println(written.size() + " nodes, " + read + " readings, " + disturbances + " disturbances");
  }

  private boolean disturb(Random random) throws Exception {
    TableName table = random.nextBoolean() ? CHAIN : ALIKE;
    List<RegionInfo> regions = admin.getRegions(table);
    RegionInfo region = regions.get(random.nextInt(regions.size()));
    int number = random.nextInt(SERVERS);
    try {
      switch (random.nextInt(8)) {
        case 0, 1: return change(number, "kill");
        case 2: return change(number, "stop");
        case 3, 4: return change(number, "start");
        case 5: admin.move(region.getEncodedNameAsBytes()); return true;
        case 6: admin.splitRegionAsync(region.getRegionName()).get(); return true;
        default: return admin.balance();
      }
    } catch (Exception refused) { // a region that was replaced meanwhile, or has too few rows
      return false;
    }
  }

  /** Writes nodes, each with the one before it in its chain; returns their numbers. */
  private Set<Long> chain(int seed, AtomicBoolean stop, AtomicLong progress) throws IOException {
    Random random = new Random(seed);
    Set<Long> written = new HashSet<>();
    long[] last = new long[25];
    try (BufferedMutator nodes = connection.getBufferedMutator(CHAIN)) {
      while (!stop.get()) {
        for (int at = 0; at < last.length; at++) {
          long node = random.nextLong();
          Put put = new Put(Bytes.toBytes(node));
          if (written.size() >= last.length) put.addColumn(F, PREVIOUS, Bytes.toBytes(last[at]));
          else put.addColumn(F, PREVIOUS, new byte[0]);
          nodes.mutate(put);
          written.add(node);
          last[at] = node;
        }
        nodes.flush();
        progress.addAndGet(last.length);
      }
    }
    return written;
  }

  /** Each node that was written is there once, and so is the one that it points at. */
  private void checkChain(Set<Long> written) throws Exception {
    Set<Long> found = new HashSet<>(), named = new HashSet<>();
    long doubled = 0;
    try (Table table = connection.getTable(CHAIN); ResultScanner rows = table.getScanner(new Scan().setCaching(100))) {
      for (Result row : rows) {
        if (!found.add(Bytes.toLong(row.getRow()))) doubled++;
        byte[] previous = row.getValue(F, PREVIOUS);
        if (previous.length > 0 && !named.add(Bytes.toLong(previous))) doubled++;
      }
    }
    long twice = doubled;
    checks.equal("no node twice", 0L, () -> twice);
    checks.equal("all nodes are there", written.size(), found::size);
    checks.equal("and are those", true, () -> found.equals(written));
    named.removeAll(found);
    checks.equal("nodes that are named and missing", 0, named::size);
  }

  /** Writes rows whose cells, in two families, are all alike. */
  private Void alike(AtomicBoolean stop) throws IOException {
    Random random = new Random(3);
    try (Table table = connection.getTable(ALIKE)) {
      for (long value = 0; !stop.get(); value++) {
        Put put = new Put(new byte[] {(byte) random.nextInt(256)});
        for (byte column = 0; column < 20; column++) put.addColumn(column % 2 == 0 ? F : G, new byte[] {column}, Bytes.toBytes(value));
        table.put(put);
      }
    }
    return null;
  }

  /** Reads them, by gets and scans: a row is one write, or is not there. */
  private Void readAlike(AtomicBoolean stop, AtomicLong readings) throws IOException {
    Random random = new Random(4);
    try (Table table = connection.getTable(ALIKE)) {
      while (!stop.get()) {
        checkAlike(table.get(new Get(new byte[] {(byte) random.nextInt(256)})));
        byte[] last = null;
        try (ResultScanner rows = table.getScanner(new Scan())) {
          for (Result row : rows) {
            checkAlike(row);
            if (last != null && Bytes.compareTo(last, row.getRow()) >= 0) throw new IllegalStateException("rows out of order");
            last = row.getRow();
          }
        }
        readings.incrementAndGet();
      }
    }
    return null;
  }

  private static void checkAlike(Result row) {
    if (row.isEmpty()) return;
    Map<Long, Integer> values = new HashMap<>();
    row.listCells().forEach(cell -> values.merge(Bytes.toLong(cell.getValueArray(), cell.getValueOffset()), 1, Integer::sum));
    if (values.size() != 1 || row.size() != 20) throw new IllegalStateException("a row of " + row.size() + " cells with " + values);
  }
}
