//! A call: a command and its arguments, which are taken out one by one. Arguments left over at the
//! end are refused, so that nothing is ignored.

use rowhouse::Bytes;
use rowhouse::schema::TableName;

use super::commands::{Command, NOT_YET};
use super::failure::{Failure, Result, said};
use super::grammar::{Hash, Value};

/// A command with its arguments.
pub(crate) struct Call {
    pub(crate) command: &'static Command,
    pub(crate) arguments: Vec<Value>,
}

impl Call {
    /// Creates a call after checking the number of arguments.
    pub(crate) fn new(command: &'static Command, arguments: Vec<Value>) -> Result<Self> {
        let (least, most) = command.arity();
        let given = arguments.len();
        if given < least || most.is_some_and(|most| given > most) {
            let expected = match most {
                None => format!("{least}+"),
                Some(most) if most == least => least.to_string(),
                Some(most) => format!("{least}..{most}"),
            };
            return said(format!("wrong number of arguments (given {given}, expected {expected})"));
        }
        Ok(Self { command, arguments })
    }

    /// Returns the table named by the first argument.
    pub(crate) fn table(&self) -> Result<String> {
        let name = self.text(0)?;
        match TableName::parse(&name) {
            Ok(name) => Ok(name.to_string()),
            Err(error) => said(illegal_table_name(&name).unwrap_or(error.message().to_owned())),
        }
    }

    /// Returns the argument at `at` as UTF-8.
    pub(crate) fn text(&self, at: usize) -> Result<String> {
        self.text_if_given(at)?
            .ok_or_else(|| Failure::Usage(format!("{} is missing", self.name(at))))
    }

    /// Returns the argument at `at` as UTF-8, if it was given.
    pub(crate) fn text_if_given(&self, at: usize) -> Result<Option<String>> {
        let Some(value) = self.arguments.get(at) else { return Ok(None) };
        text(self.name(at), value).map(Some)
    }

    /// Returns the argument at `at` as bytes.
    pub(crate) fn bytes(&self, at: usize) -> Result<Bytes> {
        match self.arguments.get(at) {
            Some(value) => bytes(self.name(at), value),
            None => said(format!("{} is missing", self.name(at))),
        }
    }

    /// Returns the argument at `at` as a row key.
    pub(crate) fn row(&self, at: usize) -> Result<Bytes> {
        let row = self.bytes(at)?;
        check_row(&row)?;
        Ok(row)
    }

    /// Returns the argument at `at` as a number, if it was given and is not nil.
    pub(crate) fn integer(&self, at: usize) -> Result<Option<i64>> {
        match self.arguments.get(at) {
            None | Some(Value::Nil) => Ok(None),
            Some(value) => integer(self.name(at), value).map(Some),
        }
    }

    /// Returns the argument at `at` as true or false.
    pub(crate) fn truth(&self, at: usize) -> Result<bool> {
        match self.arguments.get(at) {
            Some(Value::Boolean(truth)) => Ok(*truth),
            Some(other) => said(format!("{} must be true or false: {other}", self.name(at))),
            None => said(format!("{} is missing", self.name(at))),
        }
    }

    /// Takes the hash at the end, if it comes after the required arguments: a hash among those is a
    /// row.
    pub(crate) fn take_options(&mut self) -> Result<Options> {
        let (needed, _) = self.command.arity();
        let last = self.arguments.pop_if(|last| matches!(last, Value::Hash(_)));
        let pairs = match last {
            Some(Value::Hash(pairs)) if self.arguments.len() >= needed => pairs,
            other => {
                self.arguments.extend(other);
                Hash::new()
            }
        };
        Options::new(self.command, self.command.name, pairs)
    }

    /// Refuses arguments from `at` on, where only a hash is allowed.
    pub(crate) fn no_more_than(&self, at: usize) -> Result<()> {
        match self.arguments.get(at) {
            None => Ok(()),
            Some(value) => said(format!("OPTIONS must be a hash, not {}: {value}", value.kind())),
        }
    }

    fn name(&self, at: usize) -> &'static str {
        self.command.place(at).map_or("argument", |place| place.name)
    }
}

/// The pairs of a hash.
pub(crate) struct Options {
    /// The name of their owner, for messages.
    owner: String,
    pairs: Hash,
}

impl Options {
    /// Checks that each name occurs once and is among the options of the command. `owner` is their
    /// owner's name in messages.
    pub(crate) fn new(command: &Command, owner: impl Into<String>, pairs: Hash) -> Result<Self> {
        let owner = owner.into();
        for (at, (name, _)) in pairs.iter().enumerate() {
            if pairs[..at].iter().any(|(earlier, _)| earlier == name) {
                return said(format!("option {name} of {owner} is given twice"));
            }
            if !command.has_option(name) {
                return Err(refusal(name, &owner));
            }
        }
        Ok(Self { owner, pairs })
    }

    /// Returns whether `name` is given and has not been taken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(have, _)| have == name)
    }

    /// Takes the value of `name`.
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
            _ => said(format!("{name} must be 1 or more: {number}")),
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
            Some(other) => said(format!("{name} must be true or false: {other}")),
        }
    }

    /// Takes a hash of texts and nils.
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
            Some(other) => said(format!("{name} must be a hash, not {}", other.kind())),
        }
    }

    /// Takes an array, or a single value as an array of one.
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

    /// Returns the name of a pair that was not taken.
    pub(crate) fn first(&self) -> Option<&str> {
        self.pairs.first().map(|(name, _)| &name[..])
    }

    /// Returns an error if a pair was not taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.pairs.first() {
            None => Ok(()),
            Some((name, _)) => Err(refusal(name, &self.owner)),
        }
    }
}

fn refusal(name: &str, owner: &str) -> Failure {
    Failure::Usage(match NOT_YET.contains(&name) {
        true => format!("option {name} of {owner} is not supported yet"),
        false => format!("{owner} has no option {name}"),
    })
}

/// Refuses an invalid row key, with HBase's message.
pub(crate) fn check_row(row: &[u8]) -> Result<()> {
    if row.is_empty() {
        return said("Row length is 0");
    }
    match i16::try_from(row.len()) {
        Ok(_) => Ok(()),
        Err(_) => said(format!("Row length {} is > {}", row.len(), i16::MAX)),
    }
}

/// Returns a value as UTF-8.
pub(crate) fn text(name: &str, value: &Value) -> Result<String> {
    let bytes = bytes(name, value)?;
    String::from_utf8(bytes.to_vec())
        .map_err(|_| Failure::Usage(format!("{name} must be UTF-8: {value}")))
}

/// Returns a value as bytes.
pub(crate) fn bytes(name: &str, value: &Value) -> Result<Bytes> {
    value
        .to_bytes()
        .ok_or_else(|| Failure::Usage(format!("{name} must be a text, not {}", value.kind())))
}

/// Returns a value as a number.
pub(crate) fn integer(name: &str, value: &Value) -> Result<i64> {
    match value {
        Value::Integer(number) => Ok(*number),
        other => said(format!("{name} must be a number, not {}: {other}", other.kind())),
    }
}

/// Returns HBase's message for a table name with an illegal character.
fn illegal_table_name(name: &str) -> Option<String> {
    let qualifier = name.split_once(':').map_or(name, |(_, qualifier)| qualifier);
    let allowed = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let (at, c) = qualifier.chars().enumerate().find(|(_, c)| !allowed(*c))?;
    Some(format!(
        "Illegal character code:{}, <{c}> at {at}. User-space table qualifiers may only contain \
         'alphanumeric characters' and digits: {qualifier}",
        u32::from(c)
    ))
}
