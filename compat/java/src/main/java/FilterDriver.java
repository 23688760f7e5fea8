import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.Filter.ReturnCode;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Leads a filter over cells, call by call as RegionScannerImpl, FilterWrapper, StoreScanner and UserScanQueryMatcher do,
 * every family by itself, and writes down what it says:
 *
 * <pre>
 *   w0 e11        whether it needs whole rows; whether it needs each family
 *   k             the row is left out by its key
 *   I C R s c r   verdicts of cells: include, and next column, and next row; skip, next column, next row
 *   hPLACE h-     a hint, or none
 *   =n,n:hex      the cells of a row that are left, by number, with the value if it is another
 *   x             the row is left out
 *   .             nothing more is let through
 *   !Name         an exception
 * </pre>
 */
final class FilterDriver {
  private static final CellComparator ORDER = CellComparator.getInstance();

  private final Filter filter;
  /** Every family's cells, and how far each has been read. */
  private final Map<byte[], List<Cell>> families = new TreeMap<>(Bytes.BYTES_COMPARATOR);
  private final Map<byte[], Integer> places = new TreeMap<>(Bytes.BYTES_COMPARATOR);
  private final Map<Cell, Integer> numbers = new IdentityHashMap<>();
  /** What each cell that was let through was before its value was taken. */
  private final Map<Cell, Cell> sources = new IdentityHashMap<>();
  private final List<String> said = new ArrayList<>();

  FilterDriver(Filter filter, List<Cell> cells) {
    this.filter = filter;
    for (Cell cell : cells) {
      numbers.put(cell, numbers.size());
      families.computeIfAbsent(CellUtil.cloneFamily(cell), family -> new ArrayList<>()).add(cell);
    }
    families.keySet().forEach(family -> places.put(family, 0));
  }

  String run() {
    try {
      StringBuilder essential = new StringBuilder("e");
      for (byte[] family : families.keySet()) {
        essential.append(filter.isFamilyEssential(family) ? 1 : 0);
      }
      said.add(filter.hasFilterRow() ? "w1" : "w0");
      said.add(essential.toString());
      readRows();
    } catch (Exception exception) {
      said.add("!" + exception.getClass().getSimpleName());
    }
    return String.join(" ", said);
  }

  private void readRows() throws IOException {
    for (Cell current = current(); current != null; current = current()) {
      if (filter.filterAllRemaining() || filter.filterRowKey(current)) {
        said.add("k");
        if (filter.filterAllRemaining()) {
          said.add(".");
          return;
        }
        passRow(current);
        filter.reset();
        continue;
      }
      List<Cell> results = new ArrayList<>();
      for (byte[] family : families.keySet()) {
        readFamily(family, current, results);
      }
      boolean wasEmpty = results.isEmpty();
      if (filter.hasFilterRow()) {
        filter.filterRowCells(results);
      }
      boolean asks = filter.hasFilterRow() ? !results.isEmpty() : !wasEmpty;
      if (wasEmpty || (asks && filter.filterRow())) {
        said.add("x");
        passRow(current);
        filter.reset();
        continue;
      }
      said.add("=" + describe(results));
      passRow(current);
      filter.reset();
      if (filter.filterAllRemaining()) {
        said.add(".");
        return;
      }
    }
  }

  /** The cells of a row in a family, as a StoreScanner reads them. */
  private void readFamily(byte[] family, Cell current, List<Cell> results) throws IOException {
    List<Cell> cells = families.get(family);
    int at = places.get(family);
    while (at < cells.size() && CellUtil.matchingRows(cells.get(at), current)) {
      Cell cell = cells.get(at);
      ReturnCode code = filter.filterCell(cell);
      said.add(letter(code));
      switch (code) {
        case INCLUDE, INCLUDE_AND_NEXT_COL, INCLUDE_AND_SEEK_NEXT_ROW -> {
          Cell kept = filter.transformCell(cell);
          sources.put(kept, cell);
          results.add(kept);
        }
        default -> {}
      }
      at = switch (code) {
        case INCLUDE, SKIP -> at + 1;
        case INCLUDE_AND_NEXT_COL, NEXT_COL -> passColumn(cells, at);
        case INCLUDE_AND_SEEK_NEXT_ROW, NEXT_ROW -> passRow(cells, at);
        case SEEK_NEXT_USING_HINT -> passToHint(cells, at);
      };
    }
    places.put(family, at);
  }

  private int passToHint(List<Cell> cells, int at) throws IOException {
    Cell hint = filter.getNextCellHint(cells.get(at));
    said.set(said.size() - 1, "h" + (hint == null ? "-" : FilterAnswers.place(hint)));
    int next = at + 1;
    while (hint != null && next < cells.size() && ORDER.compare(cells.get(next), hint) < 0) {
      next++;
    }
    return next;
  }

  private static int passColumn(List<Cell> cells, int at) {
    int next = at;
    while (next < cells.size() && CellUtil.matchingRows(cells.get(next), cells.get(at))
      && CellUtil.matchingColumn(cells.get(next), cells.get(at))) {
      next++;
    }
    return next;
  }

  private static int passRow(List<Cell> cells, int at) {
    int next = at;
    while (next < cells.size() && CellUtil.matchingRows(cells.get(next), cells.get(at))) {
      next++;
    }
    return next;
  }

  private void passRow(Cell current) {
    for (byte[] family : families.keySet()) {
      int at = places.get(family);
      List<Cell> cells = families.get(family);
      if (at < cells.size() && CellUtil.matchingRows(cells.get(at), current)) {
        places.put(family, passRow(cells, at));
      }
    }
  }

  /** The first cell that no family has read. */
  private Cell current() {
    Cell first = null;
    for (Map.Entry<byte[], List<Cell>> family : families.entrySet()) {
      int at = places.get(family.getKey());
      if (at < family.getValue().size()) {
        Cell cell = family.getValue().get(at);
        first = first == null || ORDER.compare(cell, first) < 0 ? cell : first;
      }
    }
    return first;
  }

  private String describe(List<Cell> results) {
    List<String> parts = new ArrayList<>();
    for (Cell cell : results) {
      Cell source = sources.get(cell);
      String number = numbers.get(source).toString();
      parts.add(valueOf(cell).equals(valueOf(source)) ? number : number + ":" + valueOf(cell));
    }
    return String.join(",", parts);
  }

  private static String valueOf(Cell cell) {
    return FilterAnswers.hex(CellUtil.cloneValue(cell));
  }

  private static String letter(ReturnCode code) {
    return switch (code) {
      case INCLUDE -> "I";
      case INCLUDE_AND_NEXT_COL -> "C";
      case INCLUDE_AND_SEEK_NEXT_ROW -> "R";
      case SKIP -> "s";
      case NEXT_COL -> "c";
      case NEXT_ROW -> "r";
      case SEEK_NEXT_USING_HINT -> "h";
    };
  }
}
