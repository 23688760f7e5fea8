//! Measures how much of a wide row is read from the file, with the operating system's counters. It
//! is a separate test binary because they count for the whole process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use rowhouse::{Database, Put, TableSpec};

const COLUMNS: u32 = 100_000;

/// Returns how many bytes this process has read so far.
fn bytes_read() -> u64 {
    let counters = std::fs::read_to_string("/proc/self/io").unwrap();
    let count = counters.lines().find_map(|line| line.strip_prefix("rchar: "));
    count.unwrap().parse().unwrap()
}

async fn fill(database: &Database) {
    let columns = "f:[at seconds 4 desc] price u64; g:[kind enum(a,b,c)][at seconds 4] event u64";
    let spec = TableSpec::new("t").key("[user string]").columns(columns).family("f").family("g");
    let table = database.create_table(spec).await.unwrap();
    let columns = table.column_schema().unwrap();
    let row = table.key(&[("user", "bob".into())]).unwrap();
    for from in (0..COLUMNS).step_by(10_000) {
        let mut put = Put::new(row.clone()).unwrap();
        for at in from..from + 10_000 {
            let price = columns.encode_with("price", &[("at", at.into())], at).unwrap();
            let kind = ["a", "b", "c"][at as usize % 3];
            let fields = [("kind", kind.into()), ("at", at.into())];
            let event = columns.encode_with("event", &fields, at).unwrap();
            for cell in [price, event] {
                put = put.add(cell.family, cell.qualifier, cell.value).unwrap();
            }
        }
        table.put(put).await.unwrap();
    }
    database.admin().flush("t").await.unwrap();
}

#[tokio::test]
async fn of_a_hundred_thousand_columns_little_more_is_read_than_the_requested_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let database = rowhouse::open(path).await.unwrap();
    fill(&database).await;
    database.close().await.unwrap();

    // Returns how many cells and bytes are read, by a store with empty caches.
    let read = async |condition: &str, family: &str| {
        let database = rowhouse::open(path).await.unwrap();
        let table = database.table("t").await.unwrap();
        let before = bytes_read();
        let rows =
            table.query(condition).family(family).rows().await.unwrap().collect().await.unwrap();
        let bytes = bytes_read() - before;
        database.close().await.unwrap();
        (rows.iter().map(|row| row.row().len()).sum::<usize>(), bytes)
    };
    let (cells, all_prices) = read("user = 'bob'", "f").await;
    assert_eq!(cells, COLUMNS as usize);
    let (cells, all_events) = read("user = 'bob'", "g").await;
    assert_eq!(cells, COLUMNS as usize);
    assert!(all_prices > 3 << 20 && all_events > 3 << 20, "{all_prices} {all_events}");

    // One range, in the middle.
    let (cells, bytes) = read("user = 'bob' and price.at between 50000 and 50999", "f").await;
    assert_eq!(cells, 1_000);
    println!("prices: all {all_prices}, a range {bytes}");
    assert!(bytes * 10 < all_prices, "read={bytes}, all={all_prices}");

    // Three ranges, far apart.
    let (cells, bytes) = read("user = 'bob' and event.at between 50001 and 50900", "g").await;
    assert_eq!(cells, 900);
    println!("events: all {all_events}, three ranges {bytes}");
    assert!(bytes * 5 < all_events, "read={bytes}, all={all_events}");
}
