import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** How a program finds the cluster: the first two arguments of every program here, REGISTRY and HOST:PORT. */
final class Cluster {
  private Cluster() {}

  /**
   * Nothing is set but what the registry needs: everything else is the stock client's default, or what the file says that
   * the property hbase.site names.
   */
  static Configuration configuration(String registry, String address) {
    Configuration conf = HBaseConfiguration.create();
    String site = System.getProperty("hbase.site");
    if (site != null) conf.addResource(new Path(site));
    String host = address.substring(0, address.lastIndexOf(':'));
    String port = address.substring(address.lastIndexOf(':') + 1);
    switch (registry) {
      case "zk" -> {
        conf.set("hbase.zookeeper.quorum", host);
        conf.set("hbase.zookeeper.property.clientPort", port);
      }
      case "rpc" -> {
        conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
        conf.set("hbase.client.bootstrap.servers", address);
      }
      case "master" -> {
        conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.MasterRegistry");
        conf.set("hbase.masters", address);
      }
      default -> throw new IllegalArgumentException("registry is zk, rpc or master: got " + registry);
    }
    return conf;
  }

  static Connection connect(String[] args) throws IOException {
    if (args.length < 2) {
      System.err.println("usage: PROGRAM zk|rpc|master HOST:PORT [ARGS]");
      System.exit(2);
    }
    return ConnectionFactory.createConnection(configuration(args[0], args[1]));
  }

  static void drop(Admin admin, TableName table) throws IOException {
    if (!admin.tableExists(table)) return;
    if (admin.isTableEnabled(table)) admin.disableTable(table);
    admin.deleteTable(table);
  }
}
