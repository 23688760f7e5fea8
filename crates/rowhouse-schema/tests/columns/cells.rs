//! Encoding named values as cells, and decoding.

use expect_test::{Expect, expect};
use rowhouse_model::escape;
use rowhouse_schema::{CellBytes, ColumnSchema, Value};

const COLUMNS: &str = "d:via colour string; d:n count u64; d: raw blob; d:t total u64 digits; \
                       f:[at millis desc][id u32] price f64; g:by_[who text] follows bool";

fn shown(cell: &CellBytes) -> String {
    let CellBytes { family, qualifier, value } = cell;
    format!("{}:{} {}", escape(family), escape(qualifier), escape(value))
}

fn encode(name: &str, value: impl Into<Value>, expected: Expect) {
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let cell = columns.encode(name, value);
    expected.assert_eq(&cell.map_or_else(|error| error.to_string(), |cell| shown(&cell)));
}

#[test]
fn a_value_ends_with_its_cell() {
    encode("colour", "a\0b", expect![[r#"d:via a\x00b"#]]);
    encode("colour", "", expect!["d:via "]);
    encode("raw", vec![0, 1, 255], expect![[r#"d: \x00\x01\xFF"#]]);
    encode("total", 7, expect!["d:t 00000000000000000007"]);
    let columns = ColumnSchema::parse("d:v v phoenix.varchar; d:o o ordered.string").unwrap();
    let bytes = |name| escape(&columns.encode(name, "ab").unwrap().value);
    assert_eq!((bytes("v"), bytes("o")), ("ab".into(), r"4ab\x00".into()));
}

#[test]
fn a_value_that_a_column_cannot_hold_is_refused() {
    encode("colour", 7, expect!["column `colour`: takes a text, not the number 7"]);
    encode(
        "count",
        -1,
        expect!["column `count`: value out of range: value=-1, min=0, max=18446744073709551615"],
    );
    encode(
        "count",
        None::<u64>,
        expect!["column `count`: null is not a value of a column: omit the column, or delete it"],
    );
    encode("cuont", 1, expect!["no column `cuont` is declared; did you mean `count`?"]);
    encode(
        "weight",
        1,
        expect![
            "no column `weight` is declared; declared: colour, count, raw, total, price, follows"
        ],
    );
    encode(
        "price",
        1.0,
        expect![
            "column `price` has many qualifiers, f:[at millis desc][id u32]: choose one by the values of its fields"
        ],
    );
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let with = |name, fields: &[(&str, Value)]| {
        columns.encode_with(name, fields, 1.5).unwrap_err().to_string()
    };
    expect!["column `count` has one qualifier, d:n, without fields"].assert_eq(&with("count", &[]));
    expect!["qualifier of column `price`: field `id`: no value given"]
        .assert_eq(&with("price", &[("at", 1.into())]));
    let tags = ColumnSchema::parse("t:[tag text] tagged u8").unwrap();
    let empty = tags.encode_with("tagged", &[("tag", "".into())], 1).unwrap_err().to_string();
    expect!["qualifier of column `tagged`: the values encode to no bytes: min=1"].assert_eq(&empty);
    expect!["qualifier of `tagged` does not fit: it is empty: at=0"]
        .assert_eq(&tags.decode(b"t", b"", b"1").unwrap_err().to_string());
    expect!["column `follows`: takes true or false, not the number 1.5"]
        .assert_eq(&with("follows", &[("who", "eve".into())]));
}

#[test]
fn a_cell_gives_its_name_and_value_or_why_it_does_not_fit() {
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let check = |family: &[u8], qualifier: &[u8], value: &[u8], expected: Expect| {
        let decoded = columns.decode(family, qualifier, value);
        expected.assert_eq(&decoded.map_or_else(|why| why.to_string(), |cell| cell.to_string()));
        let declared = columns.find(family, qualifier).map(|column| column.name());
        let column = columns.decode(family, qualifier, value).ok().map(|cell| cell.column.name());
        assert!(column.is_none() || column == declared);
    };
    check(b"d", b"via", "grün".as_bytes(), expect!["colour='grün'"]);
    check(b"d", b"via", b"", expect!["colour=''"]);
    check(b"d", b"via", b"\xff", expect!["value of `colour` does not fit: not UTF-8: at=0"]);
    check(b"d", b"", b"\0", expect!["raw=x'00'"]);
    check(
        b"d",
        b"n",
        b"\0\0\0\0\0\0\0\x07\0",
        expect!["value of `count` does not fit: there are bytes after the value: at=8"],
    );
    check(
        b"d",
        b"n",
        b"",
        expect!["value of `count` does not fit: needs 8 bytes, 0 are left: at=0"],
    );
    check(b"e", b"via", b"x", expect!["no column is declared for e:via"]);
    check(b"g", b"by_eve", b"\x01", expect!["follows[who='eve']=true"]);
    check(b"g", b"by_", b"\x00", expect!["follows[who='']=false"]);
    check(b"g", b"by", b"\x00", expect!["no column is declared for g:by"]);
    check(
        b"f",
        &[0x7f, 0xff, 0xfe, 0x7b, 0x35, 0x04, 0x5b, 0xff, 0, 0, 0, 7],
        &[0xbf, 0xf8, 0, 0, 0, 0, 0, 0],
        expect!["price[at=2022-12-01T00:00:00.000Z, id=7]=1.5"],
    );
}
