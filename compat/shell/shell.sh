# Sourced: HBase's own shell, after steps.sh and apache-hbase/env.sh.
shell="$here/shell"
shell_cache="$ROWHOUSE_COMPAT_CACHE/shell"

shell_jars() {
  local sum
  "$here/apache-hbase/fetch.sh"
  sum="$(cat "$shell/pom.xml" "${BASH_SOURCE[0]}" | sha256sum)"
  [ "$(cat "$shell_cache/.stamp" 2>/dev/null || true)" != "$sum" ] || return 0
  rm -rf "$shell_cache"
  mkdir -p "$shell_cache/ruby"
  mvn -q -B -f "$shell/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$shell_cache/lib" >&2
  (cd "$shell_cache/ruby" && jar xf "$shell_cache"/lib/hbase-shell-*.jar)
  sed -i '/^ *trace$/d' "$shell_cache/ruby/shell.rb" # The command `trace` wants a class that 2.6 has no more.
  echo "$sum" >"$shell_cache/.stamp"
}

hbase_shell() { # ZOOKEEPER_PORT [-DNAME=VALUE]...; commands on standard input
  local port="$1"
  shift
  timeout 300 java -Xmx512m -XX:TieredStopAtLevel=1 "${JAVA_17[@]}" -Djava.net.preferIPv4Stack=true -Dfile.encoding=UTF-8 -Duser.timezone=UTC \
    -Dlog.level=OFF -Dhbase.ruby.sources="$shell_cache/ruby" -cp "$shell/conf:$shell_cache/ruby:$(echo "$shell_cache"/lib/jruby-complete-*.jar):$APACHE_LIB/*" \
    org.jruby.Main -X+O -W0 "$shell_cache/ruby/jar-bootstrap.rb" \
    -Dhbase.zookeeper.quorum=127.0.0.1 -Dhbase.zookeeper.property.clientPort="$port" "$@"
}
