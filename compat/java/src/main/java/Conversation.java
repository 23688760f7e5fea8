import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Small scenarios to be recorded: Conversation REGISTRY HOST:PORT blog|admin|data|catalog|errors. */
public final class Conversation {
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final byte[] Q = Bytes.toBytes("q");

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      switch (args[2]) {
        case "blog" -> blog(connection, admin);
        case "admin" -> admin(connection, admin);
        case "data" -> data(connection, admin);
        case "catalog" -> catalog(connection, admin);
        case "errors" -> errors(connection, admin);
        default -> throw new IllegalArgumentException("no scenario " + args[2]);
      }
    }
  }

  private static void blog(Connection connection, Admin admin) throws IOException {
    TableName name = TableName.valueOf("blog");
    create(admin, name);
    List<Put> puts = new ArrayList<>();
    for (Posts.Post post : Posts.of("123", 20, ZoneOffset.UTC, 1)) puts.add(post.put());
    for (Posts.Post post : Posts.of("1234", 7, ZoneOffset.UTC, 2)) puts.add(post.put());
    try (Table table = connection.getTable(name)) {
      table.put(puts);
      long start = Posts.start(2022, 12, ZoneOffset.UTC), end = Posts.start(2023, 1, ZoneOffset.UTC);
      show(table, new Scan()
          .withStartRow(("123_" + (Long.MAX_VALUE - (end - 1))).getBytes(UTF_8))
          .withStopRow(("123_" + (Long.MAX_VALUE - start)).getBytes(UTF_8), true));
    }
    Cluster.drop(admin, name);
  }

  private static void admin(Connection connection, Admin admin) throws IOException {
    TableName name = TableName.valueOf("shop", "orders");
    admin.createNamespace(NamespaceDescriptor.create("shop").addConfiguration("owner", "rowhouse").build());
    for (NamespaceDescriptor namespace : admin.listNamespaceDescriptors()) System.out.println(namespace);
    System.out.println(String.join(" ", admin.listNamespaces()));
    System.out.println(admin.getNamespaceDescriptor("shop"));
    admin.createTable(
        TableDescriptorBuilder.newBuilder(name)
            .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CF).setMaxVersions(3).build())
            .setColumnFamily(ColumnFamilyDescriptorBuilder.of("d"))
            .setValue("note", "kept verbatim")
            .build(),
        new byte[][] {{0}, Bytes.toBytes("a,b"), {(byte) 0xff, 0}});
    System.out.println(admin.tableExists(name));
    System.out.println(List.of(admin.listTableNames()));
    System.out.println(List.of(admin.listTableNamesByNamespace("shop")));
    System.out.println(admin.listTableDescriptors());
    System.out.println(admin.getDescriptor(name));
    System.out.println(admin.getRegions(name));
    System.out.println(admin.isTableEnabled(name) + " " + admin.isTableAvailable(name));
    try (RegionLocator locator = connection.getRegionLocator(name)) {
      System.out.println(locator.getAllRegionLocations());
    }
    ClusterMetrics metrics = admin.getClusterMetrics();
    System.out.println(metrics.getHBaseVersion() + " " + metrics.getLiveServerMetrics().keySet());
    System.out.println(admin.getRegions(metrics.getLiveServerMetrics().keySet().iterator().next()).size());
    System.out.println(List.of(admin.listTableNames(Pattern.compile("shop:o.*"))));
    System.out.println(admin.isBalancerEnabled() + " " + admin.isNormalizerEnabled());
    admin.modifyNamespace(NamespaceDescriptor.create("shop").addConfiguration("owner", "else").build());
    admin.flush(name);
    admin.disableTable(name);
    System.out.println(admin.isTableDisabled(name));
    admin.enableTable(name);
    admin.disableTable(name);
    admin.deleteTable(name);
    System.out.println(admin.tableExists(name));
    admin.deleteNamespace("shop");
  }

  private static void data(Connection connection, Admin admin) throws Exception {
    TableName name = TableName.valueOf("data");
    admin.createTable(
        TableDescriptorBuilder.newBuilder(name)
            .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CF).setMaxVersions(3).build())
            .setColumnFamily(ColumnFamilyDescriptorBuilder.of("d"))
            .build(),
        new byte[][] {Bytes.toBytes("m")});
    try (Table table = connection.getTable(name)) {
      table.put(put("a", 1).addColumn(Bytes.toBytes("d"), Q, Bytes.toBytes("other family")));
      table.put(List.of(put("a", 2), put("a", 3), put("b", 1), put("n", 1), put("z", 1)));
      System.out.println(table.get(new Get(Bytes.toBytes("a"))));
      System.out.println(table.get(new Get(Bytes.toBytes("a")).readAllVersions().addFamily(CF)));
      System.out.println(table.get(new Get(Bytes.toBytes("a")).setTimeRange(1, 3).addColumn(CF, Q)));
      System.out.println(table.get(new Get(Bytes.toBytes("missing"))));
      System.out.println(table.exists(new Get(Bytes.toBytes("b"))));
      System.out.println(List.of(table.get(List.of(get("a"), get("n"), get("none"), get("z")))));
      System.out.println(List.of(table.exists(get("a")), table.existsAll(List.of(get("a"), get("none")))[1]));
      show(table, new Scan());
      show(table, new Scan().setReversed(true));
      show(table, new Scan().setLimit(2).setCaching(1));
      show(table, new Scan().withStartRow(Bytes.toBytes("a"), false).withStopRow(Bytes.toBytes("n"), true));
      show(table, new Scan().setOneRowLimit());
      show(table, new Scan().setBatch(1).addFamily(CF).readAllVersions());
      System.out.println(table.incrementColumnValue(Bytes.toBytes("count"), CF, Q, 5));
      System.out.println(table.increment(
          new Increment(Bytes.toBytes("count")).addColumn(CF, Q, -7).addColumn(CF, Bytes.toBytes("r"), 1)));
      table.delete(new Delete(Bytes.toBytes("a")).addColumn(CF, Q));
      table.delete(new Delete(Bytes.toBytes("a")).addColumns(CF, Q, 1));
      table.delete(new Delete(Bytes.toBytes("a")).addFamily(Bytes.toBytes("d")));
      table.delete(new Delete(Bytes.toBytes("a")).addFamilyVersion(CF, 2));
      table.delete(new Delete(Bytes.toBytes("b")));
      table.delete(new ArrayList<>(List.of(new Delete(Bytes.toBytes("n")), new Delete(Bytes.toBytes("z")))));
      Object[] results = new Object[3];
      table.batch(List.of(put("c", 1), get("count"), new Increment(Bytes.toBytes("count")).addColumn(CF, Q, 1)), results);
      System.out.println(List.of(results));
      show(table, new Scan().setRaw(true).readAllVersions());
    }
    Cluster.drop(admin, name);
  }

  /** hbase:meta and hbase:namespace through the plain Table API, with three tables' regions in them. */
  private static void catalog(Connection connection, Admin admin) throws IOException {
    TableName plain = TableName.valueOf("t"), split = TableName.valueOf("t1"), off = TableName.valueOf("default", "off");
    create(admin, plain);
    admin.createTable(
        TableDescriptorBuilder.newBuilder(split).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build(),
        new byte[][] {{0}, Bytes.toBytes("a,b"), {(byte) 0xff, 0}});
    create(admin, off);
    admin.disableTable(off);
    try (Table meta = connection.getTable(TableName.META_TABLE_NAME);
        Table namespaces = connection.getTable(TableName.valueOf("hbase:namespace"))) {
      show(meta, new Scan());
      show(meta, new Scan().setReversed(true).addFamily(Bytes.toBytes("info")));
      show(namespaces, new Scan());
    }
    for (TableName name : List.of(plain, split, off)) Cluster.drop(admin, name);
  }

  private static void errors(Connection connection, Admin admin) throws IOException {
    TableName name = TableName.valueOf("errors");
    create(admin, name);
    try (Table table = connection.getTable(name);
        Table unknown = connection.getTable(TableName.valueOf("unknown"))) {
      table.put(new Put(Bytes.toBytes("a")).addColumn(CF, Q, Bytes.toBytes("three")));
      refused(() -> unknown.get(get("a")));
      refused(() -> table.get(get("a").addFamily(Bytes.toBytes("nope"))));
      refused(() -> table.put(new Put(Bytes.toBytes("a")).addColumn(Bytes.toBytes("nope"), Q, Q)));
      refused(() -> table.incrementColumnValue(Bytes.toBytes("a"), CF, Q, 1));
      refused(() -> table.get(List.of(get("a"), get("a").addFamily(Bytes.toBytes("nope")))));
      refused(() -> table.put(List.of(put("good", 1), new Put(Bytes.toBytes("a")).addColumn(Bytes.toBytes("nope"), Q, Q))));
      refused(() -> table.batch(List.of(new Increment(Bytes.toBytes("a")).addColumn(CF, Q, 1)), new Object[1]));
      refused(() -> create(admin, name));
      refused(() -> admin.createTable(TableDescriptorBuilder.newBuilder(TableName.valueOf("unknown")).build()));
      refused(() -> admin.enableTable(name));
      refused(() -> admin.deleteTable(name));
      refused(() -> admin.deleteNamespace("default"));
      refused(() -> create(admin, TableName.valueOf("nowhere", "t")));
      refused(() -> admin.getDescriptor(TableName.valueOf("unknown")));
      refused(() -> admin.getNamespaceDescriptor("nowhere"));
      admin.disableTable(name);
      refused(() -> table.get(get("a")));
      refused(() -> admin.disableTable(name));
      admin.deleteTable(name);
    }
  }

  interface Attempt {
    void run() throws Exception;
  }

  private static void refused(Attempt attempt) {
    try {
      attempt.run();
      throw new IllegalStateException("nothing was refused");
    } catch (Exception e) {
      System.out.println(e.toString().lines().findFirst().orElse(""));
    }
  }

  private static void create(Admin admin, TableName name) throws IOException {
    ColumnFamilyDescriptor family = ColumnFamilyDescriptorBuilder.of(CF);
    admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(family).build());
  }

  private static Put put(String row, long timestamp) {
    return new Put(Bytes.toBytes(row)).addColumn(CF, Q, timestamp, Bytes.toBytes("v" + timestamp));
  }

  private static Get get(String row) {
    return new Get(Bytes.toBytes(row));
  }

  private static void show(Table table, Scan scan) throws IOException {
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) System.out.println(result);
    }
  }
}
