//! Command options: the pairs in a hash, taken out one by one. Pairs that remain at the end are
//! refused, so that nothing is ignored.

use rowhouse::Bytes;

use super::argument::{bytes, integer, text};
use super::failure::{Failure, Result, usage_error};
use super::grammar::{Hash, Value};
use super::spelling::closest;

/// An option that a command has: name and meaning.
pub(crate) type OptionText = (&'static str, &'static str);

/// Means any name among command options.
pub(crate) const ANY_OPTION: &str = "…";

/// Returns true if `name` is among these options.
pub(crate) fn has_option(known: &[OptionText], name: &str) -> bool {
    known.iter().any(|(known, _)| *known == name || *known == ANY_OPTION)
}

/// The pairs in a hash.
pub(crate) struct Options {
    /// The owner's name, for messages.
    owner: String,
    pairs: Hash,
}

impl Options {
    /// Checks that each name occurs once and is `known`. `owner` is their owner's name in messages.
    pub(crate) fn new(known: &[OptionText], owner: impl Into<String>, pairs: Hash) -> Result<Self> {
        let owner = owner.into();
        for (at, (name, _)) in pairs.iter().enumerate() {
            if pairs[..at].iter().any(|(earlier, _)| earlier == name) {
                return usage_error(format!("option {name} of {owner} is given twice"));
            }
            if !has_option(known, name) {
                return Err(refusal(name, &owner, known));
            }
        }
        Ok(Self { owner, pairs })
    }

    /// Returns true if `name` is given and has not been taken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(have, _)| have == name)
    }

    /// Takes the value for `name`.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.pairs.iter().position(|(have, _)| have == name)?;
        Some(self.pairs.remove(at).1)
    }

    /// Takes a whole number.
    pub(crate) fn take_integer(&mut self, name: &str) -> Result<Option<i64>> {
        self.take(name).map(|value| integer(name, &value)).transpose()
    }

    /// Takes a count: 1 or more.
    pub(crate) fn take_count(&mut self, name: &str) -> Result<Option<u32>> {
        let Some(number) = self.take_integer(name)? else { return Ok(None) };
        match u32::try_from(number) {
            Ok(count @ 1..) => Ok(Some(count)),
            _ => usage_error(format!("{name} must be 1 or more: {number}")),
        }
    }

    /// Takes a number that is 0 or more.
    pub(crate) fn take_number(&mut self, name: &str) -> Result<Option<u32>> {
        let Some(number) = self.take_integer(name)? else { return Ok(None) };
        match u32::try_from(number) {
            Ok(number) => Ok(Some(number)),
            Err(_) => usage_error(format!("{name} must be 0 or more: {number}")),
        }
    }

    /// Takes bytes.
    pub(crate) fn take_bytes(&mut self, name: &str) -> Result<Option<Bytes>> {
        self.take(name).map(|value| bytes(name, &value)).transpose()
    }

    /// Takes UTF-8.
    pub(crate) fn take_text(&mut self, name: &str) -> Result<Option<String>> {
        self.take(name).map(|value| text(name, &value)).transpose()
    }

    /// Takes true or false.
    pub(crate) fn take_truth(&mut self, name: &str) -> Result<bool> {
        match self.take(name) {
            None | Some(Value::Nil | Value::Boolean(false)) => Ok(false),
            Some(Value::Boolean(true)) => Ok(true),
            Some(other) => usage_error(format!("{name} must be true or false: {other}")),
        }
    }

    /// Takes a hash with texts and nils.
    pub(crate) fn take_texts(&mut self, name: &str) -> Result<Vec<(String, Option<String>)>> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Hash(pairs)) => pairs
                .into_iter()
                .map(|(key, value)| match value {
                    Value::Nil => Ok((key, None)),
                    value => text(&key, &value).map(|text| (key, Some(text))),
                })
                .collect(),
            Some(other) => usage_error(format!("{name} must be a hash, not {}", other.kind())),
        }
    }

    /// Takes an array, or a single value as an array with one value.
    pub(crate) fn take_list(&mut self, name: &str) -> Vec<Value> {
        match self.take(name) {
            None => Vec::new(),
            Some(Value::Array(values)) => values,
            Some(value) => vec![value],
        }
    }

    /// Takes every pair that is left.
    pub(crate) fn take_rest(&mut self) -> Hash {
        std::mem::take(&mut self.pairs)
    }

    /// Returns the name in a pair that was not taken.
    pub(crate) fn first(&self) -> Option<&str> {
        self.pairs.first().map(|(name, _)| &name[..])
    }

    /// Returns an error if a pair was not taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.pairs.first() {
            None => Ok(()),
            Some((name, _)) => Err(refusal(name, &self.owner, &[])),
        }
    }
}

/// Returns an option's refusal, with a suggestion from those that are `known`.
fn refusal(name: &str, owner: &str, known: &[OptionText]) -> Failure {
    if NOT_YET.contains(&name) {
        return Failure::Usage(format!("option {name} of {owner} is not supported yet"));
    }
    let known = known.iter().map(|(known, _)| *known);
    Failure::Usage(match closest(&name.to_uppercase(), known) {
        Some(meant) => format!("{owner} has no option {name}; did you mean {meant}?"),
        None => format!("{owner} has no option {name}"),
    })
}

/// Returns the options from both tables.
pub(crate) const fn join<const A: usize, const B: usize, const N: usize>(
    a: [OptionText; A],
    b: [OptionText; B],
) -> [OptionText; N] {
    assert!(N == A + B);
    let mut all = [("", ""); N];
    let mut at = 0;
    while at < N {
        all[at] = if at < A { a[at] } else { b[at - A] };
        at += 1;
    }
    all
}

/// Unsupported options from HBase's shell: refused by name, with the reason.
const NOT_YET: &[&str] = &[
    "ALLOW_PARTIAL_RESULTS",
    "ALL_METRICS",
    "ATTRIBUTES",
    "AUTHORIZATIONS",
    "CLONE_SFT",
    "CONSISTENCY",
    "ENCRYPTION",
    "ISOLATION_LEVEL",
    "MAX_RESULT_SIZE",
    "METRICS",
    "READ_TYPE",
    "REGION_REPLICATION",
    "REGION_REPLICA_ID",
    "RESTORE_ACL",
    "VISIBILITY",
];
