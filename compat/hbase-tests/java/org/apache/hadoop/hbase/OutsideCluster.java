package org.apache.hadoop.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.master.MasterFileSystem;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;
import org.mockito.stubbing.Answer;
import rowhouse.NeedsMiniCluster;

/**
 * A mini-cluster and its parts as far as they can be had from outside, by a client. Every other
 * method throws {@link NeedsMiniCluster}.
 */
final class OutsideCluster {
  private final HBaseTestingUtility utility;

  OutsideCluster(HBaseTestingUtility utility) {
    this.utility = utility;
  }

  MiniHBaseCluster cluster() {
    return part(MiniHBaseCluster.class, call -> {
      switch (call.getMethod().getName()) {
        case "isDistributedCluster":
        case "waitForActiveAndReadyMaster":
          return true;
        case "isKilledRS":
          return false;
        case "getConf":
        case "getConfiguration":
          return utility.getConfiguration();
        case "getClusterMetrics":
        case "getInitialClusterMetrics":
          return admin().getClusterMetrics();
        case "getNumLiveRegionServers":
          return 1;
        case "getServerHoldingMeta":
          return admin().getMaster(); // One server is all of them.
        case "getMaster":
          return call.getArguments().length == 0 ? master() : needed(call);
        case "getRegions":
          return regions(call.getArgument(0) instanceof TableName ? call.getArgument(0) : TableName.valueOf((byte[]) call.getArgument(0)));
        case "flushcache":
          if (call.getArguments().length == 1) utility.flush((TableName) call.getArgument(0)); else utility.flush();
          return null;
        case "compact":
          if (call.getArguments().length == 2) utility.compact((TableName) call.getArgument(0), (boolean) call.getArgument(1));
          else utility.compact((boolean) call.getArgument(0));
          return null;
        case "close":
        case "shutdown":
          utility.shutdownMiniHBaseCluster();
          return null;
        default:
          return needed(call);
      }
    });
  }

  /** The server of a table's regions. */
  HRegionServer server() {
    return part(HRegionServer.class, call -> {
      if (call.getMethod().getName().equals("getRegions") && Arrays.stream(call.getArguments()).allMatch(TableName.class::isInstance) && call.getArguments().length == 1) {
        return regions(call.getArgument(0));
      }
      return needed(call);
    });
  }

  private HMaster master() {
    return part(HMaster.class, call -> {
      switch (call.getMethod().getName()) {
        case "getServerName":
          return admin().getMaster();
        case "getMasterFileSystem":
          return files();
        case "isInitialized":
        case "isActiveMaster":
          return true;
        default:
          return needed(call);
      }
    });
  }

  /** The server's files. Tests delete some when they end; the server removes its files itself. */
  private MasterFileSystem files() {
    FileSystem fileSystem = part(FileSystem.class, call -> call.getMethod().getName().equals("delete") ? true : needed(call));
    return part(MasterFileSystem.class, call -> {
      switch (call.getMethod().getName()) {
        case "getFileSystem":
          return fileSystem;
        case "getRootDir":
          return new Path("/served");
        default:
          return needed(call);
      }
    });
  }

  private List<HRegion> regions(TableName table) throws IOException {
    List<HRegion> regions = new ArrayList<>();
    for (RegionInfo info : admin().getRegions(table)) regions.add(region(info));
    return regions;
  }

  private HRegion region(RegionInfo info) {
    return part(HRegion.class, call -> {
      switch (call.getMethod().getName()) {
        case "getRegionInfo":
          return info;
        case "getTableDescriptor":
          return admin().getDescriptor(info.getTable());
        case "waitForFlushesAndCompactions":
          return null; // The server answers when a flush is over.
        default:
          return needed(call);
      }
    });
  }

  private Admin admin() throws IOException {
    return utility.getAdmin();
  }

  private static <T> T part(Class<T> type, Answer<?> answer) {
    return Mockito.mock(type, Mockito.withSettings().stubOnly().defaultAnswer(call -> {
      switch (call.getMethod().getName()) {
        case "toString":
          return "an outside " + type.getSimpleName();
        case "hashCode":
          return System.identityHashCode(call.getMock());
        case "equals":
          return call.getMock() == call.getArgument(0);
        default:
          return answer.answer(call);
      }
    }));
  }

  private static Object needed(InvocationOnMock call) {
    throw new NeedsMiniCluster(call.getMethod().getDeclaringClass().getSimpleName() + "." + call.getMethod().getName());
  }
}
