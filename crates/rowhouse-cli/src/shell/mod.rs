//! The shell: HBase's commands, with HBase's syntax and output, on a database.

mod call;
mod commands;
mod complete;
mod describe;
mod failure;
mod foreign;
mod grammar;
mod help;
mod print;
mod read;
mod run;
mod session;
mod terminal;

pub(crate) use print::timestamp;
pub(crate) use read::{LineOutcome, StatementReader};
pub(crate) use session::{Outcome, Session};
pub(crate) use terminal::{Input, Terminal};

#[cfg(test)]
mod tests;
