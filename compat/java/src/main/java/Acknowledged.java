import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * What was acknowledged survives: Acknowledged REGISTRY HOST:PORT write|verify FILE.
 *
 * <p>{@code write} puts one row after another and counts them with an increment, noting in FILE how many of each were
 * acknowledged, until the server is killed under it. {@code verify} expects those, and at most the one in flight more.
 */
public final class Acknowledged {
  private static final TableName TABLE = TableName.valueOf("acknowledged");
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] COUNT = Bytes.toBytes("count"); // sorts after the rows, which are decimal numbers

  public static void main(String[] args) throws Exception {
    Configuration conf = Cluster.configuration(args[0], args[1]);
    Path file = Path.of(args[3]);
    if (args[2].equals("write")) {
      write(conf, file);
    } else {
      verify(conf, file);
    }
  }

  private static void write(Configuration conf, Path file) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      Cluster.drop(admin, TABLE);
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
    }
    conf.setInt("hbase.client.retries.number", 0); // the first failure is the end of the writing
    long rows = 0, counted = 0;
    long deadline = System.nanoTime() + 60_000_000_000L;
    try (Connection connection = ConnectionFactory.createConnection(conf); Table table = connection.getTable(TABLE)) {
      while (System.nanoTime() < deadline) {
        table.put(new Put(row(rows)).addColumn(CF, Q, Bytes.toBytes(rows)));
        note(file, ++rows, counted);
        table.incrementColumnValue(COUNT, CF, Q, 1);
        note(file, rows, ++counted);
      }
    } catch (IOException e) {
      System.out.println("ok " + rows + " puts and " + counted + " increments acknowledged before the server was gone");
      System.exit(0); // without waiting for a server that is not there
    }
    System.err.println("FAIL Acknowledged: the server was not killed");
    System.exit(1);
  }

  private static void verify(Configuration conf, Path file) throws Exception {
    String[] noted = Files.readString(file).trim().split(" ");
    long rows = Long.parseLong(noted[0]), counted = Long.parseLong(noted[1]);
    Checks checks = new Checks();
    try (Connection connection = ConnectionFactory.createConnection(conf); Table table = connection.getTable(TABLE)) {
      checks.equal("something was acknowledged", true, () -> rows > 100 && counted > 100);
      long found = 0;
      try (ResultScanner scanner = table.getScanner(new Scan().withStopRow(COUNT))) {
        for (Result result; (result = scanner.next()) != null; found++) {
          if (!Bytes.equals(result.getRow(), row(found)) || Bytes.toLong(result.value()) != found) {
            long expected = found;
            checks.equal("row " + expected, expected, () -> "another");
            break;
          }
        }
      }
      long read = found;
      checks.equal(rows + " rows acknowledged, " + read + " found", true, () -> read == rows || read == rows + 1);
      long count = Bytes.toLong(table.get(new Get(COUNT)).value());
      checks.equal(counted + " increments acknowledged, " + count + " found", true, () -> count == counted || count == counted + 1);
    }
    checks.finish();
  }

  /** One write of always the same length, so that whoever reads the file sees one state of it. */
  private static void note(Path file, long rows, long counted) throws IOException {
    byte[] line = String.format("%012d %012d%n", rows, counted).getBytes();
    try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
      out.write(line);
    }
  }

  private static byte[] row(long number) {
    return Bytes.toBytes(String.format("%010d", number));
  }
}
