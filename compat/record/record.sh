#!/usr/bin/env bash
# Record what the stock client and Apache HBase say to each other:  record.sh OUT_DIR [SCENARIO...]
# One folder of .conv files per scenario; README.md here explains how and in what form.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
out="$1"
shift
[ $# -gt 0 ] || set -- blog-zk blog-rpc blog-master admin-zk data-zk catalog-zk errors-zk

# The server believes it is hbase.test at 127.0.0.2, the client that hbase.test is 127.0.0.3, where the proxy listens.
work="$(mktemp -d)"
printf '127.0.0.2 hbase.test\n127.0.0.1 localhost\n' >"$work/server.hosts"
printf '127.0.0.3 hbase.test\n127.0.0.1 localhost\n' >"$work/client.hosts"
export APACHE_DATA="$work/apache" APACHE_HOST=hbase.test APACHE_BIND=127.0.0.2 APACHE_HOSTS_FILE="$work/server.hosts"
export APACHE_ZOOKEEPER_PORT=2181 APACHE_MASTER_PORT=16000 APACHE_REGIONSERVER_PORT=16020 # the ports seen in the fixtures
trap '"$here/../apache-hbase/stop.sh"; rm -rf "$work"' EXIT
"$here/../apache-hbase/start.sh"

for scenario in "$@"; do
  case "$scenario" in
    *-zk) address=hbase.test:2181 ;;
    *-rpc) address=hbase.test:16020 ;;
    *-master) address=hbase.test:16000 ;;
  esac
  rm -rf "${out:?}/$scenario"
  coproc proxy { exec python3 "$here/proxy.py" "$out/$scenario" "$scenario" \
    zookeeper=127.0.0.3:2181=127.0.0.1:2181 master=127.0.0.3:16000=127.0.0.2:16000 \
    regionserver=127.0.0.3:16020=127.0.0.2:16020; }
  pid=$proxy_PID
  read -r _ <&"${proxy[0]}"
  HADOOP_USER_NAME=rowhouse JAVA_OPTIONS="-Djdk.net.hosts.file=$work/client.hosts" \
    timeout 120 "$here/../java/run.sh" Conversation "${scenario#*-}" "$address" "${scenario%-*}"
  kill "$pid"
  wait "$pid" || true
done
