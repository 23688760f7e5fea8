import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.util.Bytes;

/** The names that both tours use. */
class TourNames {
  static final String NAMESPACE = "tour";
  static final TableName TABLE = TableName.valueOf(NAMESPACE, "t");
  static final TableName CLONE = TableName.valueOf(NAMESPACE, "clone");
  static final String SNAPSHOT = "tour_snapshot";
  static final byte[] CF = b("cf");
  static final byte[] D = b("d");
  static final byte[] Q = b("q");
  static final byte[] N = b("n");
  static final int MANY = 2000;

  static byte[] b(String text) {
    return Bytes.toBytes(text);
  }
}
