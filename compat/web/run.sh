#!/usr/bin/env bash
# Look at the web pages of a rowhouse binary with headless Chromium:  run.sh BINARY [SCREENSHOTS]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$here/../steps.sh"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="$(realpath "$1")"
screenshots="${2:-$here/screenshots}"
command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; }
work="$(mktemp -d)"
web="127.0.0.1:$(free_port)"
"$binary" serve --data "$work/data" --listen 127.0.0.1:0 --zookeeper 127.0.0.1:0 --web "$web" --region-servers 4 >"$work/log" 2>&1 </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
wait_for_port "$web" "$server" "$work/log"
seq 1 3000 | awk 'BEGIN { print "user,id,subject" } { print ($1 % 3 ? "u" $1 % 97 : "bob") "," $1 ",s" $1 }' >"$work/mail.csv"
(cd "$work" && "$binary" shell --data "$work/data" -e "create 'mail', 'd', {KEY => '[user string][id u32]', COLUMNS => 'd:s subject string'}" \
  && "$binary" import mail mail.csv --data "$work/data" --key '[user string][id u32]' --columns 'd:s subject string') >"$work/import.log"
# Keys that begin alike and are longer than the labels of the map.
seq 1 3000 | awk 'BEGIN { print "path,id,size" } { print "/shop/catalogue/articles/garden/tools/number" $1 % 300 "/picture.png," $1 "," $1 }' >"$work/pages.csv"
(cd "$work" && "$binary" shell --data "$work/data" -e "create 'pages', 'd', {KEY => '[path string][id u32]', COLUMNS => 'd:z size u32'}" \
  && "$binary" import pages pages.csv --data "$work/data" --key '[path string][id u32]' --columns 'd:z size u32') >>"$work/import.log"
python3 "$here/drive.py" "http://$web" mail "$screenshots"
echo "ok web pages; screenshots are in $screenshots"
