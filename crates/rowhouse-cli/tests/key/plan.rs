//! Tests query plans and query explanations.

use expect_test::expect;

use super::{BLOG, check, run_key};

#[test]
fn a_plan_has_ranges_and_the_residual_condition() {
    check(
        &[BLOG, "plan", "blogger = '123' and at during 2022-12"],
        expect![[r#"
        [123_9223370364323575808, 123_9223370367001975808)
        exact
    "#]],
    );
    check(
        &[BLOG, "plan"],
        expect![[r#"
            […, …)
            reads the whole table
            exact
        "#]],
    );
    check(
        &["[bucket 3 of user][user string]", "plan", "user starts with 'b'"],
        expect![[r#"
        0: [\x00b, \x00c)
        1: [\x01b, \x01c)
        2: [\x02b, \x02c)
        exact
    "#]],
    );
    check(
        &["[n u8]", "plan", "n = 300"],
        expect![[r#"
        no row can match
    "#]],
    );
    check(
        &["[n u8]", "plan", "--hex", "n >= 10"],
        expect![[r#"
        [0a, …)
        exact
    "#]],
    );
    check(
        &["[user text md5 4 hex]", "plan", "user = 'bob'"],
        expect![[r#"
        [9f9d51bc, 9f9d51bc\x00)
        exact
        candidates: keys hold too little of user
    "#]],
    );
    check(
        &["[at millis digits 13]", "plan", "--tz", "+08:00", "at >= 2022-12-01"],
        expect![[r#"
        [1669824000000, …)
        exact
    "#]],
    );
    check(
        &["[at millis digits 13]#[metric text]", "plan", "metric = 'cpu'"],
        expect![[r#"
            […, …)
            reads the whole table
            residual: metric = 'cpu'
        "#]],
    );
}

#[test]
fn an_explanation_has_order_and_filters() {
    check(
        &["[user text][at millis desc]", "explain", "user = 'bob'"],
        expect![[r#"
        ranges: 1
          [bob, boc)
        residual: user = 'bob'
        order: user ascending, at descending (newest first)
        read: one range after the other
        filter: on each row's decoded key, by the residual
        fields:
          [user text] unordered
          [at millis desc] unordered
    "#]],
    );
    check(
        &["[bucket 3 of user][user string]", "explain", "user >= 'b'"],
        expect![[r#"
        ranges: 3, in 3 streams
          0: [\x00b\x00\x01, \x01)
          1: [\x01b\x00\x01, \x02)
          2: [\x02b\x00\x01, \x03)
        residual: none, the ranges are exact
        order: user ascending; merged from the buckets
        read: the streams side by side, merged by the key without its buckets
        filter: only in the ranges
        fields:
          [user string] ordered
          [bucket 3 of user] computed
    "#]],
    );
    check(
        &["[n u8]", "explain", "n = 300"],
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: n ascending
        read: nothing
        fields:
          [n u8] ordered
    "#]],
    );
}

#[test]
fn queries_that_are_wrong_point_at_the_mistake() {
    check(
        &[BLOG, "plan", "bloger = '123'"],
        expect![[r#"
        rowhouse: the key has no field `bloger`; did you mean `blogger`?: offset=0
          bloger = '123'
          ^
        exit status 2
    "#]],
    );
    check(
        &[BLOG, "explain", "blogger == '123'"],
        expect![[r#"
        rowhouse: unknown sign `==`; write =: offset=8
          blogger == '123'
                  ^
        exit status 2
    "#]],
    );
}

#[test]
fn a_plan_in_json_has_every_range() {
    check(
        &["[bucket 2 of user][user string]", "plan", "--json", "user >= 'b'"],
        expect![[r#"
            {"ranges":[{"start":"\\x00b\\x00\\x01","stop":"\\x01","buckets":[0]},{"start":"\\x01b\\x00\\x01","stop":"\\x02","buckets":[1]}],"whole_table":false,"exact":true,"residual":null,"candidates":[]}
        "#]],
    );
    check(
        &["[user text][at millis desc]", "explain", "--json", "user = 'bob'"],
        expect![[r#"
            {"ranges":[{"start":"bob","stop":"boc","buckets":[]}],"whole_table":false,"exact":false,"residual":"user = 'bob'","candidates":[],"order":{"sequence":"as read","fields":[{"name":"user","desc":false,"order":"ordered"},{"name":"at","desc":true,"order":"ordered"}],"complete":true},"fields":[{"name":"user","type":"text","desc":false,"order":"unordered"},{"name":"at","type":"millis","desc":true,"order":"unordered"}]}
        "#]],
    );
    let numbers: Vec<_> = (0..100).map(|n| (2 * n).to_string()).collect();
    let query = format!("n in ({})", numbers.join(", "));
    let many = run_key(&["[n u16]", "plan", &query], b"");
    assert_eq!(many.lines().count(), 101, "every range, and whether they are exact");
}

#[test]
fn explain_estimates_the_cost_of_a_query_by_regions_and_a_sample() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let regions = file("regions", "\nm\nt\n");
    let sample: String =
        (0..10).map(|n| format!("{}_{n:03}\n", ["ann", "bob", "tim"][n % 3])).collect();
    let sample = file("sample", &sample);
    let query = "name = 'bob' and n > 3";
    let template = "[name text]_[n digits 3]";
    check(
        &[template, "explain", query, "--regions", &regions, "--sample", &sample, "--rows", "5000"],
        expect![[r#"
            ranges: 1
              [bob_004, bob`)
            residual: none, the ranges are exact
            order: name ascending, n ascending
            regions: 1 of 3
            rows: about 1000 of 5000 read, 1000 given
            read: one range after the other
            filter: only in the ranges
            fields:
              [name text] ordered as stored
              [n digits 3] ordered
        "#]],
    );
    let known = ["--regions", &regions, "--sample", &sample, "--json"];
    let explained = run_key(&[&[template, "explain", "n > 3"], &known[..]].concat(), b"");
    assert!(explained.contains(r#""regions":{"touched":3,"all":3}"#), "{explained}");
    assert!(explained.contains(r#""rows":{"read":10,"given":6,"all":10}"#), "{explained}");
    let overlapping = file("overlapping", "\nb\na\n");
    let wrong = run_key(&[template, "explain", "--regions", &overlapping], b"");
    assert!(wrong.contains("regions begin at the empty key"), "{wrong}");
}

#[test]
fn declared_columns_can_be_queried() {
    let columns = "d:n count u64; f:[at seconds 4 desc][id u8] price f64";
    let query = "user = 'bob' and count > 5 and price.at = 9 and price.id in (1, 7)";
    let arguments = |command: &[&'static str]| {
        [&["[user string]"], command, &["--columns", columns, query]].concat()
    };
    check(
        &arguments(&["plan"]),
        expect![[r#"
        [bob\x00\x01, bob\x00\x01\x00)
        exact
        columns: count > 5 (d:n), checked on each row
        qualifiers of price (f:[at seconds 4 desc][id u8]): 2 ranges
          qualifier \xFF\xFF\xFF\xF6\x01
          qualifier \xFF\xFF\xFF\xF6\x07
          residual: none, the ranges are exact
    "#]],
    );
    check(
        &arguments(&["explain"]),
        expect![[r#"
        ranges: 1
          row bob\x00\x01
        residual: none, the ranges are exact
        columns: count > 5 (d:n), checked on each row
        qualifiers of price (f:[at seconds 4 desc][id u8]): 2 ranges
          qualifier \xFF\xFF\xFF\xF6\x01
          qualifier \xFF\xFF\xFF\xF6\x07
          residual: none, the ranges are exact
        order: user ascending
        read: one range after the other
        filter: on each row's columns
        cells: of price only matching qualifiers; the store seeks to them
        fields:
          [user string] ordered
    "#]],
    );
    check(
        &arguments(&["plan", "--json"]),
        expect![[r#"
            {"ranges":[{"start":"bob\\x00\\x01","stop":"bob\\x00\\x01\\x00","buckets":[]}],"whole_table":false,"exact":false,"residual":null,"candidates":[],"columns":"count > 5 (d:n)","qualifiers":[{"column":"price","family":"f","template":"[at seconds 4 desc][id u8]","ranges":[{"start":"\\xFF\\xFF\\xFF\\xF6\\x01","stop":"\\xFF\\xFF\\xFF\\xF6\\x01\\x00"},{"start":"\\xFF\\xFF\\xFF\\xF6\\x07","stop":"\\xFF\\xFF\\xFF\\xF6\\x07\\x00"}],"residual":null}]}
        "#]],
    );
    check(
        &arguments(&["explain", "--json"]),
        expect![[r#"
            {"ranges":[{"start":"bob\\x00\\x01","stop":"bob\\x00\\x01\\x00","buckets":[]}],"whole_table":false,"exact":false,"residual":null,"candidates":[],"columns":"count > 5 (d:n)","qualifiers":[{"column":"price","family":"f","template":"[at seconds 4 desc][id u8]","ranges":[{"start":"\\xFF\\xFF\\xFF\\xF6\\x01","stop":"\\xFF\\xFF\\xFF\\xF6\\x01\\x00"},{"start":"\\xFF\\xFF\\xFF\\xF6\\x07","stop":"\\xFF\\xFF\\xFF\\xF6\\x07\\x00"}],"residual":null}],"order":{"sequence":"as read","fields":[{"name":"user","desc":false,"order":"ordered"}],"complete":true},"fields":[{"name":"user","type":"string","desc":false,"order":"ordered"}]}
        "#]],
    );
    check(
        &["[user string]", "plan", "--columns", "d:user user u8", "user = 'bob'"],
        expect![[r#"
            rowhouse: `user` is a field of the key and a column: the key holds the value already, so choose another name
            exit status 2
        "#]],
    );
}
