//! Mistakes that people and restores make with a store's files: one is missing, duplicated, swapped
//! with another, or replaced by an older version. Reads afterwards return correct data or an error.

use std::sync::Arc;

use super::flips::{End, Outcome, disk, disks, read, salvage};
use crate::check::{CheckReport, check_disk};
use crate::disk::Disk;
use crate::disk::simulated::SimulatedDisk;
use crate::{Settings, Store};

const ENDS: [End; 2] = [End::Closed, End::Killed];

fn bytes(disk: &SimulatedDisk, path: &str) -> Vec<u8> {
    let mut bytes = vec![0; disk.file_len(path).unwrap()];
    disk.open(path).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// Writes these bytes as the file at `path`, whether it exists or not.
fn write(disk: &SimulatedDisk, path: &str, bytes: &[u8]) {
    let _ = disk.remove(path);
    disk.create(path).unwrap().write_all_at(bytes, 0).unwrap();
}

fn check(disk: &SimulatedDisk) -> CheckReport {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    check_disk(&disk, [1; 16], |_| {}).unwrap()
}

/// Checks that neither an open nor a salvage misses data without an error, and that a check reports
/// their errors.
fn is_reported(disk: &SimulatedDisk, fault: &str) {
    let report = check(disk);
    assert!(salvage(disk, fault) || !report.problems.is_empty(), "{fault}: {report:?}");
    match read(disk, fault) {
        Outcome::Right => {}
        Outcome::Refused => assert!(!report.problems.is_empty(), "{fault}: {report:?}"),
        outcome => panic!("{fault}: {outcome:?}"),
    }
}

#[test]
fn a_missing_file_is_an_error_or_unneeded() {
    for end in ENDS {
        let whole = disk(end);
        for path in whole.paths() {
            let disk = whole.after_kill();
            disk.remove(&path).unwrap();
            is_reported(&disk, &format!("{path} is missing, {end:?}"));
        }
    }
}

#[test]
fn a_missing_segment_that_holds_commits_is_named() {
    for synced in [false, true] {
        for with_next in [false, true] {
            let disk = SimulatedDisk::default();
            let settings = Settings { wal_segment_bytes: 600, ..Settings::default() };
            let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
            let store = builder.with_boot_id([1; 16]).by_hand(1).open().unwrap();
            super::create(&store);
            for row in 0..16 {
                super::put(&store, row, row, synced).unwrap();
                while store.work_by_hand() {}
            }
            store.abandon();
            let segments = disk.paths().into_iter().filter(|path| path.ends_with(".wal"));
            let (next, segments): (Vec<_>, Vec<_>) =
                segments.partition(|path| disk.file_len(path) == Some(64));
            assert!(segments.len() > 1 && next.len() <= 1, "{segments:?} {next:?}");
            if !with_next {
                next.iter().for_each(|path| disk.remove(path).unwrap());
            }
            for path in segments {
                let disk = disk.after_kill();
                disk.remove(&path).unwrap();
                let problems = check(&disk).problems;
                let named = problems.iter().filter(|problem| problem.message().contains(&path));
                assert_eq!(named.count(), 1, "{path}: {problems:?}");
                let error = super::open(&disk, 1).map(drop).unwrap_err();
                assert!(error.message().contains(&path), "{error}");
            }
        }
    }
}

#[test]
fn a_log_directory_that_was_emptied_is_an_error_that_names_a_segment() {
    for end in ENDS {
        let disk = disk(end).after_kill();
        for path in disk.paths().iter().filter(|path| path.starts_with("wal/")) {
            disk.remove(path).unwrap();
        }
        let [problem] = &check(&disk).problems[..] else { panic!("{end:?}") };
        assert!(problem.message().contains("wal/00"), "{problem}");
        assert_eq!(read(&disk, "no log"), Outcome::Refused);
    }
}

#[test]
fn a_duplicated_file_is_an_error_or_ignored() {
    for end in ENDS {
        let whole = disk(end);
        for path in whole.paths() {
            let doubles = match path.rsplit_once('.') {
                Some(("MANIFEST", _)) | None => vec![format!("{path}.bak"), format!("{path}.new")],
                Some((stem, kind)) => {
                    let (dir, number) = stem.rsplit_once('/').unwrap();
                    let number: u64 = number.parse().unwrap();
                    let other = |to: u64| format!("{dir}/{to:010}.{kind}");
                    vec![other(number + 100), format!("{path}.bak")]
                }
            };
            for double in doubles {
                let disk = whole.after_kill();
                write(&disk, &double, &bytes(&whole, &path));
                is_reported(&disk, &format!("{path} is there as {double} too, {end:?}"));
            }
        }
    }
}

#[test]
fn swapped_files_are_an_error_or_unused() {
    for end in ENDS {
        let whole = disk(end);
        let paths = whole.paths();
        for (at, one) in paths.iter().enumerate() {
            for other in &paths[at + 1..] {
                let disk = whole.after_kill();
                write(&disk, one, &bytes(&whole, other));
                write(&disk, other, &bytes(&whole, one));
                is_reported(&disk, &format!("{one} and {other} have changed places, {end:?}"));
            }
        }
    }
}

#[test]
fn a_file_that_is_an_older_version_of_itself_is_an_error_or_as_good() {
    let mut replaced = 0;
    for end in ENDS {
        let mut older = disks(end);
        let whole = older.pop().unwrap();
        for path in whole.paths() {
            for (row, older) in older.iter().enumerate() {
                if older.file_len(&path).is_none() || bytes(older, &path) == bytes(&whole, &path) {
                    continue;
                }
                let disk = whole.after_kill();
                write(&disk, &path, &bytes(older, &path));
                is_reported(&disk, &format!("{path} is as it was at row {row}, {end:?}"));
                replaced += 1;
            }
        }
    }
    assert!(replaced > 20, "{replaced}");
}

/// A change to a file.
type Fault<'a> = Box<dyn Fn(&SimulatedDisk, &str) + 'a>;

/// Returns every mistake that can affect one manifest copy.
fn manifest_faults<'a>(whole: &SimulatedDisk, older: &'a [SimulatedDisk]) -> Vec<Fault<'a>> {
    let len = whole.file_len("MANIFEST").unwrap();
    let mut faults: Vec<Fault<'_>> =
        vec![Box::new(|disk: &SimulatedDisk, path: &str| disk.remove(path).unwrap())];
    for at in 0..len {
        faults.push(Box::new(move |disk, path| disk.corrupt(path, at, 1 << (at % 8))));
        faults.push(Box::new(move |disk, path| disk.cut(path, at)));
    }
    for older in older {
        faults.push(Box::new(move |disk, path| write(disk, path, &bytes(older, path))));
    }
    faults
}

#[test]
fn one_copy_of_the_manifest_is_enough_and_repairs_the_other() {
    for end in ENDS {
        let mut older = disks(end);
        let whole = older.pop().unwrap();
        for (number, fault) in manifest_faults(&whole, &older).iter().enumerate() {
            for path in ["MANIFEST", "MANIFEST.copy"] {
                let disk = whole.after_kill();
                fault(&disk, path);
                let context = format!("{path}, mishap {number}, {end:?}");
                assert_eq!(read(&disk, &context), Outcome::Right, "{context}");
                assert_eq!(check(&disk).problems.len(), 0, "{context}: it is not repaired");
            }
        }
    }
}

#[test]
fn a_salvage_misses_nothing_with_one_copy_of_the_manifest() {
    for path in ["MANIFEST", "MANIFEST.copy"] {
        let whole = disk(End::Killed);
        for (number, fault) in manifest_faults(&whole, &[]).iter().enumerate().step_by(7) {
            let disk = whole.after_kill();
            fault(&disk, path);
            assert!(salvage(&disk, &format!("{path}, mishap {number}")));
        }
    }
}

#[test]
fn damage_of_both_copies_of_the_manifest_is_reported_for_both() {
    let disk = disk(End::Closed);
    disk.corrupt("MANIFEST", 100, 1);
    disk.corrupt("MANIFEST.copy", 200, 1);
    let [problem] = &check(&disk).problems[..] else { panic!("one problem") };
    let text = problem.message();
    assert!(text.contains("MANIFEST is damaged") && text.contains("MANIFEST.copy is"), "{text}");
    assert_eq!(read(&disk, "both copies"), Outcome::Refused);
}

#[test]
fn a_salvage_reads_a_manifest_without_its_header() {
    let disk = disk(End::Closed);
    disk.remove("MANIFEST.copy").unwrap();
    disk.corrupt("MANIFEST", 20, 1);
    assert!(salvage(&disk, "no header"));
}

#[test]
fn a_manifest_of_another_store_is_refused() {
    let one = disk(End::Closed);
    let other = disk(End::Closed);
    write(&one, "MANIFEST", &bytes(&other, "MANIFEST"));
    let [problem] = &check(&one).problems[..] else { panic!("one problem") };
    assert!(problem.message().contains("of different stores"), "{problem}");
    assert_eq!(read(&one, "another store's manifest"), Outcome::Refused);
}

#[test]
fn a_check_reports_that_a_store_was_killed() {
    assert_eq!(check(&disk(End::Closed)).log_end, None);
    let end = check(&disk(End::Killed)).log_end.unwrap();
    assert!(end.starts_with("wal/00") && end.contains("synced up to sequence "), "{end}");
    assert!(end.ends_with("that were not synced may be missing"), "{end}");
}
