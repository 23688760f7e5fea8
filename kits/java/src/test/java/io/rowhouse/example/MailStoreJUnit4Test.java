package io.rowhouse.example;

import static org.junit.Assert.assertEquals;

import io.rowhouse.RowhouseServer;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * The tests of an application, with JUnit 4. They had HBaseTestingUtility: {@code startMiniCluster()} has become {@code
 * RowhouseServer.start()}, {@code getConfiguration()} {@code configuration()}, {@code getConnection()} {@code
 * connection()}, {@code shutdownMiniCluster()} {@code close()}, and {@code truncateTable} in each test {@code reset()}.
 */
public class MailStoreJUnit4Test {
  private static RowhouseServer server;

  @BeforeClass
  public static void start() throws IOException {
    server = RowhouseServer.start();
  }

  @AfterClass
  public static void stop() throws IOException {
    server.close();
  }

  @Before
  public void createTable() throws IOException {
    server.reset();
    try (Admin admin = server.connection().getAdmin()) {
      admin.createTable(TableDescriptorBuilder.newBuilder(MailStore.TABLE)
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of(MailStore.FAMILY)).build());
    }
  }

  @Test
  public void theNewestMailComesFirst() throws IOException {
    MailStore mail = new MailStore(server.connection());
    mail.add("ada", 1, "first");
    mail.add("ada", 2, "second");
    mail.add("ad", 3, "of another user");
    assertEquals(Arrays.asList("second", "first"), mail.newest("ada", 10));
    assertEquals(Arrays.asList("second"), mail.newest("ada", 1));
  }

  @Test
  public void aUserWithoutMailHasNone() throws IOException {
    assertEquals(Arrays.asList(), new MailStore(server.connection()).newest("ada", 10));
  }
}
