//! Shell state: the database, the output, the question that waits for an answer.

use std::fmt::Display;
use std::io::{self, Write};
use std::pin::Pin;

use rowhouse::Database;

use super::failure::{Failure, Result, shown};
use super::interrupt::Interrupts;

/// A shell on a database. The output goes to `out`.
pub(crate) struct Session {
    pub(crate) database: Database,
    out: Box<dyn Write>,
    pending: Option<ConfirmedAction>,
    place: Option<String>,
    interrupts: Interrupts,
}

/// The action to take once the next line confirms it.
type ConfirmedAction = Box<dyn for<'s> FnOnce(&'s mut Session) -> CommandFuture<'s>>;

/// A command that runs on a session.
pub(crate) type CommandFuture<'s> = Pin<Box<dyn Future<Output = Result<CommandOutput>> + 's>>;

/// A command result, which the shell shows after `=>`.
pub(crate) enum CommandOutput {
    Nothing,
    /// The shell ends; nothing is printed.
    Exit,
    /// The help for this command, or for the whole shell, without the elapsed time.
    Help(Option<String>),
    Table(String),
    Names(Vec<String>),
    Truth(bool),
    Count(u64),
}

/// A statement's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The error was printed.
    Failed,
    /// The user ended it; commands on the same line should not run.
    Interrupted,
    /// The shell should end.
    Exit,
}

impl Session {
    pub(crate) fn new(database: Database, out: Box<dyn Write>) -> Self {
        Self { database, out, pending: None, place: None, interrupts: Interrupts::none() }
    }

    /// Lets these requests end commands.
    pub(crate) fn set_interrupts(&mut self, interrupts: Interrupts) {
        self.interrupts = interrupts;
    }

    /// Sets the position for the following commands, such as `script.txt:3`, for error messages.
    pub(crate) fn set_position(&mut self, place: impl Display) {
        self.place = Some(place.to_string());
    }

    /// Requests confirmation for `action`; the next line is the answer.
    pub(super) fn request_confirmation(
        &mut self,
        question: impl Display,
        action: impl for<'s> FnOnce(&'s mut Self) -> CommandFuture<'s> + 'static,
    ) -> Result<()> {
        self.say(format_args!("\n{question} (y/n)?"))?;
        self.pending = Some(Box::new(action));
        Ok(())
    }

    /// Takes a line as the answer to a pending question; `None` if there is none.
    ///
    /// # Errors
    /// Only when the output is closed.
    pub(crate) async fn answer(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        let Some(pending) = self.pending.take() else { return Ok(None) };
        let mut outcome = Outcome::Done;
        // As in HBase's shell: anywhere in the line.
        if line.contains(['y', 'Y']) {
            outcome = match self.until_interrupted(pending).await {
                Ok(_) => Outcome::Done,
                Err(Failure::Output(error)) => return Err(error),
                Err(Failure::Usage(message)) => self.refuse(&message, None)?,
                Err(Failure::Database(error)) => self.refuse(&shown(&error, ""), None)?,
                Err(Failure::Interrupted) => self.interrupted(true)?,
            };
        }
        self.out.flush()?;
        Ok(Some(outcome))
    }

    /// Runs a command until it ends, or until the user ends it.
    pub(super) async fn until_interrupted(
        &mut self,
        command: impl for<'s> FnOnce(&'s mut Self) -> CommandFuture<'s>,
    ) -> Result<CommandOutput> {
        self.interrupts.clear();
        let raised = self.interrupts.raised();
        tokio::select! {
            biased;
            () = raised => Err(Failure::Interrupted),
            done = command(self) => done,
        }
    }

    /// Drops a pending question.
    pub(super) fn forget_question(&mut self) {
        self.pending = None;
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Prints an error's reason.
    pub(crate) fn refuse(&mut self, message: &str, command: Option<&str>) -> io::Result<Outcome> {
        let usage = match command {
            Some(command) => format!("help \"{command}\""),
            None => "help".to_owned(),
        };
        let place = self.place.as_ref().map(|place| format!("At {place}\n")).unwrap_or_default();
        write!(self.out, "\nERROR: {message}\n\n{place}For usage try '{usage}'\n\n")?;
        self.out.flush()?;
        Ok(Outcome::Failed)
    }

    /// Prints that the user ended a command. One that `changes` something may be half done.
    pub(super) fn interrupted(&mut self, changes: bool) -> io::Result<Outcome> {
        let changes = if changes { "; changes that it has begun are not undone" } else { "" };
        writeln!(self.out, "\nInterrupted{changes}.")?;
        Ok(Outcome::Interrupted)
    }

    /// Prints a line.
    ///
    /// # Errors
    /// `Interrupted` if the user ended the command.
    pub(crate) fn say(&mut self, line: impl Display) -> Result<()> {
        if self.interrupts.is_raised() {
            return Err(Failure::Interrupted);
        }
        Ok(writeln!(self.out, "{line}")?)
    }

    /// Prints a text, also from a command that the user ended.
    pub(super) fn print(&mut self, text: impl Display) -> io::Result<()> {
        write!(self.out, "{text}")
    }
}

/// Returns a command's future.
pub(crate) fn boxed<'s, T: Into<CommandOutput>>(
    done: impl Future<Output = Result<T>> + 's,
) -> CommandFuture<'s> {
    Box::pin(async { done.await.map(Into::into) })
}

impl From<()> for CommandOutput {
    fn from((): ()) -> Self {
        Self::Nothing
    }
}

impl From<Vec<String>> for CommandOutput {
    fn from(names: Vec<String>) -> Self {
        Self::Names(names)
    }
}

impl From<bool> for CommandOutput {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl From<u64> for CommandOutput {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}
