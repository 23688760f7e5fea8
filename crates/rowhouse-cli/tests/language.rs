//! Holds the language of comments: plain technical English, in lines of at most 100 columns.
//!
//! `cargo test -p rowhouse-cli --test language -- --nocapture` prints the counts of each folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The most columns of a line that holds a comment.
const COLUMNS_MAX: usize = 100;

/// Words that hide the subject of a sentence, and how many of 1,000 words of comments they may be.
/// Codebases of the field have less than one.
const RARE: &[(&[&str], f64)] =
    &[(&["what", "whatever"], 3.0), (&["who", "whoever", "whom"], 1.0), (&["behind"], 1.0)];

#[derive(Clone, Default)]
struct Counts {
    words: usize,
    rare: [usize; RARE.len()],
    wide_lines: Vec<String>,
}

impl Counts {
    fn add(&mut self, path: &Path, source: &str) {
        let mut quoted = Quoted::None;
        for (at, line) in source.lines().enumerate() {
            let Some(comment) = comment_of(line, &mut quoted) else { continue };
            if line.chars().count() > COLUMNS_MAX {
                self.wide_lines.push(format!("{}:{}", path.display(), at + 1));
            }
            for word in comment.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '-') {
                if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    continue;
                }
                self.words += 1;
                let word = word.to_lowercase();
                for (count, (words, _)) in self.rare.iter_mut().zip(RARE) {
                    *count += usize::from(words.contains(&&word[..]));
                }
            }
        }
    }

    fn per_thousand(&self, at: usize) -> f64 {
        1000.0 * self.rare[at] as f64 / self.words.max(1) as f64
    }
}

/// The string literal that a line of source begins in.
#[derive(Clone, Copy, PartialEq)]
enum Quoted {
    None,
    Plain,
    /// With so many `#`.
    Raw(usize),
}

/// Returns the text after the first `//` of a line that is not inside a string literal.
fn comment_of<'a>(line: &'a str, quoted: &mut Quoted) -> Option<&'a str> {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        match *quoted {
            Quoted::Plain => match rest[0] {
                b'\\' => at += 1,
                b'"' => *quoted = Quoted::None,
                _ => {}
            },
            Quoted::Raw(hashes) => {
                let ends = rest[0] == b'"'
                    && rest[1..].iter().take_while(|&&byte| byte == b'#').count() >= hashes;
                if ends {
                    at += hashes;
                    *quoted = Quoted::None;
                }
            }
            Quoted::None if rest.starts_with(b"//") => return Some(&line[at + 2..]),
            Quoted::None if rest[0] == b'"' => {
                let hashes = bytes[..at].iter().rev().take_while(|&&byte| byte == b'#').count();
                let is_raw = bytes[..at - hashes].last() == Some(&b'r');
                *quoted = if is_raw { Quoted::Raw(hashes) } else { Quoted::Plain };
            }
            Quoted::None if rest.starts_with(b"'\"'") => at += 2,
            Quoted::None if rest.starts_with(b"'\\\"'") => at += 3,
            Quoted::None => {}
        }
        at += 1;
    }
    None
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder of the checkout") {
        let path = entry.expect("an entry").path();
        let is_ours = !["target", "generated"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && is_ours {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn comments_are_in_plain_english_and_fit_their_lines() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    sources(&crates, &mut paths);
    let mut folders = BTreeMap::<PathBuf, Counts>::new();
    let mut all = Counts::default();
    for path in paths {
        let source = fs::read_to_string(&path).expect("a source file");
        let path = path.strip_prefix(&crates).expect("a path below").to_owned();
        let folder = path.parent().expect("a folder").to_owned();
        folders.entry(folder).or_default().add(&path, &source);
        all.add(&path, &source);
    }
    println!("{:>7} {:>6} {:>6} {:>6} {:>5}", "words", "what", "who", "behind", "wide");
    for (folder, counts) in folders.iter().chain([(&PathBuf::from("all"), &all)]) {
        let [what, who, behind] = [0, 1, 2].map(|at| counts.per_thousand(at));
        let (words, wide) = (counts.words, counts.wide_lines.len());
        println!("{words:>7} {what:>6.1} {who:>6.1} {behind:>6.1} {wide:>5} {}", folder.display());
    }
    let mut problems = Vec::new();
    for (at, (words, max)) in RARE.iter().enumerate() {
        let rate = all.per_thousand(at);
        if rate > *max {
            problems.push(format!("{words:?}: {rate:.1} of 1,000 words, max={max}"));
        }
    }
    if !all.wide_lines.is_empty() {
        problems.push(format!("over {COLUMNS_MAX} columns: {}", all.wide_lines.join(", ")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn comments_are_told_from_strings() {
    let mut quoted = Quoted::None;
    let mut comment = |line| comment_of(line, &mut quoted).map(str::trim);
    assert_eq!(comment("let a = 1; // one"), Some("one"));
    assert_eq!(comment(r#"let a = "http://x"; // two"#), Some("two"));
    assert_eq!(comment(r##"let a = r#"a " // no"#; // three"##), Some("three"));
    assert_eq!(comment(r#"let a = "begins \"#), None);
    assert_eq!(comment(r#"  // inside"; // four"#), Some("four"));
    assert_eq!(comment(r#"let a = '"'; // five"#), Some("five"));
}
