package io.rowhouse.example;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** A small application: the subjects of a user's mail, newest first. */
final class MailStore {
  static final TableName TABLE = TableName.valueOf("mail");
  static final byte[] FAMILY = Bytes.toBytes("d");
  private static final byte[] SUBJECT = Bytes.toBytes("subject");

  private final Connection connection;

  MailStore(Connection connection) {
    this.connection = connection;
  }

  private static byte[] key(String user, long millis) {
    return Bytes.add(Bytes.toBytes(user), new byte[1], Bytes.toBytes(Long.MAX_VALUE - millis));
  }

  void add(String user, long millis, String subject) throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      table.put(new Put(key(user, millis)).addColumn(FAMILY, SUBJECT, Bytes.toBytes(subject)));
    }
  }

  List<String> newest(String user, int limit) throws IOException {
    Scan scan = new Scan().setStartStopRowForPrefixScan(Bytes.add(Bytes.toBytes(user), new byte[1])).setLimit(limit);
    List<String> subjects = new ArrayList<>();
    try (Table table = connection.getTable(TABLE); ResultScanner rows = table.getScanner(scan)) {
      for (Result row : rows) subjects.add(Bytes.toString(row.getValue(FAMILY, SUBJECT)));
    }
    return subjects;
  }
}
