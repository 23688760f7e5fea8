#!/usr/bin/env python3
"""Writes a folder as a .tar.gz that depends on nothing but the contents: `archive.py FOLDER NAME OUT`."""

import gzip
import os
import sys
import tarfile


def plain(entry):
    """Removes what differs between machines."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
    return entry


def main(folder, name, out):
    with open(out, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.GNU_FORMAT) as archive:
            # Folders are added in the order of names.
            archive.add(folder, name, filter=plain)


main(*sys.argv[1:])
