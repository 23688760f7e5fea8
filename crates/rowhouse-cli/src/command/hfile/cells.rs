//! HFile cells, one per line.

use std::io::Write;

use rowhouse::cell::CellKind;
use rowhouse::key::{escape, unescape};
use rowhouse::{Bytes, Result, RowRange};
use rowhouse_model::{CellRef, Key};
use rowhouse_store::HFile;
use serde_json::{Map, Value as Json, json};

use super::{OutputFormat, PrintResult};
use crate::command::argument;

/// Arguments that select cells.
#[derive(Debug, clap::Args)]
pub(super) struct CellsArgs {
    /// List the cells
    #[arg(long)]
    cells: bool,
    /// Only of this row; non-text bytes as \xHH
    #[arg(long, value_name = "ROW", requires = "cells", conflicts_with_all = ["start", "stop"], value_parser = argument::row)]
    row: Option<String>,
    /// From this row on
    #[arg(long, value_name = "ROW", requires = "cells", value_parser = argument::bound)]
    start: Option<String>,
    /// Before this row
    #[arg(long, value_name = "ROW", requires = "cells", value_parser = argument::bound)]
    stop: Option<String>,
    /// At most this many
    #[arg(long, value_name = "COUNT", requires = "cells")]
    limit: Option<u64>,
}

/// The parsed arguments.
pub(super) struct CellSelection {
    rows: RowRange,
    limit: u64,
}

impl CellsArgs {
    /// Returns true if cells were requested.
    pub(super) fn is_requested(&self) -> bool {
        self.cells
    }

    /// Parses the rows given by the user.
    ///
    /// # Errors
    /// `InvalidRequest` for a row with an invalid escape.
    pub(super) fn range(&self) -> Result<CellSelection> {
        let bytes = |text: &Option<String>| -> Result<Bytes> {
            Ok(text.as_deref().map(unescape).transpose()?.unwrap_or_default().into())
        };
        let mut start = bytes(&self.start)?;
        let mut stop = bytes(&self.stop)?;
        if self.row.is_some() {
            let row = bytes(&self.row)?;
            stop = [&row[..], &[0]].concat().into();
            start = row;
        }
        Ok(CellSelection { rows: RowRange { start, stop }, limit: self.limit.unwrap_or(u64::MAX) })
    }
}

/// Prints the selected cells.
pub(super) fn print(
    file: &HFile,
    selection: &CellSelection,
    shown: &OutputFormat,
    out: &mut dyn Write,
) -> PrintResult {
    let mut cells = file.cells_from(&Key::row_start(&selection.rows.start))?;
    let mut left = selection.limit;
    while let Some(cell) = cells.cell() {
        if left == 0 || !selection.rows.contains(cell.key.row) {
            break;
        }
        left -= 1;
        if shown.json {
            writeln!(out, "{}", document(&cell, shown))?;
        } else {
            writeln!(out, "{}", line(&cell, shown))?;
        }
        cells.advance()?;
    }
    Ok(())
}

fn line(cell: &CellRef<'_>, shown: &OutputFormat) -> String {
    let key = &cell.key;
    let mut line = format!(
        "{} {}:{} {}",
        shown.row(key.row),
        escape(key.family),
        escape(key.qualifier),
        key.timestamp
    );
    if key.kind != CellKind::Put as u8 {
        line.push_str(&format!(" {}", kind(key.kind)));
    }
    line.push_str(&format!(" sequence={}", cell.sequence));
    if !cell.tags.is_empty() {
        line.push_str(&format!(" tags={}", escape(cell.tags)));
    }
    if key.kind == CellKind::Put as u8 {
        line.push_str(&format!(" value={}", escape(cell.value)));
    }
    line
}

fn document(cell: &CellRef<'_>, shown: &OutputFormat) -> Json {
    let mut document = Map::new();
    shown.put_row(&mut document, "row", cell.key.row);
    document.insert("family".into(), json!(escape(cell.key.family)));
    document.insert("qualifier".into(), json!(escape(cell.key.qualifier)));
    document.insert("timestamp".into(), json!(cell.key.timestamp));
    document.insert("type".into(), json!(kind(cell.key.kind)));
    document.insert("sequence".into(), json!(cell.sequence));
    if !cell.tags.is_empty() {
        document.insert("tags".into(), json!(escape(cell.tags)));
    }
    document.insert("value".into(), json!(escape(cell.value)));
    Json::Object(document)
}

/// Returns HBase's name of a cell type.
fn kind(code: u8) -> &'static str {
    match CellKind::from_code(code) {
        Some(CellKind::Put) => "Put",
        Some(CellKind::DeleteVersion) => "Delete",
        Some(CellKind::DeleteFamilyVersion) => "DeleteFamilyVersion",
        Some(CellKind::DeleteColumn) => "DeleteColumn",
        Some(CellKind::DeleteFamily) => "DeleteFamily",
        None => "unknown",
    }
}
