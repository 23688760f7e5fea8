//! How are the five tasks in `docs/cookbook` done in Rust: create a table, put, get, query, and
//! change a row atomically? On a directory and on a server.

use rowhouse::filter::CompareOperator;
use rowhouse::{Condition, Get, Increment, Put, Result, TableSpec};
use rowhouse_server::{Options, Server};

/// Returns what the programs in the other languages print.
pub(crate) async fn five_tasks(url: &str) -> Result<String> {
    let database = rowhouse::open(url).await?;
    let spec = TableSpec::new("mail").key("[user text]_[at millis digits 13 desc]").family("d");
    let spec = spec.columns("d:s subject string; d:n reads java.long");
    let mail = database.create_table(spec).await?;

    let put = async |user: &str, day: u32| {
        let key = [("user", user.into()), ("at", format!("2022-12-{day:02}").into())];
        mail.row(&key).set_named("subject", format!("mail {day}")).put().await
    };
    put("ann", 1).await?;
    for day in 1..=12 {
        put("bob", day).await?;
    }

    let key = mail.key(&[("user", "bob".into()), ("at", "2022-12-12".into())])?;
    let row = mail.get(&Get::new(key.clone())?).await?;
    let got = mail.query_row(row)?.text("d", "s").unwrap_or_default().into_owned();

    let rows = mail.query("user = 'bob'").limit(10).rows().await?.collect().await?;
    let newest: Vec<_> = rows.iter().filter_map(|row| row.text("d", "s")).collect();

    let increment = Increment::new(key.clone())?.add("d", "n", 1)?;
    let reads = mail.increment(increment).await?.counter("d", "n")?.unwrap_or(0);

    let unread = Condition::value("d", "s", CompareOperator::Equal, "mail 12");
    let replace = async || {
        let put = Put::new(key.clone())?.add("d", "s", "seen")?;
        Ok::<_, rowhouse::Error>(mail.mutate_if(&unread, put.into()).await?.is_some())
    };
    let first = replace().await?;
    let again = replace().await?;

    database.close().await?;
    let newest = newest.join(", ");
    Ok(format!("got {got}\nnewest {newest}\nreads {reads}\nreplaced {first}, {again}"))
}

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let embedded = five_tasks(&dir.path().join("embedded").to_string_lossy()).await?;
    println!("{embedded}");

    let mut options = Options::new(dir.path().join("served"));
    options.listen = "127.0.0.1:0".into();
    options.zookeeper = None;
    let server = Server::start(options).await?;
    let served = five_tasks(&format!("hbase://{}", server.address())).await?;
    assert_eq!(served, embedded);
    assert!(served.ends_with("\nreads 1\nreplaced true, false"), "{served}");
    server.stop().await
}
