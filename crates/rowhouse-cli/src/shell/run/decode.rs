//! Keys by their fields, beside the bytes that HBase's shell shows.
//!
//! The lines of HBase's output stay as they are. What a template says of a key stands on a line of its own
//! in front of them, behind ` # `.

use rowhouse::{KeySchema, Table};

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

/// The fields of a key, or why it does not fit the template.
pub(super) fn fields(schema: &KeySchema, key: &[u8]) -> String {
    match schema.decode(key) {
        Ok(values) => on_one_line(&values.to_string()),
        Err(misfit) => on_one_line(&misfit.to_string()),
    }
}
