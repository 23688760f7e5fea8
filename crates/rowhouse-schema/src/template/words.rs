//! The words of the template language: one table of what each is, and whether this version does it.

/// Where a word stands in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Behind the name.
    Type,
    /// Behind the type.
    Modifier,
    /// In front of a number, instead of a name.
    Computed,
}

/// A word of the language.
pub(super) struct Word {
    pub(super) text: &'static str,
    pub(super) role: Role,
    pub(super) supported: bool,
}

/// Every word of the language that stands by itself.
pub(super) const WORDS: &[Word] = &[
    done("text", Role::Type),
    done("string", Role::Type),
    done("u8", Role::Type),
    done("u16", Role::Type),
    done("u24", Role::Type),
    done("u32", Role::Type),
    done("u40", Role::Type),
    done("u48", Role::Type),
    done("u56", Role::Type),
    done("u64", Role::Type),
    done("i8", Role::Type),
    done("i16", Role::Type),
    done("i24", Role::Type),
    done("i32", Role::Type),
    done("i40", Role::Type),
    done("i48", Role::Type),
    done("i56", Role::Type),
    done("i64", Role::Type),
    done("millis", Role::Type),
    done("micros", Role::Type),
    done("nanos", Role::Type),
    done("seconds", Role::Type),
    done("digits", Role::Type),
    later("date", Role::Type),
    later("ymd", Role::Type),
    later("ymdhm", Role::Type),
    later("ymdhms", Role::Type),
    later("f32", Role::Type),
    later("f64", Role::Type),
    later("bool", Role::Type),
    later("uuid", Role::Type),
    later("bytes", Role::Type),
    later("enum", Role::Type),
    later("hex", Role::Type),
    later("blob", Role::Type),
    later("domain", Role::Type),
    later("decimal", Role::Type),
    later("repeat", Role::Type),
    later("java.long", Role::Type),
    later("java.int", Role::Type),
    later("java.short", Role::Type),
    later("floor", Role::Modifier),
    done("digits", Role::Modifier),
    later("hex", Role::Modifier),
    later("pad", Role::Modifier),
    later("reverse", Role::Modifier),
    later("md5", Role::Modifier),
    later("sha1", Role::Modifier),
    later("sha256", Role::Modifier),
    later("xxh3", Role::Modifier),
    later("murmur3", Role::Modifier),
    later("crc32", Role::Modifier),
    later("java.hashcode", Role::Modifier),
    done("desc", Role::Modifier),
    later("null", Role::Modifier),
    later("bucket", Role::Computed),
    later("hash", Role::Computed),
    later("salt", Role::Computed),
];

/// Families of foreign types, hashes and salts: `phoenix.varchar`, `ordered.string`, …
const FOREIGN: &[&str] = &["java.", "phoenix.", "ordered.", "tuple.", "opentsdb.", "hbasewd."];

/// What people write who think in another language.
const ELSEWHERE: &[(&str, &str)] = &[
    ("int", "did you mean `i32` (or `u32`)?"),
    ("integer", "did you mean `i32` (or `u32`)?"),
    ("long", "did you mean `i64` (or `u64`)?"),
    ("bigint", "did you mean `i64` (or `u64`)?"),
    ("short", "did you mean `i16` (or `u16`)?"),
    ("byte", "did you mean `u8`?"),
    ("str", "did you mean `string`?"),
    ("varchar", "did you mean `string`?"),
    ("char", "did you mean `string`?"),
    ("utf8", "did you mean `text` or `string`?"),
    ("timestamp", "did you mean `millis`?"),
    ("datetime", "did you mean `millis`?"),
    ("time", "did you mean `millis`?"),
    ("ts", "did you mean `millis`?"),
    ("ms", "did you mean `millis`?"),
    ("us", "did you mean `micros`?"),
    ("ns", "did you mean `nanos`?"),
    ("s", "did you mean `seconds`?"),
    ("secs", "did you mean `seconds`?"),
    ("number", "did you mean `u64` or `digits N`?"),
    ("descending", "did you mean `desc`?"),
    ("reversed", "did you mean `desc` (newest or greatest first)?"),
    ("inverted", "did you mean `desc`?"),
    ("asc", "ascending needs no word, leave it out"),
    ("ascending", "ascending needs no word, leave it out"),
];

const fn done(text: &'static str, role: Role) -> Word {
    Word { text, role, supported: true }
}

const fn later(text: &'static str, role: Role) -> Word {
    Word { text, role, supported: false }
}

/// Whether the word belongs to the language in that role, and this version does not do it.
pub(super) fn is_later(text: &str, role: Role) -> bool {
    let foreign = role != Role::Computed && FOREIGN.iter().any(|family| text.starts_with(family));
    foreign || WORDS.iter().any(|word| word.text == text && word.role == role && !word.supported)
}

/// What somebody who wrote `text` in that role probably meant.
pub(super) fn suggest(text: &str, role: Role) -> Option<String> {
    let lower = text.to_lowercase();
    if let Some((_, hint)) = ELSEWHERE.iter().find(|(word, _)| *word == lower) {
        return Some((*hint).to_owned());
    }
    let words = WORDS.iter().filter(|word| word.role == role).map(|word| word.text);
    closest(&lower, words).map(|word| format!("did you mean `{word}`?"))
}

/// The candidate that is closest to `text`, if it is close: one slip in a short word, two in a
/// longer one.
pub(crate) fn closest<'a>(
    text: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = match text.chars().count() {
        0 | 1 => 0,
        2..=4 => 1,
        _ => 2,
    };
    candidates
        .map(|candidate| (distance(text, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours between two words, in any case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for (i, &left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &right) in b.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(left != right);
            let mut best = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == right && left == b[j - 1] {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
