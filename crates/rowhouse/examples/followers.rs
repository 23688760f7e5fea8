//! Find X's followers, and check whether A follows B. A wide table has one row per user and one
//! column per follower; a tall table has one row per pair, with a key made from two four-byte
//! hashes, in hexadecimal.

use rowhouse::{Get, Put, Result, Table, TableSpec};

const FOLLOWS: [(&str, &str); 5] =
    [("alice", "bob"), ("carol", "bob"), ("dave", "bob"), ("bob", "alice"), ("carol", "alice")];

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let wide = TableSpec::new("followers_wide").family("f").key("[followed text]");
    let wide = database.create_table(wide).await?;
    let tall = TableSpec::new("followers_tall").family("f");
    let tall = tall.key("[followed text md5 4 hex][follower text md5 4 hex]");
    let tall = database.create_table(tall).await?;
    for (follower, followed) in FOLLOWS {
        wide.row(&[("followed", followed.into())]).set("f", follower, "").put().await?;
        // A hash cannot be reversed, so the names are stored as columns.
        let put = Put::new(pair(&tall, follower, followed)?)?;
        tall.put(put.add("f", "follower", follower)?.add("f", "followed", followed)?).await?;
    }

    println!("wide: who follows bob is one row, {} bytes a key", wide_key(&wide, "bob")?.len());
    let row = wide.get(&Get::new(wide_key(&wide, "bob")?)?).await?;
    let of_wide: Vec<_> = row.cells().map(|cell| cell.qualifier().to_vec()).collect();

    let query = tall.query("followed = 'bob'");
    print!("tall: who follows bob is one range of rows\n{}", query.explain()?);
    let mut of_tall = Vec::new();
    for row in query.rows().await?.collect().await? {
        // Another name may have the same hash; the column shows the name.
        if row.text("f", "followed").as_deref() == Some("bob") {
            of_tall.extend(row.bytes("f", "follower").map(|name| name.to_vec()));
        }
    }
    of_tall.sort();
    assert_eq!(of_wide, [b"alice".to_vec(), b"carol".to_vec(), b"dave".to_vec()]);
    assert_eq!(of_tall, of_wide);

    for (a, b, expected) in [("carol", "bob", true), ("bob", "carol", false)] {
        let column = Get::new(wide_key(&wide, b)?)?.column("f", a);
        let by_wide = !wide.get(&column).await?.is_empty();
        let by_tall = !tall.get(&Get::new(pair(&tall, a, b)?)?).await?.is_empty();
        println!(
            "does {a} follow {b}? {by_tall}, by the get of one {}",
            rowhouse::key::escape(&pair(&tall, a, b)?)
        );
        assert_eq!((by_wide, by_tall), (expected, expected));
    }
    database.close().await
}

fn wide_key(wide: &Table, followed: &str) -> Result<rowhouse::Bytes> {
    wide.key(&[("followed", followed.into())])
}

/// Returns a pair's key: sixteen bytes for names of any length.
fn pair(tall: &Table, follower: &str, followed: &str) -> Result<rowhouse::Bytes> {
    tall.key(&[("followed", followed.into()), ("follower", follower.into())])
}
