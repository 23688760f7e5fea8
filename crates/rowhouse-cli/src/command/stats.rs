//! `rowhouse stats`: what a store's files contain, and their disk usage.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::Bytes;
use rowhouse::key::{KeySchema, escape};
use rowhouse::schema::{FamilySize, Finding, TableName, check_table};
use rowhouse_model::escape_line;
use rowhouse_store::{FamilyStats, RegionStats, RowSize, StoreStats, TableStats};
use serde_json::{Value as Json, json};

use super::CommandResult;
use super::progress::Bar;
use crate::counted::counted;
use crate::output::print;

/// Arguments of `rowhouse stats`.
#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {
    /// The data directory; no server may have it open
    #[arg(value_name = "DIR")]
    data: PathBuf,
    /// Only this table, such as blog or news:blog
    #[arg(long, value_name = "TABLE", value_parser = TableName::parse)]
    table: Option<TableName>,
    /// Print a JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// Counts the cells of all files.
pub(crate) fn run(args: &StatsArgs) -> CommandResult {
    let mut bar = Bar::new();
    let counted =
        rowhouse_store::stats(&args.data, args.table.as_ref(), |progress| bar.draw(&progress));
    bar.clear();
    let stats = counted?;
    if args.json {
        print(document(&stats))?;
    } else {
        print(text(&stats).trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(stats: &StoreStats) -> String {
    let mut text = String::new();
    for table in &stats.tables {
        text.push_str(&table_text(table));
        text.push('\n');
    }
    let families = stats.tables.iter().flat_map(|table| &table.regions);
    let families = families.flat_map(|region| &region.families);
    let log_cells: u64 = families.map(|family| family.log_cells).sum();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "log: {}, {}; {} of those counted in no file yet",
        counted(stats.log_records, "commit"),
        counted(stats.log_bytes, "byte"),
        counted(log_cells, "cell")
    );
    if stats.aside_files > 0 {
        let _ = writeln!(
            text,
            "aside: {}, {} that no table has; old ones are removed when the store is opened",
            counted(stats.aside_files, "file"),
            counted(stats.aside_bytes, "byte")
        );
    }
    text
}

fn table_text(table: &TableStats) -> String {
    let mut lines = vec![HEADINGS.map(str::to_owned).to_vec()];
    let key = KeySchema::of_table(&table.descriptor).ok().flatten();
    for region in &table.regions {
        let begins = row_text(key.as_ref(), &region.info.range.start);
        lines.extend(region.families.iter().map(|family| family_line(&begins, family)));
    }
    let mut text = format!("{}\n{}", table.descriptor.name(), aligned(&lines));
    if !table.largest_rows.is_empty() {
        text.push_str("largest rows, in bytes and cells\n");
    }
    for RowSize { bytes, cells, row, .. } in &table.largest_rows {
        let _ = writeln!(text, "  {bytes:>12} {cells:>9}  {}", row_text(key.as_ref(), row));
    }
    let sum = |of: fn(&FamilyStats) -> u64| {
        table.regions.iter().flat_map(|region| &region.families).map(of).sum::<u64>()
    };
    let keys = sum(|family| family.key_bytes);
    let _ = writeln!(
        text,
        "of {keys} bytes of keys, before compression: {} repeat the key before, which DATA_BLOCK_ENCODING leaves out in \
         exported files; {} are in names longer than one letter for a family and two for a qualifier",
        sum(|family| family.repeated_bytes),
        sum(|family| family.name_bytes)
    );
    for finding in findings(table) {
        let _ = writeln!(text, "{finding}");
    }
    text
}

/// Returns the findings of the rules about tables, and of the rules about keys that need rows.
fn findings(table: &TableStats) -> Vec<Finding> {
    let families = table.descriptor.families().iter().map(|family| {
        let regions = table.regions.iter().flat_map(|region| &region.families);
        let of_family = regions.filter(|size| size.name[..] == *family.name());
        let mut size =
            FamilySize { name: Bytes::copy_from_slice(family.name()), ..FamilySize::default() };
        for stats in of_family {
            size.cells += stats.cells;
            size.bytes += stats.key_bytes + stats.value_bytes + stats.tag_bytes;
            size.row_bytes += stats.row_bytes;
            size.name_bytes += stats.name_bytes;
        }
        size
    });
    let sizes: Vec<_> = families.collect();
    let key = KeySchema::of_table(&table.descriptor).ok().flatten();
    let of_rows = key.and_then(|key| key.check_sample(&table.sample));
    of_rows.into_iter().chain(check_table(&table.descriptor, &sizes)).collect()
}

const HEADINGS: [&str; 13] = [
    "family", "files", "bytes", "index", "bloom", "rows", "cells", "older", "markers", "keys",
    "values", "tags", "from row",
];

/// Returns a table line: a text for each heading.
fn family_line(begins: &str, family: &FamilyStats) -> Vec<String> {
    let numbers = [
        family.files,
        family.file_bytes,
        family.index_bytes,
        family.bloom_bytes,
        family.rows,
        family.cells,
        family.older_versions,
        family.markers,
        family.key_bytes,
        family.value_bytes,
        family.tag_bytes,
    ];
    let mut line = vec![escape(&family.name)];
    line.extend(numbers.iter().map(u64::to_string));
    line.push(begins.to_owned());
    line
}

/// Returns table lines as text: the first and last columns are aligned left, the others right.
fn aligned(lines: &[Vec<String>]) -> String {
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let mut formatted = String::new();
        for (at, cell) in line.iter().enumerate() {
            let width = width(at);
            let _ = match at {
                0 => write!(formatted, "  {cell:<width$}"),
                _ if at + 1 == line.len() => write!(formatted, "  {cell}"),
                _ => write!(formatted, "  {cell:>width$}"),
            };
        }
        text.push_str(formatted.trim_end());
        text.push('\n');
    }
    text
}

/// Returns a row by its bytes, and by the fields of its key if that is declared.
fn row_text(key: Option<&KeySchema>, row: &[u8]) -> String {
    let bytes = escape(row);
    match key.and_then(|key| key.decode(row).ok()) {
        Some(values) => format!("{bytes} ({})", escape_line(&values.to_string())),
        None => bytes,
    }
}

fn document(stats: &StoreStats) -> Json {
    let table = |table: &TableStats| {
        let row = |row: &RowSize| json!({"row": escape(&row.row), "bytes": row.bytes, "cells": row.cells});
        let finding = |finding: &Finding| json!({"rule": finding.rule.code(), "name": finding.rule.name(), "message": finding.message});
        json!({
            "table": table.descriptor.name().to_string(),
            "regions": table.regions.iter().map(region_json).collect::<Vec<_>>(),
            "largest_rows": table.largest_rows.iter().map(row).collect::<Vec<_>>(),
            "findings": findings(table).iter().map(finding).collect::<Vec<_>>(),
        })
    };
    json!({
        "tables": stats.tables.iter().map(table).collect::<Vec<_>>(),
        "log_commits": stats.log_records,
        "log_bytes": stats.log_bytes,
        "aside_files": stats.aside_files,
        "aside_bytes": stats.aside_bytes,
    })
}

fn region_json(region: &RegionStats) -> Json {
    let family = |family: &FamilyStats| {
        json!({
            "family": escape(&family.name),
            "files": family.files,
            "file_bytes": family.file_bytes,
            "index_bytes": family.index_bytes,
            "bloom_bytes": family.bloom_bytes,
            "rows": family.rows,
            "cells": family.cells,
            "log_cells": family.log_cells,
            "older_versions": family.older_versions,
            "markers": family.markers,
            "key_bytes": family.key_bytes,
            "row_bytes": family.row_bytes,
            "value_bytes": family.value_bytes,
            "tag_bytes": family.tag_bytes,
            "repeated_bytes": family.repeated_bytes,
            "name_bytes": family.name_bytes,
        })
    };
    json!({
        "region": region.info.name().encoded,
        "start": escape(&region.info.range.start),
        "stop": escape(&region.info.range.stop),
        "families": region.families.iter().map(family).collect::<Vec<_>>(),
    })
}
