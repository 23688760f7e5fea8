//! Parts from an earlier state in one store's life beside parts from a later state, for every
//! choice of parts: the table in `docs/formats/data-directory.md`. Random ones are in
//! `history/moments.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_model::{ErrorKind, FamilyDescriptor, Get, Put, Result, TableDescriptor, TableName};

use super::{name, put};
use crate::check::{CheckReport, check_disk};
use crate::disk::Disk;
use crate::disk::simulated::SimulatedDisk;
use crate::salvage::salvage_disk;
use crate::{Settings, Store};

/// The letters for the parts, and how their paths begin.
const PARTS: [(char, &str); 5] = [
    ('L', "wal/0"),
    ('N', "wal/SYNCED"),
    ('M', "MANIFEST"),
    ('C', "MANIFEST.copy"),
    ('F', "files/"),
];

fn has(part: &str, path: &str) -> bool {
    if part.starts_with("MANIFEST") { path == part } else { path.starts_with(part) }
}

fn open_in(disk: &SimulatedDisk, boot: u8) -> Result<Store> {
    let settings = Settings { wal_segment_bytes: 1200, ..Settings::default() };
    let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
    builder.with_boot_id([boot; 16]).by_hand(7).open()
}

fn open(disk: &SimulatedDisk) -> Result<Store> {
    open_in(disk, 1)
}

fn check_in(disk: &SimulatedDisk, boot: u8) -> CheckReport {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    check_disk(&disk, [boot; 16], |_| {}).unwrap()
}

fn other() -> TableName {
    TableName::parse("u").unwrap()
}

/// Creates the two tables.
fn create(store: &Store) {
    super::create(store);
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(other()).family(family), &[]).unwrap();
}

/// Writes a row to table `u` without the log, and flushes it: it is in a file alone.
fn put_and_flush(store: &Store, row: u8) {
    let mut put = Put::new(row.to_string()).unwrap().add("f", "q", [row]).unwrap();
    put.durability = rowhouse_model::Durability::SkipWal;
    let table = store.table(&other()).unwrap();
    table.mutate(&put.into()).unwrap();
    table.flush().unwrap();
}

fn work(store: &Store) {
    while store.work_by_hand() {}
}

/// The points in a life: closed, killed soon after the next open, killed later, closed again. Rows
/// are written to table `t` with a sync, and to the files in table `u`.
fn life() -> [(&'static str, SimulatedDisk); 4] {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    create(&store);
    put(&store, 1, 1, true).unwrap();
    store.close().unwrap();
    let closed = disk.after_kill();
    let store = open(&disk).unwrap();
    put(&store, 1, 2, true).unwrap();
    put_and_flush(&store, 3);
    put(&store, 2, 1, true).unwrap();
    work(&store);
    let killed = disk.after_kill();
    for row in 4..9 {
        put(&store, row, row, true).unwrap();
        work(&store);
    }
    put_and_flush(&store, 4);
    store.table(&other()).unwrap().compact(crate::CompactionKind::Major).unwrap();
    put(&store, 9, 9, true).unwrap();
    work(&store);
    let later = disk.after_kill();
    store.close().unwrap();
    [("closed", closed), ("killed", killed), ("killed later", later), ("closed again", disk)]
}

/// The values in both tables, by row.
type Contents = BTreeMap<(TableName, u8), Option<u8>>;

fn contents(disk: &SimulatedDisk) -> Result<Contents> {
    let store = open(&disk.after_kill())?;
    let mut stored = Contents::new();
    for table in [name(), other()] {
        let open = store.table(&table)?;
        for row in 0..16 {
            let read = open.get(&Get::new(row.to_string()).unwrap())?;
            let value = read.value("f", "q").map(|value| value[0]);
            stored.insert((table.clone(), row), value);
        }
    }
    store.abandon();
    Ok(stored)
}

/// Opens `newer` with the chosen parts from `older`, and states the outcome.
fn outcome(older: &SimulatedDisk, newer: &SimulatedDisk, parts: &[(char, &str)]) -> String {
    let mixed = newer.after_kill();
    mixed.take_files(older, |path| parts.iter().any(|(_, part)| has(part, path)));
    let problems = check_in(&mixed, 1).problems;
    let error = match contents(&mixed) {
        Ok(stored) if stored == contents(newer).unwrap() => return "as the later one".to_owned(),
        Ok(stored) if stored == contents(older).unwrap() => return "as the earlier one".to_owned(),
        Ok(stored) => panic!("{parts:?}: {stored:?}"),
        Err(error) => error,
    };
    assert_eq!(error.kind(), ErrorKind::Corruption, "{parts:?}: {error}");
    assert!(!problems.is_empty(), "{parts:?}: {error}");
    salvage(&mixed);
    let text = error.to_string();
    let words = [
        "the log is older than MANIFEST",
        "MANIFEST is older than the log",
        "wal/SYNCED is missing",
        "does not exist",
        "wal/",
    ];
    let words = words.into_iter().find(|words| text.contains(words));
    format!("refused: {}", words.unwrap_or_else(|| panic!("{parts:?}: {text}")))
}

fn salvage(disk: &SimulatedDisk) {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let into = SimulatedDisk::default();
    let report = salvage_disk(&disk, [1; 16], || open(&into), |_| {}).unwrap();
    assert!(!report.lost.is_empty());
}

/// Returns the outcomes for all part choices, each with the choices.
fn outcomes(older: &SimulatedDisk, newer: &SimulatedDisk) -> String {
    let mut choices: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for chosen in 1..1 << PARTS.len() {
        let parts: Vec<_> =
            PARTS.into_iter().enumerate().filter(|(at, _)| chosen & (1 << at) != 0).collect();
        let parts: Vec<_> = parts.into_iter().map(|(_, part)| part).collect();
        let letters = parts.iter().map(|(letter, _)| letter).collect();
        choices.entry(outcome(older, newer, &parts)).or_default().push(letters);
    }
    let lines = choices.iter().map(|(outcome, parts)| format!("{outcome}: {}", parts.join(" ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// L is the log, N the log's note, M the manifest, C the copy, F the HFiles: the parts from the
/// earlier point in time. A store that was closed has no note.
const OUTCOMES: &str = "\
closed in killed
as the earlier one: LNMC LNMCF
as the later one: M C
refused: MANIFEST is older than the log: MC NMC MCF NMCF
refused: does not exist: F MF CF
refused: the log is older than MANIFEST: L LN LM LNM LC LNC LF LNF LMF LNMF LCF LNCF
refused: wal/: LMC LMCF
refused: wal/SYNCED is missing: N NM NC NF NMF NCF

closed in killed later
as the earlier one: LNMC LNMCF
as the later one: M C
refused: MANIFEST is older than the log: MC NMC MCF NMCF
refused: does not exist: F MF CF
refused: the log is older than MANIFEST: L LN LM LNM LC LNC LF LNF LMF LNMF LCF LNCF
refused: wal/: LMC LMCF
refused: wal/SYNCED is missing: N NM NC NF NMF NCF

killed in killed later
as the earlier one: LNMCF
as the later one: N M NM C NC
refused: MANIFEST is older than the log: MC NMC MCF NMCF
refused: does not exist: LMC LNMC F NF MF NMF CF NCF
refused: the log is older than MANIFEST: L LN LM LNM LC LNC LF LNF LMF LNMF LCF LNCF
refused: wal/: LMCF

closed in closed again
as the earlier one: LMC LNMC LMCF LNMCF
as the later one: N M NM C NC
refused: MANIFEST is older than the log: MC NMC MCF NMCF
refused: does not exist: F NF MF NMF CF NCF
refused: the log is older than MANIFEST: L LN LM LNM LC LNC LF LNF LMF LNMF LCF LNCF

killed in closed again
as the earlier one: LNMCF
as the later one: N M NM C NC
refused: MANIFEST is older than the log: MC NMC MCF NMCF
refused: does not exist: LNMC F NF MF NMF CF NCF
refused: the log is older than MANIFEST: L LN LM LNM LC LNC LF LNF LMF LNMF LCF LNCF
refused: wal/SYNCED is missing: LMC LMCF

killed later in closed again
as the later one: L N LN M LM NM LNM C LC NC LNC NMC LNMC F LF NF LNF MF LMF NMF LNMF CF LCF NCF LNCF \
NMCF LNMCF
refused: wal/SYNCED is missing: MC LMC MCF LMCF
";

#[test]
fn parts_of_two_moments_are_refused_or_harmless() {
    let life = life();
    let mut sections = Vec::new();
    for (at, (newer_name, newer)) in life.iter().enumerate() {
        for (older_name, older) in &life[..at] {
            sections.push(format!("{older_name} in {newer_name}\n{}\n", outcomes(older, newer)));
        }
    }
    let text = sections.join("\n");
    assert!(text == OUTCOMES, "{text}");
}

#[test]
fn newest_segments_that_are_missing_with_the_note_are_reported() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    create(&store);
    for row in 0..40 {
        put(&store, row, row, true).unwrap();
        work(&store);
    }
    let killed = disk.after_kill();
    let segments = killed.list("wal").unwrap();
    let segments: Vec<_> = segments.into_iter().filter(|name| name.ends_with(".wal")).collect();
    assert!(segments.len() > 4, "{segments:?}");
    for missing in 0..segments.len() {
        let disk = killed.after_kill();
        disk.remove("wal/SYNCED").unwrap();
        for name in &segments[segments.len() - missing..] {
            disk.remove(&format!("wal/{name}")).unwrap();
        }
        let problems = check_in(&disk, 1).problems;
        let error = open(&disk).map(drop).unwrap_err();
        assert_eq!(problems[0].to_string(), error.to_string());
        assert!(error.message().contains("wal/"), "{missing}: {error}");
    }
}

#[test]
fn a_note_may_be_missing_after_a_power_cut_and_a_clean_close_and_not_after_a_kill() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    create(&store);
    put(&store, 1, 1, true).unwrap();
    let killed = disk.after_kill();
    killed.remove("wal/SYNCED").unwrap();
    let [problem] = &check_in(&killed, 1).problems[..] else { panic!("one problem") };
    assert!(problem.message().starts_with("wal/SYNCED is missing"), "{problem}");
    assert!(open_in(&killed, 1).is_err());
    // The machine has restarted.
    assert_eq!(check_in(&killed, 2).problems.len(), 0);
    assert_eq!(super::values(&open_in(&killed, 2).unwrap())[1], Some(1));
    store.close().unwrap();
    assert!(disk.file_len("wal/SYNCED").is_none());
    assert_eq!(check_in(&disk, 1).problems.len(), 0);
    assert_eq!(super::values(&open_in(&disk, 1).unwrap())[1], Some(1));
}

#[test]
fn a_damaged_note_is_reported_and_costs_nothing() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    create(&store);
    put(&store, 1, 1, true).unwrap();
    let killed = disk.after_kill();
    killed.corrupt("wal/SYNCED", 20, 1);
    let [problem] = &check_in(&killed, 1).problems[..] else { panic!("one problem") };
    assert!(problem.message().starts_with("wal/SYNCED is damaged"), "{problem}");
    assert_eq!(super::values(&open_in(&killed, 1).unwrap())[1], Some(1));
}

#[test]
fn a_store_that_is_opened_often_and_never_written_keeps_few_segments() {
    for rows in [0, 1] {
        let disk = SimulatedDisk::default();
        let store = open(&disk).unwrap();
        create(&store);
        (0..rows).for_each(|row| put(&store, row, row, true).unwrap());
        store.close().unwrap();
        for _ in 0..20 {
            let store = open(&disk).unwrap();
            work(&store);
            store.close().unwrap();
            assert_eq!(check_in(&disk, 1).problems.len(), 0);
        }
        let segments = disk.list("wal").unwrap();
        assert!(segments.len() <= 3, "{segments:?}");
    }
}

#[test]
fn a_rolled_log_without_commits_is_not_rolled_again() {
    let disk = SimulatedDisk::default();
    let store = open(&disk).unwrap();
    create(&store);
    put(&store, 1, 1, true).unwrap();
    store.table(&name()).unwrap().flush().unwrap();
    store.roll_log().unwrap();
    work(&store);
    let segments = disk.list("wal").unwrap();
    for _ in 0..3 {
        store.roll_log().unwrap();
        work(&store);
    }
    assert_eq!(disk.list("wal").unwrap(), segments);
}
