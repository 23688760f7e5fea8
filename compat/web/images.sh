#!/usr/bin/env bash
# Draw the pictures of docs/operation.md with headless Chromium, after some minutes of load:  images.sh BINARY [FOLDER] [MINUTES]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$here/../steps.sh"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="$(realpath "$1")"
images="$(realpath "${2:-$here/../../docs/images}")"
minutes="${3:-10}"
work="$(mktemp -d)"
web="127.0.0.1:$(free_port)"
"$binary" serve --data "$work/mailstore" --listen 127.0.0.1:0 --zookeeper 127.0.0.1:0 --web "$web" --region-servers 3 --slow-call-millis 20 >"$work/log" 2>&1 </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
wait_for_port "$web" "$server" "$work/log"
until "$binary" health "$web" >/dev/null 2>&1; do sleep 0.2; done
cd "$work"
shell() { "$binary" shell --data "$work/mailstore" "$@" >"$work/shell.log" || { cat "$work/shell.log" >&2; exit 1; }; }
put() { "$binary" import "$1" "$1.csv" --data "$work/mailstore" --key "$2" --columns "$3" --duplicates merge >>"$work/import.log"; }
mail='[user string][at millis desc]' mail_columns='d:s sender string; d:u subject string'
metrics='[at millis][host string]' metrics_columns='m:c cpu u32'
orders='[bucket 4 of order][order u64]' orders_columns='o:c customer string'
shell -e "create 'mail', 'd', {KEY => '$mail', COLUMNS => '$mail_columns', INDEXES => 'by_sender [sender][at desc]'}, SPLITS => ['u0250', 'u0500', 'u0750']"
shell -e "create 'metrics', 'm', {KEY => '$metrics', COLUMNS => '$metrics_columns'}"
shell -e "create 'orders', 'o', {KEY => '$orders', COLUMNS => '$orders_columns'}"
end=$((SECONDS + minutes * 60)) order=1
while [ $SECONDS -lt $end ]; do
  now="$(date +%s)" seed=$RANDOM wave=$((SECONDS / 60 % 4))
  # Some users get more mail than others; hosts report each second; orders count up.
  awk -v now="$now" -v seed=$seed -v rows=$((150 + 100 * wave)) 'BEGIN { srand(seed); print "user,at,sender,subject"
    for (n = 0; n < rows; n++) printf "u%04d,%d%03d,s%04d,mail %d\n", 1000 * rand() ^ 2, now, n, 2000 * rand(), n }' >mail.csv
  awk -v now="$now" -v seed=$seed 'BEGIN { srand(seed); print "at,host,cpu"
    for (n = 0; n < 120; n++) printf "%d%03d,host%02d,%d\n", now, n, n % 40, 100 * rand() }' >metrics.csv
  awk -v first=$order -v seed=$seed 'BEGIN { srand(seed); print "order,customer"
    for (n = 0; n < 40; n++) printf "%d,c%03d\n", first + n, 300 * rand() }' >orders.csv
  order=$((order + 40))
  put mail "$mail" "$mail_columns"
  put metrics "$metrics" "$metrics_columns"
  put orders "$orders" "$orders_columns"
  for _ in 1 2 3 4 5 6 7 8; do echo "query 'mail', \"user = 'u$(printf %04d $((RANDOM % 400)))'\", LIMIT => 50"; done >queries
  echo "query 'metrics', \"at >= '$(date -u -d '1 minute ago' +%Y-%m-%dT%H:%M)'\", LIMIT => 500" >>queries
  shell queries
done
python3 "$here/images.py" "http://$web" "$images"
# A few colours are enough for pages, and a third of the size.
if command -v pngquant >/dev/null; then
  for image in overview heat heat-all design; do pngquant --force --ext .png 128 "$images/$image.png"; done
fi
"$binary" heat mail --data "$work/mailstore"
ls -l "$images"/*.png
