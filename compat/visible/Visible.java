import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.StringJoiner;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.TagType;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.filter.FilterBase;
import org.apache.hadoop.hbase.regionserver.ScanInfo;
import org.apache.hadoop.hbase.regionserver.ScanType;
import org.apache.hadoop.hbase.regionserver.querymatcher.CompactionScanQueryMatcher;
import org.apache.hadoop.hbase.regionserver.querymatcher.ScanQueryMatcher;
import org.apache.hadoop.hbase.regionserver.querymatcher.UserScanQueryMatcher;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * What HBase's own query matchers let through of random cells of one row and family: one line a case, read by the tests of
 * rowhouse-store. `run.sh` runs it and says what the columns are.
 */
public final class Visible {
  private static final byte[] ROW = Bytes.toBytes("r");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final CellComparator ORDER = CellComparatorImpl.COMPARATOR;
  private static final int HISTORIES = 1500;
  private static final KeyValue.Type[] KINDS = {
    KeyValue.Type.Put, KeyValue.Type.Put, KeyValue.Type.Put, KeyValue.Type.Put, KeyValue.Type.Delete, KeyValue.Type.DeleteColumn,
    KeyValue.Type.DeleteFamily, KeyValue.Type.DeleteFamilyVersion
  };

  private final Random random = new Random(20);
  private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

  public static void main(String[] args) throws Exception {
    new Visible().run();
  }

  private void run() throws Exception {
    for (int at = 0; at < HISTORIES; at++) {
      int versions = 1 + random.nextInt(3);
      int versionsMin = random.nextInt(3) == 0 ? random.nextInt(versions + 1) : 0;
      boolean expires = random.nextInt(3) == 0;
      KeepDeletedCells keep = KeepDeletedCells.values()[random.nextInt(3)];
      boolean bySequence = random.nextInt(3) == 0;
      long now = 1000 + random.nextInt(6);
      long ttl = expires ? 1000 : Long.MAX_VALUE;
      ScanInfo family = new ScanInfo(new Configuration(false), FAMILY, versionsMin, versions, ttl, keep, 65536, 0, ORDER, bySequence);
      List<Cell> cells = cells(now, bySequence);
      String said = versions + " " + versionsMin + " " + (expires ? "1" : "-") + " " + keep + " " + (bySequence ? "sequence" : "time");
      StringJoiner shown = new StringJoiner(" ");
      for (Cell cell : cells) shown.add(show(cell));
      String history = said + "\t" + now + "\t" + shown;
      for (int read = 0; read < 5; read++) read(history, family, now, cells);
      merge(history, family, now, cells, ScanType.COMPACT_DROP_DELETES);
      merge(history, family, now, cells, ScanType.COMPACT_RETAIN_DELETES);
    }
    out.flush();
  }

  /**
   * Where deletes go by sequence no cell of a column has an empty qualifier: there HBase does not find the markers of the
   * family, and may end in a NullPointerException (NewVersionBehaviorTracker.add).
   */
  private List<Cell> cells(long now, boolean bySequence) {
    TreeSet<Cell> cells = new TreeSet<>(ORDER);
    int count = 1 + random.nextInt(14);
    long sequence = 1;
    for (int at = 0; at < count; at++) {
      KeyValue.Type kind = KINDS[random.nextInt(KINDS.length)];
      boolean ofFamily = kind == KeyValue.Type.DeleteFamily || kind == KeyValue.Type.DeleteFamilyVersion;
      String qualifier = ofFamily ? "" : List.of(bySequence ? "b" : "", "a", "a", "b").get(random.nextInt(4));
      long timestamp = 1 + random.nextInt(6);
      List<Tag> tags = new ArrayList<>();
      if (random.nextInt(12) == 0) tags.add(new ArrayBackedTag(TagType.TTL_TAG_TYPE, Bytes.toBytes(now - timestamp + random.nextInt(3) - 1)));
      KeyValue cell = new KeyValue(ROW, FAMILY, Bytes.toBytes(qualifier), timestamp, kind, new byte[0], tags);
      cell.setSequenceId(sequence);
      cells.add(cell);
      // A mutation may have several cells.
      if (random.nextInt(4) != 0) sequence++;
    }
    return List.copyOf(cells);
  }

  private void read(String history, ScanInfo family, long now, List<Cell> cells) throws Exception {
    boolean raw = random.nextInt(4) == 0;
    boolean filtered = random.nextInt(4) == 0;
    int versions = List.of(1, 2, 9).get(random.nextInt(3));
    long min = random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 0;
    long max = random.nextInt(3) == 0 ? min + 1 + random.nextInt(4) : Long.MAX_VALUE;
    NavigableSet<byte[]> columns = null;
    if (!raw && random.nextInt(3) == 0) {
      columns = new TreeSet<>(Bytes.BYTES_COMPARATOR);
      for (String column : List.of("", "a", "b")) if (random.nextBoolean()) columns.add(Bytes.toBytes(column));
      if (columns.isEmpty()) columns = null;
    }
    Scan scan = new Scan().setRaw(raw).readVersions(versions).setTimeRange(min, max);
    if (filtered) scan.setFilter(new OddTimestamps());
    long oldest = raw ? 0 : now - family.getTtl();
    ScanQueryMatcher matcher = UserScanQueryMatcher.create(scan, family, columns, oldest, now, null);
    StringJoiner asked = new StringJoiner(" ");
    asked.add(raw ? "raw" : "read").add("" + versions).add(min + ".." + (max == Long.MAX_VALUE ? "" : max)).add(filtered ? "odd" : "all");
    StringJoiner names = new StringJoiner(",");
    if (columns == null) names.add("*");
    else for (byte[] column : columns) names.add("'" + Bytes.toString(column));
    print(history, asked.add(names.toString()).toString(), matcher, cells);
  }

  private void merge(String history, ScanInfo family, long now, List<Cell> cells, ScanType kind) throws Exception {
    long earliest = Long.MAX_VALUE;
    for (Cell cell : cells) if (cell.getTypeByte() == KeyValue.Type.Put.getCode()) earliest = Math.min(earliest, cell.getTimestamp());
    ScanQueryMatcher matcher =
        CompactionScanQueryMatcher.create(family, kind, Long.MAX_VALUE, earliest, now - family.getTtl(), now, null, null, null);
    print(history, kind == ScanType.COMPACT_DROP_DELETES ? "major" : "minor", matcher, cells);
  }

  private void print(String history, String asked, ScanQueryMatcher matcher, List<Cell> cells) throws Exception {
    StringJoiner included = new StringJoiner(" ");
    for (int at : matched(matcher, cells)) included.add("" + at);
    out.println(history + "\t" + asked + "\t" + included);
  }

  /** The places of the cells that are included: StoreScanner.next for one row. */
  private static List<Integer> matched(ScanQueryMatcher matcher, List<Cell> cells) throws Exception {
    List<Integer> included = new ArrayList<>();
    matcher.setToNewRow(cells.get(0));
    int at = 0;
    while (at < cells.size()) {
      Cell cell = cells.get(at);
      ScanQueryMatcher.MatchCode code = matcher.match(cell);
      switch (code) {
        case INCLUDE -> included.add(at++);
        case SKIP -> at++;
        case INCLUDE_AND_SEEK_NEXT_COL -> {
          included.add(at);
          at = seek(cells, at, matcher.getKeyForNextColumn(cell));
        }
        case SEEK_NEXT_COL -> at = seek(cells, at, matcher.getKeyForNextColumn(cell));
        case INCLUDE_AND_SEEK_NEXT_ROW -> {
          included.add(at);
          return included;
        }
        case SEEK_NEXT_ROW, DONE, DONE_SCAN -> {
          return included;
        }
        default -> throw new IllegalStateException(code.toString());
      }
    }
    return included;
  }

  private static int seek(List<Cell> cells, int from, Cell key) {
    int at = from + 1;
    while (at < cells.size() && ORDER.compare(cells.get(at), key) < 0) at++;
    return at;
  }

  private static String show(Cell cell) {
    String suffix = switch (KeyValue.Type.codeToType(cell.getTypeByte())) {
      case Put -> "";
      case Delete -> "x";
      case DeleteColumn -> "c";
      case DeleteFamily -> "f";
      case DeleteFamilyVersion -> "v";
      default -> throw new IllegalStateException();
    };
    Tag ttl = null;
    for (Tag tag : tags(cell)) ttl = tag;
    String qualifier = Bytes.toString(cell.getQualifierArray(), cell.getQualifierOffset(), cell.getQualifierLength());
    return qualifier + "@" + cell.getTimestamp() + suffix + "#" + cell.getSequenceId() + (ttl == null ? "" : "~" + Tag.getValueAsLong(ttl));
  }

  private static List<Tag> tags(Cell cell) {
    return org.apache.hadoop.hbase.PrivateCellUtil.getTags(cell);
  }

  /** Lets only odd timestamps through. */
  private static final class OddTimestamps extends FilterBase {
    @Override
    public ReturnCode filterCell(Cell cell) {
      return cell.getTimestamp() % 2 == 1 ? ReturnCode.INCLUDE : ReturnCode.SKIP;
    }
  }
}
