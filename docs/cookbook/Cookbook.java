// Attributes of the table and the scan hold the template and the query.
import static org.apache.hadoop.hbase.util.Bytes.toBytes;

import java.time.Instant;
import java.util.*;
import org.apache.hadoop.hbase.*;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.util.Bytes;

class Cookbook {
  static final byte[] FAMILY = toBytes("d"), SUBJECT = toBytes("s"), READS = toBytes("n");

  static byte[] key(String user, int day) {
    var at = Instant.parse(String.format("2022-12-%02dT00:00:00Z", day));
    return toBytes(user + "_" + (9_999_999_999_999L - at.toEpochMilli()));
  }

  static Put put(byte[] row, String subject) {
    return new Put(row).addColumn(FAMILY, SUBJECT, toBytes(subject));
  }

  static String subject(Result row) {
    return Bytes.toString(row.getValue(FAMILY, SUBJECT));
  }

  public static void main(String[] arguments) throws Exception {
    var configuration = HBaseConfiguration.create();
    configuration.set("hbase.zookeeper.quorum", "localhost:2181");
    try (var connection = ConnectionFactory.createConnection(configuration);
        var admin = connection.getAdmin();
        var mail = connection.getTable(TableName.valueOf("mail"))) {
      admin.createTable(TableDescriptorBuilder.newBuilder(mail.getName())
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
          .setValue("rowhouse.key", "1 [user text]_[at millis digits 13 desc]")
          .setValue("rowhouse.columns", "1 d:s subject string; d:n reads java.long")
          .build());

      mail.put(put(key("ann", 1), "mail 1"));
      for (int day = 1; day <= 12; day++) mail.put(put(key("bob", day), "mail " + day));

      byte[] bob = key("bob", 12);
      System.out.println("got " + subject(mail.get(new Get(bob))));

      var scan = new Scan().setLimit(10).setAttribute("rowhouse.query", toBytes("user = 'bob'"));
      var newest = new ArrayList<String>();
      try (var rows = mail.getScanner(scan)) {
        for (var row : rows) newest.add(subject(row));
      }
      System.out.println("newest " + String.join(", ", newest));

      System.out.println("reads " + mail.incrementColumnValue(bob, FAMILY, READS, 1));

      var replace = CheckAndMutate.newBuilder(bob).ifEquals(FAMILY, SUBJECT, toBytes("mail 12"))
          .build(put(bob, "seen"));
      boolean first = mail.checkAndMutate(replace).isSuccess();
      System.out.println("replaced " + first + ", " + mail.checkAndMutate(replace).isSuccess());
    }
  }
}
