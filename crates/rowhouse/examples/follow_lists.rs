//! How do you keep two tables consistent: the users that a user follows, and the user's fans? Two
//! separate writes silently become inconsistent; a transaction keeps them consistent.

use std::collections::BTreeSet;

use rowhouse::{Bytes, Database, Delete, Get, Put, Result, Table, TableSpec};

const USERS: [&str; 4] = ["alice", "bob", "carol", "dave"];

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;

    let by_hand = Lists::create(&database, "by_hand").await?;
    by_hand.follow_by_hand("alice", "bob").await?;
    // Two of carol's devices write concurrently: one follows dave, the other unfollows. Each makes
    // two writes.
    by_hand.follows.put(by_hand.follow_put("carol", "dave")?).await?;
    by_hand.follows.delete(Delete::new(by_hand.follow_key("carol", "dave")?)?).await?;
    by_hand.fans.delete(Delete::new(by_hand.fan_key("carol", "dave")?)?).await?;
    by_hand.fans.put(by_hand.fan_put("carol", "dave")?).await?;
    // And a process that ends between the two writes.
    by_hand.follows.put(by_hand.follow_put("bob", "carol")?).await?;
    let mismatches = by_hand.out_of_step().await?;
    println!("by hand, out of step: {mismatches:?}");
    assert_eq!(
        mismatches,
        ["bob follows carol, who does not know", "dave's fan carol does not follow"]
    );

    let lists = Lists::create(&database, "in_step").await?;
    let mut devices = tokio::task::JoinSet::new();
    for device in 0..8 {
        let database = database.clone();
        let lists = lists.clone();
        devices.spawn(async move {
            for nth in 0..24 {
                let at = device * 5 + nth * 7;
                let user = USERS[at % 4];
                let other = USERS[(at + 1 + nth % 3) % 4];
                lists.toggle(&database, user, other).await?;
            }
            Ok::<_, rowhouse::Error>(())
        });
    }
    for done in devices.join_all().await {
        done?;
    }
    let mismatches = lists.out_of_step().await?;
    println!("after 192 changes by 8 at a time, out of step: {mismatches:?}");
    assert!(mismatches.is_empty());
    database.close().await
}

/// The users that a user follows, and a user's fans: each is one row range.
#[derive(Clone)]
struct Lists {
    follows: Table,
    fans: Table,
}

impl Lists {
    async fn create(database: &Database, name: &str) -> Result<Self> {
        let spec = |table: &str, key: &str| {
            TableSpec::new(&format!("{name}_{table}")).family("f").key(key)
        };
        let follows = spec("follows", "[user string][followed string]");
        let fans = spec("fans", "[user string][fan string]");
        let follows = database.create_table(follows).await?;
        Ok(Self { follows, fans: database.create_table(fans).await? })
    }

    /// Follows, or unfollows if already following: in both tables or in none, even with concurrent
    /// calls.
    async fn toggle(&self, database: &Database, user: &str, other: &str) -> Result<bool> {
        let follow = self.follow_put(user, other)?;
        let fan = self.fan_put(user, other)?;
        let lists = self.clone();
        database
            .transact(move |transaction| {
                let get = Get::new(follow.row().clone())?;
                if transaction.get(&lists.follows, &get)?.is_empty() {
                    transaction.put(&lists.follows, follow.clone())?;
                    transaction.put(&lists.fans, fan.clone())?;
                    return Ok(true);
                }
                transaction.delete(&lists.follows, Delete::new(follow.row().clone())?)?;
                transaction.delete(&lists.fans, Delete::new(fan.row().clone())?)?;
                Ok(false)
            })
            .await
    }

    async fn follow_by_hand(&self, user: &str, other: &str) -> Result<()> {
        self.follows.put(self.follow_put(user, other)?).await?;
        self.fans.put(self.fan_put(user, other)?).await
    }

    /// Returns the entries that are in one table but not in the other.
    async fn out_of_step(&self) -> Result<Vec<String>> {
        let follows = pairs(&self.follows, "followed").await?;
        let fans = pairs(&self.fans, "fan").await?;
        let fans: BTreeSet<_> = fans.into_iter().map(|(user, fan)| (fan, user)).collect();
        let unknown = follows.difference(&fans);
        let unknown =
            unknown.map(|(user, other)| format!("{user} follows {other}, who does not know"));
        let gone = fans.difference(&follows);
        let gone = gone.map(|(fan, user)| format!("{user}'s fan {fan} does not follow"));
        Ok(unknown.chain(gone).collect())
    }

    fn follow_key(&self, user: &str, other: &str) -> Result<Bytes> {
        self.follows.key(&[("user", user.into()), ("followed", other.into())])
    }

    fn fan_key(&self, user: &str, other: &str) -> Result<Bytes> {
        self.fans.key(&[("user", other.into()), ("fan", user.into())])
    }

    fn follow_put(&self, user: &str, other: &str) -> Result<Put> {
        Put::new(self.follow_key(user, other)?)?.add("f", "since", "2022")
    }

    fn fan_put(&self, user: &str, other: &str) -> Result<Put> {
        Put::new(self.fan_key(user, other)?)?.add("f", "since", "2022")
    }
}

/// Returns the two fields in each key.
async fn pairs(table: &Table, second: &str) -> Result<BTreeSet<(String, String)>> {
    let mut pairs = BTreeSet::new();
    for user in USERS {
        let rows = table.query(&format!("user = '{user}'")).rows().await?.collect().await?;
        let others = rows.iter().filter_map(|row| row.key(second));
        pairs.extend(others.map(|other| (user.to_owned(), other.to_string())));
    }
    Ok(pairs)
}
