import java.math.BigDecimal;
import org.apache.hadoop.hbase.util.Bytes;

/** HBase's {@code Bytes.toBytes}, the way most row keys in Java are made. */
final class JavaBytes {
  public static void main(String[] args) {
    Vectors.header("Bytes.toBytes of Java's types", Bytes.class);
    for (long v : Vectors.LONGS) {
      Vectors.vector("java.long", Long.toString(v), Bytes.toBytes(v));
    }
    for (int v : Vectors.INTS) {
      Vectors.vector("java.int", Integer.toString(v), Bytes.toBytes(v));
    }
    for (short v : Vectors.SHORTS) {
      Vectors.vector("java.short", Short.toString(v), Bytes.toBytes(v));
    }
    for (double v : Vectors.DOUBLES) {
      Vectors.vector("java.double", Double.toString(v), Bytes.toBytes(v));
    }
    Vectors.vector("java.double", Vectors.OTHER_NAN_TEXT, Bytes.toBytes(Vectors.OTHER_NAN));
    for (float v : Vectors.FLOATS) {
      Vectors.vector("java.float", Float.toString(v), Bytes.toBytes(v));
    }
    Vectors.vector("java.boolean", "false", Bytes.toBytes(false));
    Vectors.vector("java.boolean", "true", Bytes.toBytes(true));
    for (String v : Vectors.TEXTS) {
      Vectors.vector("java.string", Vectors.text(v), Bytes.toBytes(v));
    }
    for (String v : new String[] {"-1.5", "-1", "0", "0.00", "1", "1.0", "10", "1E+1", "255", "256", "123456789012345678901234567890.5"}) {
      Vectors.vector("java.decimal", v, Bytes.toBytes(new BigDecimal(v)));
    }
  }
}
