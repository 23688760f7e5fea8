//! `phoenix.*` against Phoenix: single types, and whole keys.

use expect_test::expect;

use crate::golden::{Expectation, Line, check, fields, lines, words};

/// Returns lines with the empty text as null, as in Phoenix, and times in nanoseconds.
fn phoenix_lines(name: &str) -> Vec<Line> {
    let lines = lines(name).into_iter().map(|line| {
        let mut value = words(&line.value)
            .iter()
            .map(|word| if word == "\"\"" { "null" } else { word })
            .collect::<Vec<_>>()
            .join(", ");
        if line.kind.contains("timestamp") {
            value = nanos(&value);
        }
        Line { value, ..line }
    });
    lines.collect()
}

/// Converts `millis with nanos n`, where n is the nanoseconds in the second, to nanoseconds.
fn nanos(value: &str) -> String {
    let (millis, nanos) = value.split_once(" with nanos ").unwrap_or((value, "0"));
    let millis: i128 = millis.parse().unwrap();
    let nanos: i128 = nanos.parse().unwrap();
    (millis * 1_000_000 + nanos).to_string()
}

fn number(line: &Line) -> f64 {
    line.value.parse().unwrap_or(0.0)
}

/// Single types without separators: a type that ends in one is followed by a field that makes it
/// visible.
fn type_alone(line: &Line) -> Expectation {
    let kind = line.kind.replace("phoenix.int", "phoenix.integer");
    let is_desc = kind.ends_with(" desc");
    let value = line.value.as_str();
    let plain = kind.trim_end_matches(" desc");
    let template = format!("[a {kind}]");
    match plain {
        "phoenix.varbinary" if is_desc => Expectation::Outside("no key has it"),
        "phoenix.varchar" | "phoenix.varbinary" if matches!(value, "null" | "0x") => {
            Expectation::Refused(template, "refused: an empty key")
        }
        "phoenix.varchar" if value.contains("\\x00") => {
            Expectation::Ambiguous(template, "refused: would end at the zero byte")
        }
        _ if value.starts_with("NaN") => Expectation::Refused(template, "refused: NaN"),
        "phoenix.unsigned_double" | "phoenix.unsigned_float" if value == "-0.0" => {
            Expectation::Refused(template, "refused: out of order")
        }
        "phoenix.decimal"
            if matches!(value, "1E-129" | "1E-131") || number(line).abs() >= 1e124 =>
        {
            Expectation::Refused(template, "refused: out of order, or takes a separator's byte")
        }
        // In descending order the key's end retains the separator.
        "phoenix.varchar" | "phoenix.decimal" if is_desc => Expectation::Begins(template),
        _ => Expectation::As(template),
    }
}

#[test]
fn values_are_those_of_phoenix() {
    expect![[r#"
        phoenix.bigint: 25 the same
        phoenix.bigint desc: 25 the same
        phoenix.boolean: 2 the same
        phoenix.boolean desc: 2 the same
        phoenix.date: 8 the same
        phoenix.date desc: 8 the same
        phoenix.decimal: 6 refused: out of order, or takes a separator's byte
        phoenix.decimal: 27 the same
        phoenix.decimal desc: 6 refused: out of order, or takes a separator's byte
        phoenix.decimal desc: 27 the same
        phoenix.double: 2 refused: NaN
        phoenix.double: 13 the same
        phoenix.double desc: 2 refused: NaN
        phoenix.double desc: 13 the same
        phoenix.float: 1 refused: NaN
        phoenix.float: 13 the same
        phoenix.float desc: 1 refused: NaN
        phoenix.float desc: 13 the same
        phoenix.int: 12 the same
        phoenix.int desc: 12 the same
        phoenix.smallint: 7 the same
        phoenix.smallint desc: 7 the same
        phoenix.time: 8 the same
        phoenix.time desc: 8 the same
        phoenix.timestamp: 15 the same
        phoenix.timestamp desc: 15 the same
        phoenix.tinyint: 5 the same
        phoenix.tinyint desc: 5 the same
        phoenix.unsigned_date: 3 refused, as by the original
        phoenix.unsigned_date: 5 the same
        phoenix.unsigned_date desc: 3 refused, as by the original
        phoenix.unsigned_date desc: 5 the same
        phoenix.unsigned_double: 1 refused, as by the original
        phoenix.unsigned_double: 1 refused: NaN
        phoenix.unsigned_double: 1 refused: out of order
        phoenix.unsigned_double: 4 the same
        phoenix.unsigned_double desc: 1 refused, as by the original
        phoenix.unsigned_double desc: 1 refused: NaN
        phoenix.unsigned_double desc: 1 refused: out of order
        phoenix.unsigned_double desc: 4 the same
        phoenix.unsigned_float: 1 refused, as by the original
        phoenix.unsigned_float: 1 refused: NaN
        phoenix.unsigned_float: 1 refused: out of order
        phoenix.unsigned_float: 4 the same
        phoenix.unsigned_float desc: 1 refused, as by the original
        phoenix.unsigned_float desc: 1 refused: NaN
        phoenix.unsigned_float desc: 1 refused: out of order
        phoenix.unsigned_float desc: 4 the same
        phoenix.unsigned_int: 1 refused, as by the original
        phoenix.unsigned_int: 5 the same
        phoenix.unsigned_int desc: 1 refused, as by the original
        phoenix.unsigned_int desc: 5 the same
        phoenix.unsigned_long: 1 refused, as by the original
        phoenix.unsigned_long: 7 the same
        phoenix.unsigned_long desc: 1 refused, as by the original
        phoenix.unsigned_long desc: 7 the same
        phoenix.unsigned_smallint: 2 refused, as by the original
        phoenix.unsigned_smallint: 5 the same
        phoenix.unsigned_smallint desc: 2 refused, as by the original
        phoenix.unsigned_smallint desc: 5 the same
        phoenix.unsigned_time: 3 refused, as by the original
        phoenix.unsigned_time: 5 the same
        phoenix.unsigned_time desc: 3 refused, as by the original
        phoenix.unsigned_time desc: 5 the same
        phoenix.unsigned_timestamp: 3 refused, as by the original
        phoenix.unsigned_timestamp: 5 the same
        phoenix.unsigned_timestamp desc: 3 refused, as by the original
        phoenix.unsigned_timestamp desc: 5 the same
        phoenix.unsigned_tinyint: 2 refused, as by the original
        phoenix.unsigned_tinyint: 3 the same
        phoenix.unsigned_tinyint desc: 2 refused, as by the original
        phoenix.unsigned_tinyint desc: 3 the same
        phoenix.varbinary: 1 refused: an empty key
        phoenix.varbinary: 13 the same
        phoenix.varbinary desc: 14 no key has it
        phoenix.varchar: 1 refused: an empty key
        phoenix.varchar: 4 refused: would end at the zero byte
        phoenix.varchar: 10 the same
        phoenix.varchar desc: 1 refused: an empty key
        phoenix.varchar desc: 4 refused: would end at the zero byte
        phoenix.varchar desc: 10 the same
    "#]]
    .assert_eq(&check(&phoenix_lines("phoenix-types.txt"), type_alone));
}

/// Returns the template for `phoenix(varchar desc, bigint) salt_buckets = 4`.
fn whole_key(line: &Line) -> Expectation {
    let Some(inside) = line.kind.strip_prefix("phoenix(") else {
        return Expectation::Outside(
            "no key; of the separators, those of tables that are optimizable",
        );
    };
    let close = inside.rfind(')').unwrap();
    let salt = match inside[close..].split_once("salt_buckets = ") {
        Some((_, count)) => format!("[bucket {count} by phoenix.salt]"),
        None => String::new(),
    };
    let inside = inside.replace("(4)", " 4");
    let columns: Vec<_> = inside[..inside.rfind(')').unwrap()].split(", ").collect();
    let words = words(&line.value);
    let field = |(column, word): (&&str, &String)| {
        // In Phoenix, only columns with variable width can be null.
        let nullable = if word == "null" { " null first" } else { "" };
        format!("phoenix.{column}{nullable}")
    };
    let types: Vec<_> = columns.iter().zip(&words).map(field).collect();
    let template = salt + &fields(&types);
    let is = |value: &str| line.value == value;
    match inside.as_str() {
        _ if line.key.is_none() => Expectation::As(template),
        _ if line.value.contains("\\x00") => {
            Expectation::Ambiguous(template, "refused: would end at the zero byte")
        }
        "char 4, integer)" if is("\"a \", 7") => {
            Expectation::Ambiguous(template, "refused: a blank at the end is lost")
        }
        "binary 4, integer)" if is("0x0102, 7") => {
            Expectation::Ambiguous(template, "refused: to be padded by who gives it")
        }
        _ => Expectation::As(template),
    }
}

#[test]
fn keys_are_those_of_phoenix() {
    expect![[r#"
        phoenix separator: 8 no key; of the separators, those of tables that are optimizable
        phoenix(bigint desc, varchar desc): 1 the same
        phoenix(bigint) salt_buckets = 1: 7 the same
        phoenix(bigint) salt_buckets = 16: 7 the same
        phoenix(bigint) salt_buckets = 256: 7 the same
        phoenix(bigint) salt_buckets = 4: 7 the same
        phoenix(bigint) salt_buckets = 7: 7 the same
        phoenix(bigint, varchar desc): 1 refused, as by the original
        phoenix(bigint, varchar): 1 refused, as by the original
        phoenix(bigint, varchar): 1 the same
        phoenix(binary(4), integer): 1 refused, as by the original
        phoenix(binary(4), integer): 1 refused: to be padded by who gives it
        phoenix(char(4) desc, integer): 1 the same
        phoenix(char(4), integer): 3 refused, as by the original
        phoenix(char(4), integer): 1 refused: a blank at the end is lost
        phoenix(char(4), integer): 1 the same
        phoenix(decimal desc): 1 the same
        phoenix(decimal desc, varchar): 2 the same
        phoenix(decimal, varchar): 2 the same
        phoenix(integer, unsigned_int, integer desc): 1 the same
        phoenix(varbinary): 1 the same
        phoenix(varbinary, varchar): 1 refused, as by the original
        phoenix(varchar desc): 1 refused: would end at the zero byte
        phoenix(varchar desc): 4 the same
        phoenix(varchar desc, bigint desc): 1 the same
        phoenix(varchar desc, bigint desc) salt_buckets = 16: 1 the same
        phoenix(varchar desc, bigint): 1 refused, as by the original
        phoenix(varchar desc, bigint): 2 the same
        phoenix(varchar desc, unsigned_long desc): 1 the same
        phoenix(varchar desc, unsigned_long): 1 refused, as by the original
        phoenix(varchar desc, varchar desc): 1 refused, as by the original
        phoenix(varchar desc, varchar desc): 6 the same
        phoenix(varchar desc, varchar desc, varchar desc): 4 the same
        phoenix(varchar desc, varchar): 3 the same
        phoenix(varchar desc, varchar, varchar desc): 1 the same
        phoenix(varchar): 1 refused: would end at the zero byte
        phoenix(varchar): 4 the same
        phoenix(varchar) salt_buckets = 1: 1 refused, as by the original
        phoenix(varchar) salt_buckets = 1: 10 the same
        phoenix(varchar) salt_buckets = 16: 1 refused, as by the original
        phoenix(varchar) salt_buckets = 16: 10 the same
        phoenix(varchar) salt_buckets = 256: 1 refused, as by the original
        phoenix(varchar) salt_buckets = 256: 10 the same
        phoenix(varchar) salt_buckets = 257: 1 refused, as by the original
        phoenix(varchar) salt_buckets = 4: 1 refused, as by the original
        phoenix(varchar) salt_buckets = 4: 10 the same
        phoenix(varchar) salt_buckets = 7: 1 refused, as by the original
        phoenix(varchar) salt_buckets = 7: 10 the same
        phoenix(varchar, bigint desc): 1 the same
        phoenix(varchar, bigint desc) salt_buckets = 16: 1 the same
        phoenix(varchar, bigint): 1 refused, as by the original
        phoenix(varchar, bigint): 2 the same
        phoenix(varchar, decimal desc): 1 the same
        phoenix(varchar, decimal): 1 the same
        phoenix(varchar, unsigned_long desc): 1 the same
        phoenix(varchar, unsigned_long): 1 refused, as by the original
        phoenix(varchar, varbinary desc): 1 refused, as by the original
        phoenix(varchar, varbinary): 1 the same
        phoenix(varchar, varchar desc): 4 the same
        phoenix(varchar, varchar desc, bigint): 1 the same
        phoenix(varchar, varchar desc, varchar): 1 the same
        phoenix(varchar, varchar): 1 refused, as by the original
        phoenix(varchar, varchar): 6 the same
        phoenix(varchar, varchar) salt_buckets = 16: 1 the same
        phoenix(varchar, varchar, bigint): 1 the same
        phoenix(varchar, varchar, varchar): 4 the same
    "#]]
    .assert_eq(&check(&phoenix_lines("phoenix-keys.txt"), whole_key));
}
