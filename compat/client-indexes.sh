#!/usr/bin/env bash
# Indexes that rowhouse's own clients keep, on a real Apache HBase: writer processes are killed at random moments, and
# queries by the indexes must find what queries by the key find.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
work="$(mktemp -d)"
export APACHE_DATA="$work" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
trap finish EXIT

finish() {
  local status=$?
  "$here/apache-hbase/stop.sh"
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; data and log are kept in $work" >&2; fi
}

"$here/apache-hbase/start.sh"
cd "$here/.."
ROWHOUSE_TEST_CLUSTER="hbase+zk://127.0.0.1:$APACHE_ZOOKEEPER_PORT/hbase" \
  timeout 900 cargo test --locked -p rowhouse --test apache_indexes -- --nocapture
echo "ok indexes kept by clients passed in $SECONDS s"
