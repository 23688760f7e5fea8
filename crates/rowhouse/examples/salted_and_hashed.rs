//! foo0001, foo0002, … share a prefix, so one region gets all writes. How do a salt, a bucket and a
//! hash at the start of the key help, and how much does each cost the reader?

use rowhouse::{Bytes, Result, RowRange, Scan, Table, TableSpec};

const KEYS: [(&str, &str); 4] = [
    ("plain", "[id text]"),
    ("salted", "[salt 4 a-d]-[id text]"),
    ("in_buckets", "[bucket 4 of id][id text]"),
    ("hashed", "[hash 16 of id by md5][id text]"),
];
const ROWS: usize = 1_000;

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    println!("{:34}regions written  keys of a get  rows read for foo0003 to foo0007", "");
    let mut costs = Vec::new();
    for (name, template) in KEYS {
        let spec = TableSpec::new(name).family("d").key(template);
        let table = database.create_table(spec).await?;
        for nth in 1..=ROWS {
            let id = format!("foo{nth:04}");
            table.row(&[("id", id.as_str().into())]).set("d", "id", &id).put().await?;
        }
        let regions = regions_written(&table).await?;
        let get = table.query("id = 'foo0003'").explain()?.ranges().len();
        let scan = table.query("id between 'foo0003' and 'foo0007'");
        let mut read = 0;
        for range in scan.explain()?.ranges() {
            read += rows_in(&table, range.clone()).await?;
        }
        let rows = scan.rows().await?.collect().await?;
        let ids: Vec<_> = rows.iter().filter_map(|row| row.text("d", "id")).collect();
        let order = if ids.is_sorted() { "in order" } else { "not in order" };
        println!("{template:34}{regions:15}{get:15}{read:10}, {} given, {order}", ids.len());
        assert_eq!((ids.len(), ids.is_sorted()), (5, name != "hashed"));
        costs.push((regions, get, read));
    }
    // With a salt a get needs four gets; a bucket determines the one to read; a hash leaves no
    // order to scan in.
    assert_eq!(costs, [(1, 1, 5), (4, 4, 5), (4, 1, 5), (4, 1, ROWS)]);
    database.close().await
}

/// Returns how many of the template's four regions received rows.
async fn regions_written(table: &Table) -> Result<usize> {
    let splits = match table.key_schema()?.splits(4) {
        Ok(splits) => splits,
        // Only the application knows how a plain key's ids are distributed; the template cannot
        // derive splits.
        Err(_) => vec!["b".into(), "c".into(), "d".into()],
    };
    let mut written = 0;
    let mut start = Bytes::new();
    for stop in splits.into_iter().chain([Bytes::new()]) {
        let range = RowRange::new(start, stop.clone());
        written += usize::from(rows_in(table, range).await? > 0);
        start = stop;
    }
    Ok(written)
}

async fn rows_in(table: &Table, range: RowRange) -> Result<usize> {
    Ok(table.scan(Scan::new(range)).await?.collect().await?.len())
}
