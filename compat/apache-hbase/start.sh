#!/usr/bin/env bash
# Start a standalone Apache HBase (master, region server and ZooKeeper in one JVM) and wait until it serves.
# Where it listens and keeps its data: see env.sh. APACHE_SETTINGS are settings, as -Dname=value.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$here/env.sh"
"$here/fetch.sh"
mkdir -p "$APACHE_DATA"
if [ -f "$APACHE_PID" ] && kill -0 "$(cat "$APACHE_PID")" 2>/dev/null; then
  echo "apache-hbase: already running, pid $(cat "$APACHE_PID")" >&2
  exit 0
fi
(apache_hbase_java $APACHE_HEAP ${APACHE_OPTIONS:-} org.apache.hadoop.hbase.master.HMaster ${APACHE_SETTINGS:-} start $APACHE_MASTER_OPTIONS) \
  >"$APACHE_DATA/server.out" 2>"$APACHE_DATA/server.log" </dev/null &
pid=$!
echo "$pid" >"$APACHE_PID"
for _ in $(seq 600); do
  if grep -q 'Master has completed initialization' "$APACHE_DATA/server.log"; then
    echo "apache-hbase: serving, pid $pid" >&2
    exit 0
  fi
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.2
done
echo "apache-hbase: did not start, see $APACHE_DATA/server.log" >&2
tail -5 "$APACHE_DATA/server.log" >&2
exit 1
