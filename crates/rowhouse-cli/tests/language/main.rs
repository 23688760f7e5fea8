//! Holds the language in comments, messages and pages: plain technical English. Lines with comments
//! have at most 100 columns.
//!
//! `cargo test -p rowhouse-cli --test language -- --nocapture` prints the counts for each folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

mod names;

/// The most columns in a line that holds a comment.
const COLUMNS_MAX: usize = 100;

/// Words that hide the subject of a sentence, and how often they may occur in 1,000 words. Comments
/// in the field have less than one of the first three, 13 of the fourth and 1.3 of the last.
/// Messages and pages are held to the first [`RARE_IN_TEXTS`].
const RARE: &[(&[&str], f64)] = &[
    (&["what", "whatever"], 3.0),
    (&["who", "whoever", "whom"], 1.0),
    (&["behind"], 1.0),
    (&["of"], 20.0),
    (&["its"], 3.0),
];
const RARE_IN_TEXTS: usize = 3;

/// Pairs of words that comments do without: the thing has a name, and "Returns true if".
const NO_PAIRS: &[(&str, &str)] = &[("those", "of"), ("returns", "whether")];

#[derive(Clone, Default)]
struct Counts {
    words: usize,
    rare: [usize; RARE.len()],
    last_word: String,
    /// Where a pair in [`NO_PAIRS`] ends.
    pairs: Vec<String>,
    wide_lines: Vec<String>,
}

impl Counts {
    fn add_comments(&mut self, path: &Path, source: &str) {
        let mut quoted = Quoted::None;
        for (at, line) in source.lines().enumerate() {
            let Some(comment) = parts_of(line, &mut quoted).comment else { continue };
            if line.chars().count() > COLUMNS_MAX {
                self.wide_lines.push(format!("{}:{}", path.display(), at + 1));
            }
            let pairs = self.add_words(comment);
            self.pairs.extend((0..pairs).map(|_| format!("{}:{}", path.display(), at + 1)));
        }
    }

    /// Adds the string literals in a source file that have several words, without the literals in
    /// tests.
    fn add_messages(&mut self, source: &str) {
        let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut quoted = Quoted::None;
        for line in code.lines() {
            let literals = parts_of(line, &mut quoted).literals;
            for literal in literals.iter().filter(|literal| literal.contains(' ')) {
                self.add_words(&without(literal, '{', '}'));
            }
        }
    }

    /// Adds a Markdown page's text, without code.
    fn add_page(&mut self, page: &str) {
        let mut in_code = false;
        for line in page.lines() {
            if line.starts_with("```") {
                in_code = !in_code;
            } else if !in_code {
                self.add_words(&without(line, '`', '`'));
            }
        }
    }

    /// Adds the words in a text; returns how many pairs in [`NO_PAIRS`] end there.
    fn add_words(&mut self, text: &str) -> usize {
        let mut pairs = 0;
        for word in text.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '-') {
            if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            self.words += 1;
            let word = word.to_lowercase();
            for (count, (words, _)) in self.rare.iter_mut().zip(RARE) {
                *count += usize::from(words.contains(&&word[..]));
            }
            pairs += usize::from(NO_PAIRS.contains(&(&self.last_word, &word)));
            self.last_word = word;
        }
        pairs
    }

    fn per_thousand(&self, at: usize) -> f64 {
        1000.0 * self.rare[at] as f64 / self.words.max(1) as f64
    }
}

/// Returns `text` without the parts from `open` to `close`.
fn without(text: &str, open: char, close: char) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(open) {
        left.extend([before, " "]);
        rest = inside.split_once(close).map_or("", |(_, after)| after);
    }
    left + rest
}

/// The language in one source line.
#[derive(Default)]
struct Parts<'a> {
    /// The line without comment and literals.
    code: String,
    /// The text after `//`.
    comment: Option<&'a str>,
    /// String literal parts on the line.
    literals: Vec<&'a str>,
}

/// The string literal that a source line begins in.
#[derive(Clone, Copy, PartialEq)]
enum Quoted {
    None,
    Plain,
    /// With so many `#`.
    Raw(usize),
}

/// Returns the comment and the string literals in a source line.
fn parts_of<'a>(line: &'a str, quoted: &mut Quoted) -> Parts<'a> {
    let bytes = line.as_bytes();
    let mut parts = Parts::default();
    let mut at = 0;
    let mut begin = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        match *quoted {
            Quoted::Plain => match rest[0] {
                b'\\' => at += 1,
                b'"' => {
                    parts.literals.push(&line[begin..at]);
                    *quoted = Quoted::None;
                }
                _ => {}
            },
            Quoted::Raw(hashes) => {
                let ends = rest[0] == b'"'
                    && rest[1..].iter().take_while(|&&byte| byte == b'#').count() >= hashes;
                if ends {
                    parts.literals.push(&line[begin..at]);
                    at += hashes;
                    *quoted = Quoted::None;
                }
            }
            Quoted::None if rest.starts_with(b"//") => {
                parts.comment = Some(&line[at + 2..]);
                return parts;
            }
            Quoted::None if rest[0] == b'"' => {
                let hashes = bytes[..at].iter().rev().take_while(|&&byte| byte == b'#').count();
                let is_raw = bytes[..at - hashes].last() == Some(&b'r');
                *quoted = if is_raw { Quoted::Raw(hashes) } else { Quoted::Plain };
                begin = at + 1;
            }
            Quoted::None if rest.starts_with(b"'\"'") => at += 2,
            Quoted::None if rest.starts_with(b"'\\\"'") => at += 3,
            Quoted::None => parts.code.push(char::from(rest[0])),
        }
        at += 1;
    }
    if *quoted != Quoted::None {
        parts.literals.push(&line[begin..]);
    }
    parts
}

/// Finds the files below a folder whose names end in `extension`, without generated ones.
fn files(dir: &Path, extension: &str, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder of the checkout") {
        let path = entry.expect("an entry").path();
        let is_ours = !["target", "generated"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && is_ours {
            files(&path, extension, paths);
        } else if path.extension().is_some_and(|other| other == extension) {
            paths.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Counts the words in the files with `extension` in `folders`, by folder, and prints the counts.
/// Returns the sums over all folders, and fails if they are above the limits.
fn check(
    what: &str,
    rare: usize,
    folders: &[&str],
    extension: &str,
    add: impl Fn(&mut Counts, &Path, &str),
) -> Counts {
    let root = root();
    let mut paths = Vec::new();
    folders.iter().for_each(|folder| files(&root.join(folder), extension, &mut paths));
    let mut counts = BTreeMap::<PathBuf, Counts>::new();
    let mut all = Counts::default();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a text file");
        let path = path.strip_prefix(&root).expect("a path below").to_owned();
        let folder = path.parent().expect("a folder").to_owned();
        add(counts.entry(folder).or_default(), &path, &text);
        add(&mut all, &path, &text);
    }
    println!("  words   what    who behind     of    its {what}");
    for (folder, counts) in counts.iter().chain([(&PathBuf::from("all"), &all)]) {
        let rates = (0..RARE.len()).map(|at| format!("{:>6.1} ", counts.per_thousand(at)));
        println!("{:>7} {}{}", counts.words, rates.collect::<String>(), folder.display());
    }
    for (at, (words, max)) in RARE.iter().take(rare).enumerate() {
        let rate = all.per_thousand(at);
        assert!(rate <= *max, "{what}: {words:?}: {rate:.1} of 1,000 words, max={max}");
    }
    all
}

#[test]
fn comments_are_in_plain_english_and_fit_their_lines() {
    let all = check("comments", RARE.len(), &["crates", "fuzz"], "rs", Counts::add_comments);
    assert!(all.pairs.is_empty(), "{NO_PAIRS:?}: {}", all.pairs.join(", "));
    let wide = all.wide_lines.join(", ");
    assert!(wide.is_empty(), "over {COLUMNS_MAX} columns: {wide}");
}

#[test]
fn messages_are_in_plain_english() {
    check("messages", RARE_IN_TEXTS, &["crates"], "rs", |counts, path, source| {
        let is_test = path.iter().any(|part| {
            ["tests", "tests.rs", "benches", "examples"].iter().any(|name| part == *name)
        });
        if !is_test {
            counts.add_messages(source);
        }
    });
}

#[test]
fn pages_are_in_plain_english() {
    check("pages", RARE_IN_TEXTS, &["docs", "compat", "bench"], "md", |counts, path, page| {
        if !path.to_string_lossy().contains("zh-CN") {
            counts.add_page(page);
        }
    });
}

#[test]
fn chinese_pages_have_one_word_for_region() {
    let mut pages = Vec::new();
    files(&root().join("docs"), "md", &mut pages);
    pages.retain(|page| page.to_string_lossy().ends_with(".zh-CN.md"));
    assert!(pages.len() > 4, "{pages:?}");
    pages.push(root().join("README.zh-CN.md"));
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page is readable");
        let others = text.lines().filter(|line| line.contains("区域") || line.contains("分区"));
        assert_eq!(others.collect::<Vec<_>>(), Vec::<&str>::new(), "{}", page.display());
    }
}

#[test]
fn comments_are_distinguished_from_strings() {
    let mut quoted = Quoted::None;
    let mut comment = |line| parts_of(line, &mut quoted).comment.map(str::trim);
    assert_eq!(comment("let a = 1; // one"), Some("one"));
    assert_eq!(comment(r#"let a = "http://x"; // two"#), Some("two"));
    assert_eq!(comment(r##"let a = r#"a " // no"#; // three"##), Some("three"));
    assert_eq!(comment(r#"let a = "begins \"#), None);
    assert_eq!(comment(r#"  // inside"; // four"#), Some("four"));
    assert_eq!(comment(r#"let a = '"'; // five"#), Some("five"));
}

#[test]
fn literals_are_returned_in_pieces() {
    let mut quoted = Quoted::None;
    let mut literals = |line| parts_of(line, &mut quoted).literals;
    assert_eq!(literals(r#"a("one", "two"); // "no""#), ["one", "two"]);
    assert_eq!(literals(r#"let a = "begins \"#), [r"begins \"]);
    assert_eq!(literals(r#"  and ends";"#), ["  and ends"]);
    assert_eq!(without("a {b} c", '{', '}'), "a   c");
}
