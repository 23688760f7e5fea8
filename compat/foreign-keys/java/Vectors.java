import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** Golden vectors on standard output, one a line: type, value and bytes in hex, a tab between each. */
final class Vectors {
  private static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

  /** The first line of a file: where the code that made the bytes comes from. */
  static void header(String what, Class<?>... makers) {
    String jars = Arrays.stream(makers).map(Vectors::artifact).distinct().collect(Collectors.joining(", "));
    OUT.println("# " + what + ". Made by " + jars + "; see compat/foreign-keys.");
  }

  static void note(String line) {
    OUT.println("# " + line);
  }

  static void vector(String type, String value, byte[] bytes) {
    OUT.println(type + "\t" + value + "\t" + HexFormat.of().formatHex(bytes));
  }

  /** What the original code refuses is a vector too. */
  static void attempt(String type, String value, Callable<byte[]> encode) {
    byte[] bytes;
    try {
      bytes = encode.call();
    } catch (Exception | AssertionError refusal) {
      OUT.println(type + "\t" + value + "\trefused");
      System.err.println(type + " of " + value + ": " + refusal);
      return;
    }
    vector(type, value, bytes);
  }

  /** Text as it stands, in quotes; controls, quotes and backslashes as \xHH. */
  static String text(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    text.codePoints().forEach(c -> {
      if (c < 0x20 || c == 0x7f || c == '"' || c == '\\') {
        quoted.append(String.format("\\x%02x", c));
      } else {
        quoted.appendCodePoint(c);
      }
    });
    return quoted.append('"').toString();
  }

  static String hex(byte[] bytes) {
    return "0x" + HexFormat.of().formatHex(bytes);
  }

  static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Texts that try an encoding: empty, ASCII, two, three and four bytes a character, bytes 00 01 7f, and one that begins another. */
  static final String[] TEXTS = {
    "", "a", "ab", "b", "user10", "a\u0000", "a\u0000b", "\u0000", "\u0000\u0000", "\u0001", "a\u0001b", "\u007f", "ü", "東京", "😀"
  };

  /** Byte strings that try an encoding. */
  static final byte[][] BLOBS = {
    bytes(), bytes(0), bytes(0, 0), bytes(1), bytes(0, 1), bytes(0, 0xff), bytes(0xff), bytes(0xff, 0xff), bytes(0xff, 0), bytes(0x7f),
    bytes(0x80), bytes(1, 2, 3, 4, 5, 6, 7), bytes(1, 2, 3, 4, 5, 6, 7, 8), bytes(0xfe, 0xff, 0x00, 0x01)
  };

  static final long[] LONGS = {
    Long.MIN_VALUE, Long.MIN_VALUE + 1, -4294967296L, -65536, -257, -256, -255, -65, -64, -1, 0, 1, 63, 64, 127, 128, 255, 256, 65535, 65536,
    2147483648L, 4294967296L, 1669852800000L, Long.MAX_VALUE - 1, Long.MAX_VALUE
  };

  static final int[] INTS = {Integer.MIN_VALUE, -65536, -256, -1, 0, 1, 127, 128, 255, 256, 1669852800, Integer.MAX_VALUE};

  static final short[] SHORTS = {Short.MIN_VALUE, -256, -1, 0, 1, 127, 128, 256, Short.MAX_VALUE};

  static final byte[] BYTES = {Byte.MIN_VALUE, -1, 0, 1, Byte.MAX_VALUE};

  static final double[] DOUBLES = {
    Double.NEGATIVE_INFINITY, -Double.MAX_VALUE, -1.5, -1, -Double.MIN_VALUE, -0.0, 0, Double.MIN_VALUE, 0.1, 1, 1.5, Double.MAX_VALUE,
    Double.POSITIVE_INFINITY, Double.NaN
  };

  /** A NaN that is not Java's own: some encodings keep its bits, some do not. */
  static final double OTHER_NAN = Double.longBitsToDouble(0x7ff8000000000001L);

  static final String OTHER_NAN_TEXT = "NaN of bits 0x7ff8000000000001";

  static final float[] FLOATS = {
    Float.NEGATIVE_INFINITY, -Float.MAX_VALUE, -1.5f, -1, -Float.MIN_VALUE, -0.0f, 0, Float.MIN_VALUE, 0.1f, 1, 1.5f, Float.MAX_VALUE,
    Float.POSITIVE_INFINITY, Float.NaN
  };

  private static String artifact(Class<?> maker) {
    var source = maker.getProtectionDomain().getCodeSource();
    if (source == null) {
      return "the JDK's " + maker.getName();
    }
    String path = source.getLocation().getPath();
    return path.substring(path.lastIndexOf('/') + 1).replaceAll("\\.jar$", "");
  }

  private Vectors() {}
}
