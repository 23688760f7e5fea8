//! A shell command: grammar, help and function; and a call, from which the function takes the
//! arguments one by one. Arguments that remain at the end are refused, so that nothing is ignored.

use rowhouse::Bytes;
use rowhouse::schema::TableName;

use super::argument::{bytes, integer, text};
use super::failure::{Failure, Result, usage_error};
use super::grammar::{Hash, Value};
use super::options::{OptionText, Options, has_option};
use super::session::{CommandFuture, Session};

/// A shell command. Help, completion and dispatch read everything about it from here.
pub(crate) struct Command {
    /// The name, then the aliases.
    pub(crate) names: &'static [&'static str],
    pub(crate) group: Group,
    pub(crate) arguments: &'static [Argument],
    /// The options allowed in the hash: name and meaning. All others are refused.
    pub(crate) options: &'static [OptionText],
    /// A description in one line.
    pub(crate) about: &'static str,
    /// Further help.
    pub(crate) details: &'static str,
    pub(crate) examples: &'static [&'static str],
    pub(crate) run: Action,
}

/// The function that runs a command, by the effect it has.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// Changes nothing.
    Reads(CommandFn),
    /// May be half done when the user ends it.
    Changes(CommandFn),
}

/// `|session, call| boxed(scan(session, call))`: a closure names a function that is async.
type CommandFn = for<'s> fn(&'s mut Session, Call) -> CommandFuture<'s>;

/// The group in which `help` shows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    General,
    Tables,
    Namespaces,
    Data,
    Snapshots,
}

impl Group {
    pub(crate) const ALL: [Self; 5] =
        [Self::General, Self::Tables, Self::Namespaces, Self::Data, Self::Snapshots];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Tables => "tables",
            Self::Namespaces => "namespaces",
            Self::Data => "data",
            Self::Snapshots => "snapshots",
        }
    }
}

/// A command parameter.
pub(crate) struct Argument {
    /// The name in help and errors.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
}

/// A parameter kind, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An existing table's name.
    Table,
    /// A command name.
    Command,
    /// A hash with options.
    Options,
    /// Anything else.
    Other,
}

/// How often a parameter may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// Any number of times; only the last parameter.
    Repeated,
}

/// Returns a parameter that must be given.
pub(crate) const fn required(name: &'static str) -> Argument {
    Argument { name, kind: Kind::Other, need: Need::Required }
}

/// Returns a parameter that may be omitted.
pub(crate) const fn optional(name: &'static str) -> Argument {
    Argument { name, kind: Kind::Other, need: Need::Optional }
}

/// Returns a parameter that may be given any number of times.
pub(crate) const fn repeated(name: &'static str) -> Argument {
    Argument { name, kind: Kind::Other, need: Need::Repeated }
}

/// An existing table's name.
pub(crate) const TABLE: Argument =
    Argument { name: "TABLE", kind: Kind::Table, need: Need::Required };
/// A hash with the command's options.
pub(crate) const OPTIONS: Argument =
    Argument { name: "OPTIONS", kind: Kind::Options, need: Need::Optional };

impl Command {
    /// Returns the name, without the aliases.
    pub(crate) fn name(&self) -> &'static str {
        self.names[0]
    }

    /// Returns the minimum and maximum argument count.
    pub(crate) fn arity(&self) -> (usize, Option<usize>) {
        let least = self.arguments.iter().filter(|place| place.need == Need::Required).count();
        let any = self.arguments.iter().any(|place| place.need == Need::Repeated);
        (least, (!any).then_some(self.arguments.len()))
    }

    /// Returns true if the command's hash may hold `name`.
    pub(crate) fn has_option(&self, name: &str) -> bool {
        has_option(self.options, name)
    }

    /// Returns the parameter for the argument at `at`, counted from 0.
    pub(crate) fn place(&self, at: usize) -> Option<&'static Argument> {
        let last = self.arguments.last().filter(|place| place.need == Need::Repeated);
        self.arguments.get(at).or(last)
    }
}

/// A command with the arguments.
pub(crate) struct Call {
    pub(crate) command: &'static Command,
    pub(crate) arguments: Vec<Value>,
}

impl Call {
    /// Creates a call after checking the argument count.
    pub(crate) fn new(command: &'static Command, arguments: Vec<Value>) -> Result<Self> {
        let (least, most) = command.arity();
        let given = arguments.len();
        if given < least || most.is_some_and(|most| given > most) {
            let expected = match most {
                None => format!("{least}+"),
                Some(most) if most == least => least.to_string(),
                Some(most) => format!("{least}..{most}"),
            };
            return usage_error(format!(
                "wrong number of arguments (given {given}, expected {expected})"
            ));
        }
        Ok(Self { command, arguments })
    }

    /// Returns the table named by the first argument.
    pub(crate) fn table(&self) -> Result<String> {
        let name = self.text(0)?;
        match TableName::parse(&name) {
            Ok(name) => Ok(name.to_string()),
            Err(error) => {
                usage_error(illegal_table_name(&name).unwrap_or(error.message().to_owned()))
            }
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
            None => usage_error(format!("{} is missing", self.name(at))),
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
            Some(other) => usage_error(format!("{} must be true or false: {other}", self.name(at))),
            None => usage_error(format!("{} is missing", self.name(at))),
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
        Options::new(self.command.options, self.command.name(), pairs)
    }

    /// Refuses arguments from `at` on, where only a hash is allowed.
    pub(crate) fn no_more_than(&self, at: usize) -> Result<()> {
        match self.arguments.get(at) {
            None => Ok(()),
            Some(value) => {
                usage_error(format!("OPTIONS must be a hash, not {}: {value}", value.kind()))
            }
        }
    }

    fn name(&self, at: usize) -> &'static str {
        self.command.place(at).map_or("argument", |place| place.name)
    }
}

/// Refuses an invalid row key, with HBase's message.
pub(crate) fn check_row(row: &[u8]) -> Result<()> {
    if row.is_empty() {
        return usage_error("Row length is 0");
    }
    match i16::try_from(row.len()) {
        Ok(_) => Ok(()),
        Err(_) => usage_error(format!("Row length {} is > {}", row.len(), i16::MAX)),
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
