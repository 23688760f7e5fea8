//! Measures single-cell writes into wide rows whose columns are indexed, copied, searched or
//! observed: `cargo bench -p rowhouse-store --bench wide_writes`. The costs of a kind of write
//! should not grow with the row.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

use std::sync::Arc;
use std::time::Instant;

use rowhouse_model::{
    Columns, Delete, FamilyDescriptor, Increment, Mutation, Put, Result, TableDescriptor,
    TableName, Timestamp,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, KEY_ATTRIBUTE};
use rowhouse_store::{Additions, Observer, RowChange, Store, Table};

const COLUMNS: &str = "1 t:[tag string] tagged blob; d:n name string; d:c counter blob";

/// What keeps data derived from the table.
const KINDS: [(&str, &str); 8] = [
    ("no index", ""),
    ("[tagged.tag]", "by_tag [tagged.tag]"),
    ("[tagged.tag] covers name", "by_tag [tagged.tag] covers name"),
    ("[tagged.tag] unique", "by_tag [tagged.tag] unique"),
    ("[tagged.tag] where name = 'x'", "by_tag [tagged.tag] where name = 'x'"),
    ("[name]", "by_name [name]"),
    ("[user bytes]", "by_user [bucket 4 of user][user]"),
    ("covers *", "copied [bucket 4 of user][user] covers *"),
];

const ROUNDS: usize = 201;

fn main() {
    println!("us, median of {ROUNDS}: put of a new tag, put of another name, increment, delete");
    for cells in [100, 10_000, 1_000_000] {
        println!("a row of {cells} cells");
        for (kind, indexes) in KINDS {
            measure(kind, indexes, cells, false);
        }
        measure("an observer of one column", "", cells, true);
    }
}

/// Observes one column.
struct ByName;

impl Observer for ByName {
    fn columns(&self) -> Columns {
        let mut columns = Columns::all();
        columns.add_column("d", "n");
        columns
    }

    fn row_changes(&self, _change: &RowChange, _additions: &mut Additions) -> Result<()> {
        Ok(())
    }
}

fn measure(kind: &str, indexes: &str, cells: usize, is_observed: bool) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let name = TableName::parse("t").unwrap();
    let family = |name: &str| FamilyDescriptor::new(name.to_owned()).unwrap();
    let table = TableDescriptor::new(name.clone())
        .family(family("t"))
        .family(family("d"))
        .attribute(KEY_ATTRIBUTE, "1 [user string]")
        .attribute(COLUMNS_ATTRIBUTE, COLUMNS);
    let table = match indexes {
        "" => table,
        indexes => table.attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}")),
    };
    store.create_table(table, &[]).unwrap();
    let table = store.table(&name).unwrap();
    if is_observed {
        store.observe(&name, Arc::new(ByName)).unwrap();
    }
    let row = "wide\0\x01";
    let tag = |number: usize| format!("tag{number:07}\0\x01");
    for begin in (0..cells).step_by(1000) {
        let mut put = Put::new(row).unwrap();
        for number in begin..(begin + 1000).min(cells) {
            put = put.add("t", tag(number), "1").unwrap();
        }
        table.mutate(&put.into()).unwrap();
    }
    table.flush().unwrap();
    let put = |family: &'static str, qualifier: String, value: String| -> Mutation {
        Put::new(row).unwrap().add(family, qualifier, value).unwrap().into()
    };
    let of_tag = median(&table, |round| put("t", tag(cells + round), "1".into()));
    // Each cell's entry follows if the index covers or names the column.
    let is_by_name = indexes.contains("covers name") || indexes.contains("where");
    let of_name = if is_by_name {
        f64::NAN
    } else {
        median(&table, |round| put("d", "n".into(), format!("name{round}")))
    };
    let increment =
        median(&table, |_| Increment::new(row).unwrap().add("d", "c", 1).unwrap().into());
    let delete = median(&table, |round| {
        let qualifier = tag(cells / 2 + round % (cells / 2).min(ROUNDS));
        Delete::new(row).unwrap().column("t", qualifier, Timestamp::LATEST).unwrap().into()
    });
    println!("  {kind:32} {of_tag:9.1} {of_name:9.1} {increment:9.1} {delete:9.1}");
}

/// Returns the median microseconds of writes.
fn median(table: &Table, mut mutation: impl FnMut(usize) -> Mutation) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|round| {
            let mutation = mutation(round);
            let started = Instant::now();
            table.mutate(&mutation).unwrap();
            started.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}
