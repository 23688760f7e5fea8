import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.ServiceException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.protobuf.generated.ClientProtos;
import org.apache.hadoop.hbase.util.Bytes;

/** Searches by the endpoint rowhouse.SearchService, which Apache HBase does not have: Searches REGISTRY HOST:PORT. */
public final class Searches {
  private static final TableName POSTS = TableName.valueOf("searches");
  private static final byte[] D = Bytes.toBytes("d"), B = Bytes.toBytes("b"), Z = Bytes.toBytes("z"), S = Bytes.toBytes("s");
  private static final int ROWS = 60, BY_KEY = 0, BY_SCORE = 1, BY_FIELD = 2;

  private final Checks checks = new Checks();
  private final FileDescriptor file = describe();
  private final Table posts;

  private Searches(Table posts) throws Exception {
    this.posts = posts;
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args); Admin admin = connection.getAdmin(); Table posts = connection.getTable(POSTS)) {
      new Searches(posts).run(admin);
    } catch (Exception failed) {
      failed.printStackTrace();
      System.exit(1);
    }
  }

  private void run(Admin admin) throws Exception {
    Cluster.drop(admin, POSTS);
    TableDescriptor described = TableDescriptorBuilder.newBuilder(POSTS).setColumnFamily(ColumnFamilyDescriptorBuilder.of(D))
        .setValue("rowhouse.key", "1 [user text]-[n digits 2]").setValue("rowhouse.columns", "1 d:b body string; d:s sender string; d:z size u64")
        .setValue("rowhouse.indexes", "1 text search body english chinese, sender keyword, size").build();
    admin.createTable(described, new byte[][] {Bytes.toBytes("u2")});
    List<Put> puts = new ArrayList<>();
    for (int n = 0; n < ROWS; n++) {
      Put put = new Put(Bytes.toBytes(String.format("u%d-%02d", n % 4, n))).addColumn(D, B, Bytes.toBytes("key ".repeat(1 + n % 7) + "行键设计"));
      put.addColumn(D, S, Bytes.toBytes(n % 3 == 0 ? "eve" : "dan")).addColumn(D, Z, ByteBuffer.allocate(8).putLong(100 - n).array());
      puts.add(put);
    }
    posts.put(puts);
    checks.equal("count", (long) ROWS, () -> field(call("Count", text("SearchCountRequest", "body matches '行键'")), "rows"));
    checks.equal("count in a key range", 15L, () -> field(call("Count", text("SearchCountRequest", "user = 'u1' and body matches 'keys'")), "rows"));
    checks.equal("facets", "dan=40 eve=20", () -> {
      DynamicMessage.Builder request = text("SearchFacetsRequest", "body matches 'key'");
      return facets(call("Facets", set(set(request, "field", "sender"), "values", 10)));
    });
    byKey();
    byScore();
    byField();
    refusals();
    Cluster.drop(admin, POSTS);
    checks.finish();
  }

  private void byKey() {
    checks.equal("by key", keys("u3-", 3, 7), () -> keys(call("Rows", rows("user = 'u3' and body matches 'key'", BY_KEY, 2))));
    checks.equal("reversed", keys("u3-", 59, 55), () -> {
      DynamicMessage.Builder request = set(rows("user = 'u3' and body matches 'key'", BY_KEY, 2), "reversed", true);
      return keys(call("Rows", request));
    });
    checks.equal("cells", "u1-01 sender=dan", () -> {
      Get get = new Get(Bytes.toBytes("any")).addColumn(D, S);
      DynamicMessage answer = call("Rows", set(rows("user = 'u1' and body matches 'key'", BY_KEY, 1), "cells", ProtobufUtil.toGet(get)));
      DynamicMessage row = (DynamicMessage) ((List<?>) field(answer, "rows")).get(0);
      Result cells = ProtobufUtil.toResult(ClientProtos.Result.parseFrom(((DynamicMessage) field(row, "cells")).toByteString()));
      return Bytes.toString(cells.getRow()) + " sender=" + Bytes.toString(cells.getValue(D, S)) + (cells.size() == 1 ? "" : " and more");
    });
  }

  /** The pages of one view: the scores fall, and every row comes once, whatever is written meanwhile. */
  private void byScore() {
    checks.equal("by score", "60 rows, falling, once", () -> {
      List<String> seen = new ArrayList<>();
      float last = Float.MAX_VALUE;
      boolean falling = true;
      Object view = null;
      for (boolean end = false; !end; ) {
        DynamicMessage.Builder request = set(rows("body matches 'key'", BY_SCORE, 7), "skip", (long) seen.size());
        DynamicMessage answer = call("Rows", view == null ? request : set(request, "view", view));
        for (Object found : (List<?>) field(answer, "rows")) {
          seen.add(key((DynamicMessage) found));
          float score = (Float) field((DynamicMessage) found, "score");
          falling &= score <= last;
          last = score;
        }
        view = field(answer, "view");
        end = (Boolean) field(answer, "is_end");
        posts.put(new Put(Bytes.toBytes("u1-99")).addColumn(D, B, Bytes.toBytes("key key key")));
      }
      boolean once = seen.stream().distinct().count() == seen.size();
      return seen.size() + " rows, " + (falling ? "falling, " : "not falling, ") + (once ? "once" : "not once");
    });
    checks.equal("a view that is none", true, () -> {
      DynamicMessage.Builder request = set(rows("body matches 'key'", BY_SCORE, 7), "view", 12345L);
      return field(call("Rows", request), "view_has_ended");
    });
  }

  private void byField() {
    checks.equal("by field", "u3-59 u2-58 u1-57", () -> keys(call("Rows", set(rows("body matches '行键'", BY_FIELD, 3), "field", "size"))));
    checks.equal("after a value", "u0-56 u3-55", () -> {
      DynamicMessage first = call("Rows", set(rows("body matches '行键'", BY_FIELD, 3), "field", "size"));
      DynamicMessage last = (DynamicMessage) ((List<?>) field(first, "rows")).get(2);
      DynamicMessage.Builder next = set(rows("body matches '行键'", BY_FIELD, 2), "field", "size");
      return keys(call("Rows", set(set(next, "after_row", field(last, "row")), "after_value", field(last, "value"))));
    });
  }

  private void refusals() {
    checks.refused("an unknown column", DoNotRetryIOException.class, "did you mean `body`", () -> call("Rows", rows("bod matches 'key'", BY_KEY, 1)));
    checks.refused("no words", DoNotRetryIOException.class, "matches", () -> call("Rows", rows("user = 'u1'", BY_KEY, 1)));
    checks.refused("scores in reverse", DoNotRetryIOException.class, "in reverse",
        () -> call("Rows", set(rows("body matches 'key'", BY_SCORE, 1), "reversed", true)));
    checks.refused("a field that has words", DoNotRetryIOException.class, "not by `body`",
        () -> call("Rows", set(rows("body matches 'key'", BY_FIELD, 1), "field", "body")));
  }

  private DynamicMessage call(String method, DynamicMessage.Builder request) throws Exception {
    MethodDescriptor called = file.findServiceByName("SearchService").findMethodByName(method);
    try {
      return (DynamicMessage) posts.coprocessorService(Bytes.toBytes("u3"))
          .callBlockingMethod(called, null, request.build(), DynamicMessage.getDefaultInstance(called.getOutputType()));
    } catch (ServiceException failed) {
      throw failed.getCause() instanceof Exception ? (Exception) failed.getCause() : failed;
    }
  }

  private DynamicMessage.Builder text(String message, String query) {
    return set(DynamicMessage.newBuilder(file.findMessageTypeByName(message)), "query", query);
  }

  private DynamicMessage.Builder rows(String query, int order, int rows) {
    DynamicMessage.Builder request = set(text("SearchRowsRequest", query), "rows", rows);
    return set(request, "order", file.findEnumTypeByName("SearchOrder").findValueByNumber(order));
  }

  private static DynamicMessage.Builder set(DynamicMessage.Builder message, String field, Object value) {
    return message.setField(message.getDescriptorForType().findFieldByName(field), value);
  }

  private static Object field(DynamicMessage message, String field) {
    Descriptor type = message.getDescriptorForType();
    FieldDescriptor described = type.findFieldByName(field);
    return described.isRepeated() || message.hasField(described) ? message.getField(described) : null;
  }

  private static String key(DynamicMessage row) {
    return ((ByteString) field(row, "row")).toStringUtf8();
  }

  private static String keys(DynamicMessage answer) {
    List<String> keys = new ArrayList<>();
    for (Object row : (List<?>) field(answer, "rows")) keys.add(key((DynamicMessage) row));
    return String.join(" ", keys);
  }

  private static String keys(String prefix, int... numbers) {
    List<String> keys = new ArrayList<>();
    for (int number : numbers) keys.add(String.format("%s%02d", prefix, number));
    return String.join(" ", keys);
  }

  private static String facets(DynamicMessage answer) {
    List<String> facets = new ArrayList<>();
    for (Object facet : (List<?>) field(answer, "facets")) {
      ByteString value = (ByteString) field((DynamicMessage) facet, "value");
      facets.add(value.toStringUtf8() + "=" + field((DynamicMessage) facet, "rows"));
    }
    return String.join(" ", facets);
  }

  /** What a compiler makes of proto/search.proto. */
  private static FileDescriptor describe() throws Exception {
    FileDescriptorProto file = FileDescriptorProto.newBuilder().setName("search.proto").setPackage("rowhouse")
        .addDependency(ClientProtos.getDescriptor().getName())
        .addEnumType(EnumDescriptorProto.newBuilder().setName("SearchOrder").addValue(order("BY_KEY", BY_KEY)).addValue(order("BY_SCORE", BY_SCORE))
            .addValue(order("BY_FIELD", BY_FIELD)))
        .addMessageType(message("SearchRowsRequest", "1 query string", "2 index string", "3 order .rowhouse.SearchOrder", "4 field string",
            "5 reversed bool", "6 rows uint32", "7 cells .hbase.pb.Get", "8 after_row bytes", "9 after_value bytes", "10 view uint64", "11 skip uint64",
            "12 ends_view bool"))
        .addMessageType(message("SearchRowsResponse", "1 rows* .rowhouse.SearchRow", "2 is_end bool", "3 view uint64", "4 view_has_ended bool",
            "5 long_words uint64"))
        .addMessageType(message("SearchRow", "1 row bytes", "2 score float", "3 value bytes", "4 cells .hbase.pb.Result"))
        .addMessageType(message("SearchCountRequest", "1 query string", "2 index string")).addMessageType(message("SearchCountResponse", "1 rows uint64"))
        .addMessageType(message("SearchFacetsRequest", "1 query string", "2 index string", "3 field string", "4 values uint32"))
        .addMessageType(message("SearchFacetsResponse", "1 facets* .rowhouse.SearchFacet")).addMessageType(message("SearchFacet", "1 value bytes", "2 rows uint64"))
        .addService(ServiceDescriptorProto.newBuilder().setName("SearchService").addMethod(method("Rows")).addMethod(method("Count"))
            .addMethod(method("Facets")))
        .build();
    return FileDescriptor.buildFrom(file, new FileDescriptor[] {ClientProtos.getDescriptor()});
  }

  private static EnumValueDescriptorProto order(String name, int number) {
    return EnumValueDescriptorProto.newBuilder().setName(name).setNumber(number).build();
  }

  private static MethodDescriptorProto method(String name) {
    return MethodDescriptorProto.newBuilder().setName(name).setInputType(".rowhouse.Search" + name + "Request")
        .setOutputType(".rowhouse.Search" + name + "Response").build();
  }

  /** A message with fields as "NUMBER NAME TYPE"; a star after the name means repeated. */
  private static DescriptorProto message(String name, String... fields) {
    DescriptorProto.Builder message = DescriptorProto.newBuilder().setName(name);
    for (String field : fields) {
      String[] parts = field.split(" ");
      boolean repeated = parts[1].endsWith("*");
      FieldDescriptorProto.Builder described = FieldDescriptorProto.newBuilder().setNumber(Integer.parseInt(parts[0]))
          .setName(parts[1].replace("*", "")).setLabel(repeated ? Label.LABEL_REPEATED : Label.LABEL_OPTIONAL);
      if (parts[2].startsWith(".")) described.setTypeName(parts[2]);
      else described.setType(Type.valueOf("TYPE_" + parts[2].toUpperCase()));
      message.addField(described);
    }
    return message.build();
  }
}
