import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.util.Bytes;

/** Claims about the shape of tables: families (6), tall and wide (9), indexes (18), leading values (21). */
final class Shapes {
  private static final byte[] F = Bytes.toBytes("f"), Q = Bytes.toBytes("q");

  private final Bench bench;

  Shapes(Bench bench) {
    this.bench = bench;
  }

  void run() throws Exception {
    for (int count : new int[] {1, 3, 10}) {
      families(count);
      if (bench.server.startsWith("Apache")) flushedBySize(count);
    }
    tallAndWide();
    index();
    leadingValues();
  }

  private static String number(long nth) {
    return String.format("%08d", nth);
  }

  /** Ten columns of a row, one of them large; nine flushes of a table whose first family has the large one. */
  private void families(int count) throws Exception {
    List<String> names = new ArrayList<>();
    for (int at = 0; at < count; at++) names.add("f" + at);
    TableName table = bench.create("c6_" + count, UnaryOperator.identity(), names);
    int flushes = 9, rows = 5_000;
    long begun = bench.cpu();
    for (int flush = 0; flush < flushes; flush++) {
      writeUnequal(table, count, (long) flush * rows, rows);
      bench.admin.flush(table);
    }
    String name = count == 1 ? "1 family" : count + " families";
    bench.report(6, name, "server CPU, µs per row of 10 cells", (bench.cpu() - begun) / (double) (flushes * rows));
    bench.report(6, name, "files after 9 flushes", bench.fileCount(table));
    bench.report(6, name, "bytes of files", bench.fileBytes(table));
  }

  /** Apache HBase flushes by size the families that are large alone; here at 4 MiB of a region, and 1 MiB of a family. */
  private void flushedBySize(int count) throws Exception {
    List<String> names = new ArrayList<>();
    for (int at = 0; at < count; at++) names.add("f" + at);
    TableName table = bench.create("c6_size_" + count, UnaryOperator.identity(), names);
    bench.admin.modifyTable(TableDescriptorBuilder.newBuilder(bench.admin.getDescriptor(table)).setMemStoreFlushSize(4 << 20)
        .setValue("hbase.hregion.percolumnfamilyflush.size.lower.bound.min", Integer.toString(1 << 20)).build());
    writeUnequal(table, count, 0, 45_000);
    Thread.sleep(2_000);
    bench.admin.flush(table);
    bench.report(6, count == 1 ? "1 family" : count + " families", "files of flushes by size", bench.fileCount(table));
  }

  private void writeUnequal(TableName table, int families, long first, int rows) throws Exception {
    bench.write(table, rows, nth -> {
      Put put = new Put(Bytes.toBytes(number(first + nth)));
      for (int column = 0; column < 10; column++) {
        put.addColumn(Bytes.toBytes("f" + column % families), Bytes.toBytes("q" + column), new byte[column == 0 ? 500 : 10]);
      }
      return put;
    });
  }

  private static final int USERS = 100, EVENTS = 1_000, RANGE = 100, READS = 1_000;

  private void tallAndWide() throws Exception {
    TableName tall = bench.create("c9_tall"), wide = bench.create("c9_wide");
    bench.write(tall, USERS * EVENTS, nth -> new Put(Bytes.toBytes("user" + number(nth % USERS) + number(nth / USERS))).addColumn(F, Q, new byte[20]));
    bench.write(wide, USERS * EVENTS, nth -> new Put(Bytes.toBytes("user" + number(nth % USERS))).addColumn(F, Bytes.toBytes(number(nth / USERS)), new byte[20]));
    List<String> names = List.of("tall: a row for each event", "wide: a column for each event");
    List<TableName> tables = List.of(tall, wide);
    for (int at = 0; at < 2; at++) {
      bench.settle(tables.get(at));
      bench.report(9, names.get(at), "bytes of files", bench.fileBytes(tables.get(at)));
    }
    bench.cpu(9, "read of 100 events", READS, names, List.of(
        () -> ranges(tall, (user, from) -> new Scan().withStartRow(Bytes.toBytes(user + number(from))).withStopRow(Bytes.toBytes(user + number(from + RANGE)))),
        () -> ranges(wide, (user, from) -> new Scan(new Get(Bytes.toBytes(user)))
            .setFilter(new ColumnRangeFilter(Bytes.toBytes(number(from)), true, Bytes.toBytes(number(from + RANGE)), false)))));
    List<String> singles = List.of("tall: one event", "wide: one event");
    bench.cpu(9, "event", READS * 4, singles, List.of(
        () -> singles(tall, (user, event) -> new Get(Bytes.toBytes(user + number(event)))),
        () -> singles(wide, (user, event) -> new Get(Bytes.toBytes(user)).addColumn(F, Bytes.toBytes(number(event))))));
  }

  private interface Range {
    Scan of(String user, int from);
  }

  private interface Single {
    Get of(String user, int event);
  }

  private void ranges(TableName name, Range range) throws Exception {
    Random random = new Random(9);
    for (int nth = 0; nth < READS; nth++) {
      long cells = bench.scan(name, range.of("user" + number(random.nextInt(USERS)), random.nextInt(EVENTS - RANGE))).cells();
      if (cells != RANGE) throw new IllegalStateException("cells read: " + cells);
    }
  }

  private void singles(TableName name, Single single) throws Exception {
    Random random = new Random(9);
    try (Table table = bench.connection.getTable(name)) {
      for (int nth = 0; nth < READS * 4; nth++) {
        if (table.get(single.of("user" + number(random.nextInt(USERS)), random.nextInt(EVENTS))).size() != 1) throw new IllegalStateException("no event");
      }
    }
  }

  private static final int PEOPLE = 20_000, CITIES = 200, FOUND = 20, QUERIES = 1_500;

  /** An index by city that the client keeps: an entry has the row alone, or two of its ten columns too. */
  private void index() throws Exception {
    TableName people = bench.create("c18_people"), references = bench.create("c18_references"), copies = bench.create("c18_copies");
    bench.write(people, PEOPLE, nth -> copy(new Put(Bytes.toBytes(number(nth))), 10));
    bench.write(references, PEOPLE, nth -> new Put(Bytes.toBytes(city(nth) + number(nth))).addColumn(F, new byte[0], new byte[0]));
    bench.write(copies, PEOPLE, nth -> copy(new Put(Bytes.toBytes(city(nth) + number(nth))), 2));
    for (TableName table : List.of(people, references, copies)) bench.settle(table);
    bench.report(18, "the table", "bytes of files", bench.fileBytes(people));
    bench.report(18, "index of references", "bytes of files", bench.fileBytes(references));
    bench.report(18, "index with copies of two columns", "bytes of files", bench.fileBytes(copies));
    bench.cpu(18, "query for 20 rows", QUERIES, List.of("index of references", "index with copies of two columns"),
        List.of(() -> query(references, people), () -> query(copies, null)));
  }

  private static String city(long nth) {
    return String.format("city%04d", nth % CITIES);
  }

  private static Put copy(Put put, int columns) {
    for (int column = 0; column < columns; column++) put.addColumn(F, Bytes.toBytes("q" + column), new byte[20]);
    return put;
  }

  private void query(TableName index, TableName base) throws Exception {
    Random random = new Random(18);
    try (Table entries = bench.connection.getTable(index); Table rows = bench.connection.getTable(base == null ? index : base)) {
      for (int nth = 0; nth < QUERIES; nth++) {
        List<Get> gets = new ArrayList<>();
        int found = 0;
        try (ResultScanner scanner = entries.getScanner(new Scan().withStartRow(Bytes.toBytes(city(random.nextInt(CITIES)))).setLimit(FOUND))) {
          for (Result entry : scanner) {
            gets.add(new Get(Bytes.tail(entry.getRow(), 8)).addColumn(F, Bytes.toBytes("q0")).addColumn(F, Bytes.toBytes("q1")));
            found += entry.size();
          }
        }
        if (base != null) found = Arrays.stream(rows.get(gets)).mapToInt(Result::size).sum();
        if (found != 2 * FOUND) throw new IllegalStateException("cells found: " + found);
      }
    }
  }

  /** Three values before a growing number, or alone; regions are split four times, and then rows with higher numbers are written. */
  private void leadingValues() throws Exception {
    TableName rows = bench.create("c21_rows"), columns = bench.create("c21_columns");
    String[] kinds = {"cpu", "disk", "net"};
    bench.write(rows, 30_000, nth -> new Put(Bytes.toBytes(kinds[(int) (nth % 3)] + number(nth))).addColumn(F, Q, new byte[100]));
    bench.write(columns, 30_000, nth -> new Put(Bytes.toBytes(kinds[(int) (nth % 3)])).addColumn(F, Bytes.toBytes(number(nth)), new byte[100]));
    List<String> names = List.of("3 leading values and a growing number", "3 rows");
    for (TableName table : List.of(rows, columns)) {
      for (int round = 0; round < 4; round++) split(table);
      bench.report(21, names.get(table == rows ? 0 : 1), "regions after four splits of each", bench.admin.getRegions(table).size());
    }
    List<Long> before = bench.regions(rows).stream().map(RegionMetrics::getWriteRequestCount).toList();
    bench.write(rows, 3_000, nth -> new Put(Bytes.toBytes(kinds[(int) (nth % 3)] + number(30_000 + nth))).addColumn(F, Q, new byte[100]));
    List<RegionMetrics> after = bench.regions(rows);
    int written = 0;
    for (int at = 0; at < after.size(); at++) if (after.get(at).getWriteRequestCount() > before.get(at)) written++;
    bench.report(21, names.get(0), "regions that take new rows", written);
  }

  /** Splits each region that has two rows or more. */
  private void split(TableName table) throws Exception {
    bench.settle(table);
    int asked = 0, before = bench.admin.getRegions(table).size();
    for (RegionInfo region : bench.admin.getRegions(table)) {
      try {
        bench.admin.splitRegionAsync(region.getRegionName()).get();
        asked++;
      } catch (Exception refused) {
        System.err.println("not split: " + refused.getMessage().lines().findFirst().orElse(""));
      }
    }
    for (int wait = 0; wait < 100 && bench.admin.getRegions(table).size() < before + asked; wait++) Thread.sleep(100);
    bench.settle(table);
  }
}
