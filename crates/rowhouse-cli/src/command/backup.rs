//! `rowhouse backup` and `rowhouse restore`: a whole store in another directory.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rowhouse::{Error, Result};
use rowhouse_client::{Client, Target};
use rowhouse_store::{Progress, copy_store};

use super::progress::Bar;
use super::{CommandResult, argument, runtime, server_of};
use crate::counted::counted;
use crate::output::print;

/// Arguments of `rowhouse backup`.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// The data directory, or a server: hbase://HOST:PORT
    #[arg(value_name = "DIR|ADDRESS", value_parser = argument::directory_or_url)]
    from: String,
    /// The backup, created by the command. Of a server: a directory directly in that of its
    /// --backups, or the name of one
    #[arg(long, value_name = "NEW_DIR")]
    into: PathBuf,
}

/// Arguments of `rowhouse restore`.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// The backup; it is not changed
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
    /// The new data directory, created by the command
    #[arg(long, value_name = "NEW_DIR")]
    into: PathBuf,
}

/// Writes a backup and reads it back. If a server holds the directory, that server writes it.
pub(crate) fn backup(args: &BackupArgs) -> CommandResult {
    if args.from.contains("://") {
        return through_server(&args.from, &args.into);
    }
    match server_of(Path::new(&args.from))? {
        // The server is on this machine, but may have another working directory.
        Some(address) => {
            let into = std::path::absolute(&args.into);
            let into = into.map_err(|source| Error::io("cannot resolve the directory", source))?;
            through_server(&format!("hbase://{address}"), &into)
        }
        None => copy(Path::new(&args.from), &args.into),
    }
}

/// Creates a data directory from a backup.
pub(crate) fn restore(args: &RestoreArgs) -> CommandResult {
    copy(&args.backup, &args.into)
}

fn copy(from: &Path, into: &Path) -> CommandResult {
    let mut bar = Bar::new();
    let copied = copy_store(from, into, |progress| bar.draw(&progress));
    bar.clear();
    let report = copied?;
    let summary = BackupReport {
        tables: report.tables as u64,
        snapshots: report.snapshots as u64,
        files: report.files as u64,
        bytes: report.file_bytes + report.log_bytes,
    };
    summary.print(into)?;
    Ok(ExitCode::SUCCESS)
}

fn through_server(url: &str, into: &Path) -> CommandResult {
    let name = into.to_str().ok_or_else(|| {
        Error::invalid(format!("a directory on a server must be UTF-8: {}", into.display()))
    })?;
    let runtime = runtime()?;
    let mut bar = Bar::new();
    let made: Result<_> = runtime.block_on(async {
        let client = Client::connect(&Target::parse(url)?).await?;
        let draw = |status: &rowhouse_client::BackupStatus| {
            bar.draw(&Progress::new(&status.file, status.bytes_done, status.bytes_total));
        };
        client.admin().backup(name, draw).await
    });
    bar.clear();
    let status = made?;
    let summary = BackupReport {
        tables: status.tables,
        snapshots: status.snapshots,
        files: status.files,
        bytes: status.file_bytes,
    };
    summary.print(into)?;
    Ok(ExitCode::SUCCESS)
}

struct BackupReport {
    tables: u64,
    snapshots: u64,
    files: u64,
    bytes: u64,
}

impl BackupReport {
    fn print(&self, into: &Path) -> Result<()> {
        print(format_args!(
            "{}, {}, {}, {} into {}\nthe backup was read back: no damage found",
            counted(self.tables, "table"),
            counted(self.snapshots, "snapshot"),
            counted(self.files, "file"),
            counted(self.bytes, "byte"),
            into.display()
        ))
    }
}
