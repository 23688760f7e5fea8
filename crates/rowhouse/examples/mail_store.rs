//! How do you store mails so that one key serves queries for a user, a day, and a single mail? And
//! how do you read the second page?

use rowhouse::{Mutation, Result, Table, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let spec = TableSpec::new("mail").family("d");
    let spec = spec.key("[user text 8]-[date ymd]-[message digits 10]");
    let mail = database.create_table(spec).await?;
    let mut puts: Vec<Mutation> = Vec::new();
    for user in ["user0001", "user0002"] {
        for message in 1..=120_u32 {
            let date = format!("2022-12-{:02}", 1 + (message - 1) / 40);
            let key = [
                ("user", user.into()),
                ("date", date.as_str().into()),
                ("message", message.into()),
            ];
            let subject = format!("mail {message} of {user}");
            puts.push(mail.row(&key).set("d", "subject", subject).into_put()?.into());
        }
    }
    for outcome in mail.batch(puts).await {
        outcome?;
    }

    // One key serves three queries, each with a single range.
    for (question, rows) in [
        ("user = 'user0001'", 120),
        ("user = 'user0001' and date = 2022-12-02", 40),
        ("user = 'user0001' and date = 2022-12-02 and message = 42", 1),
    ] {
        let query = mail.query(question);
        let plan = query.explain()?;
        println!("{question}\n{plan}");
        assert_eq!((plan.ranges().len(), plan.is_exact()), (1, true));
        assert_eq!(query.rows().await?.collect().await?.len(), rows);
    }
    pages(&mail).await?;
    database.close().await
}

/// Reads fifty mails per page: with a token, which resumes at the position directly, and with an
/// offset, which reads all rows before it.
async fn pages(mail: &Table) -> Result<()> {
    let inbox = || mail.query("user = 'user0001'");
    let first = inbox().page(50).await?;
    let token = first.next.as_deref().expect("there are more than fifty mails");
    let second = inbox().after(token).page(50).await?;
    println!("mails 51 to {}:", 50 + second.rows.len());
    println!("  {} … {}", second.rows[0], second.rows[49]);
    assert_eq!(second.rows[0].text("d", "subject").as_deref(), Some("mail 51 of user0001"));

    let by_offset = inbox().offset(50).page(50).await?;
    let keys = |page: &rowhouse::query::Page| {
        page.rows.iter().map(|row| row.key_bytes().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&second), keys(&by_offset));

    let token = second.next.as_deref().expect("there are more than a hundred mails");
    let last = inbox().after(token).page(50).await?;
    println!("mails 101 to {}: the last page, behind it there is no token", 100 + last.rows.len());
    assert_eq!((last.rows.len(), last.next), (20, None));
    Ok(())
}
