import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** Claims about writes: new rows, versions and columns (3), and keys of several lengths (4, 5). */
final class Writes {
  private static final int WRITES = 120_000, ROWS = 1_000, GETS = 5_000;
  private static final int[] KEY_LENGTHS = {8, 15, 16, 17, 24, 25, 100};
  private static final byte[] F = Bytes.toBytes("f"), Q = Bytes.toBytes("q0000000"), VALUE = new byte[50];

  private final Bench bench;

  Writes(Bench bench) {
    this.bench = bench;
  }

  void run() throws Exception {
    rowsVersionsColumns();
    keys();
  }

  private static byte[] key(int bytes, long nth) {
    return Bytes.toBytes("k".repeat(bytes - 8) + String.format("%08d", nth));
  }

  /** The cells of the three tables have the same lengths; each round writes new ones. */
  private void rowsVersionsColumns() throws Exception {
    List<String> names = List.of("new row", "new version", "new column");
    List<Write> writes = List.of(
        nth -> new Put(key(12, nth)).addColumn(F, Q, nth, VALUE),
        nth -> new Put(key(12, nth % ROWS)).addColumn(F, Q, nth, VALUE),
        nth -> new Put(key(12, nth % ROWS)).addColumn(F, Bytes.toBytes(String.format("q%07d", nth / ROWS)), nth, VALUE));
    List<TableName> tables = new ArrayList<>();
    List<Bench.Work> works = new ArrayList<>();
    for (int at = 0; at < names.size(); at++) {
      TableName table = bench.create("c3_" + at, family -> family.setMaxVersions(Integer.MAX_VALUE), List.of("f"));
      Write write = writes.get(at);
      AtomicLong from = new AtomicLong(1);
      tables.add(table);
      works.add(() -> {
        long first = from.getAndAdd(WRITES);
        bench.write(table, WRITES, nth -> write.put(first + nth));
      });
    }
    bench.cpu(3, "write", WRITES, names, works);
    for (int at = 0; at < names.size(); at++) {
      bench.settle(tables.get(at));
      bench.report(3, names.get(at), "bytes of files per 1,000 writes", Math.rint(bench.fileBytes(tables.get(at)) / (5.0 * WRITES / 1_000)));
    }
  }

  private interface Write {
    Put put(long nth);
  }

  private void keys() throws Exception {
    List<String> names = new ArrayList<>();
    List<TableName> tables = new ArrayList<>();
    List<Bench.Work> writes = new ArrayList<>(), gets = new ArrayList<>();
    for (int length : KEY_LENGTHS) {
      TableName table = bench.create("c4_" + length);
      names.add("key of " + length + " bytes");
      tables.add(table);
      writes.add(() -> bench.write(table, WRITES, nth -> new Put(key(length, nth)).addColumn(F, F, 1, Bytes.toBytes(nth))));
      gets.add(() -> {
        Random random = new Random(4);
        try (Table reader = bench.connection.getTable(table)) {
          for (int nth = 0; nth < GETS; nth++) reader.get(new Get(key(length, random.nextInt(WRITES))));
        }
      });
    }
    for (int at = 0; at < names.size(); at++) {
      writes.get(at).run();
      bench.report(4, names.get(at), "bytes of memstore, as reported", bench.memstoreBytes(tables.get(at)));
    }
    bench.cpu(4, "write", WRITES, names, writes);
    for (int at = 0; at < names.size(); at++) {
      bench.settle(tables.get(at));
      bench.report(4, names.get(at), "bytes of files per 1,000 rows", Math.rint(bench.fileBytes(tables.get(at)) / (WRITES / 1_000.0)));
    }
    bench.cpu(5, "get", GETS, names, gets);
  }
}
