#!/usr/bin/env python3
"""Write the tables of README.md from results.tsv:  tables.py [--check]

A table is between `<!-- table N -->` and `<!-- end -->`, N being the number of a claim. --check changes nothing, and
fails if the page has another table, or if docs/claims.md lacks a claim."""
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


def table(claim, results):
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
    head = ["", *(f"{measure}: {server}" for measure, server in columns)]
    body = [[case, *(cell(case, m, s) for m, s in columns)] for case in cases]
    lines = ["| " + " | ".join(line) + " |" for line in [head, ["---", *["---:"] * len(columns)], *body]]
    return "\n".join(lines).replace("|  |", "| |")


def page(text, results):
    return re.sub(
        r"(<!-- table (\d+) -->\n).*?(<!-- end -->)",
        lambda found: found[1] + table(found[2], results) + "\n" + found[3],
        text,
        flags=re.DOTALL,
    )


def claims_without_row(name, text):
    """Claims of README.md that a page has no row for, which begins with a link to the claim."""
    numbers = re.findall(r"^## (\d+)\. ", text, flags=re.MULTILINE)
    rows_of_page = (DOCS / name).read_text(encoding="utf-8")
    return [number for number in numbers if f"[{number}](../compat/claims/README.md#{number}-" not in rows_of_page]


def main():
    path = HERE / "README.md"
    before = path.read_text(encoding="utf-8")
    after = page(before, rows("results.tsv"))
    failures = [
        f"docs/claims.md has no row of claim {number}" for number in claims_without_row("claims.md", before)
    ]
    if after != before and "--check" in sys.argv:
        failures.append("README.md differs from results.tsv: run compat/claims/tables.py")
    elif after != before:
        path.write_text(after, encoding="utf-8")
    for failure in failures:
        print(f"FAIL {failure}", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
