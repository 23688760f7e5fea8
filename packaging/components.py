#!/usr/bin/env python3
"""Lists the crates that the program is made of, by `cargo metadata`:

components.py licences   the texts of their licences
components.py sbom       a software bill of materials, in CycloneDX 1.5
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone

PROGRAM = "rowhouse-cli"
NAMES = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)


def host():
    """Returns the target that the program is built for."""
    version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return re.search(r"^host: (.*)$", version, re.MULTILINE).group(1)


def components():
    """Returns the program's crate, and by id the crates it is made of, each with what it uses."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host()]
    metadata = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    uses = {
        # Without a kind: neither for tests nor for build scripts.
        node["id"]: sorted(d["pkg"] for d in node["deps"] if any(not k["kind"] for k in d["dep_kinds"]))
        for node in metadata["resolve"]["nodes"]
    }
    program = next(package for package in packages.values() if package["name"] == PROGRAM)
    reached = {}
    remaining = [program["id"]]
    while remaining:
        at = remaining.pop()
        if at not in reached:
            reached[at] = uses[at]
            remaining.extend(uses[at])
    order = sorted(reached, key=lambda at: (packages[at]["name"], packages[at]["version"]))
    return program, {at: packages[at] for at in order}, reached


def rust():
    """Returns the version of Rust, whose standard library is part of the program."""
    return subprocess.run(["rustc", "-V"], capture_output=True, text=True, check=True).stdout.split()[1]


def glibc():
    """Returns the version of glibc that is part of a static program; nothing on other systems."""
    if not host().endswith("-linux-gnu"):
        return None
    return subprocess.run(
        ["getconf", "GNU_LIBC_VERSION"], capture_output=True, text=True, check=True
    ).stdout.split()[1]


def libraries():
    """Prints the licences of the libraries that are no crates."""
    print(f"The program contains the standard library of Rust {rust()}, under MIT or Apache-2.0, with the")
    print("copyright of the Rust Project's contributors: https://github.com/rust-lang/rust")
    if glibc():
        print(f"It contains the GNU C Library {glibc()}, under the GNU Lesser General Public License 2.1 or later,")
        print("whose text follows. Its source is at https://ftp.gnu.org/gnu/glibc/; with the source of this program,")
        print("`packaging/build.sh` links the program with a changed one.")
        text = pathlib.Path("/usr/share/common-licenses/LGPL-2.1")
        if not text.exists():
            sys.exit(f"the text of glibc's licence is not on this machine: {text}")
        print("-" * 100)
        print(text.read_text().strip())


def licences():
    """Prints each text once, below the crates that have it."""
    libraries()
    _, packages, _ = components()
    print("\n" + "=" * 100)
    texts, without = {}, []
    for package in packages.values():
        if not package["source"]:
            continue
        title = f"{package['name']} {package['version']} ({package['license']})"
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted(file for file in folder.iterdir() if NAMES.match(file.name) and file.is_file())
        for file in files:
            text = file.read_text(errors="replace").strip()
            texts.setdefault(text, []).append(title)
        if not files:
            authors = ", ".join(package["authors"]) or "its authors"
            without.append(f"{title}, by {authors}")
    print("The program contains crates, whose licences follow, each below the crates that it is of.")
    for text, titles in texts.items():
        print("\n" + "=" * 100)
        print("\n".join(titles))
        print("-" * 100)
        print(text)
    print("\n" + "=" * 100)
    print("These crates name a licence whose text they do not carry; the texts above are the same licences:")
    print("\n".join(without))


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def sbom():
    """Prints the components, their licences and checksums, and what each uses."""
    program, packages, reached = components()
    lock = pathlib.Path("Cargo.lock").read_text()
    entry = r'name = "(\S+)"\nversion = "(\S+)"\nsource = .*\nchecksum = "(\S+)"'
    sums = {(name, version): checksum for name, version, checksum in re.findall(entry, lock)}

    def component(package, kind):
        described = {
            "type": kind,
            "bom-ref": purl(package),
            "name": package["name"],
            "version": package["version"],
            "purl": purl(package),
            "licenses": [{"expression": package["license"].replace("/", " OR ")}],
        }
        checksum = sums.get((package["name"], package["version"]))
        if checksum:
            described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return described

    made = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    rest = [package for at, package in packages.items() if at != program["id"]]
    others = [("rust-std", rust(), "MIT OR Apache-2.0")]
    others += [("glibc", glibc(), "LGPL-2.1-or-later")] if glibc() else []
    others = [
        {
            "type": "library",
            "bom-ref": f"pkg:generic/{name}@{number}",
            "name": name,
            "version": number,
            "purl": f"pkg:generic/{name}@{number}",
            "licenses": [{"expression": licence}],
        }
        for name, number, licence in others
    ]
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, purl(program) + lock)}",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(program, "application"),
        },
        "components": [component(package, "library") for package in rest] + others,
        "dependencies": [
            {"ref": purl(packages[at]), "dependsOn": [purl(packages[used]) for used in reached[at]]}
            for at in packages
        ],
    }
    print(json.dumps(bom, indent=1))


{"licences": licences, "sbom": sbom}[sys.argv[1]]()
