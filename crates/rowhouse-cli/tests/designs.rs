//! `rowhouse simulate` and `rowhouse advise`, from files.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const MAIL: &str = "\
key [at millis][user string]
field user string: 60 values
field at millis: now
column d:s sender string: 40 values
ask user = ? newest 5 : 20/s
ask sender = ? limit 2 : 1/s
never a region takes more than 50 % of the writes
rows 900
";

fn run(dir: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_rowhouse");
    Command::new(program).args(args).current_dir(dir).output().unwrap()
}

/// Runs a command that prints JSON.
fn json(dir: &Path, args: &[&str]) -> Value {
    let output = run(dir, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Removes the times.
fn without_times(mut simulation: Value) -> Value {
    for question in simulation["questions"].as_array_mut().unwrap() {
        question["cpu_micros"].take();
    }
    simulation
}

#[test]
fn a_simulation_is_the_same_under_a_seed_and_another_under_another() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mail.design"), MAIL).unwrap();
    let simulate = |seed: &str| {
        let args = [
            "simulate",
            "mail.design",
            "--json",
            "--seed",
            seed,
            "--index",
            "by_user [user][at desc]",
        ];
        without_times(json(dir.path(), &args))
    };
    let first = simulate("1");
    assert_eq!(first["rows_stored"], 900);
    assert_eq!(first["writes"][0]["busiest_region"], 1.0);
    assert_eq!(first["indexes"][0], "by_user [user][at desc]");
    assert_eq!(first["warnings"][0]["refusal"], true);
    assert_eq!(first, simulate("1"));
    assert_ne!(first, simulate("2"));
}

#[test]
fn a_sample_takes_the_place_of_distributions_and_its_times_grow() {
    let dir = tempfile::tempdir().unwrap();
    let mut rows = "at,user,size,colour\n".to_owned();
    for number in 0..300 {
        let minute = number / 60;
        let second = number % 60;
        rows +=
            &format!("2026-01-01T00:{minute:02}:{second:02},u{},{number},red\n", number * 7 % 13);
    }
    fs::write(dir.path().join("rows.csv"), rows).unwrap();
    let text = "sample rows.csv\nfield at millis\nfield user string\ncolumn d:z size u32\n\
                ask user = ? newest 5 : 1/s\n";
    fs::write(dir.path().join("rows.design"), text).unwrap();
    let key = "[at millis][user string]";
    let simulated = json(dir.path(), &["simulate", "rows.design", "--json", "--key", key]);
    assert_eq!((&simulated["rows"], &simulated["busiest_region"]), (&300.into(), &1.0.into()));
    assert_eq!(simulated["questions"][0]["rows_returned"], 5.0);
    assert_eq!(simulated["questions"][0]["sorts"], false);

    fs::write(dir.path().join("bad.csv"), "at,user,size\n2026-01-01,bob,many\n").unwrap();
    let refused =
        run(dir.path(), &["simulate", "rows.design", "--key", key, "--sample", "bad.csv"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && message.contains("bad.csv, line 2"), "{message}");
}

#[test]
fn a_drawing_has_a_point_for_each_design_and_escapes_texts() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mail.design"), MAIL).unwrap();
    let args = ["advise", "mail.design", "--json", "--rows", "400", "--svg", "mail.svg"];
    let advice = json(dir.path(), &args);
    assert_eq!(advice["change"], true);
    let designs = advice["designs"].as_array().unwrap();
    let present = advice["present"].as_u64().unwrap() as usize;
    assert!(!designs[present]["refusals"].as_array().unwrap().is_empty());
    let svg = fs::read_to_string(dir.path().join("mail.svg")).unwrap();
    assert_eq!(svg.matches("<title>").count(), designs.len());
    assert!(svg.contains("class=\"best\"") && svg.contains("class=\"present\""), "{svg}");
    assert!(svg.contains("<polyline") && svg.ends_with("</svg>\n"));
}

#[test]
fn mistakes_name_the_file_and_the_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("bad.design"), "field user string: 3 values\nfeild at millis: now\n")
        .unwrap();
    fs::write(dir.path().join("no-key.design"), "field user string: 3 values\n").unwrap();
    let error_of = |args: &[&str]| {
        let output = run(dir.path(), args);
        assert!(!output.status.success(), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let message = error_of(&["advise", "bad.design"]);
    assert!(message.contains("bad.design") && message.contains("line=2, offset=0"), "{message}");
    let message = error_of(&["simulate", "no-key.design"]);
    assert!(message.contains("give --key, or a line `key` in the file"), "{message}");
    let message = error_of(&["simulate", "no-key.design", "--key", "[usr string]"]);
    assert!(message.contains("the key has no field `user`"), "{message}");
    let message = error_of(&["simulate", "nothing.design"]);
    assert!(message.contains("cannot read nothing.design"), "{message}");
}

#[test]
fn a_command_succeeds_when_its_output_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mail.design"), MAIL).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowhouse"));
    command.args(["simulate", "mail.design"]).current_dir(dir.path()).stdout(writer);
    let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
