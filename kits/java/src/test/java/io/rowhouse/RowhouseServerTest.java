package io.rowhouse;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The server by itself, as a test without JUnit 5 uses it. */
class RowhouseServerTest {
  private static final TableName TABLE = TableName.valueOf("t");
  private static final byte[] FAMILY = Bytes.toBytes("f");

  private static RowhouseServer server;

  @BeforeAll
  static void start() throws IOException {
    server = RowhouseServer.start();
  }

  @AfterAll
  static void stop() throws IOException {
    server.close();
  }

  @BeforeEach
  void reset() throws IOException {
    server.reset();
  }

  private static void create(TableName name) throws IOException {
    try (Admin admin = server.connection().getAdmin()) {
      admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
    }
  }

  private static void put(TableName name, String row, String value) throws IOException {
    try (Table table = server.connection().getTable(name)) {
      table.put(new Put(Bytes.toBytes(row)).addColumn(FAMILY, FAMILY, Bytes.toBytes(value)));
    }
  }

  private static String get(TableName name, String row) throws IOException {
    try (Table table = server.connection().getTable(name)) {
      return Bytes.toString(table.get(new Get(Bytes.toBytes(row))).getValue(FAMILY, FAMILY));
    }
  }

  private static TableName[] tables() throws IOException {
    try (Admin admin = server.connection().getAdmin()) {
      return admin.listTableNames();
    }
  }

  @Test
  void aResetDropsTablesAndLeavesStates() throws IOException {
    create(TABLE);
    put(TABLE, "r", "golden");
    server.snapshot("golden");
    put(TABLE, "r", "later");
    create(TableName.valueOf("other"));

    server.restore("golden");
    assertArrayEquals(new TableName[] {TABLE}, tables());
    assertEquals("golden", get(TABLE, "r"));
    server.reset();
    assertEquals(0, tables().length);
    server.restore("golden");
    assertEquals("golden", get(TABLE, "r"));

    IOException taken = assertThrows(IOException.class, () -> server.snapshot("golden"));
    assertTrue(taken.getMessage().contains("name=golden"), taken.getMessage());
    IOException unknown = assertThrows(IOException.class, () -> server.restore("silver"));
    assertTrue(unknown.getMessage().contains("name=silver"), unknown.getMessage());
  }

  @Test
  void aFileIsLoadedIntoANewTable() throws Exception {
    Path file = Paths.get(getClass().getResource("/mail.csv").toURI());
    TableName mail = TableName.valueOf("mail");
    server.load(mail, file, "--key", "[user string][at millis desc]", "--columns", "d:subject subject string");
    int rows = 0;
    try (Table table = server.connection().getTable(mail); ResultScanner scanner = table.getScanner(new Scan())) {
      while (scanner.next() != null) rows++;
    }
    assertEquals(3, rows);
    assertTrue(server.shell("count 'mail'").contains("3 row(s)"));
    IOException failure = assertThrows(IOException.class, () -> server.shell("get 'nosuch', 'r'"));
    assertTrue(failure.getMessage().contains("nosuch"), failure.getMessage());
  }

  @Test
  void aDataDirectoryOutlivesItsServer(@TempDir Path directory) throws IOException {
    Path data = directory.resolve("data");
    for (int start = 0; start < 2; start++) {
      try (RowhouseServer lasting = RowhouseServer.builder().data(data).start()) {
        String command = start == 0 ? "create 't', 'f'" : "describe 't'";
        assertTrue(lasting.shell(command).contains("t"));
        assertTrue(lasting.log().contains("serving"), lasting.log());
      }
    }
  }

  @Test
  void anOptionThatIsNoneIsReportedWithItsMessage() {
    IOException failure = assertThrows(IOException.class, () -> RowhouseServer.builder().option("--no-such-option").start());
    assertTrue(failure.getMessage().contains("--no-such-option"), failure.getMessage());
  }

  @Test
  void aClosedServerHasEndedAndLeavesNoDirectory() throws IOException {
    RowhouseServer closed = RowhouseServer.start();
    Path data = closed.dataDirectory();
    assertTrue(Files.exists(data));
    closed.close();
    assertFalse(closed.isRunning());
    assertFalse(Files.exists(data));
  }

  /** Prints its server's directory, and waits to be killed. */
  static final class Killed {
    public static void main(String[] args) throws Exception {
      try (RowhouseServer server = RowhouseServer.start()) {
        System.out.println(server.dataDirectory());
        Thread.sleep(Long.MAX_VALUE);
      }
    }
  }

  @Test
  @Timeout(60)
  void aServerEndsWithAKilledTestProcess() throws Exception {
    String java = Paths.get(System.getProperty("java.home"), "bin", "java").toString();
    Process test = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Killed.class.getName())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader output = new BufferedReader(new InputStreamReader(test.getInputStream(), StandardCharsets.UTF_8));
    Path data = Paths.get(output.readLine());
    assertTrue(Files.exists(data));
    test.destroyForcibly().waitFor();
    while (Files.exists(data)) TimeUnit.MILLISECONDS.sleep(10);
  }
}
