//! `create`.

use std::io::Write;

use rowhouse::{Bytes, FamilyDescriptor, TableSpec, unescape};

use crate::shell::call::{self, Call, Options};
use crate::shell::commands::Command;
use crate::shell::describe::parse_ttl;
use crate::shell::failure::{Failure, Result, said};
use crate::shell::grammar::{Hash, Value};
use crate::shell::session::Session;

/// Attributes of a family that are handed on as they are.
const FAMILY_ATTRIBUTES: [&str; 16] = [
    "BLOCKCACHE",
    "BLOCKSIZE",
    "BLOOMFILTER",
    "CACHE_BLOOMS_ON_WRITE",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "COMPRESSION",
    "DATA_BLOCK_ENCODING",
    "EVICT_BLOCKS_ON_CLOSE",
    "INDEX_BLOCK_ENCODING",
    "IN_MEMORY",
    "KEEP_DELETED_CELLS",
    "MIN_VERSIONS",
    "NEW_VERSION_BEHAVIOR",
    "PREFETCH_BLOCKS_ON_OPEN",
    "REPLICATION_SCOPE",
];

/// Attributes of a table that are handed on as they are.
const TABLE_ATTRIBUTES: [&str; 9] = [
    "COMPACTION_ENABLED",
    "DURABILITY",
    "MAX_FILESIZE",
    "MEMSTORE_FLUSHSIZE",
    "MERGE_ENABLED",
    "NORMALIZATION_ENABLED",
    "OWNER",
    "PRIORITY",
    "SPLIT_ENABLED",
];

/// What a table may ask for by default.
const DURABILITIES: [&str; 5] = ["ASYNC_WAL", "FSYNC_WAL", "SKIP_WAL", "SYNC_WAL", "USE_DEFAULT"];

/// Makes a table. What is to be thought about its template is told, not refused.
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
            other => return said(format!("a family is a text or a hash, not {}", other.kind())),
        };
    }
    if !has_families {
        return said("Table must have at least one column family");
    }
    // What the declaration alone shows is no answer of a server.
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
    let mut family = FamilyDescriptor::new(name).or_else(|error| said(error.message()))?;
    if let Some(versions) = options.take_text("VERSIONS")? {
        if versions.parse::<i64>().is_ok_and(|versions| versions < 1) {
            return said("Maximum versions must be positive");
        }
        family = family.attribute("VERSIONS", versions);
    }
    if let Some(ttl) = options.take_text("TTL")? {
        let Some(seconds) = parse_ttl(&ttl) else {
            return said(format!("TTL must be seconds, '1 DAY 2 HOURS' or 'FOREVER': {ttl}"));
        };
        family = family.attribute("TTL", seconds.to_string());
    }
    for name in FAMILY_ATTRIBUTES {
        if let Some(value) = options.take_text(name)? {
            family = family.attribute(name, in_hbases_case(name, &value));
        }
    }
    for (name, value) in options.take_texts("METADATA")? {
        family = family.attribute(name, value);
    }
    family.configuration.extend(options.take_texts("CONFIGURATION")?);
    options.finish()?;
    Ok(family)
}

/// HBase's shell takes the words of enumerations in any case and stores them in upper case.
fn in_hbases_case(name: &str, value: &str) -> String {
    let words = ["BLOOMFILTER", "COMPRESSION", "DATA_BLOCK_ENCODING", "KEEP_DELETED_CELLS"];
    if words.contains(&name) { value.to_uppercase() } else { value.to_owned() }
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
    spec = spec.splits(splits(options.take_list("SPLITS"))?);
    for name in TABLE_ATTRIBUTES {
        let Some(value) = options.take_text(name)? else { continue };
        if name == "DURABILITY" && !DURABILITIES.contains(&&value[..]) {
            return said(format!("DURABILITY must be one of {}: {value}", DURABILITIES.join(", ")));
        }
        spec = spec.attribute(name, &value);
    }
    for (name, value) in options.take_texts("METADATA")? {
        spec = spec.attribute(&name, &value);
    }
    for (name, value) in options.take_texts("CONFIGURATION")? {
        spec = spec.configuration(&name, &value);
    }
    if let Some(name) =
        FAMILY_ATTRIBUTES.iter().chain(&["VERSIONS", "TTL"]).find(|name| options.has(name))
    {
        return said(format!("{name} belongs to a family: {{NAME => 'cf', {name} => …}}"));
    }
    options.finish()?;
    Ok(spec)
}

/// Split rows: HBase reads `\xHH` in them, in either kind of quotes.
fn splits(values: Vec<Value>) -> Result<Vec<Bytes>> {
    let split = |value: &Value| {
        let bytes = call::bytes("SPLITS", value)?;
        match std::str::from_utf8(&bytes) {
            Err(_) => Ok(bytes),
            Ok(text) => match unescape(text) {
                Ok(bytes) => Ok(bytes.into()),
                Err(error) => Err(Failure::Said(error.message().to_owned())),
            },
        }
    };
    values.iter().map(split).collect()
}
