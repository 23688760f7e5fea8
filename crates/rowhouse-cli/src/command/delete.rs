//! `rowhouse delete`: deletes the rows of a query.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::query::Query;
use rowhouse::{Database, Error, Result};
use rowhouse_model::DeleteRows;
use rowhouse_schema::{TimeZone, parse_zone};

use super::{CommandResult, DATA_DIR, argument, database_url, open_existing, runtime};
use crate::counted::counted;
use crate::output::{StatusLine, print, report};

/// Arguments of `rowhouse delete`.
#[derive(Debug, clap::Args)]
pub(crate) struct DeleteArgs {
    /// The table
    table: String,
    /// The query: "user = 'bob' and at < 2020"
    query: String,
    /// Count the rows, and delete none
    #[arg(long)]
    dry_run: bool,
    /// The data directory, or that of a running server
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data: PathBuf,
    /// A server or cluster: hbase://HOST:PORT, hbase+zk://HOST:PORT; overrides --data
    #[arg(long, value_name = "URL", value_parser = argument::url)]
    connect: Option<String>,
    /// Rows to delete at once
    #[arg(long, value_name = "N", default_value_t = DeleteRows::BATCH_ROWS,
          value_parser = clap::value_parser!(u32).range(1..=DeleteRows::BATCH_ROWS_MAX as i64))]
    batch_rows: u32,
    /// The zone of times that name none: +08:00, Asia/Shanghai
    #[arg(long, value_name = "ZONE", value_parser = parse_zone)]
    zone: Option<TimeZone>,
}

pub(crate) fn run(args: &DeleteArgs) -> CommandResult {
    let url = database_url(&args.data, args.connect.as_deref())?;
    runtime()?.block_on(async {
        let database = open_existing(&url).await?;
        let done = delete(&database, args).await;
        database.close().await?;
        done
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn delete(database: &Database, args: &DeleteArgs) -> Result<()> {
    let table = database.table(&args.table).await?;
    let query = || -> Query<'_> {
        let query = table.query(&args.query);
        args.zone.iter().fold(query, |query, zone| query.zone(zone.clone()))
    };
    let mut deletion = query().delete().batch_rows(args.batch_rows);
    for advice in deletion.advice().await? {
        report(format_args!("hint: {advice}"));
    }
    if args.dry_run {
        let rows = query().count().await?;
        return print(format_args!("{} would be deleted", counted(rows, "row")));
    }
    let mut line = StatusLine::new();
    let ended = loop {
        match deletion.step().await {
            Ok(true) => {
                line.show(format_args!("{} so far", counted(deletion.deleted(), "row")));
            }
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    drop(line);
    let printed = print(format_args!("{} deleted", counted(deletion.deleted(), "row")));
    ended.map_err(|error: Error| error.with_context("the same command goes on with the rest"))?;
    printed
}
