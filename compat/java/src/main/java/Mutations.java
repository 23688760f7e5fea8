import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellBuilderFactory;
import org.apache.hadoop.hbase.CellBuilderType;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;

/** Every change of one row: appends, increments, conditions, several changes as one, and batches of all of it: Mutations REGISTRY HOST:PORT. */
public final class Mutations {
  private static final TableName TABLE = TableName.valueOf("mutations");
  private static final byte[] A = bytes("a");
  private static final byte[] B = bytes("b");
  private static final byte[] Q = bytes("q");
  private static final byte[] N = bytes("n");
  private static final byte[] P = bytes("p");
  /** Far behind every clock of a server, and a timestamp that {@link Checks#show} prints. */
  private static final long FUTURE = 9_000_000_000_000L;

  private final Checks checks = new Checks();
  private final Table table;

  private Mutations(Table table) {
    this.table = table;
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      Cluster.drop(admin, TABLE);
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE)
          .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(A).setMaxVersions(5).build())
          .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(B).setMaxVersions(5).build()).build(), new byte[][] {bytes("m")});
      try (Table table = connection.getTable(TABLE)) {
        Mutations program = new Mutations(table);
        program.appends();
        program.increments();
        program.compared();
        program.conditions();
        program.rowMutations();
        program.batches();
        program.timesToLive();
        program.markersInPuts();
        program.checks.finish();
      }
    }
  }

  /** As programs send them that copy tables. */
  private void markersInPuts() throws Exception {
    byte[] row = bytes("marked");
    for (long time = 1; time <= 3; time++) table.put(new Put(row).addColumn(A, Q, time, bytes("v" + time)));
    checks.equal("a put with the delete of a version", "3 1", () -> marked(row, Cell.Type.Delete, 2));
    checks.equal("a put with the delete of a version without a time", "3 1", () -> marked(row, Cell.Type.Delete, HConstants.LATEST_TIMESTAMP));
    checks.equal("a put with the delete of a column", "3", () -> marked(row, Cell.Type.DeleteColumn, 1));
    checks.equal("a put with the delete of a family", "", () -> marked(row, Cell.Type.DeleteFamily, HConstants.LATEST_TIMESTAMP));
    checks.equal("a batch of puts with a delete", "5", () -> {
      byte[] other = bytes("marked too");
      Object[] results = new Object[2];
      table.batch(List.of(new Put(other).addColumn(A, Q, 4, bytes("v")).addColumn(A, Q, 5, bytes("v")),
          new Put(other).add(marker(other, Cell.Type.DeleteColumn, 4))), results);
      return times(other);
    });
  }

  private String marked(byte[] row, Cell.Type type, long time) throws Exception {
    table.put(new Put(row).add(marker(row, type, time)));
    return times(row);
  }

  private static Cell marker(byte[] row, Cell.Type type, long time) {
    byte[] qualifier = type == Cell.Type.DeleteFamily ? new byte[0] : Q;
    return CellBuilderFactory.create(CellBuilderType.DEEP_COPY).setRow(row).setFamily(A).setQualifier(qualifier).setTimestamp(time)
        .setType(type).setValue(new byte[0]).build();
  }

  private String times(byte[] row) throws Exception {
    StringBuilder text = new StringBuilder();
    Result result = table.get(new Get(row).addColumn(A, Q).readVersions(5));
    for (Cell cell : result.isEmpty() ? new Cell[0] : result.rawCells()) {
      text.append(text.isEmpty() ? "" : " ").append(cell.getTimestamp());
    }
    return text.toString();
  }

  private void appends() throws Exception {
    byte[] row = bytes("append");
    checks.equal("append to nothing", "append a:q=x", () -> Checks.show(table.append(new Append(row).addColumn(A, Q, bytes("x")))));
    checks.equal("append to several columns, answered in their order", "append a:p=1 a:q=xy b:q=z", () -> Checks.show(table.append(
        new Append(row).addColumn(B, Q, bytes("z")).addColumn(A, Q, bytes("y")).addColumn(A, P, bytes("1")))));
    checks.equal("append of nothing to a value", "append a:q=xy", () -> Checks.show(table.append(new Append(row).addColumn(A, Q, new byte[0]))));
    checks.equal("append without results", "-", () -> Checks.show(table.append(new Append(row).addColumn(A, Q, bytes("!")).setReturnResults(false))));
    checks.equal("a row that was appended to", "append a:p=1 a:q=xy! b:q=z", () -> get("append"));
    checks.refused("append to an unknown family", NoSuchColumnFamilyException.class, "Column family nope does not exist",
        () -> table.append(new Append(row).addColumn(A, Q, bytes("lost")).addColumn(bytes("nope"), Q, bytes("x"))));
    checks.equal("and nothing else of it", "append a:p=1 a:q=xy! b:q=z", () -> get("append"));
    byte[] future = bytes("append later");
    table.put(new Put(future).addColumn(A, Q, FUTURE, bytes("x")));
    table.append(new Append(future).addColumn(A, Q, bytes("y")));
    checks.equal("an append stands above what it grew from", FUTURE + 1, () -> table.get(new Get(future)).rawCells()[0].getTimestamp());
    byte[] ranged = bytes("append ranged");
    table.put(new Put(ranged).addColumn(A, Q, 5, bytes("old")).addColumn(A, Q, 9, bytes("new")));
    checks.equal("append within a time range", "append ranged a:q=old+",
        () -> Checks.show(table.append(new Append(ranged).addColumn(A, Q, bytes("+")).setTimeRange(0, 9))));
    byte[] stamped = bytes("append stamped");
    checks.equal("the timestamp of an append to nothing is kept", "append stamped a:q@7=x",
        () -> Checks.show(table.append(new Append(stamped).add(cell(stamped, Q, 7, bytes("x"))))));
    checks.equal("that of one to a value is not", true,
        () -> table.append(new Append(stamped).add(cell(stamped, Q, 9, bytes("y")))).rawCells()[0].getTimestamp() > 1_000_000_000_000L);
    byte[] twice = bytes("append twice");
    table.put(new Put(twice).addColumn(A, Q, 1, bytes("x")));
    checks.equal("a column named twice", "append twice a:q=xy a:q=xz",
        () -> Checks.show(table.append(new Append(twice).addColumn(A, Q, bytes("y")).addColumn(A, Q, bytes("z")))));
    checks.equal("keeps the second", "append twice a:q=xz", () -> get("append twice"));
  }

  private void increments() throws Exception {
    byte[] row = bytes("increment");
    checks.equal("increment by nothing", "increment a:n=0", () -> mixed(table.increment(new Increment(row).addColumn(A, N, 0))));
    checks.equal("a column counted twice", "increment a:n=1 a:n=5", () -> mixed(table.increment(new Increment(row).addColumn(A, N, 1).addColumn(A, N, 5))));
    checks.equal("counts once", "increment a:n=5", () -> mixed(table.get(new Get(row))));
    checks.equal("an increment by nothing writes", 3, () -> {
      table.increment(new Increment(row).addColumn(A, N, 0));
      return table.get(new Get(row).readAllVersions()).size();
    });
    checks.equal("columns of two families", "increment a:n=6 b:n=2", () -> mixed(table.increment(new Increment(row).addColumn(B, N, 2).addColumn(A, N, 1))));
    byte[] stamped = bytes("increment stamped");
    checks.equal("the timestamp of an increment of nothing is kept", 7L,
        () -> table.increment(new Increment(stamped).add(cell(stamped, N, 7, Bytes.toBytes(1L)))).rawCells()[0].getTimestamp());
    byte[] wrong = bytes("increment wrong");
    table.put(new Put(wrong).addColumn(A, N, bytes("short")));
    checks.refused("increment of what is no counter", DoNotRetryIOException.class, "Field is not a long, it's 5 bytes wide",
        () -> table.increment(new Increment(wrong).addColumn(A, N, 1)));
  }

  /** The value given stands on the left: "b" LESS "c". */
  private void compared() throws Exception {
    String[] there = {null, "", "a", "b", "c"};
    for (CompareOperator operator : CompareOperator.values()) {
      if (operator == CompareOperator.NO_OP) continue;
      for (String given : new String[] {"b", "", null}) {
        StringJoiner held = new StringJoiner(" ");
        for (String value : there) {
          byte[] row = bytes("compare " + operator + " " + given + " " + value);
          if (value != null) table.put(new Put(row).addColumn(A, Q, 1, bytes(value)));
          CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(row);
          byte[] bytes = given == null ? null : bytes(given);
          Put put = new Put(row).addColumn(A, P, bytes("done"));
          if (table.checkAndMutate(builder.ifMatches(A, Q, operator, bytes).build(put)).isSuccess()) held.add(value == null ? "none" : "'" + value + "'");
        }
        checks.equal("given '" + given + "' " + operator, expected(operator, given), held::toString);
      }
    }
  }

  private static String expected(CompareOperator operator, String given) {
    if (given == null || given.isEmpty()) return operator == CompareOperator.NOT_EQUAL ? "'a' 'b' 'c'" : "none ''";
    switch (operator) {
      case LESS: return "'c'";
      case LESS_OR_EQUAL: return "'b' 'c'";
      case EQUAL: return "'b'";
      case NOT_EQUAL: return "'' 'a' 'c'";
      case GREATER_OR_EQUAL: return "'' 'a' 'b'";
      case GREATER: return "'' 'a'";
      default: return "?";
    }
  }

  private void conditions() throws Exception {
    byte[] row = bytes("conditions");
    table.put(new Put(row).addColumn(A, Q, 5, bytes("old")).addColumn(A, Q, 9, bytes("new")));
    CheckAndMutate.Builder isNew = CheckAndMutate.newBuilder(row).ifEquals(A, Q, bytes("new"));
    checks.equal("a condition and a put", "true null", () -> checked(isNew.build(new Put(row).addColumn(A, P, 1, bytes("put")))));
    checks.equal("a condition and an increment", "true conditions a:n=3", () -> checked(isNew.build(new Increment(row).addColumn(A, N, 3))));
    checks.equal("a condition and an append", "true conditions a:p=putx", () -> checked(isNew.build(new Append(row).addColumn(A, P, bytes("x")))));
    checks.equal("a condition and a silent append", "true -", () -> checked(isNew.build(new Append(row).addColumn(A, P, bytes("y")).setReturnResults(false))));
    checks.equal("a condition and a delete", "true null", () -> checked(isNew.build(new Delete(row).addColumns(A, N))));
    CheckAndMutate.Builder isOld = CheckAndMutate.newBuilder(row).ifEquals(A, Q, bytes("old"));
    checks.equal("a condition that does not hold", "false null", () -> checked(isOld.build(new Put(row).addColumn(A, P, bytes("lost")))));
    checks.equal("nor for an increment", "false null", () -> checked(isOld.build(new Increment(row).addColumn(A, N, 3))));
    checks.equal("a row changed under conditions", "conditions a:p=putxy a:q@9=new", () -> get("conditions"));
    checks.equal("a condition within a time range", "true null",
        () -> checked(isOld.timeRange(TimeRange.between(0, 9)).build(new Put(row).addColumn(B, Q, 1, bytes("ranged")))));
    checks.equal("a condition outside of it", "true null", () -> checked(CheckAndMutate.newBuilder(row).ifNotExists(A, Q)
        .timeRange(TimeRange.between(0, 5)).build(new Put(row).addColumn(B, Q, 2, bytes("before")))));
    checks.equal("a condition on another column than is changed", "conditions b:q@2=before", () -> Checks.show(table.get(new Get(row).addFamily(B))));
    checks.refused("a condition on an unknown family", NoSuchColumnFamilyException.class, "Column family nope does not exist",
        () -> checked(CheckAndMutate.newBuilder(row).ifNotExists(bytes("nope"), Q).build(new Put(row).addColumn(A, Q, Q))));
    byte[] future = bytes("conditions later");
    table.put(new Put(future).addColumn(A, Q, FUTURE, bytes("x")));
    CheckAndMutate.Builder isX = CheckAndMutate.newBuilder(future).ifEquals(A, Q, bytes("x"));
    checks.equal("a delete under a condition is of its own time", "true null x", () -> checked(isX.build(new Delete(future).addColumns(A, Q)))
        + " " + Bytes.toString(table.get(new Get(future)).value()));
    checks.equal("a put under a condition is not older than what it saw", "true null y", () -> checked(isX.build(new Put(future).addColumn(A, Q, bytes("y"))))
        + " " + Bytes.toString(table.get(new Get(future)).value()));
    SingleColumnValueFilter filterNew = new SingleColumnValueFilter(A, Q, CompareOperator.EQUAL, bytes("new"));
    filterNew.setFilterIfMissing(true);
    checks.equal("a condition that is a filter", "true null",
        () -> checked(CheckAndMutate.newBuilder(row).ifMatches(filterNew).build(new Put(row).addColumn(B, P, 1, bytes("filtered")))));
    SingleColumnValueFilter filterOther = new SingleColumnValueFilter(A, Q, CompareOperator.EQUAL, bytes("other"));
    checks.equal("a condition that is a filter, which lets nothing through", "false null",
        () -> checked(CheckAndMutate.newBuilder(row).ifMatches(filterOther).build(new Put(row).addColumn(B, P, 2, bytes("lost")))));
    checks.equal("a condition that is a filter, of a row that is not there", "false null", () -> checked(
        CheckAndMutate.newBuilder(bytes("nowhere")).ifMatches(filterNew).build(new Put(bytes("nowhere")).addColumn(B, P, 1, bytes("filtered")))));
  }

  private void rowMutations() throws Exception {
    byte[] row = bytes("row mutations");
    table.put(new Put(row).addColumn(A, P, 1, bytes("gone")));
    checks.equal("results in the order of the mutations", "row mutations b:q=v a:n=5", () -> mixed(table.mutateRow(of(row, new Append(row).addColumn(B, Q, bytes("v")),
        new Put(row).addColumn(A, Q, 1, bytes("put")), new Increment(row).addColumn(A, N, 5), new Delete(row).addColumns(A, P)))));
    checks.equal("a row after them", "row mutations a:n=5 a:q@1=put b:q=v", () -> mixed(table.get(new Get(row))));
    checks.equal("without increments and appends there is no cell", "-", () -> mixed(table.mutateRow(of(row, new Put(row).addColumn(A, Q, 2, bytes("put"))))));
    checks.equal("an increment does not see the put in front of it", "row mutations a:n=6", () -> mixed(table.mutateRow(of(row,
        new Put(row).addColumn(A, N, Bytes.toBytes(100L)), new Increment(row).addColumn(A, N, 1)))));
    checks.equal("but what comes last stays", "row mutations a:n=6", () -> mixed(table.get(new Get(row).addColumn(A, N))));
    checks.equal("two increments start from the same", "row mutations a:n=7 a:n=8",
        () -> mixed(table.mutateRow(of(row, new Increment(row).addColumn(A, N, 1), new Increment(row).addColumn(A, N, 2)))));
    checks.equal("of two puts of a cell the last one stays", "row mutations b:p@9=second", () -> {
      table.mutateRow(of(row, new Put(row).addColumn(B, P, 9, bytes("first")), new Put(row).addColumn(B, P, 9, bytes("second"))));
      return Checks.show(table.get(new Get(row).addColumn(B, P)));
    });
    byte[] newest = bytes("row mutations newest");
    for (int at = 1; at <= 3; at++) table.put(new Put(newest).addColumn(A, Q, at, bytes("v" + at)));
    checks.equal("two deletes of the newest version mean the same one", "row mutations newest a:q@2=v2", () -> {
      table.mutateRow(of(newest, new Delete(newest).addColumn(A, Q), new Delete(newest).addColumn(A, Q)));
      return get("row mutations newest");
    });
    byte[] failing = bytes("row mutations failing");
    table.put(new Put(failing).addColumn(A, N, 1, bytes("short")));
    checks.refused("one that cannot be done", RetriesExhaustedWithDetailsException.class, "^Failed 2 actions: org.apache.hadoop.hbase.DoNotRetryIOException: Field is not a long, it's 5 bytes wide", () -> table.mutateRow(of(failing,
        new Put(failing).addColumn(A, P, bytes("lost")), new Increment(failing).addColumn(A, N, 1))));
    checks.refused("one of an unknown family", RetriesExhaustedWithDetailsException.class, "^Failed 2 actions: .*NoSuchColumnFamilyException: Column family nope does not exist", () -> table.mutateRow(of(failing,
        new Put(failing).addColumn(A, P, bytes("lost")), new Put(failing).addColumn(bytes("nope"), P, bytes("lost")))));
    checks.equal("leaves nothing of the others", "row mutations failing a:n@1=short", () -> get("row mutations failing"));
    CheckAndMutate.Builder isShort = CheckAndMutate.newBuilder(failing).ifEquals(A, N, bytes("short"));
    checks.equal("a condition and row mutations", "true null", () -> checked(isShort.build(of(failing,
        new Put(failing).addColumn(A, P, 1, bytes("p")), new Put(failing).addColumn(A, Q, 1, bytes("q"))))));
    checks.equal("a condition and row mutations with results", "true row mutations failing b:q=x b:n=1", () -> checked(isShort.build(of(failing,
        new Append(failing).addColumn(B, Q, bytes("x")), new Delete(failing).addColumns(A, N), new Increment(failing).addColumn(B, N, 1)))));
    checks.equal("a condition of row mutations that does not hold", "false null", () -> checked(isShort.build(of(failing,
        new Put(failing).addColumn(A, P, bytes("lost")), new Increment(failing).addColumn(B, N, 1)))));
    checks.equal("a row after all", "row mutations failing a:p@1=p a:q@1=q b:n=1 b:q=x", () -> mixed(table.get(new Get(failing))));
  }

  private void batches() throws Exception {
    byte[] one = bytes("batch 1");
    byte[] two = bytes("z batch 2");
    table.put(new Put(one).addColumn(A, Q, 1, bytes("x")));
    CheckAndMutate.Builder isX = CheckAndMutate.newBuilder(one).ifEquals(A, Q, bytes("x"));
    CheckAndMutate.Builder isY = CheckAndMutate.newBuilder(one).ifEquals(A, Q, bytes("y"));
    List<Row> actions = new ArrayList<>(List.of(
        new Put(one).addColumn(A, P, 1, bytes("put")),
        new Increment(two).addColumn(A, N, 2),
        new Get(one).addColumn(A, Q),
        new Append(two).addColumn(A, Q, bytes("grown")),
        new Put(one).addColumn(bytes("nope"), P, bytes("lost")),
        new Delete(two).addColumns(B, Q),
        new Increment(one).addColumn(A, Q, 1),
        of(two, new Put(two).addColumn(B, P, 1, bytes("one of all")), new Increment(two).addColumn(B, N, 4)),
        of(two, new Put(two).addColumn(B, P, 2, bytes("lost")), new Put(two).addColumn(bytes("nope"), P, bytes("lost"))),
        isX.build(new Put(one).addColumn(B, Q, 1, bytes("checked"))),
        isY.build(new Put(one).addColumn(B, Q, 2, bytes("lost"))),
        isX.build(of(one, new Append(one).addColumn(B, P, bytes("z")), new Put(one).addColumn(B, N, 1, bytes("checked")))),
        isY.build(of(one, new Append(one).addColumn(B, P, bytes("z")), new Put(one).addColumn(B, N, 2, bytes("lost"))))));
    Object[] results = new Object[actions.size()];
    checks.equal("a batch in which some fail", "RetriesExhaustedWithDetailsException", () -> {
      try {
        table.batch(actions, results);
        return "no exception";
      } catch (Exception e) {
        return e.getClass().getSimpleName();
      }
    });
    List<String> expected = List.of("put: -", "increment: z batch 2 a:n=2", "get: batch 1 a:q@1=x", "append: z batch 2 a:q=grown",
        "put, unknown family: NoSuchColumnFamilyException", "delete: -", "increment of what is no counter: DoNotRetryIOException",
        "row mutations: z batch 2 b:n=4", "row mutations, unknown family: NoSuchColumnFamilyException", "condition: true null",
        "condition that does not hold: false null", "condition of row mutations: true batch 1 b:p=z", "condition of row mutations that does not hold: false null");
    for (int at = 0; at < results.length; at++) {
      String[] parts = expected.get(at).split(": ", 2);
      Object result = results[at];
      checks.equal("in a batch: " + parts[0], parts[1], () -> of(result));
    }
    checks.equal("first row after the batch", "batch 1 a:p@1=put a:q@1=x b:n@1=checked b:p=z b:q@1=checked", () -> get("batch 1"));
    checks.equal("second row after the batch", "z batch 2 a:n=2 a:q=grown b:n=4 b:p@1=one of all", () -> mixed(table.get(new Get(two))));
    checks.equal("conditions in a list", "[true null, false null]", () -> table.checkAndMutate(List.of(
        isX.build(new Put(one).addColumn(A, P, 2, bytes("list"))), isY.build(new Put(one).addColumn(A, P, 3, bytes("lost"))))).stream().map(Mutations::show).toList());
  }

  private void timesToLive() throws Exception {
    byte[] row = bytes("ttl");
    table.put(new Put(row).addColumn(A, Q, bytes("a day")).setTTL(86_400_000));
    table.put(new Put(row).addColumn(A, P, bytes("a second")).setTTL(1_000));
    table.append(new Append(row).addColumn(B, P, bytes("a second")).setTTL(1_000));
    table.increment(new Increment(row).addColumn(B, N, 7).setTTL(1_000));
    table.append(new Append(row).addColumn(B, Q, bytes("a day")).setTTL(86_400_000));
    checks.equal("cells that live for a while are seen", "ttl a:p=a second a:q=a day b:n=7 b:p=a second b:q=a day", () -> mixed(table.get(new Get(row))));
    Thread.sleep(2_500);
    checks.equal("cells that lived for a second are gone", "ttl a:q=a day b:q=a day", () -> mixed(table.get(new Get(row))));
    checks.equal("an increment starts again when its counter is over", "ttl b:n=1", () -> mixed(table.increment(new Increment(row).addColumn(B, N, 1))));
  }

  private String checked(CheckAndMutate checkAndMutate) throws Exception {
    return show(table.checkAndMutate(checkAndMutate));
  }

  private static String show(CheckAndMutateResult result) {
    return result.isSuccess() + " " + (result.getResult() == null ? "null" : mixed(result.getResult()));
  }

  private static String of(Object result) {
    if (result instanceof CheckAndMutateResult) return show((CheckAndMutateResult) result);
    if (result instanceof Result) return mixed((Result) result);
    return result == null ? "null" : result.getClass().getSimpleName();
  }

  private static RowMutations of(byte[] row, Mutation... mutations) throws Exception {
    return new RowMutations(row).add(List.of(mutations));
  }

  private String get(String row) throws Exception {
    return Checks.show(table.get(new Get(bytes(row))));
  }

  /** As {@link Checks#show}, with the values of the qualifier n as numbers. */
  private static String mixed(Result result) {
    if (result.isEmpty()) return "-";
    StringJoiner text = new StringJoiner(" ").add(Bytes.toStringBinary(result.getRow()));
    for (Cell cell : result.rawCells()) {
      byte[] value = CellUtil.cloneValue(cell);
      boolean counts = CellUtil.matchingQualifier(cell, N) && value.length == 8;
      String stamp = cell.getTimestamp() > 1_000_000_000_000L ? "" : "@" + cell.getTimestamp();
      text.add(Bytes.toString(CellUtil.cloneFamily(cell)) + ":" + Bytes.toString(CellUtil.cloneQualifier(cell)) + stamp
          + "=" + (counts ? Long.toString(Bytes.toLong(value)) : Bytes.toStringBinary(value)));
    }
    return text.toString();
  }

  private static Cell cell(byte[] row, byte[] qualifier, long timestamp, byte[] value) {
    return CellBuilderFactory.create(CellBuilderType.DEEP_COPY).setRow(row).setFamily(A).setQualifier(qualifier).setTimestamp(timestamp)
        .setType(Cell.Type.Put).setValue(value).build();
  }

  private static byte[] bytes(String text) {
    return Bytes.toBytes(text);
  }
}
