//! Split points for a new table's regions.

use expect_test::{Expect, expect};
use rowhouse_model::escape;
use rowhouse_schema::KeySchema;

#[track_caller]
fn check(template: &str, regions: usize, expected: Expect) {
    let text = match KeySchema::parse(template).unwrap().splits(regions) {
        Ok(splits) => splits.iter().map(|split| escape(split)).collect::<Vec<_>>().join(" "),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&text);
}

#[test]
fn splits_follow_from_the_first_element_of_the_key() {
    check("[bucket 16 of user][user string]", 4, expect![[r#"\x04 \x08 \x0C"#]]);
    check("[bucket 10 of user digits][user string]", 5, expect!["2 4 6 8"]);
    check("[bucket 256 of user hex][user string]", 3, expect!["55 aa"]);
    check("x-[salt 4 a-d]-[id text]", 3, expect!["x-b x-c"]);
    check("[hash 4 of id][id text]", 4, expect![[r#"@ \x80 \xC0"#]]);
    check("[id text md5 16]", 3, expect![[r#"U \xAA"#]]);
    check("[id hex 8]", 16, expect!["1 2 3 4 5 6 7 8 9 a b c d e f"]);
    check("[id hex 8 upper]", 2, expect!["8"]);
    check("[phone digits 11 reverse]", 10, expect!["1 2 3 4 5 6 7 8 9"]);
    check("[at millis digits 13 reverse]", 4, expect!["25 5 75"]);
    check("[id u64 reverse]", 4, expect![[r#"@ \x80 \xC0"#]]);
    check("[id uuid]", 4, expect![[r#"@ \x80 \xC0"#]]);
    check("[open bool][id text]", 2, expect![[r#"\x01"#]]);
    check("[kind enum(a,b=7,c)][id text]", 3, expect![[r#"\x02 \x07"#]]);
    check("[id text]", 1, expect![""]);
}

#[test]
fn undetermined_splits_are_refused() {
    check(
        "[id text]",
        4,
        expect![
            "the template does not determine how keys are spread, give the splits: template=[id text]; keys that begin with a bucket, salt, hash, uuid, digits or hex are spread evenly"
        ],
    );
    check(
        "[at millis]",
        4,
        expect![
            "the template does not determine how keys are spread, give the splits: template=[at millis]; keys that begin with a bucket, salt, hash, uuid, digits or hex are spread evenly"
        ],
    );
    check(
        "[at millis digits 13]",
        4,
        expect![
            "the template does not determine how keys are spread, give the splits: template=[at millis digits 13]; keys that begin with a bucket, salt, hash, uuid, digits or hex are spread evenly"
        ],
    );
    check(
        "[bucket 4 of user][user string]",
        8,
        expect!["more regions than the first field of the key has values: regions=8, values=4"],
    );
    check(
        "[n digits 1]",
        100,
        expect!["more regions than the first field of the key has values: regions=100, values=10"],
    );
    check("[n digits 1]", 0, expect!["a table has at least one region: regions=0"]);
}

/// Each region gets about the same row count from many rows.
#[test]
fn hashed_rows_spread_evenly() {
    let schema = KeySchema::parse("[id u32 xxh3 4 hex]").unwrap();
    let splits = schema.splits(7).unwrap();
    let mut rows = [0; 7];
    for id in 0..7_000_u32 {
        let key = schema.encode(&[("id", id.into())]).unwrap();
        rows[splits.partition_point(|split| *split <= key)] += 1;
    }
    assert!(rows.iter().all(|rows| (850..1150).contains(rows)), "{rows:?}");
}
