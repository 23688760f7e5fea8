//! Keys by their fields and cells by their names, beside the bytes that HBase's shell shows.
//!
//! The lines in HBase's output are unchanged. The key fields are on a separate line before
//! them, after ` # `, and a declared column's name and value before the cell, after ` #   `.

use rowhouse::Table;
use rowhouse::cell::KeyValue;
use rowhouse::key::KeySchema;
use rowhouse::schema::{CellMismatch, ColumnSchema};
use rowhouse_model::escape_line;

use super::cells::SelectedCells;
use super::converter::Converters;
use crate::shell::failure::{Result, usage_error};
use crate::shell::options::{OptionText, Options};

pub(super) const DECODE: OptionText =
    ("DECODE", "false: omits the ` # ` lines with the fields of keys and the names of cells");

/// Takes DECODE: true requires a template, false shows only HBase's lines; by default keys are
/// decoded if the table has a template.
pub(super) fn take(options: &mut Options) -> Result<Option<bool>> {
    if options.has("DECODE") { options.take_truth("DECODE").map(Some) } else { Ok(None) }
}

/// Returns the template for showing keys.
pub(super) fn schema(is_decoded: Option<bool>, table: &Table) -> Result<Option<&KeySchema>> {
    match (is_decoded, table.key_schema()) {
        (Some(false), _) => Ok(None),
        (_, Ok(schema)) => Ok(Some(schema)),
        (None, Err(_)) => Ok(None),
        (Some(true), Err(error)) => usage_error(error.message()),
    }
}

/// The declarations for showing rows.
#[derive(Clone, Copy)]
pub(super) struct Declared<'t> {
    pub(super) key: Option<&'t KeySchema>,
    columns: Option<&'t ColumnSchema>,
    converters: &'t Converters,
    cells: Option<&'t SelectedCells<'t>>,
}

/// Returns the template and the columns for showing rows; DECODE requires one of them.
pub(super) fn declared<'t>(
    is_decoded: Option<bool>,
    table: &'t Table,
    converters: &'t Converters,
) -> Result<Declared<'t>> {
    let columns = table.column_schema().ok().filter(|_| is_decoded != Some(false));
    let is_decoded = is_decoded.filter(|is_decoded| !is_decoded || columns.is_none());
    Ok(Declared { key: schema(is_decoded, table)?, columns, converters, cells: None })
}

impl<'t> Declared<'t> {
    /// Shows only these row cells.
    pub(super) fn only(self, cells: &'t SelectedCells<'t>) -> Self {
        Self { cells: Some(cells), ..self }
    }

    /// Returns true if a cell is shown.
    pub(super) fn shows(self, cell: KeyValue<'_>) -> bool {
        self.cells.is_none_or(|cells| cells.show(cell.family(), cell.qualifier()))
    }

    /// Returns a cell's formatted value.
    pub(super) fn value(self, cell: KeyValue<'_>) -> String {
        self.converters.value(cell)
    }

    /// Returns how many characters are shown for a cell at most, if limited.
    pub(super) fn len_max(self) -> Option<u32> {
        self.converters.len_max()
    }

    /// Returns a cell's name and value, or the reason why it does not fit the column; `None` for an
    /// undeclared column.
    pub(super) fn cell(self, cell: KeyValue<'_>) -> Option<String> {
        match self.columns?.decode(cell.family(), cell.qualifier(), cell.value()) {
            Ok(named) => Some(escape_line(&named.to_string())),
            Err(CellMismatch::Undeclared { .. }) => None,
            Err(misfit) => Some(escape_line(&misfit.to_string())),
        }
    }
}

/// Returns the key fields, or the reason why the key does not fit the template.
pub(super) fn fields(schema: &KeySchema, key: &[u8]) -> String {
    match schema.decode(key) {
        Ok(values) => escape_line(&values.to_string()),
        Err(misfit) => escape_line(&misfit.to_string()),
    }
}
