//! What is said about a template before it is used.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use expect_test::{Expect, expect};
use rowhouse_schema::{KeySchema, Rule};

#[track_caller]
fn check(template: &str, expected: Expect) {
    let findings = KeySchema::parse(template).unwrap().check();
    let lines: Vec<_> = findings.iter().map(|finding| finding.to_string()).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn each_rule_has_a_template_it_warns_of() {
    check(
        "[at millis digits 13]#[metric text]",
        expect![[r#"
        K1 leading time: `at` comes first, so the rows of each moment go to one region: put it behind another field, or a bucket in front
        K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each"#]],
    );
    check(
        "[id u64][n u8]",
        expect![
            "K2 leading sequence: `id` comes first; if it counts up, new rows all go to one region: reverse it, hash it, or put a bucket in front"
        ],
    );
    check(
        "[user text]_[id uuid]",
        expect![
            "K3 order is not that of the values: `user` stands before `_`: 'user0' comes before 'user', since `0` is less than `_`; use string if that matters"
        ],
    );
    check(
        "[user text 8 pad ~][id uuid]",
        expect![
            "K3 order is not that of the values: `user` is padded with `~`: a value with a lesser character behind comes first; pad with zeros if that matters"
        ],
    );
    check(
        "[user string][n decimal]",
        expect![
            "K3 order is not that of the values: `n` is text: 10 comes before 9; use digits N if that matters"
        ],
    );
    check(
        "[user text][at millis desc][id uuid]",
        expect![
            "K4 no delimiter: `user` ends 24 bytes before the end of the key and has no order of its own; where one value begins another, a scan of the shorter meets rows of the longer: use string, or a literal behind it"
        ],
    );
    check(
        "[salt 4 a-d]-[id text]",
        expect![
            "K5 random salt: `salt 4 a-d` is random: a get by the other fields asks for 4 keys, and the same fields may make several rows; use bucket where rows are read by their key"
        ],
    );
    check(
        "[user string][at millis desc]",
        expect![
            "K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it"
        ],
    );
    check(
        "[followed text md5 4 hex][id hex 32]",
        expect![[r#"
        K6 long key: `followed` takes 8 bytes, 4 without hex: 40 MB for ten million rows of one cell each
        K6 long key: `id` takes 32 bytes, 16 as bytes N: 160 MB for ten million rows of one cell each"#]],
    );
    check(
        "[bucket 1 of user][user string]",
        expect!["K9 number of buckets: `bucket 1 of user` spreads nothing: there is one"],
    );
    check(
        "[bucket 1000 of user][user string]",
        expect![
            "K9 number of buckets: `bucket 1000 of user`: a scan that does not pin what it is computed of asks all 1000, and merges them"
        ],
    );
    check(
        "[user string][bucket 4 of id][id uuid]",
        expect![
            "K9 number of buckets: `bucket 4 of id` is not the first of the key, so it spreads only what is equal before it"
        ],
    );
}

#[test]
fn a_good_template_is_left_alone() {
    check("[bucket 16 of user][user string][at millis desc][id u32]", expect![""]);
    check("[user u32 reverse][id uuid]", expect![""]);
}

#[test]
fn few_leading_values_are_seen_in_a_sample() {
    let schema = KeySchema::parse("[country string][id u32]").unwrap();
    let keys = |countries: u32| -> Vec<_> {
        let key = |id: u32| {
            let country = format!("c{}", id % countries);
            schema.encode(&[("country", country.into()), ("id", id.into())]).unwrap()
        };
        (0..500).map(key).collect()
    };
    let few = schema.check_with(&keys(3));
    assert_eq!(few[0].rule, Rule::FewLeadingValues);
    expect!["K7 few leading values: 500 keys of the sample begin with 3 different values of `country`: that is into how many parts rows are spread; put a bucket in front, or another field first"].assert_eq(&few[0].to_string());
    assert!(schema.check_with(&keys(100)).is_empty());
    assert!(schema.check_with(&keys(3)[..50]).is_empty(), "too small a sample says nothing");
}

#[test]
fn every_rule_says_what_it_is_and_why() {
    let rules: Vec<_> = Rule::all()
        .map(|rule| format!("{} {}: {}", rule.code(), rule.name(), rule.reason()))
        .collect();
    expect![[r#"
        K1 leading time: writes of one moment go to one region, whatever their number
        K2 leading sequence: numbers that count up go to one region, as times do
        K3 order is not that of the values: ranges and pages come in another order than expected
        K4 no delimiter: a scan of one value meets keys of longer values
        K5 random salt: a get asks once for each salt, and two writes may make two rows
        K6 long key: a key is stored with every cell of its row
        K7 few leading values: regions cannot be split between equal values
        K8 keys are not unique: the second of two events is a new version of the first
        K9 number of buckets: one bucket spreads nothing, and every scan asks all of them"#]]
    .assert_eq(&rules.join("\n"));
}
