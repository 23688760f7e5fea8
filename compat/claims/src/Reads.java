import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.BinaryPrefixComparator;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Claims about conditions: on the family alone (7), and on row, family, qualifier, time and value, which each keep a fifth of the
 * 125,000 cells of one table (8).
 */
final class Reads {
  private static final int ROWS = 1_000, EACH = 5, GETS = 5_000, SCANS = 20;
  private static final List<String> FAMILIES = List.of("f0", "f1", "f2", "f3", "f4");

  private final Bench bench;

  Reads(Bench bench) {
    this.bench = bench;
  }

  void run() throws Exception {
    UnaryOperator<ColumnFamilyDescriptorBuilder> versions = family -> family.setMaxVersions(EACH);
    TableName one = bench.create("c8_one", versions, FAMILIES), times = bench.create("c8_times", versions, FAMILIES);
    for (TableName table : List.of(one, times)) {
      for (int time = 0; time < EACH; time++) {
        int of = time;
        bench.write(table, ROWS, row -> put(row, of));
        if (table == times) bench.admin.flush(times);
      }
    }
    bench.settle(one);
    conditions(8, one, "one file");
    conditions(8, times, "a file for each time");
    families(one);
  }

  private static byte[] row(long nth) {
    return Bytes.toBytes(String.format("row%05d", nth));
  }

  /** All columns of a row at one time; a fifth of the values of each column begins with v1. */
  private static Put put(long row, int time) {
    Put put = new Put(row(row));
    for (int family = 0; family < EACH; family++) {
      for (int column = 0; column < EACH; column++) {
        byte[] value = Bytes.padTail(Bytes.toBytes("v" + (row + time + family + column) % EACH), 98);
        put.addColumn(Bytes.toBytes("f" + family), Bytes.toBytes("q" + column), 1_000 + time, value);
      }
    }
    return put;
  }

  private void conditions(int claim, TableName table, String files) throws Exception {
    Map<String, Supplier<Scan>> cases = new LinkedHashMap<>();
    cases.put("none", Scan::new);
    cases.put("row", () -> new Scan().withStartRow(row(200)).withStopRow(row(400)));
    cases.put("family", () -> new Scan().addFamily(Bytes.toBytes("f1")));
    cases.put("qualifier", () -> {
      Scan scan = new Scan();
      for (String family : FAMILIES) scan.addColumn(Bytes.toBytes(family), Bytes.toBytes("q1"));
      return scan;
    });
    cases.put("time", () -> {
      try {
        return new Scan().setTimeRange(1_001, 1_002);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    });
    cases.put("value", () -> new Scan().setFilter(new ValueFilter(CompareOperator.EQUAL, new BinaryPrefixComparator(Bytes.toBytes("v1")))));
    List<String> names = new ArrayList<>();
    List<Bench.Work> works = new ArrayList<>();
    for (var entry : cases.entrySet()) {
      String name = entry.getKey() + ", " + files;
      Bench.Scanned scanned = bench.scan(table, entry.getValue().get().readVersions(EACH));
      bench.report(claim, name, "cells returned", scanned.cells());
      bench.blocks(claim, name, scanned);
      names.add(name);
      works.add(() -> {
        for (int nth = 0; nth < SCANS; nth++) bench.scan(table, entry.getValue().get().readVersions(EACH));
      });
    }
    bench.cpu(claim, "scan", SCANS, names, works);
  }

  private void families(TableName table) throws Exception {
    List<String> names = List.of("whole row of five families", "one family");
    List<UnaryOperator<Get>> gets = List.of(get -> get, get -> get.addFamily(Bytes.toBytes("f1")));
    List<Bench.Work> works = new ArrayList<>();
    for (int at = 0; at < names.size(); at++) {
      UnaryOperator<Get> of = gets.get(at);
      bench.blocks(7, names.get(at), bench.scan(table, new Scan(of.apply(new Get(row(500))))));
      works.add(() -> {
        Random random = new Random(7);
        try (Table reader = bench.connection.getTable(table)) {
          for (int nth = 0; nth < GETS; nth++) reader.get(of.apply(new Get(row(random.nextInt(ROWS)))));
        }
      });
    }
    bench.cpu(7, "get", GETS, names, works);
  }
}
