//! Tests findings and splits.

use expect_test::expect;

use super::{check, run_key};

#[test]
fn findings_make_the_exit_status() {
    let template = "[at millis digits 13]#[metric text]";
    check(
        &[template, "check"],
        expect![[r#"
            K1 leading time: `at` comes first, so the rows of each moment go to one region: put another field or a bucket before it
              measured: four salts before it write 4.0 times as much on Apache HBase, 3.8 here, if each server has a limit (claim 1)
            K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each
              measured: a number as 13 digits takes 5 bytes more in each cell than as 8 bytes (claim 16)
            exit status 1
        "#]],
    );
    check(
        &[template, "check", "--deny", "K4,K5"],
        expect![[r#"
            K1 leading time: `at` comes first, so the rows of each moment go to one region: put another field or a bucket before it
              measured: four salts before it write 4.0 times as much on Apache HBase, 3.8 here, if each server has a limit (claim 1)
            K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each
              measured: a number as 13 digits takes 5 bytes more in each cell than as 8 bytes (claim 16)
        "#]],
    );
    check(
        &[template, "check", "--deny", "K1", "--json"],
        expect![[r#"
            {"rule":"K1","name":"leading time","message":"`at` comes first, so the rows of each moment go to one region: put another field or a bucket before it","reason":"all writes of a moment go to one region","measured":"four salts before it write 4.0 times as much on Apache HBase, 3.8 here, if each server has a limit (claim 1)"}
            {"rule":"K6","name":"long key","message":"`at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each","reason":"a key is stored with every cell of its row","measured":"a number as 13 digits takes 5 bytes more in each cell than as 8 bytes (claim 16)"}
            exit status 1
        "#]],
    );
    check(
        &[template, "check", "--deny", "K0"],
        expect![[r#"
            error: invalid value 'K0' for '--deny <RULE>': unknown rule; known: K1, K2, K3, K4, K5, K6, K7, K8, K9, K10, K11, T1, T2, T3: rule=K0

            For more information, try '--help'.
            exit status 2
        "#]],
    );
    check(
        &["[user string][day date]", "check"],
        expect![[r#"
        K8 keys are not unique: two events of one `user` with the same `day` (in days) are one row; if that can happen, put an id after it
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
            K3 keys do not sort as their values: `country` is followed by `_`: 'user0' sorts before 'user', since `0` is less than `_`; use string if that matters
            K6 long key: `n` takes 3 bytes, 2 in binary: 10 MB for ten million rows of one cell each
              measured: a number as 13 digits takes 5 bytes more in each cell than as 8 bytes (claim 16)
            K7 few leading values: 100 keys of the sample begin with 2 different values of `country`: if what follows grows, the writes of a moment go to no more regions; put a bucket or another field before it
              measured: three values before a number that grows: new rows in 3 of 16 regions (claim 21)
            exit status 1
        "#]],
    );
    check(
        &[template, "check", "--deny", "K7"],
        expect![[r#"
            K3 keys do not sort as their values: `country` is followed by `_`: 'user0' sorts before 'user', since `0` is less than `_`; use string if that matters
            K6 long key: `n` takes 3 bytes, 2 in binary: 10 MB for ten million rows of one cell each
              measured: a number as 13 digits takes 5 bytes more in each cell than as 8 bytes (claim 16)
        "#]],
    );
    std::fs::write(&path, "eu_001\nnot a key\n").unwrap();
    let misfits = run_key(&[template, "check", "--deny", "K7", "--sample", file], b"");
    assert!(
        misfits.ends_with(
            "rowhouse: keys of the sample do not fit the template: keys=2, misfits=1\nexit status 1\n"
        ),
        "{misfits}"
    );
    std::fs::write(&path, "eu_001\n\\q\n").unwrap();
    let wrong = run_key(&[template, "check", "--sample", file], b"");
    assert!(wrong.contains("sample, line 2: a backslash must begin"), "{wrong}");
    assert!(wrong.ends_with("exit status 2\n"), "{wrong}");
    let missing = run_key(&[template, "check", "--sample", "no-such-file"], b"");
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
        rowhouse: the template does not determine how keys are spread, give the splits: template=[user text]_[at millis]; keys that begin with a bucket, salt, hash, uuid, digits or hex are spread evenly
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

#[test]
fn a_sample_shows_how_keys_are_spread_over_regions() {
    let users: String = (0..1000).map(|n| format!("u{:02},{n}\n", n % 7)).collect();
    let csv = format!("user,at\n{users}");
    let spread = |template: &str, regions: &str, more: &[&str]| {
        let args = [&[template, "check", "--deny", "K1", "--regions", regions, "--csv", "-"], more];
        run_key(&args.concat(), csv.as_bytes())
    };
    let buckets = "[bucket 4 of user][user string][at millis]";
    expect![[r#"
        K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if that can happen, put an id after it
        4 regions, split by the template:
           14.3 % from …
            0.0 % from \x01
           42.8 % from \x02
           42.9 % from \x03
    "#]].assert_eq(&spread(buckets, "4", &[]));
    expect![[r#"
        {"rule":"K8","name":"keys are not unique","message":"two events of one `user` with the same `at` (in millis) are one row; if that can happen, put an id after it","reason":"the second of two events is a new version of the first","measured":null}
        {"start":"","keys":143,"share":0.143,"by":"template"}
        {"start":"\\x02","keys":857,"share":0.857,"by":"template"}
    "#]].assert_eq(&spread(buckets, "2", &["--json"]));
    expect![[r#"
        K3 keys do not sort as their values: `user` is followed by `_`: 'user0' sorts before 'user', since `0` is less than `_`; use string if that matters
        K7 few leading values: 1000 keys of the sample begin with 7 different values of `user`: if what follows grows, the writes of a moment go to no more regions; put a bucket or another field before it
          measured: three values before a number that grows: new rows in 3 of 16 regions (claim 21)
        K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if that can happen, put an id after it
        3 regions, split by the sample:
           33.3 % from …
           33.3 % from u02_\x00\x00\x00\x00\x00\x00\x01K
           33.4 % from u04_\x00\x00\x00\x00\x00\x00\x02\x96
    "#]].assert_eq(&spread("[user text]_[at millis]", "3", &[]));
    expect![[r#"
        rowhouse: the spread of keys needs 1 or more regions, and keys from --sample, --jsonl or --csv: regions=0, keys=1000
        exit status 2
    "#]].assert_eq(&spread(buckets, "0", &[]));
    check(
        &[buckets, "check", "--deny", "K1", "--regions", "4"],
        expect![[r#"
            rowhouse: the spread of keys needs 1 or more regions, and keys from --sample, --jsonl or --csv: regions=4, keys=0
            exit status 2
        "#]],
    );
}
