package rowhouse;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/** A server process with its own data directory. It keeps its ports when it starts again. */
public final class ServedCluster {
  private static final String BINARY = System.getProperty("rowhouse.binary");
  private static final Path WORK = Path.of(System.getProperty("rowhouse.work"));
  private static final Pattern LISTEN = Pattern.compile("hbase.masters=([^\\s,]+)");
  private static final Pattern ZOOKEEPER = Pattern.compile("hbase.zookeeper.property.clientPort=(\\d+)");

  private static final Pattern REST = Pattern.compile("REST +http://[^/]*:(\\d+)/");

  /** The setting with the port of the gateway. */
  public static final String REST_PORT = "rowhouse.rest.port";

  /** Servers that were started: some tests never stop theirs. */
  private static final Set<Process> STARTED = ConcurrentHashMap.newKeySet();

  private final Path data;
  private final List<String> settings;
  private String listen = "127.0.0.1:0";
  private String zookeeper = "127.0.0.1:0";
  private String rest = "127.0.0.1:0";
  private Process process;

  public ServedCluster(Configuration conf) throws IOException {
    data = Files.createTempDirectory(WORK, "data");
    settings = settings(conf);
  }

  /** Starts the server and tells `conf` where it is. */
  public void start(Configuration conf) throws IOException {
    List<String> command = new ArrayList<>(List.of(BINARY, "serve", "--no-web", "--data", data.toString(), "--listen", listen, "--zookeeper", zookeeper, "--rest", rest));
    command.addAll(settings);
    File errors = WORK.resolve(data.getFileName() + ".err").toFile();
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(errors)).start();
    STARTED.add(process);
    BufferedReader lines = process.inputReader();
    String clientPort = null;
    String masters = null;
    String restPort = null;
    while (clientPort == null || masters == null || restPort == null) { // The server prints its ports once it takes connections.
      String line = lines.readLine();
      if (line == null) throw new IOException("the server ended before it printed its ports, see " + errors);
      clientPort = found(ZOOKEEPER, line, clientPort);
      masters = found(LISTEN, line, masters);
      restPort = found(REST, line, restPort);
    }
    listen = masters;
    zookeeper = "127.0.0.1:" + clientPort;
    rest = "127.0.0.1:" + restPort;
    conf.set("hbase.zookeeper.quorum", "127.0.0.1");
    conf.set("hbase.zookeeper.property.clientPort", clientPort);
    conf.set("hbase.masters", masters);
    conf.set(REST_PORT, restPort);
  }

  /** Kills the servers that still run. */
  static void killAll() {
    STARTED.forEach(Process::destroyForcibly);
  }

  public boolean isRunning() {
    return process != null;
  }

  public void stop() {
    if (process == null) return;
    process.destroy();
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) throw new IllegalStateException("the server is still there 30 s after SIGTERM");
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      process.destroyForcibly();
      process = null;
    }
  }

  public void kill() {
    if (process != null) process.destroyForcibly().onExit().join();
    process = null;
  }

  /** Stops the server and removes its data. */
  public void remove() throws IOException {
    stop();
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  /** The server's options for the settings of HBase's servers that it has. It lacks all others. */
  private static List<String> settings(Configuration conf) {
    List<String> settings = new ArrayList<>();
    String[][] known = {
      {"hbase.hregion.max.filesize", "--region-bytes-max"},
      {"hbase.ipc.warn.response.time", "--slow-call-millis"},
      {"hbase.ipc.warn.response.size", "--large-answer-bytes"},
    };
    for (String[] pair : known) {
      // HBase's own defaults are in hbase-default.xml: only what the test set counts.
      String[] sources = conf.getPropertySources(pair[0]);
      if (sources != null && !sources[sources.length - 1].endsWith("hbase-default.xml")) settings.addAll(List.of(pair[1], conf.get(pair[0])));
    }
    return settings;
  }

  private static String found(Pattern pattern, String line, String otherwise) {
    Matcher matcher = pattern.matcher(line);
    return matcher.find() ? matcher.group(1) : otherwise;
  }
}
