//! Running statements on a database.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Instant;

use rowhouse::Database;

use super::call::Call;
use super::commands::{COMMANDS, Command, Verb};
use super::failure::{Failure, Result, shown};
use super::grammar::Statement;
use super::run::{self, CommandOutput};
use super::{foreign, help, print};

/// A shell on a database. Its output goes to `out`.
pub(crate) struct Session<W> {
    pub(crate) database: Database,
    out: W,
    asked: Option<PendingAction>,
    place: Option<String>,
}

/// An action that waits for confirmation by the next line.
pub(crate) enum PendingAction {
    Snapshots(Deletion),
    Tables(TableChange, Vec<String>),
}

/// Snapshots to delete.
pub(crate) struct Deletion {
    pub(crate) names: Vec<String>,
    /// Whether each is reported, or only their number.
    pub(crate) tells_each: bool,
}

/// An action on several tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableChange {
    Disable,
    Drop,
    Enable,
}

/// The outcome of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The error was printed.
    Failed,
    /// The shell should end.
    Exit,
}

impl<W: Write> Session<W> {
    pub(crate) fn new(database: Database, out: W) -> Self {
        Self { database, out, asked: None, place: None }
    }

    /// Sets the position of the following commands, such as `script.txt:3`, for error messages.
    pub(crate) fn set_position(&mut self, place: impl Display) {
        self.place = Some(place.to_string());
    }

    /// Asks for confirmation; the next line is the answer.
    pub(super) fn ask(&mut self, asked: PendingAction) -> Result<()> {
        let (verb, count, what) = match &asked {
            PendingAction::Snapshots(deletion) => ("Delete", deletion.names.len(), "snapshots"),
            PendingAction::Tables(change, names) => (change.verb(), names.len(), "tables"),
        };
        self.say(format_args!("\n{verb} the above {count} {what} (y/n)?"))?;
        self.asked = Some(asked);
        Ok(())
    }

    /// Takes a line as the answer to a pending question; `None` if there is none.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub(crate) async fn answer(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        let Some(asked) = self.asked.take() else { return Ok(None) };
        let mut outcome = Outcome::Done;
        // As in HBase's shell: anywhere in the line.
        if line.contains(['y', 'Y']) {
            match run::done(self, asked).await {
                Ok(()) => {}
                Err(Failure::Output(error)) => return Err(error),
                Err(Failure::Usage(message)) => outcome = self.refuse(&message, None)?,
                Err(Failure::Database(error)) => {
                    outcome = self.refuse(&shown(&error, ""), None)?;
                }
            }
        }
        self.out.flush()?;
        Ok(Some(outcome))
    }

    /// Runs a statement. A pending, unanswered question is dropped.
    ///
    /// # Errors
    /// Only when the output is closed.
    pub(crate) async fn run(&mut self, statement: Statement) -> io::Result<Outcome> {
        self.asked = None;
        let outcome = match Command::find(&statement.command) {
            None => self.refuse(&unknown_command(&statement.command), None)?,
            Some(Command { verb: Verb::Exit, .. }) if statement.arguments.is_empty() => {
                Outcome::Exit
            }
            Some(command) => self.run_command(command, statement).await?,
        };
        self.out.flush()?;
        Ok(outcome)
    }

    async fn run_command(
        &mut self,
        command: &'static Command,
        statement: Statement,
    ) -> io::Result<Outcome> {
        let begun = Instant::now();
        let subject = statement.arguments.first().and_then(|value| value.to_bytes());
        let subject = String::from_utf8_lossy(&subject.unwrap_or_default()).into_owned();
        let done = match Call::new(command, statement.arguments) {
            Ok(call) => run::run(self, call).await,
            Err(failure) => Err(failure),
        };
        let message = match done {
            Ok(CommandOutput::Silence) => return Ok(Outcome::Done),
            Ok(returned) => {
                self.took(begun)?;
                self.returned(returned)?;
                return Ok(Outcome::Done);
            }
            Err(Failure::Output(error)) => return Err(error),
            Err(Failure::Usage(message)) => message,
            Err(Failure::Database(error)) => shown(&error, &subject),
        };
        let outcome = self.refuse(&message, Some(command))?;
        self.took(begun)?;
        Ok(outcome)
    }

    /// Prints the reason of an error.
    pub(crate) fn refuse(
        &mut self,
        message: &str,
        command: Option<&Command>,
    ) -> io::Result<Outcome> {
        let usage = match command {
            Some(command) => format!("help \"{}\"", command.name),
            None => "help".to_owned(),
        };
        let place = self.place.as_ref().map(|place| format!("At {place}\n")).unwrap_or_default();
        write!(self.out, "\nERROR: {message}\n\n{place}For usage try '{usage}'\n\n")?;
        self.out.flush()?;
        Ok(Outcome::Failed)
    }

    /// Prints a line.
    pub(crate) fn say(&mut self, line: impl Display) -> Result<()> {
        Ok(writeln!(self.out, "{line}")?)
    }

    fn took(&mut self, begun: Instant) -> io::Result<()> {
        writeln!(self.out, "Took {:.4} seconds", begun.elapsed().as_secs_f64())
    }

    fn returned(&mut self, returned: CommandOutput) -> io::Result<()> {
        match returned {
            CommandOutput::Silence | CommandOutput::Nothing => Ok(()),
            CommandOutput::Table(name) => writeln!(self.out, "=> Hbase::Table - {name}"),
            CommandOutput::Names(names) => writeln!(self.out, "=> {}", print::inspect(&names)),
            CommandOutput::Truth(truth) => writeln!(self.out, "=> {truth}"),
            CommandOutput::Count(count) => writeln!(self.out, "=> {count}"),
        }
    }

    pub(super) fn help(&mut self, command: Option<&str>) -> Result<()> {
        let text = match command {
            None => help::overview(),
            Some(name) => match Command::find(name) {
                Some(command) => help::of(command),
                None => return Err(Failure::Usage(unknown_command(name))),
            },
        };
        Ok(self.out.write_all(text.as_bytes())?)
    }
}

impl TableChange {
    fn verb(self) -> &'static str {
        match self {
            Self::Disable => "Disable",
            Self::Drop => "Drop",
            Self::Enable => "Enable",
        }
    }

    /// Returns the state of tables after it.
    pub(super) fn participle(self) -> &'static str {
        match self {
            Self::Disable => "disabled",
            Self::Drop => "dropped",
            Self::Enable => "enabled",
        }
    }
}

fn unknown_command(name: &str) -> String {
    if let Some(instead) = foreign::alternative_to(name) {
        return format!("command `{name}` is in HBase's own shell only; in rowhouse, {instead}");
    }
    let names = COMMANDS.iter().flat_map(|command| [Some(command.name), command.alias]).flatten();
    let close = names.map(|known| (distance(name, known), known)).min();
    match close {
        Some((1..=2, known)) if name.len() > 2 => {
            format!("unknown command `{name}`; did you mean `{known}`?")
        }
        _ => format!("unknown command `{name}`"),
    }
}

/// Returns the number of insertions, deletions and substitutions between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let changed = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
