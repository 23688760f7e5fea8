//! An HFile on one page: the contents, counted cell by cell, and the metadata.

use std::collections::BTreeSet;
use std::io::Write;

use rowhouse::key::escape;
use rowhouse::{Error, Result};
use rowhouse_model::{CellKind, CellRef};
use rowhouse_store::HFile;
use serde_json::{Map, Value as Json, json};

use super::{OutputFormat, PrintResult};
use crate::counted::counted;
use crate::shell::timestamp;

/// Prints a file summary.
pub(super) fn print(file: &HFile, shown: &OutputFormat, out: &mut dyn Write) -> PrintResult {
    let counted = CellCounts::of(file)?;
    if shown.json {
        writeln!(out, "{}", document(file, &counted, shown)?)?;
    } else {
        for (name, value) in lines(file, &counted, shown)? {
            writeln!(out, "{name:<12} {value}")?;
        }
    }
    Ok(())
}

/// Counts over the cells.
#[derive(Default)]
struct CellCounts {
    cells: u64,
    rows: u64,
    markers: u64,
    tagged: u64,
    key_bytes: u64,
    value_bytes: u64,
    tag_bytes: u64,
    families: BTreeSet<Vec<u8>>,
    timestamps: Option<(i64, i64)>,
    sequences: Option<(u64, u64)>,
    last_row: Option<Vec<u8>>,
}

impl CellCounts {
    fn of(file: &HFile) -> Result<Self> {
        let mut counted = Self::default();
        let mut cells = file.cells()?;
        while let Some(cell) = cells.cell() {
            counted.note(&cell);
            cells.advance()?;
        }
        if counted.cells != file.meta().cells() {
            return Err(Error::corruption(format!(
                "{}: wrong number of cells: cells={}, trailer={}",
                file.path().display(),
                counted.cells,
                file.meta().cells()
            )));
        }
        Ok(counted)
    }

    fn note(&mut self, cell: &CellRef<'_>) {
        let key = &cell.key;
        self.cells += 1;
        if self.last_row.as_deref() != Some(key.row) {
            self.rows += 1;
            self.last_row = Some(key.row.to_vec());
        }
        self.markers += u64::from(key.kind != CellKind::Put as u8);
        self.tagged += u64::from(!cell.tags.is_empty());
        // Row length, family length, timestamp and kind belong to a key.
        let names_len = key.row.len() + key.family.len() + key.qualifier.len();
        self.key_bytes += (names_len + 2 + 1 + 8 + 1) as u64;
        self.value_bytes += cell.value.len() as u64;
        self.tag_bytes += cell.tags.len() as u64;
        if !self.families.contains(key.family) {
            self.families.insert(key.family.to_vec());
        }
        let at = key.timestamp;
        self.timestamps =
            Some(self.timestamps.map_or((at, at), |(min, max)| (min.min(at), max.max(at))));
        let number = cell.sequence;
        self.sequences = Some(
            self.sequences
                .map_or((number, number), |(min, max)| (min.min(number), max.max(number))),
        );
    }

    fn families(&self) -> Vec<String> {
        self.families.iter().map(|family| escape(family)).collect()
    }
}

fn lines(
    file: &HFile,
    cells: &CellCounts,
    shown: &OutputFormat,
) -> Result<Vec<(&'static str, String)>> {
    let meta = file.meta();
    let trailer = file.meta().trailer();
    let mut lines = vec![
        ("file", counted(trailer.file_len, "byte")),
        (
            "cells",
            format!(
                "{} in {}; {}, {} with tags",
                cells.cells,
                counted(cells.rows, "row"),
                counted(cells.markers, "delete marker"),
                cells.tagged
            ),
        ),
        (
            "bytes",
            format!(
                "{} of keys, {} of values, {} of tags",
                cells.key_bytes, cells.value_bytes, cells.tag_bytes
            ),
        ),
        ("families", cells.families().join(", ")),
    ];
    if let (Some(first), Some(last)) = (meta.first_key(), meta.last_key()) {
        lines.push(("first row", shown.row(first.row)));
        lines.push(("last row", shown.row(last.row)));
    }
    if let Some((min, max)) = cells.timestamps {
        let range = format!("{min} to {max} ({} to {})", timestamp(min), timestamp(max));
        lines.push(("timestamps", range));
    }
    let sequence = meta.sequence_max()?.map_or("not told".to_owned(), |number| number.to_string());
    if let Some((min, max)) = cells.sequences {
        lines.push(("sequence", format!("{min} to {max} in cells, {sequence} of the file")));
    }
    let layout = meta.layout();
    lines.push((
        "blocks",
        format!(
            "compression {}, encoding {}{}; {} before compression",
            trailer.compression.name(),
            layout.encoding.name(),
            if layout.tags_compressed { ", tags compressed" } else { "" },
            counted(trailer.uncompressed_len, "byte")
        ),
    ));
    lines.push((
        "index",
        format!(
            "levels {}, {} in the root, {} before compression",
            trailer.index_levels,
            counted(trailer.root_entries, "entry"),
            counted(trailer.uncompressed_index_len, "byte")
        ),
    ));
    for (name, bloom) in [("bloom", meta.bloom()), ("deletes", meta.delete_family_bloom())] {
        let text = bloom.map(|bloom| {
            let bytes: u64 = bloom.chunks().map(|chunk| u64::from(chunk.len)).sum();
            let chunks = bloom.chunks().count();
            format!(
                "{}, {} in {} of {}",
                bloom.kind().name(),
                counted(bloom.keys(), "key"),
                counted(chunks, "chunk"),
                counted(bytes, "byte")
            )
        });
        lines.push((name, text.unwrap_or_else(|| "no bloom".to_owned())));
    }
    for (name, value) in meta.info().iter() {
        lines.push(("info", format!("{} = {}", escape(name), info_value(name, value))));
    }
    Ok(lines)
}

/// Names in file info whose values are numbers (4 or 8 bytes) or booleans (1 byte).
const NUMBERS: [&str; 16] = [
    "BLOOM_FILTER_PARAM",
    "BULKLOAD_TIMESTAMP",
    "DELETE_FAMILY_COUNT",
    "EARLIEST_PUT_TS",
    "EXCLUDE_FROM_MINOR_COMPACTION",
    "HISTORICAL",
    "KEY_VALUE_VERSION",
    "MAJOR_COMPACTION_KEY",
    "MAX_MEMSTORE_TS_KEY",
    "MAX_SEQ_ID_KEY",
    "hfile.AVG_KEY_LEN",
    "hfile.AVG_VALUE_LEN",
    "hfile.CREATE_TIME_TS",
    "hfile.LEN_OF_BIGGEST_CELL",
    "hfile.MAX_TAGS_LEN",
    "hfile.TAGS_COMPRESSED",
];

/// Returns a file info value as text: as a number or boolean if [`NUMBERS`] has the name, otherwise
/// as escaped bytes.
fn info_value(name: &[u8], value: &[u8]) -> String {
    let long =
        |at: usize| value.get(at..)?.first_chunk::<8>().map(|long| i64::from_be_bytes(*long));
    if name == b"TIMERANGE" && value.len() == 16 {
        return format!("{} to {}", long(0).unwrap_or(0), long(8).unwrap_or(0));
    }
    if !NUMBERS.iter().any(|known| known.as_bytes() == name) {
        return escape(value);
    }
    match value {
        [byte] => (*byte != 0).to_string(),
        [a, b, c, d] => i32::from_be_bytes([*a, *b, *c, *d]).to_string(),
        _ => match long(0).filter(|_| value.len() == 8) {
            Some(long) => long.to_string(),
            None => escape(value),
        },
    }
}

fn document(file: &HFile, counted: &CellCounts, shown: &OutputFormat) -> Result<Json> {
    let meta = file.meta();
    let trailer = file.meta().trailer();
    let mut document = Map::new();
    let mut put = |name: &str, value: Json| document.insert(name.to_owned(), value);
    put("file", json!(file.path().display().to_string()));
    put("len", json!(trailer.file_len));
    put("cells", json!(counted.cells));
    put("rows", json!(counted.rows));
    put("delete_markers", json!(counted.markers));
    put("tagged", json!(counted.tagged));
    put("key_bytes", json!(counted.key_bytes));
    put("value_bytes", json!(counted.value_bytes));
    put("tag_bytes", json!(counted.tag_bytes));
    put("families", json!(counted.families()));
    put("timestamps", json!(counted.timestamps));
    put("sequences", json!(counted.sequences));
    put("sequence_max", json!(meta.sequence_max()?));
    put("compression", json!(trailer.compression.name()));
    put("encoding", json!(meta.layout().encoding.name()));
    put("tags_compressed", json!(meta.layout().tags_compressed));
    put("uncompressed_len", json!(trailer.uncompressed_len));
    put("index_levels", json!(trailer.index_levels));
    put("index_root_entries", json!(trailer.root_entries));
    put("index_uncompressed_len", json!(trailer.uncompressed_index_len));
    let blooms = [("bloom", meta.bloom()), ("delete_family_bloom", meta.delete_family_bloom())];
    for (name, bloom) in blooms {
        let bloom = bloom.map(|bloom| {
            let bytes: u64 = bloom.chunks().map(|chunk| u64::from(chunk.len)).sum();
            json!({
                "kind": bloom.kind().name(),
                "keys": bloom.keys(),
                "chunks": bloom.chunks().count(),
                "len": bytes,
            })
        });
        put(name, json!(bloom));
    }
    let info =
        meta.info().iter().map(|(name, value)| (escape(name), json!(info_value(name, value))));
    put("info", Json::Object(info.collect()));
    if let (Some(first), Some(last)) = (meta.first_key(), meta.last_key()) {
        shown.put_row(&mut document, "first_row", first.row);
        shown.put_row(&mut document, "last_row", last.row);
    }
    Ok(Json::Object(document))
}
