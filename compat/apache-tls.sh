#!/usr/bin/env bash
# Put rowhouse's own client through a real Apache HBase with TLS and with mutual TLS:  apache-tls.sh BINARY
# By URL and by hbase-site.xml, by each registry, it writes and reads; no TLS, another authority, another name in the
# server's certificate, no certificate of the client and one of another authority are refused, each with an error that
# names the cause.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
. "$here/secured.sh"
begin "${1:?BINARY}"
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT APACHE_SETTINGS
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
log="$APACHE_DATA/server.log"
region_server="localhost:$APACHE_REGIONSERVER_PORT"
zookeeper="127.0.0.1:$APACHE_ZOOKEEPER_PORT"
trap '"$here/apache-hbase/stop.sh"; finish' EXIT

serve() { # CERTIFICATE MODE: NONE or NEED of certificates of clients; Apache's own connections are in TLS too
  local both="$work/$1-both.pem"
  APACHE_SETTINGS="-Dhbase.server.netty.tls.enabled=true -Dhbase.server.netty.tls.supportplaintext=false
    -Dhbase.server.netty.tls.client.auth.mode=$2 -Dhbase.client.netty.tls.enabled=true
    -Dhbase.client.netty.tls.verify.server.hostname=false
    -Dhbase.rpc.tls.keystore.type=PEM -Dhbase.rpc.tls.keystore.location=$both
    -Dhbase.rpc.tls.truststore.type=PEM -Dhbase.rpc.tls.truststore.location=$work/ca.pem"
  "$here/apache-hbase/start.sh"
}

writes_and_reads() { # TARGET
  local table="t$((tables += 1))" answer
  echo "--- served: $1"
  answer="$(timeout 120 "$binary" shell --connect "$1" --non-interactive <<COMMANDS
create '$table', 'f', SPLITS => ['m']
put '$table', 'a', 'f:q', 'before the split'
put '$table', 'z', 'f:q', 'after it'
get '$table', 'a'
scan '$table', {STARTROW => 'm'}
COMMANDS
)" || { echo "FAIL $1: $answer" >&2; exit 1; }
  grep -q 'value=before the split' <<<"$answer" && grep -q 'value=after it' <<<"$answer" || {
    echo "FAIL $1: $answer" >&2
    exit 1
  }
}

refused() { # PATTERN TARGET
  local answer
  echo "--- refused: $2"
  answer="$(timeout 120 "$binary" shell --connect "$2" --non-interactive -e list 2>&1)" && { echo "FAIL $2 is served: $answer" >&2; exit 1; }
  grep -m1 -E "$1" <<<"$answer" || { echo "FAIL $2 is refused without $1: $answer" >&2; exit 1; }
}

tables=0
authority ca
authority other
issue server ca DNS:localhost,IP:127.0.0.1
issue misnamed ca DNS:db.example.org
# Apache HBase looks up the host that a client connects from in its certificate.
issue alice ca DNS:localhost,IP:127.0.0.1
issue mallory other DNS:localhost,IP:127.0.0.1
by_region_server=(hbase.client.registry.impl org.apache.hadoop.hbase.client.RpcConnectionRegistry
  hbase.client.bootstrap.servers "$region_server")
by_zookeeper=(hbase.zookeeper.quorum "$zookeeper")
tls=(hbase.client.netty.tls.enabled true hbase.rpc.tls.truststore.type PEM hbase.rpc.tls.truststore.location "$work/ca.pem")
mutual=("${tls[@]}" hbase.rpc.tls.keystore.type PEM hbase.rpc.tls.keystore.location "$work/alice-both.pem")
site tls.xml "${by_region_server[@]}" "${tls[@]}"
site tls-zk.xml "${by_zookeeper[@]}" "${tls[@]}"
site mutual.xml "${by_region_server[@]}" "${mutual[@]}"
site mutual-zk.xml "${by_zookeeper[@]}" "${mutual[@]}"
site plain.xml "${by_region_server[@]}"
trust="ca=$work/ca.pem"
identity="certificate=$work/alice.pem&key=$work/alice.key"

serve server NONE
writes_and_reads "hbase+tls://$region_server?$trust"
writes_and_reads "hbase+zk+tls://$zookeeper/hbase?$trust"
writes_and_reads "$work/tls.xml"
writes_and_reads "$work/tls-zk.xml"
refused 'closed by the server' "hbase://$region_server"
refused 'closed by the server' "$work/plain.xml"
refused 'UnknownIssuer' "hbase+tls://$region_server?ca=$work/other.pem"
"$here/apache-hbase/stop.sh"

serve server NEED
writes_and_reads "hbase+tls://$region_server?$trust&$identity"
writes_and_reads "hbase+zk+tls://$zookeeper/hbase?$trust&$identity"
writes_and_reads "$work/mutual.xml"
writes_and_reads "$work/mutual-zk.xml"
refused 'alert: BadCertificate' "hbase+tls://$region_server?$trust"
refused 'alert: CertificateUnknown' "hbase+tls://$region_server?$trust&certificate=$work/mallory.pem&key=$work/mallory.key"
"$here/apache-hbase/stop.sh"

serve misnamed NONE
refused 'not valid for name "localhost"' "hbase+tls://$region_server?$trust"
writes_and_reads "hbase+tls://$region_server?$trust&names=unchecked"
echo "ok the native client passed with the TLS of Apache HBase in $SECONDS s"
