//! A minimal HBase model: every cell ever written in one list, and the read rules as predicates
//! over that list. No cursors, no seeks, no caches; the only order of arrival is the sequence
//! number.

use std::cell;
use std::collections::BTreeSet;

use rowhouse_model::{
    Cell, CellKind, FamilyDescriptor, KeepDeletedCells, KeyBuf, Qualifiers, TimeRange, compare,
};

/// The family attributes that affect reads.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) versions_max: u32,
    pub(crate) versions_min: u32,
    pub(crate) ttl_millis: Option<i64>,
    pub(crate) deleted: KeepDeletedCells,
    /// NEW_VERSION_BEHAVIOR.
    pub(crate) by_sequence: bool,
}

impl Family {
    pub(crate) fn of(name: &'static str, declared: &FamilyDescriptor) -> Self {
        Self {
            name,
            versions_max: declared.versions_max(),
            versions_min: declared.versions_min(),
            ttl_millis: declared.ttl().map(|ttl| ttl.as_millis() as i64),
            deleted: declared.keep_deleted_cells(),
            by_sequence: declared.new_version_behavior(),
        }
    }

    fn is_expired(&self, at: i64, now: i64) -> bool {
        self.ttl_millis.is_some_and(|ttl| at < now - ttl)
    }

    /// Returns true if a read returns the version at this position in the column, counted from 1.
    pub(crate) fn keeps(&self, cell: &Cell, place: u32, now: i64) -> bool {
        place <= self.versions_max
            && (place <= self.versions_min || !self.is_expired(millis(cell), now))
    }

    /// Returns true if a cell still exists: an expired one does not, unless the family keeps a
    /// minimum number of versions.
    fn has(&self, cell: &Cell, now: i64) -> bool {
        self.versions_min > 0 || !self.is_expired(millis(cell), now)
    }
}

/// A request for cells in a family.
pub(crate) struct Query<'a> {
    pub(crate) qualifiers: Option<&'a Qualifiers>,
    pub(crate) range: TimeRange,
    pub(crate) versions: u32,
    pub(crate) raw: bool,
    /// With a filter the caller counts the versions: versions that a hint skips do not count.
    pub(crate) filtered: bool,
    /// Cells from which a filter's hint skipped, with the target. Cells in between are not visited.
    pub(crate) jumps: Vec<(Cell, KeyBuf)>,
}

impl Query<'_> {
    fn meets(&self, cell: &Cell) -> bool {
        let is_over =
            |(from, to): &(Cell, KeyBuf)| from.key() < cell.key() && cell.key() < to.as_key();
        !self.jumps.iter().any(is_over)
    }
}

/// Every cell ever written.
#[derive(Default)]
pub(crate) struct Plain {
    pub(crate) cells: Vec<Cell>,
    writes: u64,
    /// Set when a hint skipped a cell that hides others: those are visible unless a flush or a
    /// compaction has dropped them.
    pub(crate) jumped: cell::Cell<bool>,
}

impl Plain {
    /// Adds one mutation's cells.
    pub(crate) fn write(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.writes += 1;
        self.cells.extend(cells.into_iter().map(|cell| cell.with_sequence(self.writes)));
    }

    /// Returns all rows with cells, in order.
    pub(crate) fn rows(&self) -> BTreeSet<Vec<u8>> {
        self.cells.iter().map(|cell| cell.row().to_vec()).collect()
    }

    /// Returns true if any cell of a family is stored in a row, visible or not.
    pub(crate) fn has(&self, row: &[u8], family: &Family) -> bool {
        !self.of(row, family).is_empty()
    }

    /// Returns the cells that a read of one family in a row sees.
    pub(crate) fn read(
        &self,
        row: &[u8],
        family: &Family,
        query: &Query<'_>,
        now: i64,
    ) -> Vec<Cell> {
        let cells = self.of(row, family);
        if query.raw { raw(&cells, query) } else { visible(&cells, family, query, now) }
    }

    /// Compacts all files of all families; `same_store` decides which rows share a store.
    pub(crate) fn compact(
        &mut self,
        families: &[Family],
        same_store: impl Fn(&[u8], &[u8]) -> bool,
        now: i64,
    ) {
        let mut retained = Vec::new();
        for family in families {
            for row in self.rows() {
                let store = self.cells.iter().filter(|cell| {
                    cell.family() == family.name.as_bytes() && same_store(cell.row(), &row)
                });
                let puts = store.filter(|cell| cell.kind() == CellKind::Put);
                let earliest_put = puts.map(millis).min().unwrap_or(i64::MAX);
                retained.extend(compacted(&self.of(&row, family), family, earliest_put, now));
            }
        }
        self.cells = retained;
    }

    /// Returns a family's cells in a row, in HBase's order.
    fn of(&self, row: &[u8], family: &Family) -> Vec<Cell> {
        let mine = |cell: &&Cell| cell.row() == row && cell.family() == family.name.as_bytes();
        let mut cells: Vec<Cell> = self.cells.iter().filter(mine).cloned().collect();
        cells.sort_by(|a, b| compare(&a.view(), &b.view()));
        cells
    }
}

/// Returns the requested puts that no marker covers and that are not surplus versions.
fn visible(cells: &[Cell], family: &Family, query: &Query<'_>, now: i64) -> Vec<Cell> {
    let there = || cells.iter().filter(|cell| family.has(cell, now));
    let minded = there().filter(|cell| is_minded(cell, family, query.range) && query.meets(cell));
    let minded: Vec<&Cell> = minded.collect();
    let mut seen = Vec::new();
    for qualifier in qualifiers(cells) {
        if query.qualifiers.is_some_and(|names| !names.contains(&qualifier)) {
            continue;
        }
        let puts = there().filter(|cell| is_put_of(cell, &qualifier) && query.meets(cell));
        let puts = puts.collect::<Vec<_>>();
        let left: Vec<&Cell> = if family.by_sequence {
            written_in_order(&puts, &minded, family.versions_max)
        } else {
            let covered = |put: &&Cell| minded.iter().any(|marker| covers(marker, put));
            puts.into_iter().filter(|put| !covered(put)).collect()
        };
        let in_range = left.into_iter().filter(|put| query.range.contains(millis(put)));
        let versions = newest_of_each_time(in_range);
        let most = if query.filtered { u32::MAX } else { query.versions.min(family.versions_max) };
        for (version, place) in versions.into_iter().zip(1..=most) {
            if query.filtered || family.keeps(version, place, now) {
                seen.push(version.clone());
            }
        }
    }
    seen
}

/// Returns true if a marker affects a read of a time range: with KEEP_DELETED_CELLS only a marker
/// inside the range does.
fn is_minded(cell: &Cell, family: &Family, range: TimeRange) -> bool {
    cell.kind() != CellKind::Put
        && match family.deleted {
            KeepDeletedCells::False => millis(cell) >= range.min().as_millis(),
            KeepDeletedCells::True | KeepDeletedCells::Ttl => range.contains(millis(cell)),
        }
}

/// Returns true if a marker covers a put by timestamp.
fn covers(marker: &Cell, put: &Cell) -> bool {
    let at = millis(put);
    let until = millis(marker);
    let same_column = marker.qualifier() == put.qualifier();
    match marker.kind() {
        CellKind::Put => false,
        CellKind::DeleteFamily => at <= until,
        CellKind::DeleteFamilyVersion => at == until,
        CellKind::DeleteColumn => same_column && at <= until,
        CellKind::DeleteVersion => same_column && at == until,
    }
}

/// Returns the versions of a column after applying puts and markers one by one: a put replaces one
/// with the same timestamp and evicts the oldest if there are too many, and a marker removes the
/// versions present at that time.
fn written_in_order<'a>(
    puts: &[&'a Cell],
    markers: &[&'a Cell],
    versions_max: u32,
) -> Vec<&'a Cell> {
    let of_family = puts.first().is_some_and(|put| !put.qualifier().is_empty());
    let turn = |cell: &Cell| if of_family { turn(cell, markers) } else { cell.sequence() };
    let mut writes: Vec<&Cell> = puts.iter().chain(markers).copied().collect();
    // A mutation's markers come last.
    writes.sort_by_key(|cell| (turn(cell), cell.kind() != CellKind::Put, cell.sequence()));
    let mut there: Vec<&Cell> = Vec::new();
    for write in writes {
        if write.kind() != CellKind::Put {
            there.retain(|put| put.sequence() > write.sequence() || !covers(write, put));
            continue;
        }
        there.retain(|put| put.timestamp() != write.timestamp());
        there.push(write);
        there.sort_by_key(|put| std::cmp::Reverse(put.timestamp()));
        there.truncate(versions_max as usize);
    }
    there
}

/// Returns the position at which a write applies to a column. HBase visits a family's markers
/// newest first, before any column except the one with an empty name. It applies a single-version
/// marker after all later-written all-version markers that it has not yet visited: until then the
/// version counts as present and makes others surplus.
fn turn(cell: &Cell, markers: &[&Cell]) -> u64 {
    let own = cell.sequence();
    if cell.kind() != CellKind::DeleteFamilyVersion {
        return own;
    }
    let later = markers
        .iter()
        .filter(|other| other.kind() == CellKind::DeleteFamily && other.sequence() > own);
    let (met, not_yet): (Vec<&Cell>, Vec<&Cell>) =
        later.partition(|other| other.timestamp() >= cell.timestamp());
    let until = met.iter().map(|marker| marker.sequence()).min().unwrap_or(u64::MAX);
    let passed = not_yet.iter().map(|marker| marker.sequence()).filter(|&at| at < until);
    passed.max().unwrap_or(own)
}

/// Returns all stored cells: puts, up to `versions` in each column, and the markers between and
/// after them, up to the first surplus put.
fn raw(cells: &[Cell], query: &Query<'_>) -> Vec<Cell> {
    let most = if query.filtered { u32::MAX } else { query.versions };
    let in_range = cells.iter().filter(|cell| query.range.contains(millis(cell)));
    counted(in_range, |_, versions| versions <= most)
}

/// Returns the cells that a compaction of all files leaves in a row's family.
fn compacted(cells: &[Cell], family: &Family, earliest_put: i64, now: i64) -> Vec<Cell> {
    let everything = Query {
        qualifiers: None,
        range: TimeRange::ALL,
        versions: u32::MAX,
        raw: false,
        filtered: false,
        jumps: Vec::new(),
    };
    if family.deleted == KeepDeletedCells::False {
        return visible(cells, family, &everything, now);
    }
    // Markers are retained, and with them the cells they cover, unless the markers have expired.
    let spent = |marker: &Cell| {
        family.deleted == KeepDeletedCells::Ttl && family.is_expired(millis(marker), now)
    };
    let there: Vec<&Cell> = cells.iter().filter(|cell| family.has(cell, now)).collect();
    let is_marker = |cell: &&&Cell| cell.kind() != CellKind::Put;
    let spent_markers: Vec<&Cell> =
        there.iter().filter(is_marker).filter(|cell| spent(cell)).copied().collect();
    let stays = there.into_iter().filter(|cell| match cell.kind() {
        CellKind::Put => !spent_markers.iter().any(|marker| covers(marker, cell)),
        // A marker older than every put covers nothing.
        _ => !spent(cell) && millis(cell) >= earliest_put,
    });
    counted(stays, |cell, versions| {
        // Family markers lie among the cells in the column with an empty name and affect other
        // columns too. HBase drops them after surplus versions of that column.
        let is_of_family =
            matches!(cell.kind(), CellKind::DeleteFamily | CellKind::DeleteFamilyVersion);
        is_of_family || family.keeps(cell, versions, now)
    })
}

/// Returns the cells that `keeps` accepts; the argument is the number of puts in the column so far.
/// A repeated put or marker does not count.
fn counted<'a>(
    cells: impl Iterator<Item = &'a Cell>,
    keeps: impl Fn(&Cell, u32) -> bool,
) -> Vec<Cell> {
    let mut retained = Vec::new();
    let (mut before, mut versions): (Option<&Cell>, u32) = (None, 0);
    for cell in cells {
        let same_column = before.is_some_and(|before| before.qualifier() == cell.qualifier());
        if !same_column {
            versions = 0;
        }
        let again = before.is_some_and(|before| {
            same_column && before.timestamp() == cell.timestamp() && before.kind() == cell.kind()
        });
        before = Some(cell);
        if again {
            continue;
        }
        versions += u32::from(cell.kind() == CellKind::Put);
        if keeps(cell, versions) {
            retained.push(cell.clone());
        }
    }
    retained
}

/// Returns, from puts in one column, newest first, the last written at each timestamp.
fn newest_of_each_time<'a>(puts: impl Iterator<Item = &'a Cell>) -> Vec<&'a Cell> {
    let mut versions: Vec<&Cell> = puts.collect();
    versions.dedup_by_key(|put| put.timestamp());
    versions
}

fn qualifiers(cells: &[Cell]) -> BTreeSet<Vec<u8>> {
    cells.iter().map(|cell| cell.qualifier().to_vec()).collect()
}

fn is_put_of(cell: &Cell, qualifier: &[u8]) -> bool {
    cell.kind() == CellKind::Put && cell.qualifier() == qualifier
}

pub(crate) fn millis(cell: &Cell) -> i64 {
    cell.timestamp().as_millis()
}
