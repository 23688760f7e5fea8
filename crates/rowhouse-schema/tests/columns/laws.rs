//! Properties that declared columns have, over random declarations, values and bytes.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rowhouse_schema::{CellBytes, ColumnSchema, Value};

/// Types, each with values that it holds.
const TYPES: &[(&str, &[&str])] = &[
    ("string", &["", "a", "grün\0"]),
    ("text", &["", "a;b [c]"]),
    (r"text 3 pad \x3B", &["", "a", "abc"]),
    (r"text 3 pad \x28", &["", "a", "abc"]),
    (r"text 3 pad \x29", &["", "a", "abc"]),
    ("blob", &["0x", "0x00ff01"]),
    ("bytes 2", &["0x00ff"]),
    ("uuid", &["67e55044-10b1-426f-9247-bb680e5fe0c8"]),
    ("uuid hex", &["67e55044-10b1-426f-9247-bb680e5fe0c8"]),
    ("hex 4 upper", &["00AF"]),
    ("u8", &["0", "255"]),
    ("u24 hex", &["0", "16777215"]),
    ("i64", &["-9223372036854775808", "-1", "0", "9223372036854775807"]),
    ("u64 digits", &["0", "18446744073709551615"]),
    ("digits 3", &["0", "999"]),
    ("decimal", &["0", "10", "99999999999999999999999999999999999999"]),
    ("f32", &["-0.0", "1.5"]),
    ("f64", &["-1e300", "0"]),
    ("bool", &["true", "false"]),
    ("enum(a;b,c=9)", &["a;b", "c"]),
    ("millis", &["2022-12-24T18:00:00.123", "0"]),
    ("seconds 4", &["2022-12-24T18:00:00"]),
    ("date", &["1969-12-31"]),
    ("ymdhm", &["2022-12-24T18:00"]),
    ("domain", &["www.example.com", ""]),
    ("java.long", &["-9223372036854775808", "-1", "7"]),
    ("phoenix.varchar", &["a", "grün"]),
    ("phoenix.decimal", &["-1.5", "1000"]),
    ("ordered.string", &["", "a"]),
    ("tuple.int", &["-256", "0", "65536"]),
];

/// Qualifiers; no two in the same row of families conflict. `N` is a number.
const QUALIFIERS: &[&str] = &[
    "qN",
    "a;N",
    r"\x00N",
    "éN",
    "N_[x text]",
    "N[x u32][y millis desc]",
    r"N\[[s string]",
    "N([t u8])",
];

fn declarations() -> impl Strategy<Value = String> {
    let one = (select(QUALIFIERS), select(TYPES), select(&["; ", "\n", " ;\t", "\r\n\r\n"][..]));
    prop::collection::vec(one, 1..5).prop_map(|declared| {
        let declared = declared.iter().enumerate().map(|(nth, (qualifier, (of, _), separator))| {
            format!("f{nth}:{} c{nth}  {of}{separator}", qualifier.replace('N', &nth.to_string()))
        });
        declared.collect()
    })
}

/// Returns a text with some characters removed, doubled, or replaced.
fn mutated(text: &str, changes: &[(Index, u8, char)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (at, how, other) in changes.iter().filter(|_| !text.is_empty()) {
        if chars.is_empty() {
            break;
        }
        let at = at.index(chars.len());
        match how % 4 {
            0 => drop(chars.remove(at)),
            1 => chars.insert(at, chars[at]),
            2 => chars[at] = *other,
            _ => chars.truncate(at),
        }
    }
    chars.into_iter().collect()
}

fn changes() -> impl Strategy<Value = Vec<(Index, u8, char)>> {
    let others = "[]();: \n\\x_é\u{3000}d9'".chars().collect::<Vec<_>>();
    prop::collection::vec((any::<Index>(), any::<u8>(), select(others)), 1..6)
}

fn encoded_again(columns: &ColumnSchema, cell: &CellBytes) -> Option<CellBytes> {
    let named = columns.decode(&cell.family, &cell.qualifier, &cell.value).ok()?;
    let column = columns.find(&cell.family, &cell.qualifier).unwrap();
    assert_eq!(column, named.column);
    let name = named.column.name();
    let cell = match &named.fields {
        None => columns.encode(name, named.value),
        Some(fields) => columns.encode_with(name, fields, named.value),
    };
    Some(cell.unwrap())
}

proptest! {
    #[test]
    fn printed_declarations_parse_as_the_same_columns(text in declarations()) {
        let columns = ColumnSchema::parse(&text).unwrap();
        let printed = columns.to_string();
        prop_assert_eq!(&ColumnSchema::parse(&printed).unwrap(), &columns);
        prop_assert_eq!(&ColumnSchema::parse(&printed).unwrap().to_string(), &printed);
        let stored = ColumnSchema::from_stored(&columns.to_stored()).unwrap();
        prop_assert_eq!(stored.fingerprint(), columns.fingerprint());
    }

    #[test]
    fn a_declaration_with_mistakes_is_read_or_refused_at_a_place_in_it(
        text in declarations(),
        changes in changes(),
    ) {
        let text = mutated(&text, &changes);
        match ColumnSchema::parse(&text) {
            Ok(columns) => {
                let printed = columns.to_string();
                let read = ColumnSchema::parse(&printed);
                prop_assert_eq!(&read.unwrap().to_string(), &printed);
            }
            Err(error) => prop_assert!(error.message().contains("offset="), "{}", error),
        }
    }

    #[test]
    fn a_value_that_is_encoded_comes_back(
        (of, values) in select(TYPES),
        value in any::<Index>(),
        x in "[a-c]{0,3}",
        y in 0..u64::from(u32::MAX),
    ) {
        let text = format!("d:q one {of}; e:_[x text]!!!![y u40] many {of}");
        let columns = ColumnSchema::parse(&text).unwrap();
        let value = columns.column("one").unwrap().parse_value(values[value.index(values.len())]).unwrap();
        let one = columns.encode("one", value.clone()).unwrap();
        let fields: [(&str, Value); 2] = [("x", x.into()), ("y", y.into())];
        let many = columns.encode_with("many", &fields, value).unwrap();
        prop_assert_eq!(&one.value, &many.value);
        prop_assert_eq!(encoded_again(&columns, &one), Some(one));
        prop_assert_eq!(encoded_again(&columns, &many), Some(many));
    }

    #[test]
    fn bytes_that_fit_are_those_of_the_value_they_give(
        text in declarations(),
        family in 0..5_usize,
        qualifier in prop::collection::vec(select(&b"0123q_;a[(\xc3\xa9\x00\x01\xff"[..]), 0..14),
        value in prop::collection::vec(select(&b"019aAf.-\x00\x01\x7f\x80\xff\xc3\xbc"[..]), 0..18),
    ) {
        let columns = ColumnSchema::parse(&text).unwrap();
        let family = format!("f{family}").into();
        let cell = CellBytes { family, qualifier: qualifier.into(), value: value.into() };
        if let Some(again) = encoded_again(&columns, &cell) {
            prop_assert_eq!(&again, &cell);
        }
        for column in columns.columns() {
            if let Ok(decoded) = column.decode_value(&cell.value) {
                prop_assert_eq!(&column.encode_value(&decoded).unwrap(), &cell.value);
            }
        }
    }
}
