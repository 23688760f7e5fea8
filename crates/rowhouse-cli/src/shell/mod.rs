//! The shell: HBase's commands, with HBase's syntax and output, on a database.

mod argument;
mod command;
mod commands;
mod complete;
mod describe;
mod execute;
mod failure;
mod foreign;
mod grammar;
mod help;
mod interrupt;
mod options;
mod print;
mod read;
mod session;
mod spelling;
mod terminal;

pub(crate) use interrupt::Interrupts;
pub(crate) use print::timestamp;
pub(crate) use read::{LineOutcome, StatementReader};
pub(crate) use session::{Outcome, Session};
pub(crate) use terminal::{Input, Terminal};

#[cfg(test)]
mod tests;
