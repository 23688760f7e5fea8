import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Milliseconds from here to the first create, put and get answered: FirstPut REGISTRY HOST:PORT [SECONDS_MAX].
 *
 * <p>Start it together with the server. It knocks at the port until something listens, and then tries until all three
 * are answered; what it prints is comparable between servers, not absolute: the client's own start is part of it.
 */
public final class FirstPut {
  private static final TableName TABLE = TableName.valueOf("first_put");
  private static final byte[] CF = Bytes.toBytes("cf");

  public static void main(String[] args) throws Exception {
    long start = System.nanoTime();
    long deadline = start + (args.length > 2 ? Long.parseLong(args[2]) : 120) * 1_000_000_000L;
    IOException last = null;
    while (System.nanoTime() < deadline) {
      try {
        knock(args[1]);
        long listening = System.nanoTime();
        createPutGet(args);
        System.out.println("first put after " + (System.nanoTime() - start) / 1_000_000 + " ms, listening after "
            + (listening - start) / 1_000_000 + " ms");
        System.exit(0);
      } catch (IOException e) {
        last = e;
        Thread.sleep(10);
      }
    }
    System.err.println("FAIL FirstPut: " + last);
    System.exit(1);
  }

  private static void knock(String address) throws IOException {
    int colon = address.lastIndexOf(':');
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))), 1000);
    }
  }

  private static void createPutGet(String[] args) throws IOException {
    try (Connection connection = ConnectionFactory.createConnection(Cluster.configuration(args[0], args[1]));
        Admin admin = connection.getAdmin();
        Table table = connection.getTable(TABLE)) {
      Cluster.drop(admin, TABLE);
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
      table.put(new Put(CF).addColumn(CF, CF, CF));
      if (table.get(new Get(CF)).isEmpty()) throw new IOException("the put was not there to get");
    }
  }
}
