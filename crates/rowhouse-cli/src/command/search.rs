//! `rowhouse search`: full-text search in cluster tables, through a copy that has the searched
//! cells.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rowhouse::cell::KeyValue;
use rowhouse::key::escape;
use rowhouse::query::QueryRow;
use rowhouse::schema::{CellMismatch, ColumnSchema};
use rowhouse::search_copy::{self, BuildProgress, BuildStep, Built, Origin};
use rowhouse::{Bytes, Columns, Database, Error, Result, Row};
use rowhouse_model::escape_line;
use rowhouse_store::Progress;

use super::progress::Bar;
use super::{CommandResult, DATA_DIR, argument, database_url, open_existing, runtime};
use crate::counted::counted;
use crate::output::print;

/// Arguments of `rowhouse search`.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    #[command(subcommand)]
    command: SearchCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SearchCommand {
    /// Copy the searched cells of a table, with a full-text index; a copy that is there is replaced
    Build(BuildArgs),
    /// Search a table, also a copy, and read the rows at its source if wanted
    Query(QueryArgs),
}

#[derive(Debug, clap::Args)]
struct BuildArgs {
    /// The database with the table: hbase+zk://HOST:PORT/ZNODE, hbase://HOST:PORT, or a directory
    #[arg(value_parser = argument::directory_or_url)]
    source: String,
    /// The table
    table: String,
    /// The data directory that gets the copy
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    into: PathBuf,
    /// The template of the keys, if the table declares none
    #[arg(long, value_name = "TEMPLATE")]
    key: Option<String>,
    /// The columns, if the table declares none: 'd:b body string; d:s sender string'
    #[arg(long, value_name = "COLUMNS")]
    columns: Option<String>,
    /// A full-text index: 'text search body english chinese, sender keyword'; may be repeated
    #[arg(long = "index", value_name = "INDEX", required = true)]
    indexes: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct QueryArgs {
    /// The table
    table: String,
    /// The query: "user = 'bob' and body matches 'row keys'"
    query: String,
    /// The data directory, or that of a running server
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data: PathBuf,
    /// The most rows
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: u32,
    /// The rows with the highest scores first
    #[arg(long)]
    by_score: bool,
    /// Read the rows at the source of the copy, with all columns
    #[arg(long)]
    fetch: bool,
}

pub(crate) fn run(args: &SearchArgs) -> CommandResult {
    match &args.command {
        SearchCommand::Build(args) => build(args),
        SearchCommand::Query(args) => runtime()?.block_on(query(args)),
    }
}

fn build(args: &BuildArgs) -> CommandResult {
    let started = Instant::now();
    let bar = Arc::new(Mutex::new(Bar::new()));
    let drawn = Arc::clone(&bar);
    let built = runtime()?.block_on(copy(args, move |progress| {
        draw(&mut drawn.lock().unwrap_or_else(PoisonError::into_inner), progress);
    }));
    if let Some(bar) = Arc::into_inner(bar) {
        bar.into_inner().unwrap_or_else(PoisonError::into_inner).clear();
    }
    let built = built?;
    let replaced = if built.has_replaced { ", in place of the copy before" } else { "" };
    print(format_args!(
        "{} of {} searched in {}{replaced}: {:.1} s",
        counted(built.rows, "row"),
        args.table,
        args.into.display(),
        started.elapsed().as_secs_f64()
    ))?;
    if built.misfits > 0 {
        print(format_args!(
            "{} not searched: the key does not fit the template; the first:",
            counted(built.misfits, "row")
        ))?;
        built.first_misfits.iter().try_for_each(|key| print(format_args!("  {}", escape(key))))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn copy(
    args: &BuildArgs,
    on_progress: impl FnMut(&BuildProgress) + Send + 'static,
) -> Result<Built> {
    let source = open_existing(&args.source).await?;
    let into = rowhouse::open(format!("file:{}", args.into.display())).await?;
    let build = search_copy::build(&source, &args.table, &into).on_progress(on_progress);
    let build = args.key.iter().fold(build, |build, key| build.key(key));
    let build = args.columns.iter().fold(build, |build, columns| build.columns(columns));
    let build = args.indexes.iter().fold(build, |build, index| build.index(index));
    let built = build.run().await;
    let closed = into.close().await;
    let closed_source = source.close().await;
    let built = built?;
    closed?;
    closed_source?;
    Ok(built)
}

fn draw(bar: &mut Bar, progress: &BuildProgress) {
    let step = match progress.step {
        BuildStep::Scan => "scanned",
        BuildStep::Index => "indexed",
    };
    let rows = format!("{} {step}", counted(progress.rows, "row"));
    bar.draw(&Progress::new(&rows, progress.done, progress.total));
}

async fn query(args: &QueryArgs) -> CommandResult {
    let database = open_existing(&database_url(&args.data, None)?).await?;
    let result = search(&database, args).await;
    database.close().await?;
    result?;
    Ok(ExitCode::SUCCESS)
}

async fn search(database: &Database, args: &QueryArgs) -> Result<()> {
    let table = database.table(&args.table).await?;
    let query = table.query(&args.query).limit(args.limit.into());
    let query = if args.by_score { query.by_score() } else { query };
    let hits = query.page(args.limit as usize).await?.rows;
    let mut columns = table.column_schema().ok().cloned();
    let rows = if args.fetch {
        let fetched = fetch(database, args, &hits).await?;
        columns = fetched.columns.or(columns);
        fetched.rows
    } else {
        hits.iter().map(|hit| Some(hit.row().clone())).collect()
    };
    for (hit, row) in hits.iter().zip(rows) {
        let score = hit.score().map(|score| format!(", score={score:.3}")).unwrap_or_default();
        print(format_args!("{} ({hit}){score}", escape(hit.row().key())))?;
        let Some(row) = row else {
            print("  gone at the source")?;
            continue;
        };
        for cell in row.cells() {
            print(format_args!("  {}", shown(cell, columns.as_ref())))?;
        }
    }
    print(counted(hits.len(), "row"))
}

/// Returns a cell: the name and the value of a declared column, or else the bytes.
fn shown(cell: KeyValue<'_>, columns: Option<&ColumnSchema>) -> String {
    let family = cell.family();
    let qualifier = cell.qualifier();
    let value = cell.value();
    let bytes = || {
        let text = escape_line(&String::from_utf8_lossy(value));
        format!("{}:{} = {text}", escape(family), escape(qualifier))
    };
    match columns.map(|columns| columns.decode(family, qualifier, value)) {
        Some(Ok(named)) => escape_line(&named.to_string()),
        None | Some(Err(CellMismatch::Undeclared { .. })) => bytes(),
        Some(Err(misfit)) => format!("{} ({})", bytes(), escape_line(&misfit.to_string())),
    }
}

/// The rows at the source of a copy.
struct Fetched {
    /// `None` for a row that is gone.
    rows: Vec<Option<Row>>,
    /// What the source declares.
    columns: Option<ColumnSchema>,
}

/// Reads rows at the source of a copy.
async fn fetch(database: &Database, args: &QueryArgs, hits: &[QueryRow]) -> Result<Fetched> {
    let described = database.admin().describe(&args.table).await?;
    let origin = Origin::of_table(&described)?.ok_or_else(|| {
        Error::invalid(format!("the table is no copy, so there is no source: table={}", args.table))
    })?;
    let source = open_existing(&origin.url).await?;
    let keys = hits.iter().map(|row| Bytes::copy_from_slice(row.row().key()));
    let fetched = match source.table(&args.table).await {
        Ok(table) => {
            let columns = table.column_schema().ok().cloned();
            let rows = search_copy::fetch(&table, keys, &Columns::all()).await;
            rows.map(|rows| Fetched { rows, columns })
        }
        Err(error) => Err(error),
    };
    source.close().await?;
    fetched
}
