package io.rowhouse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Tests with the server of an extension. */
@ExtendWith(RowhouseExtension.class)
class RowhouseExtensionTest {
  private static void createOnly(Admin admin) throws IOException {
    assertEquals(0, admin.listTableNames().length);
    admin.createTable(TableDescriptorBuilder.newBuilder(TableName.valueOf("t")).setColumnFamily(ColumnFamilyDescriptorBuilder.of("f")).build());
  }

  @Test
  void aTestBeginsWithoutTables(Admin admin) throws IOException {
    createOnly(admin);
  }

  @Test
  void anotherTestBeginsWithoutTablesToo(Admin admin, Connection connection, Configuration configuration, RowhouseServer server)
      throws IOException {
    createOnly(admin);
    assertSame(server.connection(), connection);
    assertTrue(server.zookeeperAddress().endsWith(":" + configuration.get("hbase.zookeeper.property.clientPort")));
  }

  @Nested
  class Inner {
    @Test
    void aNestedClassHasTheServerOfItsOuterClass(Admin admin) throws IOException {
      createOnly(admin);
    }
  }

  /** Tests that begin with tables. */
  static class PreparedTest {
    @RegisterExtension
    static final RowhouseExtension ROWHOUSE = RowhouseExtension.of(RowhouseServer.builder().regionServers(2))
        .prepared(server -> server.shell("create 'golden', 'f'\nput 'golden', 'r', 'f:q', 'v'"));

    @Test
    void aTestBeginsWithThePreparedTables(RowhouseServer server) throws IOException {
      assertTrue(server.shell("scan 'golden'").contains("1 row(s)"));
      server.shell("put 'golden', 's', 'f:q', 'v'");
    }

    @Test
    void anotherTestBeginsWithThemToo(RowhouseServer server) throws IOException {
      aTestBeginsWithThePreparedTables(server);
    }
  }

  @Test
  void preparedTablesAreRestoredForEachTest() {
    EngineTestKit.engine("junit-jupiter").selectors(selectClass(PreparedTest.class)).execute().testEvents()
        .assertStatistics(it -> it.succeeded(2).failed(0));
  }

  /** A test that fails. */
  @ExtendWith(RowhouseExtension.class)
  static class FailingTest {
    @Test
    void fails(RowhouseServer server) {
      throw new AssertionError("as it should");
    }
  }

  @Test
  void theLogIsPrintedWhenATestFails() {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(printed, true));
    try {
      EngineTestKit.engine("junit-jupiter").selectors(selectClass(FailingTest.class)).execute().testEvents()
          .assertStatistics(it -> it.failed(1));
    } finally {
      System.setErr(before);
    }
    assertTrue(printed.toString().contains("serving address="), printed.toString());
  }
}
