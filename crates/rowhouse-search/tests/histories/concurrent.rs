//! Searches while others write, regions move, and the engine thread works.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rowhouse_model::{Delete, ErrorKind, FamilyDescriptor, Result, Scan, TableDescriptor};
use rowhouse_schema::{Direction, INDEXES_ATTRIBUTE};
use rowhouse_search::{Matches, MergeLimits, SearchEngine};
use rowhouse_store::CompactionKind;

use crate::cases::{Texts, name};

/// How many searches each searcher runs, and how many region changes there are, at least.
const ROUNDS: u32 = 40;

impl Texts {
    fn delete(&self, row: &str) {
        let delete = Delete::new(row.to_owned()).unwrap();
        self.store.table(&name()).unwrap().mutate(&delete.into()).unwrap();
    }

    /// Searches and reads the answer, again while the index is being built.
    fn find_built<T>(
        &self,
        engine: &SearchEngine,
        word: &str,
        read: impl Fn(&Matches) -> Result<T>,
    ) -> T {
        for _ in 0..1_000 {
            match self.find(engine, word).and_then(|matches| read(&matches)) {
                // Also if it is altered while an answer is read.
                Err(error) if error.kind() == ErrorKind::RegionTooBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                answer => return answer.unwrap(),
            }
        }
        panic!("the index is never built");
    }

    /// Puts and deletes rows with a word that all writers use.
    fn write(&self, writer: u32, over: &AtomicBool) {
        for round in (0u32..).take_while(|_| !over.load(Ordering::Acquire)) {
            let row = format!("{}{}", ["a", "g", "s", "z"][(round % 4) as usize], round * 7 % 40);
            match round % 5 {
                4 => self.delete(&row),
                _ => self.put(&row, &format!("shared {writer} {round}")),
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Finds each of its writes at once.
    fn search(&self, engine: &SearchEngine, searcher: u32) {
        for round in 0..ROUNDS {
            let row = format!("{}{searcher}-{}", ["b", "n"][(round % 2) as usize], round % 6);
            let word = format!("own{searcher}x{round}");
            self.put(&row, &word);
            let keys = |matches: &Matches| matches.by_key(Direction::Forward, None, 9);
            assert_eq!(self.find_built(engine, &word, keys), [row.as_bytes()]);
            if round % 3 == 0 {
                self.delete(&row);
                assert_eq!(self.find_built(engine, &word, Matches::count), 0, "{row} is deleted");
            }
            self.find_built(engine, "shared", check_agreement);
        }
    }

    fn change_regions(&self, round: u32) {
        let table = self.store.table(&name()).unwrap();
        let entries = self.store.table(&name_of_entries()).unwrap();
        let of = if round.is_multiple_of(2) { &table } else { &entries };
        match round % 23 {
            1 | 6 | 14 => {
                let at = ["d", "p", "u"][(round % 3) as usize];
                let region = of.region_of(at.as_bytes()).name().full.clone();
                // It may begin there.
                let _ = self.store.split_region(&region, Some(at.into()));
            }
            3 | 12 => {
                let names = of.regions().iter().map(|region| &region.name().full[..]);
                // There may be one.
                let _ = self.store.merge_regions(&names.collect::<Vec<_>>());
            }
            5 | 16 => of.compact(CompactionKind::Major).unwrap(),
            10 => {
                let family = FamilyDescriptor::new("f").unwrap().versions(1 + round % 4);
                self.store.alter_family(&name(), family).unwrap();
            }
            21 => self.store.request_index_repair(&name(), "text").unwrap(),
            _ => of.flush().unwrap(),
        }
    }
}

/// Ends the writers, also if a test fails.
struct Ends<'o>(&'o AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn name_of_entries() -> rowhouse_model::TableName {
    rowhouse_model::TableName::parse("t.text").unwrap()
}

/// The answers to one search are the same rows, however they are read.
fn check_agreement(matches: &Matches) -> Result<()> {
    let keys = matches.by_key(Direction::Forward, None, usize::MAX)?;
    assert!(keys.is_sorted());
    assert_eq!(matches.count()?, keys.len() as u64);
    let mut reverse = matches.by_key(Direction::Reverse, None, usize::MAX)?;
    reverse.reverse();
    assert_eq!(reverse, keys);
    let scored = matches.by_score(0, usize::MAX / 8)?;
    assert_eq!(scored.len(), keys.len());
    let scored: BTreeSet<_> = scored.into_iter().map(|it| it.row).collect();
    assert!(scored.into_iter().eq(keys.iter().cloned()));
    // The rows at the same read point have the word.
    let mut rows = matches.table().scan_at(Scan::all(), matches.point())?;
    let mut shown = Vec::new();
    while let Some(row) = rows.next()? {
        if row.value("f", "q").is_some_and(|text| text.starts_with(b"shared ")) {
            shown.push(row.key().to_vec());
        }
    }
    assert!(shown.iter().eq(keys.iter()), "{shown:?}\n{keys:?}");
    Ok(())
}

#[test]
fn an_index_that_is_declared_beside_writers_has_all_rows() {
    let texts = Texts::new();
    let engine = SearchEngine::start(&texts.store).unwrap();
    let over = AtomicBool::new(false);
    let declare = |indexes: &'static str| {
        let change = |table: &TableDescriptor| {
            Ok(table.clone().attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}")))
        };
        texts.store.change_table(&name(), change).unwrap();
    };
    std::thread::scope(|scope| {
        let texts = &texts;
        let over = &over;
        let _ends = Ends(over);
        for writer in 0..3 {
            scope.spawn(move || texts.write(writer, over));
        }
        for round in 0..12 {
            declare("");
            declare(["text search q simple", "text search q english"][round % 2]);
            // Some are built before they are dropped.
            std::thread::sleep(Duration::from_millis(40 * (round as u64 % 4)));
        }
        declare("text search q simple");
        texts.find_built(&engine, "shared", check_agreement);
    });
    texts.find_built(&engine, "shared", check_agreement);
    let report = engine.verify(&name(), "text", &mut |_| {}).unwrap();
    assert!(report.is_clean() && report.entries > 0, "{report:?}");
    engine.close();
    texts.store.close().unwrap();
}

#[test]
fn a_search_finds_each_acknowledged_write_while_others_write_and_regions_move() {
    let texts = Texts::new();
    let engine = SearchEngine::start(&texts.store).unwrap();
    search_beside_writers(&texts, &engine, false);
}

#[test]
fn a_search_finds_each_acknowledged_write_while_large_merges_run() {
    let texts = Texts::new();
    let limits = MergeLimits { segments: 3, at_once_bytes_max: 0, ..MergeLimits::default() };
    let engine = SearchEngine::start_with(&texts.store, limits).unwrap();
    search_beside_writers(&texts, &engine, true);
}

/// Searches while others write and regions move, and also while segments are written all the time.
fn search_beside_writers(texts: &Texts, engine: &SearchEngine, is_working: bool) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over = &over;
        let _ends = Ends(over);
        for writer in 0..3 {
            scope.spawn(move || texts.write(writer, over));
        }
        if is_working {
            scope.spawn(move || {
                while !over.load(Ordering::Acquire) {
                    // The index may be replaced meanwhile.
                    let _ = engine.work(&name(), "text");
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        let searchers: Vec<_> =
            (0..2).map(|searcher| scope.spawn(move || texts.search(engine, searcher))).collect();
        for round in 0u32.. {
            texts.change_regions(round);
            if round >= ROUNDS && searchers.iter().all(|searcher| searcher.is_finished()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    texts.find_built(engine, "shared", check_agreement);
    let report = engine.verify(&name(), "text", &mut |_| {}).unwrap();
    assert!(report.is_clean() && report.entries > 0, "{report:?}");
    engine.close();
    texts.store.close().unwrap();
}
