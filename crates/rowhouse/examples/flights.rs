//! Which key for which question? Flights under three keys: what each plan reads, and what it gives.
//!
//! The flights are computed, unless `FLIGHTS_CSV` names a file of real ones; `compat/flights.sh` gets it.

#[path = "flights/flight.rs"]
pub(crate) mod flight;

use flight::Flight;
use rowhouse::{Result, Scan, Table, TableSpec};

/// Each ends in what makes it unique: a carrier has one flight of a number at a time.
const KEYS: [(&str, &str); 3] = [
    ("by_flight", "[carrier text 2][number u16][at seconds 4]"),
    ("by_plane", "[tail text 6][at seconds 4 desc][carrier text 2][number u16]"),
    (
        "by_route",
        "[bucket 4 of origin,dest][origin text 3][dest text 3][at seconds 4][carrier text 2][number u16]",
    ),
];

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let flights = match std::env::var_os("FLIGHTS_CSV") {
        Some(path) => flight::read(path.as_ref())?,
        None => flight::computed(),
    };
    costs(&flights).await?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// What each question costs under each key, as lines of a table.
pub(crate) async fn costs(flights: &[Flight]) -> Result<Vec<String>> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let Flight { carrier, number, tail, origin, dest, .. } = &flights[0];
    let questions = [
        format!("carrier = '{carrier}' and number = {number} and at during 2013-01"),
        format!("tail = '{tail}' and at during 2013-01"),
        format!("origin = '{origin}' and dest = '{dest}' and at during 2013-01-15"),
        format!("origin = '{origin}' and at during 2013-01-15"),
        "at during 2013-01-15".to_owned(),
    ];
    let mut lines: Vec<_> = questions.iter().map(|question| vec![question.clone()]).collect();
    for (name, template) in KEYS {
        let spec = TableSpec::new(name).family("d").key(template);
        let table = database.create_table(spec).await?;
        flight::write(&table, flights).await?;
        assert_eq!(rows_in(&table, Scan::all()).await?, flights.len(), "two flights have one key");
        for (question, lines) in questions.iter().zip(&mut lines) {
            lines.push(format!("  {name:10}{}", cost(&table, question).await?));
        }
    }
    database.close().await?;
    Ok(lines.concat())
}

async fn cost(table: &Table, question: &str) -> Result<String> {
    let query = table.query(question);
    let plan = match query.explain() {
        Ok(plan) => plan,
        // Then every row would be read, and the columns of each compared.
        Err(error) => return Ok(error.message().split(';').take(1).collect()),
    };
    let mut read = 0;
    for range in plan.ranges() {
        read += rows_in(table, Scan::new(range.clone())).await?;
    }
    let given = query.rows().await?.collect().await?.len();
    Ok(format!("ranges: {}, rows read: {read}, given: {given}", plan.ranges().len()))
}

async fn rows_in(table: &Table, scan: Scan) -> Result<usize> {
    let mut rows = table.scan(scan).await?;
    let mut count = 0;
    while rows.next().await?.is_some() {
        count += 1;
    }
    Ok(count)
}
