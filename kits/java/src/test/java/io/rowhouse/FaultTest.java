package io.rowhouse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What HBase's own client does when calls fail. FAULTS=1 prints how long it took, for docs/in-tests.md. */
class FaultTest {
  private static final TableName TABLE = TableName.valueOf("t");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] ROW = Bytes.toBytes("r");
  private static final int ROWS = 20;

  private static RowhouseServer server;
  private static Connection connection;

  @BeforeAll
  static void start() throws IOException {
    server = RowhouseServer.start();
    try (Admin admin = server.connection().getAdmin()) {
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
    }
    server.snapshot("empty");
    Configuration configuration = server.configuration();
    // Otherwise a lost answer is waited for a minute.
    configuration.setInt("hbase.rpc.timeout", 2000);
    connection = ConnectionFactory.createConnection(configuration);
  }

  @AfterAll
  static void stop() throws IOException {
    connection.close();
    server.close();
  }

  @BeforeEach
  void reset() throws IOException {
    server.removeFaults();
    server.restore("empty");
    connection.clearRegionLocationCache();
    try (Table table = connection.getTable(TABLE)) {
      table.get(new Get(ROW));
    }
  }

  private static long counter() throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      byte[] value = table.get(new Get(ROW)).getValue(FAMILY, FAMILY);
      return value == null ? 0 : Bytes.toLong(value);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {
    "RegionTooBusy", "CallQueueTooBig", "NotServingRegion", "RegionMoved", "Delay --millis 300", "CutBefore", "CutAfter",
    "LostAnswer", "DeadServer --millis 300",
  })
  void anIncrementThatIsHitIsAppliedOnce(String answer) throws IOException {
    String[] options = ("--answer " + answer + " --table t --call Mutate --hits 1").split(" ");
    try (Fault fault = server.fault(options); Table table = connection.getTable(TABLE)) {
      long began = System.nanoTime();
      table.increment(new Increment(ROW).addColumn(FAMILY, FAMILY, 1));
      report("increment", answer, began);
      fault.awaitHits(1);
    }
    assertEquals(1, counter());
  }

  private static void report(String call, String answer, long began) {
    if (System.getenv("FAULTS") == null) return;
    System.out.println("fault: " + call + ", " + answer + ": " + (System.nanoTime() - began) / 1_000_000 + " ms");
  }

  @Test
  void anAppendAndAPutOfWhichTheAnswerIsLostAreThereOnce() throws IOException {
    try (Fault fault = server.fault("--answer", "CutAfter", "--table", "t", "--call", "Mutate", "--hits", "2");
        Table table = connection.getTable(TABLE)) {
      table.append(new Append(ROW).addColumn(FAMILY, FAMILY, Bytes.toBytes("a")));
      fault.awaitHits(2);
    }
    try (Table table = connection.getTable(TABLE)) {
      assertEquals("a", Bytes.toString(table.get(new Get(ROW)).getValue(FAMILY, FAMILY)));
    }
  }

  @Test
  void aCheckAndPutOfWhichTheAnswerIsLostReportsFailureThoughItIsApplied() throws IOException {
    try (Fault fault = server.fault("--answer", "CutAfter", "--table", "t", "--call", "Mutate", "--hits", "1");
        Table table = connection.getTable(TABLE)) {
      Put mine = new Put(ROW).addColumn(FAMILY, FAMILY, Bytes.toBytes("mine"));
      boolean applied = table.checkAndMutate(CheckAndMutate.newBuilder(ROW).ifNotExists(FAMILY, FAMILY).build(mine)).isSuccess();
      fault.awaitHits(1);
      assertEquals("mine", Bytes.toString(table.get(new Get(ROW)).getValue(FAMILY, FAMILY)));
      assertFalse(applied);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {
    "RegionTooBusy", "CallQueueTooBig", "NotServingRegion", "RegionMoved", "Delay --millis 300", "CutBefore", "CutAfter",
    "LostAnswer", "LostScanner", "DeadServer --millis 300",
  })
  void aScanThatIsHitReturnsEachRowOnce(String answer) throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      for (int row = 0; row < ROWS; row++) table.put(new Put(Bytes.toBytes(100 + row)).addColumn(FAMILY, FAMILY, FAMILY));
      String[] options = ("--answer " + answer + " --table t --call Scan --rate 0.4 --seed 3 --hits 2").split(" ");
      try (Fault fault = server.fault(options)) {
        long began = System.nanoTime();
        int expected = 100;
        try (ResultScanner scanner = table.getScanner(new Scan().setCaching(3))) {
          for (Result row : scanner) assertEquals(expected++, Bytes.toInt(row.getRow()));
        }
        report("scan", answer, began);
        assertEquals(100 + ROWS, expected);
        fault.awaitHits(2);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {
    "RegionTooBusy", "CallQueueTooBig", "NotServingRegion", "RegionMoved", "Delay --millis 300", "CutBefore", "CutAfter",
    "LostAnswer", "DeadServer --millis 300",
  })
  void aBatchOfIncrementsThatIsHitIsAppliedOnce(String answer) throws Exception {
    List<Increment> increments = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) increments.add(new Increment(Bytes.toBytes(100 + row)).addColumn(FAMILY, FAMILY, 1));
    String[] options = ("--answer " + answer + " --table t --call Multi --hits 1").split(" ");
    try (Fault fault = server.fault(options); Table table = connection.getTable(TABLE)) {
      long began = System.nanoTime();
      table.batch(increments, new Object[ROWS]);
      report("batch", answer, began);
      fault.awaitHits(1);
      int rows = 0;
      try (ResultScanner scanner = table.getScanner(new Scan())) {
        for (Result row : scanner) {
          assertEquals(1, Bytes.toLong(row.getValue(FAMILY, FAMILY)));
          rows++;
        }
      }
      assertEquals(ROWS, rows);
    }
  }

  @Test
  void faultsByASeedHitTheSameCalls() throws IOException {
    StringBuilder first = new StringBuilder();
    StringBuilder second = new StringBuilder();
    for (StringBuilder run : new StringBuilder[] {first, second}) {
      try (Fault fault = server.fault("--answer", "Delay", "--millis", "1", "--call", "Mutate", "--rate", "0.5", "--seed", "7");
          Table table = connection.getTable(TABLE)) {
        for (int put = 0; put < 12; put++) {
          table.put(new Put(ROW).addColumn(FAMILY, FAMILY, FAMILY));
          run.append(fault.hits()).append(' ');
        }
      }
    }
    assertEquals(first.toString(), second.toString());
    assertFalse(first.toString().startsWith("0 0 0 0 0 0 0 0"), first.toString());
  }

  @Test
  void aWaitForHitsThatDoNotComeEnds() throws IOException {
    try (Fault fault = server.fault("--answer", "CutBefore", "--table", "t")) {
      IOException late = assertThrows(IOException.class, () -> fault.awaitHits(1, Duration.ofMillis(10)));
      assertTrue(late.getMessage().contains("required=1"), late.getMessage());
    }
    IOException unknown = assertThrows(IOException.class, () -> server.fault("--answer", "Busy"));
    assertTrue(unknown.getMessage().contains("answer=Busy"), unknown.getMessage());
  }
}
