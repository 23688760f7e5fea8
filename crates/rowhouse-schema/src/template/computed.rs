//! The parser for computed fields: `bucket 16 of user by md5 digits as shard`.

use super::bracket::{Words, check_field_name, check_name, number_up_to};
use super::element::Naming;
use super::words::{self, Role};
use crate::computed::{Alphabet, BUCKETS_MAX, BucketForm, Computed, Formula, Operands};
use crate::encode::FieldType;
use crate::error::Fault;
use crate::transform::{Bucketing, HashFunction};

/// A computed field whose operands have not been resolved yet.
pub(super) struct RawComputed {
    pub(super) at: usize,
    name: Option<String>,
    formula: Formula,
    /// The names after `of`, each with the offset; empty for `rest`.
    of: Vec<(usize, String)>,
}

impl RawComputed {
    pub(super) fn shifted(mut self, offset: usize) -> Self {
        self.at += offset;
        self.of.iter_mut().for_each(|(at, _)| *at += offset);
        self
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(super) fn width(&self) -> usize {
        self.formula.codec().width().unwrap_or(0)
    }

    /// Returns true if the field is computed from the bytes after it.
    pub(super) fn is_of_rest(&self) -> bool {
        self.of.is_empty() && !matches!(self.formula, Formula::Salt { .. })
    }

    /// Returns the computed field; `operand` resolves the operand names.
    pub(super) fn finish(
        &self,
        operand: impl Fn(&str) -> Result<(usize, FieldType), String>,
    ) -> Result<Computed, Fault> {
        let formula = self.formula_of(&operand)?;
        let operands = match (&self.formula, self.is_of_rest()) {
            (Formula::Salt { .. }, _) => Operands::Chance,
            (_, true) => Operands::Rest,
            _ => {
                let look = |(at, name): &(usize, String)| {
                    operand(name).map(|(at, _)| at).map_err(|why| Fault::new(*at, why))
                };
                Operands::Fields(self.of.iter().map(look).collect::<Result<_, _>>()?)
            }
        };
        let names: Vec<_> = self.of.iter().map(|(_, name)| name.as_str()).collect();
        let of = match self.formula {
            // A hash always lists the operands; for a bucket, `rest` is the default.
            Formula::Hash { .. } if names.is_empty() => "rest".to_owned(),
            _ => names.join(","),
        };
        let codec = formula.codec();
        Ok(Computed { name: self.name.clone(), formula, operands, of, codec })
    }

    /// Returns the formula, which for `java.hashcode` depends on the operands' types.
    fn formula_of(
        &self,
        operand: impl Fn(&str) -> Result<(usize, FieldType), String>,
    ) -> Result<Formula, Fault> {
        let of_operand = |function: HashFunction| match &self.of[..] {
            _ if !function.is_java() => Ok(function),
            // For the rest of the key, the hash for bytes.
            [] => Ok(function),
            [(at, name)] => {
                let (_, field_type) = operand(name).map_err(|why| Fault::new(*at, why))?;
                function.of(&field_type).ok_or_else(|| words::no_java_hash(*at, &field_type))
            }
            [_, (at, _), ..] => Err(Fault::new(*at, "`java.hashcode` is of one field, or of rest")),
        };
        Ok(match self.formula.clone() {
            Formula::Bucket { count, by: Bucketing::JavaRemainder(function), form } => {
                let by = Bucketing::JavaRemainder(of_operand(function)?);
                Formula::Bucket { count, by, form }
            }
            Formula::Hash { len, function, hex } => {
                Formula::Hash { len, function: of_operand(function)?, hex }
            }
            formula => formula,
        })
    }
}

/// Parses a computed field, after the word and number.
pub(super) fn parse(
    (at, word): (usize, &str),
    (number_at, number): (usize, &str),
    naming: Naming,
    words: &mut Words<'_>,
) -> Result<RawComputed, Fault> {
    if !Role::Computed.has(word) {
        return Err(match words::suggest(word, Role::Computed) {
            Some(hint) => Fault::new(at, format!("unknown computed field `{word}`")).hint(hint),
            None => Fault::new(number_at, format!("expected a type after `{word}`, not a number"))
                .hint(format!("for example [{word} digits 8]")),
        });
    }
    let (formula, of) = match word {
        "salt" => (salt(number_at, number, words)?, Vec::new()),
        "bucket" => {
            let count = number_up_to(number_at, number, BUCKETS_MAX, "buckets")?;
            let of = of(naming, words)?.unwrap_or_default();
            let by = bucketing((number_at, count), of.is_empty(), words)?;
            let form = if by.is_native() { form(words)? } else { BucketForm::Binary };
            (Formula::Bucket { count, by, form }, of)
        }
        _ => {
            let of = of(naming, words)?.ok_or_else(|| {
                Fault::new(words.end(), "expected `of` and the names of fields")
                    .hint("for example [hash 4 of user], or [hash 4 of rest]")
            })?;
            let function = function(words)?;
            let what = format!("bytes of {}", function.word());
            let len = number_up_to(number_at, number, function.len(), &what)?;
            (Formula::Hash { len, function, hex: words.word("hex")?.is_some() }, of)
        }
    };
    let name = name(words)?;
    match words.next()? {
        Some((at, extra)) => Err(unexpected(at, extra)),
        None => Ok(RawComputed { at, name, formula, of }),
    }
}

fn of(naming: Naming, words: &mut Words<'_>) -> Result<Option<Vec<(usize, String)>>, Fault> {
    if words.word("of")?.is_none() {
        return Ok(None);
    }
    let (mut at, names) = words.expect("the names of fields after `of`, or `rest`")?;
    if names == "rest" {
        return Ok(Some(Vec::new()));
    }
    let mut of = Vec::new();
    for name in names.split(',') {
        check_field_name(at, name, naming).map_err(|fault| fault.hint("as in `of user,day`"))?;
        if of.iter().any(|(_, earlier)| earlier == name) {
            return Err(Fault::new(at, format!("`{name}` is given twice")));
        }
        of.push((at, name.to_owned()));
        at += name.len() + 1;
    }
    Ok(Some(of))
}

/// Returns the word after `by`, if there is one.
fn by<'a>(words: &mut Words<'a>) -> Result<Option<(usize, &'a str)>, Fault> {
    match words.word("by")? {
        None => Ok(None),
        Some(_) => {
            words.expect("a hash after `by`: md5, sha1, sha256, xxh3, murmur3 or crc32").map(Some)
        }
    }
}

fn function(words: &mut Words<'_>) -> Result<HashFunction, Fault> {
    let Some((at, word)) = by(words)? else { return Ok(HashFunction::Xxh3) };
    match HashFunction::named(word) {
        Some(function) => Ok(function),
        None if Bucketing::FOREIGN.contains(&word) => {
            Err(Fault::new(at, format!("`{word}` makes the number of a bucket, not a hash"))
                .hint(format!("write [bucket N by {word}]")))
        }
        None => Err(unknown_hash(at, word)),
    }
}

fn bucketing(
    (count_at, count): (usize, u32),
    is_of_rest: bool,
    words: &mut Words<'_>,
) -> Result<Bucketing, Fault> {
    let Some((at, word)) = by(words)? else { return Ok(Bucketing::by(HashFunction::Xxh3)) };
    let function = || HashFunction::named(word).map(Bucketing::by);
    let mut by =
        Bucketing::foreign(word, count).or_else(function).ok_or_else(|| unknown_hash(at, word))?;
    if let Bucketing::Opentsdb { bytes } = &mut by
        && let Some((at, width)) = words.number()?
    {
        *bytes = number_up_to(at, width, 8, "bytes")?;
    }
    if let Some(max) = by.count_max().filter(|max| count > *max) {
        let message = format!("too many buckets for {word}: count={count}, max={max}");
        return Err(Fault::new(count_at, message));
    }
    if by.is_of_rest() && !is_of_rest {
        return Err(Fault::new(at, format!("`{word}` is computed from all bytes after it"))
            .hint(format!("write [bucket {count} by {word}]")));
    }
    Ok(by)
}

fn unknown_hash(at: usize, word: &str) -> Fault {
    if words::is_foreign(word) {
        return Fault::unsupported(at, word).hint(format!(
            "foreign hashes are: java.hashcode, and of buckets {}",
            Bucketing::FOREIGN.join(" ")
        ));
    }
    Fault::new(at, format!("unknown hash `{word}`"))
        .hint("hashes are: md5 sha1 sha256 xxh3 murmur3 crc32")
}

fn form(words: &mut Words<'_>) -> Result<BucketForm, Fault> {
    Ok(match words.next_if(|word| matches!(word, "digits" | "hex"))? {
        Some((_, "digits")) => BucketForm::Digits,
        Some(_) => BucketForm::Hex,
        None => BucketForm::Binary,
    })
}

fn name(words: &mut Words<'_>) -> Result<Option<String>, Fault> {
    if words.word("as")?.is_none() {
        return Ok(None);
    }
    let (at, name) = words.expect("a name after `as`")?;
    check_name(at, name)?;
    Ok(Some(name.to_owned()))
}

fn salt(at: usize, number: &str, words: &mut Words<'_>) -> Result<Formula, Fault> {
    let count = number_up_to(at, number, BUCKETS_MAX, "salts")?;
    let alphabet = match words.next_if(|word| word != "as")? {
        Some((at, text)) => Some(alphabet(at, text, count)?),
        None => None,
    };
    Ok(Formula::Salt { count, alphabet })
}

/// Parses the characters in `a-d`, or in a character list.
fn alphabet(at: usize, text: &str, count: u32) -> Result<Alphabet, Fault> {
    if words::is_foreign(text) {
        return Err(Fault::unsupported(at, text));
    }
    if !text.bytes().all(|c| c.is_ascii_graphic()) {
        return Err(Fault::new(at, "the characters of a salt must be ASCII"));
    }
    let characters: String = match text.as_bytes() {
        [first, b'-', last] => (*first..=*last).map(char::from).collect(),
        _ => text.to_owned(),
    };
    let mut sorted = characters.clone().into_bytes();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Fault::new(at, "duplicate character"));
    }
    if characters.len() != count as usize {
        return Err(Fault::new(
            at,
            format!("expected {count} characters, `{text}` has {}", characters.len()),
        )
        .hint("write the first and the last as in a-d, or all of them"));
    }
    Ok(Alphabet { text: text.to_owned(), characters })
}

fn unexpected(at: usize, word: &str) -> Fault {
    Fault::new(at, format!("`{word}` is not allowed here"))
        .hint("in this order: of FIELDS, by HASH, digits or hex, as NAME")
}
