import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/**
 * Gives HBase's HBaseTestingUtility another name, so that a class of the old name can extend it:
 * the tests construct it themselves, and most of its methods need nothing but a client.
 *
 * <p>Arguments: HBase's test jar and the folder for the renamed classes.
 */
public final class Rename {
  private static final String OLD = "org/apache/hadoop/hbase/HBaseTestingUtility";
  private static final String NEW = "org/apache/hadoop/hbase/OriginalTestingUtility";

  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[1]);
    int renamed = 0;
    try (JarFile jar = new JarFile(arguments[0])) {
      for (JarEntry entry : jar.stream().filter(entry -> isUtility(entry.getName())).toList()) {
        Path target = folder.resolve(entry.getName().replace(OLD, NEW));
        Files.createDirectories(target.getParent());
        try (InputStream bytes = jar.getInputStream(entry)) {
          Files.write(target, renamed(bytes.readAllBytes()));
        }
        renamed++;
      }
    }
    if (renamed == 0) throw new IOException("no " + OLD + " in " + arguments[0]);
  }

  private static boolean isUtility(String name) {
    return name.equals(OLD + ".class") || name.startsWith(OLD + "$");
  }

  private static byte[] renamed(byte[] bytes) {
    ClassWriter writer = new ClassWriter(0);
    Remapper names = new Remapper() {
      @Override
      public String map(String name) {
        return name.equals(OLD) || name.startsWith(OLD + "$") ? name.replace(OLD, NEW) : name;
      }
    };
    new ClassReader(bytes).accept(new ClassRemapper(writer, names), 0);
    return writer.toByteArray();
  }
}
