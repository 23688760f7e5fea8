import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.Size;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.metrics.ScanMetrics;
import org.apache.hadoop.hbase.util.Bytes;

/** The server under measurement: its tables, the CPU time of its process, and the size of its files. */
final class Bench {
  private static final int ROUNDS = 3, MICROSECONDS_PER_TICK = 10_000;

  final String server;
  final Connection connection;
  final Admin admin;
  private final Path stat;
  /** The root directory of Apache HBase, or the web address of rowhouse, which reports the bytes of its files by table. */
  private final String files;

  Bench(String server, Connection connection, String pid, String files) throws IOException {
    this.server = server;
    this.connection = connection;
    this.admin = connection.getAdmin();
    this.stat = Path.of("/proc", pid, "stat");
    this.files = files;
  }

  interface Work {
    void run() throws Exception;
  }

  void report(int claim, String name, String measure, double value) {
    String text = value == Math.rint(value) ? Long.toString((long) value) : String.format("%.1f", value);
    System.out.printf("%d\t%s\t%s\t%s\t%s%n", claim, name, server, measure, text);
  }

  TableName create(String name, UnaryOperator<ColumnFamilyDescriptorBuilder> family, List<String> families, String... splits) throws IOException {
    TableName table = TableName.valueOf(name);
    Cluster.drop(admin, table);
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(table).setCompactionEnabled(false);
    for (String of : families) builder.setColumnFamily(family.apply(ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(of))).build());
    byte[][] rows = Arrays.stream(splits).map(Bytes::toBytes).toArray(byte[][]::new);
    if (rows.length == 0) admin.createTable(builder.build());
    else admin.createTable(builder.build(), rows);
    return table;
  }

  TableName create(String name, String... splits) throws IOException {
    return create(name, UnaryOperator.identity(), List.of("f"), splits);
  }

  /** Writes with the client's buffer. */
  void write(TableName table, long count, LongFunction<Mutation> mutation) throws IOException {
    try (BufferedMutator writer = connection.getBufferedMutator(table)) {
      for (long nth = 0; nth < count; nth++) writer.mutate(mutation.apply(nth));
    }
  }

  /** Writes everything to one file for each family and region. */
  void settle(TableName table) throws Exception {
    admin.flush(table);
    admin.modifyTable(TableDescriptorBuilder.newBuilder(admin.getDescriptor(table)).setCompactionEnabled(true).build());
    admin.majorCompact(table);
    int stores = admin.getDescriptor(table).getColumnFamilyCount() * admin.getRegions(table).size();
    for (int wait = 0; wait < 600; wait++) {
      Thread.sleep(200);
      if (wait > 3 && admin.getCompactionState(table) == CompactionState.NONE && fileCount(table) <= stores) return;
    }
    throw new IOException("files are not compacted after 120 s: table=" + table + " files=" + fileCount(table));
  }

  List<RegionMetrics> regions(TableName table) throws IOException {
    return admin.getRegionMetrics(admin.getRegionServers().iterator().next(), table);
  }

  long reads(TableName table) throws IOException {
    return regions(table).stream().mapToLong(RegionMetrics::getReadRequestCount).sum();
  }

  long fileCount(TableName table) throws Exception {
    return files.startsWith("http") ? metric("rowhouse_table_files", table) : hfiles(table).length;
  }

  long fileBytes(TableName table) throws Exception {
    return files.startsWith("http") ? metric("rowhouse_table_file_bytes", table) : Arrays.stream(hfiles(table)).sum();
  }

  /** Apache HBase reports whole megabytes, of 1,048,576 bytes. */
  long memstoreBytes(TableName table) throws Exception {
    if (files.startsWith("http")) return metric("rowhouse_table_memstore_bytes", table);
    return regions(table).stream().mapToLong(region -> (long) region.getMemStoreSize().get(Size.Unit.BYTE)).sum();
  }

  private long[] hfiles(TableName table) throws IOException {
    try (Stream<Path> paths = Files.walk(Path.of(files, "data/default", table.getNameAsString()))) {
      // TABLE/REGION/FAMILY/FILE; a region's and a table's own files are in folders that begin with a dot.
      return paths.filter(path -> Files.isRegularFile(path) && path.getFileName().toString().matches("[0-9a-f]{32}")).mapToLong(path -> path.toFile().length()).toArray();
    }
  }

  private long metric(String name, TableName table) throws Exception {
    String start = name + "{table=\"" + table + "\"} ";
    HttpRequest request = HttpRequest.newBuilder(URI.create(files + "/metrics")).build();
    String answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    return answer.lines().filter(line -> line.startsWith(start)).mapToLong(line -> Long.parseLong(line.substring(start.length()))).findFirst().orElseThrow();
  }

  /** Microseconds of CPU, user and system, that the server's process has used. */
  long cpu() throws IOException {
    String text = Files.readString(stat);
    String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * MICROSECONDS_PER_TICK;
  }

  /** Reports the server's CPU time per operation of each case: the median of three rounds, all cases in each, in turn from the first and from the last, after two that warm up. */
  void cpu(int claim, String unit, int operations, List<String> names, List<Work> cases) throws Exception {
    double[][] times = new double[cases.size()][ROUNDS];
    for (int round = -2; round < ROUNDS; round++) {
      for (int nth = 0; nth < cases.size(); nth++) {
        int at = round % 2 == 0 ? nth : cases.size() - 1 - nth;
        long begun = cpu();
        cases.get(at).run();
        if (round >= 0) times[at][round] = (cpu() - begun) / (double) operations;
      }
    }
    for (int at = 0; at < cases.size(); at++) {
      Arrays.sort(times[at]);
      report(claim, names.get(at), "server CPU, µs per " + unit, times[at][ROUNDS / 2]);
      if (times[at][ROUNDS - 1] > 1.5 * times[at][0]) {
        report(claim, names.get(at), "lowest of three, µs per " + unit, times[at][0]);
        report(claim, names.get(at), "highest of three, µs per " + unit, times[at][ROUNDS - 1]);
      }
    }
  }

  /** Scans to the end; returns the client's metrics, and the number of cells that arrived. */
  Scanned scan(TableName name, Scan scan) throws IOException {
    scan.setScanMetricsEnabled(true);
    long cells = 0, rows = 0;
    try (Table table = connection.getTable(name); ResultScanner scanner = table.getScanner(scan)) {
      for (var result = scanner.next(); result != null; result = scanner.next()) {
        cells += result.size();
        rows++;
      }
      return new Scanned(rows, cells, scanner.getScanMetrics());
    }
  }

  /** Reports the bytes of the blocks that a scan went through; rowhouse counts them only for an analysis (analyze.tsv). */
  void blocks(int claim, String name, Scanned scanned) {
    if (!files.startsWith("http")) report(claim, name, "bytes of blocks read", scanned.metrics().countOfBlockBytesScanned.get());
  }

  record Scanned(long rows, long cells, ScanMetrics metrics) {}
}
