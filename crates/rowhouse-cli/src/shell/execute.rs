//! Running statements: from the command name to the function.

use std::io;
use std::time::Instant;

use super::command::{Action, Call, Command};
use super::failure::{Failure, shown};
use super::grammar::Statement;
use super::print::inspect;
use super::session::{CommandOutput, Outcome, Session};
use super::spelling::closest;
use super::{commands, foreign, help};

impl Session {
    /// Runs a statement. A pending, unanswered question is dropped.
    ///
    /// # Errors
    /// Only when the output is closed.
    pub(crate) async fn run(&mut self, statement: Statement) -> io::Result<Outcome> {
        self.forget_question();
        let outcome = match commands::find(&statement.command) {
            None => self.refuse(&unknown_command(&statement.command), None)?,
            Some(command) => self.run_command(command, statement).await?,
        };
        self.flush()?;
        Ok(outcome)
    }

    async fn run_command(
        &mut self,
        command: &'static Command,
        statement: Statement,
    ) -> io::Result<Outcome> {
        let started = Instant::now();
        let subject = statement.arguments.first().and_then(|value| value.to_bytes());
        let subject = String::from_utf8_lossy(&subject.unwrap_or_default()).into_owned();
        let (Action::Reads(run) | Action::Changes(run)) = command.run;
        let done = match Call::new(command, statement.arguments) {
            Ok(call) => self.until_interrupted(|session| run(session, call)).await,
            Err(failure) => Err(failure),
        };
        let message = match done {
            Ok(CommandOutput::Exit) => return Ok(Outcome::Exit),
            Ok(CommandOutput::Help(about)) => match help_on(about.as_deref()) {
                Ok(text) => {
                    self.print(text)?;
                    return Ok(Outcome::Done);
                }
                Err(message) => message,
            },
            Ok(output) => {
                self.took(started)?;
                if let Some(value) = shown_value(&output) {
                    self.print(format_args!("=> {value}\n"))?;
                }
                return Ok(Outcome::Done);
            }
            Err(Failure::Output(error)) => return Err(error),
            Err(Failure::Usage(message)) => message,
            Err(Failure::Database(error)) => shown(&error, &subject),
            Err(Failure::Interrupted) => {
                let changes = matches!(command.run, Action::Changes(_));
                let outcome = self.interrupted(changes)?;
                self.took(started)?;
                return Ok(outcome);
            }
        };
        let outcome = self.refuse(&message, Some(command.name()))?;
        self.took(started)?;
        Ok(outcome)
    }

    fn took(&mut self, started: Instant) -> io::Result<()> {
        self.print(format_args!("Took {:.4} seconds\n", started.elapsed().as_secs_f64()))
    }
}

/// Returns a command's value as HBase's shell shows it.
fn shown_value(output: &CommandOutput) -> Option<String> {
    match output {
        CommandOutput::Nothing | CommandOutput::Exit | CommandOutput::Help(_) => None,
        CommandOutput::Table(name) => Some(format!("Hbase::Table - {name}")),
        CommandOutput::Names(names) => Some(inspect(names)),
        CommandOutput::Truth(truth) => Some(truth.to_string()),
        CommandOutput::Count(count) => Some(count.to_string()),
    }
}

/// Returns the help for a command, or for the whole shell; an error if there is no such command.
fn help_on(name: Option<&str>) -> Result<String, String> {
    let Some(name) = name else { return Ok(help::overview()) };
    commands::find(name).map(help::of).ok_or_else(|| unknown_command(name))
}

fn unknown_command(name: &str) -> String {
    if let Some(instead) = foreign::alternative_to(name) {
        return format!("command `{name}` is in HBase's own shell only; in rowhouse, {instead}");
    }
    match closest(name, commands::names()) {
        Some(known) => format!("unknown command `{name}`; did you mean `{known}`?"),
        None => format!("unknown command `{name}`"),
    }
}
