import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import net.opentsdb.core.Const;
import net.opentsdb.core.RowKey;
import net.opentsdb.core.TSDB;
import net.opentsdb.uid.UniqueId;
import net.opentsdb.utils.Config;
import org.hbase.async.HBaseClient;

/** OpenTSDB's row keys. The names' identifiers are put into its cache, so that it asks no server for them. */
final class OpenTsdb {
  private static final Map<String, Map<String, Integer>> IDENTIFIERS = new TreeMap<>(Map.of(
      "metrics", Map.of("sys.cpu.user", 1, "sys.mem", 0x00ff00, "last", 0xffffff),
      "tag_names", Map.of("host", 1, "dc", 2, "last", 0xffffff),
      "tag_values", Map.of("web01", 1, "web02", 0x0100, "東京", 3, "last", 0xffffff)));

  private final TSDB tsdb;
  private final String type;

  public static void main(String[] args) throws Exception {
    Vectors.header("OpenTSDB row keys; value: metric time tags", RowKey.class);
    IDENTIFIERS.forEach((kind, names) -> Vectors.note("identifiers of " + kind + ": " + new TreeMap<>(names)));
    HBaseClient none = new HBaseClient("127.0.0.1:1");
    for (int[] salt : new int[][] {{0, 20}, {1, 4}, {1, 20}, {1, 200}, {1, 256}, {2, 1000}}) {
      OpenTsdb keys = new OpenTsdb(none, salt[0], salt[1], 3);
      if (salt[0] == 0) {
        keys.times();
      }
      keys.series();
    }
    new OpenTsdb(none, 0, 20, 4).series();
    // Threads of the client that has nobody to talk to.
    System.exit(0);
  }

  private OpenTsdb(HBaseClient client, int saltWidth, int buckets, int uidWidth) throws Exception {
    Config config = new Config(false);
    config.overrideConfig("tsd.storage.salt.width", Integer.toString(saltWidth));
    config.overrideConfig("tsd.storage.salt.buckets", Integer.toString(buckets));
    for (String kind : new String[] {"metric", "tagk", "tagv"}) {
      config.overrideConfig("tsd.storage.uid.width." + kind, Integer.toString(uidWidth));
    }
    tsdb = new TSDB(client, config);
    type = "opentsdb" + (saltWidth == 0 ? "" : " salt " + saltWidth + " of " + buckets) + (uidWidth == 3 ? "" : " uid " + uidWidth);
    for (String kind : IDENTIFIERS.keySet()) {
      for (Map.Entry<String, Integer> name : IDENTIFIERS.get(kind).entrySet()) {
        remember((UniqueId) field(tsdb, kind), name.getKey(), UniqueId.longToUID(name.getValue(), (short) uidWidth));
      }
    }
  }

  private void times() {
    for (long time : new long[] {0, 3599, 3600, 1356998400, 1356998401, 1669852800999L, 1669856399999L, 2147483647, 2147483648L, 4294967295L}) {
      key("sys.cpu.user", time, Map.of("host", "web01"));
    }
  }

  private void series() {
    key("sys.cpu.user", 1669852800, Map.of("host", "web01"));
    key("sys.cpu.user", 1669856400, Map.of("host", "web01"));
    key("sys.cpu.user", 1669852800, Map.of("host", "web02"));
    key("sys.cpu.user", 1669852800, Map.of("host", "東京"));
    key("sys.cpu.user", 1669852800, Map.of("host", "web01", "dc", "web02"));
    key("sys.cpu.user", 1669852800, Map.of("dc", "web01", "host", "web02"));
    key("sys.mem", 1669852800, Map.of("host", "web01"));
    key("last", 1669852800, Map.of("host", "web01"));
    key("last", 1669852800, Map.of("last", "last"));
    key("last", 1669852800, Map.of());
  }

  private void key(String metric, long time, Map<String, String> tags) {
    Vectors.attempt(type, metric + " " + time + " " + new TreeMap<>(tags), () -> {
      byte[] template = template(metric, tags);
      return RowKey.rowKeyFromTSUID(tsdb, UniqueId.getTSUIDFromKey(template, TSDB.metrics_width(), Const.TIMESTAMP_BYTES), time);
    });
  }

  /** The key without its time; puts the tags in the order of their identifiers. */
  private byte[] template(String metric, Map<String, String> tags) throws Exception {
    Class<?> points = Class.forName("net.opentsdb.core.IncomingDataPoints");
    Method template = points.getDeclaredMethod("rowKeyTemplate", TSDB.class, String.class, Map.class);
    template.setAccessible(true);
    return (byte[]) template.invoke(null, tsdb, metric, tags);
  }

  private static void remember(UniqueId ids, String name, byte[] id) throws Exception {
    Method remember = UniqueId.class.getDeclaredMethod("cacheMapping", String.class, byte[].class);
    remember.setAccessible(true);
    remember.invoke(ids, name, id);
  }

  private static Object field(Object of, String name) throws Exception {
    Field field = of.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }
}
