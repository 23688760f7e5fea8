import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.InclusiveStopFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.RegexStringComparator;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SubstringComparator;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.util.Bytes;

/** What bounds an answer, and what it tells of its cost: Answers REGISTRY HOST:PORT. */
public final class Answers {
  private static final TableName TABLE = TableName.valueOf("answers");
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final int LARGE_ROWS = 120;

  private Answers() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = Cluster.configuration(args[0], args[1]);
    Checks checks = new Checks();
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      Cluster.drop(admin, TABLE);
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
      try (Table table = connection.getTable(TABLE)) {
        costs(checks, table);
        full(checks, table);
      }
      Cluster.drop(admin, TABLE);
    }
    checks.finish();
  }

  private static void costs(Checks checks, Table table) throws IOException {
    for (int row = 0; row < 20; row++) {
      table.put(new Put(row(row)).addColumn(CF, Q, Bytes.toBytes("v" + row % 2)));
    }
    table.delete(new Delete(row(7)).addColumns(CF, Q));
    checks.equal("cost of all rows", "19 rows, 20 scanned, 1 filtered", () -> cost(table, new Scan()));
    checks.equal("cost of a few at a time", "19 rows, 20 scanned, 1 filtered", () -> cost(table, new Scan().setCaching(3)));
    checks.equal("cost of a range", "5 rows, 6 scanned, 1 filtered", () -> cost(table, new Scan().withStartRow(row(5)).withStopRow(row(11))));
    checks.equal("cost of rows backward", "19 rows, 20 scanned, 1 filtered", () -> cost(table, new Scan().setReversed(true)));
    checks.equal("cost of rows by their keys", "9 rows, 20 scanned, 11 filtered", () -> filtered(table, new RowFilter(CompareOperator.EQUAL, new RegexStringComparator("[13579]$"))));
    checks.equal("cost of rows by their values", "9 rows, 20 scanned, 11 filtered", () -> filtered(table, new ValueFilter(CompareOperator.EQUAL, new SubstringComparator("v1"))));
    checks.equal("cost of keys", "19 rows, 20 scanned, 1 filtered", () -> filtered(table, new KeyOnlyFilter()));
    checks.equal("nothing is told unasked", true, () -> {
      try (ResultScanner scanner = table.getScanner(new Scan())) {
        while (scanner.next() != null) {}
        return scanner.getScanMetrics() == null;
      }
    });
    checks.equal("a page of rows", "3 rows", () -> filtered(table, new PageFilter(3)).replaceAll(",.*", ""));
    checks.equal("rows of a prefix, the last ones", "10 rows, 11 scanned, 1 filtered", () -> filtered(table, new PrefixFilter(Bytes.toBytes("r1"))));
    checks.equal("rows of a prefix, and others after them", "9 rows, 10 scanned, 2 filtered", () -> filtered(table, new PrefixFilter(Bytes.toBytes("r0"))));
    checks.equal("rows of a prefix, backward", "10 rows, 10 scanned, 1 filtered", () -> cost(table, new Scan().setReversed(true).setFilter(new PrefixFilter(Bytes.toBytes("r1")))));
    checks.equal("rows up to one", "6 rows, 6 scanned, 1 filtered", () -> filtered(table, new InclusiveStopFilter(row(5))));
    checks.equal("rows while their keys match", "5 rows, 5 scanned, 1 filtered", () -> filtered(table, new WhileMatchFilter(new RowFilter(CompareOperator.LESS, new BinaryComparator(row(5))))));
    checks.equal("rows while their values match", "1 rows, 2 scanned, 1 filtered", () -> filtered(table, new WhileMatchFilter(new ValueFilter(CompareOperator.LESS, new BinaryComparator(Bytes.toBytes("v05"))))));
  }

  /** More than one answer takes: the client asks again for what is left. */
  private static void full(Checks checks, Table table) throws IOException {
    byte[] large = new byte[1 << 20];
    table.put(new Put(Bytes.toBytes("large")).addColumn(CF, Q, large));
    checks.equal("gets that do not fit into one answer", LARGE_ROWS, () -> {
      List<Get> gets = new ArrayList<>(Collections.nCopies(LARGE_ROWS, new Get(Bytes.toBytes("large"))));
      int whole = 0;
      for (Result result : table.get(gets)) {
        if (result.getValue(CF, Q).length == large.length) whole++;
      }
      return whole;
    });
  }

  private static byte[] row(int row) {
    return Bytes.toBytes(String.format("r%02d", row));
  }

  private static String filtered(Table table, Filter filter) throws IOException {
    return cost(table, new Scan().setFilter(filter));
  }

  private static String cost(Table table, Scan scan) throws IOException {
    int rows = 0;
    try (ResultScanner scanner = table.getScanner(scan.setScanMetricsEnabled(true))) {
      while (scanner.next() != null) rows++;
      var metrics = scanner.getScanMetrics();
      return rows + " rows, " + metrics.countOfRowsScanned.get() + " scanned, " + metrics.countOfRowsFiltered.get() + " filtered";
    }
  }
}
