//! Values that a template refuses, and keys that do not fit it.

use expect_test::{Expect, expect};
use rowhouse_schema::{KeySchema, Value};

#[test]
fn values_are_refused_by_name() {
    let check = |template: &str, value: Value, expected: Expect| {
        let schema = KeySchema::parse(template).unwrap();
        expected.assert_eq(&schema.encode(&[("f", value)]).unwrap_err().to_string());
    };
    check(
        "[f text]_",
        "a_b".into(),
        expect![
            "field `f`: a value cannot contain the literal after the field, it would end there: value='a_b', literal=_"
        ],
    );
    check("[f text]", "".into(), expect!["the values encode to no bytes: min=1"]);
    check(
        "[f text]",
        "a".repeat(32_768).into(),
        expect!["the values encode to too many bytes: len=32768, max=32767"],
    );
    check("[f text]", 7.into(), expect!["field `f`: takes a text, not the number 7"]);
    check(
        "[f millis]",
        (-1).into(),
        expect![
            "field `f`: a time before 1970 cannot be held, use i64 for a number of millis: value=-1, millis=-1"
        ],
    );
    check(
        "[f millis]",
        "1969-12-31".into(),
        expect![
            "field `f`: a time before 1970 cannot be held, use i64 for a number of millis: value=1969-12-31, millis=-86400000"
        ],
    );
    check(
        "[f millis]",
        "2022-12-01T00:00:00.0001".into(),
        expect![
            "field `f`: holds millis, the value is more precise: value=2022-12-01T00:00:00.000100Z"
        ],
    );
    check(
        "[f millis]",
        "yesterday".into(),
        expect![[r#"
        field `f`: expected a year of 4 digits: offset=0
          yesterday
          ^"#]],
    );
    check(
        "[f u8]",
        256.into(),
        expect!["field `f`: value out of range: value=256, min=0, max=255"],
    );
    check("[f u8]", "7".into(), expect!["field `f`: takes a whole number, not the text '7'"]);
    check(
        "[f u16 digits 2]",
        100.into(),
        expect!["field `f`: value out of range: value=100, min=0, max=99"],
    );
    check(
        "[f digits 3]",
        u128::MAX.into(),
        expect![
            "field `f`: value out of range: value=340282366920938463463374607431768211455, min=0, max=999"
        ],
    );
    check(
        "[f text 3]",
        "abcd".into(),
        expect!["field `f`: the value is too long: value='abcd', len=4, max=3"],
    );
    check(
        "[f text 3 pad ~]",
        "a~".into(),
        expect!["field `f`: a value cannot end in the byte it is padded with: value='a~', pad=~"],
    );
    check("[f bytes 3]", vec![1_u8, 2].into(), expect!["field `f`: takes exactly 3 bytes: len=2"]);
    check("[f bytes 3]", "abc".into(), expect!["field `f`: takes bytes, not the text 'abc'"]);
    check(
        "[f hex 4]",
        "AB12".into(),
        expect!["field `f`: expected hex digits, 0-9 and a-f: text='AB12'"],
    );
    check("[f hex 4]", "ab1".into(), expect!["field `f`: takes exactly 4 bytes: len=3"]);
    check("[f uuid]", "67e5".into(), expect!["field `f`: not a uuid: text='67e5'"]);
    check(
        "[f enum(open,closed)]",
        "opne".into(),
        expect!["field `f`: unknown label 'opne'; did you mean 'open'?"],
    );
    check(
        "[f enum(open,closed)]",
        "gone".into(),
        expect!["field `f`: unknown label 'gone'; labels: open, closed"],
    );
    check("[f bool]", 1.into(), expect!["field `f`: takes true or false, not the number 1"]);
    check("[f f64]", f64::NAN.into(), expect!["field `f`: NaN has no order and cannot be stored"]);
    check(
        "[f f32]",
        0.1.into(),
        expect!["field `f`: an f32 cannot hold the value exactly, use f64: value=0.1"],
    );
    check("[f f64]", "x".into(), expect!["field `f`: takes a number, not the text 'x'"]);
    check(
        "[f date]",
        "2022-12-01T08".into(),
        expect!["field `f`: holds days, the value is more precise: value=2022-12-01T08:00:00.000Z"],
    );
    check(
        "[f ymd]",
        "+10000-01-01".into(),
        expect![
            "field `f`: value out of range: value=+10000-01-01, days=2932897, min=-719528, max=2932896"
        ],
    );
    check(
        "[f decimal]",
        (-1).into(),
        expect![
            "field `f`: value out of range: value=-1, min=0, max=99999999999999999999999999999999999999"
        ],
    );
    check("[f u8]", Value::Null, expect!["field `f`: is never null: add null first or null last"]);
    check(
        "[f repeat(u8 u8)]",
        Value::List(vec![7.into()]),
        expect!["field `f`: takes groups of 2 values each, not the number 7"],
    );
    check(
        "[f text md5 4]",
        Value::Hashed(vec![1, 2]),
        expect!["field `f`: takes exactly 4 bytes: len=2"],
    );
    let schema = KeySchema::parse("[user string][n u8]").unwrap();
    expect!["field `n`: no value given"]
        .assert_eq(&schema.encode(&[("user", "a".into())]).unwrap_err().to_string());
    expect!["the key has no field `usr`; did you mean `user`?"]
        .assert_eq(&schema.encode(&[("usr", "a".into())]).unwrap_err().to_string());
    expect!["field `n`: given twice"]
        .assert_eq(&schema.encode(&[("n", 1.into()), ("n", 1.into())]).unwrap_err().to_string());
}

#[test]
fn keys_that_do_not_fit_say_where() {
    let check = |template: &str, key: &[u8], expected: Expect| {
        let schema = KeySchema::parse(template).unwrap();
        expected.assert_eq(&schema.decode(key).unwrap_err().to_string());
    };
    check("[f text]", b"", expect!["key does not fit: it is empty: at=0"]);
    check("[f text]", b"a\xffb", expect!["key does not fit: field `f`: not UTF-8: at=1"]);
    check(
        "[f text]_[n u8]",
        b"abc",
        expect!["key does not fit: field `f`: the literal `_` is missing: at=3"],
    );
    check(
        "[f text]_[n u8]",
        b"abc_",
        expect!["key does not fit: field `n`: needs 1 bytes, 0 are left: at=4"],
    );
    check(
        "[f text]_[n u8]",
        b"abc_de",
        expect!["key does not fit: the key continues after its last field: at=5"],
    );
    check(
        "[f text][n u16]",
        b"a",
        expect!["key does not fit: field `f`: 2 bytes must follow, 1 are left: at=0"],
    );
    check("x-[f string]", b"y-", expect!["key does not fit: expected the literal `x-`: at=0"]);
    check(
        "[f string]",
        b"ab",
        expect!["key does not fit: field `f`: the terminator is missing: at=2"],
    );
    check(
        "[f string]",
        b"ab\0x",
        expect!["key does not fit: field `f`: neither an escaped zero nor a terminator: at=3"],
    );
    check(
        "[f millis]",
        b"\xff\0\0\0\0\0\0\0",
        expect![[
            r#"key does not fit: field `f`: \xFF\x00\x00\x00\x00\x00\x00\x00 is not a value of the field: at=0"#
        ]],
    );
    check(
        "[f digits 3]",
        b"12x",
        expect!["key does not fit: field `f`: 12x is not 3 digits: at=0"],
    );
    check(
        "[f u8 digits]",
        b"300",
        expect!["key does not fit: field `f`: 300 is not a value of the field: at=0"],
    );
    check(
        "[f bool]",
        b"\x02",
        expect![[r#"key does not fit: field `f`: \x02 is not a value of the field: at=0"#]],
    );
    check(
        "[f enum(a,b)]",
        b"\x02",
        expect![[r#"key does not fit: field `f`: \x02 is not a value of the field: at=0"#]],
    );
    check(
        "[f hex 4]",
        b"AB12",
        expect!["key does not fit: field `f`: expected hex digits, 0-9 and a-f: text='AB12': at=0"],
    );
    check(
        "[f bytes 2 hex]",
        b"0aFF",
        expect!["key does not fit: field `f`: 0aFF is not 4 hex digits in lower case: at=0"],
    );
    check(
        "[f ymd]",
        b"20230229",
        expect!["key does not fit: field `f`: 20230229 is not a value of the field: at=0"],
    );
    check(
        "[f f64]",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
        expect![[
            r#"key does not fit: field `f`: \xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF is not a value of the field: at=0"#
        ]],
    );
    check(
        "[f decimal]",
        b"007",
        expect!["key does not fit: field `f`: 007 is not a decimal number: at=0"],
    );
    check(
        "[f seconds 4 floor 1h]",
        b"\0\0\0\x01",
        expect![[
            r#"key does not fit: field `f`: \x00\x00\x00\x01 is not a value of the field: at=0"#
        ]],
    );
    check(
        "[f u8 null first]",
        b"\x02",
        expect![
            "key does not fit: field `f`: neither the marker of null nor that of a value: at=0"
        ],
    );
    check(
        "[f repeat(u8 u8)]",
        b"abc",
        expect!["key does not fit: field `f`: not a multiple of 2 bytes are left: len=3: at=0"],
    );
    check(
        "[bucket 4 of f][f u8]",
        b"\x09\x01",
        expect![[r#"key does not fit: `bucket 4 of f`: \x09 is not a value of the field: at=0"#]],
    );
    check(
        "[bucket 4 of f][f u8]",
        b"\x00\x01",
        expect![[r#"key does not fit: `bucket 4 of f`: found=\x00, computed=\x03: at=0"#]],
    );
    check(
        "[salt 2 ab][f u8]",
        b"c\x01",
        expect!["key does not fit: `salt 2 ab`: c is not a value of the field: at=0"],
    );
}
