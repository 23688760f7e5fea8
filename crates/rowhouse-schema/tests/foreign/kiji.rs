//! Kiji keys: hashes before any key, and formatted keys.

use expect_test::expect;

use crate::golden::{Expectation, Line, check, fields, lines, words};

fn formatted(line: &Line, inside: &str) -> Expectation {
    let (kinds, hash) = inside.split_once(") hash ").unwrap();
    let (len, of) = hash.split_once(" of ").unwrap();
    let kinds: Vec<_> = kinds.split(", ").collect();
    let values = words(&line.value);
    if values.len() < kinds.len() || values.iter().any(|value| value == "null") {
        return Expectation::Outside("no type: components that are left out");
    }
    let types: Vec<_> =
        kinds.iter().map(|kind| format!("kiji.{}", kind.replace("integer", "int"))).collect();
    match of.split(' ').collect::<Vec<_>>()[..] {
        ["1", "only"] => Expectation::As(format!("[a {} md5 {len}]", types[0])),
        [.., "only"] => Expectation::Outside("no form: the hash of several components alone"),
        [count, ..] => {
            let operands = ["a", "b", "c"][..count.parse().unwrap()].join(",");
            Expectation::As(format!("[hash {len} of {operands} by md5]{}", fields(&types)))
        }
        [] => panic!("{of}"),
    }
}

fn expectation(line: &Line) -> Expectation {
    if let Some(inside) = line.kind.strip_prefix("kiji.formatted(") {
        return formatted(line, inside);
    }
    let width = (line.value.len() - 2) / 2;
    match line.kind.split_once(' ') {
        None => Expectation::As("[a blob md5 16]".to_owned()),
        Some(_) if width == 0 => Expectation::Outside("an empty key"),
        Some((_, len)) => Expectation::As(format!("[hash {len} of a by md5][a bytes {width}]")),
    }
}

#[test]
fn keys_are_those_of_kiji() {
    expect![[r#"
        kiji.formatted(integer) hash 2 of 1: 7 the same
        kiji.formatted(long) hash 2 of 1: 6 the same
        kiji.formatted(long, string) hash 2 of 1: 1 the same
        kiji.formatted(string) hash 1 of 1: 1 the same
        kiji.formatted(string) hash 16 of 1: 1 the same
        kiji.formatted(string) hash 2 of 1: 1 refused, as by the original
        kiji.formatted(string) hash 2 of 1: 6 the same
        kiji.formatted(string) hash 4 of 1 only: 1 the same
        kiji.formatted(string, integer, long) hash 2 of 1: 3 no type: components that are left out
        kiji.formatted(string, integer, long) hash 2 of 1: 1 the same
        kiji.formatted(string, integer, long) hash 2 of 2: 1 the same
        kiji.formatted(string, integer, long) hash 2 of 3: 1 the same
        kiji.formatted(string, long) hash 2 of 1: 1 no type: components that are left out
        kiji.formatted(string, long) hash 2 of 1: 1 the same
        kiji.formatted(string, long) hash 2 of 1 nulls from 2: 1 no type: components that are left out
        kiji.formatted(string, long) hash 2 of 2: 1 no type: components that are left out
        kiji.formatted(string, long) hash 2 of 2: 1 the same
        kiji.formatted(string, string) hash 16 of 2 nulls from 2 only: 1 no form: the hash of several components alone
        kiji.formatted(string, string) hash 2 of 1: 1 the same
        kiji.formatted(string, string) hash 2 of 2: 3 the same
        kiji.hash: 8 the same
        kiji.hash_prefix 1: 1 an empty key
        kiji.hash_prefix 1: 7 the same
        kiji.hash_prefix 16: 1 an empty key
        kiji.hash_prefix 16: 7 the same
        kiji.hash_prefix 2: 1 an empty key
        kiji.hash_prefix 2: 7 the same
        kiji.hash_prefix 4: 1 an empty key
        kiji.hash_prefix 4: 7 the same
    "#]].assert_eq(&check(&lines("kiji.txt"), expectation));
}
