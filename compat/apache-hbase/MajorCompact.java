import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** MajorCompact TABLE: has each family of each region be one file, and disables the table, so that no other file is left in its folders. */
public final class MajorCompact {
  public static void main(String[] args) throws Exception {
    TableName table = TableName.valueOf(args[0]);
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create()); Admin admin = connection.getAdmin()) {
      admin.majorCompact(table);
      for (int tries = 0; !isMerged(admin, table); tries++) {
        if (tries == 200) throw new IllegalStateException("not merged after 60 s");
        Thread.sleep(300);
      }
      admin.disableTable(table);
    }
  }

  private static boolean isMerged(Admin admin, TableName table) throws Exception {
    for (ServerName server : admin.getRegionServers()) {
      for (RegionMetrics region : admin.getRegionMetrics(server, table)) {
        if (region.getStoreFileCount() > region.getStoreCount()) return false;
      }
    }
    return true;
  }
}
