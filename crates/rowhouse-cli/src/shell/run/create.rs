//! `create`.

use std::io::Write;

use rowhouse::TableSpec;
use rowhouse::schema::FamilyDescriptor;

use super::declared::Declared;
use super::presplit;
use crate::shell::call::{self, Call, Options};
use crate::shell::commands::Command;
use crate::shell::failure::{Result, said};
use crate::shell::grammar::{Hash, Value};
use crate::shell::session::Session;

/// Creates a table. Advice on its template is printed, and does not prevent this.
pub(super) async fn create<W: Write>(session: &mut Session<W>, call: Call) -> Result<String> {
    let (name, command) = (call.table()?, call.command);
    let mut spec = TableSpec::new(&name);
    let mut has_families = false;
    for argument in flatten(call.arguments.into_iter().skip(1)) {
        spec = match argument {
            Value::Hash(pairs) if pairs.iter().any(|(name, _)| name == "NAME") => {
                has_families = true;
                spec.family_with(family(command, pairs)?)
            }
            Value::Hash(pairs) => table_options(spec, command, &name, pairs)?,
            Value::Text(_) => {
                has_families = true;
                spec.family(&call::text("FAMILY", &argument)?)
            }
            other => {
                return said(format!("a family must be a text or a hash, not {}", other.kind()));
            }
        };
    }
    if !has_families {
        return said("Table must have at least one column family");
    }
    // Errors in the declaration do not come from a server.
    if let Err(error) = spec.check() {
        return said(error.message());
    }
    let advice = spec.advice();
    session.database.create_table(spec).await?;
    for finding in advice {
        session.say(format_args!("WARNING: {finding}"))?;
    }
    session.say(format_args!("Created table {name}"))?;
    Ok(name)
}

fn flatten(arguments: impl Iterator<Item = Value>) -> Vec<Value> {
    arguments
        .flat_map(|argument| match argument {
            Value::Array(values) => values,
            other => vec![other],
        })
        .collect()
}

fn family(command: &Command, pairs: Hash) -> Result<FamilyDescriptor> {
    let mut options = Options::new(command, "a family", pairs)?;
    let name = options.take_bytes("NAME")?.unwrap_or_default();
    let family = FamilyDescriptor::new(name).or_else(|error| said(error.message()))?;
    let declared = Declared::of_family(&mut options)?;
    options.finish()?;
    Ok(declared.in_family(family))
}

fn table_options(
    mut spec: TableSpec,
    command: &Command,
    table: &str,
    pairs: Hash,
) -> Result<TableSpec> {
    let mut options = Options::new(command, format!("table {table}"), pairs)?;
    if let Some(template) = options.take_text("KEY")? {
        spec = spec.key(&template);
    }
    if let Some(columns) = options.take_text("COLUMNS")? {
        spec = spec.columns(&columns);
    }
    if let Some(indexes) = options.take_text("INDEXES")? {
        spec = spec.indexes(&indexes);
    }
    spec = spec.splits(presplit::take(&mut options)?);
    let declared = Declared::of_table(&mut options)?;
    options.finish()?;
    for (name, value) in declared.attributes {
        spec = value.iter().fold(spec, |spec, value| spec.attribute(&name, value));
    }
    for (name, value) in declared.configuration {
        spec = value.iter().fold(spec, |spec, value| spec.configuration(&name, value));
    }
    Ok(spec)
}
