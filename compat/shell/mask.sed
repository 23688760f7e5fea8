# Takes out what differs from run to run, of both servers alike (run.sh).
# The banner ends where the first prompt is.
1,/^hbase:001:0> /{/^hbase:001:0> /!d}
# `t.put` and the like end without a line break.
s/( seconds)(hbase:[0-9]+:[0-9]+[>*] )/\1\n\2/
# Times: of commands, of cells (1970 is a test's own), of snapshots, and in messages.
s/^hbase:[0-9]+:[0-9]+([>*]) /\1 /
s/\nhbase:[0-9]+:[0-9]+([>*]) /\n\1 /
s/^Took [0-9.]+ seconds/Took N seconds/
s/timestamp=2[0-9]{3}-[0-9T:.-]+/timestamp=NOW/g
s/\(2[0-9]{3}-[0-9]{2}-[0-9]{2} [0-9:]+ [^)]*\)/(NOW)/g
s/:0x[0-9a-f]+>/:0xN>/g
s/(MILLIS_BETWEEN_NEXTS|[A-Z_]+_TIME) [0-9]+/\1 N/
# Servers, and regions by their times and encoded names.
s/(localhost|127\.0\.0\.1)[,:][0-9]+[, ][0-9]{13}/SERVER/g
s/(localhost|127\.0\.0\.1):[0-9]+/SERVER/g
s/,[0-9]{13}\.[0-9a-f]{32}\./,TIME.ENCODED./g
s/ENCODED => [0-9a-f]{32}/ENCODED => ENCODED/g
# Columns are as wide as the longest name.
s/ +/ /g
s/-{3,}/---/g
s/ $//
# The places in the server's code that an exception passed.
/^\tat /d
# Figures of the server.
s/(requestsPerSecond|usedHeapMB|maxHeapMB|readRequestsCount|writeRequestsCount|filteredReadRequestsCount|memstoreSizeMB)=[0-9.]+/\1=N/g
