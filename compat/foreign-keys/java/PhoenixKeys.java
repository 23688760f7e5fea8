import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.phoenix.jdbc.PhoenixDriver;
import org.apache.phoenix.schema.SortOrder;
import org.apache.phoenix.util.PhoenixRuntime;
import org.apache.phoenix.util.SchemaUtil;

/** Whole row keys, as Phoenix makes them of CREATE TABLE and UPSERT; its driver does both without a server. */
final class PhoenixKeys {
  /** The last one's hash is Integer.MIN_VALUE. */
  private static final String[] SALTED = {"", "a", "b", "ab", "user10", "user11", "foo0001", "東京", "\u0001", "zzzz", "jpophhog"};

  private final Connection connection;
  private int tables = 0;

  public static void main(String[] args) throws Exception {
    Vectors.header("Whole Phoenix keys; type: the columns of the primary key, and buckets if salted", PhoenixDriver.class);
    try (Connection connection = DriverManager.getConnection("jdbc:phoenix:none")) {
      PhoenixKeys keys = new PhoenixKeys(connection);
      keys.separators();
      keys.nulls();
      keys.salted();
    }
    separatorsOfOldTables();
  }

  private PhoenixKeys(Connection connection) {
    this.connection = connection;
  }

  private void separators() {
    for (String text : new String[] {"a", "ab", "東京", "a\u0000b", "\u0001"}) {
      key("", text, "varchar");
      key("", text, "varchar desc");
    }
    for (String second : new String[] {"varchar", "varchar desc"}) {
      for (String first : new String[] {"varchar", "varchar desc"}) {
        key("", List.of("a", "b"), first, second);
        key("", List.of("ab", "b"), first, second);
      }
    }
    for (String first : new String[] {"varchar", "varchar desc"}) {
      key("", List.of("bob", 1669852800000L), first, "bigint");
      key("", List.of("bob", 1669852800000L), first, "bigint desc");
      key("", List.of("bob", -1L), first, "unsigned_long");
      key("", List.of("bob", 1L), first, "unsigned_long desc");
    }
    key("", List.of(5L, "bob"), "bigint", "varchar");
    key("", List.of(5L, "bob"), "bigint desc", "varchar desc");
    key("", List.of(1, 2, 3), "integer", "unsigned_int", "integer desc");
    key("", List.of("ab", 7), "char(4)", "integer");
    key("", List.of("ab", 7), "char(4) desc", "integer");
    key("", List.of("abcde", 7), "char(4)", "integer");
    key("", List.of("a ", 7), "char(4)", "integer");
    key("", List.of("ü", 7), "char(4)", "integer");
    key("", List.of("", 7), "char(4)", "integer");
    key("", List.of(Vectors.bytes(1, 2), 7), "binary(4)", "integer");
    key("", List.of(Vectors.bytes(1, 2, 3, 4, 5), 7), "binary(4)", "integer");
    key("", List.of("a", Vectors.bytes(0, 0xff)), "varchar", "varbinary");
    key("", List.of(Vectors.bytes(0, 0xff), "a"), "varbinary", "varchar");
    key("", List.of(new BigDecimal("1.5"), "a"), "decimal", "varchar");
    key("", List.of(new BigDecimal("1.5"), "a"), "decimal desc", "varchar");
    key("", List.of(new BigDecimal("-1.5"), "a"), "decimal", "varchar");
    key("", List.of(new BigDecimal("-1.5"), "a"), "decimal desc", "varchar");
    key("", List.of("a", new BigDecimal("-1.5")), "varchar", "decimal");
    key("", List.of("a", new BigDecimal("-1.5")), "varchar", "decimal desc");
    key("", List.of(new BigDecimal("1.5")), "decimal desc");
    key("", List.of("a", Vectors.bytes(0, 0xff)), "varchar", "varbinary desc");
    key("", List.of(Vectors.bytes(0, 0xff)), "varbinary");
    key("", List.of("a", "b", 1L), "varchar", "varchar desc", "bigint");
    key("", List.of("a", "b", "c"), "varchar", "varchar", "varchar");
    key("", List.of("a", "b", "c"), "varchar desc", "varchar desc", "varchar desc");
  }

  /** To Phoenix an empty text is null; trailing nulls leave no separator. */
  private void nulls() {
    for (String order : new String[] {"", " desc"}) {
      String text = "varchar" + order;
      key("", Arrays.asList("", "b"), text, text);
      key("", Arrays.asList(null, "b"), text, text);
      key("", Arrays.asList("a", null), text, text);
      key("", Arrays.asList("a", ""), text, text);
      key("", Arrays.asList("a", null, null), text, text, text);
      key("", Arrays.asList("a", null, "c"), text, text, text);
      key("", Arrays.asList(null, null, "c"), text, text, text);
      key("", Arrays.asList(null, null), text, text);
      key("", Arrays.asList(null, 5L), text, "bigint");
      key("", Arrays.asList("a", null), text, "bigint");
      key("", Arrays.asList(null, "b"), "bigint", text);
    }
    key("", Arrays.asList("a", null), "varchar", "varchar desc");
    key("", Arrays.asList("a", null, null), "varchar", "varchar desc", "varchar");
    key("", Arrays.asList("a", null, null), "varchar desc", "varchar", "varchar desc");
    key("", Arrays.asList(null, "b"), "varchar", "varchar desc");
    key("", Arrays.asList(null, "b"), "varchar desc", "varchar");
    key("", Arrays.asList("a", null, 1L), "varchar", "varchar", "bigint");
  }

  private void salted() {
    for (int buckets : new int[] {1, 4, 7, 16, 256}) {
      for (String text : SALTED) {
        key(" salt_buckets = " + buckets, text, "varchar");
      }
      for (long number : new long[] {Long.MIN_VALUE, -1, 0, 1, 255, 1669852800000L, Long.MAX_VALUE}) {
        key(" salt_buckets = " + buckets, List.of(number), "bigint");
      }
    }
    key(" salt_buckets = 16", List.of("bob", 1669852800000L), "varchar", "bigint desc");
    key(" salt_buckets = 16", List.of("bob", 1669852800000L), "varchar desc", "bigint desc");
    key(" salt_buckets = 16", Arrays.asList("bob", null), "varchar", "varchar");
    key(" salt_buckets = 257", "a", "varchar");
  }

  /** A table of an old Phoenix, whose descriptor does not call its row key order optimizable, separates otherwise. */
  private static void separatorsOfOldTables() {
    for (boolean optimizable : new boolean[] {true, false}) {
      for (boolean isNull : new boolean[] {false, true}) {
        for (SortOrder order : SortOrder.values()) {
          String value = (optimizable ? "" : "not ") + "optimizable, " + (isNull ? "null" : "a value") + ", " + order;
          Vectors.vector("phoenix separator", value, new byte[] {SchemaUtil.getSeparatorByte(optimizable, isNull, order)});
        }
      }
    }
  }

  private void key(String options, String text, String column) {
    key(options, List.of(text), column);
  }

  private void key(String options, List<?> values, String... columns) {
    String type = "phoenix(" + String.join(", ", columns) + ")" + options;
    String value = values.stream().map(PhoenixKeys::show).collect(Collectors.joining(", "));
    Vectors.attempt(type, value, () -> upsert(options, values, columns));
  }

  private byte[] upsert(String options, List<?> values, String[] columns) throws SQLException {
    String table = "t" + tables++;
    StringBuilder fields = new StringBuilder();
    StringBuilder primary = new StringBuilder();
    for (int i = 0; i < columns.length; i++) {
      String type = columns[i].replace(" desc", "");
      fields.append("k").append(i).append(' ').append(type).append(nullable(type) && columns.length > 1 ? "" : " not null").append(", ");
      primary.append(i == 0 ? "" : ", ").append("k").append(i).append(columns[i].endsWith(" desc") ? " desc" : "");
    }
    connection.createStatement().execute("create table " + table + " (" + fields + "v integer constraint pk primary key (" + primary + "))" + options);
    String marks = "?, ".repeat(columns.length);
    try (PreparedStatement upsert = connection.prepareStatement("upsert into " + table + " values (" + marks + "1)")) {
      for (int i = 0; i < columns.length; i++) {
        upsert.setObject(i + 1, values.get(i));
      }
      upsert.execute();
      return rowOfUpsert();
    } finally {
      connection.rollback();
    }
  }

  /** Phoenix allows null in a key only where the width may vary, and not in a key of one column. */
  private static boolean nullable(String type) {
    return type.equals("varchar") || type.equals("decimal") || type.equals("varbinary");
  }

  private byte[] rowOfUpsert() throws SQLException {
    Iterator<Pair<byte[], List<Cell>>> written = PhoenixRuntime.getUncommittedDataIterator(connection);
    Cell cell = written.next().getSecond().get(0);
    return Arrays.copyOfRange(cell.getRowArray(), cell.getRowOffset(), cell.getRowOffset() + cell.getRowLength());
  }

  private static String show(Object value) {
    if (value instanceof String text) {
      return Vectors.text(text);
    }
    return value instanceof byte[] bytes ? Vectors.hex(bytes) : String.valueOf(value);
  }
}
