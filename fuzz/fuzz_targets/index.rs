//! Index declarations, and a row's entries. Declarations print as they are parsed, and an index
//! table declares the index's full form; every entry fits it and leads back to the row.
//!
//! Input: the table (1 byte), then lines: the declarations with `|` for line ends, the row, the
//! column values, and the qualifiers of a column that has many.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rowhouse_model::{Cell, CellKind, Row, TableDescriptor, TableName, Timestamp};
use rowhouse_schema::{ColumnSchema, Index, IndexSchema, KeySchema};

static TABLES: LazyLock<Vec<Option<KeySchema>>> = LazyLock::new(|| {
    let keys = [
        "[user string][at millis desc]",
        "[user text]_[n digits 4]",
        "[bucket 4 of user][user string][n u8]",
        "[salt 4 a-d]-[user text]",
        "[day ymd floor 1d][user text md5 4][state enum(new,lost=9) null first]",
    ];
    let keys = keys.map(|key| Some(KeySchema::parse(key).expect("the template is valid")));
    keys.into_iter().chain([None]).collect()
});

static BASE: LazyLock<TableDescriptor> =
    LazyLock::new(|| TableDescriptor::new(TableName::parse("t").expect("a name")));

static COLUMNS: LazyLock<ColumnSchema> = LazyLock::new(|| {
    let columns = "d:s sender string; d:z size u32; d:m mood enum(good,bad); d:t text text; \
                   f:[tag string] tagged u8; g:[at u8][kind u16] event blob";
    ColumnSchema::parse(columns).expect("the columns are valid")
});

fuzz_target!(|input: &[u8]| {
    let Some((&number, input)) = input.split_first() else { return };
    let key = &TABLES[usize::from(number) % TABLES.len()];
    let mut lines = input.split(|&byte| byte == b'\n');
    let Ok(text) = std::str::from_utf8(lines.next().unwrap_or_default()) else { return };
    let parse = |text: &str| IndexSchema::parse(text, key.as_ref(), Some(&*COLUMNS));
    let Ok(schema) = parse(&text.replace('|', "\n")) else { return };
    let printed = schema.to_string();
    let again = parse(&printed).expect("printed declarations are valid");
    assert_eq!(again.to_string(), printed);
    assert_eq!(again.indexes(), schema.indexes(), "{printed}");

    let row = lines.next().unwrap_or_default();
    let cells = cells(row, &lines.collect::<Vec<_>>());
    for index in schema.indexes() {
        if let Ok(table) = index.table_descriptor(&BASE) {
            let again = KeySchema::of_table(&table).expect("a full form is a template");
            assert_eq!(again.as_ref(), Some(index.template()), "{printed}");
        }
        check_entries(index, row, &cells);
    }
});

/// Makes a row's cells: values for the columns with one qualifier, then qualifiers for the others.
fn cells(row: &[u8], lines: &[&[u8]]) -> Row {
    let named: [(&str, &[u8]); 4] = [("d", b"s"), ("d", b"z"), ("d", b"m"), ("d", b"t")];
    let mut cells = Vec::new();
    for (nth, line) in lines.iter().enumerate() {
        let (family, qualifier, value) = match named.get(nth) {
            Some((family, qualifier)) => (*family, *qualifier, *line),
            None => (if nth % 2 == 0 { "f" } else { "g" }, *line, &b"\x01"[..]),
        };
        let at = Timestamp::from_millis(1).expect("a timestamp");
        cells.extend(Cell::new(row, family, qualifier, at, CellKind::Put, value));
    }
    cells.sort_by(|one, other| one.key().cmp(&other.key()));
    cells.dedup_by(|one, other| {
        one.family() == other.family() && one.qualifier() == other.qualifier()
    });
    Row::new(cells)
}

fn check_entries(index: &Index, row: &[u8], cells: &Row) {
    let Ok(entries) = index.entries(row, cells) else { return };
    if !entries.is_empty() {
        assert!(index.fits(row));
    }
    for entry in entries {
        assert!(index.template().decode(&entry.key).is_ok(), "{}", index.template());
        let found = index.row_key(&entry.key).expect("an entry leads to a row");
        assert_eq!(found, row, "{}", index.template());
        assert_eq!(entry.covered.len(), index.covers().len());
        if let Some(prefix) = index.unique_prefix(&entry.key) {
            assert!(entry.key.starts_with(prefix));
        }
    }
}
