import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.util.Bytes;

/** Claims about gets and pages: salted gets (2), PageFilter and offsets (10), reversed times and reversed scans (20). */
final class Pages {
  private static final byte[] F = Bytes.toBytes("f"), Q = Bytes.toBytes("q"), VALUE = new byte[100];
  private static final String[] SALTS = {"a", "b", "c", "d"};
  private static final int ROWS = 100_000, GETS = 10_000, PAGES = 300, PAGE = 10;

  private final Bench bench;

  Pages(Bench bench) {
    this.bench = bench;
  }

  void run() throws Exception {
    saltedGets();
    offsets();
    newestOfUser();
  }

  private static Put put(String row) {
    return new Put(Bytes.toBytes(row)).addColumn(F, Q, VALUE);
  }

  private static String number(long nth) {
    return String.format("%08d", nth);
  }

  /** A bucket that everyone can compute from the number. */
  private static String bucket(long nth) {
    return SALTS[(int) (nth * 2654435761L >>> 7 & 3)];
  }

  private void saltedGets() throws Exception {
    Random random = new Random(2);
    TableName plain = bench.create("c2_plain"), salted = bench.create("c2_salted", "b", "c", "d"), bucketed = bench.create("c2_bucketed", "b", "c", "d");
    bench.write(plain, ROWS, nth -> put(number(nth)));
    bench.write(salted, ROWS, nth -> put(SALTS[random.nextInt(4)] + number(nth)));
    bench.write(bucketed, ROWS, nth -> put(bucket(nth) + number(nth)));
    for (TableName table : List.of(plain, salted, bucketed)) bench.settle(table);
    List<String> names = List.of("plain key", "random salt of 4", "bucket of 4");
    List<Keys> keys = List.of(nth -> List.of(number(nth)), nth -> Arrays.stream(SALTS).map(salt -> salt + number(nth)).toList(), nth -> List.of(bucket(nth) + number(nth)));
    List<TableName> tables = List.of(plain, salted, bucketed);
    List<Bench.Work> cases = new ArrayList<>();
    for (int at = 0; at < names.size(); at++) {
      TableName table = tables.get(at);
      Keys of = keys.get(at);
      long before = bench.reads(table);
      gets(table, of, 1_000);
      bench.report(2, names.get(at), "rows asked for per get", (bench.reads(table) - before) / 1_000.0);
      cases.add(() -> gets(table, of, GETS));
    }
    bench.cpu(2, "get", GETS, names, cases);
  }

  private interface Keys {
    List<String> of(long nth);
  }

  /** Reads rows in random order, each by all keys that it may have; fails unless exactly one of them exists. */
  private void gets(TableName name, Keys keys, int count) throws Exception {
    Random random = new Random(3);
    try (Table table = bench.connection.getTable(name)) {
      for (int get = 0; get < count; get++) {
        List<Get> gets = keys.of(random.nextInt(ROWS)).stream().map(key -> new Get(Bytes.toBytes(key))).toList();
        int found = 0;
        for (Result result : gets.size() == 1 ? new Result[] {table.get(gets.get(0))} : table.get(gets)) if (!result.isEmpty()) found++;
        if (found != 1) throw new IllegalStateException("rows found: " + found);
      }
    }
  }

  private void offsets() throws Exception {
    TableName one = TableName.valueOf("c2_plain"), four = bench.create("c10_four", number(25_000), number(50_000), number(75_000));
    bench.write(four, ROWS, nth -> put(number(nth)));
    bench.settle(four);
    List<String> names = new ArrayList<>();
    List<Bench.Work> cases = new ArrayList<>();
    for (int offset : new int[] {0, 1_000, 10_000}) {
      skip(names, cases, offset, "rows skipped by the client, page at " + offset, () -> new Scan().setLimit(offset + PAGE).setCaching(1_000), one);
      skip(names, cases, offset, "from the last row seen, page at " + offset, () -> new Scan().withStartRow(Bytes.toBytes(number(offset))).setLimit(PAGE), one);
    }
    bench.cpu(10, "page", PAGES, names, cases);
    Scan filtered = new Scan().setFilter(new PageFilter(PAGE));
    bench.report(10, "PageFilter(10), table of 1 region", "rows shipped", bench.scan(one, filtered).rows());
    bench.report(10, "PageFilter(10), table of 4 regions", "rows shipped", bench.scan(four, new Scan().setFilter(new PageFilter(PAGE))).rows());
    bench.report(10, "limit of 10, table of 4 regions", "rows shipped", bench.scan(four, new Scan().setLimit(PAGE)).rows());
  }

  private interface Page {
    Scan scan();
  }

  private void skip(List<String> names, List<Bench.Work> cases, int offset, String name, Page page, TableName table) throws Exception {
    Bench.Scanned scanned = bench.scan(table, page.scan());
    bench.report(10, name, "cells shipped", scanned.cells());
    bench.report(10, name, "bytes shipped", scanned.metrics().countOfBytesInResults.get());
    names.add(name);
    cases.add(() -> {
      for (int nth = 0; nth < PAGES; nth++) bench.scan(table, page.scan());
    });
  }

  private static final int USERS = 200, EVENTS = 1_000, QUERIES = 2_000;

  private void newestOfUser() throws Exception {
    TableName forward = bench.create("c20_time"), reversed = bench.create("c20_reversed_time");
    bench.write(forward, USERS * EVENTS, nth -> event(nth % USERS, 1_700_000_000_000L + nth));
    bench.write(reversed, USERS * EVENTS, nth -> event(nth % USERS, Long.MAX_VALUE - 1_700_000_000_000L - nth));
    bench.settle(forward);
    bench.settle(reversed);
    List<String> names = List.of("reversed time, forward scan", "time, reversed scan");
    bench.cpu(20, "query", QUERIES, names, List.of(
        () -> newest(reversed, Pages::forward, names.get(0), false),
        () -> newest(forward, Pages::backward, names.get(1), false)));
    newest(reversed, Pages::forward, names.get(0), true);
    newest(forward, Pages::backward, names.get(1), true);
  }

  private static Scan forward(String user) {
    return new Scan().withStartRow(Bytes.toBytes(user));
  }

  private static Scan backward(String user) {
    return new Scan().setReversed(true).withStartRow(Bytes.add(Bytes.toBytes(user), new byte[] {-1}));
  }

  private static Put event(long user, long time) {
    return new Put(Bytes.add(Bytes.toBytes(String.format("user%04d", user)), Bytes.toBytes(time))).addColumn(F, Q, VALUE);
  }

  private interface OfUser {
    Scan scan(String user);
  }

  /** Reads the ten newest rows of users. */
  private void newest(TableName name, OfUser of, String label, boolean reports) throws Exception {
    Random random = new Random(4);
    long[] nanoseconds = new long[QUERIES];
    long rows = 0;
    try (Table table = bench.connection.getTable(name)) {
      for (int query = 0; query < QUERIES; query++) {
        long begun = System.nanoTime();
        try (ResultScanner scanner = table.getScanner(of.scan(String.format("user%04d", random.nextInt(USERS))).setLimit(PAGE))) {
          for (Result row : scanner) rows += row.size();
        }
        nanoseconds[query] = System.nanoTime() - begun;
      }
    }
    if (rows != (long) QUERIES * PAGE) throw new IllegalStateException("rows read: " + rows);
    if (!reports) return;
    Arrays.sort(nanoseconds);
    bench.report(20, label, "median latency, µs", nanoseconds[QUERIES / 2] / 1_000);
    bench.blocks(20, label, bench.scan(name, of.scan("user0100").setLimit(PAGE)));
  }
}
