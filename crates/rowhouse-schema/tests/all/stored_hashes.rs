//! A text is always a value, never a stored hash; a stored hash is written `hash(field)`.

use expect_test::{Expect, expect};
use rowhouse_schema::{KeySchema, Predicate, TimeZone, Value};

const ADDRESS: &str = "0x52908400098527886e0f7030069857d2e4169ee7";

fn wallets() -> KeySchema {
    KeySchema::parse("[wallet text sha1 20 hex]").unwrap()
}

#[test]
fn a_value_that_looks_like_a_stored_hash_matches_itself_everywhere() {
    let schema = wallets();
    let by_library = schema.encode(&[("wallet", ADDRESS.into())]).unwrap();
    let by_text = schema.fields()[0].parse_value(ADDRESS).unwrap();
    assert_eq!(schema.encode(&[("wallet", by_text)]).unwrap(), by_library);
    let by_name = schema.parse_value("wallet", ADDRESS, &TimeZone::UTC).unwrap();
    assert_eq!(schema.encode(&[by_name]).unwrap(), by_library);
    let query = Predicate::parse(&format!("wallet = '{ADDRESS}'")).unwrap();
    assert_eq!(schema.plan(&query).unwrap().ranges()[0].start, by_library);
    assert_ne!(by_library[..], ADDRESS.as_bytes()[2..]);
}

#[test]
fn bytes_of_the_length_of_the_hash_are_bytes_everywhere() {
    let schema = KeySchema::parse("[id bytes 4 md5 4]").unwrap();
    let by_library = schema.encode(&[("id", vec![0, 1, 2, 3].into())]).unwrap();
    for text in ["0x00010203", "x'00010203'"] {
        let by_text = schema.fields()[0].parse_value(text).unwrap();
        assert_eq!(schema.encode(&[("id", by_text)]).unwrap(), by_library, "{text}");
        let query = Predicate::parse(&format!("id = {text}")).unwrap();
        assert_eq!(schema.plan(&query).unwrap().ranges()[0].start, by_library, "{text}");
    }
}

#[test]
fn decoded_text_parses_as_the_stored_hash() {
    let schema = wallets();
    let key = schema.encode(&[("wallet", "bob".into())]).unwrap();
    let printed = schema.decode(&key).unwrap().to_string();
    expect!["hash(wallet)=0x48181acd22b3edaebc8a447868a7df7ce629920a"].assert_eq(&printed);
    let (name, text) = printed.split_once('=').unwrap();
    let read = schema.parse_value(name, text, &TimeZone::UTC).unwrap();
    assert!(matches!(read, ("wallet", Value::Hashed(_))));
    assert_eq!(schema.encode(&[read]).unwrap(), key);

    for query in [format!("{name} = {text}"), format!("{name} in ({text})")] {
        let predicate = Predicate::parse(&query).unwrap();
        assert_eq!(predicate.to_string(), query);
        assert_eq!(schema.plan(&predicate).unwrap().ranges()[0].start, key);
    }
    let built = Predicate::all().eq("wallet", Value::Hashed(key_bytes(text)));
    assert_eq!(built.to_string(), format!("{name} = {text}"));
}

fn key_bytes(text: &str) -> Vec<u8> {
    let digits = &text[2..];
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn a_value_and_its_stored_hash_agree_and_others_exclude_each_other() {
    let schema = KeySchema::parse("[user text md5 4]").unwrap();
    let count =
        |query: &str| schema.plan(&Predicate::parse(query).unwrap()).unwrap().ranges().len();
    assert_eq!(count("user = 'bob' and hash(user) = 0x9f9d51bc"), 1);
    assert_eq!(count("hash(user) = 0x9f9d51bc and user = 'bob'"), 1);
    assert_eq!(count("user = 'eve' and hash(user) = 0x9f9d51bc"), 0);
}

#[test]
fn a_field_may_be_called_hash() {
    let schema = KeySchema::parse("[hash u8]").unwrap();
    let plan = schema.plan(&Predicate::parse("hash = 7").unwrap()).unwrap();
    assert_eq!(plan.ranges()[0].start, "\x07");
}

#[test]
fn mistakes_are_reported() {
    let check = |query: &str, expected: Expect| {
        let schema = KeySchema::parse("[user text md5 4][n u8]").unwrap();
        let planned = Predicate::parse(query).and_then(|query| schema.plan(&query));
        expected.assert_eq(&planned.unwrap_err().to_string());
    };
    check(
        "user = 0x9f9d51bc",
        expect![[r#"
        field `user` is text, which needs quotes; write '0x9f9d51bc'; hash(user) = 0x9f9d51bc asks for a stored hash: offset=7
          user = 0x9f9d51bc
                 ^"#]],
    );
    check(
        "hash(n) = 0x00",
        expect![[r#"
        field `n` takes a whole number, not the hash 0x00: offset=10
          hash(n) = 0x00
                    ^"#]],
    );
    check(
        "hash(user) = 0x00",
        expect![[r#"
        field `user` takes exactly 4 bytes: len=1: offset=13
          hash(user) = 0x00
                       ^"#]],
    );
    check(
        "hash(user) = 'bob'",
        expect![[r#"
        expected a stored hash such as 0x00ff: offset=13
          hash(user) = 'bob'
                       ^"#]],
    );
    check(
        "hash(user) > 0x00",
        expect![[r#"
        a stored hash is compared by = or in: offset=0
          hash(user) > 0x00
          ^"#]],
    );
    check(
        "hash(user = 0x00",
        expect![[r#"
        expected `)` after the field: offset=10
          hash(user = 0x00
                    ^"#]],
    );

    let schema = KeySchema::parse("[user text md5 4][n u8]").unwrap();
    let read = |name, text| schema.parse_value(name, text, &TimeZone::UTC).unwrap_err().to_string();
    expect!["field `hash(n)`: keys hold `n` itself, not a hash of it"]
        .assert_eq(&read("hash(n)", "0x00"));
    expect!["field `hash(user)`: takes exactly 4 bytes: len=1"]
        .assert_eq(&read("hash(user)", "0x00"));
    expect!["field `hash(user)`: expected a stored hash such as 0x00ff: text=bob"]
        .assert_eq(&read("hash(user)", "bob"));
    expect!["field `hash(usr)`: the key has no field `usr`; did you mean `user`?"]
        .assert_eq(&read("hash(usr)", "0x00"));

    let mixed = Predicate::all().one_of("user", ["bob".into(), Value::Hashed(vec![0; 4])]);
    expect![
        "field `user` is compared with stored hashes and with values; a list holds one or the other"
    ]
    .assert_eq(&schema.plan(&mixed).unwrap_err().to_string());
}
