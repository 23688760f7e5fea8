import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.ThrottleType;

/** Claim 1: growing keys with and without one of four salts, on four region servers that each take the same requests a second. */
final class Salts {
  private static final int SECONDS = 10, LIMIT = 500;

  private final Bench bench;

  Salts(Bench bench) {
    this.bench = bench;
  }

  void run() throws Exception {
    bench.admin.balancerSwitch(false, true);
    if (bench.server.startsWith("Apache")) {
      bench.admin.setQuota(QuotaSettingsFactory.throttleRegionServer("all", ThrottleType.REQUEST_NUMBER, LIMIT, TimeUnit.SECONDS));
      Thread.sleep(5_000);
    }
    TableName plain = bench.create("c1_plain", "foo00000010", "foo00000020", "foo00000030"), salted = bench.create("c1_salted", "b", "c", "d");
    // Apache HBase refuses what is above the quota, and the client gives up after 16 attempts.
    GrowingKeys keys = new GrowingKeys(bench.connection);
    bench.report(1, "growing keys", "writes per second", Math.rint(keys.write(plain, random -> "", SECONDS)));
    bench.report(1, "four random salts", "writes per second",
        Math.rint(keys.write(salted, random -> "abcd".charAt(random.nextInt(4)) + "-", SECONDS)));
  }
}
