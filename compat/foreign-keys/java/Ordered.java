import java.math.BigDecimal;
import java.util.Arrays;
import org.apache.hadoop.hbase.util.Order;
import org.apache.hadoop.hbase.util.OrderedBytes;
import org.apache.hadoop.hbase.util.PositionedByteRange;
import org.apache.hadoop.hbase.util.SimplePositionedMutableByteRange;

/** HBase's {@code OrderedBytes}, each type in both orders. */
final class Ordered {
  private interface Encoder {
    void encode(PositionedByteRange target, Order order);
  }

  private static final String[] NUMBERS = {
    "-12345678901234567890", "-9223372036854775808", "-1E+100", "-100", "-99", "-10", "-1.5", "-1", "-0.1", "-0.01", "-0.001", "0", "0.001", "0.01",
    "0.0123", "0.1", "0.5", "1", "1.0", "1.5", "10", "99", "99.9", "100", "101", "1234", "12345", "9223372036854775807", "12345678901234567890", "1E-100",
    "1E+100", "1234567890123456789012345678901", "12345678901234567890123456789012", "12345678901234567890123456789025",
    "1E+200", "1E-200"
  };

  public static void main(String[] args) {
    Vectors.header("OrderedBytes, ascending and descending", OrderedBytes.class);
    both("ordered.null", "null", OrderedBytes::encodeNull);
    for (byte v : Vectors.BYTES) {
      both("ordered.int8", Byte.toString(v), (to, order) -> OrderedBytes.encodeInt8(to, v, order));
    }
    for (short v : Vectors.SHORTS) {
      both("ordered.int16", Short.toString(v), (to, order) -> OrderedBytes.encodeInt16(to, v, order));
    }
    for (int v : Vectors.INTS) {
      both("ordered.int32", Integer.toString(v), (to, order) -> OrderedBytes.encodeInt32(to, v, order));
    }
    for (long v : Vectors.LONGS) {
      both("ordered.int64", Long.toString(v), (to, order) -> OrderedBytes.encodeInt64(to, v, order));
    }
    for (float v : Vectors.FLOATS) {
      both("ordered.float32", Float.toString(v), (to, order) -> OrderedBytes.encodeFloat32(to, v, order));
    }
    for (double v : Vectors.DOUBLES) {
      both("ordered.float64", Double.toString(v), (to, order) -> OrderedBytes.encodeFloat64(to, v, order));
    }
    both("ordered.float64", Vectors.OTHER_NAN_TEXT, (to, order) -> OrderedBytes.encodeFloat64(to, Vectors.OTHER_NAN, order));
    for (String v : Vectors.TEXTS) {
      both("ordered.string", Vectors.text(v), (to, order) -> OrderedBytes.encodeString(to, v, order));
    }
    both("ordered.string", "null", (to, order) -> OrderedBytes.encodeString(to, null, order));
    for (byte[] v : Vectors.BLOBS) {
      both("ordered.blob_var", Vectors.hex(v), (to, order) -> OrderedBytes.encodeBlobVar(to, v, order));
      both("ordered.blob_copy", Vectors.hex(v), (to, order) -> OrderedBytes.encodeBlobCopy(to, v, order));
    }
    for (String v : NUMBERS) {
      both("ordered.numeric", v, (to, order) -> OrderedBytes.encodeNumeric(to, new BigDecimal(v), order));
    }
    for (double v : new double[] {Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, Double.NaN}) {
      both("ordered.numeric", Double.toString(v), (to, order) -> OrderedBytes.encodeNumeric(to, v, order));
    }
    both("ordered.numeric", "null", (to, order) -> OrderedBytes.encodeNumeric(to, (BigDecimal) null, order));
    keys();
  }

  /** Several fields are their encodings one behind the other. */
  private static void keys() {
    vector("ordered.string, ordered.int64 desc", "\"bob\", 1669852800000", to -> {
      OrderedBytes.encodeString(to, "bob", Order.ASCENDING);
      OrderedBytes.encodeInt64(to, 1669852800000L, Order.DESCENDING);
    });
    vector("ordered.string desc, ordered.numeric", "\"bob\", 42", to -> {
      OrderedBytes.encodeString(to, "bob", Order.DESCENDING);
      OrderedBytes.encodeNumeric(to, 42L, Order.ASCENDING);
    });
    vector("ordered.string, ordered.null, ordered.int32", "\"\", null, -1", to -> {
      OrderedBytes.encodeString(to, "", Order.ASCENDING);
      OrderedBytes.encodeNull(to, Order.ASCENDING);
      OrderedBytes.encodeInt32(to, -1, Order.ASCENDING);
    });
    vector("ordered.blob_var, ordered.blob_copy", "0x00ff, 0x00ff", to -> {
      OrderedBytes.encodeBlobVar(to, Vectors.bytes(0, 0xff), Order.ASCENDING);
      OrderedBytes.encodeBlobCopy(to, Vectors.bytes(0, 0xff), Order.ASCENDING);
    });
  }

  private static void both(String type, String value, Encoder encoder) {
    vector(type, value, to -> encoder.encode(to, Order.ASCENDING));
    vector(type + " desc", value, to -> encoder.encode(to, Order.DESCENDING));
  }

  private static void vector(String type, String value, java.util.function.Consumer<PositionedByteRange> encode) {
    Vectors.attempt(type, value, () -> {
      PositionedByteRange target = new SimplePositionedMutableByteRange(512);
      encode.accept(target);
      return Arrays.copyOf(target.getBytes(), target.getPosition());
    });
  }
}
