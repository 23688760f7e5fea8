package io.rowhouse;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Runs the program of the jar with a classifier, which run.sh has on the class path: from the cache in an argument. */
final class PackagedProgram {
  public static void main(String[] args) throws IOException {
    Path program = Binary.find();
    if (!program.startsWith(Paths.get(args[0]))) throw new IllegalStateException("not from the jar: " + program);
    long first = startMillis();
    long second = startMillis();
    System.out.println("ok the jar's program serves after " + first + " ms, and the second time after " + second + " ms");
  }

  private static long startMillis() throws IOException {
    long began = System.nanoTime();
    try (RowhouseServer server = RowhouseServer.start()) {
      long millis = (System.nanoTime() - began) / 1_000_000;
      if (!server.shell("list").contains("0 row(s)")) throw new IllegalStateException("the server has tables");
      return millis;
    }
  }
}
