#!/usr/bin/env bash
# Records the names that HBase's own jars declare:  names.sh >names.tsv
# RELEASE, KIND and the names: the calls of each service, and the methods of Admin and Table, in client releases; the
# filters and comparators of 2.6.4; the groups of commands of the shell. Needs a JDK and Maven.
set -euo pipefail
home="$(mktemp -d)"
trap 'rm -rf "$home"' EXIT

jar_of() { # ARTIFACT VERSION
  mvn -q -B dependency:copy -Dartifact="org.apache.hbase:$1:$2" -DoutputDirectory="$home/$2" >&2
  echo "$home/$2/$1-$2.jar"
}

line() { # RELEASE KIND, names on standard input
  printf '%s\t%s\t%s\n' "$1" "$2" "$(sort -u | tr '\n' ' ' | sed 's/ $//')"
}

methods() { # JAR CLASS
  javap -cp "$1" "$2" | grep -oE '[a-zA-Z]+\(' | tr -d '('
}

echo "# By names.sh: RELEASE, KIND, names."
for release in 1.1.5 1.7.2 2.2.7 2.4.18 2.6.4 3.0.0-beta-1; do
  case "$release" in
    1.*) artifact=hbase-protocol package=org.apache.hadoop.hbase.protobuf.generated ;;
    *) artifact=hbase-protocol-shaded package=org.apache.hadoop.hbase.shaded.protobuf.generated ;;
  esac
  protocol="$(jar_of "$artifact" "$release")" client="$(jar_of hbase-client "$release")"
  unzip -l "$protocol" | grep -oE '(Master|Admin|Client|Registry)Protos\$(Client|Admin|ClientMeta|Master|Hbck)Service\$BlockingInterface' | sort -u |
    while read -r class; do methods "$protocol" "$package.$class" | line "$release" "$(echo "$class" | cut -d'$' -f2)"; done
  for class in Admin Table; do methods "$client" "org.apache.hadoop.hbase.client.$class" | line "$release" "$class"; done
done
client="$home/2.6.4/hbase-client-2.6.4.jar"
unzip -l "$client" | grep -oE 'filter/[A-Za-z]*(Filter|FilterList|Comparator)\.class' | sed 's#.*/##; s#\.class##' | grep -vE '^(Compare|Hinting|Parse)?Filter$' | line 2.6.4 filter
shell="$(jar_of hbase-shell 2.4.17)"
unzip -p "$shell" shell.rb | awk -v release=2.4.17 '
  /^Shell.load_command_group/ { getline; gsub(/[ \x27,]/, ""); group = $0; names = "" }
  /commands: %w\[/ { inside = 1; next }
  inside && /\]/ { inside = 0; printf "%s\tshell %s\t%s\n", release, group, substr(names, 2) }
  inside { names = names " " $1 }'
