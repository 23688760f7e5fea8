import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Query;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.filter.ColumnPaginationFilter;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FirstKeyValueMatchingQualifiersFilter;
import org.apache.hadoop.hbase.filter.FuzzyRowFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter.RowRange;
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.filter.SkipFilter;
import org.apache.hadoop.hbase.filter.TimestampsFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

/** The steps that read, read from their text, and answers as text. */
final class HistoryReads {
  private static final Pattern WRAPPED = Pattern.compile("(all|any|skip|while)\\{(.*)\\}");

  private final String prefix;

  HistoryReads(String prefix) {
    this.prefix = prefix;
  }

  private byte[] row(String text) {
    return Bytes.add(Bytes.toBytes(prefix), Bytes.toBytesBinary(text));
  }

  /** {@code get|exists ROW OPTIONS}. */
  Get get(String text) throws IOException {
    String[] words = text.split(" ", 3);
    Get get = new Get(row(words[1]));
    for (String option : options(words.length == 3 ? words[2] : "")) {
      String value = option.substring(option.indexOf('=') + 1);
      if (both(get, option, value)) continue;
      switch (option.substring(0, option.indexOf('='))) {
        case "column" -> get.addColumn(family(value), qualifier(value));
        case "family" -> get.addFamily(Bytes.toBytes(value));
        case "versions" -> get.readVersions(Integer.parseInt(value));
        case "time" -> get.setTimeRange(range(value)[0], range(value)[1]);
        case "storelimit" -> get.setMaxResultsPerColumnFamily(Integer.parseInt(value));
        case "offset" -> get.setRowOffsetPerColumnFamily(Integer.parseInt(value));
        default -> throw new IOException("not an option of a get: " + option);
      }
    }
    return get;
  }

  /** {@code scan [A..B) OPTIONS}: a bound that is not there is the history's own first or last row. */
  Scan scan(String text) throws IOException {
    String[] words = text.split(" ", 3);
    List<String> options = options(words.length == 3 ? words[2] : "");
    Scan scan = new Scan().setReversed(options.contains("reversed"));
    range(scan, words[1]);
    for (String option : options) {
      String value = option.substring(option.indexOf('=') + 1);
      if (both(scan, option, value)) continue;
      switch (option.contains("=") ? option.substring(0, option.indexOf('=')) : option) {
        case "column" -> scan.addColumn(family(value), qualifier(value));
        case "family" -> scan.addFamily(Bytes.toBytes(value));
        case "versions" -> scan.readVersions(Integer.parseInt(value));
        case "time" -> scan.setTimeRange(range(value)[0], range(value)[1]);
        case "storelimit" -> scan.setMaxResultsPerColumnFamily(Integer.parseInt(value));
        case "offset" -> scan.setRowOffsetPerColumnFamily(Integer.parseInt(value));
        case "limit" -> scan.setLimit(Integer.parseInt(value));
        case "caching" -> scan.setCaching(Integer.parseInt(value));
        case "batch" -> scan.setBatch(Integer.parseInt(value));
        case "bytes" -> scan.setMaxResultSize(Long.parseLong(value));
        case "reversed" -> { }
        case "raw" -> scan.setRaw(true);
        case "partial" -> scan.setAllowPartialResults(true);
        default -> throw new IOException("not an option of a scan: " + option);
      }
    }
    return scan;
  }

  private void range(Scan scan, String text) {
    String[] bounds = text.substring(1, text.length() - 1).split("\\.\\.", -1);
    boolean startIn = text.startsWith("["), stopIn = text.endsWith("]");
    byte[] first = Bytes.toBytes(prefix), last = Bytes.add(first, new byte[] {-1});
    byte[] low = scan.isReversed() ? last : first, high = scan.isReversed() ? first : last;
    scan.withStartRow(bounds[0].isEmpty() ? low : row(bounds[0]), startIn || bounds[0].isEmpty());
    scan.withStopRow(bounds[1].isEmpty() ? high : row(bounds[1]), stopIn);
  }

  private boolean both(Query query, String option, String value) throws IOException {
    if (option.startsWith("filter=")) query.setFilter(filter(prefix, value));
    else if (option.startsWith("time:")) {
      long[] range = range(value);
      query.setColumnFamilyTimeRange(Bytes.toBytes(option.substring(5, option.indexOf('='))), range[0], range[1]);
    } else return false;
    return true;
  }

  /** Options are words, but for a filter, which is all the rest. */
  private static List<String> options(String text) {
    int filter = text.startsWith("filter=") ? 0 : text.indexOf(" filter=");
    String words = filter < 0 ? text : text.substring(0, filter);
    List<String> options = new ArrayList<>(Arrays.asList(words.trim().split(" ")));
    options.removeIf(String::isEmpty);
    if (filter >= 0) options.add(text.substring(filter).trim());
    return options;
  }

  static long[] range(String text) {
    String[] bounds = text.split("\\.\\.", -1);
    return new long[] {Long.parseLong(bounds[0]), bounds[1].isEmpty() ? Long.MAX_VALUE : Long.parseLong(bounds[1])};
  }

  private static byte[] family(String column) {
    return Bytes.toBytes(column.substring(0, column.indexOf(':')));
  }

  private static byte[] qualifier(String column) {
    return Bytes.toBytesBinary(column.substring(column.indexOf(':') + 1));
  }

  /**
   * HBase's filter language with the history's prefix for {p}, or one of the filters it has no words for; lists and wrappers
   * (which its parser does not take inside of each other) as {@code all{A ;; B}}, {@code any{A ;; B}}, {@code skip{A}}, {@code while{A}}.
   */
  static Filter filter(String prefix, String text) throws IOException {
    Matcher wrapped = WRAPPED.matcher(text);
    if (wrapped.matches()) {
      List<Filter> inner = new ArrayList<>();
      for (String part : parts(wrapped.group(2))) inner.add(filter(prefix, part));
      return switch (wrapped.group(1)) {
        case "all" -> new FilterList(FilterList.Operator.MUST_PASS_ALL, inner);
        case "any" -> new FilterList(FilterList.Operator.MUST_PASS_ONE, inner);
        case "skip" -> new SkipFilter(inner.get(0));
        default -> new WhileMatchFilter(inner.get(0));
      };
    }
    String[] words = text.split(" ");
    return switch (words[0]) {
      case "keyonly" -> new KeyOnlyFilter(true);
      case "page" -> new ColumnPaginationFilter(Integer.parseInt(words[1]), Bytes.toBytesBinary(words[2].substring(1)));
      case "matching" -> {
        Set<byte[]> qualifiers = new TreeSet<>(Bytes.BYTES_COMPARATOR);
        for (int i = 1; i < words.length; i++) qualifiers.add(Bytes.toBytesBinary(words[i].substring(1)));
        yield new FirstKeyValueMatchingQualifiersFilter(qualifiers);
      }
      case "times" -> new TimestampsFilter(Stream.of(words).skip(1).map(Long::parseLong).toList(), true); // one that seeks
      case "fuzzy" -> new FuzzyRowFilter(Stream.of(words).skip(1).map(word -> fuzzy(prefix, word)).toList());
      case "ranges" -> new MultiRowRangeFilter(Stream.of(words).skip(1).map(word -> rows(prefix, word)).collect(Collectors.toList()));
      default -> new ParseFilter().parseFilterString(text.replace("{p}", prefix));
    };
  }

  /** What stands between {@code ;;} outside of braces. */
  private static List<String> parts(String text) {
    List<String> parts = new ArrayList<>();
    int depth = 0, from = 0;
    for (int at = 0; at < text.length(); at++) {
      if (text.charAt(at) == '{') depth++;
      else if (text.charAt(at) == '}') depth--;
      else if (depth == 0 && text.startsWith(" ;; ", at)) {
        parts.add(text.substring(from, at));
        from = at + 4;
      }
    }
    parts.add(text.substring(from));
    return parts;
  }

  /** {@code a?}: the prefix, an a, and any byte. */
  private static Pair<byte[], byte[]> fuzzy(String prefix, String word) {
    byte[] key = Bytes.toBytes(prefix + word.replace('?', '0'));
    byte[] mask = new byte[key.length];
    for (int i = 0; i < word.length(); i++) mask[prefix.length() + i] = (byte) (word.charAt(i) == '?' ? 1 : 0);
    return new Pair<>(key, mask);
  }

  private static RowRange rows(String prefix, String word) {
    String[] bounds = word.substring(1, word.length() - 1).split("\\.\\.", -1);
    return new RowRange(Bytes.toBytes(prefix + bounds[0]), word.startsWith("["), Bytes.toBytes(prefix + bounds[1]), word.endsWith("]"));
  }

  /** {@code ROW f:q@t=v …}. */
  String show(Result result) {
    return show(result, "");
  }

  /** The same of a part of a row, with what follows: {@code +} more of it, {@code !} more of it although the part says otherwise. */
  String show(Result result, Result next) {
    boolean more = next != null && Bytes.equals(result.getRow(), next.getRow());
    // A part may say that there may be more where there is none.
    return show(result, !more ? "" : result.mayHaveMoreCellsInRow() ? "+" : "!");
  }

  private String show(Result result, String mark) {
    if (result == null || result.isEmpty()) return "-";
    String row = Bytes.toStringBinary(result.getRow()).substring(prefix.length());
    return row + mark + " " + Stream.of(result.rawCells()).map(HistoryReads::show).collect(Collectors.joining(" "));
  }

  private static String show(Cell cell) {
    boolean put = cell.getType() == Cell.Type.Put;
    return Bytes.toStringBinary(CellUtil.cloneFamily(cell)) + ":" + Bytes.toStringBinary(CellUtil.cloneQualifier(cell)) + "@"
        + time(cell.getTimestamp()) + (put ? "=" + Bytes.toStringBinary(CellUtil.cloneValue(cell)) : "!" + cell.getType());
  }

  /** A time that the server's clock gave is not the same twice. */
  private static String time(long millis) {
    return millis > 1_000_000_000_000L && millis < 3_000_000_000_000L ? "now" : Long.toString(millis);
  }
}
