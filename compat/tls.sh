#!/usr/bin/env bash
# Put a rowhouse binary through the stock client with TLS:  tls.sh BINARY
# Registries × (TLS, mutual TLS) pass, with the client of 3.0 too; a client without TLS, without a certificate, with a certificate from another
# authority, with another authority or with another name in the server's certificate is refused.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
. "$here/secured.sh"
begin "$1"

refused() { # SITE REGISTRY ADDRESS PATTERN: the program is to fail with an error that matches
  local status=0
  echo "--- refused: $1 $2"
  JAVA_OPTIONS="-Dhbase.site=$work/$1" LOG_LEVEL=OFF timeout 120 "$here/java/run.sh" Blog "$2" "$3" verify \
    >"$work/refused" 2>&1 || status=$?
  [ "$status" != 0 ] && [ "$status" != 124 ] || { echo "FAIL $1 was not refused (status $status)" >&2; exit 1; }
  grep -m1 -E "$4" "$work/refused" || { echo "FAIL $1 failed without $4" >&2; cat "$work/refused" >&2; exit 1; }
}

install_served() { # NAME
  cp "$work/$1.pem" "$work/served.pem"
  cp "$work/$1.key" "$work/served.key"
}

wait_for_warnings() { # COUNT of warnings that the certificate does not name the host
  local count
  for _ in $(seq 100); do
    count="$(grep -c "does not name the host announced" "$work/data/rowhouse.log" || true)"
    [ "$count" != "$1" ] || return 0
    sleep 0.1
  done
  echo "FAIL $count warnings of the name, not $1" >&2
  exit 1
}

zookeeper="127.0.0.1:$(free_port)"
bootstrap="127.0.0.1:$(free_port)"
master="$bootstrap"
"$here/java/run.sh"
compile_for 3.0.0-beta-1
authority ca
authority other
issue server ca IP:127.0.0.1
issue misnamed ca DNS:db.example.org
issue alice ca DNS:alice
issue mallory other DNS:mallory
tls=(hbase.client.netty.tls.enabled true hbase.rpc.tls.truststore.type PEM)
site tls.xml "${tls[@]}" hbase.rpc.tls.truststore.location "$work/ca.pem"
site mutual.xml "${tls[@]}" hbase.rpc.tls.truststore.location "$work/ca.pem" \
  hbase.rpc.tls.keystore.type PEM hbase.rpc.tls.keystore.location "$work/alice-both.pem"
site mallory.xml "${tls[@]}" hbase.rpc.tls.truststore.location "$work/ca.pem" \
  hbase.rpc.tls.keystore.type PEM hbase.rpc.tls.keystore.location "$work/mallory-both.pem"
site other.xml "${tls[@]}" hbase.rpc.tls.truststore.location "$work/other.pem"
site plain.xml
# What a client says of a TLS connection that either side refused.
no_tls='SSLHandshake|ClosedChannel|ConnectionClosed'

start --tls-certificate "$work/server.pem" --tls-key "$work/server.key" --plain refuse
export JAVA_OPTIONS="-Dhbase.site=$work/tls.xml"
step 120 Blog zk "$zookeeper"
step 120 Blog rpc "$bootstrap"
step 120 Blog master "$master"
refused plain.xml zk "$zookeeper" "FatalConnectionException.*accepts TLS only"
refused plain.xml rpc "$bootstrap" "FatalConnectionException.*accepts TLS only"
refused other.xml rpc "$bootstrap" "$no_tls"
echo "--- HBase 3.0 rpc"
with_client 3.0.0-beta-1 Blog rpc "$bootstrap" verify
stop
start --tls-certificate "$work/server.pem" --tls-key "$work/server.key" --tls-clients "$work/ca.pem"
export JAVA_OPTIONS="-Dhbase.site=$work/mutual.xml"
step 120 Blog zk "$zookeeper" verify
step 120 Blog rpc "$bootstrap" verify
echo "--- HBase 3.0 rpc"
with_client 3.0.0-beta-1 Blog rpc "$bootstrap" verify
refused tls.xml rpc "$bootstrap" "$no_tls"
refused mallory.xml rpc "$bootstrap" "$no_tls"
# Over loopback plain clients are served.
export JAVA_OPTIONS="-Dhbase.site=$work/plain.xml"
step 120 Blog rpc "$bootstrap" verify
stop
# A certificate that does not name the host is reported after a reload and at the start.
install_served server
start --tls-certificate "$work/served.pem" --tls-key "$work/served.key"
wait_for_warnings 0
install_served misnamed
kill -HUP "$pid"
wait_for_warnings 1
refused tls.xml rpc "$bootstrap" "$no_tls"
stop
start --tls-certificate "$work/served.pem" --tls-key "$work/served.key"
wait_for_warnings 2
stop
echo "ok $binary passed with TLS in $SECONDS s"
