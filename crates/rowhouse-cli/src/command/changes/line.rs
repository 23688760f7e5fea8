//! Changes as lines.

use rowhouse::changes::{ChangedRow, TableChange};
use rowhouse::key::escape;
use rowhouse_model::{Cell, CellKind, ChangePosition};
use serde_json::{Map, Value as Json, json};

/// Returns a change as a JSON object in one line. The position is last: a line that was cut off has
/// none.
pub(super) fn json(change: &TableChange) -> String {
    let mut object = Map::new();
    match change {
        TableChange::Row(row) => add_row(&mut object, "row", row),
        TableChange::Copied(row) => add_row(&mut object, "copied", row),
        TableChange::CopyEnded(_) => _ = object.insert("kind".into(), json!("copy-ended")),
        TableChange::Whole { kind, time, .. } => {
            object.insert("kind".into(), json!("table"));
            object.insert("change".into(), json!(kind.word()));
            object.insert("time".into(), json!(time.as_millis()));
        }
    }
    let object = Json::Object(object).to_string();
    let inner = object.strip_suffix('}').expect("an object ends so, and is not empty");
    format!("{inner},\"position\":\"{}\"}}", change.position())
}

fn add_row(object: &mut Map<String, Json>, kind: &str, row: &ChangedRow) {
    object.insert("kind".into(), json!(kind));
    if let Some(time) = row.time() {
        object.insert("time".into(), json!(time.as_millis()));
    }
    object.insert("row".into(), json!(escape(row.key_bytes())));
    if let Some(Ok(values)) = row.values() {
        let fields = values.iter().map(|(name, value)| (name.to_owned(), json!(value.to_string())));
        object.insert("key".into(), Json::Object(fields.collect()));
    }
    let puts: Vec<_> = row.puts().map(|cell| put(row, cell)).collect();
    if !puts.is_empty() {
        object.insert("put".into(), Json::Array(puts));
    }
    let deletes: Vec<_> = row.deletes().map(deleted).collect();
    if !deletes.is_empty() {
        object.insert("deleted".into(), Json::Array(deletes));
    }
}

fn put(row: &ChangedRow, cell: &Cell) -> Json {
    let mut object = place(cell);
    if let Some((name, value)) = row.column_of(cell) {
        object.insert("column".into(), json!(name));
        object.insert("value".into(), json!(value.to_string()));
    } else {
        object.insert("value".into(), json!(escape(cell.value())));
    }
    Json::Object(object)
}

fn deleted(cell: &Cell) -> Json {
    let mut object = place(cell);
    object.insert("type".into(), json!(word(cell.kind())));
    Json::Object(object)
}

fn place(cell: &Cell) -> Map<String, Json> {
    let mut object = Map::new();
    object.insert("family".into(), json!(escape(cell.family())));
    object.insert("qualifier".into(), json!(escape(cell.qualifier())));
    object.insert("timestamp".into(), json!(cell.timestamp().as_millis()));
    object
}

/// Returns HBase's word for a cell kind.
fn word(kind: CellKind) -> &'static str {
    match kind {
        CellKind::Put => "Put",
        CellKind::DeleteVersion => "Delete",
        CellKind::DeleteFamilyVersion => "DeleteFamilyVersion",
        CellKind::DeleteColumn => "DeleteColumn",
        CellKind::DeleteFamily => "DeleteFamily",
    }
}

/// Returns a change as a line for each cell, with tabs between kind, row, column, timestamp, type,
/// value and position.
pub(super) fn cells(change: &TableChange) -> Vec<String> {
    let position = change.position();
    let lines = |kind: &str, row: &ChangedRow| {
        let last = row.cells().len().saturating_sub(1);
        let cells = row.cells().iter().enumerate().map(|(at, cell)| {
            let key = escape(row.key_bytes());
            let column = format!("{}:{}", escape(cell.family()), escape(cell.qualifier()));
            let millis = cell.timestamp().as_millis();
            let value = escape(cell.value());
            let word = word(cell.kind());
            // The position is that after the row, so that only the last line of a row has it.
            let position = if at == last { position.to_string() } else { "-".to_owned() };
            format!("{kind}\t{key}\t{column}\t{millis}\t{word}\t{value}\t{position}")
        });
        cells.collect()
    };
    match change {
        TableChange::Row(row) => lines("row", row),
        TableChange::Copied(row) => lines("copied", row),
        TableChange::CopyEnded(_) => vec![format!("copy-ended\t{position}")],
        TableChange::Whole { kind, .. } => vec![format!("table\t{}\t{position}", kind.word())],
    }
}

/// How lines of both forms begin.
const BEGINNINGS: [&str; 5] = ["{\"kind\":\"", "row\t", "copied\t", "copy-ended\t", "table\t"];

/// Returns true if a line begins as one of either form does; its end may be missing.
pub(super) fn begins(line: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning.as_bytes()))
}

/// Returns the position in a line of either form; `None` if it has none, and for another line.
pub(super) fn position_in(line: &str) -> Option<ChangePosition> {
    if !begins(line.as_bytes()) {
        return None;
    }
    let json = line.rsplit_once("\"position\":\"").and_then(|(_, end)| end.strip_suffix("\"}"));
    let last = json.or_else(|| line.rsplit('\t').next().filter(|_| line.contains('\t')));
    last.and_then(|position| position.parse().ok())
}
