import java.util.Objects;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.util.Bytes;

/** What both tours share: one line of output for each step, the same in every release of the client. */
final class Steps {
  private Steps() {}

  /** The stock client's defaults, and where the cluster is. */
  static Configuration configuration(String registry, String address) {
    Configuration conf = HBaseConfiguration.create();
    int colon = address.lastIndexOf(':');
    switch (registry) {
      case "zk" -> {
        conf.set("hbase.client.registry.impl", zooKeeperRegistry());
        conf.set("hbase.zookeeper.quorum", address.substring(0, colon));
        conf.set("hbase.zookeeper.property.clientPort", address.substring(colon + 1));
      }
      case "rpc" -> {
        conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
        conf.set("hbase.client.bootstrap.servers", address);
      }
      case "master" -> {
        conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.MasterRegistry");
        conf.set("hbase.masters", address);
      }
      case "default" -> conf.set("hbase.masters", address); // what 3.0 chooses by itself
      default -> throw new IllegalArgumentException("registry is zk, rpc, master or default: got " + registry);
    }
    return conf;
  }

  /** It is not the default of 3.0, and its class has had three names. */
  private static String zooKeeperRegistry() {
    for (String name : new String[] {"ZKConnectionRegistry", "ZKAsyncRegistry", "ZooKeeperRegistry"}) {
      try {
        return Class.forName("org.apache.hadoop.hbase.client." + name, false, Steps.class.getClassLoader()).getName();
      } catch (ClassNotFoundException e) {
        // the name of another release
      }
    }
    throw new IllegalStateException("this client has no ZooKeeper registry");
  }

  /** Prints the step and its answer, or the class of the exception that it throws. */
  static void step(String name, Callable<?> step) {
    Object answer;
    try {
      answer = step.call();
    } catch (Exception e) {
      answer = "throws " + e.getClass().getSimpleName();
      if (Boolean.getBoolean("trace")) e.printStackTrace();
    }
    System.out.println(name + ": " + Objects.toString(answer));
  }

  /** Waits until the answer is the expected one, for at most a minute, and returns the last answer. */
  static Object eventually(Object expected, Callable<?> ask) throws Exception {
    Object answer = null;
    for (int i = 0; i < 600; i++) {
      answer = ask.call();
      if (expected.equals(answer)) break;
      Thread.sleep(100);
    }
    return answer;
  }

  /** {@code row cf:q=value …}; numbers of eight bytes as binary strings, times only where a client has chosen them. */
  static String show(Result result) {
    if (result == null) return "none";
    if (result.isEmpty()) return "empty";
    StringBuilder text = new StringBuilder(Bytes.toStringBinary(result.getRow()));
    for (Cell cell : result.rawCells()) {
      text.append(' ').append(Bytes.toStringBinary(CellUtil.cloneFamily(cell))).append(':')
          .append(Bytes.toStringBinary(CellUtil.cloneQualifier(cell)));
      if (cell.getTimestamp() < 1_000_000_000_000L) text.append('@').append(cell.getTimestamp());
      text.append('=').append(Bytes.toStringBinary(CellUtil.cloneValue(cell)));
    }
    return text.toString();
  }

  static String show(Object[] results) {
    StringBuilder text = new StringBuilder();
    for (Object result : results) {
      text.append(text.length() == 0 ? "" : " | ")
          .append(result instanceof Result ? show((Result) result) : result == null ? "null" : "refused"); // releases wrap exceptions differently
    }
    return text.toString();
  }

  static String show(ResultScanner scanner) throws Exception {
    try (ResultScanner closing = scanner) {
      StringBuilder text = new StringBuilder();
      for (Result result; (result = closing.next()) != null; ) text.append(text.length() == 0 ? "" : " | ").append(show(result));
      return text.toString();
    }
  }

  static int count(ResultScanner scanner) throws Exception {
    try (ResultScanner closing = scanner) {
      int rows = 0;
      while (closing.next() != null) rows++;
      return rows;
    }
  }
}
