#!/usr/bin/env bash
# Put rowhouse's own client through its tests against a real Apache HBase, found by RPC and by ZooKeeper. Then indexes
# that clients keep there: writer processes are killed, and queries by index must find what queries by the key find.
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
echo "--- indexes kept by clients"
# INDEX_TESTS= runs the build of an index as well, which waits for minutes.
ROWHOUSE_TEST_CLUSTER="hbase+zk://127.0.0.1:$APACHE_ZOOKEEPER_PORT/hbase" \
  timeout 900 cargo test --locked -p rowhouse --test apache_indexes -- --nocapture "${INDEX_TESTS-writers_that_are_killed}"
echo "--- advice for tables, and indexes kept by hand"
ROWHOUSE_TEST_CLUSTER="hbase+zk://127.0.0.1:$APACHE_ZOOKEEPER_PORT/hbase" \
  timeout 300 cargo test --locked -p rowhouse --test apache_advise -- --nocapture
echo "--- queries"
ROWHOUSE_TEST_CLUSTER="hbase+zk://127.0.0.1:$APACHE_ZOOKEEPER_PORT/hbase" \
  timeout 300 cargo test --locked -p rowhouse --test apache_queries -- --nocapture
echo "--- a table that is searched by a copy"
ROWHOUSE_TEST_CLUSTER="hbase+zk://127.0.0.1:$APACHE_ZOOKEEPER_PORT/hbase" \
  timeout 300 cargo test --locked -p rowhouse --test apache_search -- --nocapture
echo "ok the native client passed in $SECONDS s"
