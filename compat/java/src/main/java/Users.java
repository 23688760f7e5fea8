import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.security.provider.SaslClientAuthenticationProviders;
import org.apache.hadoop.hbase.security.token.AuthenticationTokenIdentifier;
import org.apache.hadoop.hbase.security.token.ClientTokenUtil;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;

/**
 * Who is served: Users REGISTRY HOST:PORT CASES or Users REGISTRY HOST:PORT.
 *
 * <p>Each line of the file CASES is a case: {@code NAME TOKEN EXPECTED}. TOKEN is a token's text, {@code -} for none with
 * security on, {@code claimed} for none with security off, or {@code forged:TEXT} for a token with another password.
 * EXPECTED is {@code served}, or a part of the refusal: an exception's class and message. Without CASES the client takes
 * the token from its environment or settings, and obtains another one for a job.
 */
public final class Users {
  private static final TableName TABLE = TableName.valueOf("users");
  private static final byte[] FAMILY = "d".getBytes(UTF_8);

  public static void main(String[] args) throws Exception {
    Configuration conf = Cluster.configuration(args[0], args[1]);
    conf.setInt("hbase.client.retries.number", 1);
    conf.setInt("hbase.client.pause", 10);
    // Each attempt asks the server.
    conf.setInt("hbase.ipc.client.failed.servers.expiry", 1);
    conf.setInt("hbase.rpc.timeout", 10_000);
    conf.setInt("hbase.client.operation.timeout", 20_000);
    conf.setInt("hbase.client.meta.operation.timeout", 20_000);
    conf.setBoolean("hbase.ipc.client.fallback-to-simple-auth-allowed", false);
    if (!args[0].equals("zk")) chooseSecurity(conf);
    if (args.length == 2) {
      fromEnvironment(conf);
      return;
    }
    boolean failed = false;
    for (String line : Files.readAllLines(Path.of(args[2]))) {
      String[] words = line.split(" ", 3);
      String outcome = outcome(new Configuration(conf), words[1]);
      boolean matches = words[2].equals("served") ? outcome.equals("served") : outcome.contains(words[2]);
      System.out.printf("%s %-6s %-8s %s%n", matches ? "ok  " : "FAIL", args[0], words[0], outcome);
      failed |= !matches;
    }
    if (failed) System.exit(1);
  }

  /**
   * HBase 2.6 chooses, for the whole process, by the settings of the first connection, and its registries of RPC begin
   * with one without security, to ask for the cluster id: without this it would never use a token.
   */
  private static void chooseSecurity(Configuration conf) {
    Configuration secure = new Configuration(conf);
    secure.set("hbase.security.authentication", "kerberos");
    SaslClientAuthenticationProviders.getInstance(secure);
  }

  /** What becomes of a client with this token. */
  private static String outcome(Configuration conf, String text) throws Exception {
    UserGroupInformation ugi = UserGroupInformation.createRemoteUser("java");
    if (!text.equals("claimed")) conf.set("hbase.security.authentication", "kerberos");
    if (!text.equals("-") && !text.equals("claimed")) {
      boolean isForged = text.startsWith("forged:");
      for (String one : (isForged ? text.substring("forged:".length()) : text).split(",")) {
        Token<TokenIdentifier> token = new Token<>();
        token.decodeFromUrlString(one);
        byte[] password = isForged ? new byte[token.getPassword().length] : token.getPassword();
        ugi.addToken(new Token<>(token.getIdentifier(), password, token.getKind(), token.getService()));
      }
    }
    try (Connection connection = ConnectionFactory.createConnection(conf, User.create(ugi))) {
      use(connection);
      return "served";
    } catch (IOException | RuntimeException refused) {
      return chain(refused);
    }
  }

  private static void use(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin(); Table table = connection.getTable(TABLE)) {
      if (!admin.tableExists(TABLE)) {
        try {
          admin.createTable(TableDescriptorBuilder.newBuilder(TABLE)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
        } catch (TableExistsException byAnotherProcess) {
          // Several of these programs run at once.
        }
      }
      table.put(new Put(FAMILY).addColumn(FAMILY, FAMILY, FAMILY));
      if (table.get(new Get(FAMILY)).isEmpty()) throw new IOException("the row is missing");
    }
  }

  /** The token of the process's own user, and a second one that is obtained by it. */
  private static void fromEnvironment(Configuration conf) throws Exception {
    conf.set("hbase.security.authentication", "kerberos");
    UserGroupInformation.setConfiguration(conf);
    String obtained;
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      use(connection);
      User user = User.create(UserGroupInformation.createRemoteUser("java"));
      ClientTokenUtil.obtainAndCacheToken(connection, user);
      Token<?> token = user.getTokens().iterator().next();
      AuthenticationTokenIdentifier identifier = (AuthenticationTokenIdentifier) token.decodeIdentifier();
      obtained = identifier.getUsername();
      conf.set("hbase.security.authentication", "kerberos");
      try (Connection second = ConnectionFactory.createConnection(conf, user)) {
        use(second);
      }
    }
    System.out.println("served, and a job of " + obtained);
  }

  /** The exception, and the last cause with its class on the server. */
  private static String chain(Throwable thrown) {
    Throwable cause = thrown;
    while (cause.getCause() != null) cause = cause.getCause();
    String name = cause.getClass().getSimpleName();
    if (cause instanceof RemoteException remote) name += "(" + remote.getClassName().replaceAll(".*[.$]", "") + ")";
    String message = String.valueOf(cause.getMessage()).lines().limit(8).collect(Collectors.joining(" | "));
    return thrown.getClass().getSimpleName() + " <- " + name + ": " + message;
  }
}
