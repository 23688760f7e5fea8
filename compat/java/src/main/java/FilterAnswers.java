import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.Filter.ReturnCode;
import org.apache.hadoop.hbase.filter.FilterBase;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FilterList.Operator;
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.filter.RegexStringComparator;
import org.apache.hadoop.hbase.util.Bytes;

/** What HBase's own filter classes answer, written down: FilterAnswers DIR. Needs no server. */
public final class FilterAnswers {
  private static final int FILTERS_PER_TABLE = 200;

  public static void main(String[] args) throws Exception {
    Path dir = Path.of(args[0]);
    Files.createDirectories(dir);
    write(dir, "filter-answers.txt", FilterAnswers::answers);
    write(dir, "filter-verdicts.txt", FilterAnswers::verdicts);
    write(dir, "filter-texts.txt", FilterAnswers::texts);
    write(dir, "filter-regexes.txt", FilterAnswers::regexes);
  }

  private interface Section {
    void write(PrintStream out) throws Exception;
  }

  private static void write(Path dir, String name, Section section) throws Exception {
    try (PrintStream out = new PrintStream(Files.newOutputStream(dir.resolve(name)), false, StandardCharsets.UTF_8)) {
      out.println("# Made by hbase-client 2.6.4-hadoop3; see compat/filters.sh.");
      section.write(out);
    }
  }

  /** Tables of cells, and what random filters say of them. */
  private static void answers(PrintStream out) throws IOException {
    for (FilterMaker.Values values : FilterMaker.Values.values()) {
      for (int table = 0; table < 2; table++) {
        Random random = new Random(values.ordinal() * 10 + table);
        FilterMaker maker = new FilterMaker(random, values);
        List<Cell> cells = maker.cells();
        out.println("table");
        for (Cell cell : cells) {
          out.println("cell " + place(cell) + " " + hex(CellUtil.cloneValue(cell)));
        }
        for (int i = 0; i < FILTERS_PER_TABLE; i++) {
          // Every class by itself first, then lists and wrappers, in each other up to three deep.
          Filter filter = i < 80 ? maker.simple(i % FilterMaker.SIMPLE) : maker.any(1 + i % 3);
          byte[] bytes = filter.toByteArray();
          out.println("filter " + filter.getClass().getSimpleName() + " " + hex(bytes));
          out.println("says " + new FilterDriver(filter, cells).run());
        }
      }
    }
  }

  /** Bytes of a place as hex, with dots between; the last is the code of the kind. */
  static String place(Cell cell) {
    return String.join(".", hex(CellUtil.cloneRow(cell)), hex(CellUtil.cloneFamily(cell)), hex(CellUtil.cloneQualifier(cell)),
      Long.toString(cell.getTimestamp()), Integer.toString(cell.getTypeByte() & 0xFF));
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  /** Says of each cell in turn what it is told to. */
  private static final class Scripted extends FilterBase {
    private final ReturnCode[] says;
    private final Cell hint;
    private int asked;

    Scripted(Cell hint, ReturnCode... says) {
      this.says = says;
      this.hint = hint;
    }

    @Override
    public ReturnCode filterCell(Cell cell) {
      return says[asked++];
    }

    @Override
    public Cell getNextCellHint(Cell cell) {
      return hint;
    }
  }

  /** How lists put verdicts together, and when an OR asks again. */
  private static void verdicts(PrintStream out) throws IOException {
    KeyValue first = cell("f", "q", 5);
    for (Operator operator : Operator.values()) {
      for (ReturnCode a : ReturnCode.values()) {
        for (ReturnCode b : ReturnCode.values()) {
          FilterList list = new FilterList(operator, new Scripted(null, a), new Scripted(null, b));
          out.println((operator == Operator.MUST_PASS_ALL ? "and " : "or ") + a + " " + b + " " + list.filterCell(first));
        }
      }
    }
    List<KeyValue> nexts = List.of(cell("f", "q", 4), cell("f", "r", 5), cell("g", "q", 5));
    List<KeyValue> hints = new ArrayList<>(List.of(cell("f", "q", 4), cell("f", "r", 9), cell("h", "a", 1)));
    hints.add(null);
    for (ReturnCode said : ReturnCode.values()) {
      for (KeyValue next : nexts) {
        for (KeyValue hint : said == ReturnCode.SEEK_NEXT_USING_HINT ? hints : hints.subList(3, 4)) {
          Scripted scripted = new Scripted(hint, said, ReturnCode.INCLUDE);
          FilterList list = new FilterList(Operator.MUST_PASS_ONE, scripted);
          list.filterCell(first);
          ReturnCode then = list.filterCell(next);
          String asked = scripted.asked == 2 ? "asked" : then.toString();
          out.println("after " + said + " " + place(first) + " " + place(next) + " " + (hint == null ? "-" : place(hint)) + " " + asked);
        }
      }
    }
  }

  private static KeyValue cell(String family, String qualifier, long timestamp) {
    return new KeyValue(Bytes.toBytes("r"), Bytes.toBytes(family), Bytes.toBytes(qualifier), timestamp, Bytes.toBytes("v"));
  }

  /** The filter language: text, and the class and bytes that it is, or that it is refused. */
  private static void texts(PrintStream out) {
    for (String text : FilterTexts.ALL) {
      String is;
      try {
        Filter filter = new ParseFilter().parseFilterString(text);
        is = filter.getClass().getSimpleName() + " " + hex(filter.toByteArray());
      } catch (Exception refusal) {
        is = "refused";
      }
      out.println(hex(Bytes.toBytes(text)) + " " + is + " # " + text.replace("\n", "\\n"));
    }
  }

  /** Expressions with flags, texts, and whether they are found: 1, 0, or refused by Java. */
  private static void regexes(PrintStream out) {
    for (String expression : FilterTexts.EXPRESSIONS) {
      for (int flags : FilterTexts.FLAGS) {
        StringBuilder line = new StringBuilder(hex(Bytes.toBytes(expression)) + " " + flags + " ");
        try {
          RegexStringComparator comparator = new RegexStringComparator(expression, flags);
          for (String text : FilterTexts.TEXTS) {
            byte[] bytes = Bytes.toBytes(text);
            line.append(comparator.compareTo(bytes, 0, bytes.length) == 0 ? 1 : 0);
          }
          line.append(' ').append(Pattern.compile(expression, flags).flags());
        } catch (PatternSyntaxException refusal) {
          line.append("refused");
        }
        out.println(line + " # " + expression.replace("\n", "\\n").replace("\r", "\\r"));
      }
    }
    for (String text : FilterTexts.TEXTS) {
      out.println("text " + hex(Bytes.toBytes(text)));
    }
  }

  private FilterAnswers() {}
}
