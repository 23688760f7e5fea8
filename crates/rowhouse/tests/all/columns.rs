//! Declared columns: named and typed columns, qualifiers that contain data, and conditions on them,
//! embedded and on a server.

use crate::support::on_both;
use rowhouse::query::{Predicate, Query, QueryRow};
use rowhouse::schema::CellMismatch;
use rowhouse::{
    Database, ErrorKind, Get, Increment, Mutation, Put, Table, TableSpec, Timestamp, Value,
};

const COLUMNS: &str = "d:via colour string\nd:n count i32\ne:s state enum(open,done)";

async fn table(database: &Database, name: &str, key: &str) -> Table {
    let spec = TableSpec::new(name).family("d").family("e").key(key).columns(COLUMNS);
    database.create_table(spec).await.unwrap();
    // A newly opened handle has the stored column declarations.
    database.table(name).await.unwrap()
}

/// Writes rows 0 to 299: every third has no count, every fifth is done, every seventh has an
/// invalid count.
async fn filled(database: &Database, name: &str, key: &str) -> Table {
    let table = table(database, name, key).await;
    let puts = (0..300_i64).map(|nth| -> Mutation {
        let key = [("user", format!("user{:02}", nth % 20).into()), ("nth", nth.into())];
        let colour = if nth % 2 == 0 { "red" } else { "blue" };
        let row = table.row(&key).set_named("colour", colour);
        let row = if nth % 3 == 0 { row } else { row.set_named("count", nth - 150) };
        let row = if nth % 5 == 0 { row.set_named("state", "done") } else { row };
        let row = if nth % 7 == 0 { row.set("d", "n", "lots!") } else { row };
        row.into_put().unwrap().into()
    });
    for outcome in table.batch(puts.collect()).await {
        outcome.unwrap();
    }
    table
}

fn nth(row: &QueryRow) -> i64 {
    row.key("nth").unwrap().as_i64().unwrap()
}

async fn numbers(query: Query<'_>) -> Vec<i64> {
    query.rows().await.unwrap().collect().await.unwrap().iter().map(nth).collect()
}

#[tokio::test]
async fn a_readable_name_is_stored_under_a_short_qualifier() {
    on_both(|database, _| async move {
        let table = table(&database, "t", "[user string]").await;
        let row = table.row(&[("user", "bob".into())]);
        row.set_named("colour", "red").set_named("count", -1).put().await.unwrap();
        let stored = table.get(&Get::new("bob\0\x01").unwrap()).await.unwrap();
        assert_eq!(stored.value("d", "via").unwrap(), "red");
        assert_eq!(stored.value("d", "n").unwrap(), &b"\x7f\xff\xff\xff"[..]);
        let bob = &table.query("user = 'bob'").page(1).await.unwrap().rows[0];
        assert_eq!(bob.column("colour").unwrap(), Some("red".into()));
        assert_eq!(bob.column("count").unwrap(), Some(Value::Signed(-1)));
        assert_eq!(bob.column("state").unwrap(), None);
        let unknown = bob.column("color").unwrap_err();
        assert_eq!(unknown.message(), "no column `color` is declared; did you mean `colour`?");
        let wrong = table.row(&[("user", "bob".into())]).set_named("count", "many").put().await;
        assert!(wrong.unwrap_err().message().starts_with("column `count`: "));
    })
    .await;
}

#[tokio::test]
async fn conditions_on_fields_and_columns_match_the_values_in_each_row() {
    on_both(|database, _| async move {
        let plain = filled(&database, "plain", "[user string][nth u32]").await;
        let buckets =
            filled(&database, "buckets", "[bucket 8 of user][user string][nth u32]").await;
        let is_count = |nth: &i64| nth % 3 != 0 && nth % 7 != 0;
        type Holds = fn(i64) -> bool;
        let queries: [(&str, Holds); 6] = [
            ("count > 5", |nth| nth - 150 > 5),
            ("count between -5 and 5 and colour = 'red'", |nth| {
                (145..=155).contains(&nth) && nth % 2 == 0
            }),
            ("count < 100000 and nth >= 200", |nth| nth >= 200),
            ("user = 'user07' and count in (-143, 1, 57)", |nth| {
                [7, 151, 207].contains(&nth) && nth % 20 == 7
            }),
            (
                "count is not null and colour starts with 'b' and state = 'done' and count >= -150",
                |nth| nth % 2 == 1 && nth % 5 == 0,
            ),
            ("user starts with 'user1' and count <= -100", |nth| nth % 20 >= 10 && nth <= 50),
        ];
        for (query, holds) in queries {
            let of = |row: &i64| is_count(row) && holds(*row);
            let mut expected: Vec<i64> = (0..300).filter(of).collect();
            expected.sort_by_key(|nth| (nth % 20, *nth));
            for table in [&plain, &buckets] {
                assert_eq!(numbers(table.query(query)).await, expected, "{query}");
                let first = numbers(table.query(query).offset(1).limit(3)).await;
                let rest = expected.iter().skip(1).take(3).copied();
                assert_eq!(first, rest.collect::<Vec<_>>(), "{query}");
                assert_eq!(paged(table, query, 4).await, expected, "{query}");
            }
        }
        let absent = numbers(plain.query("count is null")).await;
        let mut expected: Vec<i64> = (0..300).filter(|nth| nth % 3 == 0 && nth % 7 != 0).collect();
        expected.sort_by_key(|nth| (nth % 20, *nth));
        assert_eq!(absent, expected);
    })
    .await;
}

/// Reads the rows from all pages and checks that each page but the last is full.
async fn paged(table: &Table, query: &str, rows: usize) -> Vec<i64> {
    let mut all = Vec::new();
    let mut token = None::<String>;
    loop {
        let request = table.query(query);
        let request = match &token {
            Some(token) => request.after(token),
            None => request,
        };
        let page = request.page(rows).await.unwrap();
        all.extend(page.rows.iter().map(nth));
        match page.next {
            Some(next) => {
                assert_eq!(page.rows.len(), rows);
                token = Some(next);
            }
            None => return all,
        }
    }
}

#[tokio::test]
async fn columns_that_only_a_condition_needs_are_read_and_not_returned() {
    on_both(|database, _| async move {
        let table = filled(&database, "t", "[user string][nth u32]").await;
        let query = || table.query("count > 100 and state = 'done'");
        let all = query().page(1).await.unwrap();
        assert_eq!(all.rows[0].row().len(), 3);
        let rows = query().named("colour").rows().await.unwrap().collect().await.unwrap();
        assert!(!rows.is_empty());
        for row in &rows {
            assert_eq!(row.row().len(), 1);
            assert_eq!((row.column("count").unwrap(), row.column("state").unwrap()), (None, None));
            assert!(row.column("colour").unwrap().is_some());
        }
        // Rows without any requested column are not returned.
        let done = numbers(table.query("count > 100").column("e", "s")).await;
        assert_eq!(done, numbers(query()).await);
        let family = table.query("count > 100").family("e").page(1).await.unwrap();
        assert_eq!(family.rows[0].row().len(), 1);
        assert_eq!(numbers(table.query("state = 'done'").family("e")).await.len(), 60);
    })
    .await;
}

#[tokio::test]
async fn a_value_that_is_none_of_its_type_leaves_its_row_out_and_is_counted() {
    on_both(|database, _| async move {
        let table = filled(&database, "t", "[user string][nth u32]").await;
        let mut rows = table.query("count >= -1000 and nth < 70").rows().await.unwrap();
        while rows.next().await.unwrap().is_some() {}
        assert_eq!((rows.unreadable(), rows.not_fitting()), (10, 0));
        let seven = &table.query("nth = 7").page(1).await.unwrap().rows[0];
        let error = seven.column("count").unwrap_err();
        assert_eq!(
            error.message(),
            "value of `count` does not fit: there are bytes after the value: at=4"
        );
    })
    .await;
}

#[tokio::test]
async fn a_column_decides_where_a_hash_in_the_key_cannot() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("t").family("d").key("[user text md5 1][nth u32]");
        let table = database.create_table(spec.columns("d:u user string")).await.unwrap();
        let puts = (0..2_000_i64).map(|nth| -> Mutation {
            let user = format!("user{}", nth % 1000);
            let key = [("user", user.as_str().into()), ("nth", nth.into())];
            table.row(&key).set_named("user", user).into_put().unwrap().into()
        });
        for outcome in table.batch(puts.collect()).await {
            outcome.unwrap();
        }
        let query = table.query("user = 'user7'");
        assert!(query.explain().unwrap().to_string().contains("d:u decides"));
        assert_eq!(numbers(query).await, [7, 1007]);
        assert_eq!(numbers(table.query("user = 'user7'").limit(1)).await, [7]);
        assert_eq!(numbers(table.query("user starts with 'user99'")).await.len(), 22);
        // Without column `d:u` the row's user is unknown, since the key contains only the user's
        // hash.
        let key = [("user", "user7".into()), ("nth", 5_000.into())];
        table.row(&key).set("d", "x", "y").put().await.unwrap();
        assert_eq!(numbers(table.query("user = 'user7'")).await, [7, 1007]);
        assert_eq!(numbers(table.query("user is null")).await, [5_000]);
    })
    .await;
}

#[tokio::test]
async fn qualifiers_that_are_data_come_back_as_their_fields() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("stocks").family("f").family("g").key("[stock string]");
        let columns =
            "f:[at millis desc][id u32] price f64; g:by_[who text] follows bool; g:n name text";
        let stocks = database.create_table(spec.columns(columns)).await.unwrap();
        let mut row = stocks.row(&[("stock", "ACME".into())]).set_named("name", "Acme");
        for (nth, price) in [9.5, 8.25, 10.0].into_iter().enumerate() {
            let at = Value::from(Timestamp::from_millis(1000 * nth as i64).unwrap());
            row = row.set_named_with("price", &[("at", at), ("id", nth.into())], price);
        }
        row = row.set_named_with("follows", &[("who", "eve".into())], true);
        row.put().await.unwrap();
        let key = stocks.key(&[("stock", "ACME".into())]).unwrap();
        let strange = Put::new(key).unwrap().add("f", "now", "9").unwrap();
        stocks.put(strange.add("g", "other", "x").unwrap()).await.unwrap();

        let acme = &stocks.query("stock = 'ACME'").page(1).await.unwrap().rows[0];
        let (prices, misfits): (Vec<_>, Vec<_>) =
            acme.columns("price").unwrap().partition(Result::is_ok);
        let prices = prices.into_iter().map(Result::unwrap);
        let prices =
            prices.map(|(at, price)| (at["id"].as_u64().unwrap(), price.as_f64().unwrap()));
        assert_eq!(prices.collect::<Vec<_>>(), [(2, 10.0), (1, 8.25), (0, 9.5)], "newest first");
        let [Err(CellMismatch::Qualifier { column, .. })] = &misfits[..] else {
            panic!("{misfits:?}")
        };
        assert_eq!(column, "price");
        let follows: Vec<_> = acme.columns("follows").unwrap().map(Result::unwrap).collect();
        assert_eq!(follows.len(), 1);
        assert_eq!(follows[0].0["who"].as_str(), Some("eve"));
        assert_eq!(acme.column("name").unwrap(), Some("Acme".into()));
        assert!(acme.columns("name").is_err() && acme.column("price").is_err());
        let only = &stocks.query("stock = 'ACME'").named("follows").page(1).await.unwrap().rows[0];
        assert_eq!(only.row().len(), 3, "the family");
        let error = stocks.query("price > 5").rows().await.map(|_| ()).unwrap_err();
        assert!(error.message().starts_with("`price` is the name of many columns"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn named_columns_are_read_in_any_order() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("stocks").family("f").key("[stock string]");
        let spec = spec.columns("f:p[at u16] price u32; f:c currency string");
        let stocks = database.create_table(spec).await.unwrap();
        let acme = stocks.row(&[("stock", "acme".into())]).set_named("currency", "EUR");
        let price = |row: rowhouse::RowPut<'_>, at: u16, price: u32| {
            row.set_named_with("price", &[("at", at.into())], price).into_put().unwrap()
        };
        stocks.put(price(acme, 9, 42)).await.unwrap();
        for query in [
            stocks.query_where(Predicate::all()).named("price").named("currency"),
            stocks.query_where(Predicate::all()).named("currency").named("price"),
            stocks.query_where(Predicate::all()).family("f").named("currency"),
        ] {
            let rows = query.rows().await.unwrap().collect().await.unwrap();
            assert_eq!(rows[0].row().len(), 2);
        }
    })
    .await;
}

#[tokio::test]
async fn of_several_versions_the_newest_is_compared_and_returned() {
    on_both(|database, _| async move {
        let family = rowhouse::schema::FamilyDescriptor::new("d").unwrap().versions(5);
        let spec = TableSpec::new("t").family_with(family).key("[user string]");
        let columns = "d:n count u8; d:_[x u8] many u8";
        let table = database.create_table(spec.columns(columns)).await.unwrap();
        let key = table.key(&[("user", "bob".into())]).unwrap();
        for (at, value) in [(1, 7), (2, 9)] {
            let at = Timestamp::from_millis(at).unwrap();
            let put = Put::new(key.clone()).unwrap().add_at("d", "n", at, [value]).unwrap();
            table.put(put.add_at("d", b"_\x01", at, [value]).unwrap()).await.unwrap();
        }
        assert!(table.query("count = 7").versions(5).page(1).await.unwrap().rows.is_empty());
        let bob = &table.query("count = 9").versions(5).page(1).await.unwrap().rows[0];
        assert_eq!(bob.row().len(), 4);
        assert_eq!(bob.column("count").unwrap(), Some(9_u8.into()));
        let many: Vec<_> = bob.columns("many").unwrap().map(|one| one.unwrap().1).collect();
        assert_eq!(many, [Value::from(9_u8)]);
    })
    .await;
}

#[tokio::test]
async fn a_counter_is_a_java_long() {
    on_both(|database, _| async move {
        let spec = TableSpec::new("t").family("d").key("[page string]");
        let table = database.create_table(spec.columns("d:v views java.long")).await.unwrap();
        for page in ["a", "b", "b"] {
            let key = table.key(&[("page", page.into())]).unwrap();
            table.increment(Increment::new(key).unwrap().add("d", "v", 1).unwrap()).await.unwrap();
        }
        let rows = table.query("views > 1").page(9).await.unwrap().rows;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].column("views").unwrap(), Some(2.into()));
        assert_eq!(rows[0].counter("d", "v").unwrap(), Some(2));
    })
    .await;
}

#[tokio::test]
async fn columns_that_cannot_stand_beside_families_and_key_are_refused() {
    on_both(|database, _| async move {
        let spec = || TableSpec::new("t").family("d").family("e").key("[user string]");
        let check = |columns: &str| spec().columns(columns).check().unwrap_err().to_string();
        assert_eq!(
            check("f:a one u8"),
            "column `one` is in a family that the table does not declare: family=f, declared=d,e"
        );
        assert!(check("d:u user string").contains("choose another name"));
        assert!(check("d:a one byt").contains("unknown type"));
        let refused = database.create_table(spec().columns("f:a one u8")).await.map(|_| ());
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidRequest);

        let table = database.create_table(spec()).await.unwrap();
        let undeclared = table.column_schema().unwrap_err();
        assert!(undeclared.message().contains("COLUMNS => "), "{undeclared}");
        assert!(database.admin().alter_columns("t", "f:a one u8").await.is_err());
        database.admin().alter_columns("t", "d:a one u8; e:b two u8").await.unwrap();
        assert!(database.admin().alter_key_unchecked("t", "[one string]").await.is_err());
        let table = database.table("t").await.unwrap();
        assert_eq!(table.column_schema().unwrap().to_string(), "d:a one u8; e:b two u8");
        let error = table.query("three = 5").explain().unwrap_err();
        assert_eq!(
            error.message().lines().next().unwrap(),
            "there is no `three`; fields of the key: user; columns: one, two: offset=0"
        );
    })
    .await;
}
