import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;

/** A rowhouse server for a test: on free ports, on a directory that goes away. */
public final class RowhouseServer implements AutoCloseable {
  private static final String ZOOKEEPER_PORT = "hbase.zookeeper.property.clientPort=";

  private final Path data = Files.createTempDirectory("rowhouse");
  private final Process process;
  private final String port;

  public RowhouseServer(String binary) throws IOException {
    String anyPort = "127.0.0.1:0";
    List<String> command = List.of(binary, "serve", "--no-web", "--data", data.toString(), "--listen", anyPort, "--zookeeper", anyPort);
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader lines = process.inputReader();
    // The server prints its ports once it takes connections.
    String line;
    do {
      line = lines.readLine();
      if (line == null) throw new IOException("the server ended before it printed its ports");
    } while (!line.contains(ZOOKEEPER_PORT));
    port = line.substring(line.indexOf('=') + 1).strip();
  }

  public Configuration configuration() {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.zookeeper.quorum", "127.0.0.1");
    conf.set("hbase.zookeeper.property.clientPort", port);
    return conf;
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    process.onExit().join();
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}
