import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;

/** Writes the memstores of every enabled user table to files: Flush REGISTRY HOST:PORT. */
public final class Flush {
  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      for (TableName table : admin.listTableNames()) {
        if (!admin.isTableEnabled(table)) continue;
        admin.flush(table);
        System.out.println("ok flushed " + table);
      }
    }
  }
}
