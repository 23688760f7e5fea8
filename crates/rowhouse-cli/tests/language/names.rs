//! Holds identifiers to the field's terms, test names to subject and property, and code to common
//! idioms.

use std::fs;
use std::path::PathBuf;

use super::{Quoted, files, parts_of, root};

/// Identifier parts for which the field has other terms: `requested`, `retained`, `required`,
/// `after`, `reported`, the name of what was looked up, `Maintainer`, `fault`, `started`.
const DIALECT: &[&str] = &[
    "ask", "asked", "asks", "begun", "behind", "found", "keeper", "keepers", "kept", "mishap",
    "mishaps", "said", "tells", "told", "wanted", "wants",
];

/// How many of 1,000 identifiers may have such a part. In redb and tantivy it is 0.1.
const DIALECT_MAX: f64 = 0.5;

/// Names of HBase, Rust and ZooKeeper.
const FOREIGN_NAMES: &[&str] =
    &["NotFound", "NOT_FOUND", "not_found", "ZooKeeper", "Zookeeper", "zookeeper"];

/// How many of 1,000 code lines may join two assignments in one `let`, or match on a boolean.
const IDIOMS_MAX: f64 = 0.3;

/// A source file without comments and literals.
struct Source {
    path: PathBuf,
    code: String,
}

impl Source {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("a text file");
        let mut quoted = Quoted::None;
        let lines = text.lines().map(|line| parts_of(line, &mut quoted).code + "\n");
        let code = lines.collect();
        let path = path.strip_prefix(root()).expect("a path below").to_owned();
        Self { path, code }
    }

    /// Returns the line of an offset, for messages.
    fn place(&self, at: usize) -> String {
        let line = self.code[..at].matches('\n').count() + 1;
        format!("{}:{line}", self.path.display())
    }

    fn identifiers(&self) -> impl Iterator<Item = &str> {
        let words = self.code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
    }

    /// Returns the places where one `let` joins two assignments.
    fn joined_assignments(&self) -> impl Iterator<Item = String> {
        self.code.match_indices("let (").filter_map(|(at, head)| {
            let (names, value) = self.code[at + head.len()..].split_once(')')?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || "_, ".contains(c);
            let value = value.strip_prefix(" =")?.trim_start();
            let is_joined = names.chars().all(is_name) && value.starts_with('(');
            is_joined.then(|| self.place(at))
        })
    }

    /// Returns the places where a `match` decides on a boolean.
    fn boolean_matches(&self) -> impl Iterator<Item = String> {
        let arms = ["true =>", "false =>"].into_iter();
        let arms = arms.flat_map(|arm| self.code.match_indices(arm));
        let first = arms.filter(|(at, _)| self.code[..*at].trim_end().ends_with('{'));
        first.map(|(at, _)| self.place(at))
    }

    fn test_names(&self) -> Vec<&str> {
        let is_attribute = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("#[") && line.contains("test") && !line.contains("cfg")
        };
        let lines: Vec<_> = self.code.lines().collect();
        let tests = lines.iter().enumerate().filter(|(_, line)| is_attribute(line));
        let names = tests.filter_map(|(at, _)| {
            let (_, name) =
                lines[at + 1..].iter().take(4).find_map(|line| line.split_once("fn "))?;
            name.split('(').next()
        });
        names.collect()
    }
}

fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    files(&root().join("crates"), "rs", &mut paths);
    paths.into_iter().map(Source::read).collect()
}

/// Returns true if an identifier has a part in [`DIALECT`].
fn is_dialect(identifier: &str) -> bool {
    let own = FOREIGN_NAMES.iter().fold(identifier.to_owned(), |own, name| own.replace(name, ""));
    let mut parts = String::new();
    let mut was_lower = false;
    for c in own.chars() {
        if c.is_ascii_uppercase() && was_lower {
            parts.push('_');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        parts.push(c.to_ascii_lowercase());
    }
    parts.split('_').any(|part| DIALECT.contains(&part))
}

/// Returns true if a test name has a word that stands for the subject.
fn is_vague(name: &str) -> bool {
    let words = ["what", "whatever", "who", "whoever", "nobody"];
    name.split('_').any(|word| words.contains(&word))
}

#[test]
fn identifiers_are_terms_of_the_field() {
    let mut all = 0;
    let mut dialect = 0;
    for source in sources() {
        all += source.identifiers().count();
        let count = source.identifiers().filter(|identifier| is_dialect(identifier)).count();
        dialect += count;
        if count > 0 {
            println!("{count:>7} {}", source.path.display());
        }
    }
    let rate = 1000.0 * dialect as f64 / all as f64;
    assert!(rate <= DIALECT_MAX, "{dialect} of {all} identifiers, {rate:.2} of 1,000");
}

#[test]
fn test_names_state_subject_and_property() {
    let mut vague = Vec::new();
    for source in sources() {
        let names = source.test_names().into_iter().filter(|name| is_vague(name));
        vague.extend(names.map(|name| format!("{}: {name}", source.path.display())));
    }
    assert!(vague.is_empty(), "{}", vague.join("\n"));
}

#[test]
fn assignments_and_decisions_are_plain() {
    let sources = sources();
    let lines = sources.iter().flat_map(|source| source.code.lines());
    let lines = lines.filter(|line| !line.trim().is_empty()).count();
    let joined: Vec<_> = sources.iter().flat_map(Source::joined_assignments).collect();
    let matches: Vec<_> = sources.iter().flat_map(Source::boolean_matches).collect();
    for (idiom, places) in [("joined assignments", joined), ("matches on booleans", matches)] {
        let rate = 1000.0 * places.len() as f64 / lines as f64;
        println!("{idiom}, {rate:.2} of 1,000 lines: {}", places.join(" "));
        assert!(rate <= IDIOMS_MAX, "{idiom}: {} in {lines} lines, {rate:.2}", places.len());
    }
}

#[test]
fn dialect_is_recognised_in_parts_of_identifiers() {
    for identifier in ["kept", "is_kept", "KeptValue", "ASKED_MAX", "CLIENT_KEEPER", "begun_millis"]
    {
        assert!(is_dialect(identifier), "{identifier}");
    }
    for identifier in ["TableNotFound", "NOT_FOUND", "ZooKeeper", "task", "foundation", "keep"] {
        assert!(!is_dialect(identifier), "{identifier}");
    }
    assert!(is_vague("what_is_read") && !is_vague("whole_rows_are_read"));
}
