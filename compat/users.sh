#!/usr/bin/env bash
# Put a rowhouse binary through the stock client with users:  users.sh BINARY
# Tokens by each registry: a right one is served; a forged, an expired, a revoked one, and none, are refused with the
# exceptions of Apache HBase. Then tokens from a file, the environment and settings, and client certificates.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
begin "$1"

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

user() { "$binary" user --data "$work/data" "$@"; }

token() { # ARGS of `user token`; prints the token's text
  user token "$@" | sed -n 's/^  export HADOOP_TOKEN=//p'
}

users() { # REGISTRY ADDRESS [CASES]
  LOG_LEVEL=OFF timeout 120 "$here/java/run.sh" Users "$@" || { echo "FAIL Users $* (status $?)" >&2; exit 1; }
}

zookeeper="127.0.0.1:$(free_port)"
bootstrap="127.0.0.1:$(free_port)"
"$here/java/run.sh"

start --users token
right="$(token alice)"
# Reading the file again takes a second.
sleep 2
cat >"$work/cases" <<CASES
right $right served
forged forged:$right SaslException): DIGEST-MD5
expired $(token alice --expires 1s) InvalidToken): Token has expired
revoked $(token bob) InvalidToken): Token was revoked
none - Found no valid authentication method
claimed claimed AccessDeniedException: Authentication is required
CASES
user revoke bob
sleep 2
users zk "$zookeeper" "$work/cases"
users rpc "$bootstrap" "$work/cases"
users master "$bootstrap" "$work/cases"
user token carol --file "$work/carol.token" >"$work/carol"
sleep 2
HADOOP_TOKEN_FILE_LOCATION="$work/carol.token" users rpc "$bootstrap"
HADOOP_TOKEN="$(sed -n 's/^  export HADOOP_TOKEN=//p' "$work/carol")" users zk "$zookeeper"
stop
echo "ok $binary passed with users in $SECONDS s"
