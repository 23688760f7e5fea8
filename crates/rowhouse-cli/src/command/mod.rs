//! One file for each command in the program.

pub(crate) mod admin;
pub(crate) mod advise;
mod argument;
pub(crate) mod backup;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod completions;
mod csv_error;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod health;
pub(crate) mod heat;
pub(crate) mod hfile;
pub(crate) mod import;
pub(crate) mod key;
mod location;
mod progress;
mod readiness;
pub(crate) mod salvage;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod settings_file;
pub(crate) mod shell;
pub(crate) mod simulate;
pub(crate) mod stats;
pub(crate) mod user;
mod workload;

use csv_error::unreadable_csv;
use location::{database_url, directory_of, open_existing, server_of};

/// The default data directory.
const DATA_DIR: &str = "./rowhouse-data";

/// The exit status for a check or salvage that found no damage in a store whose log was not closed.
const NOT_CLOSED: u8 = 3;

/// A command outcome: an exit status, or an error.
type CommandResult = rowhouse::Result<std::process::ExitCode>;

/// Starts the runtime for a command that is a client or a server.
fn runtime() -> rowhouse::Result<tokio::runtime::Runtime> {
    tokio::runtime::Runtime::new()
        .map_err(|source| rowhouse::Error::io("cannot start the runtime", source))
}
