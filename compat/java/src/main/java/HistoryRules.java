import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a history must keep to for its answers to be one thing. A flush drops surplus versions and deleted cells in both, but
 * rowhouse's keeps more where a later delete or the end of a time to live could uncover it, so:
 *
 * <ul>
 * <li>in a family with MIN_VERSIONS, KEEP_DELETED_CELLS or NEW_VERSION_BEHAVIOR, and in histories with cells that have a TTL of
 *     their own, a column gets between two flushes no more versions than its family keeps (MIN_VERSIONS where it is set): then
 *     a flush finds no surplus to drop. Behind the last flush it may get any number;</li>
 * <li>raw reads come only while nothing is in a file that was not compacted: of a marker written twice both are in HBase's;</li>
 * <li>a family with NEW_VERSION_BEHAVIOR, where also deleted cells count as versions, is flushed only if it keeps 100 versions.</li>
 * </ul>
 */
final class HistoryRules {
  private final Map<String, Integer> kept;
  private final boolean canFlush;
  private final Map<String, Integer> written = new HashMap<>();
  private boolean flushed;

  HistoryRules(String table, boolean cellTtls) {
    kept = HistoryTables.versionsToFlush(table, cellTtls);
    canFlush = canFlush(table);
  }

  /** Whether a table may be flushed within a history. */
  static boolean canFlush(String table) {
    return HistoryTables.attributes(table).values().stream().noneMatch(family ->
        family.getOrDefault("NEW_VERSION_BEHAVIOR", "false").equals("true") && Integer.parseInt(family.getOrDefault("VERSIONS", "1")) < 100);
  }

  /** Whether the step may come next; {@code last} is behind the last flush. */
  boolean admits(String text, boolean last) {
    if (text.equals("flush") || text.equals("compact")) {
      written.clear();
      flushed = text.equals("flush");
      return canFlush;
    }
    if (text.startsWith("scan ") && (" " + text + " ").contains(" raw ")) return !flushed;
    if (last || !HistoryMutations.writes(text)) return true;
    Map<String, Integer> more = new HashMap<>(written);
    for (String part : text.split(" then | ; | & ")) {
      String[] words = part.replaceFirst("^(list|atomic) ", "").replaceFirst("^atomic ", "").split(" ");
      if (!List.of("put", "increment", "append").contains(words[0])) continue;
      for (int i = 2; i < words.length; i++) {
        int colon = words[i].indexOf(':');
        if (colon < 0) continue;
        String family = words[i].substring(0, colon);
        String column = words[1] + " " + words[i].split("[@=+]", 2)[0];
        if (more.merge(column, 1, Integer::sum) > kept.getOrDefault(family, 1)) return false;
      }
    }
    written.clear();
    written.putAll(more);
    return true;
  }

  static boolean hold(String table, List<HistoryText.Step> steps) {
    HistoryRules rules = new HistoryRules(table, steps.stream().anyMatch(step -> step.text().contains(" ttl=")));
    int last = -1;
    for (int i = 0; i < steps.size(); i++) if (steps.get(i).isMaintenance()) last = i;
    for (int i = 0; i < steps.size(); i++) if (!rules.admits(steps.get(i).text(), i > last)) return false;
    return true;
  }
}
