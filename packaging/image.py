#!/usr/bin/env python3
"""Writes an OCI image without a daemon: `image.py TREE VERSION OUT`.

The image holds one static program and what it needs: no shell, no other program. `docker load`,
`podman load`, skopeo and crane read it.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import sys
import tarfile
from datetime import datetime, timezone

# The user that images without a system are run as by custom.
USER = 65532
DATA = "var/lib/rowhouse"
# Authorities for `hbase+tls://` without `ca=`: those of Debian's package ca-certificates, not of the
# machine, to which an administrator may have added others.
AUTHORITIES = pathlib.Path("/usr/share/ca-certificates/mozilla")
ROOTS = "/etc/ssl/certs/ca-certificates.crt"
MADE = int(os.environ["SOURCE_DATE_EPOCH"])


def roots():
    """Returns the certificates of the authorities, in PEM."""
    files = sorted(AUTHORITIES.glob("*.crt"))
    if not files:
        sys.exit(f"the image needs the certificates of authorities, of Debian's ca-certificates: {AUTHORITIES}/*.crt")
    return b"".join(file.read_bytes().strip() + b"\n" for file in files)


def layer(tree):
    """Returns the files, as a tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:

        def add(name, content=None, mode=0o644, owner=0):
            entry = tarfile.TarInfo(name)
            entry.mode, entry.mtime, entry.uid, entry.gid = mode, MADE, owner, owner
            if content is None:
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))

        for folder in ["etc", "etc/rowhouse", "etc/ssl", "etc/ssl/certs", "usr", "usr/bin"]:
            add(folder, mode=0o755)
        for folder in ["usr/share", "usr/share/doc", "usr/share/doc/rowhouse", "var", "var/lib"]:
            add(folder, mode=0o755)
        add(DATA, mode=0o700, owner=USER)
        add("tmp", mode=0o1777)
        add("etc/passwd", f"rowhouse:x:{USER}:{USER}::/{DATA}:/nologin\n".encode())
        add("etc/group", f"rowhouse:x:{USER}:\n".encode())
        # Runtimes put their own in its place.
        add("etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n")
        add("etc/rowhouse/rowhouse.toml", pathlib.Path("packaging/image/rowhouse.toml").read_bytes())
        add(ROOTS[1:], roots())
        for file in ["LICENSE", "LICENCES-OF-DEPENDENCIES.txt", "rowhouse.cdx.json"]:
            add(f"usr/share/doc/rowhouse/{file}", (tree / file).read_bytes())
        add("usr/bin/rowhouse", (tree / "rowhouse").read_bytes(), mode=0o755)
    return out.getvalue()


def config(version, layer_digest):
    return {
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()],
        "os": "linux",
        "created": datetime.fromtimestamp(MADE, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin", f"SSL_CERT_FILE={ROOTS}", f"HOME=/{DATA}"],
            # Arguments of `docker run` come after it: --advertise HOST:PORT, and who may connect.
            "Entrypoint": ["/usr/bin/rowhouse", "serve", "--config", "/etc/rowhouse/rowhouse.toml"],
            "Volumes": {f"/{DATA}": {}},
            "WorkingDir": f"/{DATA}",
            "ExposedPorts": {"16020/tcp": {}, "2181/tcp": {}, "16010/tcp": {}},
            "StopSignal": "SIGTERM",
            # OCI's format has no health check; Docker reads its own field here, others ignore it.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/rowhouse", "health", "127.0.0.1:16010"],
                "Interval": 30_000_000_000,
                "Timeout": 10_000_000_000,
                "StartPeriod": 60_000_000_000,
            },
            "Labels": {
                "org.opencontainers.image.title": "rowhouse",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
        "history": [{"created_by": "packaging/image.py"}],
    }


def main(tree, version, out):
    blobs = {}

    def blob(content, media_type):
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    files = layer(pathlib.Path(tree))
    files_digest = f"sha256:{hashlib.sha256(files).hexdigest()}"
    kind = "application/vnd.oci.image"
    packed = blob(gzip.compress(files, 6, mtime=0), f"{kind}.layer.v1.tar+gzip")
    settings = json.dumps(config(version, files_digest), indent=1).encode()
    settings = blob(settings, f"{kind}.config.v1+json")
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{kind}.manifest.v1+json",
        "config": settings,
        "layers": [packed],
    }
    manifest = blob(json.dumps(manifest, indent=1).encode(), manifest["mediaType"])
    manifest["annotations"] = {
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": f"docker.io/library/rowhouse:{version}",
    }
    index = {"schemaVersion": 2, "mediaType": f"{kind}.index.v1+json", "manifests": [manifest]}
    path = lambda described: "blobs/sha256/" + described["digest"].removeprefix("sha256:")
    # What `docker load` reads before version 25.
    docker = [{"Config": path(settings), "RepoTags": [f"rowhouse:{version}"], "Layers": [path(packed)]}]
    contents = {
        "oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode(),
        "index.json": json.dumps(index, indent=1).encode(),
        "manifest.json": json.dumps(docker).encode(),
        **blobs,
    }
    with tarfile.open(out, "w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), MADE
            archive.addfile(entry, io.BytesIO(content))


main(*sys.argv[1:])
