import java.math.BigDecimal;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import org.apache.phoenix.schema.SortOrder;
import org.apache.phoenix.schema.types.*;

/** Phoenix's types one by one, in both orders, without the separator that a key may put behind them. */
final class PhoenixTypes {
  private static final String[] DECIMALS = {
    "-12345678901234567890", "-1E+100", "-101", "-100", "-99.5", "-10", "-1.5", "-1", "-0.1", "-0.01", "0", "0.01", "0.0123", "0.1", "1", "1.0", "1.5",
    "10", "99", "100", "101", "1234", "12345", "12345678901234567890", "1E-128", "1E-129", "1E-131", "1E+100", "9E+125",
    "1E+126", "1E+127", "-1E+126", "99999999999999999999999999999999999999"
  };

  private static final long[] MILLIS = {Long.MIN_VALUE, -62135596800000L, -1, 0, 1, 1669852800000L, 253402300799999L, Long.MAX_VALUE};

  public static void main(String[] args) {
    Vectors.header("Phoenix types, ascending and descending, without separators", PDataType.class);
    numbers();
    for (String v : Vectors.TEXTS) {
      both("phoenix.varchar", Vectors.text(v), PVarchar.INSTANCE, v);
    }
    for (byte[] v : Vectors.BLOBS) {
      both("phoenix.varbinary", Vectors.hex(v), PVarbinary.INSTANCE, v);
    }
    for (boolean v : new boolean[] {false, true}) {
      both("phoenix.boolean", Boolean.toString(v), PBoolean.INSTANCE, v);
    }
    for (String v : DECIMALS) {
      both("phoenix.decimal", v, PDecimal.INSTANCE, new BigDecimal(v));
    }
    times();
  }

  private static void numbers() {
    for (long v : Vectors.LONGS) {
      both("phoenix.bigint", Long.toString(v), PLong.INSTANCE, v);
    }
    for (long v : new long[] {-1, 0, 1, 255, 256, 4294967296L, 1669852800000L, Long.MAX_VALUE}) {
      both("phoenix.unsigned_long", Long.toString(v), PUnsignedLong.INSTANCE, v);
    }
    for (int v : Vectors.INTS) {
      both("phoenix.int", Integer.toString(v), PInteger.INSTANCE, v);
    }
    for (int v : new int[] {-1, 0, 1, 255, 256, Integer.MAX_VALUE}) {
      both("phoenix.unsigned_int", Integer.toString(v), PUnsignedInt.INSTANCE, v);
    }
    for (short v : new short[] {Short.MIN_VALUE, -1, 0, 1, 255, 256, Short.MAX_VALUE}) {
      both("phoenix.smallint", Short.toString(v), PSmallint.INSTANCE, v);
      both("phoenix.unsigned_smallint", Short.toString(v), PUnsignedSmallint.INSTANCE, v);
    }
    for (byte v : Vectors.BYTES) {
      both("phoenix.tinyint", Byte.toString(v), PTinyint.INSTANCE, v);
      both("phoenix.unsigned_tinyint", Byte.toString(v), PUnsignedTinyint.INSTANCE, v);
    }
    for (double v : Vectors.DOUBLES) {
      both("phoenix.double", Double.toString(v), PDouble.INSTANCE, v);
    }
    both("phoenix.double", Vectors.OTHER_NAN_TEXT, PDouble.INSTANCE, Vectors.OTHER_NAN);
    for (double v : new double[] {-1, -0.0, 0, Double.MIN_VALUE, 1.5, Double.MAX_VALUE, Double.NaN}) {
      both("phoenix.unsigned_double", Double.toString(v), PUnsignedDouble.INSTANCE, v);
    }
    for (float v : Vectors.FLOATS) {
      both("phoenix.float", Float.toString(v), PFloat.INSTANCE, v);
    }
    for (float v : new float[] {-1, -0.0f, 0, Float.MIN_VALUE, 1.5f, Float.MAX_VALUE, Float.NaN}) {
      both("phoenix.unsigned_float", Float.toString(v), PUnsignedFloat.INSTANCE, v);
    }
  }

  /** Times by their milliseconds since 1970; a timestamp has nanoseconds within its second besides. */
  private static void times() {
    for (long v : MILLIS) {
      both("phoenix.date", Long.toString(v), PDate.INSTANCE, new Date(v));
      both("phoenix.time", Long.toString(v), PTime.INSTANCE, new Time(v));
      both("phoenix.unsigned_date", Long.toString(v), PUnsignedDate.INSTANCE, new Date(v));
      both("phoenix.unsigned_time", Long.toString(v), PUnsignedTime.INSTANCE, new Time(v));
    }
    for (long v : new long[] {-62135596800000L, -1001, -1, 0, 999, 1669852799999L, 1669852800000L, 253402300799999L}) {
      both("phoenix.timestamp", Long.toString(v), PTimestamp.INSTANCE, new Timestamp(v));
      both("phoenix.unsigned_timestamp", Long.toString(v), PUnsignedTimestamp.INSTANCE, new Timestamp(v));
    }
    for (int nanos : new int[] {0, 1, 999_999, 1_000_000, 1_000_001, 123_456_789, 999_999_999}) {
      Timestamp v = new Timestamp(1669852800000L);
      v.setNanos(nanos);
      both("phoenix.timestamp", "1669852800000 with nanos " + nanos, PTimestamp.INSTANCE, v);
    }
  }

  private static void both(String name, String value, PDataType<?> type, Object object) {
    Vectors.attempt(name, value, () -> type.toBytes(object, SortOrder.ASC));
    Vectors.attempt(name + " desc", value, () -> type.toBytes(object, SortOrder.DESC));
  }
}
