//! Page tokens: where they resume, and which are refused.

use expect_test::{Expect, expect};
use rowhouse_schema::{Direction, KeySchema, Plan, Predicate, TimeZone};

const TEMPLATE: &str = "[bucket 4 of user][user string][n u8]";

fn plan(template: &str, query: &str) -> Plan {
    KeySchema::parse(template).unwrap().plan(&Predicate::parse(query).unwrap()).unwrap()
}

fn key(user: &str, n: u8) -> Vec<u8> {
    let schema = KeySchema::parse(TEMPLATE).unwrap();
    schema.encode(&[("user", user.into()), ("n", n.into())]).unwrap().to_vec()
}

#[test]
fn every_bucket_resumes_after_the_last_logical_key() {
    let plan = plan(TEMPLATE, "user >= 'b'");
    let resume = |direction| {
        let token = plan.page_token(&key("bob", 7), direction).unwrap();
        plan.resume(&token, direction).unwrap().to_string()
    };
    expect![[r#"
        ranges: 4, in 4 streams
          0: [\x00bob\x00\x01\x07\x00, \x01)
          1: [\x01bob\x00\x01\x07\x00, \x02)
          2: [\x02bob\x00\x01\x07, \x03)
          3: [\x03bob\x00\x01\x07, \x04)
        residual: none, the ranges are exact
        order: user ascending, n ascending; merged from the buckets
    "#]]
    .assert_eq(&resume(Direction::Forward));
    expect![[r#"
        ranges: 4, in 4 streams
          0: [\x00b\x00\x01, \x00bob\x00\x01\x07\x00)
          1: [\x01b\x00\x01, \x01bob\x00\x01\x07)
          2: [\x02b\x00\x01, \x02bob\x00\x01\x07)
          3: [\x03b\x00\x01, \x03bob\x00\x01\x07)
        residual: none, the ranges are exact
        order: user ascending, n ascending; merged from the buckets
    "#]]
    .assert_eq(&resume(Direction::Reverse));
}

/// Rows with equal logical keys in several salts come in salt order, so the rows in greater salts
/// still have to be read.
#[test]
fn rows_of_the_same_fields_in_other_salts_are_not_lost() {
    let plan = plan("[salt 3][id text]", "id >= 'b'");
    let token = plan.page_token(b"\x01bob", Direction::Forward).unwrap();
    expect![[r#"
        ranges: 3, in 3 streams
          0: [\x00bob\x00, \x01)
          1: [\x01bob\x00, \x02)
          2: [\x02bob, \x03)
        residual: none, the ranges are exact
        order: id ascending; merged from the buckets
    "#]]
    .assert_eq(&plan.resume(&token, Direction::Forward).unwrap().to_string());
    let token = plan.page_token(b"\x01bob", Direction::Reverse).unwrap();
    expect![[r#"
        ranges: 3, in 3 streams
          0: [\x00b, \x00bob\x00)
          1: [\x01b, \x01bob)
          2: [\x02b, \x02bob)
        residual: none, the ranges are exact
        order: id ascending; merged from the buckets
    "#]]
    .assert_eq(&plan.resume(&token, Direction::Reverse).unwrap().to_string());
}

#[test]
fn tokens_of_something_else_are_refused() {
    let plan_of_bob = plan(TEMPLATE, "user = 'bob'");
    let token = plan_of_bob.page_token(&key("bob", 7), Direction::Forward).unwrap();
    let check = |plan: &Plan, token: &str, direction, expected: Expect| {
        expected.assert_eq(&plan.resume(token, direction).unwrap_err().to_string());
    };
    let forward = Direction::Forward;
    check(
        &plan_of_bob,
        &token,
        Direction::Reverse,
        expect!["the page token is of a read in the other direction"],
    );
    check(
        &plan(TEMPLATE, "user = 'eve'"),
        &token,
        forward,
        expect!["the page token is of another query"],
    );
    let template = "[bucket 8 of user][user string][n u8]";
    check(
        &plan(template, "user = 'bob'"),
        &token,
        forward,
        expect!["the page token is of another template of the key"],
    );
    check(&plan_of_bob, "bob", forward, expect!["the page token is invalid: expected hex digits"]);
    check(&plan_of_bob, "00", forward, expect!["the page token is invalid or damaged"]);
    check(
        &plan_of_bob,
        &token.replace('7', "8"),
        forward,
        expect!["the page token is invalid or damaged"],
    );
    check(
        &plan_of_bob,
        &token[..token.len() - 2],
        forward,
        expect!["the page token is invalid or damaged"],
    );
    expect!["key does not fit: the key ends before its computed field: at=0"]
        .assert_eq(&plan(TEMPLATE, "").page_token(b"", forward).unwrap_err().to_string());
}

#[test]
fn the_same_query_in_another_zone_is_another_one() {
    let schema = KeySchema::parse("[at millis]").unwrap();
    let query = Predicate::parse("at during 2022-12").unwrap();
    let utc = schema.plan(&query).unwrap();
    let beijing = schema.plan_in(&query, &TimeZone::fixed(jiff::tz::offset(8))).unwrap();
    let last = schema.encode(&[("at", "2022-12-05".into())]).unwrap();
    let token = utc.page_token(&last, Direction::Forward).unwrap();
    assert!(utc.resume(&token, Direction::Forward).is_ok());
    assert!(beijing.resume(&token, Direction::Forward).is_err());
}

#[test]
fn no_row_follows_the_last_one() {
    let plan = plan("[id text]", "id between 'a' and 'b'");
    let token = plan.page_token(b"b", Direction::Forward).unwrap();
    assert!(plan.resume(&token, Direction::Forward).unwrap().ranges().is_empty());
    let token = plan.page_token(b"a", Direction::Reverse).unwrap();
    assert!(plan.resume(&token, Direction::Reverse).unwrap().ranges().is_empty());
}
