import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.apache.hadoop.hbase.util.Bytes;

/** Expressions of Java that stand in many row keys, through {@code Bytes.toBytes}. */
final class JavaText {
  private static final long[] TIMES = {
    0, 1, 999, 1423523569918L, 1425330757685L, 1669852799999L, 1669852800000L, 1672531199999L, 1672531200000L, 253402300799999L,
    8223372036854775807L, 8223372036854775808L, Long.MAX_VALUE - 1, Long.MAX_VALUE, -1, Long.MIN_VALUE
  };

  public static void main(String[] args) throws Exception {
    Vectors.header("Expressions in Java that make row keys, through Bytes.toBytes; type: the expression of v", String.class, Bytes.class);
    for (long v : TIMES) {
      text("Long.toString(Long.MAX_VALUE - v)", v, Long.toString(Long.MAX_VALUE - v));
      Vectors.vector("Long.MAX_VALUE - v", Long.toString(v), Bytes.toBytes(Long.MAX_VALUE - v));
    }
    for (long v : new long[] {0, 1, 42, 9999999999L, 10000000000L, -1, -123456789, -1234567890, Long.MAX_VALUE}) {
      text("String.format(\"%010d\", v)", v, String.format("%010d", v));
    }
    for (String v : new String[] {"", "1", "12", "120", "123456789", "user10", "13800138000", "ü1", "東京", "a😀", "e\u0301x"}) {
      Vectors.vector("new StringBuilder(v).reverse().toString()", Vectors.text(v), Bytes.toBytes(new StringBuilder(v).reverse().toString()));
    }
    for (String v : new String[] {"", "a", "user10", "123", "東京"}) {
      md5(v);
    }
    bucketsOfLongHash();
  }

  /** The digest as a string is longer than the digest, or has lost bytes: which depends on the charset. */
  private static void md5(String v) throws Exception {
    byte[] digest = MessageDigest.getInstance("MD5").digest(Vectors.utf8(v));
    Vectors.vector("md5(v)", Vectors.text(v), digest);
    for (Charset charset : new Charset[] {StandardCharsets.UTF_8, StandardCharsets.ISO_8859_1, StandardCharsets.US_ASCII}) {
      Vectors.vector("new String(md5(v), " + charset + ").getBytes(" + charset + ")", Vectors.text(v), new String(digest, charset).getBytes(charset));
      Vectors.vector("Bytes.toBytes(new String(md5(v), " + charset + "))", Vectors.text(v), Bytes.toBytes(new String(digest, charset)));
    }
  }

  /** There is no toBytes(byte): the byte widens to a short, and the sign of hashCode stays, so N buckets make 2N-1 prefixes. */
  private static void bucketsOfLongHash() {
    for (int buckets : new int[] {4, 16, 50}) {
      for (long v : new long[] {0, 1, 3, 4, 7, 15, 1669852800000L, 1669852800001L, 1423523569918L, 1425330757685L, 2147483648L, 3000000000L, -1, Long.MAX_VALUE}) {
        byte prefix = (byte) (Long.hashCode(v) % buckets);
        Vectors.vector("Bytes.toBytes((byte) (Long.hashCode(v) % " + buckets + "))", Long.toString(v), Bytes.toBytes(prefix));
      }
    }
    for (long v : new long[] {2147483648L, 3000000000L, 1669852800000L}) {
      Vectors.vector("Bytes.toBytes(Long.hashCode(v) % 16)", Long.toString(v), Bytes.toBytes(Long.hashCode(v) % 16));
      Vectors.vector("Bytes.toBytes((byte) (Math.abs(Long.hashCode(v)) % 16))", Long.toString(v), Bytes.toBytes((byte) (Math.abs(Long.hashCode(v)) % 16)));
      Vectors.vector("new byte[] {(byte) (Long.hashCode(v) % 200)}", Long.toString(v), new byte[] {(byte) (Long.hashCode(v) % 200)});
      Vectors.vector("Bytes.toBytes((byte) (Long.hashCode(v) % 200))", Long.toString(v), Bytes.toBytes((byte) (Long.hashCode(v) % 200)));
    }
  }

  private static void text(String expression, long value, String text) {
    Vectors.vector(expression, Long.toString(value), Bytes.toBytes(text));
  }
}
