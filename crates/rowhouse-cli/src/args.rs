//! The command line.

use clap::{Parser, Subcommand};

use crate::command::admin::AdminArgs;
use crate::command::advise::AdviseArgs;
use crate::command::backup::{BackupArgs, RestoreArgs};
use crate::command::changes::ChangesArgs;
use crate::command::check::CheckArgs;
use crate::command::completions::{CompletionsArgs, ManArgs};
use crate::command::delete::DeleteArgs;
use crate::command::demo::DemoArgs;
use crate::command::export::ExportArgs;
use crate::command::health::HealthArgs;
use crate::command::heat::HeatArgs;
use crate::command::hfile::HFileArgs;
use crate::command::import::ImportArgs;
use crate::command::key::KeyArgs;
use crate::command::salvage::SalvageArgs;
use crate::command::search::SearchArgs;
use crate::command::serve::ServeArgs;
use crate::command::shell::ShellArgs;
use crate::command::simulate::SimulateArgs;
use crate::command::stats::StatsArgs;
use crate::command::user::UserArgs;

/// Wide-column tables that know their row key.
#[derive(Debug, Parser)]
#[command(name = "rowhouse", version, arg_required_else_help = true)]
pub(crate) struct Args {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Change a running server: stop region servers, reset all tables
    Admin(AdminArgs),
    /// Propose keys and indexes for a workload, and compare what they cost
    Advise(AdviseArgs),
    /// Serve a database to HBase clients
    Serve(Box<ServeArgs>),
    /// Write a backup of a whole database, also of a served one, and read it back
    Backup(BackupArgs),
    /// Follow the changes of a table
    Changes(ChangesArgs),
    /// Check that a database is whole, without opening it
    Check(CheckArgs),
    /// Print a script that completes this command line in a shell
    Completions(CompletionsArgs),
    /// Delete the rows that a query returns
    Delete(DeleteArgs),
    /// Run an experiment on this machine
    Demo(DemoArgs),
    /// Write a table to HFiles in the layout of HBase's bulk load
    Export(ExportArgs),
    /// Report whether a server takes writes, as its /health does, by the exit status
    Health(HealthArgs),
    /// Show where the requests of a table are, by key and time, and which field makes it so
    Heat(HeatArgs),
    /// Show the contents of HFiles, of rowhouse or of Apache HBase
    Hfile(HFileArgs),
    /// Write rows of CSV, JSON lines or Parquet to a table, or load HFiles as HBase's bulk load
    /// does
    Import(Box<ImportArgs>),
    /// Work with a row-key template, without a database
    Key(KeyArgs),
    /// Write pages for `man`
    #[command(hide = true)]
    Man(ManArgs),
    /// Create a database from a backup
    Restore(RestoreArgs),
    /// Write the readable data of a damaged database to a new one
    Salvage(SalvageArgs),
    /// Search the words of a table of a cluster, by a copy of its searched cells
    Search(SearchArgs),
    /// Work on a database with the commands of HBase's shell
    Shell(ShellArgs),
    /// Make the rows of a workload, write them under one design of the key, and ask its questions
    Simulate(SimulateArgs),
    /// Show the contents and disk usage of a database's files, without opening it
    Stats(StatsArgs),
    /// Make and revoke the tokens by which users connect to a server, also while it runs
    User(UserArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
