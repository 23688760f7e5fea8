//! `hbasewd.hash` against HBaseWD.

use expect_test::expect;

use crate::golden::{Expectation, Line, check, lines};

fn expectation(line: &Line) -> Expectation {
    let count = line.kind.split_once(' ').unwrap().1;
    match line.value.as_str() {
        _ if line.kind.starts_with("hbasewd.one") => Expectation::Outside("a call counted: a salt"),
        // `blob` has a terminator, but HBaseWD prefixes arbitrary keys.
        "0x" => Expectation::Outside("an empty key"),
        value => {
            let width = (value.len() - 2) / 2;
            Expectation::As(format!("[bucket {count} by hbasewd.hash][a bytes {width}]"))
        }
    }
}

#[test]
fn prefixes_are_those_of_the_hash_distributor() {
    expect![[r#"
        hbasewd.hash 0: 1 refused, as by the original
        hbasewd.hash 1: 1 an empty key
        hbasewd.hash 1: 13 the same
        hbasewd.hash 16: 1 an empty key
        hbasewd.hash 16: 13 the same
        hbasewd.hash 200: 1 an empty key
        hbasewd.hash 200: 13 the same
        hbasewd.hash 256: 1 an empty key
        hbasewd.hash 256: 13 the same
        hbasewd.hash 257: 1 refused, as by the original
        hbasewd.hash 4: 1 an empty key
        hbasewd.hash 4: 13 the same
        hbasewd.hash 7: 1 an empty key
        hbasewd.hash 7: 13 the same
        hbasewd.one 3: 5 a call counted: a salt
    "#]]
    .assert_eq(&check(&lines("hbasewd.txt"), expectation));
}
