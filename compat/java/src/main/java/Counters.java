import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Increments 100 counters by several threads, in an ordinary or a buffered family: Counters REGISTRY HOST:PORT PERIOD|- COUNT THREADS. */
public final class Counters {
  public static void main(String[] args) throws Exception {
    boolean buffered = !args[2].equals("-");
    int count = Integer.parseInt(args[3]);
    int threads = Integer.parseInt(args[4]);
    TableName name = TableName.valueOf(buffered ? "counters-buffered" : "counters");
    try (Connection connection = Cluster.connect(new String[] {args[0], args[1]}); Admin admin = connection.getAdmin()) {
      Cluster.drop(admin, name);
      ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes("n"));
      if (buffered) family.setValue("BUFFERED", args[2]);
      admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(family.build()).build());
      long began = System.nanoTime();
      List<Thread> running = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int first = thread;
        Thread one = new Thread(() -> {
          try (Table table = connection.getTable(name)) {
            for (int n = first; n < count; n += threads) {
              table.increment(new Increment(Bytes.toBytes(String.valueOf(n % 100))).addColumn(Bytes.toBytes("n"), Bytes.toBytes("c"), 1));
            }
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
        one.start();
        running.add(one);
      }
      for (Thread one : running) one.join();
      System.out.printf("%s: %d increments in %.1f s%n", name, count, (System.nanoTime() - began) / 1e9);
      long sum = 0;
      try (Table table = connection.getTable(name)) {
        for (int n = 0; n < 100; n++) sum += Bytes.toLong(table.get(new Get(Bytes.toBytes(String.valueOf(n)))).value());
      }
      if (sum != count) throw new IllegalStateException("the counters have " + sum);
    }
    System.exit(0);
  }
}
