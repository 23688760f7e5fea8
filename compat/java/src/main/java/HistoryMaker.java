import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Makes the history of a number, the same every time. Alphabets are small, so that things collide. */
final class HistoryMaker {
  /** What a history may use beyond puts, deletes, increments, lists, gets, scans, flushes and compactions. */
  static final List<String> FEATURES = List.of("append", "atomic", "batch", "cellttl", "check", "familytime", "filters", "keepdeleted",
      "listgets", "newversions", "partial", "raw", "reversed", "storelimit", "twice");
  /** So many neighbours share a table. */
  private static final int GROUP = 25;
  private static final List<String> TABLES = List.of(
      "f VERSIONS=100 ; g BLOOMFILTER=ROWCOL VERSIONS=100",
      "f ; g BLOOMFILTER=ROWCOL VERSIONS=2",
      "f BLOOMFILTER=NONE VERSIONS=3 ; g VERSIONS=1",
      "f TTL=1000000000 VERSIONS=3 ; g BLOOMFILTER=ROWCOL TTL=1000000000 VERSIONS=2",
      "f TTL=1000000000 VERSIONS=3 ; g MIN_VERSIONS=2 TTL=1000000000 VERSIONS=3");
  private static final List<String> KEPT = List.of(
      "f KEEP_DELETED_CELLS=TRUE VERSIONS=3 ; g KEEP_DELETED_CELLS=TTL MIN_VERSIONS=1 TTL=1000000000 VERSIONS=3",
      "f KEEP_DELETED_CELLS=TRUE VERSIONS=100 ; g BLOOMFILTER=ROWCOL KEEP_DELETED_CELLS=TTL TTL=1000000000 VERSIONS=100");
  private static final List<String> NEW = List.of(
      "f NEW_VERSION_BEHAVIOR=true VERSIONS=100 ; g BLOOMFILTER=ROWCOL NEW_VERSION_BEHAVIOR=true VERSIONS=100",
      "f NEW_VERSION_BEHAVIOR=true VERSIONS=2 ; g NEW_VERSION_BEHAVIOR=true VERSIONS=1");
  private static final List<String> NEW_KEPT = List.of(
      "f KEEP_DELETED_CELLS=TRUE NEW_VERSION_BEHAVIOR=true VERSIONS=100 ; g NEW_VERSION_BEHAVIOR=true VERSIONS=100");

  private static final String[] ROWS = {"a", "a\\x00", "ab", "b", "ba", "c"};
  private static final String[] QUALIFIERS = {"", "x", "xy", "y", "z"};
  private static final String[] VALUES = {"", "1", "2", "a", "ab", "B"};
  private static final String[] OPERATORS = {"LESS", "LESS_OR_EQUAL", "EQUAL", "NOT_EQUAL", "GREATER_OR_EQUAL", "GREATER"};

  /** Filters that go to a column further on. */
  private static final Pattern JUMPS = Pattern.compile("ColumnPrefix|ColumnRange|ColumnPagination|Timestamps|times |page |ranges ");
  /** Filters that have to see whole rows. */
  private static final Pattern WHOLE_ROWS = Pattern.compile("PageFilter|SingleColumn|Dependent|skip|while|SKIP|WHILE");

  private final Random random;
  private final Set<String> features;
  private final List<String> times;
  private final String[] qualifiers;
  /** Whether its rows are in two regions. */
  private final boolean splits;
  /** Whether scans and gets may name columns. */
  private final boolean names;
  /** Whether there may be writes that read named columns first. */
  private final boolean changes;

  private HistoryMaker(Random random, Set<String> features, String table, boolean splits) {
    this.random = random;
    this.features = features;
    this.splits = splits;
    times = table.contains("TTL") ? List.of("1", "2", "3", "4000000000001", "4000000000002", "4000000000003")
        : List.of("1", "2", "3", "4", "5", "6");
    // With NEW_VERSION_BEHAVIOR Apache HBase 2.6.4 fails on delete markers of a column without a name, and never
    // answers some reads of named columns: NewVersionBehaviorTracker looks up a map that is empty, and gives as the next
    // column the one it is in.
    boolean newer = table.contains("NEW_VERSION_BEHAVIOR");
    qualifiers = newer ? Arrays.copyOfRange(QUALIFIERS, 1, QUALIFIERS.length) : QUALIFIERS;
    // And with MIN_VERSIONS a read of named columns gets an expired version more than one of all: ExplicitColumnTracker
    // gives the one at which it stops.
    names = !newer && !table.contains("MIN_VERSIONS");
    changes = !newer;
  }

  static HistoryText make(int number, Set<String> allowed) {
    Random group = random(0x9E3779B97F4A7C15L * (number / GROUP + 1));
    String table = table(group, allowed);
    boolean splits = group.nextInt(4) == 0 && number % 5 == 0;
    List<String> maintenance = new ArrayList<>();
    for (int left = HistoryRules.canFlush(table) ? group.nextInt(5) : 0; left > 0; left--) maintenance.add(group.nextInt(3) == 0 ? "compact" : "flush");
    Random random = random(0xD1B54A32D192ED03L * (number + 1));
    Set<String> features = new TreeSet<>(List.of("base"));
    // A few at a time: each by itself, and with each other.
    for (String feature : FEATURES) if (allowed.contains(feature) && random.nextInt(feature.equals("filters") ? 2 : 4) == 0) features.add(feature);
    features.removeAll(List.of("keepdeleted", "newversions"));
    if (table.contains("KEEP_DELETED_CELLS")) features.add("keepdeleted");
    if (table.contains("NEW_VERSION_BEHAVIOR")) features.add("newversions");
    HistoryMaker maker = new HistoryMaker(random, features, table, splits);
    HistoryRules rules = new HistoryRules(table, features.contains("cellttl"));
    List<HistoryText.Step> steps = new ArrayList<>();
    for (int epoch = 0; epoch <= maintenance.size(); epoch++) {
      boolean last = epoch == maintenance.size();
      maker.epoch(rules, last, steps);
      if (last) break;
      steps.add(step(maintenance.get(epoch)));
      rules.admits(maintenance.get(epoch), false);
    }
    String where = splits ? table + " ; split b" : table;
    return new HistoryText(number, features, where, steps);
  }

  /** The first numbers of Java's generator are alike for like seeds. */
  private static Random random(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 20; i++) random.nextInt();
    return random;
  }

  private static String table(Random random, Set<String> allowed) {
    List<String> tables = new ArrayList<>(TABLES);
    boolean kept = allowed.contains("keepdeleted"), newer = allowed.contains("newversions");
    if (kept) tables.addAll(KEPT);
    if (newer) tables.addAll(NEW);
    if (kept && newer) tables.addAll(NEW_KEPT);
    return tables.get(random.nextInt(tables.size()));
  }

  private static HistoryText.Step step(String text) {
    return new HistoryText.Step(text, new ArrayList<>());
  }

  /** Writes, then reads with writes between them. */
  private void epoch(HistoryRules rules, boolean last, List<HistoryText.Step> steps) {
    int writes = 3 + random.nextInt(8), reads = 3 + random.nextInt(6);
    while (writes + reads > 0) {
      boolean write = writes > 0 && (reads == 0 || random.nextInt(4) != 0);
      String text = write ? mutation() : read();
      if (write) writes--;
      else reads--;
      if (rules.admits(text, last)) steps.add(step(text));
    }
  }

  private boolean chance(int of) {
    return random.nextInt(of) == 0;
  }

  private boolean has(String feature, int of) {
    return features.contains(feature) && chance(of);
  }

  private <T> T pick(List<T> items) {
    return items.get(random.nextInt(items.size()));
  }

  private String pick(String... items) {
    return items[random.nextInt(items.length)];
  }

  private String family() {
    return pick("f", "g");
  }

  private String column() {
    return family() + ":" + pick(qualifiers);
  }

  private String time() {
    return pick(times);
  }

  private String at() {
    return chance(12) ? "" : "@" + time();
  }

  private String words(int most, Supplier<String> word) {
    Set<String> words = new LinkedHashSet<>();
    for (int left = 1 + random.nextInt(most); left > 0; left--) words.add(word.get());
    return String.join(" ", words);
  }

  private String mutation() {
    if (changes && has("check", 4)) return check(pick(ROWS));
    if (has("atomic", 5)) return atomic(pick(ROWS));
    if (chance(10)) return list();
    return single(pick(ROWS));
  }

  private String check(String row) {
    String text = "check " + row + (chance(4) ? " time=" + range() : "");
    if (has("filters", 3)) text += " filter=" + leaf();
    else if (chance(3)) text += " " + column() + " absent";
    else text += " " + column() + " " + pick(OPERATORS) + " " + pick(VALUES);
    return text + " then " + (has("atomic", 3) ? atomic(row) : single(row));
  }

  private String atomic(String row) {
    List<String> parts = new ArrayList<>();
    for (int left = 1 + random.nextInt(3); left > 0; left--) parts.add(single(row));
    return "atomic " + String.join(" & ", parts);
  }

  /**
   * Of parts for one row none has the server's time, which may or may not be the same for all of them, and none is a get: the
   * client's documentation leaves open whether that sees the others. With NEW_VERSION_BEHAVIOR a row has but one part: the
   * mutations of a list have one sequence number, by which that tells what came first.
   */
  private String list() {
    List<String> parts = new ArrayList<>();
    Map<String, Boolean> rows = new HashMap<>();
    for (int left = 2 + random.nextInt(3); left > 0; left--) {
      String row = pick(ROWS);
      String part = has("listgets", 2) ? "get " + row : single(row);
      boolean alone = !changes || part.startsWith("get ") || HistoryMutations.takesTime(part);
      Boolean before = rows.get(row);
      if (before != null && (before || alone)) continue;
      rows.merge(row, alone, Boolean::logicalOr);
      parts.add(part);
    }
    return "list " + String.join(" ; ", parts);
  }

  private String single(String row) {
    int choice = random.nextInt(changes ? 20 : 17);
    if (choice < 11) return "put " + row + (has("cellttl", 3) ? " ttl=" + pick("1", "4000000000000") : "") + " " + words(3, this::cell);
    if (choice < 17) return "delete " + row + (chance(8) ? (chance(2) ? "" : " @" + time()) : " " + words(2, this::marker));
    if (has("append", 2)) return "append " + row + options() + " " + changes(this::column, "", "a", "b");
    return "increment " + row + options() + " " + changes(() -> chance(8) ? column() : family() + ":n", "1", "-1", "5", "0");
  }

  /** Of different columns, where it is not asked for more. */
  private String changes(Supplier<String> column, String... by) {
    Set<String> columns = new LinkedHashSet<>();
    List<String> changes = new ArrayList<>();
    for (int left = 1 + random.nextInt(2); left > 0; left--) {
      String name = column.get();
      if (columns.add(name) || features.contains("twice")) changes.add(name + "+" + pick(by));
    }
    return String.join(" ", changes);
  }

  private String options() {
    return (has("cellttl", 4) ? " ttl=" + pick("1000000000000", "2000000000000") : "") + (chance(8) ? " time=" + range() : "") + (chance(10) ? " silent" : "");
  }

  private String cell() {
    if (chance(12)) return family() + ":n@" + time() + "=\\x00\\x00\\x00\\x00\\x00\\x00\\x00" + pick("\\x05", "\\x07");
    return column() + at() + "=" + pick(VALUES);
  }

  private String marker() {
    return switch (random.nextInt(6)) {
      case 0, 1 -> "version:" + column() + (changes && chance(4) ? "" : "@" + time());
      case 2, 3 -> "column:" + column() + at();
      case 4 -> "family:" + family() + at();
      default -> "familyversion:" + family() + "@" + time();
    };
  }

  private String range() {
    int from = random.nextInt(times.size()), to = from + 1 + random.nextInt(times.size() - from);
    return (chance(3) ? "0" : times.get(from)) + ".." + (to == times.size() ? "" : times.get(to));
  }

  private String read() {
    int choice = random.nextInt(10);
    if (choice < 4) return "get " + pick(ROWS) + narrowed();
    if (choice == 4) return "exists " + pick(ROWS) + narrowed();
    return scan();
  }

  private String narrowed() {
    StringBuilder text = new StringBuilder();
    if (chance(3)) text.append(' ').append(words(3, () -> chance(4) || !names ? "family=" + family() : "column=" + column()));
    if (!chance(3)) text.append(" versions=").append(pick("1", "2", "3", "9"));
    if (chance(4)) text.append(" time=").append(range());
    if (has("familytime", 2)) text.append(" time:").append(family()).append('=').append(range());
    if (has("storelimit", 2)) text.append(" storelimit=").append(pick("1", "2", "3"));
    if (has("storelimit", 3)) text.append(" offset=").append(pick("1", "2"));
    if (has("filters", 2)) text.append(" filter=").append(filter(2));
    return text.toString();
  }

  private String scan() {
    boolean reversed = has("reversed", 2);
    String low = chance(2) ? "" : pick(ROWS), high = chance(2) ? "" : pick(ROWS);
    if (!low.isEmpty() && !high.isEmpty() && low.compareTo(high) > 0 != reversed) {
      String other = low;
      low = high;
      high = other;
    }
    String text = "scan " + (chance(4) ? "(" : "[") + low + ".." + high + (chance(3) ? "]" : ")");
    if (reversed) text += " reversed";
    boolean raw = has("raw", 2);
    if (raw) text += " raw";
    if (chance(5)) text += " limit=" + pick("1", "2", "3");
    if (chance(3)) text += " caching=" + pick("1", "2");
    if (has("batch", 2)) text += " batch=" + pick("1", "2", "3");
    if (has("partial", 2)) text += " partial" + (chance(2) ? " bytes=" + pick("1", "200") : "");
    String narrowed = narrowed();
    while (isUnwanted(narrowed, reversed, raw, text.contains(" batch="))) narrowed = narrowed();
    // The client takes a last part of a row for one of several when cells follow that nobody sees, and asks the next time for a row too many.
    boolean parts = text.contains(" batch=") || text.contains(" partial");
    if (parts && (splits || text.contains(" caching=") || text.contains(" bytes="))) text = text.replaceFirst(" limit=[0-9]", "");
    return text + narrowed;
  }

  /** What Apache HBase 2.6.4 never answers, gets wrong (docs/hbase.md), or refuses, so that little is learned from it. */
  private boolean isUnwanted(String narrowed, boolean reversed, boolean raw, boolean parts) {
    boolean jumps = JUMPS.matcher(narrowed).find(), lists = narrowed.contains(" OR ") || narrowed.contains("any{");
    if (reversed && (narrowed.contains("fuzzy") || narrowed.contains("ColumnValue") || jumps && lists)) return true;
    if (raw && (narrowed.contains(" time") || narrowed.contains(" column=") && !chance(10))) return true;
    return parts && WHOLE_ROWS.matcher(narrowed).find();
  }

  private String filter(int depth) {
    if (chance(8)) {
      return pick("keyonly", "page " + pick("1", "2") + " :" + pick(QUALIFIERS), "matching :x :z", "fuzzy a? ?a", "fuzzy ?b",
          "ranges [a..ab]", "ranges (a..b) [b..c)", "ranges [ab..ab] [c..c]");
    }
    return combined(depth);
  }

  private String combined(int depth) {
    if (depth == 0 || chance(2)) return leaf();
    return switch (random.nextInt(6)) {
      case 0 -> "skip{" + combined(depth - 1) + "}";
      case 1 -> "while{" + combined(depth - 1) + "}";
      case 2 -> "all{" + combined(depth - 1) + " ;; " + combined(depth - 1) + "}";
      case 3 -> "any{" + combined(depth - 1) + " ;; " + combined(depth - 1) + "}";
      case 4 -> leaf() + " AND " + leaf();
      default -> leaf() + " OR " + leaf();
    };
  }

  private String operator() {
    return pick("<", "<=", "=", "!=", ">", ">=");
  }

  private String comparison(String... values) {
    return switch (random.nextInt(6)) {
      case 0 -> pick("=", "!=") + ", 'substring:" + pick("a", "x", "1") + "'";
      case 1 -> pick("=", "!=") + ", 'regexstring:" + pick("a.*", "^x", "[12]$", "a|y") + "'";
      case 2 -> operator() + ", 'binaryprefix:" + pick(values) + "'";
      default -> operator() + ", 'binary:" + pick(values) + "'";
    };
  }

  private String row() {
    return "{p}" + pick("a", "ab", "b", "ba", "c");
  }

  private String leaf() {
    String qualifier = pick("x", "xy", "y", "z");
    return switch (random.nextInt(18)) {
      case 0 -> "KeyOnlyFilter()";
      case 1 -> "FirstKeyOnlyFilter()";
      case 2 -> "PrefixFilter('" + row() + "')";
      case 3 -> "ColumnPrefixFilter('" + pick("x", "y") + "')";
      case 4 -> "MultipleColumnPrefixFilter('x', '" + qualifier + "')";
      case 5 -> "ColumnCountGetFilter(" + pick("1", "2", "3") + ")";
      case 6 -> "PageFilter(" + pick("1", "2") + ")";
      case 7 -> "ColumnPaginationFilter(" + pick("1", "2") + ", " + pick("0", "1", "2") + ")";
      case 8 -> "InclusiveStopFilter('" + row() + "')";
      case 9 -> {
        String other = time();
        yield pick("TimestampsFilter(" + times.get(0) + ", " + other + ")", "times " + times.get(0) + " " + other);
      }
      case 10 -> "RowFilter(" + operator() + ", 'binary:" + row() + "')";
      case 11 -> "FamilyFilter(" + comparison("f", "g") + ")";
      case 12 -> "QualifierFilter(" + comparison("x", "xy", "y") + ")";
      case 13 -> "ValueFilter(" + comparison("1", "2", "a", "ab") + ")";
      case 14 -> "ColumnRangeFilter('" + pick("x", "xy") + "', " + pick("true", "false") + ", '" + pick("y", "z") + "', " + pick("true", "false") + ")";
      case 15 -> "SingleColumnValue" + pick("", "Exclude") + "Filter('" + family() + "', '" + qualifier + "', " + comparison("1", "2", "a") + ", "
          + pick("true", "false") + ", " + pick("true", "false") + ")";
      case 16 -> "DependentColumnFilter('" + family() + "', '" + qualifier + "', " + pick("true", "false") + ")";
      default -> "ColumnValueFilter('" + family() + "', '" + qualifier + "', " + comparison("1", "2", "a") + ")";
    };
  }
}
