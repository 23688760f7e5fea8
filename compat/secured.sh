# Sourced by tls.sh and users.sh, after steps.sh: a server with certificates or users, and what its clients need. The
# sourcing script sets $bootstrap and $zookeeper (HOST:PORT each).

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

compile_for() { # RELEASE of HBase's client: Blog and Users
  mkdir -p "$work/classes/$1"
  javac -proc:none -nowarn -d "$work/classes/$1" -cp "$(client_jars "$1")" -sourcepath "$here/java/src/main/java" \
    "$here"/java/src/main/java/{Blog,Users}.java 2>"$work/javac.log" || { cat "$work/javac.log" >&2; exit 1; }
}

with_client() { # RELEASE PROGRAM ARGS, after compile_for; JAVA_OPTIONS adds JVM flags
  local release="$1"
  shift
  timeout 120 java -Xmx512m -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true --add-opens java.base/java.nio=ALL-UNNAMED \
    --add-opens java.base/java.lang=ALL-UNNAMED ${JAVA_OPTIONS:-} -cp "$work/classes/$release:$(client_jars "$release")" "$@" \
    2> >(grep -v '^log4j:WARN' >&2)
}
