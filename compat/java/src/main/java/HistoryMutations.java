import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.util.Bytes;

/** The steps that write, read from their text. Rows get the history's prefix. */
final class HistoryMutations {
  private static final Pattern CELL = Pattern.compile("([^:]+):([^@=+]*)(?:@(\\d+))?([=+])(.*)");
  private static final Pattern MARKER = Pattern.compile("(version|column|family|familyversion):([^:@]+)(?::([^@]*))?(?:@(\\d+))?");

  private final String prefix;

  HistoryMutations(String prefix) {
    this.prefix = prefix;
  }

  static boolean writes(String text) {
    return text.matches("(put|delete|increment|append|atomic|check|list) .*");
  }

  /** Whether the server puts its own time on something of it. */
  static boolean takesTime(String text) {
    return Pattern.compile("(increment|append) |(delete \\S+( ;| then|$))|((version|column|family|familyversion):[^ @]+( |$))|(put [^;]*[^ :]+:[^ @=]*=)")
        .matcher(text).find();
  }

  byte[] row(String text) {
    return Bytes.add(Bytes.toBytes(prefix), Bytes.toBytesBinary(text));
  }

  /** Any mutation of one row. */
  Row parse(String text) throws IOException {
    if (text.startsWith("atomic ")) return atomic(text.substring("atomic ".length()));
    List<String> words = Arrays.asList(text.split(" "));
    byte[] row = row(words.get(1));
    List<String> rest = words.subList(2, words.size());
    return switch (words.get(0)) {
      case "put" -> put(row, rest);
      case "delete" -> delete(row, rest);
      case "increment" -> increment(row, rest);
      case "append" -> append(row, rest);
      default -> throw new IOException("not a mutation: " + text);
    };
  }

  private static Put put(byte[] row, List<String> words) throws IOException {
    Put put = new Put(row);
    for (String word : words) {
      if (word.startsWith("ttl=")) {
        put.setTTL(Long.parseLong(word.substring(4)));
        continue;
      }
      Matcher cell = matches(CELL, word);
      byte[] family = Bytes.toBytes(cell.group(1)), qualifier = Bytes.toBytesBinary(cell.group(2)), value = Bytes.toBytesBinary(cell.group(5));
      if (cell.group(3) == null) put.addColumn(family, qualifier, value);
      else put.addColumn(family, qualifier, Long.parseLong(cell.group(3)), value);
    }
    return put;
  }

  private static Delete delete(byte[] row, List<String> words) throws IOException {
    if (words.size() == 1 && words.get(0).startsWith("@")) return new Delete(row, Long.parseLong(words.get(0).substring(1)));
    Delete delete = new Delete(row);
    for (String word : words) {
      Matcher marker = matches(MARKER, word);
      byte[] family = Bytes.toBytes(marker.group(2));
      byte[] qualifier = marker.group(3) == null ? null : Bytes.toBytesBinary(marker.group(3));
      Long at = marker.group(4) == null ? null : Long.valueOf(marker.group(4));
      switch (marker.group(1)) {
        case "version" -> { if (at == null) delete.addColumn(family, qualifier); else delete.addColumn(family, qualifier, at); }
        case "column" -> { if (at == null) delete.addColumns(family, qualifier); else delete.addColumns(family, qualifier, at); }
        case "family" -> { if (at == null) delete.addFamily(family); else delete.addFamily(family, at); }
        default -> delete.addFamilyVersion(family, at);
      }
    }
    return delete;
  }

  private static Increment increment(byte[] row, List<String> words) throws IOException {
    Increment increment = new Increment(row);
    for (String word : words) {
      if (word.startsWith("ttl=")) increment.setTTL(Long.parseLong(word.substring(4)));
      else if (word.equals("silent")) increment.setReturnResults(false);
      else if (word.startsWith("time=")) {
        long[] range = HistoryReads.range(word.substring(5));
        increment.setTimeRange(range[0], range[1]);
      } else {
        Matcher cell = matches(CELL, word);
        increment.addColumn(Bytes.toBytes(cell.group(1)), Bytes.toBytesBinary(cell.group(2)), Long.parseLong(cell.group(5)));
      }
    }
    return increment;
  }

  private static Append append(byte[] row, List<String> words) throws IOException {
    Append append = new Append(row);
    for (String word : words) {
      if (word.startsWith("ttl=")) append.setTTL(Long.parseLong(word.substring(4)));
      else if (word.equals("silent")) append.setReturnResults(false);
      else if (word.startsWith("time=")) {
        long[] range = HistoryReads.range(word.substring(5));
        append.setTimeRange(range[0], range[1]);
      } else {
        Matcher cell = matches(CELL, word);
        append.addColumn(Bytes.toBytes(cell.group(1)), Bytes.toBytesBinary(cell.group(2)), Bytes.toBytesBinary(cell.group(5)));
      }
    }
    return append;
  }

  private RowMutations atomic(String text) throws IOException {
    List<Mutation> parts = new ArrayList<>();
    for (String part : text.split(" & ")) parts.add((Mutation) parse(part));
    RowMutations mutations = new RowMutations(parts.get(0).getRow());
    mutations.add(parts);
    return mutations;
  }

  /** {@code check ROW f:q OP VALUE|absent|filter=… [time=A..B] then MUTATION}. */
  CheckAndMutate check(String text) throws IOException {
    int then = text.indexOf(" then ");
    String condition = text.substring("check ".length(), then);
    CheckAndMutate.Builder builder = condition(condition);
    Row action = parse(text.substring(then + " then ".length()));
    if (action instanceof Put put) return builder.build(put);
    if (action instanceof Delete delete) return builder.build(delete);
    if (action instanceof Increment increment) return builder.build(increment);
    if (action instanceof Append append) return builder.build(append);
    return builder.build((RowMutations) action);
  }

  private CheckAndMutate.Builder condition(String text) throws IOException {
    String[] words = text.split(" ", 3);
    CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(row(words[0]));
    String asked = text.substring(words[0].length() + 1);
    if (asked.startsWith("time=")) {
      int end = asked.indexOf(' ');
      long[] range = HistoryReads.range(asked.substring(5, end));
      builder.timeRange(org.apache.hadoop.hbase.io.TimeRange.between(range[0], range[1]));
      asked = asked.substring(end + 1);
    }
    if (asked.startsWith("filter=")) return builder.ifMatches(HistoryReads.filter(prefix, asked.substring("filter=".length())));
    String[] parts = asked.split(" ", 3);
    String[] column = parts[0].split(":", 2);
    byte[] family = Bytes.toBytes(column[0]), qualifier = Bytes.toBytesBinary(column[1]);
    if (parts[1].equals("absent")) return builder.ifNotExists(family, qualifier);
    return builder.ifMatches(family, qualifier, CompareOperator.valueOf(parts[1]), Bytes.toBytesBinary(parts.length == 3 ? parts[2] : ""));
  }

  private static Matcher matches(Pattern pattern, String word) throws IOException {
    Matcher matcher = pattern.matcher(word);
    if (!matcher.matches()) throw new IOException("not a word of a history: " + word);
    return matcher;
  }
}
