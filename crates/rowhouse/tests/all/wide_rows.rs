//! Conditions on qualifier fields: only cells in a wide row whose qualifiers match are read,
//! embedded and on a server.

use crate::support::on_both;
use rowhouse::cell::KeyValue;
use rowhouse::key::escape;
use rowhouse::query::{Query, QueryRow};
use rowhouse::schema::ColumnSchema;
use rowhouse::{Database, Put, Table, TableSpec};

const COLUMNS: &str = "f:[at seconds 4 desc][id u8] price u32; f:!! note string; \
                       g:by_[who text] follows bool; g:n count u32; \
                       h:[kind enum(a,b,c)][at seconds 4] event u32";

/// Writes users 0 to 5: user `u` has three prices for each second from 0 to 20·u − 1, one event for
/// each, three followers and, if `u` is even, a count.
async fn filled(database: &Database, name: &str, key: &str) -> Table {
    let spec = TableSpec::new(name).key(key).columns(COLUMNS);
    let spec = ["d", "f", "g", "h"].into_iter().fold(spec, TableSpec::family);
    database.create_table(spec).await.unwrap();
    let table = database.table(name).await.unwrap();
    for user in 0..6_u32 {
        let key = table.key(&[("user", format!("user{user}").into())]).unwrap();
        table.put(row(table.column_schema().unwrap(), user, Put::new(key).unwrap())).await.unwrap();
    }
    table
}

fn row(columns: &ColumnSchema, user: u32, put: Put) -> Put {
    let mut cells = vec![columns.encode("note", "first").unwrap()];
    for nth in 0..20 * user {
        for id in [1, 7, 200] {
            let fields = [("at", nth.into()), ("id", id.into())];
            cells.push(columns.encode_with("price", &fields, nth).unwrap());
        }
        let kind = ["a", "b", "c"][nth as usize % 3];
        let fields = [("kind", kind.into()), ("at", nth.into())];
        cells.push(columns.encode_with("event", &fields, nth).unwrap());
    }
    for who in ["ann", "bob", "eve"] {
        cells.push(columns.encode_with("follows", &[("who", who.into())], true).unwrap());
    }
    if user.is_multiple_of(2) {
        cells.push(columns.encode("count", user).unwrap());
    }
    // Undeclared columns, and two whose qualifiers start like a template but do not fit it.
    let others =
        [("d", &b"plain"[..]), ("g", b"a"), ("g", b"z"), ("g", b"by_\xff"), ("f", b"short!")];
    let put =
        others.iter().fold(put, |put, (family, qualifier)| put.add(family, qualifier, "").unwrap());
    cells
        .into_iter()
        .fold(put, |put, cell| put.add(cell.family, cell.qualifier, cell.value).unwrap())
}

/// Returns a row's cells as text; cells in a template by the template fields.
fn cells(columns: &ColumnSchema, row: &QueryRow) -> Vec<String> {
    let text = |cell: KeyValue<'_>| {
        let named = columns.decode(cell.family(), cell.qualifier(), cell.value());
        match named.ok().and_then(|named| Some((named.column.name().to_owned(), named.fields?))) {
            Some((name, fields)) => format!("{name} {fields}"),
            None => format!("{}:{}", escape(cell.family()), escape(cell.qualifier())),
        }
    };
    row.row().cells().map(text).collect()
}

fn user(row: &QueryRow) -> String {
    row.key("user").unwrap().as_str().unwrap().to_owned()
}

async fn rows_of(table: &Table, query: Query<'_>) -> Vec<(String, Vec<String>)> {
    let rows = query.rows().await.unwrap().collect().await.unwrap();
    let columns = table.column_schema().unwrap();
    rows.iter().map(|row| (user(row), cells(columns, row))).collect()
}

fn prices(seconds: impl IntoIterator<Item = u32>, id: u8) -> Vec<String> {
    let price = |second| {
        format!("price at=1970-01-01T00:{:02}:{:02}.000Z, id={id}", second / 60, second % 60)
    };
    seconds.into_iter().map(price).collect()
}

const KEYS: [(&str, &str); 2] =
    [("plain", "[user string]"), ("buckets", "[bucket 3 of user][user string]")];

#[tokio::test]
async fn of_a_column_the_cells_are_given_whose_qualifiers_fit_and_of_others_all() {
    on_both(|database, _| async move {
        for (name, key) in KEYS {
            let table = filled(&database, name, key).await;
            let condition = "user = 'user4' and price.at >= 1970-01-01T00:01:17 and price.id = 7";
            let newest = prices([79, 78, 77], 7);
            let owned = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();

            // Only the family: other columns declared in that family stay.
            let family = rows_of(&table, table.query(condition).family("f")).await;
            assert_eq!(family, [("user4".into(), [owned(&["f:!!"]), newest.clone()].concat())]);

            // Other columns, if only those are named.
            let beside = rows_of(&table, table.query(condition).named("count").named("note")).await;
            let expected = [owned(&["f:!!"]), newest.clone(), owned(&["g:n"])].concat();
            assert_eq!(beside, [("user4".into(), expected)]);

            // All columns, without further restriction.
            let all = &rows_of(&table, table.query(condition)).await[0].1;
            assert_eq!(all[..5], [owned(&["d:plain", "f:!!"]), newest].concat()[..]);
            let beside = ["g:a", "follows who='ann'", "follows who='bob'", "follows who='eve'"];
            assert_eq!(
                all[5..12],
                [owned(&beside), owned(&["g:by_\\xFF", "g:n", "g:z"])].concat()[..]
            );
            assert_eq!(all.len(), 12 + 80);
        }
    })
    .await;
}

#[tokio::test]
async fn several_ranges_and_several_columns_are_read_of_a_row() {
    on_both(|database, _| async move {
        let table = filled(&database, "t", "[user string]").await;
        let condition =
            "user = 'user2' and event.at between 8 and 10 and follows.who in ('eve', 'ann', 'zoe')";
        let several = rows_of(&table, table.query(condition).column("g", "z")).await;
        let expected = [
            "follows who='ann'",
            "follows who='eve'",
            "g:z",
            "event kind='a', at=1970-01-01T00:00:09.000Z",
            "event kind='b', at=1970-01-01T00:00:10.000Z",
            "event kind='c', at=1970-01-01T00:00:08.000Z",
        ];
        assert_eq!(several, [("user2".to_owned(), expected.map(str::to_owned).to_vec())]);
    })
    .await;
}

#[tokio::test]
async fn a_row_of_which_nothing_is_left_is_not_given_nor_counted() {
    on_both(|database, _| async move {
        for (name, key) in KEYS {
            let table = filled(&database, name, key).await;
            let condition = "event.at >= 50";
            let users = |rows: &[QueryRow]| rows.iter().map(user).collect::<Vec<_>>();
            // In the named families the users 0, 1 and 2 have only events, which do not match.
            let query = || table.query(condition).column("h", "none");
            let rows = query().rows().await.unwrap().collect().await.unwrap();
            assert_eq!(users(&rows), ["user3", "user4", "user5"]);
            assert_eq!(rows.iter().map(|row| row.row().len()).collect::<Vec<_>>(), [10, 30, 50]);
            let two = query().limit(2).rows().await.unwrap().collect().await.unwrap();
            assert_eq!(users(&two), ["user3", "user4"]);
            let reversed = query().reversed().rows().await.unwrap().collect().await.unwrap();
            assert_eq!(users(&reversed), ["user5", "user4", "user3"]);
            let page = query().page(2).await.unwrap();
            assert_eq!(users(&page.rows), ["user3", "user4"]);
            let rest = query().after(&page.next.unwrap()).page(2).await.unwrap();
            assert_eq!((users(&rest.rows), rest.next), (vec!["user5".to_owned()], None));

            // Conditions on columns select rows, and the columns they need are read.
            let rows = table.query("event.at >= 50 and count > 0").column("h", "none");
            let rows = rows.rows().await.unwrap().collect().await.unwrap();
            assert_eq!(users(&rows), ["user4"]);
            let none = table.query("price.at < 1960").column("f", "none").page(1).await.unwrap();
            assert!(none.rows.is_empty());
        }
    })
    .await;
}
