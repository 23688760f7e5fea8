//! Query conditions on columns, against the same conditions written out.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::sample::select;
use rowhouse_model::{Cell, CellKind, Row, Timestamp};
use rowhouse_schema::{ColumnSchema, KeySchema, Plan, Predicate, TimeZone};

const KEY: &str = "[user text md5 4][shift u8][base seconds 4 floor 1h]";
const COLUMNS: &str = "d:n n i16; d:t t string; d:w w u64 digits 3; e:u user string; \
                       e:b base seconds; f:[x text] many u8";

fn plan(query: &str) -> Result<Plan, rowhouse_model::Error> {
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let key = KeySchema::parse(KEY).unwrap();
    columns.check_key(&key).unwrap();
    key.plan_with_columns(&columns, &Predicate::parse(query)?, &TimeZone::UTC)
}

fn check(query: &str, expected: Expect) {
    let plan = plan(query);
    expected.assert_eq(&plan.map_or_else(|error| error.to_string(), |plan| plan.to_string()));
}

#[test]
fn a_plan_reports_conditions_on_the_key_and_on_columns() {
    check(
        "shift = 3 and n > 5 and t starts with 'a' and n < 9",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: shift = 3
        columns: n > 5 and n < 9 (d:n) and t starts with 'a' (d:t), checked on each row
        order: user ascending as stored, shift ascending, base ascending as stored
    "#]],
    );
    check(
        "user = 'bob' and n is null",
        expect![[r#"
        ranges: 1
          [\x9F\x9DQ\xBC, \x9F\x9DQ\xBD)
        residual: none, the ranges are exact
        columns: n is null (d:n) and user = 'bob' (e:u), checked on each row
        order: user ascending, shift ascending, base ascending as stored
        note: keys hold only the hash of user, e:u decides
    "#]],
    );
    assert!(!plan("n is null").unwrap().is_exact());
    assert!(plan("shift = 3").unwrap().column_filter().is_none());
}

#[test]
fn a_column_decides_fields_that_the_key_holds_in_part() {
    check(
        "user = 'bob'",
        expect![[r#"
        ranges: 1
          [\x9F\x9DQ\xBC, \x9F\x9DQ\xBD)
        residual: none, the ranges are exact
        columns: user = 'bob' (e:u), checked on each row
        order: user ascending, shift ascending, base ascending as stored
        note: keys hold only the hash of user, e:u decides
    "#]],
    );
    check(
        "user starts with 'b'",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        columns: user starts with 'b' (e:u), checked on each row
        order: user ascending as stored, shift ascending, base ascending as stored
    "#]],
    );
    check(
        "hash(user) = 0x9f9d51bc",
        expect![[r#"
        ranges: 1
          [\x9F\x9DQ\xBC, \x9F\x9DQ\xBD)
        residual: none, the ranges are exact
        order: user ascending, shift ascending, base ascending as stored
        note: keys hold only the hash of user, which other values have too
    "#]],
    );
    check(
        "user is not null",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        columns: user is not null (e:u), checked on each row
        order: user ascending as stored, shift ascending, base ascending as stored
    "#]],
    );
    check(
        "user in ('bob', 'eve') and base during 2022-12-01T08:30",
        expect![[r#"
        ranges: 512
          row \x9F\x9DQ\xBC\x00c\x88_\x00
          row \x9F\x9DQ\xBC\x01c\x88_\x00
          row \x9F\x9DQ\xBC\x02c\x88_\x00
          row \x9F\x9DQ\xBC\x03c\x88_\x00
          row \x9F\x9DQ\xBC\x04c\x88_\x00
          row \x9F\x9DQ\xBC\x05c\x88_\x00
          row \x9F\x9DQ\xBC\x06c\x88_\x00
          row \x9F\x9DQ\xBC\x07c\x88_\x00
          row \x9F\x9DQ\xBC\x08c\x88_\x00
          row \x9F\x9DQ\xBC\x09c\x88_\x00
          row \x9F\x9DQ\xBC\x0Ac\x88_\x00
          row \x9F\x9DQ\xBC\x0Bc\x88_\x00
          row \x9F\x9DQ\xBC\x0Cc\x88_\x00
          row \x9F\x9DQ\xBC\x0Dc\x88_\x00
          row \x9F\x9DQ\xBC\x0Ec\x88_\x00
          row \x9F\x9DQ\xBC\x0Fc\x88_\x00
          row \x9F\x9DQ\xBC\x10c\x88_\x00
          row \x9F\x9DQ\xBC\x11c\x88_\x00
          row \x9F\x9DQ\xBC\x12c\x88_\x00
          row \x9F\x9DQ\xBC\x13c\x88_\x00
          and 492 more
        residual: none, the ranges are exact
        columns: user in ('bob', 'eve') (e:u) and base during 2022-12-01T08:30 (e:b), checked on each row
        order: user ascending as stored, shift ascending, base ascending as stored
        note: keys hold only the hash of user, e:u decides
        note: keys hold only the step of base, e:b decides
    "#]],
    );
}

#[test]
fn a_mistake_in_a_condition_on_a_column_is_pointed_at() {
    check(
        "shift = 3 and m > 5",
        expect![[r#"
        there is no `m`; fields of the key: user, shift, base; columns: n, t, w, user, base, many: offset=14
          shift = 3 and m > 5
                        ^"#]],
    );
    check(
        "nn > 5",
        expect![[r#"
        there is no `nn`; did you mean `n`?; fields of the key: user, shift, base; columns: n, t, w, user, base, many: offset=0
          nn > 5
          ^"#]],
    );
    check(
        "weight > 5",
        expect![[r#"
        there is no `weight`; fields of the key: user, shift, base; columns: n, t, w, user, base, many: offset=0
          weight > 5
          ^"#]],
    );
    check(
        "n > 'five'",
        expect![[r#"
            column `n` takes a whole number, not the text 'five': offset=4
              n > 'five'
                  ^"#]],
    );
    check(
        "t during 2022",
        expect![[r#"
            column `t` is not a time, `during` is for times: offset=0
              t during 2022
              ^"#]],
    );
    check(
        "many = 5",
        expect![[r#"
            `many` is the name of many columns, and has no single value; ask for fields of their qualifiers: many.x = …: offset=0
              many = 5
              ^"#]],
    );
    check(
        "d:n = 5",
        expect![[r#"
        expected a name, not the column d:n; a query asks for fields of the key, and for columns by their declared names: offset=0
          d:n = 5
          ^"#]],
    );
}

/// A cell in a column: none, a value, or bytes that are not a value.
#[derive(Clone, Debug)]
enum Held<V> {
    Nothing,
    Value(V),
    Junk,
}

fn held<V: Clone + std::fmt::Debug + 'static>(
    values: &'static [V],
) -> impl Strategy<Value = Held<V>> {
    prop_oneof![
        1 => Just(Held::Nothing),
        4 => select(values).prop_map(Held::Value),
        1 => Just(Held::Junk),
    ]
}

const NUMBERS: &[i64] = &[-32768, -7, -1, 0, 1, 5, 6, 32767];
const WIDE: &[i64] = &[0, 1, 5, 998, 999];
/// Constants, some outside the type's range.
const CONSTANTS: &[i64] = &[-40_000, -32768, -7, -1, 0, 1, 5, 6, 998, 999, 1000, 32767, 40_000];
const TEXTS: &[&str] = &["", "a", "ab", "abc", "b", "it's"];

/// A condition, as query text and as a predicate on values.
#[derive(Clone, Debug)]
enum Test {
    Is(&'static str, usize),
    Between(usize, usize),
    In(Vec<usize>),
    Starts(usize),
    Ends(usize),
    Null(bool),
}

fn tests() -> impl Strategy<Value = Test> {
    let at = || 0..13_usize;
    prop_oneof![
        4 => (select(&["=", "<", "<=", ">", ">="][..]), at()).prop_map(|(sign, at)| Test::Is(sign, at)),
        1 => (at(), at()).prop_map(|(low, high)| Test::Between(low, high)),
        1 => prop::collection::vec(at(), 0..4).prop_map(Test::In),
        1 => at().prop_map(Test::Starts),
        1 => at().prop_map(Test::Ends),
        1 => any::<bool>().prop_map(Test::Null),
    ]
}

impl Test {
    /// The condition as query text; `None` if the language does not allow it for such values.
    fn text(
        &self,
        name: &str,
        constant: impl Fn(usize) -> String,
        is_text: bool,
    ) -> Option<String> {
        Some(match self {
            Self::Is(sign, at) => format!("{name} {sign} {}", constant(*at)),
            Self::Between(low, high) => {
                format!("{name} between {} and {}", constant(*low), constant(*high))
            }
            Self::In(list) => {
                let list: Vec<_> = list.iter().map(|at| constant(*at)).collect();
                format!("{name} in ({})", list.join(", "))
            }
            Self::Starts(_) | Self::Ends(_) if !is_text => return None,
            Self::Starts(at) => format!("{name} starts with {}", constant(*at)),
            Self::Ends(at) => format!("{name} ends with {}", constant(*at)),
            Self::Null(true) => format!("{name} is null"),
            Self::Null(false) => format!("{name} is not null"),
        })
    }

    /// Returns true if the condition holds; `None` if it would have to compare bytes that are not a
    /// value.
    fn holds<V: PartialOrd>(
        &self,
        held: &Held<V>,
        constant: impl Fn(usize) -> V,
        edges: impl Fn(&V, usize) -> (bool, bool),
    ) -> Option<bool> {
        let value = match (self, held) {
            (Self::Null(null), held) => return Some(matches!(held, Held::Nothing) == *null),
            (_, Held::Nothing) => return Some(false),
            (_, Held::Junk) => return None,
            (_, Held::Value(value)) => value,
        };
        Some(match self {
            Self::Is("=", at) => *value == constant(*at),
            Self::Is("<", at) => *value < constant(*at),
            Self::Is("<=", at) => *value <= constant(*at),
            Self::Is(">", at) => *value > constant(*at),
            Self::Is(_, at) => *value >= constant(*at),
            Self::Between(low, high) => constant(*low) <= *value && *value <= constant(*high),
            Self::In(list) => list.iter().any(|at| *value == constant(*at)),
            Self::Starts(at) => edges(value, *at).0,
            Self::Ends(at) => edges(value, *at).1,
            Self::Null(_) => unreachable!("asked above"),
        })
    }
}

fn number(at: usize) -> i64 {
    CONSTANTS[at % CONSTANTS.len()]
}

fn text(at: usize) -> &'static str {
    TEXTS[at % TEXTS.len()]
}

fn cell(family: &str, qualifier: &str, value: &[u8]) -> Cell {
    let at = Timestamp::from_millis(1).unwrap();
    Cell::new("row", family, qualifier, at, CellKind::Put, value).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_filter_passes_the_rows_that_the_conditions_written_out_pass(
        n in held(NUMBERS),
        t in held(TEXTS),
        w in held(WIDE),
        conditions in prop::collection::vec((0..3_usize, tests()), 1..4),
    ) {
        let columns = ColumnSchema::parse(COLUMNS).unwrap();
        let mut cells = Vec::new();
        let stored = |name: &str, value: rowhouse_schema::Value| {
            columns.encode(name, value).unwrap().value
        };
        match &n {
            Held::Nothing => {}
            Held::Value(value) => cells.push(cell("d", "n", &stored("n", (*value).into()))),
            Held::Junk => cells.push(cell("d", "n", b"x")),
        }
        match &t {
            Held::Nothing => {}
            Held::Value(value) => cells.push(cell("d", "t", &stored("t", (*value).into()))),
            Held::Junk => cells.push(cell("d", "t", b"\xff")),
        }
        match &w {
            Held::Nothing => {}
            Held::Value(value) => cells.push(cell("d", "w", &stored("w", (*value).into()))),
            Held::Junk => cells.push(cell("d", "w", b"1")),
        }
        let quoted = |at: usize| format!("'{}'", text(at).replace('\'', "''"));
        let bare = |at: usize| number(at).to_string();
        let mut texts = Vec::new();
        let mut held = Vec::new();
        for (of, test) in &conditions {
            let text_of = match of {
                0 => test.text("n", bare, false),
                1 => test.text("t", quoted, true),
                _ => test.text("w", bare, false),
            };
            let Some(text_of) = text_of else { continue };
            texts.push(text_of);
            held.push(match of {
                0 => test.holds(&n, number, |_, _| (false, false)),
                1 => test.holds(&t, text, |value, at| {
                    (value.starts_with(text(at)), value.ends_with(text(at)))
                }),
                _ => test.holds(&w, number, |_, _| (false, false)),
            });
        }
        prop_assume!(!texts.is_empty());
        let query = texts.join(" and ");
        let plan = plan(&query).unwrap();
        let result = plan.column_filter().unwrap().matches(&Row::new(cells));
        // Any false condition excludes the row; otherwise a value that could not be compared is
        // reported.
        let expected = if held.contains(&Some(false)) {
            Some(false)
        } else {
            held.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
        };
        prop_assert_eq!(result.ok(), expected, "{}", query);
    }
}
