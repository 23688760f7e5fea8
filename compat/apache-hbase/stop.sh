#!/usr/bin/env bash
# Stop the Apache HBase that start.sh started from the same APACHE_DATA:  stop.sh [SIGNAL]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$here/env.sh"
[ -f "$APACHE_PID" ] || { echo "apache-hbase: no pid file" >&2; exit 0; }
pid="$(cat "$APACHE_PID")"
kill "-${1:-TERM}" "$pid" 2>/dev/null || true
for _ in $(seq 150); do
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.2
done
if kill -0 "$pid" 2>/dev/null; then
  echo "apache-hbase: pid $pid alive after 30 s, killing it" >&2
  kill -KILL "$pid"
fi
rm -f "$APACHE_PID"
echo "apache-hbase: stopped, pid $pid" >&2
