//! How do the users that a user follows and a user's fans stay in step? One table, and an index
//! under the other key: compare the two tables in `follow_lists`.

use rowhouse::{Delete, Result, Table, TableSpec};

const USERS: [&str; 4] = ["alice", "bob", "carol", "dave"];

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let follows = TableSpec::new("follows").family("f").key("[user string][followed string]");
    let follows = database.create_table(follows.index("fans [followed][user]")).await?;

    // Eight devices follow and unfollow at a time, each with one write.
    let mut devices = tokio::task::JoinSet::new();
    for device in 0..8 {
        let follows = follows.clone();
        devices.spawn(async move {
            for nth in 0..24 {
                let at = device * 5 + nth * 7;
                let user = USERS[at % 4];
                let other = USERS[(at + 1 + nth % 3) % 4];
                let key = [("user", user.into()), ("followed", other.into())];
                match (device + nth) % 3 {
                    0 => follows.delete(Delete::new(follows.key(&key)?)?).await?,
                    _ => follows.row(&key).set("f", "since", "2022").put().await?,
                }
            }
            Ok::<_, rowhouse::Error>(())
        });
    }
    for done in devices.join_all().await {
        done?;
    }

    let mut pairs = (Vec::new(), Vec::new());
    for user in USERS {
        let followed = keys(&follows, &format!("user = '{user}'"), None).await?;
        let fans = keys(&follows, &format!("followed = '{user}'"), Some("fans")).await?;
        println!("{user} follows {}, and has {} fans", followed.len(), fans.len());
        pairs.0.extend(followed);
        pairs.1.extend(fans);
    }
    pairs.0.sort();
    pairs.1.sort();
    assert_eq!(pairs.0, pairs.1);
    assert!(database.admin().verify_index("follows", "fans").await?.is_clean());
    database.close().await
}

/// Returns the keys that a query gives, by the key or by an index.
async fn keys(follows: &Table, query: &str, index: Option<&str>) -> Result<Vec<String>> {
    let query = follows.query(query);
    let query = match index {
        Some(index) => query.using(index),
        None => query.using_key(),
    };
    Ok(query.rows().await?.collect().await?.iter().map(ToString::to_string).collect())
}
