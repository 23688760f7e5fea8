import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.RegionSplitter;

/** Prints where HBase's ways to divide keys have regions begin: a line for each way and number of regions. */
public final class Splits {
  public static void main(String[] args) throws Exception {
    for (String name : new String[] {"HexStringSplit", "DecimalStringSplit", "UniformSplit"}) {
      for (int regions : new int[] {2, 3, 4, 7, 16, 100, 256, 1021}) {
        var algorithm = RegionSplitter.newSplitAlgoInstance(new Configuration(), name);
        var line = new StringBuilder(name + " " + regions + ":");
        for (byte[] row : algorithm.split(regions)) {
          line.append(' ').append(Bytes.toStringBinary(row));
        }
        System.out.println(line);
      }
    }
  }
}
