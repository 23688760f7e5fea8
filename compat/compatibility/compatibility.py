#!/usr/bin/env python3
"""Write docs/compatibility.md, and the figures of docs/how-it-is-tested.md:  compatibility.py [--check]

calls.tsv and java.tsv say what each call of HBase does here, and which test holds it; page.txt has the text. The rest is
read from the sources: the server's tables of calls, HBase's names (names.tsv), recorded answers. A call without a row, a
row without a call, and a test that is not there are errors. --check changes nothing, and fails if a page differs."""
import gzip
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SERVER, FORMAT = "crates/rowhouse-server/", "crates/rowhouse-format/"
SHELL = "crates/rowhouse-cli/src/shell/"
# Where the tests are that a row names as FILE#NAME.
FOLDERS = {
    "all/": SERVER + "tests/all/",
    "bad_input/": SERVER + "tests/bad_input/",
    "scanners/": SERVER + "tests/scanners/",
    "conversations/": SERVER + "tests/conversations/",
    "format/": FORMAT,
    "cli/": "crates/rowhouse-cli/",
    "java/": "compat/java/src/main/java/",
    "clients/": "compat/clients/",
    "hbase": "compat/hbase-tests/classes.txt",
    "compat/": "compat/",
}
STATES = {"served": "served", "absent": "as without", "refused": "refused", "client": "in the client"}
RELEASES = ["1.1.5", "1.7.2", "2.2.7", "2.4.18", "2.6.4", "3.0.0-beta-1"]
# The tests in the archive of happybase 1.3.0, which compat/happybase.sh downloads, and its forms of connections.
HAPPYBASE_TESTS, HAPPYBASE_FORMS = 27, 4
JAVA_CHECKS = r"checks[.](?:equal|refused)[(]"
failures = []


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def rows(name, columns):
    lines = [line for line in read(HERE / name).splitlines() if line and not line.startswith("#")]
    return [(line.split("\t") + [""] * columns)[:columns] for line in lines]


def count(pattern, *globs):
    return sum(len(re.findall(pattern, read(path), re.MULTILINE)) for glob in globs for path in ROOT.glob(glob))


def lines(path):
    return [line for line in read(path).splitlines() if line and not line.startswith("#")]


def link(test, text=None):
    """A link to the test FILE#NAME, whose file must contain the name."""
    file, _, name = test.partition("#")
    prefix = next(prefix for prefix in FOLDERS if file.startswith(prefix))
    path = FOLDERS[prefix] + file.removeprefix(prefix)
    pattern = {".rs": r"fn {}\(", ".java": r"\b{}\("}.get(pathlib.Path(path).suffix, r"(?m)(?<![\w.]){}(?![\w.])")
    if not (ROOT / path).is_file() or not re.search(pattern.format(re.escape(name)), read(path)):
        failures.append(f"no test {name} in {path}")
    short = f"{pathlib.Path(path).stem}.{name}" if path.endswith(".java") else re.sub(r"^(client|tool|namequeues)[.]", "", name)
    return f"[{text or short}](../{path})"


def table(head, body):
    body = [["---" if not cell.startswith(">") else "---:" for cell in head], *body]
    head = [cell.removeprefix(">") for cell in head]
    return re.sub(r"\|  (?=\|)", "| ", "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [head, *body]))


def sections(body):
    """A list for each interface: the state of some methods, their names and tests."""
    groups = {title: [line[1:] for line in body if line[0] == title] for title, *_ in body}
    items = lambda group: "\n".join(f"- **{state}** {methods} ({tests})" for methods, state, tests in group)
    return "\n\n".join(f"### {title}\n\n{items(group)}" for title, group in groups.items())


def state_of(state, remark):
    return ": ".join(filter(None, [STATES[state], remark]))


def names_in(names):
    return ", ".join(f"`{name}`" for name in names)


def declared():
    """HBase's names: {(release, kind): names}."""
    return {(release, kind): names.split() for release, kind, names in rows("names.tsv", 3)}


def server_calls():
    """{service: {name: method}} of the server's table of calls."""
    calls, service = {}, None
    for found in re.finditer(r'^    \w+ "(\w+)" \{|^        (\w+) "(\w+)"', read(FORMAT + "src/rpc/call.rs").split("\ncalls! {")[1], re.M):
        service = found[1] or service
        calls.setdefault(service, {})
        if found[3]:
            calls[service][found[3]] = found[2]
    return calls


def dispatched():
    """{method: (state or None, reason)}: what dispatch.rs alone answers."""
    arms = {}
    route = read(SERVER + "src/dispatch.rs").split("fn route(")[1]
    for left, right in re.findall(r"((?:Method::\w+\s*\|?\s*)+)=>\s*(.*?)(?=\n\s*(?:Method::|//|\}\n\}))", route, re.S):
        refused = re.search(r'call\.refused\("(.*?)"\)', right)
        absent = re.search(r"\bnot_configured\(|\bempty\(", right)
        for method in re.findall(r"Method::(\w+)", left):
            arms[method] = ("refused", refused[1]) if refused else ("absent" if absent else None, "")
    return arms


def recorded_calls():
    """Names of calls in the conversations that Apache HBase was recorded with."""
    command = [sys.executable, ROOT / "compat/record/show.py", "--calls", *ROOT.glob(FORMAT + "tests/conversations/*/*.conv")]
    return set(re.findall(r"(\w+Service[.]\w+)", subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))


def rpc(calls):
    """The refused calls of calls.tsv with their reasons, and the counts of states."""
    arms, left, refused, counts = dispatched(), {s: set(names) for s, names in calls.items()}, [], dict.fromkeys(STATES, 0)
    for service, names, state, remark, tests in rows("calls.tsv", 5):
        reasons = []
        for name in names.split():
            if name not in left.get(service, ()):
                failures.append(f"calls.tsv: {service}.{name} is no call of the server, or is there twice")
                continue
            left[service].remove(name)
            fixed, reason = arms[calls[service][name]]
            if fixed != state and "refused" in (fixed, state) or fixed == "absent" != state:
                failures.append(f"calls.tsv: {service}.{name} is {state}, in dispatch.rs {fixed}")
            reasons += [reason] if reason and reason not in reasons else []
        counts[state] += len(names.split())
        for test in tests.split():
            link(test)
        if state == "refused":
            refused.append(f"{service}'s {names_in(names.split())} ({remark or '; '.join(reasons)})")
    failures.extend(f"calls.tsv lacks {service}.{name}" for service, names in left.items() for name in names)
    return "; ".join(refused), counts


def java(names):
    left = {kind: {name for release in RELEASES for name in names[release, kind]} for kind in ("Admin", "Table")}
    body, counts = [], dict.fromkeys(STATES, 0)
    for kind, methods, state, remark, tests in rows("java.tsv", 5):
        for name in methods.split():
            if name not in left[kind]:
                failures.append(f"java.tsv: {kind}.{name} is no method of HBase, or is there twice")
            left[kind] -= {name, name + "Async"}
        counts[state] += len(methods.split())
        body.append([kind, names_in(methods.split()), state_of(state, remark), " ".join(map(link, tests.split()))])
    failures.extend(f"java.tsv lacks {kind}.{name}" for kind, missing in left.items() for name in sorted(missing))
    return sections(body), counts


def shell(names):
    ours = set(re.findall(r'"(\w+)"', " ".join(" ".join(re.findall(r"\bnames: &\[([^\]]*)\]", read(path))) for path in ROOT.glob(SHELL + "commands/*.rs"))))
    absent_text = read(SHELL + "foreign.rs").split("const ABSENT")[1].split("#[cfg(test)]")[0]
    absent = {name for text in re.findall(r'\(\s*"([^"]*)",', absent_text) for name in text.split()}
    compared = {re.split(r"\W", line)[0] for line in lines("compat/shell/commands.txt")}
    groups = {kind.removeprefix("shell "): found for (_, kind), found in names.items() if kind.startswith("shell")}
    known = {name for found in groups.values() for name in found}
    groups["of 2.5 and 2.6"] = sorted(absent - known)
    body = []
    for group, found in groups.items():
        failures.extend(f"the shell has no answer to HBase's command {name}" for name in set(found) - ours - absent)
        star = lambda which: ", ".join(f"`{name}`" + "\\*" * (name in compared) for name in found if name in which)
        body.append([group, star(ours), star(absent)])
    counts = list(map(len, [known & ours, known - ours, known & compared]))
    return table(["group", "also in `rowhouse shell`", "refused there by name"], body), counts


def filters(names):
    source = read(FORMAT + "src/convert/filter/from.rs") + read(FORMAT + "src/convert/comparator.rs")
    ours = set(re.findall(r'Some\("(\w+)"\)', source)) - {"FilterWrapper", "JAVA", "JONI"}
    failures.extend(f"the filter {name} is known on one side alone" for name in ours ^ set(names["2.6.4", "filter"]))
    golden = [line for line in lines(FORMAT + "tests/golden/filter-answers.txt") if line.startswith("filter ")]
    counts = {}
    for name in sorted(ours):
        inside = f"filter.{name}".encode().hex()
        counts[name] = sum(line.split()[1] == name or inside in line for line in golden)
        if not counts[name]:
            failures.append(f"no recorded answer of the filter {name}")
    show = lambda end: names_in(name for name in counts if name.endswith("Comparator") == end)
    return table(["", "classes"], [["filters", show(False)], ["comparators", show(True)]]), len(golden), min(counts.values())


def thrift():
    methods = re.findall(r'^    \w+ "(\w+)":', read(FORMAT + "src/thrift/method.rs"), re.M)
    recorded = re.findall(r"^([a-zA-Z]\w*) \{", read(SERVER + "tests/all/thrift/calls.txt"), re.M)
    failures.extend(f"no recorded call of Thrift's {method}" for method in methods if method not in recorded)
    return len(methods), len(recorded)


def left_out():
    methods = [line.split()[0] for line in lines(FORMAT + "tests/services.txt")]
    found = re.findall(r'\("(\w+)", "(.*?)"\)', read(FORMAT + "tests/services.rs"))
    return names_in(name for name, _ in found if name in methods)


def clients(names, calls):
    """A row for each client: its calls and methods, and counts of what it ran."""
    known = {(service, name.lower()) for service, found in calls.items() for name in found}
    body, unknown = [], {}
    for release in RELEASES:
        wire = [(kind, name) for (of, kind), found in names.items() if of == release and kind.endswith("Service") for name in found]
        unknown[release] = [name for kind, name in wire if (kind, name.lower()) not in known]
        steps = len(lines(f"compat/clients/answers-{min(release[0], '2')}.txt"))
        ran, test = f"{steps} steps", f"clients/run.sh#{release}"
        if release == "2.6.4":
            ran, test = f"{count(JAVA_CHECKS, 'compat/java/src/main/java/*.java')} checks", "compat/steps.sh#Basics"
        body.append([f"Java {release}", len(wire), len(wire) - len(unknown[release]), len(names[release, "Admin"]), link(test, ran)])
    faults = read("compat/faults/asynchbase.txt")
    outcomes, classes = faults.count(";") + faults.count("\n"), count(r"^rest[.]", "compat/hbase-tests/classes.txt")
    others = f"asynchbase 1.8.2: {outcomes} outcomes under {len(faults.splitlines())} faults ({link('compat/faults/run.sh#asynchbase', 'script')}). "
    others += f"happybase 1.3.0: {HAPPYBASE_TESTS} tests of its own in {HAPPYBASE_FORMS} forms ({link('compat/happybase.sh#happybase', 'script')}). "
    others += f"HBase's REST client: {classes} classes of HBase's tests ({link('compat/rest.sh#REST', 'script')})."
    return table(["client", ">calls it declares", ">known here", ">methods of Admin", "ran"], body), others, unknown


def over(number, step=10):
    return f"over {(number - 1) // step * step:,}"


def figures(rest_calls, thrift_calls, filter_calls):
    """Figures that change with most commits are rounded down."""
    tests, properties = r"^\s*#\[(?:tokio::)?test\]", r"^\s*proptest! \{"
    histories = gzip.decompress((ROOT / "compat/histories/apache-2.6.4.txt.gz").read_bytes()).decode().splitlines()
    answers = sum(line.startswith("= ") for line in histories)
    seeds = len([path for path in (ROOT / "fuzz/seeds").rglob("*") if path.is_file()])
    results = lines("compat/claims/results.tsv")
    counts = [
        f"{over(count(tests, 'crates/**/*.rs'), 100)} tests in Rust",
        f"{over(count(properties, 'crates/**/*.rs'))} blocks of property tests",
        f"{over(count(tests, 'crates/rowhouse-store/src/crash_tests/**/*.rs'))} tests on the simulated disk",
        f"{len(list((ROOT / 'fuzz/fuzz_targets').glob('*.rs')))} fuzz targets with {over(seeds)} seeds",
        f"{sum(line.startswith('history ') for line in histories)} histories on Apache HBase with {answers:,} answers",
        f"{filter_calls:,} recorded filters",
        f"{rest_calls} recorded calls of REST and {thrift_calls} of Thrift",
        f"{over(count(JAVA_CHECKS, 'compat/java/src/main/java/*.java'))} checks in Java",
        f"{len(lines('compat/hbase-tests/classes.txt'))} classes of HBase's tests",
        f"{count('^## [0-9]+[.] ', 'compat/claims/README.md')} claims with {over(len(results))} measured numbers",
    ]
    return "\n".join(f"- {it}" for it in counts)


def pages():
    names, calls = declared(), server_calls()
    text = read(HERE / "page.txt")
    parts = {}
    parts["refused calls"], states = rpc(calls)
    parts["calls recorded"] = len(recorded_calls() & {f"{service}.{name}" for service, names_ in calls.items() for name in names_})
    parts["java"], methods = java(names)
    parts["shell"], (ours, refused, compared) = shell(names)
    parts["filters"], parts["filter count"], parts["filter least"] = filters(names)
    parts["rest count"] = len(lines("compat/rest/recorded.jsonl"))
    parts["thrift methods"], parts["thrift count"] = thrift()
    parts["left out"] = left_out()
    parts["clients"], parts["other clients"], unknown = clients(names, calls)
    parts["unknown 1"], parts["unknown 3"] = names_in(unknown["1.7.2"]), len(unknown["3.0.0-beta-1"])
    parts |= {f"calls {state}": number for state, number in states.items()} | {f"methods {state}": number for state, number in methods.items()}
    parts |= {"calls": sum(states.values()), "shell ours": ours, "shell refused": refused, "shell compared": compared}
    parts["tour"] = re.search(r"set -- (.*)", read("compat/clients/run.sh"))[1].replace(" ", ", ")
    parts["classes"] = len(lines("compat/hbase-tests/classes.txt"))
    parts["classes ci"] = count(r" ci$", "compat/hbase-tests/classes.txt")
    parts["known"] = len(lines("compat/hbase-tests/known.txt"))
    page = re.sub(r"\{\{(.*?)\}\}", lambda m: link(m[1][5:]) if m[1].startswith("test ") else str(parts[m[1]]), text)
    new = figures(parts["rest count"], parts["thrift count"], parts["filter count"])
    told = read("docs/how-it-is-tested.md")
    told = re.sub(r"(<!-- figures -->\n).*?(<!-- end -->)", lambda m: m[1] + new + "\n" + m[2], told, flags=re.DOTALL)
    return {"docs/compatibility.md": page, "docs/how-it-is-tested.md": told}


def main():
    for name, text in pages().items():
        if "--check" not in sys.argv:
            (ROOT / name).write_text(text, encoding="utf-8")
        elif read(name) != text:
            failures.append(f"{name} is not what the sources say: run compat/compatibility/compatibility.py")
    for failure in failures:
        print(f"FAIL {failure}", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
