//! `rowhouse heat`: where the requests to a table are.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::Bytes;
use rowhouse::admin::{ColumnGroups, HotColumns, Remedy, RemedyKind};
use serde_json::json;

use super::{CommandResult, DATA_DIR, argument, database_url, open_existing, runtime};
use crate::drawing::write_drawing;
use crate::heat::{TableHeat, svg};
use crate::output::print;

/// Arguments of `rowhouse heat`.
#[derive(Debug, clap::Args)]
pub(crate) struct HeatArgs {
    /// The table
    table: String,
    /// The data directory, or that of a running server
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data: PathBuf,
    /// A server or cluster: hbase://HOST:PORT, hbase+zk://HOST:PORT; overrides --data
    #[arg(long, value_name = "URL", value_parser = argument::url)]
    connect: Option<String>,
    /// Only the last so many minutes
    #[arg(long, value_name = "N")]
    minutes: Option<u32>,
    /// Draw the heat into this file
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &HeatArgs) -> CommandResult {
    let url = database_url(&args.data, args.connect.as_deref())?;
    let runtime = runtime()?;
    let heat = runtime.block_on(async {
        let database = open_existing(&url).await?;
        let heat = TableHeat::read(&database, &args.table, args.minutes).await;
        database.close().await?;
        heat
    })?;
    if args.json {
        print(json_of(&heat))?;
    } else {
        print(heat.lines().join("\n"))?;
    }
    if let Some(path) = &args.svg {
        write_drawing(path, &svg(&heat))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn json_of(heat: &TableHeat) -> serde_json::Value {
    let columns = heat.report.columns.iter().map(|column| {
        let buckets = column.buckets.iter().map(|bucket| {
            json!({
                "start": rowhouse::key::escape(&bucket.start),
                "key": heat.key(&bucket.start),
                "reads": bucket.reads,
                "writes": bucket.writes,
                "read_bytes": bucket.read_bytes,
                "written_bytes": bucket.written_bytes,
            })
        });
        json!({
            "begun_millis": column.start_millis,
            "length_millis": column.length_millis,
            "buckets": buckets.collect::<Vec<_>>(),
        })
    });
    let rows = heat.report.hot_rows.iter().map(|row| {
        json!({
            "row": rowhouse::key::escape(&row.row),
            "key": heat.key(&row.row),
            "reads": row.reads,
            "writes": row.writes,
            "overestimate": row.overestimate,
        })
    });
    let [writes, reads] = heat.verdicts().map(|(_, verdict)| {
        json!({
            "text": verdict.to_string(),
            "cause": verdict.cause.name(),
            "share": verdict.share,
            "confidence": verdict.confidence,
            "region_share": verdict.region_share,
            "server": verdict.server.as_ref().map(|server| json!({
                "address": server.address,
                "share": server.share,
                "servers": server.servers,
            })),
            "cure": verdict.cure(),
            "remedies": verdict.remedies.iter().map(of_remedy).collect::<Vec<_>>(),
        })
    });
    let groups = ColumnGroups::of_heat(&heat.report);
    let [by_writes, by_reads] = heat.servers().map(|(_, shares)| shares.map(of_shares));
    json!({
        "table": heat.table,
        "sampled": heat.report.is_sampled,
        "by_region": heat.report.is_by_region,
        "columns": columns.collect::<Vec<_>>(),
        "hot_rows": rows.collect::<Vec<_>>(),
        "column_sets": heat.report.column_sets.iter().map(of_columns).collect::<Vec<_>>(),
        "servers": { "writes": by_writes, "reads": by_reads },
        "verdicts": {
            "writes": writes,
            "reads": reads,
            "columns": groups.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "first_values": heat.first_values.as_ref().map(ToString::to_string),
        },
    })
}

fn of_remedy(remedy: &Remedy) -> serde_json::Value {
    let [bounds, moved] = match &remedy.kind {
        RemedyKind::Split { bounds, .. } => [&bounds[..], &[]],
        RemedyKind::Move { starts, .. } => [&[], &starts[..]],
        _ => [&[][..]; 2],
    };
    let key = match &remedy.kind {
        RemedyKind::Key { template, .. } => Some(template),
        _ => None,
    };
    let escaped = |keys: &[Bytes]| -> Vec<String> {
        keys.iter().map(|key| rowhouse::key::escape(key)).collect()
    };
    json!({
        "text": remedy.to_string(),
        "bounds": escaped(bounds),
        "moved_regions": escaped(moved),
        "key": key,
        "share_before": remedy.share_before,
        "share_after": remedy.share_after,
    })
}

fn of_shares(shares: Vec<(String, f64)>) -> serde_json::Value {
    let shares = shares.into_iter();
    shares.map(|(server, share)| json!({ "server": server, "share": share })).collect()
}

fn of_columns(columns: &HotColumns) -> serde_json::Value {
    let qualifiers = columns.qualifiers.iter().map(|it| rowhouse::key::escape(it));
    json!({
        "family": rowhouse::key::escape(&columns.family),
        "qualifiers": qualifiers.collect::<Vec<_>>(),
        "reads": columns.reads,
        "overestimate": columns.overestimate,
    })
}
