//! Which comes first in the key, the metric or the time? `cpu#1425330757685` and
//! `1425330757685#cpu` contain the same data; the plans for two queries show the difference.

use rowhouse::{Mutation, Result, Scan, Table, TableSpec};

const METRICS: [&str; 4] = ["cpu", "disk", "memusage", "network"];
/// 2015-03-02T21:12:37.685Z
const BEGIN: i64 = 1_425_330_757_685;
const MINUTES: i64 = 600;

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let metric_first = TableSpec::new("metric_first").key("[metric text]#[at millis digits 13]");
    let metric_first = database.create_table(metric_first.family("d")).await?;
    let time_first = TableSpec::new("time_first").key("[at millis digits 13]#[metric text]");
    let time_first = database.create_table(time_first.family("d")).await?;
    for table in [&metric_first, &time_first] {
        fill(table).await?;
        println!("{}", table.key_schema()?);
        table.key_schema()?.check().iter().for_each(|finding| println!("  {finding}"));
    }
    assert_eq!(metric_first.key(&key("cpu", BEGIN))?, "cpu#1425330757685");

    // How many rows are read and how many are returned.
    let of_a_metric = "metric = 'cpu' and at during 2015-03-02T22";
    assert_eq!(cost(&metric_first, of_a_metric).await?, (60, 60));
    assert_eq!(cost(&time_first, of_a_metric).await?, (240, 60));
    let latest = "metric = 'cpu'";
    assert_eq!(cost(&metric_first, latest).await?, (600, 600));
    // Every row in the table, for any metric: a full scan.
    assert_eq!(cost(&time_first, latest).await?, (2_400, 600));
    assert!(time_first.query(latest).explain()?.ranges()[0].start.is_empty());
    database.close().await
}

fn key(metric: &str, at: i64) -> [(&'static str, rowhouse::Value); 2] {
    [("metric", metric.into()), ("at", at.into())]
}

async fn fill(table: &Table) -> Result<()> {
    let mut puts: Vec<Mutation> = Vec::new();
    for minute in 0..MINUTES {
        for metric in METRICS {
            let row = table.row(&key(metric, BEGIN + minute * 60_000));
            puts.push(row.set("d", "value", (minute % 100).to_string()).into_put()?.into());
        }
    }
    for outcome in table.batch(puts).await {
        outcome?;
    }
    Ok(())
}

async fn cost(table: &Table, question: &str) -> Result<(usize, usize)> {
    let query = table.query(question);
    let plan = query.explain()?;
    let mut read = 0;
    for range in plan.ranges() {
        read += table.scan(Scan::new(range.clone())).await?.collect().await?.len();
    }
    let given = query.rows().await?.collect().await?.len();
    println!("\n{question}\n{plan}{read} rows read, {given} given");
    Ok((read, given))
}
