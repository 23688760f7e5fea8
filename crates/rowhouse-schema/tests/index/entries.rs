//! Row entries, byte by byte.

use rowhouse_model::{ErrorKind, Row, TableDescriptor, TableName, escape};
use rowhouse_schema::{
    CellBytes, ColumnSchema, Covered, EntryHeader, INDEX_OF_ATTRIBUTE, Index, IndexOf, IndexSchema,
    KeySchema,
};

use crate::{cell, row};

const COLUMNS: &str =
    "d:s sender string; d:n size u64; d:t subject string; f:[tag string][n u8] tagged u8";

fn columns() -> ColumnSchema {
    ColumnSchema::parse(COLUMNS).unwrap()
}

fn index(key: &str, text: &str) -> Index {
    let key = Some(key).filter(|key| !key.is_empty()).map(|key| KeySchema::parse(key).unwrap());
    let indexes = IndexSchema::parse(text, key.as_ref(), Some(&columns())).unwrap();
    indexes.indexes()[0].clone()
}

/// The escaped entry keys for a row with these cells.
fn entries(index: &Index, key: &[u8], cells: &[(&str, &str)]) -> Vec<String> {
    let columns = columns();
    let cells = cells.iter().map(|(name, value)| (cell(&columns, name, value), 1));
    let entries = index.entries(key, &row(key, cells)).unwrap();
    entries.iter().map(|entry| escape(&entry.key)).collect()
}

#[test]
fn a_text_gets_an_end_and_the_key_follows() {
    let index = index("[user text]_[n u8]", "i [sender]");
    assert_eq!(entries(&index, b"bob_\x07", &[("sender", "eve")]), [r"eve\x00\x01bob\x00\x01\x07"]);
}

#[test]
fn a_null_has_an_entry_only_where_it_may_stand() {
    let strict = index("[n u8]", "i [size]");
    assert!(entries(&strict, b"\x07", &[("sender", "eve")]).is_empty());
    let nullable = index("[n u8]", "i [size null last]");
    assert_eq!(entries(&nullable, b"\x07", &[("sender", "eve")]), [r"\x01\x07"]);
    assert!(entries(&nullable, b"\x07", &[]).is_empty());
    // Any cell decides whether the row exists.
    assert!(nullable.columns().is_all());
    assert!(!strict.columns().is_all());
}

#[test]
fn a_value_that_does_not_fit_its_type_is_null() {
    let columns = columns();
    let size = CellBytes { value: "many".into(), ..cell(&columns, "size", "1") };
    let row = row(b"\x07", [(size, 1)]);
    assert!(index("[n u8]", "i [size]").entries(b"\x07", &row).unwrap().is_empty());
    let nullable = index("[n u8]", "i [size null first]").entries(b"\x07", &row).unwrap();
    assert_eq!(nullable[0].key, &b"\0\x07"[..]);
}

#[test]
fn a_row_whose_key_does_not_fit_has_no_entry() {
    let index = index("[n u8]", "i [sender]");
    assert!(entries(&index, b"\x07\x07", &[("sender", "eve")]).is_empty());
    assert!(index.fits(b"\x07") && !index.fits(b"\x07\x07"));
}

#[test]
fn only_rows_that_meet_the_condition_have_entries() {
    let index = index("[n u8]", "i [sender] where size > 10");
    assert!(entries(&index, b"\x07", &[("sender", "eve")]).is_empty());
    assert!(entries(&index, b"\x07", &[("sender", "eve"), ("size", "10")]).is_empty());
    let large = entries(&index, b"\x07", &[("sender", "eve"), ("size", "11")]);
    assert_eq!(large, [r"eve\x00\x01\x07"]);
    assert!(index.columns().has_column(b"d", b"n"));
}

#[test]
fn each_cell_of_a_qualifier_template_has_an_entry_and_equal_ones_are_one() {
    let index = index("[n u8]", "i [tagged.tag]");
    let columns = columns();
    let tagged = |tag: &str, n: u8| {
        columns.encode_with("tagged", &[("tag", tag.into()), ("n", n.into())], 1).unwrap()
    };
    let row = row(b"\x07", [(tagged("b", 1), 1), (tagged("a", 1), 1), (tagged("a", 2), 1)]);
    let entries = index.entries(b"\x07", &row).unwrap();
    let keys: Vec<_> = entries.iter().map(|entry| escape(&entry.key)).collect();
    assert_eq!(keys, [r"a\x00\x01\x07", r"b\x00\x01\x07"]);
    assert!(index.columns().has_column(b"f", b"anything"));
}

#[test]
fn the_newest_version_counts_and_covered_cells_keep_their_timestamps() {
    let index = index("[n u8]", "i [sender] covers subject, size");
    let columns = columns();
    let cells = [
        (cell(&columns, "sender", "old"), 1),
        (cell(&columns, "sender", "new"), 2),
        (cell(&columns, "subject", "hello"), 7),
    ];
    let entries = index.entries(b"\x07", &row(b"\x07", cells)).unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].key, "new\0\u{1}\u{7}");
    let subject = Covered { timestamp: 7, value: "hello".into() };
    assert_eq!(entries[0].covered, [Some(subject), None]);
}

#[test]
fn a_table_without_a_key_template_has_the_whole_key() {
    let index = index("", "i [sender]");
    assert_eq!(entries(&index, b"\0k", &[("sender", "eve")]), [r"eve\x00\x01\x00\xFFk\x00\x01"]);
    assert_eq!(index.row_key(b"eve\0\x01\0\xFFk\0\x01").unwrap(), b"\0k");
    assert!(index.row_key(b"eve\0\x01\0\x01").is_err());
}

#[test]
fn an_entry_longer_than_a_row_key_is_refused() {
    let index = index("[user string]", "i [sender]");
    let columns = columns();
    let long = CellBytes { value: vec![b'x'; 32_768].into(), ..cell(&columns, "sender", "") };
    let error = index.entries(b"bob\0\x01", &row(b"bob\0\x01", [(long, 1)])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(
        error.to_string(),
        "a row cannot have its entry in the index `i`: the values encode to too many bytes: \
         len=32775, max=32767, row=bob\\x00\\x01"
    );
}

#[test]
fn a_field_in_part_and_whole_is_decoded_whole() {
    let index = index("[user string][at millis desc]", "by_day [at floor 1d]");
    let key = KeySchema::parse("[user string][at millis desc]").unwrap();
    let at = "2022-12-24T18:30";
    let row = key.encode(&[("user", "bob".into()), ("at", at.into())]).unwrap();
    let columns = columns();
    let cells = crate::row(&row, [(cell(&columns, "sender", "eve"), 1)]);
    let entry = &index.entries(&row, &cells).unwrap()[0].key;
    let values = index.template().decode(entry).unwrap();
    assert_eq!(values["at"].to_string(), "2022-12-24T18:30:00.000Z");
    assert_eq!(values.encode().unwrap(), entry);
    assert_eq!(
        values.to_string(),
        "at=2022-12-24T00:00:00.000Z, user='bob', at=2022-12-24T18:30:00.000Z"
    );
}

#[test]
fn a_table_of_entries_names_its_index() {
    let base = TableDescriptor::new(TableName::parse("ns:mail").unwrap())
        .attribute("rowhouse.columns", "1 f:[tag string][n u8] tagged u8")
        .attribute("rowhouse.indexes", "1 by_tag [tagged.tag][tagged.n]");
    let indexes = IndexSchema::of_table(&base).unwrap().unwrap();
    assert_eq!(indexes.to_stored(), "1 by_tag [tagged.tag][tagged.n]");
    let table = indexes.index("by_tag").unwrap().table_descriptor(&base).unwrap();
    table.check().unwrap();
    assert_eq!(table.name().to_string(), "ns:mail.by_tag");
    let key = KeySchema::of_table(&table).unwrap().unwrap();
    assert_eq!(&key, indexes.indexes()[0].template());
    let of = IndexOf::of_table(&table).unwrap().unwrap();
    assert_eq!(of.to_string(), "by_tag of ns:mail");
    assert_eq!(IndexOf::of_table(&base).unwrap(), None);
    let bad = TableDescriptor::new(base.name().clone()).attribute(INDEX_OF_ATTRIBUTE, "1 mail");
    assert!(IndexOf::of_table(&bad).is_err());
    // Without the attribute, the names are a key's names.
    let plain =
        TableDescriptor::new(base.name().clone()).attribute("rowhouse.key", key.to_stored());
    assert!(KeySchema::of_table(&plain).is_err());

    let error = indexes.index("by_tga").unwrap_err();
    assert_eq!(error.message(), "no index `by_tga` is declared; did you mean `by_tag`?");
    assert!(IndexSchema::from_stored("2 i [x]", None, None).is_err());
}

#[test]
fn other_headers_are_refused() {
    assert_eq!(EntryHeader::decode(&[2; 9]).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(EntryHeader::decode(&[]).unwrap_err().kind(), ErrorKind::Corruption);
    assert_eq!(EntryHeader::decode(&[1; 10]).unwrap_err().kind(), ErrorKind::Corruption);
    let header = EntryHeader::decode(&[1, 0, 0, 0, 0, 0, 0, 0, 7]).unwrap();
    assert!(header.is_certain_at(7) && !header.is_certain_at(8));
    let judged = EntryHeader { certain_until: -1, timestamps: Vec::new() };
    assert!(!judged.is_certain_at(0));
}

#[test]
fn a_row_without_cells_has_no_entry() {
    let index = index("[user string]", "i [user]");
    assert!(index.entries(b"bob\0\x01", &Row::default()).unwrap().is_empty());
}
