#!/usr/bin/env bash
# Starts what is in the packages: `packaging/check.sh DIR` unpacks each into a bare directory, serves
# from it without any environment, writes and reads a row, and stops it.
set -euo pipefail
cd "$1"
bare="$(mktemp -d)"
server=
trap '[ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true; rm -rf "$bare"' EXIT

fail() { echo "$*" >&2; exit 1; }

# Serves by the command given, and puts, gets and checks by the programs at hand.
served() {
  local what="$1" shell="$2" data="$3"
  shift 3
  # Before the program begins: what the last one printed is not to be read.
  : >"$bare/screen"
  env -i "$@" >"$bare/screen" 2>"$bare/errors" &
  server=$!
  local began="$SECONDS"
  until grep -q "Ctrl-C stops" "$bare/screen"; do
    [ $((SECONDS - began)) -lt 60 ] || fail "$what does not serve: $(cat "$bare/screen" "$bare/errors")"
    kill -0 "$server" 2>/dev/null || fail "$what does not start: $(cat "$bare/screen" "$bare/errors")"
    sleep 0.1
  done
  local address web got
  address="$(sed -n 's/.*hbase.masters=//p' "$bare/screen")"
  web="$(sed -n 's|.*web    http://\(.*\)/|\1|p' "$bare/screen")"
  # A name, so that a static program looks one up.
  got="$($shell shell --connect "hbase://localhost:${address##*:}" -e "create 't', 'f'" \
    -e "put 't', 'r', 'f:q', 'a value'" -e "get 't', 'r'")" || fail "$what: $got"
  grep -q "value=a value" <<<"$got" || fail "$what returns another row: $got"
  $shell health "$web" >/dev/null || fail "$what is not healthy"
  kill "$server"
  wait "$server" || fail "$what does not stop: $(cat "$bare/errors")"
  server=
  $shell check "$data" >"$bare/check" || fail "$what leaves a database that is not whole: $(cat "$bare/check")"
  echo "$what: serves, stores and stops"
}

ports=(--listen 127.0.0.1:0 --zookeeper 127.0.0.1:0 --web 127.0.0.1:0)

if command -v sha256sum >/dev/null; then sha256sum --quiet -c SHA256SUMS; else shasum -a 256 -c SHA256SUMS; fi

archive="$(ls rowhouse-*.tar.gz)"
mkdir "$bare/archive"
tar -xzf "$archive" -C "$bare/archive" --strip-components 1
for file in README.md LICENSE LICENCES-OF-DEPENDENCIES.txt rowhouse.cdx.json man/rowhouse.1 \
  man/rowhouse-serve.1 completions/rowhouse.bash completions/_rowhouse completions/rowhouse.fish; do
  [ -s "$bare/archive/$file" ] || fail "the archive has no $file"
done
bash -n "$bare/archive/completions/rowhouse.bash"
program="$bare/archive/rowhouse"
served "$archive" "env -i $program" "$bare/archive-data" \
  "$program" serve --data "$bare/archive-data" "${ports[@]}"

for package in rowhouse_*.deb; do
  [ -e "$package" ] || continue
  root="$bare/deb"
  dpkg-deb -x "$package" "$root"
  dpkg-deb -e "$package" "$root/DEBIAN"
  for script in postinst prerm postrm; do sh -n "$root/DEBIAN/$script"; done
  [ "$(dpkg-deb -c "$package" | awk '{ print $2 }' | sort -u)" = root/root ] || fail "$package: files are not of root"
  unit="$root/lib/systemd/system/rowhouse.service"
  # The command of the unit, with its paths below the folder.
  read -r -a start <<<"$(sed -n 's/^ExecStart=//p' "$unit" | sed "s| /| $root/|g; s|^/|$root/|")"
  served "$package" "env -i $root/usr/bin/rowhouse" "$bare/deb-data" \
    "${start[@]}" --data "$bare/deb-data" "${ports[@]}"
  if command -v systemd-analyze >/dev/null; then
    # The units of this machine are known to it, and the program has to be there.
    sed "s|^ExecStart=|&$root|" "$unit" >"$bare/rowhouse.service"
    systemd-analyze verify --man=no "$bare/rowhouse.service" || fail "$package: the unit is not valid"
  fi
done

for image in rowhouse-*-image.tar; do
  [ -e "$image" ] || continue
  root="$bare/image"
  mkdir "$root" "$bare/layout"
  tar -xf "$image" -C "$bare/layout"
  # As a runtime: the blobs by their digests, the files of the layers, the entry point.
  entry="$(python3 - "$bare/layout" "$root" <<'PYTHON'
import hashlib, json, pathlib, subprocess, sys

layout, root = map(pathlib.Path, sys.argv[1:])

def blob(described):
    kind, digest = described["digest"].split(":")
    path = layout / "blobs" / kind / digest
    content = path.read_bytes()
    assert hashlib.sha256(content).hexdigest() == digest and len(content) == described["size"]
    return path, content

assert json.loads((layout / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
index = json.loads((layout / "index.json").read_text())
manifest = json.loads(blob(index["manifests"][0])[1])
config = json.loads(blob(manifest["config"])[1])
import gzip
for described, diff_id in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
    path, content = blob(described)
    assert "sha256:" + hashlib.sha256(gzip.decompress(content)).hexdigest() == diff_id
    subprocess.run(["tar", "-xzpf", path, "-C", root], check=True)
settings = config["config"]
assert settings["User"] != "0:0" and settings["Volumes"] and settings["ExposedPorts"]
print(settings["User"], *settings["Entrypoint"])
PYTHON
)"
  read -r user start <<<"$entry"
  read -r -a start <<<"$start"
  # A runtime adds /dev, from which a static program takes random numbers.
  mkdir "$root/dev"
  if [ "$(id -u)" = 0 ]; then
    mknod -m 444 "$root/dev/random" c 1 8
    mknod -m 444 "$root/dev/urandom" c 1 9
    enter=("$(command -v chroot)" "--userspec=$user" "$root")
  else
    enter=("$(command -v unshare)" --user --map-root-user --mount "$(command -v sh)" -c
      'mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' "$root")
  fi
  {
    echo '#!/usr/bin/env bash'
    printf '%q ' exec env -i "${enter[@]}" /usr/bin/rowhouse
    echo '"$@"'
  } >"$bare/inside"
  chmod +x "$bare/inside"
  refused="$(timeout 30 "${enter[@]}" "${start[@]}" 2>&1)" && fail "$image starts for everybody: $refused"
  grep -q -- --advertise <<<"$refused" || fail "$image refuses for another reason: $refused"
  served "$image" "$bare/inside" /var/lib/rowhouse \
    "${enter[@]}" "${start[@]}" "${ports[@]}"
  # The announced port must be known; another process could take it meanwhile.
  port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')"
  served "$image, on all addresses" "$bare/inside" /var/lib/rowhouse/other \
    "${enter[@]}" "${start[@]}" --data /var/lib/rowhouse/other --listen "0.0.0.0:$port" --zookeeper 127.0.0.1:0 \
    --web 127.0.0.1:0 --advertise "localhost:$port" --allow-unauthenticated
done

# The kits have the program of the archive, and licences.
for wheel in rowhouse_server-*.whl; do
  [ -e "$wheel" ] || continue
  python3 - "$bare/archive/rowhouse" <<'PYTHON'
import gzip, hashlib, io, pathlib, platform, re, sys, tarfile, zipfile

program = hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes()).hexdigest()
machine = platform.machine()
go = {"x86_64": "amd64", "aarch64": "arm64"}[machine]
java = machine.replace("aarch64", "aarch_64")

def one(pattern):
    (path,) = pathlib.Path(".").glob(pattern)
    return path

def check(kit, archive, path, content=lambda packed: packed):
    packed = content(archive.read(path))
    assert hashlib.sha256(packed).hexdigest() == program, f"{kit} has another program"
    assert any(re.search("LICENCES-OF-DEPENDENCIES", name) for name in archive.namelist()), kit

wheel = one(f"rowhouse_server-*_{machine}.whl")
check(wheel, zipfile.ZipFile(wheel), "rowhouse_server/bin/rowhouse")
jar = one(f"rowhouse-test-*-linux-{java}.jar")
check(jar, zipfile.ZipFile(jar), f"io/rowhouse/binary/linux-{java}/rowhouse")
proxy = tarfile.open(one("rowhousetest-*-go-proxy.tar.gz"))
(name,) = [name for name in proxy.getnames() if name.endswith(".zip")]
module = zipfile.ZipFile(io.BytesIO(proxy.extractfile(name).read()))
(path,) = [path for path in module.namelist() if path.endswith(f"rowhouse_linux_{go}.gz")]
check(name, module, path, gzip.decompress)
crates = {re.sub(r"-\d.*", "", path.name) for path in pathlib.Path(".").glob("*.crate")}
assert {"rowhouse", "rowhouse-client", "rowhouse-server", "rowhouse-cli"} <= crates, crates
print(f"{wheel}, {jar}, {name}: the program of the archive; {len(crates)} crates")
PYTHON
  break
done
