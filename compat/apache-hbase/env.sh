# Settings shared by the scripts here; each can be overridden from the environment.
ROWHOUSE_COMPAT_CACHE="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}"
APACHE_FOLDER="${APACHE_FOLDER:-apache-hbase}" # whose pom.xml and conf/: apache-hbase (2.6) or hbase-1 (1.7)
APACHE_LIB="$ROWHOUSE_COMPAT_CACHE/$APACHE_FOLDER/lib"
APACHE_NATIVE="$ROWHOUSE_COMPAT_CACHE/native-hadoop" # libhadoop.so and what it loads, for Hadoop's codecs that are in C
APACHE_DATA="${APACHE_DATA:-$ROWHOUSE_COMPAT_CACHE/apache-hbase/data}" # tables, ZooKeeper, logs, pid file
APACHE_HOST="${APACHE_HOST:-localhost}"         # the name the server advertises in ZooKeeper and hbase:meta
APACHE_BIND="${APACHE_BIND:-127.0.0.1}"         # the address its RPC ports listen on (ZooKeeper always takes 127.0.0.1)
APACHE_ZOOKEEPER_PORT="${APACHE_ZOOKEEPER_PORT:-22181}"
APACHE_MASTER_PORT="${APACHE_MASTER_PORT:-26000}"
APACHE_REGIONSERVER_PORT="${APACHE_REGIONSERVER_PORT:-26020}"
APACHE_MASTER_OPTIONS="${APACHE_MASTER_OPTIONS:-}" # such as --localRegionServers=2, with APACHE_REGIONSERVER_PORT=0
APACHE_HEAP="${APACHE_HEAP:--Xmx1g}"
APACHE_HOSTS_FILE="${APACHE_HOSTS_FILE:-}"      # a hosts file for the server's JVM alone
APACHE_PID="$APACHE_DATA/hbase.pid"

apache_hbase_java() { # JVM arguments, class, arguments
  local here; here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
  LD_LIBRARY_PATH="$APACHE_NATIVE" exec java "${JAVA_17[@]}" -Djava.library.path="$APACHE_NATIVE" -Djava.net.preferIPv4Stack=true -Dlog.level="${LOG_LEVEL:-INFO}" \
    ${APACHE_HOSTS_FILE:+-Djdk.net.hosts.file="$APACHE_HOSTS_FILE"} \
    -Dapache.data="$APACHE_DATA" -Dapache.host="$APACHE_HOST" -Dapache.bind="$APACHE_BIND" \
    -Dapache.zookeeper.port="$APACHE_ZOOKEEPER_PORT" -Dapache.master.port="$APACHE_MASTER_PORT" \
    -Dapache.regionserver.port="$APACHE_REGIONSERVER_PORT" -cp "$here/../$APACHE_FOLDER/conf:$APACHE_LIB/*" "$@"
}

# HBase and Hadoop reach into packages that Java 17 closes.
JAVA_17=(
  -Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true
  --add-modules jdk.unsupported
  --add-opens java.base/java.io=ALL-UNNAMED
  --add-opens java.base/java.nio=ALL-UNNAMED
  --add-opens java.base/sun.nio.ch=ALL-UNNAMED
  --add-opens java.base/java.lang=ALL-UNNAMED
  --add-opens java.base/jdk.internal.ref=ALL-UNNAMED
  --add-opens java.base/java.lang.reflect=ALL-UNNAMED
  --add-opens java.base/java.util=ALL-UNNAMED
  --add-opens java.base/java.util.concurrent=ALL-UNNAMED
  --add-exports java.base/jdk.internal.misc=ALL-UNNAMED
  --add-exports java.security.jgss/sun.security.krb5=ALL-UNNAMED
  --add-opens java.base/jdk.internal.util.random=ALL-UNNAMED
)
