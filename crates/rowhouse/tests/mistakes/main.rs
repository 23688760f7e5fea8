//! Commonly published mistakes with row keys: each goes wrong with hand-built bytes and plain
//! scans, and with a template works or is rejected.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod ends_of_texts;
mod hashes_by_hand;
mod long_and_wide;
mod numbers_as_text;
mod one_row_of_two;
mod pages_per_region;
mod random_salts;
mod time_ranges;
mod time_zones;

use rowhouse::{Bytes, Database, Put, RowRange, Scan, Table, TableSpec};

/// A database in a temporary directory.
struct Scratch {
    database: Database,
    _dir: tempfile::TempDir,
}

impl Scratch {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
        Self { database, _dir: dir }
    }

    /// Creates a table without a declared key.
    async fn by_hand(&self) -> Table {
        self.database.create_table(TableSpec::new("by_hand").family("d")).await.unwrap()
    }

    /// Creates a table with a declared key.
    async fn by_template(&self, template: &str) -> Table {
        let spec = TableSpec::new("by_template").family("d").key(template);
        self.database.create_table(spec).await.unwrap()
    }
}

async fn put(table: &Table, key: impl Into<Bytes>, text: &str) {
    let put = Put::new(key).unwrap().add("d", "text", text).unwrap();
    table.put(put).await.unwrap();
}

/// Returns the texts in the rows from `start` to `stop`, exclusive.
async fn scan(table: &Table, start: impl Into<Bytes>, stop: impl Into<Bytes>) -> Vec<String> {
    let scan = Scan::new(RowRange::new(start, stop));
    let rows = table.scan(scan).await.unwrap().collect().await.unwrap();
    let text = |row: &rowhouse::Row| row.value("d", "text").unwrap();
    rows.iter().map(|row| String::from_utf8(text(row).to_vec()).unwrap()).collect()
}

/// Returns the texts in the rows that a query returns.
async fn query(table: &Table, question: &str) -> Vec<String> {
    let rows = table.query(question).rows().await.unwrap().collect().await.unwrap();
    rows.iter().map(|row| row.text("d", "text").unwrap().into_owned()).collect()
}

/// Returns the codes for the rules that a template violates.
fn warnings(template: &str) -> Vec<String> {
    let schema = rowhouse::key::KeySchema::parse(template).unwrap();
    schema.check().iter().map(|finding| finding.rule.code()).collect()
}
