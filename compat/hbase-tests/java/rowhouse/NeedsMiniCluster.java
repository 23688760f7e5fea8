package rowhouse;

import java.net.URL;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The test reaches into servers that run in its own JVM. An error and not an exception, so that a
 * test which expects some exception does not take it for that one.
 */
public final class NeedsMiniCluster extends Error {
  private static final AtomicReference<String> LAST = new AtomicReference<>();

  public NeedsMiniCluster(String need) {
    super(need);
    LAST.set(need);
  }

  /** Whether a class is among HBase's tests: no server outside the test's JVM has it. */
  public static boolean isOfTests(String className) {
    if (className == null) return false;
    URL place = NeedsMiniCluster.class.getClassLoader().getResource(className.replace('.', '/') + ".class");
    return place != null && place.getPath().contains("-tests.jar!");
  }

  /** The last need of any thread since the previous call; null when there was none. */
  static String takeLast() {
    return LAST.getAndSet(null);
  }
}
