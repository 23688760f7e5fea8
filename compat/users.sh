#!/usr/bin/env bash
# Put a rowhouse binary through the stock client with users:  users.sh BINARY
# By each registry, with clients of 2.6 and 3.0, a right token is served; a forged, an expired, a revoked one and none are
# refused with the exceptions of Apache HBase. Then: tokens from a file, the environment and settings, from which a job's token is obtained; tokens
# and client certificates with TLS; the shell here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
. "$here/secured.sh"
begin "$1"

user() { "$binary" user --data "$work/data" "$@"; }

token() { # ARGS of `user token`; prints the token's text
  user token "$@" | sed -n 's/^  export HADOOP_TOKEN=//p'
}

users() { # NAME REGISTRY ADDRESS [CASES]: beside others, until all_users; most of its time it waits
  local name="$1"
  shift
  if [ -n "${RELEASE:-}" ]; then
    with_client "$RELEASE" Users "$@" >"$work/$name.out" 2>&1 &
  else
    LOG_LEVEL=OFF timeout 120 "$here/java/run.sh" Users "$@" >"$work/$name.out" 2>&1 &
  fi
  started+=("$name:$!")
}

all_users() {
  local one failed=0
  for one in "${started[@]}"; do
    wait "${one#*:}" || { failed=1; echo "FAIL Users ${one%:*}" >&2; }
    cat "$work/${one%:*}.out"
  done
  started=()
  [ "$failed" = 0 ] || exit 1
}

shell_is() { # PATTERN ARGS of shell: what it prints is to match
  local pattern="$1"
  shift
  "$binary" shell "$@" -e list >"$work/shell" 2>&1 || true
  grep -qE "$pattern" "$work/shell" || { echo "FAIL shell $*: no $pattern" >&2; cat "$work/shell" >&2; exit 1; }
}

started=()
zookeeper="127.0.0.1:$(free_port)"
bootstrap="127.0.0.1:$(free_port)"
"$here/java/run.sh"
authority ca
issue server ca IP:127.0.0.1
issue alice ca DNS:alice

start --users token
right="$(token alice)"
revoked="$(token bob)"
user revoke bob
user token carol --file "$work/carol.token" >"$work/carol"
# The server reads the file of users each second; the last token ends.
expired="$(token alice --expires 1s)"
sleep 2.5
cat >"$work/few" <<CASES
right $right served
revoked $revoked InvalidToken): Token was revoked
none - Found no valid authentication method
CASES
cat "$work/few" - >"$work/cases" <<CASES
forged forged:$right SaslException): DIGEST-MD5
expired $expired InvalidToken): Token has expired
claimed claimed AccessDeniedException: Authentication is required
CASES
site tokens.xml hadoop.tokens "$right"
users zk zk "$zookeeper" "$work/cases"
users rpc rpc "$bootstrap" "$work/few"
users master master "$bootstrap" "$work/few"
all_users
HADOOP_TOKEN_FILE_LOCATION="$work/carol.token" users file rpc "$bootstrap"
HADOOP_TOKEN="$right" users environment zk "$zookeeper"
JAVA_OPTIONS="-Dhbase.site=$work/tokens.xml" users settings zk "$zookeeper"
all_users
# HBase 3.0: its registries of RPC connect as the process's own user, whichever the connection's is.
site zk.xml hbase.client.registry.impl org.apache.hadoop.hbase.client.ZKConnectionRegistry
compile_for 3.0.0-beta-1
RELEASE=3.0.0-beta-1 JAVA_OPTIONS="-Dhbase.site=$work/zk.xml" users zk-3 zk "$zookeeper" "$work/few"
RELEASE=3.0.0-beta-1 HADOOP_TOKEN_FILE_LOCATION="$work/carol.token" users rpc-3 rpc "$bootstrap"
RELEASE=3.0.0-beta-1 HADOOP_TOKEN_FILE_LOCATION="$work/carol.token" users master-3 master "$bootstrap"
all_users
shell_is '^users$' --connect "hbase://$bootstrap?token=$work/carol.token"
shell_is 'Authentication is required' --connect "hbase://$bootstrap"
stop

tls=(hbase.client.netty.tls.enabled true hbase.rpc.tls.truststore.type PEM hbase.rpc.tls.truststore.location "$work/ca.pem")
site tls.xml "${tls[@]}"
site mutual.xml "${tls[@]}" hbase.rpc.tls.keystore.type PEM hbase.rpc.tls.keystore.location "$work/alice-both.pem"
start --users certificate,token --tls-certificate "$work/server.pem" --tls-key "$work/server.key" --tls-clients "$work/ca.pem" --plain refuse
echo "token $right served" >"$work/token"
echo "certificate claimed served" >"$work/certificate"
echo "neither claimed AccessDeniedException: Authentication is required" >"$work/neither"
JAVA_OPTIONS="-Dhbase.site=$work/tls.xml" users token rpc "$bootstrap" "$work/token"
JAVA_OPTIONS="-Dhbase.site=$work/tls.xml" users neither rpc "$bootstrap" "$work/neither"
JAVA_OPTIONS="-Dhbase.site=$work/mutual.xml" users certificate rpc "$bootstrap" "$work/certificate"
all_users
stop
echo "ok $binary passed with users in $SECONDS s"
