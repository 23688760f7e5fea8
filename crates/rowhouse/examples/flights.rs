//! Which key suits which query? Real flights on three days (or from the file `FLIGHTS_CSV`,
//! downloaded by `compat/flights.sh`) under four keys: the rows that each reads and returns, the
//! key bytes, and the share of an hour's writes that go to one region.

#[path = "flights/csv.rs"]
pub(crate) mod csv;
#[path = "flights/flight.rs"]
mod flight;
#[path = "flights/spread.rs"]
mod spread;

use flight::Flight;
use rowhouse::key::KeySchema;
use rowhouse::{Result, Scan, Table, TableSpec};

/// Each ends in fields that make it unique: a carrier has only one flight with a number at a time.
const KEYS: [(&str, &str); 4] = [
    ("by_time", "[at seconds 4][carrier text 2][number u16]"),
    ("by_flight", "[carrier text 2][number u16][at seconds 4]"),
    ("by_plane", "[tail text 6][at seconds 4 desc][carrier text 2][number u16]"),
    (
        "by_route",
        "[bucket 4 of origin,dest][origin text 3][dest text 3][at seconds 4][carrier text 2][number u16]",
    ),
];

const QUESTIONS: [&str; 6] = [
    "at during 2013-01-02T12",
    "carrier = 'UA' and number = 1545 and at during 2013-01",
    "tail = 'N730MQ' and at during 2013-01",
    "origin = 'JFK' and dest = 'LAX' and at during 2013-01-02",
    "origin = 'JFK' and at during 2013-01-02",
    "late > 120 and at during 2013-01-02",
];

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let flights = match std::env::var_os("FLIGHTS_CSV") {
        Some(path) => csv::read(path.as_ref())?,
        None => csv::of_three_days()?,
    };
    println!("{} flights", flights.len());
    costs(&flights).await?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// Returns what each query costs under each key, and what each key itself costs, as table lines.
pub(crate) async fn costs(flights: &[Flight]) -> Result<Vec<String>> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let mut lines: Vec<_> = QUESTIONS.iter().map(|question| vec![question.to_string()]).collect();
    lines.push(vec!["one key, and the writes of one hour to four regions".to_owned()]);
    for (name, template) in KEYS {
        let columns = flight::columns_beside(&KeySchema::parse(template)?);
        let spec = TableSpec::new(name).family("d").key(template).columns(&columns);
        let table = database.create_table(spec).await?;
        flight::write(&table, flights).await?;
        assert_eq!(rows_in(&table, Scan::all()).await?, flights.len(), "two flights have one key");
        for (question, lines) in QUESTIONS.iter().zip(&mut lines) {
            lines.push(format!("  {name:10}{}", cost(&table, question).await?));
        }
        let spread = spread::Spread::of(table.key_schema()?, flights)?;
        lines.last_mut().expect("the last lines are of keys").push(format!("  {name:10}{spread}"));
    }
    database.close().await?;
    Ok(lines.concat())
}

async fn cost(table: &Table, question: &str) -> Result<String> {
    let plan = table.query(question).explain()?;
    let mut read = 0;
    for range in plan.ranges() {
        read += rows_in(table, Scan::new(range.clone())).await?;
    }
    let given = table.query(question).rows().await?.collect().await?.len();
    Ok(format!("ranges: {}, rows read: {read}, given: {given}", plan.ranges().len()))
}

async fn rows_in(table: &Table, scan: Scan) -> Result<usize> {
    Ok(table.scan(scan).await?.collect().await?.len())
}
