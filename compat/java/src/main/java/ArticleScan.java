import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.text.SimpleDateFormat;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeSet;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/**
 * What the month scan as articles write it loses: ArticleScan REGISTRY HOST:PORT.
 *
 * <p>They format whole seconds in local time, start at 23:59:59 of the last day and stop, exclusively, at midnight of
 * the first: gone are the last 999 ms of the month and the post of its first millisecond. And with posts written by the
 * whole second, posts of one second overwrite each other.
 */
public final class ArticleScan {
  private static final TableName ARTICLE = TableName.valueOf("article");
  private static final TableName SECONDS = TableName.valueOf("article_seconds");
  private static final ZoneId ZONE = ZoneId.of("Asia/Shanghai");
  private static final int COUNT = 10_000;

  private final Checks checks = new Checks();

  public static void main(String[] args) throws Exception {
    TimeZone.setDefault(TimeZone.getTimeZone(ZONE)); // "Local time", the same one everywhere.
    ArticleScan program = new ArticleScan();
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      program.month(admin, connection);
      program.seconds(admin, connection);
    }
    program.checks.finish();
  }

  private void month(Admin admin, Connection connection) throws Exception {
    List<Posts.Post> posts = Posts.of("123", COUNT, ZONE, 20221201);
    write(admin, connection, ARTICLE, posts.stream().map(Posts.Post::put).toList());

    SimpleDateFormat format = new SimpleDateFormat("yyyyMMddHHmmss");
    String start = "123_" + (Long.MAX_VALUE - format.parse("20221231235959").getTime());
    String stop = "123_" + (Long.MAX_VALUE - format.parse("20221201000000").getTime());
    List<String> rows = rows(connection, ARTICLE, new Scan().withStartRow(start.getBytes(UTF_8)).withStopRow(stop.getBytes(UTF_8)));

    long from = Posts.start(2022, 12, ZONE), to = Posts.start(2023, 1, ZONE);
    List<Posts.Post> december = posts.stream()
        .filter(post -> post.millis() >= from && post.millis() < to)
        .sorted(Comparator.comparingLong(Posts.Post::millis).reversed())
        .toList();
    List<Posts.Post> lost = december.stream().filter(post -> post.millis() == from || post.millis() >= to - 999).toList();
    Set<String> returned = new HashSet<>(rows);
    SimpleDateFormat precise = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss.SSS");
    for (Posts.Post post : december) {
      if (!returned.contains(post.row())) System.out.println("lost " + precise.format(post.millis()) + " " + post.title());
    }
    List<String> kept = december.stream().filter(post -> !lost.contains(post)).map(Posts.Post::row).toList();
    checks.equal("December has " + december.size() + " posts, the scan returns " + kept.size(), kept, () -> rows);
    checks.equal("lost " + lost.size(), lost.stream().map(Posts.Post::row).toList(),
        () -> december.stream().map(Posts.Post::row).filter(row -> !returned.contains(row)).toList());
    checks.equal("at least one of each kind is lost", true,
        () -> lost.stream().anyMatch(post -> post.millis() == from) && lost.stream().filter(post -> post.millis() > from).count() >= 5);
  }

  private void seconds(Admin admin, Connection connection) throws Exception {
    Random random = new Random(4);
    long start = Posts.start(2022, 1, ZONE), end = Posts.start(2023, 1, ZONE);
    List<Put> puts = new ArrayList<>();
    TreeSet<String> expected = new TreeSet<>();
    for (int i = 0; i < COUNT; i++) {
      long second = (start + (long) (random.nextDouble() * (end - start))) / 1000 * 1000;
      Posts.Post post = new Posts.Post("123", second, "第" + i + "篇", "内容" + i, "技术");
      puts.add(post.put());
      expected.add(post.row());
    }
    write(admin, connection, SECONDS, puts);
    List<String> rows = rows(connection, SECONDS, new Scan());
    System.out.println(COUNT + " posts by the whole second, " + rows.size() + " rows: " + (COUNT - rows.size()) + " overwritten");
    checks.equal("some overwrote each other", true, () -> rows.size() < COUNT);
    checks.equal("rows of posts by the whole second", List.copyOf(expected), () -> rows);
  }

  private static void write(Admin admin, Connection connection, TableName name, List<Put> puts) throws IOException {
    Cluster.drop(admin, name);
    admin.createTable(
        TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of(Posts.FAMILY)).build());
    try (Table table = connection.getTable(name)) {
      table.put(new ArrayList<>(puts));
    }
  }

  private static List<String> rows(Connection connection, TableName name, Scan scan) throws IOException {
    List<String> rows = new ArrayList<>();
    try (Table table = connection.getTable(name); ResultScanner scanner = table.getScanner(scan)) {
      for (Result result; (result = scanner.next()) != null; ) rows.add(new String(result.getRow(), UTF_8));
    }
    return rows;
  }
}
