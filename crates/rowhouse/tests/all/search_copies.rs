//! Search copies: what is found here is what the rows at the source hold; a build replaces the copy
//! at one moment; rows are fetched from the source.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures_util::poll;
use rowhouse::search_copy::{self, BuildProgress, BuildStep, Built, Origin, SearchBuild};
use rowhouse::{
    Bytes, Columns, Database, Delete, ErrorKind, Get, Mutation, Put, Result, Scan, Table, TableSpec,
};
use rowhouse_search::{Analyse, Analyser};

use crate::support::on_both;

const KEY: &str = "[user string][n u32]";
const COLUMNS: &str = "d:b body string; d:s sender string; d:z size u32; d:x folder string; \
                       t:[tag text] tagged u8";
const INDEX: &str = "text search body english chinese, sender keyword, tagged.tag keyword, size";
const WORDS: [&str; 8] = ["keys", "key", "design", "the", "行键", "设计", "rows", "Designing"];

struct Here {
    _dir: tempfile::TempDir,
    database: Database,
}

async fn opened() -> Here {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    Here { _dir: dir, database }
}

/// Creates the table at the source, without declarations.
async fn create(source: &Database) -> Table {
    let spec = TableSpec::new("mail").family("d").family("t").family("unsearched");
    source.create_table(spec.splits(["h", "p"])).await.unwrap()
}

fn key(user: &str, n: u32) -> Vec<u8> {
    [user.as_bytes(), b"\0\x01", &n.to_be_bytes()].concat()
}

async fn write(table: &Table, rows: impl IntoIterator<Item = Put>) {
    let rows = rows.into_iter().map(Mutation::from).collect();
    for outcome in table.batch(rows).await {
        outcome.unwrap();
    }
}

fn body(user: &str, n: u32, text: &str) -> Put {
    Put::new(key(user, n)).unwrap().add("d", "b", text).unwrap()
}

fn build(source: &Database, here: &Here) -> SearchBuild {
    search_copy::build(source, "mail", &here.database).key(KEY).columns(COLUMNS).index(INDEX)
}

async fn matching_keys(here: &Here, query: &str) -> Result<BTreeSet<Bytes>> {
    let keys = here.database.table("mail").await?.query(query).keys().await?;
    Ok(keys.into_iter().collect())
}

/// Numbers that look random.
fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    }
}

/// Returns the source rows whose newest text has a term of the word.
async fn rows_with(table: &Table, word: &str) -> BTreeSet<Bytes> {
    let terms = |text: &str| {
        let mut terms = BTreeSet::new();
        for analyser in [Analyser::English, Analyser::Chinese] {
            analyser.each_token(text, |token| _ = terms.insert((analyser, token.text.clone())));
        }
        terms
    };
    let searched = terms(word);
    let mut rows = table.scan(Scan::all().column("d", "b")).await.unwrap();
    let mut keys = BTreeSet::new();
    while let Some(row) = rows.next().await.unwrap() {
        let text = row.value("d", "b").unwrap();
        let has = !terms(&String::from_utf8_lossy(&text)).is_disjoint(&searched);
        if has && row.key().contains(&0) {
            keys.insert(Bytes::copy_from_slice(row.key()));
        }
    }
    keys
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_matches_the_rows_whose_texts_at_the_source_have_the_word() {
    on_both(async |source, _| {
        let table = create(&source).await;
        let here = opened().await;
        for seed in [7, 11] {
            let mut number = numbers(seed);
            let mut puts = Vec::new();
            for n in 0..400 {
                let user = ["alice", "jo", "zoe"][number(3)];
                let text: Vec<_> = (0..=number(4)).map(|_| WORDS[number(WORDS.len())]).collect();
                let put = body(user, n % 300, &text.join(" "));
                puts.push(put.add("unsearched", "b", "keys").unwrap());
            }
            // Without a searched column, and with a key in another form.
            puts.push(Put::new(key("bob", 1)).unwrap().add("unsearched", "b", "keys").unwrap());
            puts.push(Put::new(key("bob", 2)).unwrap().add("d", "x", "keys").unwrap());
            puts.push(Put::new("keys").unwrap().add("d", "b", "keys").unwrap());
            write(&table, puts).await;
            table.delete(Delete::new(key("zoe", 5)).unwrap()).await.unwrap();

            let built = build(&source, &here).run().await.unwrap();
            assert_eq!((built.misfits, &built.first_misfits[..]), (1, &["keys".into()][..]));
            assert_eq!(built.has_replaced, seed != 7);
            let mut all = BTreeSet::new();
            for word in WORDS.into_iter().filter(|word| *word != "the") {
                let rows = matching_keys(&here, &format!("body matches '{word}'")).await.unwrap();
                // A run of Chinese characters is a phrase, and both words are dictionary words.
                assert_eq!(rows, rows_with(&table, word).await, "{word}, seed={seed}");
                all.extend(rows);
            }
            assert!(all.len() as u64 <= built.rows && all.len() > 200);
            let verified = here.database.admin().verify_index("mail", "text").await.unwrap();
            assert!(verified.is_clean() && verified.rows == built.rows, "{verified:?}");
        }
        let tables = here.database.tables().await.unwrap();
        let tables: Vec<_> = tables.iter().map(ToString::to_string).collect();
        assert_eq!(tables, ["mail", "mail.text"]);
        here.database.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_has_the_searched_cells_alone_and_says_where_they_are_from() {
    on_both(async |source, _| {
        let table = create(&source).await;
        let here = opened().await;
        let put = body("bob", 1, "row keys").add("d", "s", "eve").unwrap();
        let put = put.add("d", "z", 7u32.to_be_bytes()).unwrap();
        let put = put.add("d", "x", "inbox").unwrap().add("t", "new", [1]).unwrap();
        write(&table, [put.add("t", &b"\xff"[..], [1]).unwrap()]).await;
        let before = table.scan(Scan::all()).await.unwrap().collect().await.unwrap();
        build(&source, &here).run().await.unwrap();

        let mail = here.database.table("mail").await.unwrap();
        let rows = mail.scan(Scan::all()).await.unwrap().collect().await.unwrap();
        let cells = |row: &rowhouse::Row| -> Vec<_> {
            let parts = |cell: rowhouse::cell::KeyValue<'_>| {
                (cell.qualifier_bytes(), cell.timestamp(), cell.value_bytes())
            };
            row.cells().map(parts).collect()
        };
        let is_retained =
            |(qualifier, ..): &(Bytes, _, _)| *qualifier != "x" && *qualifier != b"\xff"[..];
        let expected: Vec<_> = cells(&before[0]).into_iter().filter(is_retained).collect();
        assert_eq!((rows.len(), cells(&rows[0])), (1, expected));

        for query in ["sender matches 'eve'", "tagged.tag matches 'new' and size = 7"] {
            assert_eq!(matching_keys(&here, query).await.unwrap().len(), 1, "{query}");
        }
        // A condition that the copy cannot decide is refused.
        let refused =
            matching_keys(&here, "body matches 'keys' and folder = 'inbox'").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
        let refused = mail.put(body("bob", 1, "x")).await.unwrap_err();
        assert!(refused.message().contains("read only"), "{refused}");
        let described = here.database.admin().describe("mail").await.unwrap();
        let origin = Origin::of_table(&described).unwrap().unwrap();
        assert_eq!(origin.url, source.url());
        assert!(rows[0].cells().all(|cell| cell.timestamp().as_millis() <= origin.scanned_millis));
        here.database.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_of_very_many_cells_is_copied_in_parts() {
    let source = opened().await;
    let here = opened().await;
    let table = create(&source.database).await;
    for part in 0..25u32 {
        let mut put = Put::new(key("bob", 1)).unwrap();
        for tag in part * 1_000..(part + 1) * 1_000 {
            put = put.add("t", format!("tag{tag}"), [1]).unwrap();
        }
        write(&table, [put]).await;
    }
    let built = build(&source.database, &here).run().await.unwrap();
    assert_eq!(built.rows, 1);
    for tag in [0, 9_999, 10_000, 24_999] {
        let query = format!("tagged.tag matches 'tag{tag}'");
        assert_eq!(matching_keys(&here, &query).await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_sees_all_of_one_build_and_none_of_the_other() {
    let source = opened().await;
    let here = Arc::new(opened().await);
    let table = create(&source.database).await;
    let rows = 300;
    let version = async |text: &str| {
        write(&table, (0..rows).map(|n| body("bob", n, text))).await;
        build(&source.database, &here).run().await.unwrap();
    };
    version("odd").await;
    let is_done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let here = Arc::clone(&here);
            let is_done = Arc::clone(&is_done);
            tokio::spawn(async move {
                let mut seen = Vec::new();
                while !is_done.load(Ordering::Relaxed) {
                    let mail = here.database.table("mail").await.unwrap();
                    let query = mail.query("body matches 'odd OR even'");
                    let matches = query.rows().await.unwrap().collect().await.unwrap();
                    assert_eq!(matches.len() as u32, rows);
                    let texts: BTreeSet<_> = matches
                        .iter()
                        .map(|row| row.column("body").unwrap().unwrap().to_string())
                        .collect();
                    assert_eq!(texts.len(), 1, "{texts:?}");
                    seen.extend(texts);
                    seen.dedup();
                }
                seen
            })
        })
        .collect();
    for text in ["even", "odd", "even", "odd"] {
        version(text).await;
    }
    is_done.store(true, Ordering::Relaxed);
    for reader in readers {
        let seen = reader.await.unwrap();
        assert!(!seen.is_empty() && seen.len() <= 5, "{seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_is_interrupted_anywhere_leaves_the_copy_before_it() {
    let source = opened().await;
    let here = opened().await;
    let table = create(&source.database).await;
    write(&table, (0..50).map(|n| body("bob", n, "old"))).await;
    build(&source.database, &here).run().await.unwrap();
    write(&table, (0..50).map(|n| body("bob", n, "new"))).await;
    let mut polls = 0;
    loop {
        polls += 1;
        let is_built = {
            let mut building = Box::pin(build(&source.database, &here).run());
            let mut is_built = false;
            for _ in 0..polls {
                if let Poll::Ready(built) = poll!(&mut building) {
                    built.unwrap();
                    is_built = true;
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            is_built
        };
        if is_built {
            break;
        }
        // The last step may go on after the future is dropped.
        let words = [
            matching_keys(&here, "body matches 'old'"),
            matching_keys(&here, "body matches 'new'"),
        ];
        let [old, new] = words;
        let old = old.await.unwrap().len();
        let new = new.await.unwrap().len();
        assert!([(50, 0), (0, 50), (50, 50)].contains(&(old, new)), "polls={polls}");
    }
    assert!(polls > 3);
    assert_eq!(matching_keys(&here, "body matches 'new'").await.unwrap().len(), 50);
    assert_eq!(here.database.tables().await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_fails_leaves_the_copy_before_it_and_nothing_else() {
    let source = opened().await;
    let here = opened().await;
    let table = create(&source.database).await;
    write(&table, [body("bob", 1, "keys")]).await;
    build(&source.database, &here).run().await.unwrap();
    source.database.admin().disable_table("mail").await.unwrap();
    let scan_only = |progress: &BuildProgress| assert_eq!(progress.step, BuildStep::Scan);
    let failing = build(&source.database, &here).on_progress(scan_only);
    assert_eq!(failing.run().await.unwrap_err().kind(), ErrorKind::TableNotEnabled);
    assert_eq!(matching_keys(&here, "body matches 'keys'").await.unwrap().len(), 1);
    assert_eq!(here.database.tables().await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn declarations_of_the_source_are_the_default_and_a_new_key_ends_old_handles() {
    on_both(async |source, _| {
        let spec = TableSpec::new("mail").family("d").family("t").key(KEY).columns(COLUMNS);
        let table = source.create_table(spec).await.unwrap();
        write(&table, [body("bob", 1, "keys")]).await;
        let here = opened().await;
        let build = || search_copy::build(&source, "mail", &here.database).index(INDEX);
        let run = async |build: SearchBuild| -> Built { build.run().await.unwrap() };
        run(build()).await;
        let mail = here.database.table("mail").await.unwrap();
        let query = "user = 'bob' and body matches 'keys'";
        assert_eq!(mail.query(query).keys().await.unwrap().len(), 1);
        run(build()).await;
        assert_eq!(mail.query(query).keys().await.unwrap().len(), 1);
        run(build().key("[name string][n u32]")).await;
        assert!(mail.query(query).keys().await.is_err());
        let by_key = mail.get(&Get::new(key("bob", 1)).unwrap()).await;
        assert_eq!(by_key.unwrap_err().kind(), ErrorKind::LayoutChanged);
        let query = "name = 'bob' and body matches 'keys'";
        assert_eq!(matching_keys(&here, query).await.unwrap().len(), 1);
        here.database.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_fetched_from_the_source_as_they_are_there_now() {
    on_both(async |source, _| {
        let table = create(&source).await;
        let here = opened().await;
        write(&table, (0..250).map(|n| body("bob", n, "keys"))).await;
        build(&source, &here).run().await.unwrap();
        table.delete(Delete::new(key("bob", 7)).unwrap()).await.unwrap();
        write(&table, [body("bob", 9, "other").add("unsearched", "q", "x").unwrap()]).await;

        let keys = matching_keys(&here, "body matches 'keys'").await.unwrap();
        let rows = search_copy::fetch(&table, keys, &Columns::all()).await.unwrap();
        assert_eq!(rows.len(), 250);
        for (n, row) in rows.iter().enumerate() {
            assert_eq!(row.is_none(), n == 7, "{n}");
            let Some(row) = row else { continue };
            assert_eq!(row.key(), key("bob", n as u32));
            let text = row.value("d", "b").unwrap();
            assert_eq!(text, if n == 9 { "other" } else { "keys" });
        }
        assert!(rows[9].as_ref().unwrap().value("unsearched", "q").is_some());
        here.database.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_would_lose_a_table_or_copy_nothing_is_refused() {
    on_both(async |source, is_server| {
        create(&source).await;
        let here = opened().await;
        let refused = async |build: SearchBuild, kind: ErrorKind, message: &str| {
            let error = build.run().await.unwrap_err();
            assert!(error.kind() == kind && error.message().contains(message), "{error}");
        };
        let invalid = ErrorKind::InvalidRequest;
        let new = || search_copy::build(&source, "mail", &here.database);
        refused(new().columns(COLUMNS).index(INDEX), invalid, "declares no key").await;
        refused(new().key(KEY).index(INDEX), invalid, "declares no columns").await;
        let with = || new().key(KEY).columns(COLUMNS);
        refused(with().index("by_sender [sender]"), invalid, "full-text indexes only").await;
        refused(with(), invalid, "names no full-text index").await;
        refused(new().key(KEY).columns("e:b body string").index(INDEX), invalid, "family=e").await;
        let unknown = search_copy::build(&source, "none", &here.database);
        refused(unknown, ErrorKind::TableNotFound, "none").await;
        let onto_itself = search_copy::build(&source, "mail", &source);
        if is_server {
            refused(onto_itself, ErrorKind::Unsupported, "of this process").await;
        } else {
            refused(onto_itself, invalid, "not a search copy").await;
        }
        here.database.create_table(TableSpec::new("mail").family("own")).await.unwrap();
        refused(build(&source, &here), invalid, "not a search copy").await;
        assert_eq!(here.database.tables().await.unwrap().len(), 1);
        here.database.close().await.unwrap();
    })
    .await;
}
