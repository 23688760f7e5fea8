package org.apache.hadoop.hbase;

import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.AsyncAdmin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import rowhouse.NeedsMiniCluster;
import rowhouse.ServedCluster;

/**
 * HBase's utility of the same name, with a rowhouse server where that starts a cluster inside the
 * JVM. Whatever needs the inside of such a cluster throws {@link NeedsMiniCluster}.
 */
public class HBaseTestingUtility extends OriginalTestingUtility {
  private static final String[] COPROCESSOR_KEYS = {
    "hbase.coprocessor.region.classes", "hbase.coprocessor.user.region.classes", "hbase.coprocessor.master.classes",
    "hbase.coprocessor.regionserver.classes", "hbase.coprocessor.wal.classes",
  };
  private static final Set<String> BUILT_IN = Set.of(
    "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint",
    "org.apache.hadoop.hbase.coprocessor.AggregateImplementation");
  private static final String WITHOUT_EFFECT = "org.apache.hadoop.hbase.regionserver.NoOpScanPolicyObserver";

  /** Classes that the servers of HBase are made of. */
  private static final String[] SERVER_KEYS = {"hbase.hregion.impl", "hbase.regionserver.impl", "hbase.master.impl", "hbase.regionserver.hlog.writer.impl"};

  private ServedCluster served;
  private MiniHBaseCluster cluster;

  public HBaseTestingUtility() {
    this(HBaseConfiguration.create());
  }

  public HBaseTestingUtility(Configuration conf) {
    super(conf);
  }

  @Override
  public MiniHBaseCluster startMiniCluster(StartMiniClusterOption option) throws Exception {
    return startMiniHBaseCluster(option);
  }

  @Override
  public MiniHBaseCluster startMiniHBaseCluster(StartMiniClusterOption option) throws IOException, InterruptedException {
    if (served != null && served.isRunning()) throw new IllegalStateException("A mini-cluster is already running");
    if (option.getMasterClass() != null) throw new NeedsMiniCluster("a master of class " + option.getMasterClass().getName());
    if (option.getRsClass() != null) throw new NeedsMiniCluster("region servers of class " + option.getRsClass().getName());
    for (String key : COPROCESSOR_KEYS) {
      for (String name : conf.getTrimmedStrings(key)) {
        if (!BUILT_IN.contains(name) && !name.equals(WITHOUT_EFFECT)) throw new NeedsMiniCluster("coprocessor " + name);
      }
    }
    for (String key : SERVER_KEYS) {
      if (NeedsMiniCluster.isOfTests(conf.get(key))) throw new NeedsMiniCluster(conf.get(key));
    }
    if (served == null) served = new ServedCluster(conf); // Otherwise it was stopped, and has its data.
    served.start(conf);
    cluster = new OutsideCluster(this).cluster();
    setHBaseCluster(cluster);
    return cluster;
  }

  @Override
  public void restartHBaseCluster(StartMiniClusterOption option) throws IOException, InterruptedException {
    closeConnection();
    served.stop();
    served.start(conf);
  }

  @Override
  public void shutdownMiniHBaseCluster() throws IOException {
    closeAll();
    if (served != null) served.stop();
  }

  @Override
  public void killMiniHBaseCluster() throws IOException {
    closeAll();
    if (served != null) served.kill();
  }

  @Override
  public void shutdownMiniCluster() throws IOException {
    closeAll();
    if (served != null) served.remove();
    served = null;
    cluster = null;
    setHBaseCluster(null);
  }

  private void closeAll() throws IOException {
    closeConnection();
    if (zooKeeperWatcher != null) zooKeeperWatcher.close();
    zooKeeperWatcher = null;
  }

  @Override
  public void invalidateConnection() throws IOException {
    closeConnection();
  }

  /** Each table declares the coprocessors of all regions: the server has no others. */
  @Override
  public Table createTable(TableDescriptor table, byte[][] families, byte[][] splitKeys, BloomType bloom, int blockSize, Configuration c)
    throws IOException {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(table);
    for (String name : conf.getTrimmedStrings("hbase.coprocessor.region.classes")) {
      if (BUILT_IN.contains(name) && !table.hasCoprocessor(name)) builder.setCoprocessor(name);
    }
    return super.createTable(builder.build(), families, splitKeys, bloom, blockSize, c);
  }

  @Override
  public void flush() throws IOException {
    for (TableName table : getAdmin().listTableNames()) flush(table);
  }

  @Override
  public void flush(TableName table) throws IOException {
    getAdmin().flush(table);
  }

  @Override
  public void compact(boolean major) throws IOException {
    for (TableName table : getAdmin().listTableNames()) compact(table, major);
  }

  /** Returns when the table is compacted, as it does on a mini-cluster. */
  @Override
  public void compact(TableName table, boolean major) throws IOException {
    Admin admin = getAdmin();
    if (major) admin.majorCompact(table); else admin.compact(table);
    waitFor(60_000, () -> admin.getCompactionState(table) == CompactionState.NONE);
  }

  @Override
  public Waiter.ExplainingPredicate<IOException> predicateNoRegionsInTransition() {
    return new Waiter.ExplainingPredicate<>() {
      @Override
      public boolean evaluate() throws IOException {
        return inTransition().isEmpty();
      }

      @Override
      public String explainFailure() throws IOException {
        return "regions in transition: " + inTransition();
      }

      private List<?> inTransition() throws IOException {
        return getAdmin().getClusterMetrics(EnumSet.of(ClusterMetrics.Option.REGIONS_IN_TRANSITION)).getRegionStatesInTransition();
      }
    };
  }

  @Override
  public HRegionServer getRSForFirstRegionInTable(TableName table) {
    return new OutsideCluster(this).server();
  }

  /** No server is started beside the one. */
  @Override
  public boolean ensureSomeRegionServersAvailable(int wanted) {
    return false;
  }

  @Override
  public boolean ensureSomeNonStoppedRegionServersAvailable(int wanted) {
    return false;
  }

  /** The directory of the servers, where tests look for files. */
  @Override
  public Path getDefaultRootDirPath(boolean create) {
    throw new NeedsMiniCluster("HBase's directory");
  }

  public static void setReplicas(Admin admin, TableName table, int replicas) {
    throw new NeedsMiniCluster("region replicas");
  }

  public static void setReplicas(AsyncAdmin admin, TableName table, int replicas) {
    throw new NeedsMiniCluster("region replicas");
  }

  @Override
  public MiniDFSCluster startMiniDFSCluster(int servers, String[] racks, String[] hosts) {
    throw new NeedsMiniCluster("HDFS");
  }

  @Override
  public MiniDFSCluster startMiniDFSCluster(int servers, String[] hosts) {
    throw new NeedsMiniCluster("HDFS");
  }

  @Override
  public MiniDFSCluster getDFSCluster() {
    throw new NeedsMiniCluster("HDFS");
  }

  @Override
  public MiniZooKeeperCluster startMiniZKCluster(int servers, int... ports) {
    throw new NeedsMiniCluster("a ZooKeeper without HBase: " + servers + " servers on ports " + Arrays.toString(ports));
  }

  @Override
  public MiniZooKeeperCluster getZkCluster() {
    throw new NeedsMiniCluster("ZooKeeper");
  }
}
