"""Packs the wheel of this folder with a program: wheel.py BINARY MACHINE DIRECTORY LICENCES prints the wheel's path.

The program is compiled already, so nothing is built here: a wheel is a zip of the package with three files about it. The
platform tag has the machine, and the newest glibc that the program needs, as auditwheel does.
"""

import base64
import hashlib
import re
import sys
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
# The files of the licences.
LICENCES = ["LICENSE", "LICENCES-OF-DEPENDENCIES.txt"]
# The time of all entries, so that equal contents are equal wheels.
TIME = (1980, 1, 1, 0, 0, 0)


def platform_tag(program, machine):
    """Returns the platforms on which the program runs."""
    needed = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", program)]
    if not needed:
        # Linked statically.
        return f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"
    minor = max(needed)
    old = f".manylinux2014_{machine}" if minor <= 17 else ""
    return f"manylinux_2_{max(minor, 17)}_{machine}{old}"


def metadata(project, tag):
    """Returns the files about the wheel, by name."""
    about = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in LICENCES),
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
        "",
        (HERE / project["readme"]).read_text(),
    ]
    wheel = ["Wheel-Version: 1.0", "Generator: rowhouse", "Root-Is-Purelib: false"]
    wheel += [f"Tag: py3-none-{platform}" for platform in tag.split(".")]
    points = {"console_scripts": project["scripts"], **project["entry-points"]}
    entries = []
    for group, names in points.items():
        entries += [f"[{group}]", *(f"{name} = {target}" for name, target in names.items()), ""]
    return {"METADATA": "\n".join(about), "WHEEL": "\n".join(wheel) + "\n", "entry_points.txt": "\n".join(entries)}


def pack(program, machine, directory, licences):
    """Writes the wheel; returns its path."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    tag = platform_tag(program, machine)
    source = HERE / "src"
    files = {str(path.relative_to(source)): path.read_bytes() for path in sorted(source.rglob("*.py"))}
    files["rowhouse_server/bin/rowhouse"] = program
    about = f"{name}.dist-info"
    files.update({f"{about}/{file}": text.encode() for file, text in metadata(project, tag).items()})
    # Python's packages have them there since Metadata-Version 2.4.
    files.update({f"{about}/licenses/{name}": (licences / name).read_bytes() for name in LICENCES})
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    wheel = Path(directory) / f"{name}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.endswith("/bin/rowhouse") else 0o100644) << 16
            archive.writestr(entry, content)
    return wheel


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise SystemExit("usage: wheel.py BINARY MACHINE DIRECTORY LICENCES")
    print(pack(Path(sys.argv[1]).read_bytes(), sys.argv[2], sys.argv[3], Path(sys.argv[4])))
