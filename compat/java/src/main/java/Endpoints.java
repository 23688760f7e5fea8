import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.coprocessor.AggregationClient;
import org.apache.hadoop.hbase.client.coprocessor.BigDecimalColumnInterpreter;
import org.apache.hadoop.hbase.client.coprocessor.DoubleColumnInterpreter;
import org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter;
import org.apache.hadoop.hbase.coprocessor.example.generated.BulkDeleteProtos.BulkDeleteRequest;
import org.apache.hadoop.hbase.coprocessor.example.generated.BulkDeleteProtos.BulkDeleteRequest.DeleteType;
import org.apache.hadoop.hbase.coprocessor.example.generated.BulkDeleteProtos.BulkDeleteResponse;
import org.apache.hadoop.hbase.coprocessor.example.generated.BulkDeleteProtos.BulkDeleteService;
import org.apache.hadoop.hbase.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.protobuf.generated.AggregateProtos;
import org.apache.hadoop.hbase.protobuf.generated.AggregateProtos.AggregateRequest;
import org.apache.hadoop.hbase.protobuf.generated.AggregateProtos.AggregateResponse;
import org.apache.hadoop.hbase.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.protobuf.generated.MultiRowMutationProtos.MultiRowMutationService;
import org.apache.hadoop.hbase.protobuf.generated.MultiRowMutationProtos.MutateRowsRequest;
import org.apache.hadoop.hbase.util.Bytes;

/** HBase's own coprocessor endpoints, by the clients that come with them: Endpoints REGISTRY HOST:PORT. */
public final class Endpoints {
  private static final TableName TABLE = TableName.valueOf("endpoints");
  private static final TableName PLAIN = TableName.valueOf("endpoints-not-declared");
  private static final TableName BULK = TableName.valueOf("endpoints-bulk-delete");
  private static final byte[] CF = Bytes.toBytes("cf");
  private static final byte[] LONG = Bytes.toBytes("long");
  private static final byte[] DOUBLE = Bytes.toBytes("double");
  private static final byte[] DECIMAL = Bytes.toBytes("decimal");

  public static void main(String[] args) throws Exception {
    Checks checks = new Checks();
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin()) {
      for (TableName name : List.of(TABLE, PLAIN, BULK)) Cluster.drop(admin, name);
      admin.createTable(TableDescriptorBuilder.newBuilder(PLAIN).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF))
          .setCoprocessor("org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint")
          .setCoprocessor("org.apache.hadoop.hbase.coprocessor.AggregateImplementation").build(),
          new byte[][] {Bytes.toBytes("4"), Bytes.toBytes("7")});
      try (Table table = connection.getTable(TABLE); AggregationClient sums = new AggregationClient(connection.getConfiguration())) {
        fill(table);
        aggregates(checks, sums);
        batches(checks, table);
        rows(checks, table);
      }
      try (Table table = connection.getTable(PLAIN)) {
        Put put = new Put(Bytes.toBytes("1")).addColumn(CF, LONG, Bytes.toBytes(1L));
        checks.refused("an endpoint that the table does not declare", org.apache.hadoop.hbase.exceptions.UnknownProtocolException.class,
            "No registered coprocessor service found", () -> {
              mutate(table, put);
              return "done";
            });
      }
      admin.createTable(TableDescriptorBuilder.newBuilder(BULK)
          .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CF).setMaxVersions(3).setKeepDeletedCells(org.apache.hadoop.hbase.KeepDeletedCells.TRUE).build())
          .setCoprocessor("org.apache.hadoop.hbase.coprocessor.example.BulkDeleteEndpoint").build(), new byte[][] {Bytes.toBytes("d")});
      try (Table table = connection.getTable(BULK)) {
        bulkDeletes(checks, table);
      }
      checks.refused("a table with a coprocessor of somebody's own", org.apache.hadoop.hbase.DoNotRetryIOException.class, "org.example.Mine", () -> {
        TableName name = TableName.valueOf("endpoints-of-my-own");
        admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF))
            .setCoprocessor("org.example.Mine").build());
        return "created";
      });
    }
    checks.finish();
  }

  /** Rows 1 to 9 over three regions: n, n / 2 and n hundredths. */
  private static void fill(Table table) throws Exception {
    for (long n = 1; n <= 9; n++) {
      table.put(new Put(Bytes.toBytes(String.valueOf(n))).addColumn(CF, LONG, Bytes.toBytes(n)).addColumn(CF, DOUBLE, Bytes.toBytes(n / 2.0))
          .addColumn(CF, DECIMAL, Bytes.toBytes(BigDecimal.valueOf(n, 2))));
    }
  }

  interface Ask {
    Object of(Scan scan) throws Throwable;
  }

  private static Checks.Attempt of(byte[] qualifier, Ask ask) {
    return () -> {
      try {
        return ask.of(new Scan().addColumn(CF, qualifier));
      } catch (Exception e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    };
  }

  private static void aggregates(Checks checks, AggregationClient sums) {
    LongColumnInterpreter longs = new LongColumnInterpreter();
    checks.equal("rows counted", 9L, of(LONG, scan -> sums.rowCount(TABLE, longs, scan)));
    checks.equal("rows counted by family", 9L, of(LONG, scan -> sums.rowCount(TABLE, longs, new Scan().addFamily(CF))));
    checks.equal("rows of a range counted", 4L, of(LONG, scan -> sums.rowCount(TABLE, longs,
        scan.withStartRow(Bytes.toBytes("3")).withStopRow(Bytes.toBytes("7")))));
    checks.equal("greatest long", 9L, of(LONG, scan -> sums.max(TABLE, longs, scan)));
    checks.equal("least long", 1L, of(LONG, scan -> sums.min(TABLE, longs, scan)));
    checks.equal("sum of longs", 45L, of(LONG, scan -> sums.sum(TABLE, longs, scan)));
    checks.equal("average of longs", 5.0, of(LONG, scan -> sums.avg(TABLE, longs, scan)));
    checks.equal("deviation of longs", "2.58", of(LONG, scan -> String.format("%.2f", sums.std(TABLE, longs, scan))));
    checks.equal("median of longs in one region", 7L, of(LONG, scan -> sums.median(TABLE, longs, scan.withStartRow(Bytes.toBytes("7")))));
    // The client begins a region too early, and is behind the median before it has met it.
    checks.equal("median of longs over regions", null, of(LONG, scan -> sums.median(TABLE, longs, scan)));
    DoubleColumnInterpreter doubles = new DoubleColumnInterpreter();
    checks.equal("greatest double", 4.5, of(DOUBLE, scan -> sums.max(TABLE, doubles, scan)));
    checks.equal("sum of doubles", 22.5, of(DOUBLE, scan -> sums.sum(TABLE, doubles, scan)));
    BigDecimalColumnInterpreter decimals = new BigDecimalColumnInterpreter();
    checks.equal("least decimal", "0.01", of(DECIMAL, scan -> sums.min(TABLE, decimals, scan)));
    checks.equal("sum of decimals", "0.45", of(DECIMAL, scan -> sums.sum(TABLE, decimals, scan)));
    checks.equal("average of decimals", 0.05, of(DECIMAL, scan -> sums.avg(TABLE, decimals, scan)));
  }

  /** Rows a to f over two regions, each with two versions of two columns. */
  private static void bulkDeletes(Checks checks, Table table) throws Exception {
    for (String row : List.of("a", "b", "c", "d", "e", "f")) {
      for (long at = 1; at <= 2; at++) {
        table.put(new Put(Bytes.toBytes(row), at).addColumn(CF, LONG, Bytes.toBytes(at)).addColumn(CF, DOUBLE, Bytes.toBytes(at / 2.0)));
      }
    }
    checks.equal("rows deleted by a scan", "[1]", () -> delete(table, new Scan(), "a", "b", DeleteType.ROW, 2L));
    checks.equal("families deleted by a scan", "[1]", () -> delete(table, new Scan().addFamily(CF), "b", "c", DeleteType.FAMILY, 1L));
    checks.equal("columns deleted by a scan", "[1, 0]", () -> delete(table, new Scan().addColumn(CF, LONG), "c", "d", DeleteType.COLUMN, 2L));
    checks.equal("every version of a scan deleted", "[1/2]",
        () -> delete(table, new Scan().addColumn(CF, LONG).readAllVersions(), "d", "e", DeleteType.VERSION, null));
    checks.equal("versions at one time deleted", "[1/2]", () -> delete(table, new Scan().readVersions(1), "e", "f", DeleteType.VERSION, 1L));
    checks.equal("what is left, with the markers", "a/@2DeleteFamily a/double@2 a/double@1 a/long@2 a/long@1 b/@1DeleteFamily b/double@2 b/double@1 b/long@2 "
            + "b/long@1 c/double@2 c/double@1 c/long@2DeleteColumn c/long@2 c/long@1 d/double@2 d/double@1 d/long@2Delete "
            + "d/long@2 d/long@1Delete d/long@1 e/double@2 e/double@1Delete e/double@1 e/long@2 e/long@1Delete e/long@1 "
            + "f/double@2 f/double@1 f/long@2 f/long@1", () -> {
      StringBuilder text = new StringBuilder();
      try (ResultScanner scanner = table.getScanner(new Scan().setRaw(true).readAllVersions())) {
        for (Result result : scanner) {
          for (Cell cell : result.rawCells()) {
            text.append(' ').append(Bytes.toString(CellUtil.cloneRow(cell))).append('/').append(Bytes.toString(CellUtil.cloneQualifier(cell)))
                .append('@').append(cell.getTimestamp()).append(cell.getType() == Cell.Type.Put ? "" : cell.getType().toString());
          }
        }
      }
      return text.toString().trim();
    });
    checks.equal("rows in batches over two regions", "[2, 3]", () -> delete(table, new Scan(), "", "", DeleteType.ROW, 3L));
    checks.equal("none of which is left", 0, () -> {
      int rows = 0;
      try (ResultScanner scanner = table.getScanner(new Scan())) {
        while (scanner.next() != null) rows++;
      }
      return rows;
    });
  }

  /** The rows and versions that each region says it has deleted. */
  private static String delete(Table table, Scan scan, String start, String stop, DeleteType type, Long at) throws Exception {
    scan.withStartRow(Bytes.toBytes(start)).withStopRow(Bytes.toBytes(stop));
    BulkDeleteRequest.Builder request = BulkDeleteRequest.newBuilder().setScan(ProtobufUtil.toScan(scan)).setDeleteType(type).setRowBatchSize(2);
    if (at != null) request.setTimestamp(at);
    List<String> deleted = new ArrayList<>();
    try {
      for (BulkDeleteResponse answer : table.coprocessorService(BulkDeleteService.class, scan.getStartRow(), scan.getStopRow(), service -> {
        org.apache.hadoop.hbase.ipc.CoprocessorRpcUtils.BlockingRpcCallback<BulkDeleteResponse> callback =
            new org.apache.hadoop.hbase.ipc.CoprocessorRpcUtils.BlockingRpcCallback<>();
        service.delete(new org.apache.hadoop.hbase.ipc.ServerRpcController(), request.build(), callback);
        return callback.get();
      }).values()) {
        deleted.add(answer.getRowsDeleted() + (answer.hasVersionsDeleted() ? "/" + answer.getVersionsDeleted() : ""));
      }
    } catch (Exception e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    return deleted.toString();
  }

  private static void rows(Checks checks, Table table) {
    checks.equal("a put and a delete of two rows of a region as one", "[10] null", () -> {
      mutate(table, new Put(Bytes.toBytes("1")).addColumn(CF, LONG, Bytes.toBytes(10L)), new Delete(Bytes.toBytes("2")).addColumns(CF, LONG));
      return "[" + Bytes.toLong(value(table, "1")) + "] " + value(table, "2");
    });
    checks.refused("rows of two regions as one", org.apache.hadoop.hbase.DoNotRetryIOException.class, "[Rr]equested row out of range", () -> {
      mutate(table, new Put(Bytes.toBytes("1")).addColumn(CF, LONG, Bytes.toBytes(11L)),
          new Put(Bytes.toBytes("8")).addColumn(CF, LONG, Bytes.toBytes(11L)));
      return "done";
    });
    checks.equal("nothing of a refused one is there", "10", () -> Bytes.toLong(value(table, "1")));
  }

  /** Calls of endpoints as actions of a Multi. */
  private static void batches(Checks checks, Table table) {
    checks.equal("rows of each region, counted in a batch", "[3, 3, 3]", () -> {
      AggregateRequest request = AggregateRequest.newBuilder().setInterpreterClassName(LongColumnInterpreter.class.getName())
          .setScan(ProtobufUtil.toScan(new Scan().addColumn(CF, LONG))).build();
      List<Long> counts = new ArrayList<>();
      try {
        for (AggregateResponse answer : table.batchCoprocessorService(rowCount(), request, HConstants.EMPTY_START_ROW,
            HConstants.EMPTY_END_ROW, AggregateResponse.getDefaultInstance()).values()) {
          counts.add(answer.getFirstPart(0).asReadOnlyByteBuffer().getLong());
        }
      } catch (Exception e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
      counts.sort(null);
      return counts.toString();
    });
  }

  /** The client names services with their package, and servers know HBase's own without it: so here is one without a package. */
  private static MethodDescriptor rowCount() throws Exception {
    FileDescriptorProto file = FileDescriptorProto.newBuilder().setName("Plain.proto").addDependency(AggregateProtos.getDescriptor().getName())
        .addService(ServiceDescriptorProto.newBuilder().setName("AggregateService").addMethod(MethodDescriptorProto.newBuilder()
            .setName("GetRowNum").setInputType(".hbase.pb.AggregateRequest").setOutputType(".hbase.pb.AggregateResponse"))).build();
    return FileDescriptor.buildFrom(file, new FileDescriptor[] {AggregateProtos.getDescriptor()}).findServiceByName("AggregateService")
        .findMethodByName("GetRowNum");
  }

  private static byte[] value(Table table, String row) throws Exception {
    return table.get(new Get(Bytes.toBytes(row)).addColumn(CF, LONG)).getValue(CF, LONG);
  }

  private static void mutate(Table table, Mutation... mutations) throws Exception {
    MutateRowsRequest.Builder request = MutateRowsRequest.newBuilder();
    for (Mutation mutation : mutations) {
      request.addMutationRequest(ProtobufUtil.toMutation(mutation instanceof Put ? MutationType.PUT : MutationType.DELETE, mutation));
    }
    try {
      MultiRowMutationService.newBlockingStub(table.coprocessorService(mutations[0].getRow())).mutateRows(null, request.build());
    } catch (com.google.protobuf.ServiceException e) {
      ProtobufUtil.toIOException(e);
      throw (Exception) (e.getCause() != null ? e.getCause() : e);
    }
  }
}
