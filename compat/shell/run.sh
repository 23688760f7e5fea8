#!/usr/bin/env bash
# HBase's own shell, led through commands.txt:
#   run.sh BINARY     against BINARY serve: differs from answers.txt exactly as known.diff says
#   run.sh --apache   against Apache HBase 2.6.4: writes answers.txt
# Against BINARY it then runs queries.txt, whose answers are queries-answers.txt, and secured.txt over TLS with a token.
# mask.sed takes out what differs from run to run. KEEP=FILE keeps the masked answers.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # free_port, and $here is compat/
. "$here/secured.sh"
. "$here/apache-hbase/env.sh"                  # JAVA_17 and APACHE_LIB
. "$here/shell/shell.sh"
[ $# = 1 ] || { echo "usage: run.sh BINARY|--apache" >&2; exit 2; }
target="$1"
work="$(mktemp -d)"
pid=""
trap finish EXIT

finish() {
  local status=$?
  if [ "$target" = --apache ]; then "$here/apache-hbase/stop.sh"; fi
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; answers and logs are kept in $work" >&2; fi
}

answers() { # ZOOKEEPER_PORT COMMANDS [-DNAME=VALUE]...
  local port="$1" commands="$2"
  shift 2
  hbase_shell "$port" "$@" <"$shell/$commands" >"$work/raw.txt" 2>"$work/shell.err"
  sed -E -f "$shell/mask.sed" "$work/raw.txt"
}

shell_jars
began="$SECONDS"
zookeeper="$(free_port)"
if [ "$target" = --apache ]; then
  export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT="$zookeeper" APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
  APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
  "$here/apache-hbase/start.sh"
  answers "$zookeeper" commands.txt >"$shell/answers.txt"
  echo "ok answers.txt is written, $((SECONDS - began)) s"
  exit 0
fi
"$(realpath "$target")" serve --data "$work/data" --listen 127.0.0.1:0 --zookeeper "127.0.0.1:$zookeeper" >"$work/server.log" 2>&1 &
pid=$!
answers "$zookeeper" commands.txt >"$work/answers.txt"
[ -z "${KEEP:-}" ] || cp "$work/answers.txt" "$KEEP"
diff "$shell/answers.txt" "$work/answers.txt" >"$work/answers.diff" || [ $? = 1 ]
if ! diff <(grep -v '^#' "$shell/known.diff") "$work/answers.diff" >"$work/changes"; then
  echo "FAIL the shell's answers differ from Apache HBase's otherwise than known.diff says:" >&2
  cat "$work/changes" >&2
  exit 1
fi
# Queries and indexes, which Apache HBase does not have.
answers "$zookeeper" queries.txt >"$work/queries-answers.txt"
diff "$shell/queries-answers.txt" "$work/queries-answers.txt" >&2
stop
# TLS, and a token of the environment.
binary="$(realpath "$target")" log="$work/server.log"
bootstrap="127.0.0.1:$(free_port)" zookeeper="127.0.0.1:$zookeeper"
authority ca
issue server ca IP:127.0.0.1
start --users token --tls-certificate "$work/server.pem" --tls-key "$work/server.key" --plain refuse
"$binary" user --data "$work/data" token alice --file "$work/alice.token" >/dev/null
sleep 1.5 # The server reads the file of users each second.
export HADOOP_TOKEN_FILE_LOCATION="$work/alice.token"
answers "${zookeeper##*:}" secured.txt -Dhbase.security.authentication=kerberos -Dhbase.client.netty.tls.enabled=true \
  -Dhbase.rpc.tls.truststore.type=PEM -Dhbase.rpc.tls.truststore.location="$work/ca.pem" >"$work/secured-answers.txt"
diff "$shell/secured-answers.txt" "$work/secured-answers.txt" >&2
echo "ok HBase's shell, $((SECONDS - began)) s"
