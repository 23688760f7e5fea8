//! Random queries return the same cells as filtering all cells.

use proptest::prelude::*;
use rowhouse::cell::Cell;
use rowhouse::key::Values;
use rowhouse::schema::ColumnSchema;
use rowhouse::{Columns, Delete, Put, Scan, Table, TableSpec};

const COLUMNS: &str = "f:[at seconds 4 desc][id u8] price u8; f:!! note u8; \
                       f2:[kind enum(a,b,c)][at seconds 4] event u8; \
                       g:by_[who text] follows u8; g:by- dash u8; g:~[n i16][s text] other u8";
const WHO: [&str; 5] = ["", "ann", "b", "bob", "zoe"];

/// A condition: the column, the text in a query, and a predicate on the qualifier's fields.
struct Condition {
    column: &'static str,
    text: String,
    passes: Passes,
}

type Passes = Box<dyn Fn(&Values) -> bool>;

fn condition(which: usize, x: i64, y: i64) -> Condition {
    fn at(of: &Values) -> i64 {
        of["at"].as_time().unwrap().as_millis() / 1000
    }
    fn text(of: &Values, field: &str) -> String {
        of[field].as_str().unwrap().to_owned()
    }
    let who = WHO[x as usize % 5];
    let kind = ["a", "b", "c"][x as usize % 3];
    let low = x - 55;
    let high = y - 55;
    let id = |of: &Values| of["id"].as_i64().unwrap();
    let n = |of: &Values| of["n"].as_i64().unwrap();
    let (column, text, passes): (_, _, Passes) = match which {
        0 => ("price", format!("at >= {x}"), Box::new(move |of| at(of) >= x)),
        1 => (
            "price",
            format!("at between {x} and {y}"),
            Box::new(move |of| (x..=y).contains(&at(of))),
        ),
        2 => ("price", format!("at in ({x}, {y})"), Box::new(move |of| [x, y].contains(&at(of)))),
        3 => ("price", format!("id > {x}"), Box::new(move |of| id(of) > x)),
        4 => {
            ("price", "at during 1970-01-01T00:01".to_owned(), Box::new(move |of| at(of) / 60 == 1))
        }
        5 => ("event", format!("at < {x}"), Box::new(move |of| at(of) < x)),
        6 => (
            "event",
            format!("kind in ('c', '{kind}')"),
            Box::new(move |of| [kind, "c"].contains(&text(of, "kind").as_str())),
        ),
        7 => (
            "event",
            format!("kind >= '{kind}'"),
            Box::new(move |of| text(of, "kind").as_str() >= kind),
        ),
        8 => (
            "event",
            format!("at in ({x}, {y}, 3)"),
            Box::new(move |of| [x, y, 3].contains(&at(of))),
        ),
        9 => (
            "follows",
            format!("who starts with '{who}'"),
            Box::new(move |of| text(of, "who").starts_with(who)),
        ),
        10 => (
            "follows",
            format!("who <= '{who}'"),
            Box::new(move |of| text(of, "who").as_str() <= who),
        ),
        11 => (
            "follows",
            "who ends with 'b'".to_owned(),
            Box::new(move |of| text(of, "who").ends_with('b')),
        ),
        12 => (
            "other",
            format!("n between {low} and {high}"),
            Box::new(move |of| (low..=high).contains(&n(of))),
        ),
        13 => (
            "other",
            format!("n in ({low}, {high})"),
            Box::new(move |of| [low, high].contains(&n(of))),
        ),
        14 => ("other", format!("s = '{who}'"), Box::new(move |of| text(of, "s") == who)),
        15 => ("other", format!("n > {high}"), Box::new(move |of| n(of) > high)),
        _ => ("price", "at is null".to_owned(), Box::new(|_| false)),
    };
    Condition { column, text: format!("{column}.{text}"), passes }
}

/// Writes rows with cells in all columns, and cells that fit no column.
async fn filled(table: &Table) {
    let columns = table.column_schema().unwrap();
    for user in 0..7_u32 {
        let row = table.key(&[("user", user.into())]).unwrap();
        let mut put = Put::new(row).unwrap();
        let mut add = |name: &str, fields: &[(&str, rowhouse::Value)]| {
            let cell = match fields {
                [] => columns.encode(name, user),
                fields => columns.encode_with(name, fields, user),
            };
            let Ok(cell) = cell else { return };
            put = put.clone().add(cell.family, cell.qualifier, cell.value).unwrap();
        };
        for nth in 0..15 * user {
            let at = nth * 7 % 110;
            add("price", &[("at", at.into()), ("id", (nth * 5 % 111).into())]);
            add("event", &[("kind", ["a", "b", "c"][nth as usize % 3].into()), ("at", at.into())]);
            let n = i64::from(at) - 55;
            add("other", &[("n", n.into()), ("s", WHO[nth as usize % 5].into())]);
        }
        WHO.iter().for_each(|who| add("follows", &[("who", (*who).into())]));
        ["note", "dash"].iter().filter(|_| user % 3 > 0).for_each(|name| add(name, &[]));
        for qualifier in
            [&b""[..], b"!", b"!!!", b"by_", b"by_\xff", b"by", b"c", b"\xff\xff", b"~", b"~\x80"]
        {
            for family in ["d", "f", "f2", "g"] {
                put = put.add(family, qualifier, "x").unwrap();
            }
        }
        table.put(put).await.unwrap();
    }
}

/// Returns the expected cells, computed without a plan.
fn filtered(
    all: &[Cell],
    columns: &ColumnSchema,
    selected: &Columns,
    conditions: &[Condition],
) -> Vec<Cell> {
    let is_selected = |cell: &&Cell| {
        let of = columns.columns().iter().find(|column| {
            let lead = if column.name() == "other" {
                "~"
            } else if column.name() == "follows" {
                "by_"
            } else {
                ""
            };
            column.template().is_some()
                && column.family() == cell.family()
                && cell.qualifier().starts_with(lead.as_bytes())
                && conditions.iter().any(|condition| condition.column == column.name())
        });
        let is_single = columns.columns().iter().any(|column| {
            (column.family(), column.qualifier()) == (cell.family(), Some(cell.qualifier()))
        });
        match of {
            Some(column) if !is_single => {
                let fields = column.template().unwrap().decode(cell.qualifier());
                fields.is_ok_and(|fields| {
                    let mut of =
                        conditions.iter().filter(|condition| condition.column == column.name());
                    of.all(|condition| (condition.passes)(&fields))
                })
            }
            _ => selected.has_column(cell.family(), cell.qualifier()),
        }
    };
    all.iter().filter(is_selected).cloned().collect()
}

#[tokio::test]
async fn a_newer_cell_without_a_qualifier_uncovers_no_deleted_cell() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let spec = TableSpec::new("t").family("f").key("[user text]").columns("f:[tag text] tagged u8");
    let table = database.create_table(spec).await.unwrap();
    let put = |qualifier: &'static str| Put::new("bob").unwrap().add("f", qualifier, [1]).unwrap();
    table.put(put("ab")).await.unwrap();
    table.delete(Delete::new("bob").unwrap()).await.unwrap();
    table.put(put("")).await.unwrap();
    for flushed in [false, true] {
        if flushed {
            database.admin().flush("t").await.unwrap();
        }
        for query in ["tagged.tag = 'ab'", "tagged.tag in ('ab', 'b')", "tagged.tag > 'aa'"] {
            for reversed in [false, true] {
                let rows = table.query(query);
                let rows = if reversed { rows.reversed() } else { rows };
                let rows = rows.rows().await.unwrap().collect().await.unwrap();
                assert!(rows.is_empty(), "{query}, reversed={reversed}, flushed={flushed}");
            }
        }
    }
    database.close().await.unwrap();
}

#[test]
fn the_cells_given_are_those_that_plain_filtering_leaves() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let database = runtime.block_on(rowhouse::open(dir.path().to_str().unwrap())).unwrap();
    let spec = TableSpec::new("t").key("[bucket 2 of user][user u8]");
    let spec = ["d", "f", "f2", "g"].into_iter().fold(spec, TableSpec::family);
    let (table, all) = runtime.block_on(async {
        database.create_table(spec.columns(COLUMNS)).await.unwrap();
        let table = database.table("t").await.unwrap();
        filled(&table).await;
        // Half the data is in files, half in memstores.
        database.admin().flush("t").await.unwrap();
        filled(&table).await;
        let rows = table.scan(Scan::all()).await.unwrap().collect().await.unwrap();
        (table, rows.iter().flat_map(|row| row.to_cells()).collect::<Vec<_>>())
    });
    let columns = table.column_schema().unwrap();
    let strategy = (
        prop::collection::vec((0..17_usize, 0..110_i64, 0..110_i64), 1..5),
        0..7_usize,
        any::<bool>(),
    );
    proptest!(ProptestConfig::with_cases(400), |((drawn, beside, reversed) in strategy)| {
        let conditions: Vec<_> = drawn.iter().map(|(which, x, y)| condition(*which, *x, *y)).collect();
        let texts: Vec<_> = conditions.iter().map(|condition| condition.text.as_str()).collect();
        let text = texts.join(" and ");
        let mut selected = Columns::all();
        match beside {
            0 | 1 => {}
            2 => selected.add_family("f"),
            3 => selected.add_column("f", "!!"),
            4 => selected.add_column("d", "by"),
            5 => { selected.add_family("g"); selected.add_column("f2", "~"); selected.add_column("f2", "c"); }
            _ => { selected.add_family("d"); selected.add_column("f", "!!!"); }
        }
        let query = table.query(&text).columns(selected.clone());
        let query = if reversed { query.reversed() } else { query };
        let rows = runtime.block_on(async { query.rows().await.unwrap().collect().await.unwrap() });
        let mut returned: Vec<Vec<Cell>> = rows.iter().map(|row| row.row().to_cells()).collect();
        prop_assert!(returned.iter().all(|row| !row.is_empty()), "{}", text);
        if reversed {
            returned.reverse();
        }
        let by_user = |cell: &Cell| (cell.row()[1], cell.row()[0]);
        let mut expected = filtered(&all, columns, &selected, &conditions);
        expected.sort_by_key(by_user);
        prop_assert_eq!(returned.concat(), expected, "{} of {:?}", text, selected);
    });
}
