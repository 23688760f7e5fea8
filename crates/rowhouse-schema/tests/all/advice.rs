//! Advice on templates before they are used.

use expect_test::{Expect, expect};
use rowhouse_model::{FamilyDescriptor, TableDescriptor, TableName};
use rowhouse_schema::{FamilySize, KeySchema, Rule, check_table};

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
        K1 leading time: `at` comes first, so the rows of each moment go to one region: put another field or a bucket before it
        K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each"#]],
    );
    check(
        "[id u64][n u8]",
        expect![
            "K2 leading sequence: `id` comes first; if it counts up, all new rows go to one region: reverse it, hash it, or put a bucket before it"
        ],
    );
    check(
        "[user text]_[id uuid]",
        expect![
            "K3 keys do not sort as their values: `user` is followed by `_`: 'user0' sorts before 'user', since `0` is less than `_`; use string if that matters"
        ],
    );
    check(
        "[user text 8 pad ~][id uuid]",
        expect![
            "K3 keys do not sort as their values: `user` is padded with `~`: a value that continues with a lesser character sorts first; pad with zeros if that matters"
        ],
    );
    check(
        "[user string][n decimal]",
        expect![
            "K3 keys do not sort as their values: `n` is text: 10 sorts before 9; use digits N if that matters"
        ],
    );
    check(
        "[user text][at millis desc][id uuid]",
        expect![
            "K4 no delimiter: `user` ends 24 bytes before the end of the key and has no order of its own; if one value is a prefix of another, a scan of the shorter one reads rows of the longer one: use string, or a literal after it"
        ],
    );
    check(
        "[salt 4 a-d]-[id text]",
        expect![
            "K5 random salt: `salt 4 a-d` is random: a get by the other fields reads 4 keys, and the same fields may be in several rows; use bucket if rows are read by their key"
        ],
    );
    check(
        "[user string][at millis desc]",
        expect![
            "K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if that can happen, put an id after it"
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
            "K9 number of buckets: `bucket 1000 of user`: a scan that does not fix its operands reads all 1000, and merges them"
        ],
    );
    check(
        "[user string][bucket 4 of id][id uuid]",
        expect![
            "K9 number of buckets: `bucket 4 of id` is not first in the key, so it spreads only rows that are equal before it"
        ],
    );
}

#[test]
fn a_good_template_is_left_alone() {
    check("[bucket 16 of user][user string][at millis desc][id u32]", expect![""]);
    check("[user u32 reverse][id uuid]", expect![""]);
}

#[test]
fn a_bucket_of_a_floored_value_is_warned_of_and_its_rows_are_why() {
    check(
        "[bucket 16 of at][at seconds 4 floor 1h][user string]",
        expect![
            "K10 computed from values that keys do not hold: `bucket 16 of at` is computed from `at` before `floor`, and keys hold only its step, so decoded values do not address the row; omit `of` to compute it from the rest of the key, or omit `at`"
        ],
    );
    check(
        "[hash 2 of user,at][user string][at seconds 4 floor 1h][id u32]",
        expect![
            "K10 computed from values that keys do not hold: `hash 2 of user,at` is computed from `at` before `floor`, and keys hold only its step, so decoded values do not address the row; write `of rest` to compute it from the rest of the key, or omit `at`"
        ],
    );
    // The rest of the key is computed from the bytes that keys hold.
    check("[bucket 16][at seconds 4 floor 1h][user string]", expect![""]);

    let addressed = |template: &str| {
        let schema = KeySchema::parse(template).unwrap();
        let key = |at: u32| {
            schema
                .encode(&[("at", (1_669_852_800 + at * 67).into()), ("user", "bob".into())])
                .unwrap()
        };
        let again = |key: &[u8]| {
            let values = schema.decode(key).unwrap();
            let named: Vec<_> = values.iter().map(|(name, value)| (name, value.clone())).collect();
            schema.encode(&named).unwrap()
        };
        (0..50).map(key).filter(|key| again(key) == key).count()
    };
    assert!(addressed("[bucket 16 of at][at seconds 4 floor 1h][user string]") < 25);
    assert_eq!(addressed("[bucket 16][at seconds 4 floor 1h][user string]"), 50);
}

/// The README's template describes existing keys, and the findings are problems that their authors
/// had. The second template applies the findings to a new table.
#[test]
fn the_template_of_the_readme_is_reported_as_old_and_its_new_form_is_not() {
    check(
        "[blogger text]_[at millis digits desc]",
        expect![[r#"
        K3 keys do not sort as their values: `blogger` is followed by `_`: 'user0' sorts before 'user', since `0` is less than `_`; use string if that matters
        K6 long key: `at` takes 19 bytes, 8 in binary: 110 MB for ten million rows of one cell each
        K8 keys are not unique: two events of one `blogger` with the same `at` (in millis) are one row; if that can happen, put an id after it"#]],
    );
    check("[blogger string][at millis desc][post u32]", expect![""]);
}

#[test]
fn many_hosts_of_few_domains_are_seen_in_a_sample() {
    let schema = KeySchema::parse("[host domain]").unwrap();
    let keys = |domains: u32| -> Vec<_> {
        let key = |id: u32| {
            let host = format!("h{id}.d{}.com", id % domains);
            schema.encode(&[("host", host.into())]).unwrap()
        };
        (0..500).map(key).collect()
    };
    let few = schema.check_with(&keys(1));
    let lines: Vec<_> = few.iter().map(ToString::to_string).collect();
    expect!["K11 few leading domains: 500 keys of the sample begin with 500 hosts of 1 domain, by the last two parts of `host`, and the hosts of a domain are adjacent; put a bucket before it: domains=1, min=9"].assert_eq(&lines.join("\n"));
    assert_eq!(schema.check_with(&keys(8)).len(), 1);
    assert!(schema.check_with(&keys(9)).is_empty());
    assert!(schema.check_with(&keys(1)[..99]).is_empty(), "too small a sample says nothing");

    // A hash's bytes have no parts.
    let hashed = KeySchema::parse("[host text md5 4]").unwrap();
    let keys: Vec<_> = (0..500_u32).map(u32::to_be_bytes).collect();
    assert!(hashed.check_with(&keys).is_empty());
}

fn table(families: &[&str]) -> TableDescriptor {
    let table = TableDescriptor::new(TableName::parse("mail").unwrap());
    families
        .iter()
        .fold(table, |table, name| table.family(FamilyDescriptor::new((*name).to_owned()).unwrap()))
}

#[test]
fn more_than_three_families_are_warned_of() {
    let lines = |families: &[&str]| {
        let findings = check_table(&table(families), &[]);
        findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(lines(&["a", "b", "c"]), "");
    expect!["T1 many families: each of a, b, c, d has a memstore and files of its own in every region; put columns that are read together into one family: families=4, max=3"].assert_eq(&lines(&["a", "b", "c", "d"]));
}

#[test]
fn long_names_and_long_rows_are_warned_of_with_their_cost() {
    let size = FamilySize {
        name: "details".into(),
        cells: 3_000,
        bytes: 360_000,
        row_bytes: 30_000,
        name_bytes: 36_000,
    };
    let lines = |sizes: &[FamilySize]| {
        let findings = check_table(&table(&["details", "d"]), sizes);
        findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    expect!["T2 long names: the names of `details` and its qualifiers take 12.0 bytes a cell beyond one letter and two, in 3000 cells: 36000 bytes, 10 % of the family; store short names, and declare readable ones as columns: max=10 %"].assert_eq(&lines(std::slice::from_ref(&size)));
    assert_eq!(lines(&[FamilySize { name_bytes: 35_999, ..size.clone() }]), "");
    assert_eq!(lines(&[FamilySize { name_bytes: 0, row_bytes: 64 * 3_000, ..size.clone() }]), "");
    expect!["T3 long row keys: row keys take 65.0 bytes a cell, in 3000 cells: 195000 bytes, 54 % of the table; store a hash or a shorter type: max=64"].assert_eq(&lines(&[FamilySize { name_bytes: 0, row_bytes: 65 * 3_000, ..size }]));
    assert_eq!(lines(&[FamilySize { name: "d".into(), ..FamilySize::default() }]), "");
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
    expect!["K7 few leading values: 500 keys of the sample begin with 3 different values of `country`: if what follows grows, the writes of a moment go to no more regions; put a bucket or another field before it"].assert_eq(&few[0].to_string());
    assert!(schema.check_with(&keys(100)).is_empty());
    assert!(schema.check_with(&keys(3)[..50]).is_empty(), "too small a sample says nothing");
}

#[test]
fn every_rule_has_a_name_and_a_reason() {
    let rules: Vec<_> = Rule::all()
        .map(|rule| format!("{} {}: {}", rule.code(), rule.name(), rule.reason()))
        .collect();
    expect![[r#"
        K1 leading time: all writes of a moment go to one region
        K2 leading sequence: new rows of a rising number go to one region
        K3 keys do not sort as their values: ranges and pages have an unexpected order
        K4 no delimiter: a scan of one value meets keys of longer values
        K5 random salt: a get reads once for each salt, and two writes may create two rows
        K6 long key: a key is stored with every cell of its row
        K7 few leading values: if what follows a value grows, its new rows go to one region
        K8 keys are not unique: the second of two events is a new version of the first
        K9 number of buckets: one bucket spreads nothing, and every scan reads all of them
        K10 computed from values that keys do not hold: decoded values do not encode to the same key
        K11 few leading domains: the hosts of one domain are adjacent, in one region
        T1 many families: every family has a memstore and files in every region
        T2 long names: family and qualifier are stored with every cell
        T3 long row keys: the row key is stored with every cell"#]]
    .assert_eq(&rules.join("\n"));
}
