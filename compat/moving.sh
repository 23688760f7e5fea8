#!/usr/bin/env bash
# docs/moving.md, step by step: a table of Apache HBase moves to rowhouse while it is written:  moving.sh BINARY
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
. "$here/apache-hbase/env.sh"
. "$here/shell/shell.sh"
begin "$1"
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
zookeeper_port="$(free_port)"
zookeeper="127.0.0.1:$zookeeper_port"
listen="127.0.0.1:$(free_port)"
trap end EXIT

end() {
  local status=$?
  set +e
  "$here/apache-hbase/stop.sh" KILL
  (exit "$status")
  finish
}

there() { # commands of HBase's shell; fails if one does
  hbase_shell "$APACHE_ZOOKEEPER_PORT" >"$work/shell.txt" 2>"$work/shell.err"
  if grep -A3 '^ERROR' "$work/shell.txt"; then exit 1; fi
}

job() { "$here/mapreduce/tool.sh" "$APACHE_ZOOKEEPER_PORT" "$work" "$@"; }

"$here/java/run.sh"
shell_jars
"$here/apache-hbase/start.sh"
there <<<"create 'blog', {NAME => 'cf', VERSIONS => 3, REPLICATION_SCOPE => 0}, SPLITS => ['row00700', 'row01400']"
timeout 300 "$here/java/run.sh" Replicated zk "127.0.0.1:$APACHE_ZOOKEEPER_PORT" blog 1 6000

"$binary" serve --data "$work/data" --listen "$listen" --zookeeper "$zookeeper" >"$log" 2>&1 </dev/null &
pid=$!
wait_for_port "$zookeeper" "$pid" "$log"
"$binary" shell --connect "hbase://$listen" -e "create 'blog', {NAME => 'cf', VERSIONS => 3}" >/dev/null
timeout 300 "$here/java/run.sh" Replicated zk "127.0.0.1:$APACHE_ZOOKEEPER_PORT" blog 2 20000 &
writer=$!
there <<END
alter 'blog', {NAME => 'cf', REPLICATION_SCOPE => 1}
add_peer 'rowhouse', CLUSTER_KEY => "$zookeeper:/hbase", STATE => "DISABLED", TABLE_CFS => {"blog" => []}, CONFIG => {"hbase.replication.rpc.codec" => "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags"}
END
job org.apache.hadoop.hbase.mapreduce.CopyTable --all.cells --versions=2147483647 "--peer.adr=$zookeeper:/hbase" blog
there <<<"enable_peer 'rowhouse'"
wait "$writer"
step 300 Replicated zk "127.0.0.1:$APACHE_ZOOKEEPER_PORT" equal "$zookeeper" 240 blog
job org.apache.hadoop.hbase.mapreduce.replication.VerifyReplication --versions=10 rowhouse blog | tee "$work/verified"
grep -q GOODROWS "$work/verified" && ! grep -q BADROWS "$work/verified"
there <<<"remove_peer 'rowhouse'"
echo "ok a table moved while it was written, in $SECONDS s"
