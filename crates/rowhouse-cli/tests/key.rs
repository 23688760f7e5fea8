//! `rowhouse key` as a process: what it prints, to where, and how it ends.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};

const BLOG: &str = "[blogger text]_[at millis digits desc]";

/// Runs `rowhouse key` with these arguments and this input: standard output, standard error and, where
/// it is not 0, the exit status, one behind the other.
fn told(args: &[&str], input: &[u8]) -> String {
    let mut process = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .arg("key")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever has enough before the end does not read it all.
    let _ = process.stdin.take().unwrap().write_all(input);
    let output = process.wait_with_output().unwrap();
    let mut told = String::from_utf8(output.stdout).unwrap();
    told.push_str(&String::from_utf8(output.stderr).unwrap());
    match output.status.code() {
        Some(0) => {}
        code => told.push_str(&format!("exit status {}\n", code.unwrap())),
    }
    told
}

#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands in the call")]
fn check(args: &[&str], expected: Expect) {
    expected.assert_eq(&told(args, b""));
}

#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands in the call")]
fn check_input(args: &[&str], input: &str, expected: Expect) {
    expected.assert_eq(&told(args, input.as_bytes()));
}

/// Keys people have, by their fields: encoding gives them, decoding gives the fields back.
#[test]
fn keys_of_the_literature_are_made_and_read() {
    for (template, values, key, read) in [
        (
            BLOG,
            &["blogger=123", "at=2022-12-01"][..],
            "123_9223370367001975807",
            "blogger='123', at=2022-12-01T00:00:00.000Z",
        ),
        (
            "[blogger text][at millis digits desc]",
            &["blogger=CSDN_1", "at=2022-12-01"],
            "CSDN_19223370367001975807",
            "blogger='CSDN_1', at=2022-12-01T00:00:00.000Z",
        ),
        (
            "[user text reverse][at millis desc]",
            &["user=amy", "at=2022-12-01"],
            r"yma\x7F\xFF\xFE{5\x04[\xFF",
            "user='amy', at=2022-12-01T00:00:00.000Z",
        ),
        (
            "[metric text]#[at millis digits 13]",
            &["metric=cpu", "at=1425330757685"],
            "cpu#1425330757685",
            "metric='cpu', at=2015-03-02T21:12:37.685Z",
        ),
        (
            "[at millis digits 13]#[metric text]",
            &["at=1425330757685", "metric=cpu"],
            "1425330757685#cpu",
            "at=2015-03-02T21:12:37.685Z, metric='cpu'",
        ),
        (
            "[followed hex 8][follower hex 8]",
            &["followed=df887e44", "follower=b0452e5c"],
            "df887e44b0452e5c",
            "followed='df887e44', follower='b0452e5c'",
        ),
        (
            "[followed text md5 4 hex][follower text md5 4 hex]",
            &["followed=alice", "follower=0x9f9d51bc"],
            "6384e2b29f9d51bc",
            "followed=0x6384e2b2, follower=0x9f9d51bc",
        ),
        ("[phone digits 11 reverse]", &["phone=13912345678"], "87654321931", "phone=13912345678"),
        ("[host domain]", &["host=www.example.com"], "com.example.www", "host='www.example.com'"),
        (
            "[salt 4 a-d as shard]-[id text]",
            &["shard=a", "id=foo0003"],
            "a-foo0003",
            "id='foo0003', shard='a'",
        ),
        (
            "[user text 8]-[date ymd]-[message digits 10]",
            &["user=bob", "date=2022-12-01", "message=7"],
            r"bob\x00\x00\x00\x00\x00-20221201-0000000007",
            "user='bob', date=2022-12-01, message=7",
        ),
    ] {
        let encoded = told(&[&[template, "encode"], values].concat(), b"");
        assert_eq!(encoded, format!("{key}\n"), "{template}");
        assert_eq!(told(&[template, "decode", key], b""), format!("{read}\n"), "{template}");
    }
}

#[test]
fn keys_can_be_hexadecimal_both_ways() {
    let template = "[user string][at millis desc]";
    check(
        &[template, "encode", "--hex", "user=bob", "at=2022-12-01"],
        expect![[r#"
        626f6200017ffffe7b35045bff
    "#]],
    );
    check(
        &[template, "decode", "--hex", "626f6200017ffffe7b35045bff"],
        expect![[r#"
        user='bob', at=2022-12-01T00:00:00.000Z
    "#]],
    );
    check(
        &[template, "decode", "--hex", "626f6"],
        expect![[r#"
        rowhouse: expected pairs of hexadecimal digits: key=626f6
        exit status 2
    "#]],
    );
}

#[test]
fn values_are_any_text() {
    check(
        &["[user string][tag text]", "encode", "user=分=a b", "tag=\n\\"],
        expect![[r#"
        \xE5\x88\x86=a b\x00\x01\x0A\x5C
    "#]],
    );
    check(
        &["[user string][tag text]", "decode", r"\xE5\x88\x86=a b\x00\x01it's \x0A\x5C"],
        expect![[r#"
            user='分=a b', tag='it''s \x0A\x5C'
        "#]],
    );
}

#[test]
fn times_are_read_and_printed_in_the_zone_that_is_asked_for() {
    check(
        &["[at millis digits 13]", "encode", "--tz", "+08:00", "at=2022-12-01"],
        expect![[r#"
        1669824000000
    "#]],
    );
    check(
        &["[at millis digits 13]", "decode", "--tz=-03:30", "1669824000000"],
        expect![[r#"
        at=2022-11-30T12:30:00.000-03:30
    "#]],
    );
    check(
        &["[day ymd]", "encode", "--tz", "+08:00", "day=2022-12-01"],
        expect![[r#"
        20221201
    "#]],
    );
    check(
        &["[at millis digits 13]", "decode", "--tz", "Beijing", "1669824000000"],
        expect![[r#"
        error: invalid value 'Beijing' for '--tz <OFFSET>': expected an offset from -18:00 to +18:00, such as +08:00, or Z: offset=Beijing

        For more information, try '--help'.
        exit status 2
    "#]],
    );
}

#[test]
fn a_salt_that_is_not_given_is_drawn() {
    let drawn = told(&["[salt 4 a-d]-[id text]", "encode", "id=foo0003"], b"");
    let salts = ["a", "b", "c", "d"];
    assert!(salts.iter().any(|salt| drawn == format!("{salt}-foo0003\n")), "{drawn}");
}

#[test]
fn keys_that_do_not_fit_are_told_with_the_place_and_the_others_are_read() {
    check(
        &[BLOG, "decode", "123_92233704", "123_9223370367001975807", "123"],
        expect![[r#"
        123_92233704: key does not fit: field `at`: needs 19 bytes, 8 are left: at=4
        blogger='123', at=2022-12-01T00:00:00.000Z
        123: key does not fit: field `blogger`: the literal `_` is missing: at=3
        exit status 1
    "#]],
    );
    check(
        &[BLOG, "decode", r"123\q", "123_9223370367001975807"],
        expect![[r#"
        rowhouse: a backslash must begin \xHH with two hex digits: at=3, text=123\q
        exit status 2
    "#]],
    );
}

#[test]
fn a_pipe_goes_through_line_by_line() {
    check_input(
        &[BLOG, "decode"],
        "123_9223370367001975807\r\nnot a key\n\\x\n\n123_9223370364949975807",
        expect![[r#"
            blogger='123', at=2022-12-01T00:00:00.000Z
            not a key: key does not fit: field `blogger`: the literal `_` is missing: at=9
            : key does not fit: a row key is never empty: at=0
            blogger='123', at=2022-12-24T18:00:00.000Z
            rowhouse: line 3: a backslash must begin \xHH with two hex digits: at=0, text=\x
            exit status 1
        "#]],
    );
    check_input(
        &[BLOG, "encode"],
        "blogger=1 2\tat=2022-12-01\nblogger=a_b\tat=0\nat=2022-12-01\tblogger=4\n",
        expect![[r#"
            1 2_9223370367001975807
            4_9223370367001975807
            rowhouse: line 2: field `blogger`: a value cannot hold the literal behind the field, it would end there: value='a_b', literal=_
            exit status 1
        "#]],
    );
    expect![[r#"
        rowhouse: line 1: a line must be UTF-8, other bytes are written \xHH: at=1
        exit status 1
    "#]]
    .assert_eq(&told(&[BLOG, "decode"], b"a\xFF\n"));
}

#[test]
fn values_come_from_json_lines() {
    check_input(
        &[BLOG, "encode", "--jsonl", "-"],
        r#"{"blogger":"分=1\t","at":"2022-12-01"}
{"at":1669852800000,"blogger":"null"}
{"at":{},"blogger":"a"}
{"at":1e3,"blogger":"a"}
{"blogger":"a"
{"blogger":"a","at":null}
{"bloger":"a","at":0}
"#,
        expect![[r#"
            \xE5\x88\x86=1\x09_9223370367001975807
            null_9223370367001975807
            rowhouse: line 3: field `at`: not a value of a field: json={}
            rowhouse: line 4: field `at`: expected a time such as 2022-12-01T08:00:00.000+08:00: offset=4
              1000.0
                  ^
            rowhouse: line 5: expected a JSON object: EOF while parsing an object at line 1 column 14
            rowhouse: line 6: field `at`: has a value always: add null first or null last
            rowhouse: line 7: the key has no field `bloger`; did you mean `blogger`?
            exit status 1
        "#]],
    );
    check_input(
        &["[n u8 null first][b bool][tags repeat(u8 u8)]", "encode", "--jsonl=-", "--hex"],
        r#"{"n":null,"b":true,"tags":[[1,2],[3,4]]}
{"n":5,"b":false,"tags":[]}
{"n":5,"b":false,"tags":[null]}
"#,
        expect![[r#"
            000101020304
            010500
            rowhouse: line 3: field `tags`: not a value of a field: json=null
            exit status 1
        "#]],
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("values");
    std::fs::write(&path, r#"{"id":"a"}"#).unwrap();
    check(
        &["[id text]", "encode", "--jsonl", path.to_str().unwrap()],
        expect![[r#"
        a
    "#]],
    );
    check(
        &["[id text]", "encode", "--jsonl", "no-such-file"],
        expect![[r#"
        rowhouse: cannot open no-such-file: No such file or directory (os error 2)
        exit status 2
    "#]],
    );
    check(
        &["[id text]", "encode", "--jsonl", "-", "id=a"],
        expect![[r#"
        error: the argument '--jsonl <FILE>' cannot be used with '[NAME=VALUE]...'

        Usage: rowhouse key <TEMPLATE> encode --jsonl <FILE> [NAME=VALUE]...

        For more information, try '--help'.
        exit status 2
    "#]],
    );
}

#[test]
fn json_is_one_document_per_line() {
    check(
        &[BLOG, "encode", "--json", "blogger=1\"2", "at=2022-12-01"],
        expect![[r#"
        {"key":"1\"2_9223370367001975807"}
    "#]],
    );
    check(
        &["--json", BLOG, "decode", "1_9223370367001975807", "1_922337036700197580"],
        expect![[r#"
            {"key":"1_9223370367001975807","values":{"blogger":"1","at":"2022-12-01T00:00:00.000Z"},"computed":{}}
            {"key":"1_922337036700197580","misfit":{"at":2,"why":"field `at`: needs 19 bytes, 18 are left"}}
            exit status 1
        "#]],
    );
    check(
        &[
            "[bucket 16 of n as shard][n u64][f f64][b bool][id blob]",
            "decode",
            "--json",
            "--hex",
            "03ffffffffffffffffbff80000000000000100ff0001",
        ],
        expect![[r#"
            {"key":"03ffffffffffffffffbff80000000000000100ff0001","values":{"n":18446744073709551615,"f":1.5,"b":true,"id":"x'00'"},"computed":{"shard":3}}
        "#]],
    );
    check(
        &["[n digits 38]", "decode", "--json", &"9".repeat(38)],
        expect![[r#"
        {"key":"99999999999999999999999999999999999999","values":{"n":"99999999999999999999999999999999999999"},"computed":{}}
    "#]],
    );
}

#[test]
fn requests_that_are_wrong_point_at_the_mistake() {
    check(
        &["[at mills desc]", "decode", "a"],
        expect![[r#"
        rowhouse: unknown type `mills`; did you mean `millis`?: offset=4
          [at mills desc]
              ^
        exit status 2
    "#]],
    );
    check(
        &[BLOG, "encode", "bloger=1", "at=2022-12-01"],
        expect![[r#"
        rowhouse: the key has no field `bloger`; did you mean `blogger`?
        exit status 2
    "#]],
    );
    check(
        &[BLOG, "encode", "blogger=1"],
        expect![[r#"
        rowhouse: field `at`: no value given
        exit status 2
    "#]],
    );
    check(
        &[BLOG, "encode", "blogger=1", "at=2022-13-01"],
        expect![[r#"
        rowhouse: field `at`: expected a month from 01 to 12: offset=5
          2022-13-01
               ^
        exit status 2
    "#]],
    );
    check(
        &[BLOG, "encode", "blogger"],
        expect![[r#"
        rowhouse: expected NAME=VALUE: argument=blogger
        exit status 2
    "#]],
    );
    check(
        &[BLOG, "encode", "blogger=a_b", "at=0"],
        expect![[r#"
        rowhouse: field `blogger`: a value cannot hold the literal behind the field, it would end there: value='a_b', literal=_
        exit status 2
    "#]],
    );
}

#[test]
fn a_plan_tells_ranges_and_what_is_left_to_check() {
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
        residual: metric = 'cpu'
    "#]],
    );
}

#[test]
fn an_explanation_tells_order_and_filters() {
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
        filter: nowhere but in the ranges
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
        {"ranges":[{"start":"\\x00b\\x00\\x01","stop":"\\x01","buckets":[0]},{"start":"\\x01b\\x00\\x01","stop":"\\x02","buckets":[1]}],"exact":true,"residual":null,"candidates":[]}
    "#]],
    );
    check(
        &["[user text][at millis desc]", "explain", "--json", "user = 'bob'"],
        expect![[r#"
        {"ranges":[{"start":"bob","stop":"boc","buckets":[]}],"exact":false,"residual":"user = 'bob'","candidates":[],"order":{"sequence":"as read","fields":[{"name":"user","desc":false,"order":"ordered"},{"name":"at","desc":true,"order":"ordered"}],"complete":true},"fields":[{"name":"user","type":"text","desc":false,"order":"unordered"},{"name":"at","type":"millis","desc":true,"order":"unordered"}]}
    "#]],
    );
    let numbers: Vec<_> = (0..100).map(|n| (2 * n).to_string()).collect();
    let query = format!("n in ({})", numbers.join(", "));
    let many = told(&["[n u16]", "plan", &query], b"");
    assert_eq!(many.lines().count(), 101, "every range, and whether they are exact");
}

#[test]
fn findings_make_the_exit_status() {
    let template = "[at millis digits 13]#[metric text]";
    check(
        &[template, "check"],
        expect![[r#"
        K1 leading time: `at` comes first, so the rows of each moment go to one region: put it behind another field, or a bucket in front
        K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each
        exit status 1
    "#]],
    );
    check(
        &[template, "check", "--deny", "K4,K5"],
        expect![[r#"
        K1 leading time: `at` comes first, so the rows of each moment go to one region: put it behind another field, or a bucket in front
        K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each
    "#]],
    );
    check(
        &[template, "check", "--deny", "K1", "--json"],
        expect![[r#"
        {"rule":"K1","name":"leading time","message":"`at` comes first, so the rows of each moment go to one region: put it behind another field, or a bucket in front","reason":"writes of one moment go to one region, whatever their number"}
        {"rule":"K6","name":"long key","message":"`at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each","reason":"a key is stored with every cell of its row"}
        exit status 1
    "#]],
    );
    check(
        &[template, "check", "--deny", "K0"],
        expect![[r#"
        error: invalid value 'K0' for '--deny <RULE>': no such rule; there are: K1, K2, K3, K4, K5, K6, K7, K8, K9: rule=K0

        For more information, try '--help'.
        exit status 2
    "#]],
    );
    check(
        &["[user string][day date]", "check"],
        expect![[r#"
        K8 keys are not unique: two events of one `user` with the same `day` (in days) are one row; if there can be such, put an id behind it
        exit status 1
    "#]],
    );
}

#[test]
fn a_sample_shows_whether_keys_begin_with_few_values() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sample");
    let file = path.to_str().unwrap();
    let keys: String = (0..100).map(|n| format!("{}_{n:03}\n", ["eu", "us"][n % 2])).collect();
    std::fs::write(&path, keys).unwrap();
    let template = "[country text]_[n digits 3]";
    check(
        &[template, "check", "--deny", "K7", "--sample", file],
        expect![[r#"
        K3 order is not that of the values: `country` stands before `_`: 'user0' comes before 'user', since `0` is less than `_`; use string if that matters
        K6 long key: `n` takes 3 bytes, 2 in binary: 10 MB for ten million rows of one cell each
        K7 few leading values: 100 keys of the sample begin with 2 different values of `country`: that is into how many parts rows are spread; put a bucket in front, or another field first
        exit status 1
    "#]],
    );
    check(
        &[template, "check", "--deny", "K7"],
        expect![[r#"
        K3 order is not that of the values: `country` stands before `_`: 'user0' comes before 'user', since `0` is less than `_`; use string if that matters
        K6 long key: `n` takes 3 bytes, 2 in binary: 10 MB for ten million rows of one cell each
    "#]],
    );
    std::fs::write(&path, "eu_001\nnot a key\n").unwrap();
    let misfits = told(&[template, "check", "--deny", "K7", "--sample", file], b"");
    assert!(
        misfits.ends_with(
            "rowhouse: keys of the sample do not fit the template: keys=2, misfits=1\nexit status 1\n"
        ),
        "{misfits}"
    );
    std::fs::write(&path, "eu_001\n\\q\n").unwrap();
    let wrong = told(&[template, "check", "--sample", file], b"");
    assert!(wrong.contains("sample, line 2: a backslash must begin"), "{wrong}");
    assert!(wrong.ends_with("exit status 2\n"), "{wrong}");
    let missing = told(&[template, "check", "--sample", "no-such-file"], b"");
    assert!(missing.starts_with("rowhouse: cannot read no-such-file: "), "{missing}");
    assert!(missing.ends_with("exit status 2\n"), "{missing}");
}

#[test]
fn splits_are_keys_one_per_line() {
    check(
        &["[phone digits 11 reverse]", "splits", "--regions", "4"],
        expect![[r#"
        25
        5
        75
    "#]],
    );
    check(
        &["[bucket 16 of id][id text]", "splits", "--regions", "3"],
        expect![[r#"
        \x05
        \x0A
    "#]],
    );
    check(
        &["[bucket 16 of id][id text]", "splits", "--hex", "--regions", "3"],
        expect![[r#"
        05
        0a
    "#]],
    );
    check(
        &["[salt 4 a-d]-[id text]", "splits", "--json", "--regions", "2"],
        expect![[r#"
        {"key":"c"}
    "#]],
    );
    check(&["[id hex 4]", "splits", "--regions", "1"], expect![""]);
    check(
        &["[user text]_[at millis]", "splits", "--regions", "4"],
        expect![[r#"
        rowhouse: the template does not say how keys are spread, give the splits themselves: template=[user text]_[at millis]; keys that begin with a bucket, salt, hash, uuid, digits or hex are spread evenly
        exit status 2
    "#]],
    );
    check(
        &["[salt 4 a-d]-[id text]", "splits", "--regions", "5"],
        expect![[r#"
        rowhouse: more regions than the first field of the key has values: regions=5, values=4
        exit status 2
    "#]],
    );
}

#[test]
fn a_reader_that_has_enough_ends_it_quietly() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .args(["key", "[id text]", "decode"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    input.write_all(b"a\n").unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "id='a'\n");
    drop(output);
    let _ = input.write_all(b"b\nc\n");
    drop(input);
    let ended = process.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
    assert!(ended.status.success());
}
