//! The layers of modules inside crates, with what each contains. A module uses only those before
//! it, in its own layer and in lower ones. (`layers.rs` has the crates.)

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A layer and the modules in it, the lowest first.
type Layer = (&'static str, &'static [&'static str]);

/// The layers whose modules use each other: a write to a region calls the table's observers and
/// changes index entries, which are in regions of tables.
const MUTUAL: &[&str] = &["regions and tables"];

const STORE: &[Layer] = &[
    // Values, and parts that need no other.
    (
        "ground",
        &[
            "settings",
            "disk",
            "clock",
            "mvcc",
            "wait_mode",
            "background",
            "tasks",
            "cells",
            "newest",
            "retention",
            "key_formatter",
            "layout",
        ],
    ),
    // State that all regions share.
    (
        "shared state",
        &[
            "aside",
            "space",
            "split",
            "commits",
            "id_queue",
            "oversized_rows",
            "reader_memory",
            "index_memory",
            "block_cache",
            "damage",
            "heat",
        ],
    ),
    // Everything that holds cells or names the files.
    ("log and files", &["manifest", "directory", "wal", "followers", "store_file", "memstore"]),
    // Memstores and files of one family in one region.
    ("families", &["compaction_policy", "family", "compaction_queue"]),
    // Rows out of families.
    ("reads", &["read"]),
    // State for all regions.
    ("engine", &["engine"]),
    // Cells to files.
    ("flushes and compactions", &["new_file", "compact", "flush"]),
    // Ranges of rows.
    (
        "regions and tables",
        &[
            "observer",
            "indexed",
            "side_effects",
            "region",
            "table",
            "estimate",
            "request_totals",
            "catalog",
        ],
    ),
    // The writes of regions and tables, and transactions.
    ("writes", &["write"]),
    // The handle, its threads, changes of tables and regions, opening.
    ("store", &["store", "system", "open"]),
    // Whole stores and single files, from outside.
    ("tools", &["check", "hfile", "stats", "backup", "hand_over", "salvage", "fuzzing"]),
];

const SCHEMA: &[Layer] = &[
    // Values of fields, times, suggestions for misspelled words.
    ("values", &["error", "spelling", "time", "value"]),
    // Types, modifiers, and the codecs made of them.
    ("fields", &["transform", "encode", "computed", "order", "field"]),
    // Text to templates; encoding and decoding of keys and columns.
    ("templates", &["template", "key", "columns"]),
    // Queries, Rust structs as keys, advice.
    ("uses of templates", &["plan", "typed", "advise"]),
    // Entries of rows, and the queries that they serve.
    ("indexes", &["index"]),
    // Workloads and their rows, proposed designs, estimates of their costs.
    ("designs", &["design"]),
];

const SEARCH: &[Layer] = &[
    // Terms of texts, search texts, queries in Lucene's syntax, highlights.
    ("texts", &["analyse", "words", "lucene", "highlight"]),
    // Documents in tantivy's segments, in memory and in cells.
    ("segments", &["segment"]),
    // The documents of an index at a read point: its segments and pending rows.
    ("index", &["rows", "list", "memory", "view"]),
    // Answers; builds, the queue, merges; searches kept for the next page.
    ("searches and upkeep", &["find", "merge", "maintain", "pinned"]),
    // The handle, and the thread that keeps the indexes.
    ("search engine", &["engine"]),
];

const QUERY: &[Layer] = &[
    // Where rows are read; the ranges of a plan, merged.
    ("rows by the key", &["projection", "row", "source", "covered", "parts", "plan_rows"]),
    // Entries in order, and the rows to which they lead.
    ("rows by an index", &["key_instead", "judge", "entries", "entry_reader", "index_rows"]),
    // The key or an index, with all other ways.
    ("choice", &["choose"]),
    // Reads at a read point, scans with a query, deletes.
    (
        "queries of the store",
        &["at_point", "table_query", "store_query", "search", "region", "delete"],
    ),
];

const SERVER: &[Layer] = &[
    // State and limits that know no cluster.
    (
        "parts",
        &[
            "limits",
            "simulator",
            "options",
            "access",
            "backups",
            "bulk_loads",
            "call_metrics",
            "cap",
            "change_waits",
            "descriptors",
            "faults",
            "filtered",
            "index_checks",
            "listener",
            "load_meter",
            "maintenance",
            "memory",
            "http",
            "ports",
            "replication_sink",
            "requests",
            "slow_log",
            "states",
            "stop_request",
            "workers",
        ],
    ),
    // The region servers and what they share.
    ("cluster", &["scanners", "region_server", "members", "cluster", "balancer", "lifecycle"]),
    // A call, its memory, deadlines and accounting.
    ("calls", &["context", "call", "slow_calls", "answer"]),
    // A handler for each method, and the list of methods.
    ("handlers", &["handle", "dispatch"]),
    // The connections of clients, discovery, metrics, pages.
    ("ports", &["connection", "zookeeper", "metrics", "web", "gateway"]),
    // Starts and stops all of it.
    ("server", &["server"]),
];

const FORMAT: &[Layer] = &[
    // HBase's protobuf messages, and errors as Java exceptions.
    ("messages", &["proto", "exception"]),
    // Tokens and their exchange.
    ("users", &["token", "sasl"]),
    // Frames, headers, calls and cell blocks, without sockets.
    ("RPC", &["rpc"]),
    // Messages to model types and back; rows of `hbase:meta`; Thrift's messages.
    // ZooKeeper's frames.
    ("conversions", &["convert", "meta", "thrift", "zk"]),
    // HFiles; certificates and keys.
    ("files", &["hfile", "keystore", "pem"]),
];

const CLIENT: &[Layer] = &[
    // Times and limits, URLs, `hbase-site.xml`.
    ("settings", &["settings", "target", "site"]),
    // Sockets and TLS; repeated calls; connections.
    ("connections", &["transport", "retry", "connection"]),
    // Where regions are, and calls to the region of a row.
    ("regions", &["locate", "client"]),
    // What a program calls.
    ("calls", &["scan", "batch", "table", "admin"]),
];

const FACADE: &[Layer] = &[
    // What callers pass and get.
    ("values", &["cell", "declared", "filter", "key", "location", "spec", "schema"]),
    // The store in the process, or a cluster.
    ("backends", &["backend"]),
    // Reads, writes and changes of one table.
    ("tables", &["rows", "table", "row_put", "fit", "observer", "counters", "changes"]),
    // Queries over tables, and transactions.
    ("queries", &["analysis", "query", "transaction"]),
    // The handle, how it is opened and administered.
    ("database", &["database", "builder", "admin"]),
    // Copies for search on Apache HBase, advice on keys, databases for tests.
    ("tools", &["search_copy", "advise", "testing"]),
];

const CLI: &[Layer] = &[
    // Texts and drawings.
    (
        "words",
        &[
            "host_names",
            "counted",
            "wrapped",
            "output",
            "drawing",
            "explained",
            "analysis",
            "heat",
            "design",
        ],
    ),
    // The shell, the commands, their arguments.
    ("commands", &["shell", "command", "args"]),
];

#[test]
fn modules_of_the_store_use_only_those_below_them() {
    check("rowhouse-store", STORE);
}

#[test]
fn modules_of_the_search_crate_use_only_those_below_them() {
    check("rowhouse-search", SEARCH);
}

#[test]
fn modules_of_the_query_crate_use_only_those_below_them() {
    check("rowhouse-query", QUERY);
}

#[test]
fn modules_of_the_schema_crate_use_only_those_below_them() {
    check("rowhouse-schema", SCHEMA);
}

#[test]
fn modules_of_the_server_use_only_those_below_them() {
    check("rowhouse-server", SERVER);
}

#[test]
fn modules_of_the_format_crate_use_only_those_below_them() {
    check("rowhouse-format", FORMAT);
}

#[test]
fn modules_of_the_client_use_only_those_below_them() {
    check("rowhouse-client", CLIENT);
}

#[test]
fn modules_of_the_library_use_only_those_below_them() {
    check("rowhouse", FACADE);
}

#[test]
fn modules_of_the_program_use_only_those_below_them() {
    check("rowhouse-cli", CLI);
}

/// The most files whose imports may form a circle.
const CIRCLE_MAX: usize = 6;

#[test]
fn circles_of_imports_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut problems = Vec::new();
    for entry in fs::read_dir(&root).expect("the folder of the crates") {
        let dir = entry.expect("an entry").path();
        let name = dir.file_name().expect("a name").to_string_lossy().into_owned();
        let circles = Files::read(&dir.join("src")).circles();
        let largest = circles.iter().map(Vec::len).max().unwrap_or(0);
        if largest > CIRCLE_MAX {
            let circles = circles.iter().filter(|circle| circle.len() > CIRCLE_MAX);
            let circles: Vec<_> = circles.map(|circle| circle.join(", ")).collect();
            problems
                .push(format!("{name}: {largest} files, max={CIRCLE_MAX}: {}", circles.join("; ")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Compares the modules of a crate with `layers`.
fn check(name: &str, layers: &[Layer]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = Sources::read(&root.join(name).join("src"));
    let mut problems = sources.unplaced.clone();
    let mutual = layers.iter().filter(|(layer, _)| MUTUAL.contains(layer));
    let mutual: Vec<&[&str]> = mutual.map(|(_, modules)| *modules).collect();
    let mut below = BTreeSet::new();
    for module in layers.iter().flat_map(|(_, modules)| *modules) {
        below.extend(mutual.iter().filter(|it| it.contains(module)).copied().flatten());
        match sources.uses.get(*module) {
            Some(uses) => {
                for (used, place) in uses.iter().filter(|(used, _)| !below.contains(&used[..])) {
                    problems.push(format!("{module} must not use {used}: {place}"));
                }
            }
            None => problems.push(format!("there is no module {module}")),
        }
        below.insert(*module);
    }
    let missing = sources.uses.keys().filter(|module| !below.contains(&module[..]));
    problems.extend(missing.map(|module| format!("{module} is in no layer")));
    assert!(problems.is_empty(), "{name}:\n{}", problems.join("\n"));
}

/// A crate's modules and what they use, without tests.
struct Sources {
    dir: PathBuf,
    /// By top-level module, the top-level modules it uses, each with the first place that does.
    uses: BTreeMap<String, BTreeMap<String, String>>,
    /// The module for each name that the crate's root imports or exports.
    names: BTreeMap<String, String>,
    /// References to names whose module is unknown.
    unplaced: Vec<String>,
}

impl Sources {
    fn read(dir: &Path) -> Self {
        let root = ["lib.rs", "main.rs"].map(|name| dir.join(name));
        let root = root.iter().find(|path| path.exists()).expect("a crate has a root");
        let text = without_tests(root);
        let modules = declared(&text);
        let names = exports(&text).filter(|(_, module)| modules.contains(module)).collect();
        let uses = modules.iter().map(|module| (module.clone(), BTreeMap::new())).collect();
        let mut sources = Self { dir: dir.to_owned(), uses, names, unplaced: Vec::new() };
        for module in modules {
            sources.walk(dir, &mut vec![module]);
        }
        sources
    }

    /// Reads the module at `path` from the parent's folder, and the modules in it.
    fn walk(&mut self, parent: &Path, path: &mut Vec<String>) {
        let name = path.last().expect("a module has a name");
        let folder = parent.join(name);
        let files = [parent.join(format!("{name}.rs")), folder.join("mod.rs")];
        let file = files.iter().find(|file| file.exists()).expect("a declared module has a file");
        let text = without_tests(file);
        let place = file.strip_prefix(&self.dir).unwrap_or(file).display().to_string();
        // From here, `crate::` and as many `super::` as the module has parents name the root.
        let up = "super::".repeat(path.len());
        for prefix in ["crate::", &up] {
            for (at, used) in references(&text, prefix) {
                let line = text[..at].matches('\n').count() + 1;
                self.add(&path[0], used, format!("{place}:{line}"));
            }
        }
        for module in declared(&text) {
            path.push(module);
            self.walk(&folder, path);
            path.pop();
        }
    }

    fn add(&mut self, module: &str, used: String, place: String) {
        let used = match (self.uses.contains_key(&used), self.names.get(&used)) {
            (true, _) => used,
            (false, Some(module)) => module.clone(),
            (false, None) => {
                self.unplaced.push(format!("{module} uses {used} of the crate's root: {place}"));
                return;
            }
        };
        if used != module {
            let uses = self.uses.get_mut(module).expect("all modules are listed");
            uses.entry(used).or_insert(place);
        }
    }
}

/// A path of modules, from the root of the crate.
type ModulePath = Vec<String>;

/// The files of a crate and what they import of each other, without tests.
#[derive(Default)]
struct Files {
    /// The code of each module that has a file.
    code: BTreeMap<ModulePath, String>,
    /// The names that `use` statements bring into each module, and what they stand for.
    names: BTreeMap<(ModulePath, String), ModulePath>,
}

impl Files {
    fn read(dir: &Path) -> Self {
        let mut files = Self::default();
        let root = ["lib.rs", "main.rs"].map(|name| dir.join(name));
        let root = root.iter().find(|path| path.exists()).expect("a crate has a root");
        files.add(root, Vec::new(), dir);
        for (module, code) in &files.code {
            for statement in code.split(';').filter_map(|statement| statement.rsplit_once("use ")) {
                for path in leaves(statement.1) {
                    let Some(path) = files.absolute(module, &path) else { continue };
                    let Some(name) = path.last().cloned() else { continue };
                    files.names.insert((module.clone(), name), path);
                }
            }
        }
        files
    }

    /// Adds the file of a module, and the files of the modules in it, which are in `folder`.
    fn add(&mut self, file: &Path, module: ModulePath, folder: &Path) {
        let code = without_tests(file);
        for name in declared(&code) {
            let below = folder.join(&name);
            let files = [folder.join(format!("{name}.rs")), below.join("mod.rs")];
            if let Some(file) = files.iter().find(|file| file.exists()) {
                self.add(file, [&module[..], &[name]].concat(), &below);
            }
        }
        // `pub(in path)` imports nothing.
        self.code.insert(module, code.replace("pub(in crate::", "pub(in "));
    }

    /// Returns the path from the root for a path in a module; `None` for another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        match &first[..] {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                let above = &module[..module.len().saturating_sub(ups)];
                Some([above, &path[ups..]].concat())
            }
            _ => {
                let inside = [module, path].concat();
                let child = [module, &path[..1]].concat();
                self.code.contains_key(&child).then_some(inside)
            }
        }
    }

    /// Returns the module that has the item of a path, through re-exports.
    fn owner(&self, path: &[String], depth: usize) -> ModulePath {
        let lens = (0..=path.len()).rev();
        let module = lens.map(|len| &path[..len]).find(|path| self.code.contains_key(*path));
        let module = module.unwrap_or_default().to_vec();
        let name = path.get(module.len()).map(|name| (module.clone(), name.clone()));
        match name.and_then(|name| self.names.get(&name)) {
            Some(other) if other != path && depth < 8 => {
                self.owner(&[other, &path[module.len() + 1..]].concat(), depth + 1)
            }
            _ => module,
        }
    }

    /// Returns the modules that a module imports from.
    fn imports(&self, module: &ModulePath) -> BTreeSet<ModulePath> {
        let code = &self.code[module];
        let mut paths = Vec::new();
        for prefix in ["crate::", "self::", "super::"] {
            for (at, _) in code.match_indices(prefix) {
                let is_longer = |c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$';
                if !code[..at].ends_with(is_longer) {
                    paths.extend(leaves(&code[at..]));
                }
            }
        }
        let children = self
            .code
            .keys()
            .filter(|path| path.split_last().is_some_and(|(_, above)| above == module.as_slice()));
        for child in children.filter_map(|path| path.last()) {
            for (at, _) in code.match_indices(&format!("{child}::")) {
                if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                    paths.extend(leaves(&code[at..]));
                }
            }
        }
        let paths = paths.iter().filter_map(|path| self.absolute(module, path));
        paths.map(|path| self.owner(&path, 0)).filter(|other| other != module).collect()
    }

    /// Returns the sets of modules that import from each other, directly or not.
    fn circles(&self) -> Vec<Vec<String>> {
        let imports: BTreeMap<_, _> =
            self.code.keys().map(|module| (module, self.imports(module))).collect();
        let reach = |from: &ModulePath| {
            let mut reached = BTreeSet::new();
            let mut next = vec![from.clone()];
            while let Some(module) = next.pop() {
                for other in &imports[&module] {
                    if reached.insert(other.clone()) {
                        next.push(other.clone());
                    }
                }
            }
            reached
        };
        let reached: BTreeMap<_, _> = self.code.keys().map(|it| (it, reach(it))).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for (module, others) in &reached {
            let back = others.iter().filter(|other| reached[other].contains(*module));
            let circle: Vec<_> = back.cloned().collect();
            if circle.len() > 1 && seen.insert(circle.clone()) {
                circles.push(circle.iter().map(|path| path.join("::")).collect());
            }
        }
        circles
    }
}

/// Returns the paths that a tree of paths names, each by its parts.
fn leaves(tree: &str) -> Vec<ModulePath> {
    let end = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
    let tree = tree.trim_start();
    let head = &tree[..tree.find(end).unwrap_or(tree.len())];
    let parts: ModulePath =
        head.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let rest = &tree[head.len()..];
    if !head.ends_with("::") || !rest.starts_with('{') {
        return if parts.is_empty() { Vec::new() } else { vec![parts] };
    }
    let mut depth = 0;
    let mut begin = 1;
    let mut paths = Vec::new();
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (c == ',' && depth == 1) || depth == 0 {
            for leaf in leaves(&rest[begin..at]) {
                let leaf = if leaf == ["self"] { Vec::new() } else { leaf };
                paths.push([&parts[..], &leaf].concat());
            }
            begin = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    paths
}

/// Reads a source file without comments and without items under `#[cfg(test)]`, keeping its lines.
fn without_tests(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    let mut source = String::new();
    // How far an item is indented that is left out.
    let mut item: Option<usize> = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let code = line.trim();
        let indent = line.len() - line.trim_start().len();
        match item {
            None if is_for_tests(code) => item = Some(indent),
            None => source.push_str(line),
            Some(start) => {
                // rustfmt ends an item at the indentation at which it begins.
                let ends = code.ends_with([';', '}', ',']) && indent == start;
                if ends && !code.starts_with('#') {
                    item = None;
                }
            }
        }
        source.push('\n');
    }
    source
}

fn is_for_tests(code: &str) -> bool {
    code.starts_with("#[cfg(")
        && code.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
        && !code.contains("not(test")
}

/// Returns the modules that a source file declares in separate files.
fn declared(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.trim().strip_suffix(';')?;
        let (visibility, name) = line.rsplit_once("mod ")?;
        let is_module = visibility.is_empty() || visibility.starts_with("pub");
        is_module.then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// Returns the names that `use` statements in the root bring in, each with the first path segment.
fn exports(text: &str) -> impl Iterator<Item = (String, String)> {
    let statements = text.split(';').filter_map(|statement| statement.split_once("use "));
    statements.filter_map(|(_, path)| path.split_once("::")).flat_map(|(module, names)| {
        let leaves = names.split([',', '{', '}']).filter_map(|name| {
            let name = name.rsplit([':', ' ']).find(|name| !name.is_empty())?;
            Some((name.trim().to_owned(), module.trim().to_owned()))
        });
        leaves.collect::<Vec<_>>()
    })
}

/// Returns the first path segments after `prefix`, each with its place.
fn references(text: &str, prefix: &str) -> Vec<(usize, String)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        // A longer path ends here, such as `$crate::` or one more `super::`.
        if text[..at].ends_with(|c: char| is_part(c) || c == ':' || c == '$') {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => {
                let name = rest.split(|c| !is_part(c)).next().unwrap_or_default();
                names.push((at, name.to_owned()));
            }
            Some(tree) => names.extend(branches(tree).into_iter().map(|name| (at, name))),
        }
    }
    // A shorter `super::` path stays in the module.
    names.retain(|(_, name)| name != "super");
    names
}

/// Returns the first segments in a path tree, after the opening brace.
fn branches(tree: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 1;
    for c in tree.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(String::new()),
            c if depth == 1 => names.last_mut().expect("never empty").push(c),
            _ => {}
        }
    }
    let first = |name: &String| name.split("::").next().unwrap_or_default().trim().to_owned();
    names.iter().map(first).filter(|name| !name.is_empty()).collect()
}

#[test]
fn references_reads_all_forms_of_paths_and_tests_are_left_out() {
    let first_segments = |prefix, text: &str| {
        let names = references(text, prefix).into_iter().map(|(_, name)| name);
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(first_segments("crate::", "use crate::a::B; x(crate::c::d()) $crate::e"), "a c");
    assert_eq!(first_segments("crate::", "use crate::{\n    a::{B, c::D},\n    e,\n};"), "a e");
    assert_eq!(
        first_segments("super::super::", "super::a; super::super::b; super::super::super::c"),
        "b"
    );
    let exports: Vec<_> = exports("mod a;\npub use a::{B, c::D as E};\nuse a::b::F;").collect();
    let names: Vec<&str> = exports.iter().map(|(name, _)| &name[..]).collect();
    assert!(["B", "E", "F"].iter().all(|name| names.contains(name)), "{names:?}");
    assert_eq!(declared("mod a;\npub(crate) mod b;\nmod c {\n    let mod_d;\n"), ["a", "b"]);

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.rs");
    let text =
        "use a; // b\n#[cfg(test)]\nuse c;\n#[cfg(all(test, x))]\n#[y]\nmod d {\n    e;\n}\nf\n";
    fs::write(&file, text).unwrap();
    assert_eq!(without_tests(&file).split_whitespace().collect::<Vec<_>>().join(" "), "use a; f");
}
