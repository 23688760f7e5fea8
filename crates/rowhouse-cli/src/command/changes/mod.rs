//! `rowhouse changes`: follows the changes of a table.

mod line;
mod sink;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rowhouse::changes::{ChangesFrom, TableChange, TableChanges};
use rowhouse::{Error, Result, Table};

use self::sink::Sink;
use super::{CommandResult, argument, database_url, open_existing, runtime};
use crate::output::report;

/// Arguments of `rowhouse changes`.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangesArgs {
    /// The data directory, or a server: hbase://HOST:PORT, hbase+zk://HOST:PORT
    #[arg(value_name = "URL|DIR", value_parser = argument::directory_or_url)]
    location: String,
    /// The table
    table: String,
    /// Where to begin: now, copy (a copy of the table, then the changes after it), or a position.
    /// Without it: after the last line of --to, else where the follower has saved its position,
    /// else now
    #[arg(long, value_name = "POSITION|now|copy", value_parser = begin)]
    from: Option<ChangesFrom>,
    /// Register as a follower with this name: the log is retained while the command does not run
    #[arg(long, value_name = "NAME", value_parser = follower)]
    follower: Option<String>,
    /// A JSON object for each changed row, or a line for each cell
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// Write to this file instead of standard output, and continue it if it exists
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Bytes of --to after which it gets a number as FILE.000001, and a new one is begun
    #[arg(long, value_name = "BYTES", default_value_t = 128 << 20, requires = "to",
          value_parser = clap::value_parser!(u64).range(1..))]
    file_bytes: u64,
    /// End after so many changes
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// How changes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Json,
    Cells,
}

/// Reads where to begin.
fn begin(text: &str) -> Result<ChangesFrom> {
    match text {
        "now" => Ok(ChangesFrom::Now),
        "copy" => Ok(ChangesFrom::Copy),
        position => Ok(ChangesFrom::Position(position.parse()?)),
    }
}

fn follower(name: &str) -> Result<String> {
    rowhouse_model::check_follower_name(name)?;
    Ok(name.to_owned())
}

/// Writes changes until the limit, or until the command is interrupted.
pub(crate) fn run(args: &ChangesArgs) -> CommandResult {
    let url = database_url(Path::new(&args.location), Some(&args.location))?;
    runtime()?.block_on(async {
        let database = open_existing(&url).await?;
        let followed = async {
            let table = database.table(&args.table).await?;
            follow(&table, args).await
        };
        let done = tokio::select! {
            done = followed => done,
            _ = tokio::signal::ctrl_c() => Ok(()),
        };
        done.and(database.close().await)
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn follow(table: &Table, args: &ChangesArgs) -> Result<()> {
    let (mut sink, last) = Sink::open(args.to.as_deref(), args.file_bytes)?;
    let mut changes = open(table, args, last).await?;
    let mut unsaved = None;
    let mut saved = Instant::now();
    let mut left = args.limit.unwrap_or(u64::MAX);
    while left > 0 {
        // Lines are flushed, and then the position is saved, whenever no change is waiting, after
        // a rotation, and now and then under a steady load.
        let change = match changes.next_within(FLUSH_AFTER).await? {
            Some(change) => change,
            None => {
                sink.flush()?;
                save(&mut changes, args, &mut unsaved).await?;
                saved = Instant::now();
                changes.next().await?
            }
        };
        let is_rotated = write(&change, args, &mut sink)?;
        unsaved = Some(change);
        left -= 1;
        if is_rotated || saved.elapsed() >= SAVE_AFTER {
            sink.flush()?;
            save(&mut changes, args, &mut unsaved).await?;
            saved = Instant::now();
        }
    }
    sink.flush()?;
    save(&mut changes, args, &mut unsaved).await
}

/// How long a change is waited for before lines are flushed.
const FLUSH_AFTER: Duration = Duration::from_millis(50);

/// How long after the last save the position is saved again while changes come without a pause.
const SAVE_AFTER: Duration = Duration::from_secs(2);

async fn open(
    table: &Table,
    args: &ChangesArgs,
    last: Option<ChangesFrom>,
) -> Result<TableChanges> {
    let given = args.from.clone().or(last);
    let Some(name) = &args.follower else {
        return table.changes(given.unwrap_or(ChangesFrom::Now)).await;
    };
    if let Some(from) = given {
        return table.changes_as(name, from).await;
    }
    match table.changes_as(name, ChangesFrom::Saved).await {
        Err(error) if error.kind() == rowhouse::ErrorKind::InvalidRequest => {
            report(format_args!("a new follower, which begins now: {name}"));
            table.changes_as(name, ChangesFrom::Now).await
        }
        opened => opened,
    }
}

/// Writes a change. Returns true if another file was begun after it.
fn write(change: &TableChange, args: &ChangesArgs, sink: &mut Sink) -> Result<bool> {
    match args.format {
        Format::Json => sink.write(&line::json(change)),
        Format::Cells => line::cells(change).iter().try_for_each(|line| sink.write(line)),
    }?;
    sink.rotate()
}

async fn save(
    changes: &mut TableChanges,
    args: &ChangesArgs,
    unsaved: &mut Option<TableChange>,
) -> Result<()> {
    match unsaved.take() {
        Some(change) if args.follower.is_some() => changes.save(change.position()).await,
        _ => Ok(()),
    }
}

/// Returns the error for a file that cannot be written or read.
fn failed(doing: &str, path: &Path, source: std::io::Error) -> Error {
    Error::io(format_args!("cannot {doing} {}", path.display()), source)
}
