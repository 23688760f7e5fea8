//! Arguments that are wrong in themselves end every command in the same way: with status 2, before
//! anything is opened or created.

use std::process::Command;

#[test]
fn a_wrong_argument_is_reported_with_its_place_and_ends_every_command_with_status_2() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.csv"), "id,n\n1,1\n").unwrap();
    let import = "import t a.csv --key [id] --columns d:n:n --connect hbase://127.0.0.1:1";
    for (line, place) in [
        ("import t a.csv --key [bad --columns 'd:n n u32'", "--key"),
        ("import t a.csv --key '[id u32]' --columns 'd:n n nothing'", "--columns"),
        ("import 'a b' a.csv", "TABLE"),
        ("import t a.csv --map n", "--map"),
        ("import t a.csv --set 'n={id'", "--set"),
        ("import t a.csv --delimiter ab", "--delimiter"),
        ("import t a.csv --quote ''", "--quote"),
        ("import t a.csv --comment //", "--comment"),
        ("import t a.csv --connect localhost:16020", "--connect"),
        ("import t a.csv --batch-rows 0", "--batch-rows"),
        (import, "--key"),
        ("shell -e list --connect http://localhost", "--connect"),
        ("shell -e list --connect hbase://", "--connect"),
        ("export 'a b' --hfiles out", "TABLE"),
        ("stats data --table 'a b'", "--table"),
        ("delete t 'a = 1' --batch-rows 0", "--batch-rows"),
        ("delete t 'a = 1' --batch-rows 10001", "--batch-rows"),
        ("delete t 'a = 1' --zone nowhere", "--zone"),
        ("hfile a.hfile --key [bad", "--key"),
        ("hfile a.hfile --cells --row ''", "--row"),
        ("hfile a.hfile --cells --start '\\x4'", "--start"),
        ("backup hbase:// --into out", "ADDRESS"),
        ("serve --listen here", "--listen"),
        ("serve --zookeeper here:x", "--zookeeper"),
        ("serve --advertise :1", "--advertise"),
        ("serve --mutation-bytes-max 1", "--mutation-bytes-max"),
    ] {
        let ran = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
            .args(words(line))
            .current_dir(dir.path())
            .output()
            .unwrap();
        let err = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{line}: {err}");
        assert!(err.starts_with("error: ") && err.contains(place), "{line}: {err}");
    }
    // The same holds for the arguments to a command without a database.
    let ran = Command::new(env!("CARGO_BIN_EXE_rowhouse")).args(["key", "[bad", "check"]).output();
    assert_eq!(ran.unwrap().status.code(), Some(2));
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn missing_directory_is_named_and_not_created() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    for command in [
        "check PLACE",
        "stats PLACE",
        "backup PLACE --into out",
        "restore PLACE --into out",
        "salvage PLACE --into out",
        "export t --hfiles out --data PLACE",
        "heat t --data PLACE",
        "delete t 'a = 1' --data PLACE",
    ] {
        for (place, message) in [
            ("nothing/there", "no such directory: "),
            ("file", "not a directory: "),
            ("empty", "is not a data directory: it has no FORMAT"),
        ] {
            let line = command.replace("PLACE", place);
            let ran = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
                .args(words(&line))
                .current_dir(dir.path())
                .output()
                .unwrap();
            let err = String::from_utf8(ran.stderr).unwrap();
            assert_eq!(ran.status.code(), Some(1), "{line}: {err}");
            assert!(err.contains(message) && err.contains(place), "{line}: {err}");
        }
    }
    let mut left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["empty", "file"]);
    assert_eq!(std::fs::read_dir(dir.path().join("empty")).unwrap().count(), 0);
}

#[test]
fn rows_are_deleted_from_the_command_line_and_a_dry_run_counts_them() {
    let dir = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let ran = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
            .args(arguments)
            .args(["--data", "data"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let err = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.success(), "{arguments:?}: {err}");
        (String::from_utf8(ran.stdout).unwrap(), err)
    };
    let create = "create 'mail', 'd', KEY => '[user string][at millis desc]'";
    let put = |user: &str, at: &str| {
        format!("put 'mail', {{user => '{user}', at => '{at}'}}, 'd:q', 'v'")
    };
    let puts = [put("ann", "2019-12-31T20:00"), put("bob", "2019-05-01"), put("bob", "2021-01-01")];
    let script = [&[create.to_owned()], &puts[..]].concat().join("; ");
    run(&["shell", "-e", &script]);
    let (out, _) = run(&["delete", "mail", "user = 'bob' and at < 2020", "--dry-run"]);
    assert_eq!(out, "1 row would be deleted\n");
    let (out, err) = run(&["delete", "mail", "at < 2020", "--zone", "+08:00"]);
    assert_eq!(out, "1 row deleted\n");
    assert!(err.contains("hint: ") && err.contains("TTL"), "{err}");
    let (out, _) = run(&["delete", "mail", "user in ('ann', 'bob')", "--batch-rows", "1"]);
    assert_eq!(out, "2 rows deleted\n");
}

/// Splits a command line into words, some in single quotes.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let mut words = Vec::new();
    for (at, part) in parts {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
