import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;

/**
 * Scans HFiles as a region server does, with the checksums of their blocks: Checksums FILE...
 *
 * <p>HFilePrettyPrinter opens files by the plain file system, and then nobody looks at block checksums. Where one does
 * not fit, HBase reads the block again without it and only counts, so the count is what is asked for here.
 */
public final class Checksums {
  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("fs.defaultFS", "file:///");
    HFileSystem files = new HFileSystem(conf, true);
    long failures = 0;
    for (String arg : args) {
      HFile.getAndResetChecksumFailuresCount();
      long cells = 0;
      try (HFile.Reader reader = HFile.createReader(files, new Path(arg), CacheConfig.DISABLED, true, conf)) {
        HFileScanner scanner = reader.getScanner(conf, false, false, false);
        if (scanner.seekTo()) do cells++; while (scanner.next());
      }
      long failed = HFile.getAndResetChecksumFailuresCount();
      failures += failed;
      if (failed > 0) System.out.println("FAIL " + arg + ": " + failed + " block checksums do not fit, " + cells + " cells");
    }
    System.out.println((failures == 0 ? "ok" : "FAIL") + " block checksums of " + args.length + " files");
    System.exit(failures == 0 ? 0 : 1);
  }
}
