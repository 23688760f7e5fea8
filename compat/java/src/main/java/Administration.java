import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.CacheEvictionStats;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ReplicationPeerNotFoundException;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.Size;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.UnknownRegionException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BalanceRequest;
import org.apache.hadoop.hbase.client.ClusterConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Consistency;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Hbck;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.ServerType;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.ThrottleType;
import org.apache.hadoop.hbase.replication.ReplicationPeerConfig;
import org.apache.hadoop.hbase.security.access.GetUserPermissionsRequest;
import org.apache.hadoop.hbase.util.Bytes;

/** What an administrator asks besides tables: Administration REGISTRY HOST:PORT. */
public final class Administration {
  private static final TableName TABLE = TableName.valueOf("administration"), DOTTED = TableName.valueOf("administration.b"),
      LIMITED = TableName.valueOf("limited");
  private static final String TRACKER = "hbase.store.file-tracker.impl";
  private static final byte[] CF = Bytes.toBytes("cf"), Q = Bytes.toBytes("q"), M = Bytes.toBytes("m");

  private final Checks checks = new Checks();

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      new Administration().run(admin, connection);
    }
  }

  private void run(Admin admin, Connection connection) throws Exception {
    for (TableName table : new TableName[] {TABLE, DOTTED, LIMITED}) Cluster.drop(admin, table);
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF));
    admin.createTable(table.build(), new byte[][] {M});
    admin.createTable(TableDescriptorBuilder.newBuilder(DOTTED).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
    switches(admin);
    lists(admin);
    servers(admin);
    replication(admin);
    quotas(admin);
    trackers(admin);
    logs(admin);
    regions(admin, connection);
    metrics(admin, connection);
    repairs(admin, connection);
    limits(admin, connection);
    catalog(admin);
    checks.finish();
  }

  private void switches(Admin admin) {
    checks.equal("the balancer is on", true, admin::isBalancerEnabled);
    checks.equal("the balancer is turned off", true, () -> admin.balancerSwitch(false, true));
    checks.equal("the balancer does not run", false, () -> admin.balance(BalanceRequest.defaultInstance()).isBalancerRan());
    checks.equal("the balancer is turned on", false, () -> admin.balancerSwitch(true, true));
    checks.equal("the normalizer is on", true, admin::isNormalizerEnabled);
    checks.equal("the normalizer runs", true, admin::normalize);
    checks.equal("the normalizer is turned off", true, () -> admin.normalizerSwitch(false));
    checks.equal("the normalizer does not run", false, admin::normalize);
    checks.equal("the normalizer is turned on", false, () -> admin.normalizerSwitch(true));
    checks.equal("the catalog janitor is on", true, admin::isCatalogJanitorEnabled);
    checks.equal("the catalog janitor is turned off", true, () -> admin.catalogJanitorSwitch(false));
    checks.equal("the catalog janitor is turned on", false, () -> admin.catalogJanitorSwitch(true));
    checks.equal("the catalog janitor finds nothing", 0, admin::runCatalogJanitor);
    checks.equal("the cleaner is on", true, admin::isCleanerChoreEnabled);
    checks.equal("the cleaner is run", "done", () -> done(admin::runCleanerChore));
    checks.equal("the cleaner is turned off", true, () -> admin.cleanerChoreSwitch(false));
    checks.equal("the cleaner is run where it is off", "done", () -> done(admin::runCleanerChore));
    checks.equal("the cleaner is turned on", false, () -> admin.cleanerChoreSwitch(true));
    checks.equal("peers may be changed", true, admin::isReplicationPeerModificationEnabled);
    checks.equal("they may not", true, () -> admin.replicationPeerModificationSwitch(false));
    checks.equal("and may again", false, () -> admin.replicationPeerModificationSwitch(true));
    checks.equal("nothing throttles", false, () -> admin.switchRpcThrottle(true));
    checks.equal("nor may it", false, admin::isRpcThrottleEnabled);
    checks.equal("nor be exceeded", false, () -> admin.exceedThrottleQuotaSwitch(true));
    checks.equal("the master's store is flushed", "done", () -> done(admin::flushMasterStore));
  }

  private void lists(Admin admin) {
    checks.equal("tables of no name", "[]", () -> admin.listTableDescriptors(Pattern.compile("")));
    checks.equal("a quoted name", "[administration.b]", () -> List.of(admin.listTableNames(Pattern.compile(Pattern.quote("administration.b")))));
    checks.equal("half a name", "[]", () -> List.of(admin.listTableNames(Pattern.compile("administratio"))));
    checks.equal("a name with its namespace", "[administration]", () -> List.of(admin.listTableNames(Pattern.compile("default:administration"))));
    checks.equal("a name with what is in front", "[administration, administration.b]", () -> List.of(admin.listTableNames(Pattern.compile("(?i)ADMIN.*"))));
    checks.equal("enabled tables are users'", false, () -> admin.listTableNamesByState(true).contains(TableName.META_TABLE_NAME));
    checks.equal("no procedures wait", true, () -> admin.getProcedures() != null);
    checks.equal("no locks are held", "[]", admin::getLocks);
  }

  private void servers(Admin admin) throws Exception {
    ServerName server = admin.getRegionServers().iterator().next();
    ServerName unknown = ServerName.valueOf("nowhere.example", 1, 1);
    checks.equal("no server is decommissioned", "[]", admin::listDecommissionedRegionServers);
    admin.decommissionRegionServers(List.of(server), false);
    checks.equal("one is", List.of(server), admin::listDecommissionedRegionServers);
    admin.decommissionRegionServers(List.of(unknown), false);
    checks.equal("one that is not online is not", List.of(server), admin::listDecommissionedRegionServers);
    admin.recommissionRegionServer(server, Collections.emptyList());
    checks.equal("none is again", "[]", admin::listDecommissionedRegionServers);
    checks.equal("none is dead", "[]", admin::listDeadServers);
    checks.equal("none is unknown", "[]", admin::listUnknownServers);
    checks.equal("one that is not dead is not cleared", List.of(unknown), () -> admin.clearDeadServers(List.of(unknown)));
    checks.equal("the log is rolled", "done", () -> done(() -> admin.rollWALWriter(server)));
    checks.equal("the configuration is read again", "done", () -> done(() -> admin.updateConfiguration(server)));
    checks.equal("queues are cleared", "done", () -> done(() -> admin.clearCompactionQueues(server, Collections.singleton("long"))));
    checks.equal("no files outlive a cache", "[]", () -> admin.getCachedFilesList(server));
  }

  private void replication(Admin admin) {
    checks.equal("no peers", "[]", admin::listReplicationPeers);
    checks.equal("none of a name", "[]", () -> admin.listReplicationPeers(Pattern.compile("x")));
    checks.refused("a peer that is not there", ReplicationPeerNotFoundException.class, "1$", () -> admin.getReplicationPeerConfig("1"));
    checks.refused("is not removed", ReplicationPeerNotFoundException.class, "1$", () -> done(() -> admin.removeReplicationPeer("1")));
    checks.refused("nor enabled", ReplicationPeerNotFoundException.class, "1$", () -> done(() -> admin.enableReplicationPeer("1")));
    checks.refused("nor disabled", ReplicationPeerNotFoundException.class, "1$", () -> done(() -> admin.disableReplicationPeer("1")));
    checks.refused("nor changed", DoNotRetryIOException.class, "(Can't get peerClusterId|is not supported)",
        () -> done(() -> admin.updateReplicationPeerConfig("1", ReplicationPeerConfig.newBuilder().setClusterKey("h:2181:/b").build())));
  }

  private void quotas(Admin admin) throws Exception {
    checks.refused("a throttle", DoNotRetryIOException.class, "quota support disabled",
        () -> done(() -> admin.setQuota(QuotaSettingsFactory.throttleTable(TABLE, ThrottleType.REQUEST_NUMBER, 1, java.util.concurrent.TimeUnit.SECONDS))));
    checks.equal("no sizes of space", "{}", admin::getSpaceQuotaTableSizes);
    checks.equal("no quotas of space", "{}", () -> admin.getRegionServerSpaceQuotaSnapshots(admin.getRegionServers().iterator().next()));
    NamespaceDescriptor.Builder namespace = NamespaceDescriptor.create("quotas").addConfiguration("hbase.namespace.quota.maxtables", "0");
    if (List.of(admin.listNamespaces()).contains("quotas")) admin.deleteNamespace("quotas");
    checks.refused("no tables at all", DoNotRetryIOException.class, "constraint.ConstraintException",
        () -> done(() -> admin.createNamespace(namespace.build())));
    admin.createNamespace(namespace.addConfiguration("hbase.namespace.quota.maxtables", "5").build());
    checks.equal("five tables", "5", () -> admin.getNamespaceDescriptor("quotas").getConfigurationValue("hbase.namespace.quota.maxtables"));
    admin.deleteNamespace("quotas");
    String disabled = "AccessController is not loaded";
    checks.refused("permissions", DoNotRetryIOException.class, disabled, () -> admin.getUserPermissions(GetUserPermissionsRequest.newBuilder().build()));
    checks.refused("permissions of a user", DoNotRetryIOException.class, disabled, () -> admin.hasUserPermissions("u", Collections.emptyList()));
  }

  private void trackers(Admin admin) throws Exception {
    admin.modifyTableStoreFileTrackerAsync(TABLE, "FILE").get();
    checks.equal("a table's tracker", "FILE", () -> admin.getDescriptor(TABLE).getValue(TRACKER));
    admin.modifyColumnFamilyStoreFileTrackerAsync(DOTTED, CF, "FILE").get();
    checks.equal("a family's tracker", "FILE", () -> admin.getDescriptor(DOTTED).getColumnFamily(CF).getConfigurationValue(TRACKER));
    checks.refused("no migration", DoNotRetryIOException.class, "Do not need to transfer to MIGRATION", () -> done(() -> admin.modifyTableStoreFileTracker(TABLE, "MIGRATION")));
  }

  private void logs(Admin admin) throws Exception {
    ServerName server = admin.getRegionServers().iterator().next();
    checks.equal("no balancer decisions", "[]", () -> admin.getLogEntries(null, "BALANCER_DECISION", ServerType.MASTER, 10, null));
    checks.equal("no balancer rejections", "[]", () -> admin.getLogEntries(null, "BALANCER_REJECTION", ServerType.MASTER, 10, null));
    // Programs that ran before this one may have left entries.
    checks.equal("one log to clear", 1, () -> admin.clearSlowLogResponses(Collections.singleton(server)).size());
    checks.equal("no slow calls", "[]", () -> admin.getLogEntries(Collections.singleton(server), "SLOW_LOG", ServerType.REGION_SERVER, 10, null));
    checks.equal("no large answers", "[]", () -> admin.getLogEntries(Collections.singleton(server), "LARGE_LOG", ServerType.REGION_SERVER, 10, null));
  }

  private void regions(Admin admin, Connection connection) throws Exception {
    RegionInfo first = admin.getRegions(TABLE).get(0);
    try (Table table = connection.getTable(TABLE)) {
      table.put(new Put(Bytes.toBytes("a")).addColumn(CF, Q, Q));
      table.put(new Put(Bytes.toBytes("z")).addColumn(CF, Q, Q));
      checks.equal("a timeline get", "false q", () -> {
        var result = table.get(new Get(Bytes.toBytes("a")).setConsistency(Consistency.TIMELINE));
        return result.isStale() + " " + Bytes.toString(result.value());
      });
      checks.equal("a timeline scan", "a z", () -> Checks.rows(table, new Scan().setConsistency(Consistency.TIMELINE)));
      admin.flush(TABLE);
      checks.equal("no major compaction yet", 0L, () -> admin.getLastMajorCompactionTimestamp(TABLE));
      checks.equal("nor of a region", 0L, () -> admin.getLastMajorCompactionTimestampForRegion(first.getRegionName()));
      Map<ServerName, Boolean> before = admin.compactionSwitch(false, Collections.emptyList());
      checks.equal("compactions were on", "[true]", before::values);
      checks.equal("and are off", "[false]", () -> admin.compactionSwitch(true, Collections.emptyList()).values());
      admin.majorCompact(TABLE);
      checks.equal("a major compaction", true, () -> waitFor(() -> admin.getLastMajorCompactionTimestamp(TABLE) > 0));
      checks.equal("of the region too", true, () -> admin.getLastMajorCompactionTimestampForRegion(first.getRegionName()) > 0);
      checks.equal("rows are read", "a z", () -> Checks.rows(table, new Scan()));
      CacheEvictionStats evicted = admin.clearBlockCache(TABLE);
      checks.equal("blocks go from the cache", true, () -> evicted.getEvictedBlocks() > 0 && evicted.getMaxCacheSize() > 0);
      checks.equal("of all regions", 0, evicted::getExceptionCount);
      checks.equal("and none is left", 0L, () -> admin.clearBlockCache(TABLE).getEvictedBlocks());
      admin.truncateRegion(first.getRegionName());
      checks.equal("a truncated region is empty", "z", () -> Checks.rows(table, new Scan()));
      checks.equal("and is the same", true, () -> admin.getRegions(TABLE).contains(first));
      table.put(new Put(Bytes.toBytes("b")).addColumn(CF, Q, Q));
      checks.equal("and is written to", "b z", () -> Checks.rows(table, new Scan()));
    }
  }

  private void metrics(Admin admin, Connection connection) throws Exception {
    admin.flush(TABLE);
    try (Table table = connection.getTable(TABLE)) {
      Checks.rows(table, new Scan().setFilter(new PrefixFilter(Bytes.toBytes("n"))));
    }
    RegionInfo first = admin.getRegions(TABLE).get(0);
    ServerName server = admin.getRegionServers().iterator().next();
    RegionMetrics region = null;
    for (RegionMetrics each : admin.getRegionMetrics(server, TABLE)) {
      if (Bytes.equals(each.getRegionName(), first.getRegionName())) region = each;
    }
    RegionMetrics found = region;
    checks.equal("stores and files", "1 1", () -> found.getStoreCount() + " " + found.getStoreFileCount());
    checks.equal("no size is rounded to nothing", "1.0 1.0", () -> megabytes(found.getStoreFileSize()) + " " + megabytes(found.getUncompressedStoreFileSize()));
    checks.equal("nothing in memory", "0.0", () -> megabytes(found.getMemStoreSize()));
    checks.equal("requests", true, () -> found.getWriteRequestCount() > 0 && found.getReadRequestCount() > 0);
    checks.equal("all is local", "1.0", found::getDataLocality);
    ClusterMetrics cluster = admin.getClusterMetrics(EnumSet.of(ClusterMetrics.Option.LIVE_SERVERS, ClusterMetrics.Option.TASKS));
    ServerMetrics load = cluster.getLiveServerMetrics().get(server);
    checks.equal("a server's requests and memory", true, () -> load.getRequestCount() > 0 && megabytes(load.getMaxHeapSize()) > megabytes(load.getUsedHeapSize()));
    checks.equal("its tasks", true, () -> load.getTasks() != null);
  }

  private void repairs(Admin admin, Connection connection) throws Exception {
    RegionInfo first = admin.getRegions(TABLE).get(0);
    try (Hbck hbck = ((ClusterConnection) connection).getHbck()) {
      checks.equal("the chore runs", true, hbck::runHbckChore);
      checks.equal("meta needs no repair", "done", () -> done(hbck::fixMeta));
      checks.equal("a region that is served is not assigned", "[-1]", () -> hbck.assigns(List.of(first.getEncodedName())));
      checks.equal("procedures that are not there are not bypassed", "[false]", () -> hbck.bypassProcedure(List.of(987654321L), 1, false, false));
      checks.equal("no unknown servers", "[]", hbck::scheduleSCPsForUnknownServers);
    }
  }

  private void limits(Admin admin, Connection connection) throws Exception {
    TableDescriptorBuilder limited = TableDescriptorBuilder.newBuilder(LIMITED).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF));
    admin.createTable(limited.setValue("hbase.server.keyvalue.maxsize", "100").build());
    try (Table table = connection.getTable(LIMITED)) {
      byte[] row = Bytes.toBytes("a");
      // The key and value, their lengths and four bytes more make 100.
      table.put(new Put(row).addColumn(CF, Q, new byte[72]));
      checks.refused("a cell that is too large", DoNotRetryIOException.class, "Cell\\[a/cf:q/LATEST_TIMESTAMP/Put/vlen=73/seqid=0\\] with size 101 exceeds limit of 100 bytes",
          () -> done(() -> table.put(new Put(row).addColumn(CF, Q, new byte[73]))));
      checks.refused("one that grows too large", DoNotRetryIOException.class, "Cell with size 101 exceeds limit of 100 bytes",
          () -> table.append(new org.apache.hadoop.hbase.client.Append(row).addColumn(CF, Q, new byte[1])));
    }
    Cluster.drop(admin, LIMITED);
  }

  private void catalog(Admin admin) {
    TableDescriptor meta = TableDescriptorBuilder.newBuilder(TableName.META_TABLE_NAME).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build();
    checks.refused("another hbase:meta", TableExistsException.class, "hbase:meta", () -> done(() -> admin.createTable(meta)));
    checks.refused("no hbase:meta", DoNotRetryIOException.class, "constraint.ConstraintException", () -> done(() -> admin.disableTable(TableName.META_TABLE_NAME)));
    checks.refused("a region that is not there", UnknownRegionException.class, "", () -> done(() -> admin.offline(Bytes.toBytes("no,,1.0123456789abcdef0123456789abcdef."))));
  }

  private static double megabytes(Size size) {
    return size.get(Size.Unit.MEGABYTE);
  }

  private interface Doing {
    void run() throws Exception;
  }

  private static String done(Doing what) throws Exception {
    what.run();
    return "done";
  }

  private interface Question {
    boolean ask() throws Exception;
  }

  private static boolean waitFor(Question question) throws Exception {
    for (int tries = 0; tries < 600; tries++) {
      if (question.ask()) return true;
      Thread.sleep(50);
    }
    return false;
  }
}
