//! Tests encoding and decoding keys in arguments.

use expect_test::expect;

use super::{BLOG, check, run_key};

/// Checks keys from real tables: encoding their fields returns them, decoding returns the fields.
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
            &["followed=alice", "hash(follower)=0x9f9d51bc"],
            "6384e2b29f9d51bc",
            "hash(followed)=0x6384e2b2, hash(follower)=0x9f9d51bc",
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
        let encoded = run_key(&[&[template, "encode"], values].concat(), b"");
        assert_eq!(encoded, format!("{key}\n"), "{template}");
        assert_eq!(run_key(&[template, "decode", key], b""), format!("{read}\n"), "{template}");
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
fn times_are_read_and_printed_in_the_requested_zone() {
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
    let drawn = run_key(&["[salt 4 a-d]-[id text]", "encode", "id=foo0003"], b"");
    let salts = ["a", "b", "c", "d"];
    assert!(salts.iter().any(|salt| drawn == format!("{salt}-foo0003\n")), "{drawn}");
}

#[test]
fn keys_that_do_not_fit_are_reported_with_the_place_and_the_others_are_read() {
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
        rowhouse: field `blogger`: a value cannot contain the literal after the field, it would end there: value='a_b', literal=_
        exit status 2
    "#]],
    );
}

#[test]
fn an_infinite_number_is_text_in_json() {
    check(
        &["[f f64]", "decode", "--json", "--hex", "fff0000000000000"],
        expect![[r#"
        {"key":"fff0000000000000","values":{"f":"inf"},"computed":{}}
    "#]],
    );
}

#[test]
fn a_text_is_never_a_stored_hash_and_decoding_prints_a_stored_hash() {
    let template = "[user text md5 4 hex]";
    let json = run_key(&[template, "decode", "--json", "9f9d51bc"], b"");
    assert_eq!(
        json,
        "{\"key\":\"9f9d51bc\",\"values\":{\"hash(user)\":\"0x9f9d51bc\"},\"computed\":{}}\n"
    );
    let made = |args: &[&str], input: &str| {
        run_key(&[&[template, "encode"], args].concat(), input.as_bytes())
    };
    // MD5 for `0x9f9d51bc`.
    let text = "34500211\n";
    let stored = "9f9d51bc\n";
    assert_eq!(made(&["user=0x9f9d51bc"], ""), text);
    assert_eq!(made(&[], "user=0x9f9d51bc\n"), text);
    assert_eq!(made(&["--csv", "-"], "user\n0x9f9d51bc\n"), text);
    assert_eq!(made(&["--jsonl", "-"], r#"{"user":"0x9f9d51bc"}"#), text);
    assert_eq!(made(&["hash(user)=0x9f9d51bc"], ""), stored);
    assert_eq!(made(&[], "hash(user)=0x9f9d51bc\n"), stored);
    assert_eq!(made(&["--csv", "-"], "hash(user)\n0x9f9d51bc\n"), stored);
    assert_eq!(made(&["--jsonl", "-"], r#"{"hash(user)":"0x9f9d51bc"}"#), stored);
}
