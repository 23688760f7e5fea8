//! Table heat, embedded and through a server.

use rowhouse::admin::{ColumnGroups, LoadCause, LoadKind, LoadProfile};
use rowhouse::{Get, Scan, TableSpec};

use crate::support::on_both;

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_where_they_were_made_and_a_hot_row_is_named() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("mail").key("[user string][id u32]").family("f");
        let mail = database.create_table(spec).await.unwrap();
        for id in 0..1200u32 {
            // Every second mail is Bob's, in one row.
            let (user, id) = if id % 2 == 0 { ("bob", 7) } else { ("eve", id) };
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
        assert!(verdict.confidence > 0.9, "{verdict}");
        let text = "user='bob', id=7".into();
        assert_eq!(verdict.cause, LoadCause::OneRow { row: bob, text });
        assert!((0.4..=0.6).contains(&verdict.share), "{}", verdict.share);
        let earlier = database.admin().heat("mail", 0, 1).await.unwrap();
        assert_eq!(earlier.columns, []);
        assert!(database.admin().heat("none", 0, 1).await.is_err());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_are_never_read_together_are_named() {
    on_both(|database, is_server| async move {
        let mail = TableSpec::new("mail").family("d").family("e");
        let mail = database.create_table(mail).await.unwrap();
        let get = |columns: &[&'static str]| {
            let get = Get::new("row").unwrap().family("e");
            columns.iter().fold(get, |get, column| get.column("d", *column))
        };
        for _ in 0..400 {
            mail.get(&get(&["subject", "sender"])).await.unwrap();
            mail.get(&get(&["sender", "size"])).await.unwrap();
            mail.get(&get(&["body"])).await.unwrap();
        }
        let groups = || async {
            let heat = database.admin().heat("mail", i64::MIN, i64::MAX).await.unwrap();
            ColumnGroups::of_heat(&heat)
        };
        let families = groups().await;
        assert_eq!(families.len(), 1, "of e the whole family was read: {families:?}");
        let family = &families[0].family;
        let groups_of_d = &families[0].groups;
        assert_eq!((&family[..], groups_of_d.len()), (&b"d"[..], 2));
        assert_eq!(groups_of_d[0].qualifiers, ["sender", "size", "subject"]);
        assert_eq!(groups_of_d[1].qualifiers, ["body"]);
        // From many reads a second a sample is recorded.
        assert!((0.6..0.73).contains(&groups_of_d[0].share), "{}", families[0]);

        // Reads of everything keep columns together; a server reads in another way.
        if !is_server {
            for _ in 0..200 {
                mail.get(&Get::new("row").unwrap()).await.unwrap();
                mail.scan(Scan::all()).await.unwrap();
            }
            assert_eq!(groups().await, []);
        }
    })
    .await;
}
