import static java.nio.charset.StandardCharsets.UTF_8;

import com.stumbleupon.async.Deferred;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.hbase.async.AtomicIncrementRequest;
import org.hbase.async.Config;
import org.hbase.async.DeleteRequest;
import org.hbase.async.GetRequest;
import org.hbase.async.HBaseClient;
import org.hbase.async.KeyValue;
import org.hbase.async.PutRequest;
import org.hbase.async.Scanner;

/**
 * What asynchbase does when calls fail: AsyncFaults ZOOKEEPER MASTER BINARY. A line for each fault: how often an increment is
 * applied, how many of 20 puts in a batch are stored, how many of 20 rows a scan returns, each with the error that the
 * program sees. TIMES=1 adds the milliseconds.
 */
public final class AsyncFaults {
  private static final String TABLE = "t";
  private static final String FAMILY = "f";
  private static final int ROWS = 20;
  private static final String[] ANSWERS = {
    "RegionTooBusy", "CallQueueTooBig", "NotServingRegion", "RegionMoved", "Delay --millis 300", "CutBefore", "CutAfter",
    "LostAnswer", "LostScanner", "DeadServer --millis 300",
  };

  /** How long a call may take, with all that the client does before it gives up. */
  private static final long WAIT_MS = 15_000;

  private final String zookeeper;
  private final String master;
  private final String binary;
  /** One that no fault has hit. */
  private final HBaseClient judge;

  private AsyncFaults(String zookeeper, String master, String binary) {
    this.zookeeper = zookeeper;
    this.master = master;
    this.binary = binary;
    judge = client();
  }

  private HBaseClient client() {
    Config config = new Config();
    config.overrideConfig("hbase.zookeeper.quorum", zookeeper);
    // Otherwise a lost answer is waited for without end.
    config.overrideConfig("hbase.rpc.timeout", "2000");
    return new HBaseClient(config);
  }

  public static void main(String[] args) throws Exception {
    AsyncFaults faults = new AsyncFaults(args[0], args[1], args[2]);
    faults.admin("remove");
    for (String answer : args.length > 3 ? new String[] {args[3]} : ANSWERS) {
      List<String> outcomes = new ArrayList<>();
      if (!answer.equals("LostScanner")) {
        outcomes.add("increment " + faults.outcome(answer, "Mutate", faults::increment, faults::counter));
        outcomes.add("puts " + faults.outcome(answer, "Multi", faults::puts, faults::rows));
      }
      outcomes.add("scan " + faults.outcome(answer, "Scan", faults::rows, null));
      System.out.println(answer + ": " + String.join("; ", outcomes));
    }
    // Clients that a fault has hit may have threads that wait.
    System.exit(0);
  }

  private interface Step {
    long run(HBaseClient client) throws Exception;
  }

  /** What is stored, or returned, after a step of which one call is hit; and the error. */
  private String outcome(String answer, String call, Step step, Step stored) throws Exception {
    clear();
    if (call.equals("Scan")) puts(judge);
    HBaseClient client = client();
    // It knows the region and has a connection.
    counter(client);
    List<String> fault = new ArrayList<>(List.of("add", "--table", TABLE, "--call", call, "--hits", "1", "--answer"));
    fault.addAll(List.of(answer.split(" ")));
    // The second call of a scan: the first opens it.
    if (call.equals("Scan")) fault.addAll(List.of("--rate", "0.4", "--seed", "3"));
    admin(fault.toArray(new String[0]));
    long began = System.nanoTime();
    String error = "";
    long returned = 0;
    try {
      returned = step.run(client);
    } catch (Exception failed) {
      error = " " + failed.getClass().getSimpleName();
    }
    long millis = (System.nanoTime() - began) / 1_000_000;
    if (!admin("list").contains(" hits=1 ")) throw new IOException(answer + " hit no call of " + call);
    // What the server still does is done, and a server that was dead is back.
    Thread.sleep(600);
    admin("remove");
    long count = stored == null ? returned : stored.run(judge);
    return count + error + (System.getenv("TIMES") == null ? "" : " " + millis + " ms");
  }

  private long increment(HBaseClient client) throws Exception {
    AtomicIncrementRequest request = new AtomicIncrementRequest(TABLE, "counter", FAMILY, "q", 1);
    return client.atomicIncrement(request).join(WAIT_MS);
  }

  private long counter(HBaseClient client) throws Exception {
    ArrayList<KeyValue> cells = client.get(new GetRequest(TABLE, "counter", FAMILY, "q")).join(WAIT_MS);
    return cells.isEmpty() ? 0 : ByteBuffer.wrap(cells.get(0).value()).getLong();
  }

  private long puts(HBaseClient client) throws Exception {
    List<Deferred<Object>> written = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) {
      written.add(client.put(new PutRequest(TABLE, "row" + (100 + row), FAMILY, "q", "value")));
    }
    client.flush();
    Deferred.group(written).join(WAIT_MS);
    return ROWS;
  }

  private long rows(HBaseClient client) throws Exception {
    Scanner scanner = client.newScanner(TABLE);
    scanner.setStartKey("row");
    scanner.setMaxNumRows(3);
    long count = 0;
    try {
      ArrayList<ArrayList<KeyValue>> rows;
      while ((rows = scanner.nextRows().join(WAIT_MS)) != null) count += rows.size();
    } finally {
      scanner.close().join(WAIT_MS);
    }
    return count;
  }

  private void clear() throws Exception {
    delete("counter");
    for (int row = 0; row < ROWS; row++) delete("row" + (100 + row));
  }

  private void delete(String row) throws Exception {
    DeleteRequest request = new DeleteRequest(TABLE.getBytes(UTF_8), row.getBytes(UTF_8));
    // Otherwise it waits for others.
    request.setBufferable(false);
    judge.delete(request).join(WAIT_MS);
  }

  /** Runs `rowhouse admin fault`; returns what it prints. */
  private String admin(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(binary, "admin", "fault"));
    command.addAll(List.of(arguments));
    command.addAll(List.of("--connect", "hbase://" + master));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) throw new IOException(command + ": " + output);
    return output;
  }
}
