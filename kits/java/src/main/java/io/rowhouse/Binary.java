package io.rowhouse;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** Finds the program {@code rowhouse}: named by a variable, in a jar, or on the PATH. */
final class Binary {
  static final String VARIABLE = "ROWHOUSE_BINARY";
  private static final String NAME = "rowhouse";

  private Binary() {}

  /**
   * Returns the program.
   *
   * @throws IOException if there is none, or if the one in the jar cannot be written to a file
   */
  static Path find() throws IOException {
    String named = System.getenv(VARIABLE);
    if (named != null && !named.isEmpty()) {
      Path path = Paths.get(named);
      if (!Files.isExecutable(path)) throw new IOException(VARIABLE + " names no program: " + named);
      return path.toAbsolutePath();
    }
    Path packaged = fromJar(platform());
    if (packaged != null) return packaged;
    String path = System.getenv("PATH");
    for (String directory : (path == null ? "" : path).split(File.pathSeparator)) {
      Path candidate = Paths.get(directory, NAME);
      if (!directory.isEmpty() && Files.isExecutable(candidate)) return candidate.toAbsolutePath();
    }
    throw new IOException(
        "no program rowhouse: set " + VARIABLE + ", or add the jar with the classifier " + platform() + ", or put it on the PATH");
  }

  /** Returns the platform as jars have it in their classifier, such as {@code linux-x86_64}. */
  static String platform() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    if (system.startsWith("mac")) system = "osx";
    if (arch.equals("amd64")) arch = "x86_64";
    if (arch.equals("aarch64") || arch.equals("arm64")) arch = "aarch_64";
    return system + "-" + arch;
  }

  /**
   * Returns the program of a jar on the class path, as a file in the user's cache; null without such a jar. The file is
   * named by the program's hash, and is written once.
   */
  private static Path fromJar(String platform) throws IOException {
    String folder = "/io/rowhouse/binary/" + platform + "/";
    String hash;
    try (InputStream stream = Binary.class.getResourceAsStream(folder + NAME + ".sha256")) {
      if (stream == null) return null;
      hash = text(stream).trim();
    }
    Path cached = cache().resolve(hash).resolve(NAME);
    if (Files.isExecutable(cached)) return cached;
    Files.createDirectories(cached.getParent());
    Path written = Files.createTempFile(cached.getParent(), NAME, ".new");
    try (InputStream stream = Binary.class.getResourceAsStream(folder + NAME)) {
      if (stream == null) throw new IOException("the jar lacks its program: " + folder + NAME);
      Files.copy(stream, written, StandardCopyOption.REPLACE_EXISTING);
      if (!written.toFile().setExecutable(true)) throw new IOException("cannot be made executable: " + written);
      move(written, cached);
    } finally {
      Files.deleteIfExists(written);
    }
    return cached;
  }

  /** Moves a whole file to its name, where another process may do the same. */
  private static void move(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static Path cache() {
    String cache = System.getenv("XDG_CACHE_HOME");
    Path root = cache == null || cache.isEmpty() ? Paths.get(System.getProperty("user.home"), ".cache") : Paths.get(cache);
    return root.resolve("rowhouse");
  }

  static String text(InputStream stream) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) bytes.write(buffer, 0, count);
    return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
  }
}
