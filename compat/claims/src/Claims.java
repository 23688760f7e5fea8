import java.util.List;
import org.apache.hadoop.hbase.client.Connection;

/**
 * Measures claims about the design of tables: Claims REGISTRY HOST:PORT SERVER PID FILES GROUP... prints a line for each number:
 * claim, case, server, measure, value, with tabs between. FILES is Apache HBase's root directory or rowhouse's web address.
 */
public final class Claims {
  private Claims() {}

  public static void main(String[] args) throws Exception {
    try (Connection connection = Cluster.connect(args)) {
      Bench bench = new Bench(args[2], connection, args[3], args[4]);
      for (String group : List.of(args).subList(5, args.length)) {
        switch (group) {
          case "pages" -> new Pages(bench).run();
          case "reads" -> new Reads(bench).run();
          case "sizes" -> new Sizes(bench).run();
          case "neighbours" -> new Sizes(bench).neighbours();
          case "writes" -> new Writes(bench).run();
          case "shapes" -> new Shapes(bench).run();
          case "salts" -> new Salts(bench).run();
          default -> throw new IllegalArgumentException("no such group: " + group);
        }
      }
    }
    System.exit(0);
  }
}
