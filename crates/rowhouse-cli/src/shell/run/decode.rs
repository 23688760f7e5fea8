//! Keys by their fields and cells by their names, beside the bytes that HBase's shell shows.
//!
//! The lines of HBase's output stay as they are. What a template says of a key stands on a line of its own
//! in front of them, behind ` # `, and what is declared of a cell's column in front of the cell, behind ` #   `.

use rowhouse::{CellMismatch, ColumnSchema, KeySchema, KeyValue, Table};

use super::converter::Converters;
use crate::one_line::on_one_line;
use crate::shell::call::Options;
use crate::shell::failure::{Result, said};

/// What DECODE says: true wants a template, false HBase's lines alone; otherwise keys are decoded where the
/// table has a template.
pub(super) fn wanted(options: &mut Options) -> Result<Option<bool>> {
    match options.has("DECODE") {
        true => options.take_truth("DECODE").map(Some),
        false => Ok(None),
    }
}

/// The template by which keys are to be shown.
pub(super) fn schema(wanted: Option<bool>, table: &Table) -> Result<Option<&KeySchema>> {
    match (wanted, table.key_schema()) {
        (Some(false), _) => Ok(None),
        (_, Ok(schema)) => Ok(Some(schema)),
        (None, Err(_)) => Ok(None),
        (Some(true), Err(error)) => said(error.message()),
    }
}

/// By what rows are to be shown.
#[derive(Clone, Copy)]
pub(super) struct Declared<'t> {
    pub(super) key: Option<&'t KeySchema>,
    columns: Option<&'t ColumnSchema>,
    converters: &'t Converters,
}

/// The template and the columns by which rows are to be shown; DECODE wants one of them.
pub(super) fn declared<'t>(
    wanted: Option<bool>,
    table: &'t Table,
    converters: &'t Converters,
) -> Result<Declared<'t>> {
    let columns = table.column_schema().ok().filter(|_| wanted != Some(false));
    let wanted = wanted.filter(|wanted| !wanted || columns.is_none());
    Ok(Declared { key: schema(wanted, table)?, columns, converters })
}

impl Declared<'_> {
    /// The value of a cell as it is to be shown.
    pub(super) fn value(self, cell: KeyValue<'_>) -> String {
        self.converters.value(cell)
    }

    /// How many characters of a cell are to be shown, if not all.
    pub(super) fn len_max(self) -> Option<u32> {
        self.converters.len_max()
    }

    /// Name and value of a cell, or why it does not fit its column; nothing of a column that is not declared.
    pub(super) fn cell(self, cell: KeyValue<'_>) -> Option<String> {
        match self.columns?.decode(cell.family(), cell.qualifier(), cell.value()) {
            Ok(named) => Some(on_one_line(&named.to_string())),
            Err(CellMismatch::Undeclared { .. }) => None,
            Err(misfit) => Some(on_one_line(&misfit.to_string())),
        }
    }
}

/// The fields of a key, or why it does not fit the template.
pub(super) fn fields(schema: &KeySchema, key: &[u8]) -> String {
    match schema.decode(key) {
        Ok(values) => on_one_line(&values.to_string()),
        Err(misfit) => on_one_line(&misfit.to_string()),
    }
}
