//! Enforces the module order inside crates: each uses only modules below it. The crate tables are
//! in docs/ARCHITECTURE.md, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A layer and the modules in it. Lowest first: a module uses only modules before it, in the same
/// layer and in lower ones.
type Layer = (&'static str, &'static [&'static str]);

const STORE: &[Layer] = &[
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
    (
        "shared state",
        &[
            "aside",
            "space",
            "split",
            "commits",
            "erased",
            "id_queue",
            "observer",
            "oversized_rows",
            "reader_memory",
            "block_cache",
            "damage",
            "heat",
        ],
    ),
    ("log and files", &["manifest", "directory", "wal", "store_file", "memstore"]),
    ("families", &["compaction_policy", "family", "compaction_queue"]),
    ("reads", &["read"]),
    ("engine", &["engine"]),
    ("flushes and compactions", &["new_file", "compact", "flush"]),
    (
        "regions and tables",
        &["region", "table", "estimate", "indexed", "request_totals", "catalog"],
    ),
    ("writes", &["write"]),
    ("store", &["store", "system", "open"]),
    ("tools", &["check", "hfile", "stats", "backup", "hand_over", "salvage", "fuzzing"]),
];

const SCHEMA: &[Layer] = &[
    ("values", &["error", "spelling", "time", "value"]),
    ("fields", &["transform", "encode", "computed", "order", "field"]),
    ("templates", &["template", "key", "columns"]),
    ("uses of templates", &["plan", "typed", "advise"]),
    ("indexes", &["index"]),
    ("designs", &["design"]),
];

const SEARCH: &[Layer] = &[
    ("texts", &["analyse", "words", "lucene", "highlight"]),
    ("segments", &["segment"]),
    ("index", &["rows", "list", "memory", "view"]),
    ("searches and upkeep", &["find", "keep", "pinned"]),
    ("search engine", &["engine"]),
];

const QUERY: &[Layer] = &[
    ("rows by the key", &["projection", "row", "source", "parts", "plan_rows"]),
    ("rows by an index", &["key_instead", "judge", "entries", "found_entries", "index_rows"]),
    ("choice", &["choose"]),
    ("queries of the store", &["at_point", "table_query", "store_query", "search", "region"]),
];

const CLI: &[Layer] = &[
    (
        "words",
        &["counted", "wrapped", "output", "drawing", "explained", "analysis", "heat", "design"],
    ),
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
fn modules_of_the_program_use_only_those_below_them() {
    check("rowhouse-cli", CLI);
}

/// Compares a crate's modules, and their table in the documentation, with `layers`.
fn check(name: &str, layers: &[Layer]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = Sources::read(&root.join(name).join("src"));
    let mut problems = sources.unplaced.clone();
    let mut below = BTreeSet::new();
    for module in layers.iter().flat_map(|(_, modules)| *modules) {
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
    let page = fs::read_to_string(root.join("../docs/ARCHITECTURE.md")).expect("the page exists");
    for (layer, modules) in layers {
        let row = format!("| {layer} | `{}` |", modules.join("`, `"));
        if !page.contains(&row) {
            problems.push(format!("docs/ARCHITECTURE.md lacks the row: {row}"));
        }
    }
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

/// Reads a source file without comments and without items under `#[cfg(test)]`, keeping the lines.
fn without_tests(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    let mut kept = String::new();
    // How far an item is indented that is left out.
    let mut item: Option<usize> = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let code = line.trim();
        let indent = line.len() - line.trim_start().len();
        match item {
            None if is_for_tests(code) => item = Some(indent),
            None => kept.push_str(line),
            Some(begun) => {
                // rustfmt ends an item at the indentation at which it begins.
                let ends = code.ends_with([';', '}', ',']) && indent == begun;
                if ends && !code.starts_with('#') {
                    item = None;
                }
            }
        }
        kept.push('\n');
    }
    kept
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
    let mut found = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        // A longer path ends here, such as `$crate::` or one more `super::`.
        if text[..at].ends_with(|c: char| is_part(c) || c == ':' || c == '$') {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => {
                let name = rest.split(|c| !is_part(c)).next().unwrap_or_default();
                found.push((at, name.to_owned()));
            }
            Some(tree) => found.extend(branches(tree).into_iter().map(|name| (at, name))),
        }
    }
    // A shorter `super::` path stays in the module.
    found.retain(|(_, name)| name != "super");
    found
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
fn paths_are_found_in_all_their_forms_and_tests_are_left_out() {
    let found = |prefix, text: &str| {
        let found = references(text, prefix).into_iter().map(|(_, name)| name);
        found.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("crate::", "use crate::a::B; x(crate::c::d()) $crate::e"), "a c");
    assert_eq!(found("crate::", "use crate::{\n    a::{B, c::D},\n    e,\n};"), "a e");
    assert_eq!(found("super::super::", "super::a; super::super::b; super::super::super::c"), "b");
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
