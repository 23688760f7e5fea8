//! Parts from an earlier point in a history beside parts from a later one: the log, the log's note,
//! the manifest, the copy, the HFiles. The store is refused, or has the contents from the later
//! point. If log and manifest are both from the earlier one, it may have the contents from there.
//! If the log is, it may lack commits after the manifest's last edit: the commits that were not
//! synced, or, if the note is from the earlier point too, the commits that were not synced then.

use std::sync::Arc;

use rowhouse_model::{Error, ErrorKind, Get, Result};

use super::{Cells, History, INDEX, Op, ROWS, TABLES, explains, name, row_key, synced_ops, values};
use crate::check::check_disk;
use crate::disk::Disk;
use crate::disk::simulated::SimulatedDisk;
use crate::salvage::salvage_disk;

/// How many mixtures are tried when a history ends.
const MIXTURES: usize = 4;

/// The parts in a data directory.
const PARTS: [Part; 5] = [Part::Log, Part::Note, Part::Manifest, Part::Copy, Part::Files];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Log,
    Note,
    Manifest,
    Copy,
    Files,
}

impl Part {
    fn has(self, path: &str) -> bool {
        match self {
            Self::Log => path.starts_with("wal/") && path != "wal/SYNCED",
            Self::Note => path == "wal/SYNCED",
            Self::Manifest => path == "MANIFEST",
            Self::Copy => path == "MANIFEST.copy",
            Self::Files => path.starts_with("files/"),
        }
    }
}

/// A disk as a kill left it, in one machine boot.
pub(super) struct Moment {
    disk: SimulatedDisk,
    boot: u8,
    base: Cells,
    ops: Vec<Op>,
}

impl Moment {
    /// Returns true if `cells` lacks nothing but mutations after the first `least`.
    fn lacks_only_after(&self, least: usize, cells: &Cells) -> bool {
        let mut lengths = least.min(self.ops.len())..=self.ops.len();
        lengths.any(|len| explains(&self.base, &self.ops[..len], cells))
    }
}

impl History {
    /// Keeps the disk as it is.
    pub(super) fn keep_moment(&mut self) {
        if !self.disk.has_lost_pages() {
            self.tell(format_args!("moment {}: {:?}", self.moments.len(), self.disk.paths()));
            let disk = self.disk.after_kill();
            let boot = self.boot;
            let base = self.base.clone();
            let ops = self.ops.clone();
            self.moments.push(Moment { disk, boot, base, ops });
        }
    }

    /// Puts parts from earlier points in time beside parts from later ones.
    pub(super) fn mix_moments(&mut self) {
        if self.moments.len() < 2 {
            return;
        }
        for _ in 0..MIXTURES {
            let newer = 1 + self.random.below(self.moments.len() - 1);
            let older = self.random.below(newer);
            // One part as often as several.
            let mut parts = vec![PARTS[self.random.below(PARTS.len())]];
            if self.random.chance(128) {
                let more = PARTS.into_iter().filter(|_| self.random.chance(128));
                parts.extend(more.collect::<Vec<_>>());
            }
            self.mix(older, newer, &parts);
        }
    }

    fn mix(&mut self, older: usize, newer: usize, parts: &[Part]) {
        let [before, after] = [older, newer].map(|at| self.moments[at].disk.after_kill());
        let boot = self.boot;
        self.boot = self.moments[newer].boot;
        let mixed = after.after_kill();
        mixed.take_files(&before, |path| parts.iter().any(|part| part.has(path)));
        let is_older = |part: Part| {
            parts.contains(&part) || before.has_same_files(&after, |path| part.has(path))
        };
        let has_no_copy = mixed.file_len("MANIFEST.copy").is_none();
        let is_whole = is_older(Part::Log)
            && is_older(Part::Manifest)
            && (is_older(Part::Copy) || has_no_copy);
        let context = format!("seed {}: {parts:?} of {older} in {newer}", self.seed);
        let disk: Arc<dyn Disk> = Arc::new(mixed.after_kill());
        let report = check_disk(&disk, [self.boot; 16], |_| {}).unwrap();
        if self.random.chance(32) {
            self.salvage(&mixed, &context);
        }
        match self.contents(&mixed) {
            Ok(cells) => {
                let allowed = if is_whole { vec![&before, &after] } else { vec![&after] };
                let is_right =
                    allowed.into_iter().any(|disk| self.contents(disk).is_ok_and(|it| it == cells));
                // A failed write has damaged the note, and the check has reported it.
                let is_note_damaged = report
                    .problems
                    .iter()
                    .any(|it| it.message().starts_with("wal/SYNCED is damaged"));
                let has_older_note = is_older(Part::Note) || is_note_damaged;
                let synced_at = if has_older_note { older } else { newer };
                let least = synced_ops(&self.moments[synced_at].ops);
                let is_cut = parts.contains(&Part::Log)
                    && report.log_end.is_some()
                    && self.moments[newer].lacks_only_after(least, &cells);
                assert!(is_right || is_cut, "{context}: {cells:?}, {report:?}");
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption, "{context}: {error}");
                assert!(!report.problems.is_empty(), "{context}: {error}");
                let words = ["older", "missing", "does not exist", "damaged", "is not the file"];
                let text = error.to_string();
                assert!(words.iter().any(|word| text.contains(word)), "{context}: {error}");
                self.tell(format_args!("{context}: {error}"));
            }
        }
        self.boot = boot;
    }

    /// Opens a copy of a disk and reads everything. Panics if an index disagrees with the table.
    fn contents(&mut self, disk: &SimulatedDisk) -> Result<Cells> {
        let copy = disk.after_kill();
        let store = self.builder(&copy).open()?;
        let mut cells = Cells::new();
        for table in 0..TABLES {
            let Ok(open) = store.table(&name(table)) else { continue };
            if open.check_enabled().is_err() {
                continue;
            }
            for row in 0..ROWS {
                let read = open.get(&Get::new(row_key(row)).unwrap())?;
                cells.extend(values(&read).map(|(family, value)| ((table, row, family), value)));
            }
            if store.index_state(&name(table), INDEX).is_ok_and(|state| state.is_ready()) {
                let report = store.verify_index(&name(table), INDEX, |_| {})?;
                assert!(report.is_clean(), "seed {}: {report:?}", self.seed);
            }
        }
        store.abandon();
        Ok(cells)
    }

    /// Checks that a salvage takes what is readable.
    fn salvage(&mut self, mixed: &SimulatedDisk, context: &str) {
        let disk: Arc<dyn Disk> = Arc::new(mixed.after_kill());
        let into = SimulatedDisk::default();
        let builder = self.builder(&into);
        let salvaged = salvage_disk(&disk, [self.boot; 16], || builder.open(), |_| {});
        let error = salvaged.err().map(|error: Error| error.to_string());
        assert_eq!(error, None, "{context}: the salvage ended");
    }
}
