package io.rowhouse;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * A server for a JUnit 5 test class: {@code @ExtendWith(RowhouseExtension.class)}, or {@code @RegisterExtension} on a
 * static field for one with options. Tests, and methods before and after them, may have parameters of the types {@link
 * Connection}, {@link Admin}, {@link Configuration} and {@link RowhouseServer}. Each test begins without faults, and
 * without tables or with the tables of {@link #prepared}. The server's log is printed when a test fails.
 */
public final class RowhouseExtension
    implements BeforeAllCallback,
        BeforeEachCallback,
        ParameterResolver,
        TestExecutionExceptionHandler,
        LifecycleMethodExecutionExceptionHandler {
  private static final Namespace NAMESPACE = Namespace.create(RowhouseExtension.class);
  private static final String PREPARED = "rowhouse-prepared";

  private final RowhouseServer.Builder builder;
  private final Preparation preparation;
  private final boolean resets;

  /** Makes the tables with which each test begins. */
  @FunctionalInterface
  public interface Preparation {
    /** Creates tables and writes rows. */
    void prepare(RowhouseServer server) throws Exception;
  }

  /** A server with the default options, reset before each test. */
  public RowhouseExtension() {
    this(RowhouseServer.builder(), null, true);
  }

  private RowhouseExtension(RowhouseServer.Builder builder, Preparation preparation, boolean resets) {
    this.builder = builder;
    this.preparation = preparation;
    this.resets = resets;
  }

  /** A server with these options. */
  public static RowhouseExtension of(RowhouseServer.Builder builder) {
    return new RowhouseExtension(builder, null, true);
  }

  /** Runs this once for a test class. Each test begins with the tables that it makes. */
  public RowhouseExtension prepared(Preparation preparation) {
    return new RowhouseExtension(builder, preparation, resets);
  }

  /** Lets tests begin with the tables of the test before. */
  public RowhouseExtension withoutReset() {
    return new RowhouseExtension(builder, preparation, false);
  }

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    server(context);
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    RowhouseServer server = server(context);
    server.removeFaults();
    if (!resets) return;
    if (preparation == null) server.reset();
    else server.restore(PREPARED);
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLog(context, failure);
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLog(context, failure);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLog(context, failure);
  }

  @Override
  public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLog(context, failure);
  }

  /** Prints the server's log, unless the test was only skipped. */
  private Throwable withLog(ExtensionContext context, Throwable failure) {
    if (!(failure instanceof TestAbortedException)) {
      System.err.println("The log of rowhouse in " + context.getDisplayName() + ":\n" + server(context).log());
    }
    return failure;
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Connection.class || type == Admin.class || type == Configuration.class || type == RowhouseServer.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    try {
      RowhouseServer server = server(context);
      if (type == RowhouseServer.class) return server;
      if (type == Configuration.class) return server.configuration();
      if (type == Connection.class) return server.connection();
      Admin admin = server.connection().getAdmin();
      context.getStore(NAMESPACE).put(parameter, (ExtensionContext.Store.CloseableResource) admin::close);
      return admin;
    } catch (IOException e) {
      throw new ParameterResolutionException("no server for a parameter: " + e.getMessage(), e);
    }
  }

  /** Returns the server of the test class and the classes in it, which JUnit closes after its last test. */
  private RowhouseServer server(ExtensionContext context) {
    // A store has the values of the contexts around it, and this is first called for the class.
    return context.getStore(NAMESPACE).getOrComputeIfAbsent(this, key -> new Holder(builder, preparation), Holder.class).server;
  }

  private static final class Holder implements ExtensionContext.Store.CloseableResource {
    final RowhouseServer server;

    Holder(RowhouseServer.Builder builder, Preparation preparation) {
      try {
        server = builder.start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      if (preparation != null) prepare(preparation);
    }

    private void prepare(Preparation preparation) {
      try {
        preparation.prepare(server);
        server.snapshot(PREPARED);
      } catch (Exception e) {
        String message = "the tables cannot be prepared: " + e.getMessage() + "\n" + server.log();
        IllegalStateException failure = new IllegalStateException(message, e);
        try {
          server.close();
        } catch (IOException second) {
          failure.addSuppressed(second);
        }
        throw failure;
      }
    }

    @Override
    public void close() throws Throwable {
      server.close();
    }
  }
}
