#!/usr/bin/env bash
# Put a rowhouse binary through the stock client with TLS:  tls.sh BINARY
# Registries × (TLS, mutual TLS) pass; a client without TLS, without a certificate, with another authority or with
# another name in the server's certificate is refused.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
binary="$(realpath "$1")"
work="$(mktemp -d)"
log="$work/server.log"
pid=""
trap finish EXIT

finish() {
  local status=$?
  if [ -n "$pid" ]; then kill -KILL "$pid" 2>/dev/null || true; fi
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; data and log are kept in $work" >&2; tail -20 "$log" >&2 || true; fi
}

start() { # ARGS of serve
  "$binary" serve --data "$work/data" --listen "$bootstrap" --zookeeper "$zookeeper" --no-web "$@" >>"$log" 2>&1 </dev/null &
  pid=$!
  wait_for_port "$bootstrap" "$pid" "$log"
}

stop() {
  kill -TERM "$pid"
  wait "$pid"
  pid=""
}

authority() { # NAME
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -keyout "$work/$1.key" -out "$work/$1.pem" 2>/dev/null
}

issue() { # NAME AUTHORITY SUBJECT_ALTERNATIVE_NAME
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$work/$1.key" -out "$work/$1.csr" 2>/dev/null
  openssl x509 -req -in "$work/$1.csr" -CA "$work/$2.pem" -CAkey "$work/$2.key" -CAcreateserial -days 2 \
    -extfile <(printf 'subjectAltName=%s' "$3") -out "$work/$1.pem" 2>/dev/null
  cat "$work/$1.pem" "$work/$1.key" >"$work/$1-both.pem"
}

site() { # FILE [NAME VALUE]...
  local file="$work/$1"
  shift
  {
    echo '<configuration>'
    while [ $# -gt 0 ]; do
      echo "<property><name>$1</name><value>$2</value></property>"
      shift 2
    done
    # A refusal comes soon.
    echo '<property><name>hbase.client.retries.number</name><value>1</value></property>'
    echo '</configuration>'
  } >"$file"
}

refused() { # SITE REGISTRY ADDRESS: the program is to fail
  local status=0
  echo "--- refused: $1 $2"
  JAVA_OPTIONS="-Dhbase.site=$work/$1" LOG_LEVEL=OFF timeout 120 "$here/java/run.sh" Blog "$2" "$3" verify \
    >"$work/refused" 2>&1 || status=$?
  [ "$status" != 0 ] && [ "$status" != 124 ] || { echo "FAIL $1 was not refused (status $status)" >&2; exit 1; }
  grep -m1 -oE '(AccessDenied|SSLHandshake|SSL|ConnectionClosed|StacklessClosedChannel|RetriesExhausted)[A-Za-z]*Exception.*' "$work/refused" || head -3 "$work/refused"
}

zookeeper="127.0.0.1:$(free_port)"
bootstrap="127.0.0.1:$(free_port)"
master="$bootstrap"
"$here/java/run.sh"
authority ca
authority other
issue server ca IP:127.0.0.1
issue misnamed ca DNS:db.example.org
issue alice ca DNS:alice
tls=(hbase.client.netty.tls.enabled true hbase.rpc.tls.truststore.type PEM)
site tls.xml "${tls[@]}" hbase.rpc.tls.truststore.location "$work/ca.pem"
site mutual.xml "${tls[@]}" hbase.rpc.tls.truststore.location "$work/ca.pem" \
  hbase.rpc.tls.keystore.type PEM hbase.rpc.tls.keystore.location "$work/alice-both.pem"
site other.xml "${tls[@]}" hbase.rpc.tls.truststore.location "$work/other.pem"
site plain.xml

start --tls-certificate "$work/server.pem" --tls-key "$work/server.key" --plain refuse
export JAVA_OPTIONS="-Dhbase.site=$work/tls.xml"
step 120 Blog zk "$zookeeper"
step 120 Blog rpc "$bootstrap"
step 120 Blog master "$master"
refused plain.xml zk "$zookeeper"
refused plain.xml rpc "$bootstrap"
refused other.xml rpc "$bootstrap"
stop
start --tls-certificate "$work/server.pem" --tls-key "$work/server.key" --tls-clients "$work/ca.pem"
export JAVA_OPTIONS="-Dhbase.site=$work/mutual.xml"
step 120 Blog zk "$zookeeper" verify
step 120 Blog rpc "$bootstrap" verify
refused tls.xml rpc "$bootstrap"
# From the same machine plain clients are served.
export JAVA_OPTIONS="-Dhbase.site=$work/plain.xml"
step 120 Blog rpc "$bootstrap" verify
stop
start --tls-certificate "$work/misnamed.pem" --tls-key "$work/misnamed.key"
grep -q "does not name the host announced" "$work/data/rowhouse.log" || { echo "FAIL no warning of the name" >&2; exit 1; }
refused tls.xml rpc "$bootstrap"
stop
echo "ok $binary passed with TLS in $SECONDS s"
