import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.ColumnPaginationFilter;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.QualifierFilter;
import org.apache.hadoop.hbase.filter.SubstringComparator;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A mailbox in one row, read by sender: Mailboxes REGISTRY HOST:PORT [index]. The program keeps a family in the row that is sorted by
 * sender; with `index` an index of the mails gives the same reads, which Apache HBase does not have.
 */
public final class Mailboxes {
  private record Mail(String sender, long at, int id) {}

  private static final List<Mail> MAILS = List.of(new Mail("eve", 100, 1), new Mail("zoe", 110, 2), new Mail("ann", 120, 3),
      new Mail("eve", 130, 4), new Mail("eva", 140, 5), new Mail("eve", 150, 6));
  private static final byte[] M = Bytes.toBytes("m"), S = Bytes.toBytes("s");

  public static void main(String[] args) throws Exception {
    Checks checks = new Checks();
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      if (args.length > 2) indexed(checks, connection, admin);
      else inTheRow(checks, connection, admin);
    }
    checks.finish();
  }

  private static void inTheRow(Checks checks, Connection connection, Admin admin) throws Exception {
    TableName name = TableName.valueOf("mailboxes-in-rows");
    Cluster.drop(admin, name);
    admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of(M))
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(S)).build());
    try (Table table = connection.getTable(name)) {
      for (String user : List.of("bo", "bob", "bobby")) {
        for (Mail mail : MAILS) {
          table.put(new Put(Bytes.toBytes(user)).addColumn(M, Bytes.toBytes(mail.id), Bytes.toBytes("Subject"))
              .addColumn(S, entry(mail), new byte[0]));
        }
      }
      byte[] eve = Bytes.toBytes("eve\0"), afterEve = Bytes.toBytes("eve\1"), fourth = entry(MAILS.get(3));
      checks.equal("all, by sender, the newest first", "[3, 5, 6, 4, 1, 2]", () -> ids(table, null));
      checks.equal("of one sender", "[6, 4, 1]", () -> ids(table, new ColumnRangeFilter(eve, true, afterEve, false)));
      checks.equal("the first page", "[3, 5, 6, 4]", () -> ids(table, new ColumnPaginationFilter(4, 0)));
      checks.equal("the second page", "[1, 2]", () -> ids(table, new ColumnPaginationFilter(4, 4)));
      checks.equal("after an entry", "[1, 2]", () -> ids(table, new ColumnRangeFilter(fourth, false, null, false)));
      checks.equal("two from an entry on", "[4, 1]", () -> ids(table, new ColumnPaginationFilter(2, fourth)));
    }
  }

  private static void indexed(Checks checks, Connection connection, Admin admin) throws Exception {
    TableName name = TableName.valueOf("mailboxes");
    Cluster.drop(admin, name);
    admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of(M))
        .setValue("rowhouse.key", "1 [user string]").setValue("rowhouse.columns", "1 m:[at millis desc][id u32][sender text] mail string")
        .setValue("rowhouse.indexes", "1 by_sender [user][mail.sender]").build());
    try (Table table = connection.getTable(name)) {
      for (String user : List.of("bo", "bob", "bobby")) {
        for (Mail mail : MAILS) {
          byte[] qualifier = Bytes.add(Bytes.toBytes(Long.MAX_VALUE - mail.at), Bytes.toBytes(mail.id), Bytes.toBytes(mail.sender));
          table.put(new Put(Bytes.toBytes(user + "\0\1")).addColumn(M, qualifier, Bytes.toBytes("Subject")));
        }
      }
      checks.equal("of one sender, by the cells' qualifiers", "[6, 4, 1]", () -> {
        List<Integer> ids = new ArrayList<>();
        Get get = new Get(Bytes.toBytes("bob\0\1")).setFilter(new QualifierFilter(CompareOperator.EQUAL, new SubstringComparator("eve")));
        for (Cell cell : table.get(get).rawCells()) ids.add(Bytes.toInt(CellUtil.cloneQualifier(cell), 8));
        return ids.toString();
      });
      checks.refused("conditions on fields of qualifiers, in a scan", org.apache.hadoop.hbase.DoNotRetryIOException.class, "fields of qualifiers", () -> {
        Scan scan = new Scan().addFamily(M).setAttribute("rowhouse.query", Bytes.toBytes("user = 'bob' and mail.sender = 'eve'"));
        try (ResultScanner rows = table.getScanner(scan)) {
          return rows.next();
        }
      });
    }
    try (Table entries = connection.getTable(TableName.valueOf("mailboxes.by_sender"))) {
      byte[] prefix = Bytes.toBytes("bob\0");
      List<Result> first = page(entries, new Scan().setStartStopRowForPrefixScan(prefix));
      byte[] last = first.get(first.size() - 1).getRow();
      checks.equal("senders in order, the first page", "[ann, eva, eve]", () -> senders(first));
      checks.equal("senders in order, the second page", "[zoe]",
          () -> senders(page(entries, new Scan().setStartStopRowForPrefixScan(prefix).withStartRow(last, false))));
    }
  }

  private static List<Result> page(Table entries, Scan scan) throws Exception {
    try (ResultScanner rows = entries.getScanner(scan.setLimit(3))) {
      return Arrays.asList(rows.next(3));
    }
  }

  /** The senders in keys of entries: user, 0, 1, sender, 0, 1, the key of the row. */
  private static List<String> senders(List<Result> entries) {
    return entries.stream().map(row -> Bytes.toString(row.getRow()).split("\0\1")[1]).toList();
  }

  /** The ids in the index family of one mailbox, which is read alone. */
  private static String ids(Table table, Filter filter) throws Exception {
    Get get = new Get(Bytes.toBytes("bob")).addFamily(S);
    if (filter != null) get.setFilter(filter);
    List<Integer> ids = new ArrayList<>();
    for (Cell cell : table.get(get).rawCells()) {
      byte[] qualifier = CellUtil.cloneQualifier(cell);
      ids.add(CellUtil.matchingFamily(cell, S) ? Bytes.toInt(qualifier, qualifier.length - 4) : -1);
    }
    return ids.toString();
  }

  /** The sender, 0, the reversed time, the id. */
  private static byte[] entry(Mail mail) {
    return Bytes.add(Bytes.toBytes(mail.sender + "\0"), Bytes.toBytes(Long.MAX_VALUE - mail.at), Bytes.toBytes(mail.id));
  }
}
