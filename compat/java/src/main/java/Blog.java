import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A blog whose row key is {@code blogger_(Long.MAX_VALUE - millis)}: Blog REGISTRY HOST:PORT [verify].
 *
 * <p>Without {@code verify} it makes the table, writes the posts, and reads December back, newest first. With it, it
 * expects everything an earlier run wrote: for use after the server was killed and started again.
 */
public final class Blog {
  private static final TableName TABLE = TableName.valueOf("blog");
  private static final byte[] VIEWS = "views_123".getBytes(UTF_8);
  private static final byte[] COUNT = "count".getBytes(UTF_8);
  private static final int INCREMENTS = 200;
  private static final String BLOGGER = "123";

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args);
        Admin admin = connection.getAdmin();
        Table table = connection.getTable(TABLE)) {
      if (args.length > 2 && args[2].equals("verify")) {
        verify(table);
      } else {
        write(admin, table);
        december(table);
      }
    } catch (Difference difference) {
      System.err.println("FAIL Blog: " + difference.getMessage());
      System.exit(1);
    }
  }

  private static List<Posts.Post> posts() {
    return Posts.of(BLOGGER, 10_000, ZoneOffset.UTC, 20221201);
  }

  /** Bloggers whose names sort and prefix-match around 123; none of their posts belongs to it. */
  private static List<Posts.Post> neighbours() {
    List<Posts.Post> posts = new ArrayList<>();
    for (String blogger : List.of("12", "122", "1234", "124")) {
      posts.addAll(Posts.of(blogger, 50, ZoneOffset.UTC, Long.parseLong(blogger)));
    }
    return posts;
  }

  private static void write(Admin admin, Table table) throws IOException {
    if (admin.tableExists(TABLE)) {
      admin.disableTable(TABLE);
      admin.deleteTable(TABLE);
    }
    admin.createTable(
        TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(Posts.FAMILY)).build());
    List<Put> puts = new ArrayList<>();
    for (Posts.Post post : posts()) puts.add(post.put());
    table.put(puts);
    puts.clear();
    for (Posts.Post post : neighbours()) puts.add(post.put());
    table.put(puts);
    long views = 0;
    for (int i = 0; i < INCREMENTS; i++) {
      views += i;
      expect(table.incrementColumnValue(VIEWS, Posts.FAMILY, COUNT, i) == views, "increment " + i + ": not " + views);
    }
    System.out.println("ok wrote 10000 posts of blogger 123, 200 of others, " + INCREMENTS + " increments");
  }

  /** The month is [2022-12-01, 2023-01-01); counted down from MAX_VALUE its last millisecond comes first. */
  private static void december(Table table) throws IOException {
    long start = Posts.start(2022, 12, ZoneOffset.UTC), end = Posts.start(2023, 1, ZoneOffset.UTC);
    Scan scan = new Scan()
        .withStartRow((BLOGGER + "_" + (Long.MAX_VALUE - (end - 1))).getBytes(UTF_8), true)
        .withStopRow((BLOGGER + "_" + (Long.MAX_VALUE - start)).getBytes(UTF_8), true);
    List<Posts.Post> expected = posts().stream()
        .filter(post -> post.millis() >= start && post.millis() < end)
        .sorted(Comparator.comparingLong(Posts.Post::millis).reversed())
        .toList();
    expect(expected.get(expected.size() - 1).millis() == start, "the post at the first millisecond is not expected: a bug here");
    try (ResultScanner scanner = table.getScanner(scan)) {
      compare(expected, scanner);
    }
    System.out.println("ok December 2022, newest first: " + expected.size() + " posts, every cell compared");
  }

  private static void verify(Table table) throws IOException {
    List<Posts.Post> expected = new ArrayList<>(posts());
    expected.addAll(neighbours());
    expected.sort((a, b) -> Bytes.compareTo(a.row().getBytes(UTF_8), b.row().getBytes(UTF_8)));
    Scan scan = new Scan().withStopRow("v".getBytes(UTF_8)); // before the row of the counter
    try (ResultScanner scanner = table.getScanner(scan)) {
      compare(expected, scanner);
    }
    System.out.println("ok full scan: " + expected.size() + " posts, every cell compared");

    Random random = new Random(7);
    for (int i = 0; i < 100; i++) {
      Posts.Post post = expected.get(random.nextInt(expected.size()));
      compare(post, table.get(new Get(post.row().getBytes(UTF_8))));
    }
    expect(table.get(new Get("123_0".getBytes(UTF_8))).isEmpty(), "a row that was never written was found");
    System.out.println("ok 100 random gets");

    long views = (long) INCREMENTS * (INCREMENTS - 1) / 2;
    Result result = table.get(new Get(VIEWS));
    expect(result.size() == 1, "counter: " + result.size() + " cells");
    long got = Bytes.toLong(result.getValue(Posts.FAMILY, COUNT));
    expect(got == views, "counter: expected " + views + " got " + got);
    System.out.println("ok counter " + views);
  }

  private static void compare(List<Posts.Post> expected, ResultScanner scanner) throws IOException {
    int at = 0;
    for (Result result; (result = scanner.next()) != null; at++) {
      expect(at < expected.size(), "row " + at + ": one too many, " + Bytes.toStringBinary(result.getRow()));
      compare(expected.get(at), result);
    }
    expect(at == expected.size(), "expected " + expected.size() + " rows, got " + at);
  }

  private static void compare(Posts.Post post, Result result) {
    expect(!result.isEmpty(), post.row() + ": missing");
    Cell[] cells = result.rawCells();
    // Columns come in byte order: ASCII names before 分栏.
    byte[][] qualifiers = {Posts.CONTENT, Posts.TITLE, Posts.COLUMN};
    String[] values = {post.content(), post.title(), post.column()};
    expect(cells.length == values.length, post.row() + ": expected 3 cells, got " + result);
    for (int i = 0; i < cells.length; i++) {
      String where = post.row() + " cell " + i + " of " + result + ": ";
      expect(CellUtil.matchingRows(cells[i], post.row().getBytes(UTF_8)), where + "row");
      expect(CellUtil.matchingFamily(cells[i], Posts.FAMILY), where + "family");
      expect(CellUtil.matchingQualifier(cells[i], qualifiers[i]), where + "qualifier");
      expect(cells[i].getType() == Cell.Type.Put, where + "type");
      String value = new String(CellUtil.cloneValue(cells[i]), UTF_8);
      expect(value.equals(values[i]), where + "expected " + values[i] + " got " + value);
    }
  }

  private static void expect(boolean holds, String message) {
    if (!holds) throw new Difference(message);
  }

  private static final class Difference extends RuntimeException {
    Difference(String message) {
      super(message);
    }
  }
}
