import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.NamespaceExistException;
import org.apache.hadoop.hbase.NamespaceNotFoundException;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.TableNotEnabledException;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;

/** What is refused, and with which exception: BadInput REGISTRY HOST:PORT. */
public final class BadInput {
  private static final TableName TABLE = TableName.valueOf("bad_input");
  private static final TableName UNKNOWN = TableName.valueOf("unknown");
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final byte[] NOPE = Bytes.toBytes("nope");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] A = Bytes.toBytes("a");
  private static final String NO_FAMILY = "Column family nope does not exist in region bad_input,,";

  private static final String NO_CLASS = "Unable to load exception received from server:org.apache.hadoop.hbase.";

  private final Checks checks = new Checks();
  private final Admin admin;
  private final Table table;
  private final Table unknown;

  private BadInput(Connection connection, Admin admin) throws IOException {
    this.admin = admin;
    table = connection.getTable(TABLE);
    unknown = connection.getTable(UNKNOWN);
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = Cluster.configuration(args[0], args[1]);
    System.setErr(new PrintStream(OutputStream.nullOutputStream())); // The client prints stack traces of refused scans.
    conf.setInt("hbase.client.retries.number", 3); // What should not be retried and is, is to fail soon.
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      Cluster.drop(admin, TABLE);
      create(admin, TABLE);
      BadInput program = new BadInput(connection, admin);
      program.tables();
      program.families();
      program.cells();
      program.rows();
      program.namespaces();
      program.disabled();
      program.checks.finish();
    }
  }

  private void tables() {
    checks.refused("get from an unknown table", TableNotFoundException.class, "^unknown$", () -> unknown.get(new Get(A)));
    checks.refused("put into an unknown table", TableNotFoundException.class, "^unknown$", () -> run(() -> unknown.put(put())));
    checks.refused("scan of an unknown table", TableNotFoundException.class, "^unknown$", () -> Checks.show(unknown, new Scan()));
    checks.refused("describe an unknown table", TableNotFoundException.class, "^unknown$", () -> admin.getDescriptor(UNKNOWN));
    checks.refused("disable an unknown table", TableNotFoundException.class, "unknown$", () -> run(() -> admin.disableTable(UNKNOWN)));
    checks.refused("enable an unknown table", TableNotFoundException.class, "unknown$", () -> run(() -> admin.enableTable(UNKNOWN)));
    checks.refused("delete an unknown table", TableNotFoundException.class, "unknown$", () -> run(() -> admin.deleteTable(UNKNOWN)));
    checks.refused("state of an unknown table", TableNotFoundException.class, "unknown$", () -> admin.isTableEnabled(UNKNOWN));
    checks.refused("create a table that exists", TableExistsException.class, "bad_input$", () -> run(() -> create(admin, TABLE)));
    checks.refused("delete an enabled table", TableNotDisabledException.class,
        "Not DISABLED; tableName=bad_input, state=ENABLED$", () -> run(() -> admin.deleteTable(TABLE)));
    checks.refused("enable an enabled table", TableNotDisabledException.class,
        "tableName=bad_input, state=ENABLED$", () -> run(() -> admin.enableTable(TABLE)));
    checks.refused("create a table without families", DoNotRetryIOException.class, "Table should have at least one column family",
        () -> run(() -> admin.createTable(TableDescriptorBuilder.newBuilder(UNKNOWN).build())));
    checks.refused("create a table with blocks under 1 KiB", DoNotRetryIOException.class, "Block size for column family cf",
        () -> run(() -> admin.createTable(TableDescriptorBuilder.newBuilder(UNKNOWN)
            .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CF).setBlocksize(100).build()).build())));
    checks.equal("none of them was created", false, () -> admin.tableExists(UNKNOWN));
  }

  private void families() {
    checks.refused("get of an unknown family", NoSuchColumnFamilyException.class, NO_FAMILY,
        () -> table.get(new Get(A).addFamily(NOPE)));
    checks.refused("put of an unknown family", NoSuchColumnFamilyException.class, NO_FAMILY,
        () -> run(() -> table.put(new Put(A).addColumn(NOPE, Q, Q))));
    checks.refused("delete of an unknown family", NoSuchColumnFamilyException.class, NO_FAMILY,
        () -> run(() -> table.delete(new Delete(A).addFamily(NOPE))));
    checks.refused("increment of an unknown family", NoSuchColumnFamilyException.class, NO_FAMILY,
        () -> table.incrementColumnValue(A, NOPE, Q, 1));
    checks.refused("scan of an unknown family", NoSuchColumnFamilyException.class, NO_FAMILY,
        () -> Checks.show(table, new Scan().addFamily(NOPE)));
    checks.refused("get of an unknown family in a list", RetriesExhaustedWithDetailsException.class,
        "^Failed 1 action: .*NoSuchColumnFamilyException: " + NO_FAMILY,
        () -> table.get(List.of(new Get(A), new Get(A).addFamily(NOPE))));
    checks.refused("put of an unknown family in a list", RetriesExhaustedWithDetailsException.class,
        "^Failed 1 action: .*NoSuchColumnFamilyException: " + NO_FAMILY,
        () -> run(() -> table.put(List.of(new Put(Bytes.toBytes("good")).addColumn(CF, Q, Q), new Put(A).addColumn(NOPE, Q, Q)))));
    checks.equal("the good put of that list was applied", true, () -> table.exists(new Get(Bytes.toBytes("good"))));
  }

  private void cells() throws IOException {
    table.put(new Put(A).addColumn(CF, Q, Bytes.toBytes("three")));
    checks.refused("increment of five bytes", DoNotRetryIOException.class, "Field is not a long, it's 5 bytes wide$",
        () -> table.incrementColumnValue(A, CF, Q, 1));
    checks.refused("increment of five bytes beside a good column", DoNotRetryIOException.class, "Field is not a long, it's 5 bytes wide$",
        () -> table.increment(new Increment(A).addColumn(CF, Bytes.toBytes("n"), 1).addColumn(CF, Q, 1)));
    checks.equal("nothing of that increment remains", "a cf:q=three", () -> Checks.show(table.get(new Get(A))));
    checks.refused("increment of five bytes in a batch", RetriesExhaustedWithDetailsException.class,
        "Field is not a long, it's 5 bytes wide",
        () -> run(() -> table.batch(List.of(new Increment(A).addColumn(CF, Q, 1)), new Object[1])));
    checks.refused("put without columns (client)", IllegalArgumentException.class, "^No columns to (insert|put)$",
        () -> run(() -> table.put(new Put(A))));
  }

  private void rows() throws IOException {
    // The stock client cannot look up the region of so long a row (its own check of the meta key), but finds it in its cache.
    table.get(new Get(A));
    byte[] longest = new byte[32_767], longer = new byte[32_768];
    checks.equal("row of 32767 bytes", true, () -> {
      table.put(new Put(longest).addColumn(CF, Q, Q));
      return table.exists(new Get(longest));
    });
    checks.refused("row of 32768 bytes (client)", IllegalArgumentException.class, "^Row length 32768 is > 32767$", () -> new Put(longer));
    checks.refused("get of a row of 32768 bytes (client)", IllegalArgumentException.class, "^Row length 32768 is > 32767$",
        () -> new Get(longer));
    // The client's own check is passed by giving the Put its row after its cells.
    // Apache answers with a plain IOException, which the client retries; a class that stops it at once is as good.
    checks.equal("row of 32768 bytes (server)", "refused", () -> {
      try {
        table.put(new RowPut(longer));
        return "taken";
      } catch (IOException e) {
        return e.getMessage().contains("Row length 32768 is > 32767") ? "refused" : e;
      }
    });
    checks.equal("row of 32768 bytes left nothing", false, () -> table.exists(new Get(new byte[] {1})));
  }

  private void namespaces() throws IOException {
    checks.refused("create a table in an unknown namespace", NamespaceNotFoundException.class, "nowhere$",
        () -> run(() -> create(admin, TableName.valueOf("nowhere", "t"))));
    checks.refused("describe an unknown namespace", NamespaceNotFoundException.class, "nowhere$",
        () -> admin.getNamespaceDescriptor("nowhere"));
    checks.refused("delete an unknown namespace", NamespaceNotFoundException.class, "nowhere$",
        () -> run(() -> admin.deleteNamespace("nowhere")));
    checks.refused("list the tables of an unknown namespace", NamespaceNotFoundException.class, "nowhere$",
        () -> List.of(admin.listTableNamesByNamespace("nowhere")));
    checks.refused("create a namespace that exists", NamespaceExistException.class, "default",
        () -> run(() -> admin.createNamespace(NamespaceDescriptor.create("default").build())));
    // ConstraintException itself is a class of hbase-server, so the client has no such class to throw.
    checks.refused("delete the default namespace", DoNotRetryIOException.class, NO_CLASS + "constraint.ConstraintException",
        () -> run(() -> admin.deleteNamespace("default")));
    TableName inside = TableName.valueOf("bad_space", "t");
    if (List.of(admin.listNamespaces()).contains("bad_space")) {
      Cluster.drop(admin, inside);
      admin.deleteNamespace("bad_space");
    }
    admin.createNamespace(NamespaceDescriptor.create("bad_space").build());
    create(admin, inside);
    checks.refused("delete a namespace with a table", DoNotRetryIOException.class, NO_CLASS + "constraint.ConstraintException",
        () -> run(() -> admin.deleteNamespace("bad_space")));
    Cluster.drop(admin, inside);
    admin.deleteNamespace("bad_space");
  }

  private void disabled() throws IOException {
    admin.disableTable(TABLE);
    checks.refused("get from a disabled table", TableNotEnabledException.class, "bad_input is disabled", () -> table.get(new Get(A)));
    checks.refused("put into a disabled table", TableNotEnabledException.class, "bad_input is disabled", () -> run(() -> table.put(put())));
    checks.refused("scan of a disabled table", TableNotEnabledException.class, "bad_input is disabled",
        () -> Checks.show(table, new Scan()));
    checks.refused("put of a list into a disabled table", RetriesExhaustedWithDetailsException.class,
        "^Failed 2 actions: NotServingRegionException: 2 times",
        () -> run(() -> table.put(List.of(put(), put()))));
    checks.refused("disable a disabled table", TableNotEnabledException.class, "bad_input$", () -> run(() -> admin.disableTable(TABLE)));
    checks.refused("flush a disabled table", TableNotEnabledException.class, "bad_input$", () -> run(() -> admin.flush(TABLE)));
    admin.deleteTable(TABLE);
    checks.refused("get from a deleted table", TableNotFoundException.class, "bad_input", () -> table.get(new Get(A)));
  }

  interface Action {
    void run() throws Exception;
  }

  private static Object run(Action action) throws Exception {
    action.run();
    return "nothing";
  }

  private static Put put() {
    return new Put(A).addColumn(CF, Q, Q);
  }

  private static void create(Admin admin, TableName name) throws IOException {
    admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
  }

  private static final class RowPut extends Put {
    RowPut(byte[] row) {
      super(new byte[] {1});
      addColumn(CF, Q, Q);
      this.row = row;
    }
  }
}
