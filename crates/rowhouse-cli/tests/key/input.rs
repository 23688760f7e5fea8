//! Tests keys and values from pipes and files.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use expect_test::expect;

use super::{BLOG, check, check_input, run_key};

#[test]
fn a_pipe_goes_through_line_by_line() {
    check_input(
        &[BLOG, "decode"],
        "123_9223370367001975807\r\nnot a key\n\\x\n\n123_9223370364949975807",
        expect![[r#"
            blogger='123', at=2022-12-01T00:00:00.000Z
            not a key: key does not fit: field `blogger`: the literal `_` is missing: at=9
            : key does not fit: it is empty: at=0
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
            rowhouse: line 2: field `blogger`: a value cannot contain the literal after the field, it would end there: value='a_b', literal=_
            exit status 1
        "#]],
    );
    expect![[r#"
        rowhouse: line 1: a line must be UTF-8, other bytes are written \xHH: at=1
        exit status 1
    "#]]
    .assert_eq(&run_key(&[BLOG, "decode"], b"a\xFF\n"));
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
            rowhouse: line 4: field `at`: expected a year of 4 digits: offset=0
              1e+3
              ^
            rowhouse: line 5: expected a JSON object: EOF while parsing an object at line 1 column 14
            rowhouse: line 6: field `at`: is never null: add null first or null last
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

#[test]
fn values_come_from_csv() {
    check_input(
        &[BLOG, "encode", "--csv", "-"],
        "at,blogger\n2022-12-01,123\n2022-12-24T18:00,\"a,\"\"b\"\"\nc\"\n0,a_b\n0\n2022-12-01,4\n",
        expect![[r#"
            123_9223370367001975807
            a,"b"\x0Ac_9223370364949975807
            4_9223370367001975807
            rowhouse: line 5: field `blogger`: a value cannot contain the literal after the field, it would end there: value='a_b', literal=_
            rowhouse: line 6: a record must have as many values as there are names: values=1, names=2
            exit status 1
        "#]],
    );
    check_input(
        &[BLOG, "encode", "--csv", "-"],
        "blogger,bloger,at\n1,2,3\n",
        expect![[r#"
        rowhouse: line 2: the key has no field `bloger`; did you mean `blogger`?
        exit status 1
    "#]],
    );
    check_input(
        &[BLOG, "encode", "--csv", "-", "--json"],
        "blogger,at\r\n1,5\r\n",
        expect![[r#"
        {"key":"1_9223372036854775802"}
    "#]],
    );
    check(
        &[BLOG, "encode", "--csv", "/no/such/file"],
        expect![[r#"
        rowhouse: cannot open /no/such/file: No such file or directory (os error 2)
        exit status 2
    "#]],
    );
    check(
        &[BLOG, "encode", "--csv", "-", "--jsonl", "-"],
        expect![[r#"
        error: the argument '--csv <FILE>' cannot be used with '--jsonl <FILE>'

        Usage: rowhouse key <TEMPLATE> encode --csv <FILE> [NAME=VALUE]...

        For more information, try '--help'.
        exit status 2
    "#]],
    );
}

#[test]
fn a_sample_is_made_of_values_too() {
    let template = "[country string][n u16]";
    let lines: String = (0..100).map(|n| format!("{},{n}\n", ["eu", "us"][n % 2])).collect();
    let csv = format!("country,n\n{lines}");
    check_input(
        &[template, "check", "--deny", "K1", "--csv", "-"],
        &csv,
        expect![[r#"
            K7 few leading values: 100 keys of the sample begin with 2 different values of `country`: if what follows grows, the writes of a moment go to no more regions; put a bucket or another field before it
              measured: three values before a number that grows: new rows in 3 of 16 regions (claim 21)
        "#]],
    );
    let jsonl = "{\"country\":\"eu\",\"n\":70000}\n";
    check_input(
        &[template, "check", "--deny", "K1", "--jsonl", "-"],
        jsonl,
        expect![[r#"
        rowhouse: line 1: field `n`: value out of range: value=70000, min=0, max=65535
        exit status 1
    "#]],
    );
}
