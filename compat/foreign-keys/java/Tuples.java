import com.apple.foundationdb.tuple.Tuple;
import com.apple.foundationdb.tuple.Versionstamp;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.UUID;

/** Elements of FoundationDB's tuple layer. */
final class Tuples {
  private static final String[] BIG = {
    "-340282366920938463463374607431768211456", "-18446744073709551616", "-18446744073709551615", "-9223372036854775809", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211455"
  };

  public static void main(String[] args) {
    Vectors.header("Elements of FoundationDB's tuple layer", Tuple.class);
    vector("tuple.null", "null", (Object) null);
    for (boolean v : new boolean[] {false, true}) {
      vector("tuple.bool", Boolean.toString(v), v);
    }
    for (long v : Vectors.LONGS) {
      vector("tuple.int", Long.toString(v), v);
    }
    for (String v : BIG) {
      vector("tuple.int", v, new BigInteger(v));
    }
    vector("tuple.int", "2^2040-1", BigInteger.ONE.shiftLeft(2040).subtract(BigInteger.ONE));
    vector("tuple.int", "2^2040", BigInteger.ONE.shiftLeft(2040));
    for (float v : Vectors.FLOATS) {
      vector("tuple.float", Float.toString(v), v);
    }
    for (double v : Vectors.DOUBLES) {
      vector("tuple.double", Double.toString(v), v);
    }
    vector("tuple.double", Vectors.OTHER_NAN_TEXT, Vectors.OTHER_NAN);
    for (String v : Vectors.TEXTS) {
      vector("tuple.string", Vectors.text(v), v);
    }
    for (byte[] v : Vectors.BLOBS) {
      vector("tuple.bytes", Vectors.hex(v), v);
    }
    for (String v : new String[] {"00000000-0000-0000-0000-000000000000", "c0ffee00-1234-5678-9abc-def012345678", "ffffffff-ffff-ffff-ffff-ffffffffffff"}) {
      vector("tuple.uuid", v, UUID.fromString(v));
    }
    byte[] transaction = Vectors.bytes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    vector("tuple.versionstamp", "0x00010203040506070809 0", Versionstamp.complete(transaction, 0));
    vector("tuple.versionstamp", "0x00010203040506070809 65535", Versionstamp.complete(transaction, 65535));
    keys();
  }

  private static void keys() {
    vector("tuple.string, tuple.int", "\"bob\", 1669852800000", "bob", 1669852800000L);
    vector("tuple.string, tuple.int", "\"bob\", -1", "bob", -1L);
    vector("tuple.string, tuple.null, tuple.bytes", "\"\", null, 0x00", "", null, Vectors.bytes(0));
    vector("tuple.nested(tuple.string, tuple.null), tuple.int", "(\"a\", null), 0", Tuple.from("a", null), 0L);
    vector("tuple.nested(), tuple.int", "(), 1", new Tuple(), 1L);
    vector("tuple.nested(tuple.nested(tuple.null)), tuple.bool", "((null)), true", Tuple.from(Tuple.from((Object) null)), true);
  }

  private static void vector(String type, String value, Object... elements) {
    Vectors.attempt(type, value, () -> Tuple.fromList(Arrays.asList(elements)).pack());
  }
}
