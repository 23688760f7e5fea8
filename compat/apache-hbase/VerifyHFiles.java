import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFilePrettyPrinter;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;

/**
 * Has Apache read HFiles to the last cell, by its HFilePrettyPrinter and by a scan as a region server does it: VerifyHFiles FILE...
 *
 * <p>HFilePrettyPrinter opens files by the plain file system, and then nobody looks at block checksums. Where one does not fit, a scan reads the
 * block again without it and only counts, so the count is what is asked for.
 */
public final class VerifyHFiles {
  /** What it prints about a file that it does not like; it exits with 0 all the same. */
  private static final Pattern COMPLAINT = Pattern.compile(".*(WARNING,|ERROR|Exception).*");
  private static final Pattern NAMED = Pattern.compile("(?m)^ *entryCount=(\\d+),$");
  private static final Pattern SCANNED = Pattern.compile("(?s)\n *Val length:.*?count = (\\d+)\n");

  private final Configuration conf = HBaseConfiguration.create();

  public static void main(String[] args) throws Exception {
    VerifyHFiles program = new VerifyHFiles();
    program.conf.set("fs.defaultFS", "file:///");
    int failed = 0;
    for (String file : args) {
      try {
        System.out.println("ok " + file + ": " + program.verify(file));
      } catch (Exception e) {
        failed++;
        System.out.println("FAIL " + file + ": " + e);
      }
    }
    System.exit(failed == 0 ? 0 : 1);
  }

  /** What the file holds. */
  private String verify(String file) throws Exception {
    String printed = print(file);
    Matcher complaint = COMPLAINT.matcher(printed);
    if (complaint.find()) throw new IOException(complaint.group());
    String named = first(NAMED, printed), scanned = first(SCANNED, printed);
    if (named.isEmpty() || !named.equals(scanned.isEmpty() ? "0" : scanned)) {
      throw new IOException("trailer names '" + named + "' cells, '" + scanned + "' printed");
    }
    HFile.getAndResetChecksumFailuresCount();
    long cells = 0;
    HFileSystem files = new HFileSystem(conf, true);
    try (HFile.Reader reader = HFile.createReader(files, new Path(file), CacheConfig.DISABLED, true, conf)) {
      HFileScanner scanner = reader.getScanner(conf, false, false, false);
      if (scanner.seekTo()) do cells++; while (scanner.next());
      long failures = HFile.getAndResetChecksumFailuresCount();
      if (failures > 0) throw new IOException(failures + " block checksums do not fit");
      if (cells != Long.parseLong(named)) throw new IOException("trailer names " + named + " cells, scanned " + cells);
      return cells + " cells, " + reader.getTrailer().getCompressionCodec();
    }
  }

  private String print(String file) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(bytes, true);
    HFilePrettyPrinter printer = new HFilePrettyPrinter(new Configuration(conf));
    printer.setPrintStreams(stream, stream);
    int status = printer.run(new String[] {"-m", "-k", "-s", "-f", "file://" + file});
    return bytes + (status == 0 ? "" : "\nERROR status " + status);
  }

  private static String first(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? matcher.group(1) : "";
  }
}
