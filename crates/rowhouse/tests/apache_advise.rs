//! Advice and comparisons for tables on a real cluster whose address is in `ROWHOUSE_TEST_CLUSTER`.
//! Without it these tests print that they are skipped, and pass.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use rowhouse::advise::{advise, workload_of};
use rowhouse::{Database, TableSpec};

async fn database() -> Option<Database> {
    let Ok(url) = std::env::var("ROWHOUSE_TEST_CLUSTER") else {
        eprintln!("skipped: ROWHOUSE_TEST_CLUSTER is not set");
        return None;
    };
    Some(rowhouse::open(url).await.unwrap())
}

/// Drops a table that an earlier run may have left.
async fn drop_table(database: &Database, name: &str) {
    if database.table_exists(name).await.unwrap() {
        database.admin().disable_table(name).await.unwrap();
        database.admin().drop_table(name).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_apache_hbase_is_advised_without_steps_that_it_cannot_take() {
    let Some(database) = database().await else { return };
    drop_table(&database, "advised_mail").await;
    let spec = TableSpec::new("advised_mail").family("d").key("[at millis][user string]");
    let mail = database.create_table(spec).await.unwrap();
    for number in 0..400 {
        let at = format!("2024-05-01T10:{:02}:{:02}Z", number / 60, number % 60);
        let key = [("at", at.into()), ("user", format!("user{}", number * 7 % 40).into())];
        mail.row(&key).set("d", "s", "hello").put().await.unwrap();
    }
    let workload = workload_of(&database, "advised_mail", &["user = ? newest 5 : 40/s"]).await;
    let workload = workload.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut advice = advise(&workload, dir.path()).await.unwrap();
    assert!(advice.is_change && advice.steps.iter().any(|step| step.contains("promote_index")));
    advice.fit_to(&database).await.unwrap();
    assert_eq!(advice.steps, [""; 0]);
    assert!(advice.reasons.last().unwrap().contains("promotes no index"), "{advice:?}");
    drop_table(&database, "advised_mail").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_maintained_by_hand_is_compared_on_apache_hbase() {
    let Some(database) = database().await else { return };
    for name in ["hand_follow", "hand_fans"] {
        drop_table(&database, name).await;
    }
    let create = async |name: &str, key: &str| {
        database.create_table(TableSpec::new(name).family("d").key(key)).await.unwrap()
    };
    let follow = create("hand_follow", "[fan text]:[star text]").await;
    let fans = create("hand_fans", "[star text]:[fan text]").await;
    for number in 0..600 {
        let key = [("fan", format!("f{number}").into()), ("star", "bob".into())];
        follow.row(&key).set("d", "q", "").put().await.unwrap();
        if number % 100 != 7 {
            fans.row(&key).set("d", "q", "").put().await.unwrap();
        }
    }
    fans.row(&[("fan", "x".into()), ("star", "y".into())]).set("d", "q", "").put().await.unwrap();
    let compared =
        database.admin().compare_index("hand_follow", "by_star [star][fan]", "hand_fans").await;
    let compared = compared.unwrap();
    assert_eq!((compared.rows, compared.entries), (600, 595));
    assert_eq!((compared.missing, compared.stale), (6, 1));
    assert_eq!(compared.first_missing.len(), 6);
    assert_eq!(compared.first_stale, ["y:x"]);
    for name in ["hand_follow", "hand_fans"] {
        drop_table(&database, name).await;
    }
}
