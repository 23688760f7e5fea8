//! Imports rows, with a progress bar.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use rowhouse::{Error, Result};
use rowhouse_import::{ImportProgress, Summary};
use rowhouse_store::Holder;

use super::args::ImportArgs;
use super::bar::RowBar;
use super::report;
use crate::command::{CommandResult, database_url, runtime};
use crate::output::print;

/// Imports rows and prints a summary.
pub(super) fn run(args: &ImportArgs) -> CommandResult {
    if args.rows.sorted && Holder::of(&args.data)?.is_some() {
        return Err(Error::invalid(format!(
            "--sorted needs a store that no server has open; without it, rows are sent to the \
             server: data={}",
            args.data.display()
        )));
    }
    let runtime = runtime()?;
    let bar = SharedBar::default();
    let imported = runtime.block_on(import(args, &bar));
    bar.clear();
    let summary = imported?;
    if args.rows.json {
        print(report::json(&summary))?;
    } else {
        print(report::text(&summary).trim_end())?;
    }
    if summary.is_refused {
        return Ok(ExitCode::FAILURE);
    }
    Ok(match summary.counts.rejected {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(REJECTED),
    })
}

async fn import(args: &ImportArgs, bar: &SharedBar) -> Result<Summary> {
    let url = database_url(&args.data, args.connect.as_deref())?;
    let database = rowhouse::open(&url).await?;
    let drawn = bar.clone();
    let import = args.import(&database).on_progress(move |progress| drawn.draw(progress));
    if args.rows.sorted && !args.rows.dry_run {
        let sorted = import.sort().await;
        // The rows are written to the files in a store that no other process has open.
        let closed = database.close().await;
        let sorted = sorted?;
        closed?;
        bar.clear();
        return sorted.load(&args.data);
    }
    let summary = match (args.rows.dry_run, args.rows.sorted) {
        (true, true) => import.check_sort().await,
        (true, false) => import.check().await,
        (false, _) => import.run().await,
    };
    let closed = database.close().await;
    let summary = summary?;
    closed?;
    Ok(summary)
}

/// The progress bar, shared with the import's thread, which draws it.
#[derive(Clone, Default)]
struct SharedBar(Arc<Mutex<RowBar>>);

impl SharedBar {
    fn draw(&self, progress: &ImportProgress) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).draw(progress);
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The exit status if some rows are rejected and all others are written.
const REJECTED: u8 = 3;
