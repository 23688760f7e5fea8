//! The heat of a table, embedded and through a server.

use rowhouse::admin::{LoadCause, LoadKind, LoadProfile};
use rowhouse::{Get, TableSpec};

use crate::support::on_both;

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_where_they_were_made_and_a_hot_row_is_named() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("mail").key("[user string][id u32]").family("f");
        let mail = database.create_table(spec).await.unwrap();
        for id in 0..1200u32 {
            // Every third mail is Bob's, in one row.
            let (user, id) = if id % 3 == 0 { ("bob", 7) } else { ("eve", id) };
            let row = mail.row(&[("user", user.into()), ("id", id.into())]);
            row.set("f", "v", "x").put().await.unwrap();
        }
        let bob = mail.key(&[("user", "bob".into()), ("id", 7.into())]).unwrap();
        mail.get(&Get::new(bob.clone()).unwrap()).await.unwrap();

        let heat = database.admin().heat("mail", i64::MIN, i64::MAX).await.unwrap();
        assert!(!heat.is_by_region);
        let buckets = || heat.columns.iter().flat_map(|column| &column.buckets);
        let writes: u64 = buckets().map(|bucket| bucket.writes).sum();
        assert!(heat.is_sampled || writes == 1200, "{writes}");
        let profile = LoadProfile::of_heat(&heat, LoadKind::Writes, Vec::new());
        let verdict = profile.judge(mail.key_schema().ok());
        assert_eq!(verdict.cause, LoadCause::OneRow { row: bob });
        assert!((0.2..=0.4).contains(&verdict.share), "{}", verdict.share);
        let earlier = database.admin().heat("mail", 0, 1).await.unwrap();
        assert_eq!(earlier.columns, []);
        assert!(database.admin().heat("none", 0, 1).await.is_err());
    })
    .await;
}
