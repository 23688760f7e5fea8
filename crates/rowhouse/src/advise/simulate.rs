//! Runs a workload under one design.

use std::path::Path;

use rowhouse_model::{Error, Result};
use rowhouse_schema::{Design, Estimator, QuestionEstimate, Spread, Workload};

use super::fill::fill;
use super::measure::measure;
use super::simulation::{QuestionCost, Simulation};
use super::warnings::warnings;
use crate::database::Database;

/// Runs a workload under one design: writes the rows to a database in the directory `dir`, which is
/// removed at the end, and runs the questions.
///
/// It takes seconds to minutes for a million rows. Rows are made and counted on another thread.
///
/// # Errors
/// `InvalidRequest` if the workload needs a sample and has none, and for a value that the key
/// cannot hold; errors from the database; `Io` if the directory exists or cannot be removed.
///
/// ```no_run
/// use std::path::Path;
///
/// use rowhouse::advise::{Design, Workload, simulate};
///
/// # async fn example() -> rowhouse::Result<()> {
/// let workload = Workload::parse("field at millis: now\nfield user string: 1e4 values")?;
/// let design = Design::new(&workload, "[at millis][user string]", "")?;
/// let simulated = simulate(&workload, &design, Path::new("/tmp/simulated")).await?;
/// // One region takes all of the writes.
/// assert_eq!(simulated.share(), 1.0);
/// # Ok(())
/// # }
/// ```
pub async fn simulate(workload: &Workload, design: &Design, dir: &Path) -> Result<Simulation> {
    if let Some(name) = workload.without_values() {
        return Err(Error::invalid(format!("`{name}` has no distribution: it needs a sample")));
    }
    let store = dir.join("simulated");
    let database = Database::builder(store.to_string_lossy()).open().await?;
    let run = run(&database, workload, design).await;
    let closed = database.close().await;
    let removed = std::fs::remove_dir_all(&store)
        .map_err(|source| Error::io(format_args!("cannot remove {}", store.display()), source));
    let simulation = run?;
    closed?;
    removed?;
    Ok(simulation)
}

async fn run(database: &Database, workload: &Workload, design: &Design) -> Result<Simulation> {
    let (spread, estimates) = planned(workload, design).await?;
    let filled = fill(database, workload, design, &spread).await?;
    let mut questions = Vec::new();
    for (question, estimate) in workload.questions().iter().zip(estimates) {
        let cost = measure(&filled.table, workload, design, question, &estimate.way).await?;
        questions.push(at_real_size(cost, &estimate));
    }
    let rows = workload.rows();
    let per_row = |bytes: u64| bytes as f64 / rows as f64;
    let mut simulation = Simulation {
        key: design.key().to_string(),
        indexes: design.indexes().iter().map(ToString::to_string).collect(),
        rows,
        rows_stored: filled.rows,
        scale: workload.rows_real() as f64 / rows as f64,
        bytes_per_row: per_row(filled.bytes),
        entry_bytes_per_row: per_row(spread.tables.iter().skip(1).map(|it| it.key_bytes).sum()),
        spread,
        questions,
        warnings: Vec::new(),
    };
    simulation.warnings = warnings(workload, design, &simulation);
    Ok(simulation)
}

/// Adds to a cost how the question is read at the real table size: as many times more than measured
/// as by the estimate, and never more than is possible.
fn at_real_size(cost: QuestionCost, estimate: &QuestionEstimate) -> QuestionCost {
    let is_same_way = estimate.way == cost.way;
    let rows_real = if is_same_way && estimate.rows > 0.0 {
        cost.rows * (estimate.rows_real / estimate.rows)
    } else {
        estimate.rows_real
    };
    let ranges_real = if is_same_way {
        (cost.ranges + estimate.ranges_real - estimate.ranges).max(0.0)
    } else {
        estimate.ranges_real
    };
    QuestionCost {
        rows_real: rows_real.min(estimate.rows_possible),
        rows_possible: estimate.rows_possible,
        ranges_real,
        way_real: estimate.way.clone(),
        ..cost
    }
}

/// Returns the writes to the regions, and estimates for the questions. It works on a thread that
/// may be busy for long.
async fn planned(workload: &Workload, design: &Design) -> Result<(Spread, Vec<QuestionEstimate>)> {
    let workload = workload.clone();
    let design = design.clone();
    let planned = tokio::task::spawn_blocking(move || {
        let estimate = Estimator::new(&workload)?.estimate(&design)?;
        Ok((Spread::of(&workload, &design)?, estimate.questions))
    });
    let interrupted = |error| Error::invalid(format!("the simulation was interrupted: {error}"));
    planned.await.map_err(interrupted)?
}
