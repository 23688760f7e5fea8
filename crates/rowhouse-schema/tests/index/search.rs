//! Full-text indexes: declarations, row values, and plans.

use expect_test::{Expect, expect};
use rowhouse_model::{Bytes, Columns, Result, TableDescriptor, TableName, escape};
use rowhouse_schema::{
    CellBytes, ColumnSchema, IndexOf, IndexSchema, KeySchema, Predicate, Search, SearchPlan,
    TimeZone, Value,
};

use crate::{cell, row};

const KEY: &str = "[user text]_[at millis digits desc]";
const COLUMNS: &str = "d:s sender string; d:t subject text; d:b body blob; d:n size u64 digits; \
                       d:h host domain; d:w seen millis tz +08:00; d:p price decimal; d:f score f64; \
                       d:x pad text 3 pad x; f:[tag string][n u8 null first] tagged f64; \
                       g:[x text] other u8";

fn parse(key: &str, text: &str) -> Result<IndexSchema> {
    crate::parse(key, COLUMNS, text)
}

/// The declarations as printed, and each value field's template.
fn check_with(key: &str, text: &str, expected: Expect) {
    let actual = match parse(key, text) {
        Err(error) => format!("{:?}: {error}", error.kind()),
        Ok(indexes) => {
            let printed = indexes.to_string();
            assert_eq!(parse(key, &printed).unwrap(), indexes);
            let fields = indexes.indexes().iter().filter_map(|it| it.search());
            let fields = fields.flat_map(Search::fields).filter_map(|field| field.order());
            let orders: String = fields.map(|order| format!("\n  {order}")).collect();
            format!("{printed}{orders}")
        }
    };
    expected.assert_eq(&actual);
}

fn check(text: &str, expected: Expect) {
    check_with(KEY, text, expected);
}

#[test]
fn declarations_print_in_one_line() {
    check(
        "text search subject chinese,body english   chinese ,sender keyword, tagged.tag keyword,size",
        expect![[r#"
            text search subject chinese, body english chinese, sender keyword, tagged.tag keyword, size
              [size u64]"#]],
    );
    check(
        "a [sender]; text search subject simple\nb search body keyword, seen, score, host, pad keyword",
        expect![[r#"
            a [sender]; text search subject simple; b search body keyword, seen, score, host, pad keyword
              [seen millis tz +08:00]
              [score f64]
              [host string]"#]],
    );
    check(
        "search search subject simple, tagged.n, tagged.tag, other.x simple",
        expect![[r#"
        search search subject simple, tagged.n, tagged.tag, other.x simple
          [tagged.n u8]
          [tagged.tag string]"#]],
    );
    check_with(
        "",
        "text search subject simple, row",
        expect![[r#"
        InvalidRequest: `row` is the whole key; conditions on the key need no declaration: offset=28
          text search subject simple, row
                                      ^"#]],
    );
    check_with("", "text search subject simple", expect!["text search subject simple"]);
    check_with(
        "[sender string md5 4][n u8]",
        "text search sender english",
        expect!["text search sender english"],
    );
}

fn mistakes(texts: &[&str], expected: Expect) {
    let error = |text: &&str| format!("{}\n", parse(KEY, text).unwrap_err());
    expected.assert_eq(&texts.iter().map(error).collect::<String>());
}

#[test]
fn a_declaration_names_columns() {
    mistakes(
        &[
            "text search",
            "text search subject english,",
            "text search ,subject english",
            "text search subjct english",
            "text search subject english, user",
            "text search subject english, row",
            "text search subject english, tagged",
            "text search subject english, tagged.tg",
            "text search subject english, subject chinese",
            "text search [subject]",
            "text searches subject",
        ],
        expect![[r#"
            expected the name of a column; for example text search body english, size: offset=11
              text search
                         ^
            expected the name of a column; for example text search body english, size: offset=28
              text search subject english,
                                          ^
            expected the name of a column; for example text search body english, size: offset=12
              text search ,subject english
                          ^
            there is no `subjct`; did you mean `subject`?: offset=12
              text search subjct english
                          ^
            `user` is a field of the key; conditions on the key need no declaration: offset=29
              text search subject english, user
                                           ^
            `row` is the whole key of a table without a key template; name fields of the key: offset=29
              text search subject english, row
                                           ^
            `tagged` is the name of many columns, and has no single value; name a field of their qualifiers: tagged.tag: offset=29
              text search subject english, tagged
                                           ^
            the qualifiers of `tagged` have no field `tg`; did you mean `tag`?: offset=36
              text search subject english, tagged.tg
                                                  ^
            `subject` is named twice: offset=29
              text search subject english, subject chinese
                                           ^
            there is no `[subject]`; did you mean `subject`?: offset=12
              text search [subject]
                          ^
            expected a template such as [sender], or the word search, not searches: offset=5
              text searches subject
                   ^
        "#]],
    );
}

#[test]
fn texts_have_analysers_and_values_an_order() {
    mistakes(
        &[
            "text search size",
            "text search subject",
            "a [sender]; text search subject inglish; b [size]",
            "text search subject german",
            "text search subject english english",
            "text search subject english size",
            "text search size english",
            "text search subject simple, score keyword",
            "text search subject simple, price",
            "text search subject simple, pad",
        ],
        expect![[r#"
            expected a field with an analyser; for example text search body english, size: offset=16
              text search size
                              ^
            expected a field with an analyser; for example text search body english, size: offset=19
              text search subject
                                 ^
            there is no analyser `inglish`; did you mean `english`?: offset=32
              a [sender]; text search subject inglish; b [size]
                                              ^
            there is no analyser `german`; there are: keyword, simple, english, chinese: offset=20
              text search subject german
                                  ^
            the analyser `english` is named twice: offset=28
              text search subject english english
                                          ^
            there is no analyser `size`; fields are separated by commas: offset=28
              text search subject english size
                                          ^
            `size` is of the type `u64`, which is no text; without an analyser, it is a value: offset=17
              text search size english
                               ^
            `score` is of the type `f64`, which is no text; without an analyser, it is a value: offset=34
              text search subject simple, score keyword
                                                ^
            `price` is of the type `decimal`, which bytes cannot order; it cannot be a value of a full-text index: offset=28
              text search subject simple, price
                                          ^
            `pad` is of the type `text 3 pad x`, which bytes cannot order; name an analyser: pad keyword: offset=28
              text search subject simple, pad
                                          ^
        "#]],
    );
}

#[test]
fn a_full_text_index_has_all_rows_and_covers_nothing() {
    mistakes(
        &[
            "text search subject simple unique",
            "text search subject simple covers size",
            "text search subject simple where size > 1",
            "a [sender] where subject matches 'x'",
        ],
        expect![[r#"
            `unique` is not allowed after `search`; a full-text index has fields and their analysers, and all rows: offset=27
              text search subject simple unique
                                         ^
            `covers` is not allowed after `search`; a full-text index has fields and their analysers, and all rows: offset=27
              text search subject simple covers size
                                         ^
            `where` is not allowed after `search`; a full-text index has fields and their analysers, and all rows: offset=27
              text search subject simple where size > 1
                                         ^
            the condition of an index cannot search: it has no `matches`: offset=17
              a [sender] where subject matches 'x'
                               ^
        "#]],
    );
}

#[test]
fn its_table_has_a_queue_segments_and_their_list() {
    let base = TableDescriptor::new(TableName::parse("mail").unwrap());
    let indexes = parse(KEY, "text search subject english").unwrap();
    let index = indexes.index("text").unwrap();
    let table = index.table_descriptor(&base).unwrap();
    assert_eq!(table.name().to_string(), "mail.text");
    let families: Vec<_> = table.families().iter().map(|family| family.name().to_vec()).collect();
    assert_eq!(families, [b"m", b"q", b"s"]);
    assert_eq!(KeySchema::of_table(&table).unwrap(), None);
    let of = IndexOf::of_table(&table).unwrap().unwrap();
    assert_eq!((of.to_string(), of.is_copy), ("text of mail".to_owned(), false));
}

#[test]
fn it_has_no_entries_and_reads_the_columns_of_its_fields() {
    let indexes = parse(KEY, "text search subject english, tagged.tag, size").unwrap();
    let index = indexes.index("text").unwrap();
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let cells = row(b"bob_1", [(cell(&columns, "subject", "x"), 1)]);
    assert!(index.entries(b"bob_1", &cells).unwrap().is_empty());
    assert_eq!(index.unique_prefix(b"bob"), None);
    assert!(!index.is_unique() && !index.is_copy() && index.covers().is_empty());
    for (family, qualifier, has) in [("d", "t", true), ("d", "s", false), ("f", "any", true)] {
        assert_eq!(index.columns().has_column(family.as_bytes(), qualifier.as_bytes()), has);
    }
    let key = KeySchema::parse(KEY).unwrap();
    let query = Predicate::parse("size > 1").unwrap();
    let why = index.plan(&key, &columns, &query, &TimeZone::UTC, &Columns::all()).unwrap_err();
    assert_eq!(why.to_string(), "it is a full-text index");
}

#[test]
fn indexes_differ_if_their_columns_do() {
    let parse = |columns: &str, text: &str| {
        let columns = ColumnSchema::parse(columns).unwrap();
        IndexSchema::parse(text, None, Some(&columns)).unwrap()
    };
    let text = "text search subject english, size";
    let one = parse("d:t subject string; d:n size u64; d:o other u8", text);
    assert_eq!(one, parse("d:t subject string; d:n size u64", text));
    assert_ne!(one, parse("d:t subject string; d:m size u64", text));
    assert_ne!(one, parse("d:t subject string; d:n size u64", "text search subject simple, size"));
}

/// The values that a row has, one a line.
fn values(text: &str, cells: Vec<CellBytes>) -> String {
    let indexes = parse(KEY, text).unwrap();
    let search = indexes.indexes()[0].search().unwrap();
    let values = search.values(&row(b"r", cells.into_iter().map(|cell| (cell, 1))));
    let line = |(at, value): &(usize, Bytes)| {
        format!("{} {}\n", search.fields()[*at].name(), escape(value))
    };
    values.iter().map(line).collect()
}

#[test]
fn a_row_shows_texts_as_they_are_and_values_in_their_order() {
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let text = "text search subject simple, size, body keyword, host keyword, pad keyword, sender, \
                seen, score";
    let cells = [
        ("subject", "Row keys"),
        ("size", "258"),
        ("host", "www.example.com"),
        ("pad", "a"),
        ("sender", "eve"),
        ("score", "-0.5"),
    ];
    let mut cells: Vec<_> = cells.map(|(name, value)| cell(&columns, name, value)).into();
    cells.push(columns.encode("body", Value::Bytes(b"\xff\0".to_vec())).unwrap());
    expect![[r#"
        subject Row keys
        size \x00\x00\x00\x00\x00\x00\x01\x02
        body \xFF\x00
        host www.example.com
        pad a
        sender eve\x00\x01
        score @\x1F\xFF\xFF\xFF\xFF\xFF\xFF
    "#]]
    .assert_eq(&values(text, cells.clone()));
    for cell in &mut cells {
        cell.value = b"\xfe?".as_slice().into();
    }
    expect![[r#"
        subject \xFE?
        body \xFE?
        host \xFE?
        pad \xFE?
    "#]]
    .assert_eq(&values(text, cells));
    assert_eq!(values(text, Vec::new()), "");
}

#[test]
fn fields_of_qualifiers_have_a_value_for_each_cell() {
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let tagged = |tag: &str, n: Value| {
        columns.encode_with("tagged", &[("tag", tag.into()), ("n", n)], 1.0).unwrap()
    };
    let cells = vec![
        tagged("new", 7.into()),
        tagged("new", Value::Null),
        tagged("old", 8.into()),
        cell(&columns, "subject", "x"),
    ];
    let text = "text search tagged.tag keyword, tagged.n, subject simple";
    expect![[r#"
        tagged.tag new
        tagged.tag new
        tagged.tag old
        tagged.n \x07
        tagged.n \x08
        subject x
    "#]]
    .assert_eq(&values(text, cells));
    // Older cell versions do not count.
    let older = vec![(tagged("new", 7.into()), 1), (tagged("new", 7.into()), 2)];
    let indexes = parse(KEY, text).unwrap();
    let search = indexes.indexes()[0].search().unwrap();
    assert_eq!(search.values(&row(b"r", older)).len(), 2);
}

#[test]
fn a_value_may_be_longer_than_a_row_key() {
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let long = "a".repeat(100_000);
    let indexes = parse(KEY, "text search subject simple, sender").unwrap();
    let search = indexes.indexes()[0].search().unwrap();
    let values = search.values(&row(b"r", [(cell(&columns, "sender", &long), 1)]));
    assert!(values[0].1.len() > 100_000);
}

fn check_plan_with(key: &str, indexes: &str, query: &str, named: Option<&str>, expected: Expect) {
    let schema = parse(key, indexes).unwrap();
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let key = Some(key).filter(|key| !key.is_empty()).map(|key| KeySchema::parse(key).unwrap());
    let plan = Predicate::parse(query).and_then(|query| {
        let again = Predicate::parse(&query.to_string()).unwrap();
        assert_eq!(again.to_string(), query.to_string());
        schema.search_plan(key.as_ref(), &columns, &query, &TimeZone::UTC, named)
    });
    let printed = |plan: SearchPlan| {
        let decided = if plan.is_decided() { "decided" } else { "open" };
        format!("{plan}{decided}, cells needed: {}\n", plan.needs_cells())
    };
    expected.assert_eq(&plan.map_or_else(|error| error.to_string(), printed));
}

fn check_plan(query: &str, expected: Expect) {
    let key = "[user string][at millis desc]";
    let indexes = "text search subject english, sender keyword, size, seen, host; \
                   tags search tagged.tag keyword, body simple, subject simple, tagged.n";
    check_plan_with(key, indexes, query, None, expected);
}

#[test]
fn values_and_keys_narrow_a_search() {
    check_plan(
        "subject matches 'row keys'",
        expect![[r#"
        index: text
        search: subject matches 'row keys'
        keys: all
        rows: decided by the index
        decided, cells needed: false
    "#]],
    );
    check_plan(
        "user = 'bob' and subject matches 'it''s' and size between 3 and 5",
        expect![[r#"
            index: text
            search: subject matches 'it''s'
            values of size: 1 range
              [\x00\x00\x00\x00\x00\x00\x00\x03, \x00\x00\x00\x00\x00\x00\x00\x06)
            keys: 1 range
              [bob\x00\x01, bob\x00\x02)
            rows: decided by the index
            decided, cells needed: false
        "#]],
    );
    check_plan(
        "subject matches 'a' and sender matches 'b' and subject matches 'c' and size in (1, 3)",
        expect![[r#"
            index: text
            search: subject matches 'a' and sender matches 'b' and subject matches 'c'
            values of size: 2 ranges
              value \x00\x00\x00\x00\x00\x00\x00\x01
              value \x00\x00\x00\x00\x00\x00\x00\x03
            keys: all
            rows: decided by the index
            decided, cells needed: false
        "#]],
    );
    check_plan(
        "subject matches 'a' and seen during 2022-12-24 and size > 1",
        expect![[r#"
        index: text
        search: subject matches 'a'
        values of size: 1 range
          [\x00\x00\x00\x00\x00\x00\x00\x02, …)
        values of seen: 1 range
          [\x00\x00\x01\x85?\xB6t\x00, \x00\x00\x01\x85D\xDC\xD0\x00)
        keys: all
        rows: decided by the index
        decided, cells needed: false
    "#]],
    );
    check_plan(
        "subject matches 'a' and size < 0",
        expect![[r#"
        index: text
        search: subject matches 'a'
        values of size: none, no row can match
        keys: all
        rows: decided by the index
        decided, cells needed: false
    "#]],
    );
    check_plan(
        "subject matches 'a' and size < 0 and host starts with 'w'",
        expect![[r#"
        index: text
        search: subject matches 'a'
        values of size: none, no row can match
        values of host: 1 range
          [w, x)
        keys: all
        rows: decided by the index
        decided, cells needed: false
    "#]],
    );
}

#[test]
fn rows_are_judged_by_the_other_conditions() {
    check_plan(
        "subject matches 'a' and sender = 'eve'",
        expect![[r#"
        index: text
        search: subject matches 'a'
        keys: all
        rows: judged by sender = 'eve'
        open, cells needed: true
    "#]],
    );
    check_plan(
        "subject matches 'a' and size > 1 and size is not null",
        expect![[r#"
        index: text
        search: subject matches 'a'
        values of size: 1 range
          [\x00\x00\x00\x00\x00\x00\x00\x02, …)
        keys: all
        rows: judged by size is not null
        open, cells needed: true
    "#]],
    );
    check_plan(
        "subject matches 'a' and size is null",
        expect![[r#"
        index: text
        search: subject matches 'a'
        keys: all
        rows: judged by size is null
        open, cells needed: true
    "#]],
    );
    check_plan(
        "subject matches 'a' and host under 'example.com'",
        expect![[r#"
        index: text
        search: subject matches 'a'
        keys: all
        rows: judged by host under 'example.com'
        open, cells needed: true
    "#]],
    );
    check_plan(
        "subject matches 'a' and host ends with '.com'",
        expect![[r#"
        index: text
        search: subject matches 'a'
        values of host: all
        keys: all
        rows: judged by host ends with '.com'
        open, cells needed: true
    "#]],
    );
    check_plan(
        "body matches 'a' and tagged.n > 3",
        expect![[r#"
        index: tags
        search: body matches 'a'
        keys: all
        rows: judged by tagged.n > 3
        open, cells needed: true
    "#]],
    );
    check_plan(
        "subject matches 'a' and user ends with 'b'",
        expect![[r#"
            index: text
            search: subject matches 'a'
            keys: all
            residual: user ends with 'b'
            rows: decided by the index and their keys
            open, cells needed: false
        "#]],
    );
}

#[test]
fn a_key_that_holds_a_hash_leaves_the_decision_to_the_column() {
    let key = "[sender string md5 4][n u8]";
    let indexes = "text search subject english, sender";
    check_plan_with(
        key,
        indexes,
        "subject matches 'a' and sender = 'eve'",
        None,
        expect![[r#"
        index: text
        search: subject matches 'a'
        keys: 1 range
          [\xFAj\x91\xEF, \xFAj\x91\xF0)
        rows: judged by sender = 'eve'
        open, cells needed: true
    "#]],
    );
    check_plan_with(
        key,
        indexes,
        "subject matches 'a' and hash(sender) = 0x00000001",
        None,
        expect![[r#"
            index: text
            search: subject matches 'a'
            keys: 1 range
              [\x00\x00\x00\x01, \x00\x00\x00\x02)
            rows: decided by the index
            decided, cells needed: false
        "#]],
    );
}

#[test]
fn the_first_index_with_all_texts_is_taken() {
    check_plan(
        "subject matches 'a' and tagged.tag matches 'b'",
        expect![[r#"
        index: tags
        search: subject matches 'a' and tagged.tag matches 'b'
        keys: all
        rows: decided by the index
        decided, cells needed: false
    "#]],
    );
    check_plan(
        "sender matches 'a' and body matches 'b'",
        expect!["no full-text index has all of the texts: fields=sender, body"],
    );
    check_plan(
        "subjct matches 'a'",
        expect![[r#"
        `matches` needs a full-text index of `subjct`; did you mean `subject`?: offset=0
          subjct matches 'a'
          ^"#]],
    );
    check_plan(
        "subject matches 'a' and size matches 'b'",
        expect![[r#"
        `matches` needs a full-text index of `size`; it is a value there, without an analyser: offset=24
          subject matches 'a' and size matches 'b'
                                  ^"#]],
    );
    check_plan(
        "user matches 'b'",
        expect![[r#"
            `matches` needs a full-text index of `user`; there are those of: body, sender, subject, tagged.tag: offset=0
              user matches 'b'
              ^"#]],
    );
    check_plan("subject = 'a'", expect!["a search needs a condition with `matches`"]);
    let key = "[user string]";
    let indexes = "a search subject english; b search subject simple; c [size]";
    let check = |query: &str, named: &str, expected| {
        check_plan_with(key, indexes, query, Some(named), expected);
    };
    check(
        "subject matches 'x'",
        "b",
        expect![[r#"
        index: b
        search: subject matches 'x'
        keys: all
        rows: decided by the index
        decided, cells needed: false
    "#]],
    );
    check("subject matches 'x'", "c", expect!["`c` is no full-text index"]);
    check("subject matches 'x'", "d", expect!["no index `d` is declared; declared: a, b, c"]);
    check(
        "body matches 'x'",
        "b",
        expect![[r#"
        `matches` needs a full-text index of `body`; there are those of: subject: offset=0
          body matches 'x'
          ^"#]],
    );
    check_plan_with(
        key,
        "c [size]",
        "subject matches 'x'",
        None,
        expect![[r#"
        `matches` needs a full-text index of `subject`; the table has none: offset=0
          subject matches 'x'
          ^"#]],
    );
}

#[test]
fn a_mistake_in_a_query_is_pointed_at() {
    check_plan(
        "subject matches 5",
        expect![[r#"
        expected a search text in quotes; for example body matches 'row keys': offset=16
          subject matches 5
                          ^"#]],
    );
    check_plan(
        "subject matches",
        expect![[r#"
        expected a search text in quotes; for example body matches 'row keys': offset=15
          subject matches
                         ^"#]],
    );
    check_plan(
        "subject match 'a'",
        expect![[r#"
        expected =, <, <=, >, >=, between, in, starts with, ends with, under, during, matches or is null; did you mean `matches`?: offset=8
          subject match 'a'
                  ^"#]],
    );
    check_plan(
        "subject matches 'a' and nothing = 5",
        expect![[r#"
        there is no `nothing`; fields of the key: user, at; columns: sender, subject, body, size, host, seen, price, score, pad, tagged, other: offset=24
          subject matches 'a' and nothing = 5
                                  ^"#]],
    );
    check_plan(
        "subject matches 'a' and size = 'x'",
        expect![[r#"
        column `size` takes a whole number, not the text 'x': offset=31
          subject matches 'a' and size = 'x'
                                         ^"#]],
    );
    check_plan(
        "subject matches 'a' and nothing matches 'b'",
        expect![[r#"
            `matches` needs a full-text index of `nothing`; there are those of: body, sender, subject, tagged.tag: offset=24
              subject matches 'a' and nothing matches 'b'
                                      ^"#]],
    );
}

#[test]
fn without_a_key_template_the_index_decides() {
    let check = |query: &str, expected| {
        check_plan_with("", "text search subject english, size, host", query, None, expected);
    };
    check(
        "subject matches 'a' and size > 7",
        expect![[r#"
        index: text
        search: subject matches 'a'
        values of size: 1 range
          [\x00\x00\x00\x00\x00\x00\x00\x08, …)
        keys: all
        rows: decided by the index
        decided, cells needed: false
    "#]],
    );
    check(
        "subject matches 'a' and sender = 'eve'",
        expect![[r#"
        a table without a key template is searched by `matches`, and by values of its full-text index, compared with constants: offset=24
          subject matches 'a' and sender = 'eve'
                                  ^"#]],
    );
    check(
        "subject matches 'a' and sze = 7",
        expect![[r#"
        no column `sze` is declared; did you mean `size`?: offset=24
          subject matches 'a' and sze = 7
                                  ^"#]],
    );
    check(
        "subject matches 'a' and host ends with 'a'",
        expect![[r#"
        a table without a key template is searched by `matches`, and by values of its full-text index, compared with constants: offset=24
          subject matches 'a' and host ends with 'a'
                                  ^"#]],
    );
    check(
        "subject matches 'a' and size is null",
        expect![[r#"
        a table without a key template is searched by `matches`, and by values of its full-text index, compared with constants: offset=24
          subject matches 'a' and size is null
                                  ^"#]],
    );
    check(
        "subject matches 'a' and row = 0x00",
        expect![[r#"
        no column `row` is declared; declared: sender, subject, body, size, host, seen, price, score, pad, tagged, other: offset=24
          subject matches 'a' and row = 0x00
                                  ^"#]],
    );
    check(
        "subject matches 'a' and tagged.tag = 'x'",
        expect![[r#"
        a table without a key template is searched by `matches`, and by values of its full-text index, compared with constants: offset=24
          subject matches 'a' and tagged.tag = 'x'
                                  ^"#]],
    );
}

#[test]
fn other_plans_refuse_a_search() {
    let key = KeySchema::parse("[user string]").unwrap();
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let plan = |query: &str| {
        let query = Predicate::parse(query).unwrap();
        key.plan_with_columns(&columns, &query, &TimeZone::UTC).unwrap_err().to_string() + "\n"
    };
    let names = ["subject", "size", "user", "tagged.tag", "tagged.n", "price"];
    let errors: String = names.map(|name| plan(&format!("{name} matches 'x'"))).concat();
    expect![[r#"
        `matches` needs a full-text index of `subject`: offset=0
          subject matches 'x'
          ^
        `matches` needs a full-text index of `size`: offset=0
          size matches 'x'
          ^
        `matches` needs a full-text index of `user`: offset=0
          user matches 'x'
          ^
        `matches` needs a full-text index of `tagged.tag`: offset=0
          tagged.tag matches 'x'
          ^
        `matches` needs a full-text index of `tagged.n`: offset=0
          tagged.n matches 'x'
          ^
        `matches` needs a full-text index of `price`: offset=0
          price matches 'x'
          ^
    "#]]
    .assert_eq(&errors);
    let indexes = IndexSchema::parse("a [sender]", Some(&key), Some(&columns)).unwrap();
    let query = Predicate::parse("sender = 'eve' and subject matches 'x'").unwrap();
    let plan = indexes.indexes()[0].plan(&key, &columns, &query, &TimeZone::UTC, &Columns::all());
    expect![[r#"
        `matches` needs a full-text index of `subject`: offset=19
          sender = 'eve' and subject matches 'x'
                             ^"#]]
    .assert_eq(&plan.unwrap_err().to_string());
}
