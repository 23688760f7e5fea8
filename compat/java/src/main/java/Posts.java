import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.hbase.client.Put;

/** Blog posts over the year 2022, the same ones for the same seed. */
final class Posts {
  static final byte[] FAMILY = "cf".getBytes(UTF_8);
  static final byte[] TITLE = "title".getBytes(UTF_8);
  static final byte[] CONTENT = "content".getBytes(UTF_8);
  static final byte[] COLUMN = "分栏".getBytes(UTF_8);

  private static final String[] SUBJECTS = {"行键", "分区", "列族", "时间戳", "扫描", "合并", "写前日志", "布隆过滤器", "缓存", "计数器"};
  private static final String[] VERBS = {"设计", "浅析", "实战", "入门", "源码解读", "避坑", "调优", "笔记"};
  private static final String[] COLUMNS = {"技术", "生活", "读书", "旅行", "摄影"};

  private Posts() {}

  record Post(String blogger, long millis, String title, String content, String column) {
    String row() {
      return blogger + "_" + (Long.MAX_VALUE - millis);
    }

    Put put() {
      return new Put(row().getBytes(UTF_8))
          .addColumn(FAMILY, TITLE, title.getBytes(UTF_8))
          .addColumn(FAMILY, CONTENT, content.getBytes(UTF_8))
          .addColumn(FAMILY, COLUMN, column.getBytes(UTF_8));
    }
  }

  /**
   * {@code count} posts of one blogger, each in a millisecond of its own, in no order. Among them are always one at
   * the first millisecond of December and five within the last 999 ms of the year.
   */
  static List<Post> of(String blogger, int count, ZoneId zone, long seed) {
    Random random = new Random(seed);
    long start = start(2022, 1, zone), december = start(2022, 12, zone), end = start(2023, 1, zone);
    TreeSet<Long> times = new TreeSet<>(List.of(december, end - 1, end - 2, end - 250, end - 500, end - 999));
    while (times.size() < count) times.add(start + (long) (random.nextDouble() * (end - start)));
    List<Long> shuffled = new ArrayList<>(times);
    java.util.Collections.shuffle(shuffled, random);
    List<Post> posts = new ArrayList<>();
    for (long millis : shuffled) {
      String subject = SUBJECTS[random.nextInt(SUBJECTS.length)];
      String title = subject + VERBS[random.nextInt(VERBS.length)] + "（" + posts.size() + "）";
      String content = (title + "：关于" + subject + "的一点想法。").repeat(1 + random.nextInt(4));
      posts.add(new Post(blogger, millis, title, content, COLUMNS[random.nextInt(COLUMNS.length)]));
    }
    return posts;
  }

  /** The first millisecond of a month. */
  static long start(int year, int month, ZoneId zone) {
    return LocalDateTime.of(year, month, 1, 0, 0).atZone(zone).toInstant().toEpochMilli();
  }
}
