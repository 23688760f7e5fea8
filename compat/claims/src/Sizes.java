import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.util.Bytes;

/** Claims about bytes in files: domains (11), neighbours (12), absent columns (13), names (14), block sizes (15), numbers (16), MD5 (17). */
final class Sizes {
  private static final int ROWS = 100_000, GETS = 3_000;
  private static final byte[] F = Bytes.toBytes("f"), Q = Bytes.toBytes("q");

  private final Bench bench;

  Sizes(Bench bench) {
    this.bench = bench;
  }

  void run() throws Exception {
    kinds(11, "host names", "f", nth -> put(host(nth), "1"));
    kinds(11, "reversed domains", "f", nth -> put(reversed(host(nth)), "1"));
    absentColumns();
    kinds(14, "names of 1 and 1 bytes", "f", nth -> new Put(Bytes.toBytes(number(nth))).addColumn(F, Q, Bytes.toBytes(nth)));
    String family = "measurements", qualifier = "temperature_celsius_average";
    kinds(14, "names of 12 and 27 bytes", family,
        nth -> new Put(Bytes.toBytes(number(nth))).addColumn(Bytes.toBytes(family), Bytes.toBytes(qualifier), Bytes.toBytes(nth)));
    blockSizes();
    size(16, "numbers as text of 13 digits", "f", UnaryOperator.identity(), nth -> put(Long.toString(millis(nth)), Long.toString(millis(nth))));
    size(16, "numbers as 8 bytes", "f", UnaryOperator.identity(), nth -> new Put(Bytes.toBytes(millis(nth))).addColumn(F, Q, Bytes.toBytes(millis(nth))));
    size(17, "MD5 as 32 characters", "f", UnaryOperator.identity(), nth -> put(String.format("%032x", new BigInteger(1, md5(nth))), "1"));
    size(17, "MD5 as 16 bytes", "f", UnaryOperator.identity(), nth -> new Put(md5(nth)).addColumn(F, Q, Bytes.toBytes("1")));
  }

  /** The same bytes of keys in two orders. */
  void neighbours() throws Exception {
    kinds(12, "rows of a user adjacent", "f", nth -> put(user(nth) + scattered(nth), profile(nth)));
    kinds(12, "rows of users scattered", "f", nth -> put(scattered(nth) + user(nth), profile(nth)));
  }

  private static Put put(String row, String value) {
    return new Put(Bytes.toBytes(row)).addColumn(F, Q, Bytes.toBytes(value));
  }

  private static String number(long nth) {
    return String.format("%08d", nth);
  }

  private static long millis(long nth) {
    return 1_700_000_000_000L + nth * 977;
  }

  private static byte[] md5(long nth) {
    try {
      return MessageDigest.getInstance("MD5").digest(Bytes.toBytes(nth));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final String[] WORDS = {"north", "data", "blue", "shop", "media", "river", "tech", "home", "green", "cloud", "city", "star"};
  private static final String[] ENDINGS = {"com", "org", "net", "de", "co.uk", "com.cn", "io", "fr"};
  private static final String[] HOSTS = {"www", "mail", "api", "static", "img", "blog", "shop", "m", "dev", "cdn"};

  /** 100,000 different host names: ten or so hosts of each of 10,000 domains. */
  private static String host(long nth) {
    Random random = new Random(nth / 10);
    String domain = WORDS[random.nextInt(WORDS.length)] + WORDS[random.nextInt(WORDS.length)] + nth / 10 + "." + ENDINGS[random.nextInt(ENDINGS.length)];
    return HOSTS[(int) (nth % 10)] + "." + domain;
  }

  private static String reversed(String host) {
    List<String> parts = new ArrayList<>(List.of(host.split("\\.")));
    Collections.reverse(parts);
    return String.join(".", parts);
  }

  /** Eight characters; a thousand users. */
  private static String user(long nth) {
    return String.format("u%07d", nth % 1_000 * 7_919 % 1_000);
  }

  /** A different number for each, in another order. */
  private static String scattered(long nth) {
    return number(nth * 61_803_399 % 100_000_000);
  }

  private static String profile(long nth) {
    Random random = new Random(nth % 1_000);
    String name = Long.toString(random.nextLong() >>> 1, 36), city = Long.toString(random.nextLong() >>> 1, 36);
    return "{\"name\":\"" + name + "\",\"city\":\"" + city + "\",\"at\":" + millis(nth) + "}";
  }

  /** Reports the size without compression, with GZ, and with FAST_DIFF, which rowhouse keeps for exported files. */
  private void kinds(int claim, String name, String family, LongFunction<Mutation> row) throws Exception {
    size(claim, name, family, UnaryOperator.identity(), row);
    size(claim, name + ", GZ", family, it -> it.setCompressionType(Compression.Algorithm.GZ), row);
    size(claim, name + ", FAST_DIFF", family, it -> it.setDataBlockEncoding(DataBlockEncoding.FAST_DIFF), row);
  }

  private TableName size(int claim, String name, String family, UnaryOperator<ColumnFamilyDescriptorBuilder> kind, LongFunction<Mutation> row) throws Exception {
    TableName table = bench.create("c" + claim + "_" + name.toLowerCase().replaceAll("[^a-z0-9]+", "_"), kind, List.of(family));
    bench.write(table, ROWS, row);
    bench.settle(table);
    bench.report(claim, name, "bytes of files", bench.fileBytes(table));
    return table;
  }

  /** Three columns of a hundred possible ones, three that all rows have, and these with seven empty ones. */
  private void absentColumns() throws Exception {
    size(13, "3 of 100 possible columns", "f", UnaryOperator.identity(), nth -> columns(nth, nth * 7, 3));
    size(13, "the same 3 columns", "f", UnaryOperator.identity(), nth -> columns(nth, 0, 3));
    size(13, "3 columns, and 7 without a value", "f", UnaryOperator.identity(), nth -> columns(nth, 0, 10));
  }

  private static Put columns(long nth, long first, int count) {
    Put put = new Put(Bytes.toBytes(number(nth)));
    for (int column = 0; column < count; column++) {
      byte[] qualifier = Bytes.toBytes(String.format("c%02d", (first + column) % 100));
      put.addColumn(F, qualifier, column < 3 ? Bytes.toBytes(nth) : new byte[0]);
    }
    return put;
  }

  private void blockSizes() throws Exception {
    List<String> names = new ArrayList<>();
    List<Bench.Work> works = new ArrayList<>();
    for (int kilobytes : new int[] {4, 16, 64, 256}) {
      String name = "blocks of " + kilobytes + " KiB";
      TableName table = size(15, name, "f", it -> it.setBlocksize(kilobytes * 1024), nth -> new Put(Bytes.toBytes(number(nth))).addColumn(F, Q, new byte[100]));
      names.add(name);
      works.add(() -> {
        Random random = new Random(15);
        try (Table reader = bench.connection.getTable(table)) {
          for (int nth = 0; nth < GETS; nth++) reader.get(new Get(Bytes.toBytes(number(random.nextInt(ROWS)))));
        }
      });
    }
    bench.cpu(15, "get", GETS, names, works);
  }
}
