//! Filters return the verdicts that HBase's own classes return, recorded by `compat/filters.sh`.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read fails the test")]

mod driver;

use bytes::Bytes;
use driver::Driver;
use prost::Message;
use rowhouse_filter::with_java_flags;
use rowhouse_format::convert::filter;
use rowhouse_format::proto;
use rowhouse_model::{Cell, ErrorKind, Filter, Key};

const ANSWERS: &str = include_str!("../golden/filter-answers.txt");
const TEXTS: &str = include_str!("../golden/filter-texts.txt");

/// Texts that HBase parses differently. HBase's parser misparses an OR followed by an AND in
/// parentheses, does not accept tabs around operators and between arguments, and does not notice a
/// missing closing parenthesis at the end. This parser accepts the first three and rejects the
/// last.
const READ_OTHERWISE: [&str; 4] = [
    "(PageFilter(1) OR PageFilter(2) AND PageFilter(3))",
    "PageFilter(1)\tAND PageFilter(2)",
    "TimestampsFilter(1 2\t3)",
    "(PageFilter(1)",
];

#[test]
fn random_filters_answer_as_hbases_do() {
    let mut cells: Vec<Cell> = Vec::new();
    let mut filter = None;
    let mut checked = 0;
    let mut differences = Vec::new();
    for line in ANSWERS.lines().filter(|line| !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "table" => cells.clear(),
            "cell" => cells.push(cell(rest)),
            "filter" => {
                let read = filter_of(rest).unwrap();
                let written = describe(&filter::to_proto(&read));
                assert_eq!(written, rest, "{read}");
                filter = Some(read);
            }
            "says" => {
                let filter = filter.take().unwrap();
                let (expected, throws) = match rest.split_once(" !") {
                    Some((before, _)) => (before, true),
                    None => (rest, false),
                };
                let actual = Driver::new(&filter, &cells).run();
                // If HBase throws, compare only the output before the exception.
                let agrees = if throws { actual.starts_with(expected) } else { actual == expected };
                if !agrees {
                    differences.push(format!("{filter}\n  HBase {expected}\n  here  {actual}"));
                }
                checked += 1;
            }
            other => panic!("unknown line: {other}"),
        }
    }
    let count = differences.len();
    differences.truncate(8);
    assert!(count == 0, "{count} of {checked} differ:\n{}", differences.join("\n"));
    assert!(checked > 1_000, "{checked}");
}

#[test]
fn texts_are_the_filters_that_hbase_reads() {
    let mut differences = Vec::new();
    for line in TEXTS.lines().filter(|line| !line.starts_with('#')) {
        let (text, expected) = line.split_once(' ').unwrap();
        let text = hex(text);
        let expected = expected.split_once(" # ").unwrap().0;
        let actual = match Filter::parse(&text).and_then(with_java_flags) {
            Ok(filter) => {
                let printed = filter.to_string();
                assert_eq!(Filter::parse(&printed).unwrap(), filter, "{printed}");
                describe(&filter::to_proto(&filter))
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidRequest);
                "refused".into()
            }
        };
        let text = String::from_utf8(text.to_vec()).unwrap();
        let is_known = READ_OTHERWISE.contains(&&text[..]);
        if (actual != expected) != is_known {
            differences.push(format!("{text}\n  HBase {expected}\n  here  {actual}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns a filter's class and bytes in the recorded format.
fn describe(message: &proto::Filter) -> String {
    let class = message.name.rsplit('.').next().unwrap();
    let bytes = message.serialized_filter.clone().unwrap_or_default();
    let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{class} {bytes}")
}

fn filter_of(described: &str) -> rowhouse_model::Result<Filter> {
    let (class, bytes) = described.split_once(' ').unwrap();
    let message = proto::Filter {
        name: format!("org.apache.hadoop.hbase.filter.{class}"),
        serialized_filter: Some(hex(bytes)),
    };
    let message = proto::Filter::decode(&message.encode_to_vec()[..]).unwrap();
    filter::from_proto(message)
}

/// Parses `row.family.qualifier.timestamp.kind value`, with bytes in hex.
fn cell(line: &str) -> Cell {
    let (place, value) = line.split_once(' ').unwrap();
    let parts: Vec<_> = place.split('.').collect();
    let [row, family, qualifier] = [0, 1, 2].map(|at| hex(parts[at]));
    let key = Key {
        row: &row,
        family: &family,
        qualifier: &qualifier,
        timestamp: parts[3].parse().unwrap(),
        kind: parts[4].parse().unwrap(),
    };
    Cell::from_parts(key, &hex(value), &[]).unwrap()
}

fn hex(text: &str) -> Bytes {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}
