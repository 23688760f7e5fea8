#!/usr/bin/env python3
"""Write the tables of docs/claims.md and docs/claims.zh-CN.md from results.tsv:  tables.py [--check]

A table is between `<!-- table N -->` and `<!-- end -->`, N being the number of a claim. --check changes nothing, and
fails if a page has another table. words.zh-CN.tsv has the words of the Chinese page."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"
SERVERS = ["Apache HBase", "rowhouse"]


def rows(name):
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line]


def number(text):
    whole, dot, part = text.partition(".")
    return f"{int(whole):,}" + dot + part


def table(claim, results, word):
    """Cases downwards; across, each measure on each server. A wide range of a CPU time follows it in brackets."""
    values, cases, measures = {}, [], []
    for of, case, server, measure, value in results:
        if of != claim:
            continue
        values[case, measure, server] = value
        if case not in cases:
            cases.append(case)
        if measure not in measures and " of three" not in measure:
            measures.append(measure)

    def cell(case, measure, server):
        value = values.get((case, measure, server))
        if value is None:
            return "–"
        unit = measure.removeprefix("server CPU")
        ends = [values.get((case, f"{end} of three{unit}", server)) for end in ("lowest", "highest")]
        return number(value) + (f" ({number(ends[0])}–{number(ends[1])})" if None not in ends else "")

    columns = [(m, s) for m in measures for s in SERVERS if any((c, m, s) in values for c in cases)]
    head = ["", *(f"{word(measure)}: {server}" for measure, server in columns)]
    body = [[word(case), *(cell(case, m, s) for m, s in columns)] for case in cases]
    lines = ["| " + " | ".join(line) + " |" for line in [head, ["---", *["---:"] * len(columns)], *body]]
    return "\n".join(lines).replace("|  |", "| |")


def page(text, results, word):
    return re.sub(
        r"(<!-- table (\d+) -->\n).*?(<!-- end -->)",
        lambda found: found[1] + table(found[2], results, word) + "\n" + found[3],
        text,
        flags=re.DOTALL,
    )


def main():
    results = rows("results.tsv")
    chinese = dict(rows("words.zh-CN.tsv"))
    differs = False
    for name, word in [("claims.md", str), ("claims.zh-CN.md", chinese.__getitem__)]:
        path = DOCS / name
        before = path.read_text(encoding="utf-8")
        after = page(before, results, word)
        if after != before and "--check" in sys.argv:
            print(f"FAIL {name} differs from results.tsv: run compat/claims/tables.py", file=sys.stderr)
            differs = True
        elif after != before:
            path.write_text(after, encoding="utf-8")
    sys.exit(differs)


if __name__ == "__main__":
    main()
