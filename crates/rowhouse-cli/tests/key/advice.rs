//! Findings and splits.

use expect_test::expect;

use super::{check, told};

#[test]
fn findings_make_the_exit_status() {
    let template = "[at millis digits 13]#[metric text]";
    check(
        &[template, "check"],
        expect![[r#"
        K1 leading time: `at` comes first, so the rows of each moment go to one region: put it behind another field, or a bucket in front
        K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each
        exit status 1
    "#]],
    );
    check(
        &[template, "check", "--deny", "K4,K5"],
        expect![[r#"
        K1 leading time: `at` comes first, so the rows of each moment go to one region: put it behind another field, or a bucket in front
        K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each
    "#]],
    );
    check(
        &[template, "check", "--deny", "K1", "--json"],
        expect![[r#"
        {"rule":"K1","name":"leading time","message":"`at` comes first, so the rows of each moment go to one region: put it behind another field, or a bucket in front","reason":"writes of one moment go to one region, whatever their number"}
        {"rule":"K6","name":"long key","message":"`at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each","reason":"a key is stored with every cell of its row"}
        exit status 1
    "#]],
    );
    check(
        &[template, "check", "--deny", "K0"],
        expect![[r#"
        error: invalid value 'K0' for '--deny <RULE>': no such rule; there are: K1, K2, K3, K4, K5, K6, K7, K8, K9: rule=K0

        For more information, try '--help'.
        exit status 2
    "#]],
    );
    check(
        &["[user string][day date]", "check"],
        expect![[r#"
        K8 keys are not unique: two events of one `user` with the same `day` (in days) are one row; if there can be such, put an id behind it
        exit status 1
    "#]],
    );
}

#[test]
fn a_sample_shows_whether_keys_begin_with_few_values() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sample");
    let file = path.to_str().unwrap();
    let keys: String = (0..100).map(|n| format!("{}_{n:03}\n", ["eu", "us"][n % 2])).collect();
    std::fs::write(&path, keys).unwrap();
    let template = "[country text]_[n digits 3]";
    check(
        &[template, "check", "--deny", "K7", "--sample", file],
        expect![[r#"
        K3 order is not that of the values: `country` stands before `_`: 'user0' comes before 'user', since `0` is less than `_`; use string if that matters
        K6 long key: `n` takes 3 bytes, 2 in binary: 10 MB for ten million rows of one cell each
        K7 few leading values: 100 keys of the sample begin with 2 different values of `country`: that is into how many parts rows are spread; put a bucket in front, or another field first
        exit status 1
    "#]],
    );
    check(
        &[template, "check", "--deny", "K7"],
        expect![[r#"
        K3 order is not that of the values: `country` stands before `_`: 'user0' comes before 'user', since `0` is less than `_`; use string if that matters
        K6 long key: `n` takes 3 bytes, 2 in binary: 10 MB for ten million rows of one cell each
    "#]],
    );
    std::fs::write(&path, "eu_001\nnot a key\n").unwrap();
    let misfits = told(&[template, "check", "--deny", "K7", "--sample", file], b"");
    assert!(
        misfits.ends_with(
            "rowhouse: keys of the sample do not fit the template: keys=2, misfits=1\nexit status 1\n"
        ),
        "{misfits}"
    );
    std::fs::write(&path, "eu_001\n\\q\n").unwrap();
    let wrong = told(&[template, "check", "--sample", file], b"");
    assert!(wrong.contains("sample, line 2: a backslash must begin"), "{wrong}");
    assert!(wrong.ends_with("exit status 2\n"), "{wrong}");
    let missing = told(&[template, "check", "--sample", "no-such-file"], b"");
    assert!(missing.starts_with("rowhouse: cannot read no-such-file: "), "{missing}");
    assert!(missing.ends_with("exit status 2\n"), "{missing}");
}

#[test]
fn splits_are_keys_one_per_line() {
    check(
        &["[phone digits 11 reverse]", "splits", "--regions", "4"],
        expect![[r#"
        25
        5
        75
    "#]],
    );
    check(
        &["[bucket 16 of id][id text]", "splits", "--regions", "3"],
        expect![[r#"
        \x05
        \x0A
    "#]],
    );
    check(
        &["[bucket 16 of id][id text]", "splits", "--hex", "--regions", "3"],
        expect![[r#"
        05
        0a
    "#]],
    );
    check(
        &["[salt 4 a-d]-[id text]", "splits", "--json", "--regions", "2"],
        expect![[r#"
        {"key":"c"}
    "#]],
    );
    check(&["[id hex 4]", "splits", "--regions", "1"], expect![""]);
    check(
        &["[user text]_[at millis]", "splits", "--regions", "4"],
        expect![[r#"
        rowhouse: the template does not say how keys are spread, give the splits themselves: template=[user text]_[at millis]; keys that begin with a bucket, salt, hash, uuid, digits or hex are spread evenly
        exit status 2
    "#]],
    );
    check(
        &["[salt 4 a-d]-[id text]", "splits", "--regions", "5"],
        expect![[r#"
        rowhouse: more regions than the first field of the key has values: regions=5, values=4
        exit status 2
    "#]],
    );
}
