//! How do you spread a user operation log over regions if user numbers are sequential? With the
//! digits reversed: the last digit, which varies most, comes first.

use rowhouse::{Mutation, Result, RowRange, Scan, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    for (name, template, expected) in [
        ("as_they_are", "[user digits 8][at millis desc]", [400, 0, 0, 0]),
        ("in_reverse", "[user digits 8 reverse][at millis desc]", [120, 80, 120, 80]),
    ] {
        // Four regions from the start if the template shows that keys are evenly distributed.
        let spec = TableSpec::new(name).family("d").key(template).regions(4);
        let log = database.create_table(spec).await?;
        let mut puts: Vec<Mutation> = Vec::new();
        for nth in 0..400_u32 {
            // The newest users, numbered in registration order.
            let key = [
                ("user", (10_000_300 + nth % 40).into()),
                ("at", (1_671_840_000_000_i64 + i64::from(nth) * 60_000).into()),
            ];
            let what = ["login", "search", "pay", "logout"][nth as usize / 40 % 4];
            puts.push(log.row(&key).set("d", "what", what).into_put()?.into());
        }
        for outcome in log.batch(puts).await {
            outcome?;
        }

        println!("{template}");
        let splits = log.key_schema()?.splits(4)?;
        let starts = [rowhouse::Bytes::new()].into_iter().chain(splits.clone());
        let stops = splits.into_iter().chain([rowhouse::Bytes::new()]);
        let mut regions = Vec::new();
        for (start, stop) in starts.zip(stops) {
            let rows =
                log.scan(Scan::new(RowRange::new(start.clone(), stop))).await?.collect().await?;
            println!("  region from '{}': {} rows", rowhouse::key::escape(&start), rows.len());
            regions.push(rows.len());
        }
        assert_eq!(regions, expected);

        // One user is still one range, newest first.
        let query = log.query("user = 10000325 and at during 2022-12-24").limit(3);
        print!("{}", query.explain()?);
        let mut rows = query.rows().await?;
        let mut newest_first = Vec::new();
        while let Some(row) = rows.next().await? {
            println!("  {row}: {}", row.text("d", "what").unwrap_or_default());
            newest_first.push(row.text("d", "what").unwrap_or_default().into_owned());
        }
        assert_eq!(newest_first, ["search", "login", "logout"]);
    }
    // The drawback: consecutive user numbers are not adjacent.
    let between = database.table("in_reverse").await?;
    let plan = between.query("user between 10000300 and 10000309").explain()?;
    print!("users 10000300 to 10000309:\n{plan}");
    assert!(!plan.is_exact());
    database.close().await
}
