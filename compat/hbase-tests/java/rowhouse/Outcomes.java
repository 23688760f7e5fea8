package rowhouse;

import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.runner.Description;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * The outcomes of one class's tests. A test with several parameters passes when it passes with all
 * of those that it can run with.
 */
final class Outcomes extends RunListener {
  private static final long SECONDS_MAX = Long.getLong("rowhouse.seconds", 60);
  /** Between tests clusters start and tables are made. */
  private static final long SECONDS_BETWEEN_MAX = 120;
  private static final long SECONDS_TO_HEED = 20;
  /** The server's message where it lacks a filter or coprocessor (docs/hbase.md). */
  private static final Pattern REFUSED_CLASS = Pattern.compile("coprocessor (\\S+) of table \\S+ is not supported|filter is not supported: name=(\\S+)");

  private static final Pattern REFUSED_REPLICAS = Pattern.compile("REGION_REPLICATION \\d+ of table \\S+ is not supported");

  final Set<String> passed = new TreeSet<>();
  final Map<String, String> failed = new TreeMap<>();
  final Map<String, String> excluded = new TreeMap<>();
  private final PrintStream report;
  /** Runs of tests that needed what is not there, and what that was. */
  private final Map<Description, String> cutShort = new HashMap<>();

  private Thread watched;
  private String running = "the class's setup";
  private long deadline;
  private boolean interrupted;
  private boolean done;

  Outcomes(PrintStream report) {
    this.report = report;
  }

  /** A test's name without its parameters. */
  static String bare(String method) {
    return method.replaceFirst("(?s)[\\[(].*", "");
  }

  private static String name(Description description) {
    return description.getMethodName() == null ? "class" : bare(description.getMethodName());
  }

  @Override
  public void testStarted(Description description) {
    NeedsMiniCluster.takeLast();
    System.out.println("=== " + description);
    started(name(description), SECONDS_MAX);
  }

  @Override
  public void testFinished(Description description) {
    String test = name(description);
    // Threads of the client end the test's spans behind it, and the next test counts all spans.
    pause(cutShort.containsKey(description) ? 300 : 20);
    if (!failed.containsKey(test) && !cutShort.containsKey(description)) {
      passed.add(test);
      excluded.remove(test);
    }
    started("the next test's setup", SECONDS_BETWEEN_MAX);
  }

  @Override
  public void testAssumptionFailure(Failure failure) {
    cutShort(failure.getDescription(), "the test's own assumption: " + failure.getMessage());
  }

  @Override
  public void testFailure(Failure failure) {
    String test = name(failure.getDescription());
    System.out.println("=== failed: " + failure.getDescription());
    failure.getException().printStackTrace(System.out);
    String need = need(failure.getException(), 0);
    if (need == null) need = NeedsMiniCluster.takeLast();
    // What comes after a test that was cut short follows from that.
    if (need == null) need = cutShort.get(failure.getDescription());
    if (need != null) {
      cutShort(failure.getDescription(), need);
      return;
    }
    passed.remove(test);
    excluded.remove(test);
    failed.putIfAbsent(test, (wasInterrupted() ? "timed out: " : "") + brief(failure.getException()));
  }

  private void cutShort(Description description, String need) {
    String test = name(description);
    cutShort.put(description, need);
    if (!passed.contains(test) && !failed.containsKey(test)) excluded.put(test, need);
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private static String need(Throwable thrown, int depth) {
    if (thrown == null || depth > 20) return null;
    if (thrown instanceof NeedsMiniCluster) return thrown.getMessage();
    if (REFUSED_REPLICAS.matcher(String.valueOf(thrown.getMessage())).find()) return "region replicas";
    Matcher refused = REFUSED_CLASS.matcher(String.valueOf(thrown.getMessage()));
    if (refused.find()) {
      String name = refused.group(1) == null ? refused.group(2) : refused.group(1);
      if (NeedsMiniCluster.isOfTests(name)) return "on the server, the test's own class " + name;
    }
    for (Throwable suppressed : thrown.getSuppressed()) {
      String need = need(suppressed, depth + 1);
      if (need != null) return need;
    }
    return need(thrown.getCause(), depth + 1);
  }

  private static String brief(Throwable thrown) {
    String text = thrown.toString().lines().findFirst().orElse("");
    String place = "";
    for (StackTraceElement frame : thrown.getStackTrace()) {
      if (frame.getClassName().matches(".*(Test[A-Z]|TestBase|FromClientSide).*") && !frame.getClassName().contains("TestingUtility")) {
        place = " (" + frame.getFileName() + ":" + frame.getLineNumber() + ")";
        break;
      }
    }
    return (text.length() > 200 ? text.substring(0, 200) : text) + place;
  }

  /** Interrupts tests that take too long; ends the process when that does not help. */
  void watch() {
    started("the class's setup", SECONDS_BETWEEN_MAX);
    Thread watcher = new Thread(this::watchUntilDone, "watcher");
    watcher.setDaemon(true);
    watcher.start();
  }

  private synchronized void started(String what, long seconds) {
    watched = Thread.currentThread();
    running = what;
    deadline = System.nanoTime() + seconds * 1_000_000_000L;
    interrupted = false;
  }

  private synchronized boolean wasInterrupted() {
    return interrupted;
  }

  synchronized void done() {
    done = true;
    notifyAll();
  }

  private synchronized void watchUntilDone() {
    try {
      while (!done) {
        wait(500);
        if (done || System.nanoTime() < deadline) continue;
        for (StackTraceElement frame : watched.getStackTrace()) System.out.println("    at " + frame);
        if (interrupted) {
          report.println("FAIL " + running + " does not end, interrupted or not");
          report.flush();
          ServedCluster.killAll();
          Runtime.getRuntime().halt(2);
        }
        System.out.println("=== timed out: " + running);
        interrupted = true;
        deadline = System.nanoTime() + SECONDS_TO_HEED * 1_000_000_000L;
        watched.interrupt();
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
