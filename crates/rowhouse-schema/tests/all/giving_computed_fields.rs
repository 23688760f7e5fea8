//! Values that may be given for computed fields, and those that are refused.

use expect_test::{Expect, expect};
use rowhouse_model::escape;
use rowhouse_schema::{KeySchema, Value};

fn check<const N: usize>(template: &str, values: [(&str, Value); N], expected: Expect) {
    let key = KeySchema::parse(template).unwrap().encode(&values);
    expected.assert_eq(&key.map_or_else(|error| error.to_string(), |key| escape(&key)));
}

#[test]
fn a_bucket_that_is_given_must_be_the_one_that_is_computed() {
    let template = "[bucket 16 of user as shard]-[user text]";
    let user = || ("user", Value::from("bob"));
    check(template, [user()], expect![[r#"\x05-bob"#]]);
    check(template, [("shard", 5.into()), user()], expect![[r#"\x05-bob"#]]);
    check(
        template,
        [("shard", 6.into()), user()],
        expect![[
            r#"`bucket 16 of user as shard`: the given value is not the computed one: given=6, computed=\x05"#
        ]],
    );
    check(
        template,
        [("shard", 16.into()), user()],
        expect!["`bucket 16 of user as shard`: value out of range: value=16, min=0, max=15"],
    );
    check(template, [("shard", 5.into())], expect!["field `user`: no value given"]);
}

#[test]
fn a_bucket_of_a_field_given_by_hash_has_to_be_named() {
    let template = "[bucket 16 of user as shard]-[user text md5 2 hex]";
    let user = || ("user", Value::Hashed(vec![0x9F, 0x9D]));
    check(
        template,
        [user()],
        expect![
            "`bucket 16 of user as shard`: cannot be computed from `user`: a hash is given, but the value is needed"
        ],
    );
    check(template, [("shard", 5.into()), user()], expect![[r#"\x05-9f9d"#]]);
    check(template, [("user", "bob".into())], expect![[r#"\x05-9f9d"#]]);
}

/// The key loses the minute, but keeps the bucket that was computed from it.
#[test]
fn decoded_values_retain_the_bucket_of_a_lossy_field() {
    let schema = KeySchema::parse("[bucket 16 of at][at seconds 4 floor 1h]").unwrap();
    let minute = |text: &str| schema.encode(&[("at", text.into())]).unwrap();
    let first = minute("2022-12-01T08:25");
    let second = minute("2022-12-01T08:26");
    assert_ne!(first[0], second[0]);
    assert_eq!(first[1..], second[1..]);
    for key in [first, second] {
        assert_eq!(schema.decode(&key).unwrap().encode().unwrap(), key);
        assert_eq!(schema.encode(&schema.decode(&key).unwrap()).unwrap(), key);
    }
}

#[test]
fn values_of_another_template_bring_no_bucket_along() {
    let four = KeySchema::parse("[bucket 4 of n][n u32 floor 10]").unwrap();
    let many = KeySchema::parse("[bucket 400 of n][n u32 floor 10]").unwrap();
    let values = four.decode(&four.encode(&[("n", 17.into())]).unwrap()).unwrap();
    assert_eq!(many.encode(&values).unwrap(), many.encode(&[("n", 10.into())]).unwrap());
}

#[test]
fn a_salt_is_given_by_name_or_by_chance() {
    check(
        "[salt 300 as shard][id text]",
        [("id", "a".into())],
        expect![
            "`salt 300 as shard`: no salt given: name it (`as shard`) and give it, or use a random one"
        ],
    );
    check(
        "[salt 300 as shard][id text]",
        [("shard", 299.into()), ("id", "a".into())],
        expect![[r#"\x01+a"#]],
    );
    check(
        "[salt 300 as shard][id text]",
        [("shard", 300.into()), ("id", "a".into())],
        expect!["`salt 300 as shard`: value out of range: value=300, min=0, max=299"],
    );
    check(
        "[salt 2 ab as shard][id text]",
        [("shard", "c".into()), ("id", "a".into())],
        expect!["`salt 2 ab as shard`: unknown label 'c'; labels: a, b"],
    );

    let schema = KeySchema::parse("[salt 2 ab][salt 3][id text]").unwrap();
    let id = [("id", Value::from("x"))];
    let all: Vec<_> = schema.encode_all(&id).unwrap().iter().map(|key| escape(key)).collect();
    assert_eq!(all, [r"a\x00x", r"a\x01x", r"a\x02x", r"b\x00x", r"b\x01x", r"b\x02x"]);
    let chance: std::collections::BTreeSet<_> =
        (0..100).map(|random| schema.encode_salted(&id, random).unwrap()).collect();
    assert_eq!(chance.len(), 6);
    assert!(schema.encode_salted(&id, u64::MAX).is_ok());

    let many =
        KeySchema::parse("[salt 60000][salt 60000][salt 60000][salt 60000][salt 60000][id text]");
    expect!["too many salts for a key with each: keys=18446744073709551615, max=65536"]
        .assert_eq(&many.unwrap().encode_all(&id).unwrap_err().to_string());
}
