package io.rowhouse;

import java.io.IOException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A rule by which calls fail, until it is closed. */
public final class Fault implements AutoCloseable {
  private static final Pattern COUNTS = Pattern.compile("fault=(\\d+) calls=(\\d+) hits=(\\d+) ");

  private final RowhouseServer server;
  private final String id;

  Fault(RowhouseServer server, String added) {
    this.server = server;
    id = counts(added).group(1);
  }

  private static Matcher counts(String line) {
    Matcher matcher = COUNTS.matcher(line);
    if (!matcher.lookingAt()) throw new IllegalStateException("not a fault: " + line);
    return matcher;
  }

  /** Waits until the rule has hit so many calls, for 30 s at most. */
  public void awaitHits(long hits) throws IOException {
    awaitHits(hits, Duration.ofSeconds(30));
  }

  /** Waits until the rule has hit so many calls; an exception after this time. */
  public void awaitHits(long hits, Duration timeout) throws IOException {
    server.run("admin", "fault", "wait", id, "--hits", Long.toString(hits), "--timeout", Long.toString(timeout.toMillis()));
  }

  /** Returns how many calls the rule has hit. */
  public long hits() throws IOException {
    return Long.parseLong(counts(server.run("admin", "fault", "wait", id, "--hits", "0")).group(3));
  }

  /** Removes the rule. */
  @Override
  public void close() throws IOException {
    server.run("admin", "fault", "remove", id);
  }
}
