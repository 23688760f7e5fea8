import com.google.common.hash.Hashing;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.zip.CRC32;
import net.openhft.hashing.LongHashFunction;
import org.apache.hadoop.hbase.util.Bytes;

/** Hashes of the same inputs; numbers big-endian. */
final class Hashes {
  private static final byte[][] INPUTS = {
    Vectors.bytes(), Vectors.utf8("a"), Vectors.utf8("abc"), Vectors.utf8("user10"), Vectors.utf8("foo0001"), Vectors.utf8("bob@example.com"),
    Vectors.utf8("ü"), Vectors.utf8("東京"), Vectors.bytes(0), Vectors.bytes(0, 0, 0, 0), Vectors.bytes(0xff), Bytes.toBytes(1669852800000L),
    Vectors.utf8("0123456789abcdef"), Vectors.utf8("0123456789abcdefg"), Vectors.utf8("x".repeat(129)), Vectors.utf8("x".repeat(241)),
    Vectors.utf8("x".repeat(1025))
  };

  public static void main(String[] args) throws Exception {
    Vectors.header("Hashes, numbers big-endian; value: what is hashed (a long run of x by its length)",
        MessageDigest.class, CRC32.class, Hashing.class, LongHashFunction.class);
    for (byte[] input : INPUTS) {
      String value = input.length > 100 ? "x*" + input.length : Vectors.hex(input);
      Vectors.vector("md5", value, MessageDigest.getInstance("MD5").digest(input));
      Vectors.vector("sha1", value, MessageDigest.getInstance("SHA-1").digest(input));
      Vectors.vector("sha256", value, MessageDigest.getInstance("SHA-256").digest(input));
      Vectors.vector("murmur3", value, number(Hashing.murmur3_32_fixed().hashBytes(input).asInt()));
      Vectors.vector("crc32", value, number((int) crc32(input)));
      Vectors.vector("xxh3", value, number(LongHashFunction.xx3().hashBytes(input)));
    }
    javaHashCodes();
  }

  private static void javaHashCodes() {
    for (String v : new String[] {
      "", "a", "ab", "abc", "user10", "foo0001", "bob@example.com", "ü", "東京", "😀", "polygenelubricants", "Aa", "BB", "\u0000"
    }) {
      Vectors.vector("java.hashcode string", Vectors.text(v), number(v.hashCode()));
    }
    for (long v : Vectors.LONGS) {
      Vectors.vector("java.hashcode long", Long.toString(v), number(Long.hashCode(v)));
    }
    for (byte[] v : new byte[][] {Vectors.bytes(), Vectors.utf8("a"), Vectors.bytes(0xff), Vectors.utf8("user10"), Vectors.utf8("東京")}) {
      Vectors.vector("java.hashcode bytes (java.util.Arrays)", Vectors.hex(v), number(java.util.Arrays.hashCode(v)));
      Vectors.vector("java.hashcode bytes (hbase Bytes)", Vectors.hex(v), number(Bytes.hashCode(v)));
    }
  }

  private static long crc32(byte[] input) {
    CRC32 crc = new CRC32();
    crc.update(input);
    return crc.getValue();
  }

  private static byte[] number(int value) {
    return ByteBuffer.allocate(4).putInt(value).array();
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }
}
