//! Ten thousand posts in 2022 and a query for one month: no post is lost at either end.

use rowhouse::key::Time;
use rowhouse::schema::{FamilyDescriptor, KEY_ATTRIBUTE};
use rowhouse::{Database, Get, Mutation, Put, Result, Table, TableSpec, Timestamp};
use rowhouse_server::Server;

use crate::support::loopback;

const DECEMBER: (i64, i64) = (1_669_852_800_000, 1_672_531_200_000);
const YEAR_START: i64 = 1_640_995_200_000;
const POSTS: usize = 10_000;

struct Post {
    blogger: String,
    at: i64,
    title: String,
}

/// Posts by a few bloggers, some with names that are prefixes of others, over the whole year. They
/// include the first and last milliseconds in December and the adjacent ones.
fn posts() -> Vec<Post> {
    let bloggers = ["123", "12", "1234", "博主", "z"];
    let edges = [DECEMBER.0 - 1, DECEMBER.0, DECEMBER.1 - 1, DECEMBER.1];
    let edges = edges.into_iter().flat_map(|at| bloggers.iter().map(move |blogger| (*blogger, at)));
    // Any sequence without repetition works; this one needs no random number generator.
    let spread = (0..).map(|nth: i64| {
        let at = YEAR_START + nth * 3_153_600 + nth * nth % 1000;
        (bloggers[nth as usize % bloggers.len()], at)
    });
    let posts = edges.chain(spread).take(POSTS);
    posts
        .enumerate()
        .map(|(nth, (blogger, at))| Post {
            blogger: blogger.to_owned(),
            at,
            title: format!("第{nth}篇"),
        })
        .collect()
}

fn put(blog: &Table, post: &Post) -> Result<Put> {
    let key = [("blogger", post.blogger.as_str().into()), ("at", post.at.into())];
    let row = blog.row(&key).set("cf", "title", &post.title);
    row.set("cf", "分栏", if post.at % 2 == 0 { "随笔" } else { "节日" }).into_put()
}

async fn filled(database: &Database, splits: &[&'static str]) -> Result<(Table, Vec<Post>)> {
    let spec = TableSpec::new("blog")
        .family("cf")
        .key("[blogger text]_[at millis digits desc]")
        .splits(splits.iter().copied());
    let blog = database.create_table(spec).await?;
    let posts = posts();
    for chunk in posts.chunks(1000) {
        let puts: Result<Vec<Mutation>> =
            chunk.iter().map(|post| put(&blog, post).map(Into::into)).collect();
        for outcome in blog.batch(puts?).await {
            outcome?;
        }
    }
    Ok((blog, posts))
}

/// Returns the query's result: blogger, time and title from each row, in order.
async fn results(blog: &Table, query: &str) -> Result<Vec<(String, i64, String)>> {
    let rows = blog.query(query).rows().await?.collect().await?;
    let row = |row: &rowhouse::query::QueryRow| {
        let blogger = row.key("blogger").unwrap().to_string();
        let at = row.key("at").unwrap().as_time().unwrap();
        let at = i64::try_from(at.as_nanos() / 1_000_000).unwrap();
        (blogger, at, row.text("cf", "title").unwrap().into_owned())
    };
    Ok(rows.iter().map(row).collect())
}

/// Computes the same result by filtering all posts, newest first.
fn brute_force(posts: &[Post], blogger: &str, from: i64, to: i64) -> Vec<(String, i64, String)> {
    let matches =
        posts.iter().filter(|post| post.blogger == blogger && (from..to).contains(&post.at));
    let mut rows: Vec<_> =
        matches.map(|post| (post.blogger.clone(), post.at, post.title.clone())).collect();
    rows.sort_by_key(|(_, at, _)| std::cmp::Reverse(*at));
    rows
}

async fn check(blog: &Table, posts: &[Post]) -> Result<()> {
    for blogger in ["123", "12", "1234", "博主", "z"] {
        let december =
            results(blog, &format!("blogger = '{blogger}' and at during 2022-12")).await?;
        assert_eq!(december, brute_force(posts, blogger, DECEMBER.0, DECEMBER.1));
        assert_eq!(december.first().unwrap().1, DECEMBER.1 - 1);
        assert_eq!(december.last().unwrap().1, DECEMBER.0);

        let all = results(blog, &format!("blogger = '{blogger}'")).await?;
        assert_eq!(all, brute_force(posts, blogger, i64::MIN, i64::MAX));
    }
    // All bloggers: by blogger, then newest first, which is the keys' byte order.
    let mut everything = Vec::new();
    for blogger in ["1234", "123", "12", "z", "博主"] {
        everything.extend(brute_force(posts, blogger, DECEMBER.0, DECEMBER.1));
    }
    assert_eq!(results(blog, "at during 2022-12").await?, everything);
    assert_eq!(results(blog, "blogger = 'nobody'").await?, []);
    Ok(())
}

#[tokio::test]
async fn a_month_is_returned_whole_before_and_after_a_flush_and_after_reopening() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let url = dir.path().join("data").display().to_string();
    let database = rowhouse::open(&url).await?;
    let (blog, posts) = filled(&database, &["12_5", "1234"]).await?;
    check(&blog, &posts).await?;
    database.admin().flush("blog").await?;
    check(&blog, &posts).await?;
    drop(blog);
    database.close().await?;

    let database = rowhouse::open(&url).await?;
    let blog = database.table("blog").await?;
    assert_eq!(blog.key_schema()?.to_string(), "[blogger text]_[at millis digits desc]");
    check(&blog, &posts).await?;
    database.close().await
}

#[tokio::test]
async fn a_month_is_returned_whole_through_a_server() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(loopback(dir.path())).await?;
    let database = rowhouse::open(format!("hbase://{}", server.address())).await?;
    let (blog, posts) = filled(&database, &["12_5", "1234"]).await?;
    check(&blog, &posts).await?;
    database.admin().flush("blog").await?;

    let zookeeper_url = format!("hbase+zk://{}", server.zookeeper().unwrap());
    let database = rowhouse::open(zookeeper_url).await?;
    check(&database.table("blog").await?, &posts).await?;
    database.close().await?;
    server.stop().await
}

#[tokio::test]
async fn columns_versions_and_limits_of_a_query() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await?;
    let history = FamilyDescriptor::new("cf")?.versions(2);
    let spec = TableSpec::new("blog").family_with(history).family("log");
    let blog = database.create_table(spec.key("[user text]_[at millis desc]")).await?;
    for minute in 0..5 {
        let at = format!("2022-12-01T00:0{minute}");
        let key = [("user", "bob".into()), ("at", at.as_str().into())];
        let earlier = Timestamp::from_millis(1)?;
        blog.row(&key).set_at("cf", "title", earlier, "old").put().await?;
        blog.row(&key).set("cf", "title", &at).set("log", "seen", [7]).put().await?;
    }
    // The condition does not restrict the user, so every row in the table is scanned.
    let query = || blog.query("at >= 2022-12-01T00:01");
    assert!(!query().explain()?.is_exact());
    let rows = query().column("cf", "title").versions(2).limit(2).rows().await?.collect().await?;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].key("at"), Some(&Time::parse("2022-12-01T00:04")?.into()));
    assert_eq!(rows[0].row().len(), 2);
    assert_eq!(rows[0].text("cf", "title").as_deref(), Some("2022-12-01T00:04"));
    assert_eq!(rows[0].bytes("log", "seen"), None);
    let exact = blog.query("user = 'bob'").family("log").limit(3).rows().await?.collect().await?;
    assert_eq!(exact.len(), 3);
    assert_eq!(exact[0].bytes("log", "seen").as_deref(), Some(&[7][..]));
    database.close().await
}

#[tokio::test]
async fn rows_that_do_not_fit_are_counted_and_shown_as_bytes_on_request() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await?;
    let spec = TableSpec::new("blog").family("cf").key("[blogger text]_[at millis digits desc]");
    let blog = database.create_table(spec).await?;
    for key in ["1_9223370367001975807", "1_9223370367", "about"] {
        blog.put(Put::new(key)?.add("cf", "title", key)?).await?;
    }
    let fits = "blogger='1', at=2022-12-01T00:00:00.000Z";
    let query = || blog.query("blogger = '1'");
    for (query, expected) in [
        (query(), &[fits][..]),
        (query().with_misfits(), &["1_9223370367", fits]),
        (query().with_misfits().reversed(), &[fits, "1_9223370367"]),
        (query().with_misfits().limit(1), &["1_9223370367"]),
    ] {
        let mut rows = query.rows().await?;
        let mut shown = Vec::new();
        while let Some(row) = rows.next().await? {
            shown.push(row.to_string());
        }
        assert_eq!(shown, expected);
        assert_eq!(rows.not_fitting(), 1);
    }
    let page = query().page(1).await?;
    assert_eq!((page.rows[0].to_string(), page.left_out), (fits.to_owned(), 1));
    let page = query().with_misfits().page(1).await?;
    assert_eq!((page.rows[0].to_string(), page.left_out), ("1_9223370367".to_owned(), 0));
    database.close().await
}

#[tokio::test]
async fn a_query_estimates_the_contents_of_its_ranges() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await?;
    let spec = TableSpec::new("blog").family("cf").family("log").key("[blogger text]_[n digits 3]");
    let blog = database.create_table(spec.columns("log:seen seen u8")).await?;
    for n in 0..60_u64 {
        let key = [("blogger", (n / 20).to_string().into()), ("n", n.into())];
        blog.row(&key).set("cf", "title", "a post").set("log", "seen", [1]).put().await?;
    }
    let one = "blogger = '1'";
    for (query, cells) in [
        (blog.query(one), 40),
        (blog.query(one).family("cf"), 20),
        (blog.query("blogger = '1' and seen = 1").family("cf"), 40),
        (blog.query("n = 7"), 120),
        (blog.query("blogger = 'nobody'"), 0),
    ] {
        assert_eq!(query.estimate().await?.unwrap().cells, cells);
    }
    database.close().await
}

#[tokio::test]
async fn rows_that_do_not_fit_use_up_no_limit() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await?;
    let template = "[blogger text]_[n digits 3]";
    let buckets = format!("[bucket 2 of n digits]_{template}");
    for (table, key) in [("plain", template), ("buckets", &buckets)] {
        let blog = database.create_table(TableSpec::new(table).family("cf").key(key)).await?;
        for n in 0..60_u64 {
            let key = [("blogger", (n / 20).to_string().into()), ("n", n.into())];
            blog.row(&key).set("cf", "title", "fits").put().await?;
            for misfit in [format!("1_{n:03}?"), format!("0_1_{n:03}?"), format!("1_1_{n:03}?")] {
                blog.put(Put::new(misfit)?.add("cf", "title", "misfit")?).await?;
            }
        }
        let expected: Vec<_> = (20..40).collect();
        for reversed in [false, true] {
            let query = |limit| {
                if reversed {
                    blog.query("blogger = '1'").limit(limit).reversed()
                } else {
                    blog.query("blogger = '1'").limit(limit)
                }
            };
            for limit in [0, 1, 2, 7, 19, 20, 21] {
                let rows = query(limit).rows().await?.collect().await?;
                let numbers: Vec<_> =
                    rows.iter().map(|row| row.key("n").unwrap().as_u64().unwrap()).collect();
                let mut expected = expected.clone();
                if reversed {
                    expected.reverse();
                }
                expected.truncate(limit as usize);
                assert_eq!(numbers, expected, "{table} {limit} {reversed}");
            }
        }
    }
    database.close().await
}

#[tokio::test]
async fn a_table_without_a_template_says_how_to_declare_one() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await?;
    let plain = database.create_table(TableSpec::new("plain").family("cf")).await?;
    let error = plain.query("user = 'bob'").explain().unwrap_err();
    assert!(error.message().contains("TableSpec::new(\"plain\").key("), "{error}");
    let error = plain.row(&[("user", "bob".into())]).put().await.unwrap_err();
    assert!(error.message().contains("declares no key"), "{error}");

    // A template from a newer version fails only calls that need it.
    let newer = TableSpec::new("newer").family("cf").attribute(KEY_ATTRIBUTE, "2 [user text]");
    let newer = database.create_table(newer).await?;
    newer.put(Put::new("r")?.add("cf", "q", "v")?).await?;
    assert!(!newer.get(&Get::new("r")?).await?.is_empty());
    assert_eq!(
        newer.query("user = 'bob'").rows().await.map(|_| ()).unwrap_err().kind(),
        rowhouse::ErrorKind::Unsupported
    );
    database.close().await
}
