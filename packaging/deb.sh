#!/usr/bin/env bash
# Writes a Debian package: `deb.sh TREE VERSION ARCHITECTURE OUT`.
set -euo pipefail
tree="$1" version="$2" architecture="$3" out="$4"

root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
doc="$root/usr/share/doc/rowhouse"
install -D -m 755 "$tree/rowhouse" "$root/usr/bin/rowhouse"
install -D -m 644 packaging/rowhouse.service "$root/lib/systemd/system/rowhouse.service"
install -D -m 644 packaging/rowhouse.toml "$root/etc/rowhouse/rowhouse.toml"
install -D -m 644 "$tree/completions/rowhouse.bash" "$root/usr/share/bash-completion/completions/rowhouse"
install -D -m 644 "$tree/completions/_rowhouse" "$root/usr/share/zsh/vendor-completions/_rowhouse"
install -D -m 644 "$tree/completions/rowhouse.fish" "$root/usr/share/fish/vendor_completions.d/rowhouse.fish"
mkdir -p "$doc" "$root/usr/share/man/man1"
for page in "$tree"/man/*.1; do gzip -9nc "$page" >"$root/usr/share/man/man1/$(basename "$page").gz"; done
cp "$tree/README.md" "$tree/rowhouse.cdx.json" "$doc"
cat "$tree/LICENSE" "$tree/LICENCES-OF-DEPENDENCIES.txt" >"$doc/copyright"
gzip -9nc "$tree/CHANGELOG.md" >"$doc/changelog.gz"
find "$root" -type d -exec chmod 755 {} +
find "$doc" "$root/usr/share/man" -type f -exec chmod 644 {} +

mkdir "$root/DEBIAN"
echo /etc/rowhouse/rowhouse.toml >"$root/DEBIAN/conffiles"
install -m 755 packaging/deb/{postinst,prerm,postrm} "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: rowhouse
Version: $version
Architecture: $architecture
Maintainer: The rowhouse authors <authors@rowhouse.invalid>
Installed-Size: $(du -sk --exclude DEBIAN "$root" | cut -f 1)
Depends: adduser
Recommends: ca-certificates
Section: database
Priority: optional
Description: wide-column database for HBase clients
 A wide-column database with the data model and wire protocol of Apache HBase in
 one static program: a server for unmodified HBase clients, a shell, backups and
 checks. Row keys are declared once, as templates, from which encoding, order,
 scan ranges and indexes follow.
CONTROL
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >/dev/null
