//! Native and Java hashes, against the libraries that other systems use, stored before their
//! operands.

use expect_test::expect;

use crate::golden::{Expectation, Line, check, lines};

fn expectation(line: &Line) -> Expectation {
    let (hash, of) = line.kind.split_once(' ').unwrap_or((&line.kind, "bytes"));
    let len = line.key.as_ref().unwrap().len();
    let field = match of {
        "string" => "string",
        "long" => "java.long",
        _ => "blob",
    };
    Expectation::Begins(format!("[hash {len} of a by {hash}][a {field}]"))
}

#[test]
fn hashes_are_those_of_the_libraries() {
    expect![[r#"
        crc32: 17 the same
        java.hashcode bytes (hbase Bytes): 5 the same
        java.hashcode bytes (java.util.Arrays): 5 the same
        java.hashcode long: 25 the same
        java.hashcode string: 14 the same
        md5: 17 the same
        murmur3: 17 the same
        sha1: 17 the same
        sha256: 17 the same
        xxh3: 17 the same
    "#]]
    .assert_eq(&check(&lines("hashes.txt"), expectation));
}
