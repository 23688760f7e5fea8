//! Limits: keys that are too long, and rows that are too wide.

use rowhouse::key::KeySchema;
use rowhouse::{ErrorKind, Get, Put, RowRange, Scan, TableSpec};

use super::{Scratch, put};

#[tokio::test]
async fn a_row_key_of_64_kilobytes_is_refused_and_the_limit_is_32767() {
    let scratch = Scratch::new().await;
    let by_hand = scratch.by_hand().await;
    // "A row key can be up to 64 KB": the length is a signed 16-bit number.
    let error = Put::new(vec![b'x'; 65_535]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(error.message(), "Row length 65535 is > 32767");
    assert!(Put::new(vec![b'x'; 32_768]).is_err());
    put(&by_hand, vec![b'x'; 32_767], "longest").await;
    let get = Get::new(vec![b'x'; 32_767]).unwrap();
    assert!(!by_hand.get(&get).await.unwrap().is_empty());

    let schema = KeySchema::parse("[url text]").unwrap();
    let error = schema.encode(&[("url", "x".repeat(32_768).into())]).unwrap_err();
    assert!(error.message().contains("32768") && error.message().contains("32767"), "{error}");
    // A 16-byte hash replaces a long text.
    let schema = KeySchema::parse("[url text md5 16]").unwrap();
    assert_eq!(schema.encode(&[("url", "x".repeat(65_535).into())]).unwrap().len(), 16);
}

#[tokio::test]
async fn a_wide_row_lies_in_one_region_and_its_tall_rows_in_all() {
    let scratch = Scratch::new().await;
    let readers = 2_000;
    // One article's readers: one column each, or one row each. Both tables have four regions.
    let wide = TableSpec::new("wide").family("d").key("[article hex 8]").regions(4);
    let wide = scratch.database.create_table(wide).await.unwrap();
    let tall = TableSpec::new("tall").family("d");
    let tall = tall.key("[bucket 4 of reader][article hex 8][reader u32]").regions(4);
    let tall = scratch.database.create_table(tall).await.unwrap();
    for reader in 0..readers {
        let row = wide.row(&[("article", "df887e44".into())]);
        row.set("d", &reader.to_string(), "").put().await.unwrap();
        let row = tall.row(&[("article", "df887e44".into()), ("reader", reader.into())]);
        row.set("d", "text", "").put().await.unwrap();
    }
    assert_eq!(cells_by_region(&wide).await, [0, 0, 0, readers as usize]);
    let tall_cells = cells_by_region(&tall).await;
    assert!(tall_cells.iter().all(|cells| *cells > 300), "{tall_cells:?}");
    // Splitting does not help the wide table: regions are split between rows, and this is a single
    // row.
    let inside = RowRange::new("df887e44", "df887e44\0");
    let rows = wide.scan(Scan::new(inside)).await.unwrap().collect().await.unwrap();
    assert_eq!((rows.len(), rows[0].len()), (1, readers as usize));

    // In the tall table an article's readers are still one ordered query.
    let rows = tall.query("article = 'df887e44' and reader < 10").rows().await.unwrap();
    let rows = rows.collect().await.unwrap();
    let ids: Vec<_> = rows.iter().filter_map(|row| row.key("reader")?.as_u64()).collect();
    assert_eq!(ids, (0..10).collect::<Vec<_>>());
}

/// Returns the cell count for each of a table's four regions.
async fn cells_by_region(table: &rowhouse::Table) -> Vec<usize> {
    let splits = table.key_schema().unwrap().splits(4).unwrap();
    let mut cells = Vec::new();
    for nth in 0..=splits.len() {
        let start = nth.checked_sub(1).map(|before| splits[before].clone()).unwrap_or_default();
        let stop = splits.get(nth).cloned().unwrap_or_default();
        let rows = table.scan(Scan::new(RowRange::new(start, stop))).await.unwrap();
        cells.push(rows.collect().await.unwrap().iter().map(|row| row.len()).sum());
    }
    cells
}
