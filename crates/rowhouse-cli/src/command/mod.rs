//! One file for each command of the program.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod export;
pub(crate) mod hfile;
pub(crate) mod import;
pub(crate) mod key;
mod progress;
pub(crate) mod salvage;
pub(crate) mod serve;
pub(crate) mod shell;

/// The data directory where none is named.
const DATA_DIR: &str = "./rowhouse-data";

/// How a command ends: with an exit status, or with what went wrong.
type Done = rowhouse::Result<std::process::ExitCode>;
