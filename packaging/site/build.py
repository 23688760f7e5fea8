#!/usr/bin/env python3
"""Build the pages as a site with search:  build.py [OUT]

Writes OUT (target/site by default), by mdbook, which is installed into target/tools if it is not there. The pages of
docs/, the README and pages that they link to are copied to target/site-pages; other files that they link to become texts
of the site. Then each link and anchor of the site is checked."""
import html.parser
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "target/site-pages"
MDBOOK_VERSION = "0.5.4"
# The contents: pages by the ends of their names, in this order. Pages without a group are at the end.
GROUPS = {
    "Design": "designing-a-key templates from-tables-to-rows indexes search",
    "HBase": "hbase compatibility moving articles claims",
    "Operation": "operation security shell region-servers changes",
    "Programs": "python in-tests",
    "Inside": "ARCHITECTURE how-it-is-tested PERFORMANCE GLOSSARY CONTRIBUTING CHANGELOG",
}
FOLDERS = {"Formats": "docs/formats/", "Decisions": "docs/decisions/"}
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`|<!--.*?-->)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(\]\()([^)\s]+)(\))|(<(?:img|a)\b[^>]*?\b(?:src|href)=\")([^\"]+)(\")")


def mdbook():
    program = ROOT / "target/tools/bin/mdbook"
    if not program.exists():
        command = ["cargo", "install", "mdbook", "--locked", "--version", MDBOOK_VERSION, "--root", str(ROOT / "target/tools")]
        subprocess.run(command, check=True)
    return program


class Pages:
    """Copies pages, and the pages and files that they link to."""

    def __init__(self):
        self.titles = {}
        self.waiting = []

    def add(self, path):
        if path not in self.titles:
            text = (ROOT / path).read_text(encoding="utf-8")
            heading = re.search(r"^# (.*)", text, re.MULTILINE)
            self.titles[path] = re.sub(r"[`\[\]]", "", heading[1] if heading else path)
            self.waiting.append((path, text))

    def copy(self):
        while self.waiting:
            path, text = self.waiting.pop()
            parts = CODE.split(text)
            parts[::2] = [LINK.sub(lambda link: self.rewritten(path, link), part) for part in parts[::2]]
            write(path, "".join(parts))

    def rewritten(self, page, link):
        before, address, after = link.groups()[:3] if link[1] else link.groups()[3:]
        return before + self.target(page, address) + after

    def target(self, page, address):
        """The address in the site. A folder is a page that lists it, and a file that is neither a page nor a picture a text."""
        path, hash_, anchor = address.partition("#")
        if not path or re.match(r"[a-z]+:", address):
            return address
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), urllib.parse.unquote(path)))
        source = ROOT / path
        if source.is_dir():
            self.list_folder(path)
            path = f"{path}/index.md"
        elif source.suffix == ".md":
            self.add(path)
        elif source.suffix in (".png", ".svg"):
            write(path, source.read_bytes())
        elif source.is_file():
            path += ".txt"
            write(path, source.read_bytes())
        return posixpath.relpath(path, posixpath.dirname(page) or ".") + hash_ + anchor

    def list_folder(self, folder):
        page = f"{folder}/index.md"
        if page not in self.titles:
            self.titles[page] = folder
            files = sorted(path.name for path in (ROOT / folder).iterdir() if path.is_file())
            lines = [f"- [{self.title(f'{folder}/{file}')}]({self.target(page, file)})" for file in files]
            write(page, f"# {folder}\n\n" + "\n".join(lines) + "\n")

    def title(self, path):
        if path.endswith(".md"):
            self.add(path)
        return self.titles.get(path, posixpath.basename(path))

    def summary(self):
        left = dict(sorted(self.titles.items()))
        lines = ["# Summary", "", line(left.pop("README.md"), "README.md"), ""]
        for group, names in GROUPS.items():
            found = [f"{folder}{name}.md" for name in names.split() for folder in ("docs/", "")]
            lines += section(group, {path: left.pop(path) for path in found if path in left})
        for group, folder in FOLDERS.items():
            lines += section(group, {path: left.pop(path) for path in list(left) if path.startswith(folder)})
        lines += section("中文", {path: left.pop(path) for path in list(left) if path.endswith(".zh-CN.md")})
        write("SUMMARY.md", "\n".join(lines + section("More", left)))


def line(title, path):
    return f"- [{title}]({path})"


def section(group, pages):
    return [f"# {group}", "", *(line(title, path) for path, title in pages.items()), ""] if pages else []


def write(path, content):
    to = WORK / "pages" / path
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(content if isinstance(content, bytes) else content.encode())


class Anchors(html.parser.HTMLParser):
    """The links and anchors of a page of the site."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        self.links += [values[name] for name in ("href", "src") if values.get(name)]


def broken_links(site):
    pages = {path: Anchors(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for address in page.links:
            if re.match(r"[a-z]+:", address):
                continue
            name, _, anchor = address.partition("#")
            to = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(name))) if name else path
            if not to.is_file() or anchor and to in pages and urllib.parse.unquote(anchor) not in pages[to].anchors:
                yield f"{path.relative_to(site)}: {address}"


def main():
    site = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/site").resolve()
    program = mdbook()
    shutil.rmtree(WORK, ignore_errors=True)
    pages = Pages()
    for path in sorted(ROOT.glob("docs/**/*.md")) + sorted(ROOT.glob("*.md")):
        pages.add(path.relative_to(ROOT).as_posix())
    pages.copy()
    pages.summary()
    shutil.copy(HERE / "book.toml", WORK)
    subprocess.run([program, "build", "--dest-dir", str(site), str(WORK)], check=True)
    broken = sorted(broken_links(site))
    for link in broken:
        print(f"FAIL broken link in {link}", file=sys.stderr)
    print(f"{len(pages.titles)} pages in {site}")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
