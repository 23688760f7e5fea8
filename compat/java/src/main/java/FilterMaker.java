import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.filter.BigDecimalComparator;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.BinaryComponentComparator;
import org.apache.hadoop.hbase.filter.BinaryPrefixComparator;
import org.apache.hadoop.hbase.filter.BitComparator;
import org.apache.hadoop.hbase.filter.ByteArrayComparable;
import org.apache.hadoop.hbase.filter.ColumnCountGetFilter;
import org.apache.hadoop.hbase.filter.ColumnPaginationFilter;
import org.apache.hadoop.hbase.filter.ColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.filter.ColumnValueFilter;
import org.apache.hadoop.hbase.filter.DependentColumnFilter;
import org.apache.hadoop.hbase.filter.FamilyFilter;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.FirstKeyValueMatchingQualifiersFilter;
import org.apache.hadoop.hbase.filter.FuzzyRowFilter;
import org.apache.hadoop.hbase.filter.InclusiveStopFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.filter.LongComparator;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter.RowRange;
import org.apache.hadoop.hbase.filter.MultipleColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.NullComparator;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.QualifierFilter;
import org.apache.hadoop.hbase.filter.RandomRowFilter;
import org.apache.hadoop.hbase.filter.RegexStringComparator;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueExcludeFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.filter.SkipFilter;
import org.apache.hadoop.hbase.filter.SubstringComparator;
import org.apache.hadoop.hbase.filter.TimestampsFilter;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

/** Random cells and filters over few letters, so that much collides. */
final class FilterMaker {
  /** How many filters hold no other. */
  static final int SIMPLE = 25;

  /** What all values of a table are: comparators of numbers throw at any other. */
  enum Values { TEXT, LONG, DECIMAL }

  private static final String[] FAMILIES = {"f", "g", "gh"};
  private static final String[] ROWS = {"a", "ab", "abc", "b", "ba", "bab", "bb", "bca", "c", "ca", "cab", "cc", "d"};
  private static final String[] QUALIFIERS = {"", "a", "ab", "b", "ba", "c"};
  private static final String[] TEXTS = {"", "a", "ab", "B", "ba", "c"};
  private static final String[] EXPRESSIONS = {"a", "^a", "b$", "a.?b", "[bc]", "^(a|c)+$", "(?i)B"};

  private final Random random;
  private final Values values;

  FilterMaker(Random random, Values values) {
    this.random = random;
    this.values = values;
  }

  List<Cell> cells() {
    TreeSet<Cell> cells = new TreeSet<>(CellComparator.getInstance());
    while (cells.size() < 48) {
      cells.add(new KeyValue(pick(ROWS), pick(FAMILIES), pick(QUALIFIERS), 1 + random.nextInt(5), value()));
    }
    return new ArrayList<>(cells);
  }

  /** A filter around others, or a simple one. */
  Filter any(int depth) {
    if (depth == 0 || random.nextInt(8) == 0) {
      return simple(random.nextInt(SIMPLE));
    }
    int kind = random.nextInt(10);
    if (kind == 0) {
      return new SkipFilter(any(depth - 1));
    }
    if (kind == 1) {
      return new WhileMatchFilter(any(depth - 1));
    }
    List<Filter> filters = new ArrayList<>();
    for (int i = random.nextInt(20) == 0 ? 0 : 1 + random.nextInt(3); i > 0; i--) {
      filters.add(any(depth - 1));
    }
    return new FilterList(kind < 6 ? FilterList.Operator.MUST_PASS_ALL : FilterList.Operator.MUST_PASS_ONE, filters);
  }

  Filter simple(int kind) {
    return switch (kind) {
      case 0 -> new RowFilter(operator(), ofRow());
      case 1 -> new FamilyFilter(operator(), ofText(FAMILIES));
      case 2 -> new QualifierFilter(operator(), ofText(QUALIFIERS));
      case 3 -> new ValueFilter(operator(), ofValue());
      case 4 -> new DependentColumnFilter(pick(FAMILIES), pick(QUALIFIERS), random.nextBoolean());
      case 5 -> new DependentColumnFilter(pick(FAMILIES), pick(QUALIFIERS), random.nextBoolean(), operator(), ofValue());
      case 6, 7 -> singleColumn(kind == 7);
      case 8 -> new ColumnValueFilter(pick(FAMILIES), pick(QUALIFIERS), operator(), ofValue());
      case 9 -> new PrefixFilter(pick(ROWS));
      case 10 -> new ColumnPrefixFilter(pick(QUALIFIERS));
      case 11 -> new MultipleColumnPrefixFilter(some(QUALIFIERS));
      case 12 -> new ColumnRangeFilter(maybe(QUALIFIERS), random.nextBoolean(), maybe(QUALIFIERS), random.nextBoolean());
      case 13 -> new ColumnCountGetFilter(random.nextInt(5));
      case 14 -> new ColumnPaginationFilter(random.nextInt(4), random.nextInt(3));
      case 15 -> new ColumnPaginationFilter(random.nextInt(4), pick(QUALIFIERS));
      case 16 -> new PageFilter(random.nextInt(5));
      case 17 -> new KeyOnlyFilter(random.nextBoolean());
      case 18 -> new FirstKeyOnlyFilter();
      case 19 -> new FirstKeyValueMatchingQualifiersFilter(qualifiers());
      case 20 -> new InclusiveStopFilter(pick(ROWS));
      case 21 -> new MultiRowRangeFilter(ranges());
      case 22 -> new FuzzyRowFilter(fuzzyKeys());
      case 23 -> new RandomRowFilter(random.nextBoolean() ? 0 : 1.5f);
      default -> new TimestampsFilter(timestamps(), random.nextBoolean());
    };
  }

  private Filter singleColumn(boolean exclude) {
    byte[] family = pick(FAMILIES);
    byte[] qualifier = pick(QUALIFIERS);
    CompareOperator operator = CompareOperator.values()[random.nextInt(6)];
    SingleColumnValueFilter filter = exclude
      ? new SingleColumnValueExcludeFilter(family, qualifier, operator, ofValue())
      : new SingleColumnValueFilter(family, qualifier, operator, ofValue());
    filter.setFilterIfMissing(random.nextBoolean());
    filter.setLatestVersionOnly(random.nextBoolean());
    return filter;
  }

  /** Mostly one that lets some through and not all. */
  private CompareOperator operator() {
    return CompareOperator.values()[random.nextInt(random.nextInt(10) == 0 ? 7 : 6)];
  }

  private ByteArrayComparable ofRow() {
    // Longer ones read beyond the row.
    return random.nextInt(8) == 0 ? new BinaryComponentComparator(Bytes.toBytes("b"), 0) : ofText(ROWS);
  }

  private ByteArrayComparable ofText(String[] texts) {
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> new BinaryComparator(pick(texts));
      case 3, 4 -> new BinaryPrefixComparator(pick(texts));
      case 5 -> new SubstringComparator(Bytes.toString(pick(TEXTS)));
      case 6 -> new RegexStringComparator(EXPRESSIONS[random.nextInt(EXPRESSIONS.length)]);
      default -> random.nextBoolean() ? new NullComparator() : bits(pick(texts));
    };
  }

  private ByteArrayComparable ofValue() {
    if (values == Values.TEXT || random.nextInt(3) == 0) {
      return ofText(TEXTS);
    }
    if (values == Values.DECIMAL) {
      return new BigDecimalComparator(decimal());
    }
    return switch (random.nextInt(4)) {
      case 0 -> new BinaryComponentComparator(new byte[] {(byte) random.nextInt(3)}, 7);
      case 1 -> bits(Bytes.toBytes((long) random.nextInt(4)));
      default -> new LongComparator(random.nextInt(7) - 3);
    };
  }

  private ByteArrayComparable bits(byte[] bits) {
    return new BitComparator(bits, BitComparator.BitwiseOp.values()[random.nextInt(3)]);
  }

  private byte[] value() {
    return switch (values) {
      case TEXT -> pick(TEXTS);
      case LONG -> Bytes.toBytes((long) (random.nextInt(7) - 3));
      case DECIMAL -> Bytes.toBytes(decimal());
    };
  }

  private BigDecimal decimal() {
    String[] numbers = {"0", "0.00", "1", "1.0", "-1", "10", "1E1", "-1.5", "123456789012345678901234567890", "1E-300", "1E+300", "-1E+300"};
    return new BigDecimal(numbers[random.nextInt(numbers.length)]);
  }

  private byte[] pick(String[] texts) {
    return Bytes.toBytes(texts[random.nextInt(texts.length)]);
  }

  private byte[] maybe(String[] texts) {
    return random.nextInt(4) == 0 ? null : pick(texts);
  }

  private TreeSet<byte[]> qualifiers() {
    TreeSet<byte[]> qualifiers = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    for (int i = random.nextInt(3); i >= 0; i--) {
      qualifiers.add(pick(QUALIFIERS));
    }
    return qualifiers;
  }

  private byte[][] some(String[] texts) {
    return random.nextInt(10) == 0 ? new byte[0][] : qualifiers().toArray(new byte[0][]);
  }

  private List<Long> timestamps() {
    List<Long> timestamps = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      timestamps.add((long) random.nextInt(7));
    }
    return timestamps;
  }

  /** Ranges that HBase merges into what they are: it loses or adds rows of some that overlap. */
  private List<RowRange> ranges() {
    List<RowRange> ranges = new ArrayList<>();
    TreeSet<byte[]> ends = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    while (ends.size() < 6) {
      ends.add(pick(ROWS));
    }
    List<byte[]> sorted = new ArrayList<>(ends);
    for (int i = 0; i < 6; i += 2) {
      if (random.nextInt(4) > 0 || ranges.isEmpty()) {
        int stop = i + 1 < 5 && random.nextInt(4) == 0 ? i + 2 : i + 1;
        ranges.add(new RowRange(sorted.get(i), random.nextBoolean(), sorted.get(stop), random.nextBoolean()));
      }
    }
    return ranges;
  }

  private List<Pair<byte[], byte[]>> fuzzyKeys() {
    List<Pair<byte[], byte[]>> keys = new ArrayList<>();
    for (int i = random.nextInt(2); i >= 0; i--) {
      byte[] key = pick(ROWS);
      byte[] mask = new byte[key.length];
      for (int at = 0; at < mask.length; at++) {
        mask[at] = (byte) random.nextInt(2);
      }
      keys.add(new Pair<>(key, mask));
    }
    return keys;
  }
}
