package io.rowhouse;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/**
 * A server for tests: on free ports of loopback, over a temporary directory. It ends with {@link #close}, and when this
 * process ends, however that happens.
 */
public final class RowhouseServer implements AutoCloseable {
  private static final int START_SECONDS = 60;
  private static final int STOP_SECONDS = 30;
  private static final int LOG_BYTES = 64 << 10;
  private static final String STATE = "rowhouse-state";
  private static final String FAULT = "rowhouse-fault";

  private final Path binary;
  private final Process process;
  private final String ready;
  private Connection connection;

  /** Starts a server. */
  public static RowhouseServer start() throws IOException {
    return builder().start();
  }

  /** Returns a builder, for a server with other options. */
  public static Builder builder() {
    return new Builder();
  }

  /** The options of a server. */
  public static final class Builder {
    private Path binary;
    private final List<String> options = new ArrayList<>();
    private Path data;

    private Builder() {}

    /** Runs this program, instead of the one that is found. */
    public Builder binary(Path binary) {
      this.binary = binary;
      return this;
    }

    /** Serves this data directory, which is created if it is missing and stays, instead of a temporary one. */
    public Builder data(Path data) {
      this.data = data;
      return this;
    }

    /** Serves as so many region servers, with regions that move between them. */
    public Builder regionServers(int count) {
      return option("--region-servers", Integer.toString(count));
    }

    /** Adds options of {@code rowhouse serve}. */
    public Builder option(String... options) {
      this.options.addAll(Arrays.asList(options));
      return this;
    }

    /**
     * Starts the server and waits until it serves.
     *
     * @throws IOException if there is no program, or if it ends instead; the message has its own
     */
    public RowhouseServer start() throws IOException {
      return new RowhouseServer(this);
    }
  }

  private RowhouseServer(Builder builder) throws IOException {
    binary = builder.binary == null ? Binary.find() : builder.binary;
    String anyPort = "127.0.0.1:0";
    List<String> command = new ArrayList<>(Arrays.asList(binary.toString(), "serve", "--json", "--until-stdin-closes",
        "--allow-reset", "--allow-faults", "--no-web", "--listen", anyPort, "--zookeeper", anyPort));
    if (builder.data == null) command.add("--temporary");
    else command.addAll(Arrays.asList("--data", builder.data.toString()));
    command.addAll(builder.options);
    // The server ends when its input does, and the input ends with this process.
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    try {
      ready = readyLine(output);
    } catch (IOException e) {
      process.destroyForcibly();
      throw e;
    }
    Thread drain = new Thread(() -> output.lines().forEach(line -> System.err.println("rowhouse: " + line)), "rowhouse");
    drain.setDaemon(true);
    drain.start();
  }

  /** Waits for the line with the addresses. What comes instead is the server's message. */
  private static String readyLine(BufferedReader output) throws IOException {
    CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> {
      StringBuilder message = new StringBuilder();
      try {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
          if (line.startsWith("{")) return line;
          message.append(line).append('\n');
        }
      } catch (IOException e) {
        message.append(e);
      }
      throw new IllegalStateException(message.toString().trim());
    });
    try {
      return first.get(START_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException("the server ended before it served: " + e.getCause().getMessage());
    } catch (TimeoutException e) {
      throw new IOException("the server does not serve after " + START_SECONDS + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the server starts");
    }
  }

  /** Returns a text in the line that the server printed. */
  private String fact(String name) {
    Matcher matcher = Pattern.compile("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(ready);
    if (!matcher.find()) throw new IllegalStateException("the server does not say its " + name + ": " + ready);
    return matcher.group(1).replaceAll("\\\\(.)", "$1");
  }

  /** Returns HOST:PORT of HBase's protocol. */
  public String rpcAddress() {
    return fact("rpc");
  }

  /** Returns HOST:PORT of ZooKeeper's protocol, as far as HBase's clients use it. */
  public String zookeeperAddress() {
    return fact("zookeeper");
  }

  /** Returns the data directory. */
  public Path dataDirectory() {
    return Paths.get(fact("data"));
  }

  /** Returns a new configuration with which HBase's clients find the server. */
  public Configuration configuration() {
    Configuration configuration = HBaseConfiguration.create();
    String[] zookeeper = zookeeperAddress().split(":");
    configuration.set("hbase.zookeeper.quorum", zookeeper[0]);
    configuration.set("hbase.zookeeper.property.clientPort", zookeeper[1]);
    return configuration;
  }

  /** Returns a connection that is opened at the first call, and closed with the server. */
  public synchronized Connection connection() throws IOException {
    if (connection == null || connection.isClosed()) connection = ConnectionFactory.createConnection(configuration());
    return connection;
  }

  /** Drops all tables, namespaces and snapshots. States that were saved stay. */
  public void reset() throws IOException {
    changeState("reset", "");
  }

  /** Saves all tables and their rows as a state. */
  public void snapshot(String state) throws IOException {
    changeState("save", state);
  }

  /** Replaces all tables by those of a state. */
  public void restore(String state) throws IOException {
    changeState("restore", state);
  }

  /** Deletes a state. Tables stay as they are. */
  public void deleteState(String state) throws IOException {
    changeState("delete", state);
  }

  private void changeState(String operation, String state) throws IOException {
    Map<String, String> arguments = Collections.singletonMap("operation", operation);
    try (Admin admin = connection().getAdmin()) {
      admin.execProcedureWithReturn(STATE, state, arguments);
    }
    // Regions of dropped tables are gone: without this the next call to a table of the same name would fail once, and
    // wait before the retry.
    connection().clearRegionLocationCache();
  }

  /**
   * Writes the rows of a CSV or JSON lines file to a table, as {@code rowhouse import} does.
   *
   * @param options its options, such as {@code "--key", "[user string][at millis desc]", "--columns", "d:n count u32"}
   *     for a table that does not exist yet
   */
  public void load(TableName table, Path file, String... options) throws IOException {
    Path work = Files.createTempDirectory("rowhouse-import");
    try {
      List<String> command = new ArrayList<>(Arrays.asList("import", table.getNameAsString(), file.toString(),
          "--rejects", work.toString(), "--rejects-max", "0", "--progress", work.resolve("progress").toString()));
      command.addAll(Arrays.asList(options));
      run(command.toArray(new String[0]));
    } finally {
      try (Stream<Path> files = Files.list(work)) {
        for (Path left : (Iterable<Path>) files::iterator) Files.delete(left);
      }
      Files.delete(work);
    }
  }

  /**
   * Makes calls fail, until the fault is closed. The options are those of {@code rowhouse admin fault add}: {@code
   * fault("--answer", "RegionTooBusy", "--table", "mail", "--call", "Mutate", "--rate", "0.1", "--seed", "7")}.
   */
  public Fault fault(String... options) throws IOException {
    String[] command = new String[options.length + 3];
    command[0] = "admin";
    command[1] = "fault";
    command[2] = "add";
    System.arraycopy(options, 0, command, 3, options.length);
    return new Fault(this, run(command));
  }

  /** Removes all faults. */
  public void removeFaults() throws IOException {
    try (Admin admin = connection().getAdmin()) {
      admin.execProcedureWithReturn(FAULT, "remove", Collections.emptyMap());
    }
  }

  /** Runs a script of shell commands, up to the first error, which is an exception. Returns the output. */
  public String shell(Path script) throws IOException {
    return run("shell", "--non-interactive", script.toString());
  }

  /** Runs shell commands, up to the first error, which is an exception. Returns the output. */
  public String shell(String commands) throws IOException {
    return run("shell", "--non-interactive", "--execute", commands);
  }

  /** Runs a command of {@code rowhouse} on this server; returns its output. An error status is an exception. */
  public String run(String... arguments) throws IOException {
    List<String> command = new ArrayList<>(Collections.singletonList(binary.toString()));
    command.addAll(Arrays.asList(arguments));
    command.addAll(Arrays.asList("--connect", "hbase://" + rpcAddress()));
    Process run = new ProcessBuilder(command).redirectErrorStream(true).start();
    run.getOutputStream().close();
    String output = Binary.text(run.getInputStream());
    try {
      if (run.waitFor() != 0) throw new IOException("rowhouse " + String.join(" ", arguments) + ": " + output.trim());
    } catch (InterruptedException e) {
      run.destroy();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted during rowhouse " + arguments[0]);
    }
    return output;
  }

  /** Returns the end of the server's log, at most 64 KiB. */
  public String log() {
    try (RandomAccessFile file = new RandomAccessFile(Paths.get(fact("log")).toFile(), "r")) {
      byte[] bytes = new byte[(int) Math.min(file.length(), LOG_BYTES)];
      file.seek(file.length() - bytes.length);
      file.readFully(bytes);
      return new String(bytes, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "the log cannot be read: " + e;
    }
  }

  /** Returns true until the server has ended. */
  public boolean isRunning() {
    return process.isAlive();
  }

  /** Stops the server; its temporary directory is removed. */
  @Override
  public synchronized void close() throws IOException {
    try {
      if (connection != null) connection.close();
    } finally {
      process.getOutputStream().close();
      try {
        if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) process.destroyForcibly();
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
