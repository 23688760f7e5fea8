//! HFile blocks, one per line.

use std::io::Write;

use rowhouse_store::{BlockFacts, HFile};
use serde_json::{Map, Value as Json, json};

use super::{OutputFormat, PrintResult};

/// Prints every block.
pub(super) fn print(file: &HFile, shown: &OutputFormat, out: &mut dyn Write) -> PrintResult {
    if !shown.json {
        writeln!(out, "{:>12} {:>9} {:>9} {:>7}  kind", "offset", "len", "payload", "cells")?;
    }
    for facts in file.blocks() {
        let facts = facts?;
        if shown.json {
            writeln!(out, "{}", document(file, &facts, shown))?;
        } else {
            writeln!(out, "{}", line(&facts, shown))?;
        }
    }
    Ok(())
}

fn line(facts: &BlockFacts, shown: &OutputFormat) -> String {
    let cells = facts.cells.map(|cells| cells.to_string()).unwrap_or_default();
    let first = facts.first_key.as_ref().map(|key| format!(", from row {}", shown.row(key.row())));
    format!(
        "{:>12} {:>9} {:>9} {cells:>7}  {}{}",
        facts.offset,
        facts.len,
        facts.payload_len,
        facts.kind.name(),
        first.unwrap_or_default()
    )
}

fn document(file: &HFile, facts: &BlockFacts, shown: &OutputFormat) -> Json {
    let mut document = Map::new();
    document.insert("file".into(), json!(file.path().display().to_string()));
    document.insert("offset".into(), json!(facts.offset));
    document.insert("kind".into(), json!(facts.kind.name()));
    document.insert("len".into(), json!(facts.len));
    document.insert("payload_len".into(), json!(facts.payload_len));
    if let Some(cells) = facts.cells {
        document.insert("cells".into(), json!(cells));
    }
    if let Some(key) = &facts.first_key {
        shown.put_row(&mut document, "first_row", key.row());
    }
    Json::Object(document)
}
