package rowhouse;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.platform.runner.JUnitPlatform;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.manipulation.Filter;

/**
 * Runs one test class of HBase and compares the tests that fail with a list of those that are known
 * to. One, because many leave servers and settings in static fields.
 *
 * <p>Arguments: the list, and the class by its name without `org.apache.hadoop.hbase.`, followed by
 * `#test` for one test alone. Properties:
 * `rowhouse.binary`;
 * `rowhouse.work`: a folder for logs and `CLASS.result`;
 * `rowhouse.parameters`: `first` runs a parametrised class with its first parameters alone;
 * `rowhouse.excluded`: `true` says why tests are excluded.
 */
public final class RunTests {
  private static final String PACKAGE = "org.apache.hadoop.hbase.";
  private static final Path WORK = Path.of(System.getProperty("rowhouse.work"));
  private static final boolean FIRST_PARAMETERS = "first".equals(System.getProperty("rowhouse.parameters"));

  public static void main(String[] arguments) throws Exception {
    String argument = arguments[1];
    String name = argument.replaceFirst("#.*", "");
    String shortName = name.substring(name.lastIndexOf('.') + 1);
    PrintStream report = System.out;
    // The tests print a lot.
    PrintStream log = new PrintStream(new FileOutputStream(WORK.resolve(shortName + ".log").toFile()), true);
    System.setOut(log);
    System.setErr(log);
    long began = System.nanoTime();
    Outcomes outcomes = new Outcomes(report);
    outcomes.watch();
    try {
      JUnitCore core = new JUnitCore();
      core.addListener(outcomes);
      core.run(request(name).filterWith(chosen(argument)));
    } catch (ClassNotFoundException | LinkageError unusable) {
      unusable.printStackTrace();
      outcomes.failed.put("class", unusable.toString());
    }
    outcomes.done();
    int status = report(shortName, outcomes, known(Path.of(arguments[0])), (System.nanoTime() - began) / 1_000_000_000, report);
    ServedCluster.killAll();
    Runtime.getRuntime().halt(status); // Some tests leave threads that are not daemons.
  }

  private static Request request(String name) throws ClassNotFoundException {
    Class<?> type = Class.forName(PACKAGE + name, false, RunTests.class.getClassLoader());
    for (Method method : type.getMethods()) {
      if (method.isAnnotationPresent(org.junit.jupiter.api.Test.class)) return Request.runner(new JUnitPlatform(type));
    }
    return Request.aClass(type);
  }

  private static int report(String name, Outcomes outcomes, Set<String> known, long seconds, PrintStream report) throws IOException {
    List<String> result = new ArrayList<>();
    StringBuilder lines = new StringBuilder();
    lines.append(String.format("%-47s passed %3d  failed %3d  excluded %3d  %4d s%n", name, outcomes.passed.size(), outcomes.failed.size(), outcomes.excluded.size(), seconds));
    result.add("counts " + outcomes.passed.size() + " " + outcomes.failed.size() + " " + outcomes.excluded.size());
    Set<String> unexpected = new TreeSet<>();
    outcomes.failed.forEach((test, reason) -> {
      if (known.contains(name + "#" + test)) return;
      unexpected.add(test);
      lines.append(String.format("  FAIL %s#%s  %s%n", name, test, reason));
      result.add("fails " + name + "#" + test);
    });
    for (String test : outcomes.passed) {
      if (known.contains(name + "#" + test)) result.add("passes " + name + "#" + test);
    }
    if (Boolean.getBoolean("rowhouse.excluded")) outcomes.excluded.forEach((test, need) -> lines.append(String.format("  excluded %s#%s  %s%n", name, test, need)));
    Files.write(WORK.resolve(name + ".result"), result);
    report.print(lines);
    report.flush();
    return unexpected.isEmpty() ? 0 : 1;
  }

  private static Filter chosen(String argument) {
    String only = argument.contains("#") ? argument.replaceFirst(".*#", "") : null;
    return new Filter() {
      @Override
      public boolean shouldRun(Description description) {
        if (!description.isTest()) return description.getChildren().stream().anyMatch(this::shouldRun);
        String method = description.getMethodName();
        if (method == null) return true; // A class that JUnit cannot run says so in a test without a name.
        return (only == null || Outcomes.bare(method).equals(only))
          && (!FIRST_PARAMETERS || !method.contains("[") || method.matches("(?s).*\\[0\\b.*"));
      }

      @Override
      public String describe() {
        return argument;
      }
    };
  }

  private static Set<String> known(Path file) throws IOException {
    Set<String> known = new TreeSet<>();
    for (String line : Files.readAllLines(file)) {
      if (line.isBlank() || line.startsWith("#")) continue;
      String[] parts = line.strip().split("\\s+", 2);
      if (parts.length < 2 || !parts[0].contains("#")) throw new IOException(file + " has a line without test or reason: " + line);
      known.add(parts[0]);
    }
    return known;
  }
}
