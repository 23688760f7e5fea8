//! The template language's words, and suggestions for words that are close to one.

use crate::encode::FieldType;
use crate::error::Fault;
use crate::spelling::closest;

/// A word's position in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// After the name.
    Type,
    /// After the type.
    Modifier,
    /// Before a number, in the name's position.
    Computed,
}

const MODIFIERS: &[&str] = &[
    "tz", "floor", "digits", "hex", "pad", "reverse", "md5", "sha1", "sha256", "xxh3", "murmur3",
    "crc32", "desc", "null",
];

const COMPUTED: &[&str] = &["bucket", "hash", "salt"];

impl Role {
    fn words(self) -> Vec<&'static str> {
        match self {
            Self::Type => FieldType::words().collect(),
            Self::Modifier => MODIFIERS.to_vec(),
            Self::Computed => COMPUTED.to_vec(),
        }
    }

    /// Returns true if the language has that word in this role.
    pub(super) fn has(self, word: &str) -> bool {
        self.words().contains(&word)
    }
}

/// Returns true if the word is a type of our own. None contains a dot; every foreign type does.
pub(crate) fn is_type(word: &str) -> bool {
    Role::Type.has(word)
}

/// The families of foreign types, hashes and salts: `phoenix.varchar`, `ordered.string`, …
const FOREIGN: &[&str] = &[
    "java.",
    "phoenix.",
    "ordered.",
    "tuple.",
    "opentsdb.",
    "hbasewd.",
    "kiji.",
    "ordered_code.",
    "bigtable.",
];

/// Types from other languages, with hints.
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
    ("float", "did you mean `f32` (or `f64`)?"),
    ("double", "did you mean `f64`?"),
    ("boolean", "did you mean `bool`?"),
    ("guid", "did you mean `uuid`?"),
    ("ip", "did you mean `ipv4`?"),
    ("inet", "did you mean `ipv4`?"),
    ("binary", "did you mean `bytes N` or `blob`?"),
    ("number", "did you mean `u64` or `digits N`?"),
    ("descending", "did you mean `desc`?"),
    ("reversed", "did you mean `reverse` (last character first) or `desc` (greatest first)?"),
    ("sha2", "did you mean `sha256`?"),
    ("xxhash", "did you mean `xxh3`?"),
    ("zone", "did you mean `tz +08:00`?"),
    ("timezone", "did you mean `tz +08:00`?"),
    ("utc", "times are in UTC, leave it out"),
    ("inverted", "did you mean `desc`?"),
    ("asc", "ascending needs no word, leave it out"),
    ("ascending", "ascending needs no word, leave it out"),
];

/// The error for a type that Java has no hash for, or a hash other than the one for its bytes.
pub(super) fn no_java_hash(at: usize, field_type: &FieldType) -> Fault {
    let message = format!("`java.hashcode` is not defined for `{field_type}`");
    Fault::new(at, message).hint("it is of texts, of bytes, and of whole numbers of 4 or 8 bytes")
}

/// Returns true if the word names a foreign type, hash or salt.
pub(super) fn is_foreign(word: &str) -> bool {
    FOREIGN.iter().any(|family| word.starts_with(family))
}

/// Suggests a word for a wrong word in this role.
pub(super) fn suggest(text: &str, role: Role) -> Option<String> {
    let lower = text.to_lowercase();
    if let Some((_, hint)) = ELSEWHERE.iter().find(|(word, _)| *word == lower) {
        return Some((*hint).to_owned());
    }
    closest(&lower, role.words()).map(|word| format!("did you mean `{word}`?"))
}
