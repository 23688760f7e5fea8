#!/usr/bin/env bash
# Put rowhouse's own client through its tests against a real Apache HBase, found by RPC and by ZooKeeper.
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
for target in "hbase://localhost:$APACHE_REGIONSERVER_PORT" "hbase+zk://127.0.0.1:$APACHE_ZOOKEEPER_PORT/hbase"; do
  echo "--- $target"
  ROWHOUSE_TEST_CLUSTER="$target" timeout 300 cargo test --locked -p rowhouse-client --test cluster
done
echo "ok the native client passed in $SECONDS s"
