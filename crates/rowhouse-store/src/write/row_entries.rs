//! The entries that a row has from now on.
//!
//! What a row shows is a function of time, which changes where a cell expires. A write reads the
//! cells that decide the entries which it may change, and no others: a row can have a million cells
//! and as many entries.

use std::collections::BTreeSet;

use rowhouse_model::{
    Bytes, CellKind, CellRef, Columns, Error, ErrorKind, Get, KeyValue, Qualifiers, Result, Row,
};
use rowhouse_schema::{ChangeReads, Covered, ENTRY_FAMILY, Entry, EntryHeader};

use crate::family::FamilyStore;
use crate::indexed::{IndexedTable, MaintainedIndex};
use crate::read::{Pending, RowVersion, TimedRow, own_ttl, read_row_at_time, stored_cells};
use crate::region::Region;

/// An entry that a row has at some time from now on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimedEntry {
    pub(super) key: Bytes,
    pub(super) covered: Vec<Option<Covered>>,
    /// The last millisecond up to which the row is certain to have it with these covered cells; -1
    /// if it has it only later.
    pub(super) certain_until: i64,
    /// The last millisecond at which the row has it; `i64::MAX` if it does not expire.
    pub(super) last: i64,
    /// Whether the row has had it without interruption so far.
    is_unbroken: bool,
}

impl TimedEntry {
    /// True if a covered column in this entry has no cell in the next one.
    pub(super) fn loses_covered(&self, next: &Self) -> bool {
        self.covered.iter().zip(&next.covered).any(|(old, new)| old.is_some() && new.is_none())
    }

    /// True if the row in an index table holds the entry, with the covered cells if it is certain.
    pub(super) fn is_stored_as(
        &self,
        maintained: &MaintainedIndex,
        stored: &Row,
        now: i64,
    ) -> Result<bool> {
        let Some(header) = stored.value(ENTRY_FAMILY, b"") else { return Ok(false) };
        let header = EntryHeader::decode(&header)?;
        if !header.is_certain_at(now) {
            return Ok(true);
        }
        let mut covered =
            maintained.index.covers().iter().zip(&header.timestamps).zip(&self.covered);
        Ok(covered.all(|((name, timestamp), covered)| match covered {
            None => timestamp.is_none(),
            Some(covered) => {
                *timestamp == Some(covered.timestamp)
                    && stored.value(ENTRY_FAMILY, name).as_ref() == Some(&covered.value)
            }
        }))
    }
}

/// Returns the entry with this key. Entries are in key order.
pub(super) fn find<'e>(entries: &'e [TimedEntry], key: &[u8]) -> Option<&'e TimedEntry> {
    let at = entries.binary_search_by(|entry| entry.key[..].cmp(key)).ok()?;
    Some(&entries[at])
}

/// Returns the entries of `new` that `old` does not have, or has otherwise.
pub(super) fn differing<'e>(
    old: &'e [TimedEntry],
    new: &'e [TimedEntry],
) -> impl Iterator<Item = &'e TimedEntry> {
    new.iter().filter(|new| find(old, &new.key) != Some(new))
}

/// The indexes whose entries may change, and the cells of the row that decide these entries.
pub(super) struct Reads<'t> {
    pub(super) indexes: Vec<&'t MaintainedIndex>,
    get: Get,
    /// An index has an entry if the row has any cell at all.
    needs_existence: bool,
}

impl<'t> Reads<'t> {
    /// Returns all cells that decide entries in these indexes: the cells in `columns`.
    fn whole(row: &[u8], indexes: Vec<&'t MaintainedIndex>, columns: Columns) -> Result<Self> {
        let mut get = Get::new(Bytes::copy_from_slice(row))?;
        get.columns = columns;
        Ok(Self { indexes, get, needs_existence: false })
    }

    fn whole_of_table(table: &'t IndexedTable, row: &[u8]) -> Result<Self> {
        Self::whole(row, table.indexes.iter().collect(), Columns::clone(&table.columns))
    }

    /// Returns the cells that decide the entries which a change to these cells in a row may change;
    /// `None` if it changes none.
    pub(super) fn of_change(
        table: &'t IndexedTable,
        row: &[u8],
        changed: &[(&FamilyStore, CellRef<'_>)],
    ) -> Result<Option<Self>> {
        let is_of_family = |(_, cell): &(&FamilyStore, CellRef<'_>)| {
            matches!(cell.kind(), CellKind::DeleteFamily | CellKind::DeleteFamilyVersion)
        };
        if table.has_single_columns || changed.iter().any(is_of_family) {
            return Self::whole_of_table(table, row).map(Some);
        }
        let changed = changed.iter().map(|(_, cell)| (cell.key.family, cell.key.qualifier));
        let mut columns: Option<Columns> = None;
        let mut indexes = Vec::new();
        let mut needs_existence = false;
        for maintained in &table.indexes {
            let read = match maintained.index.reads_of_change(changed.clone()) {
                ChangeReads::Nothing => continue,
                ChangeReads::Columns(read) => read,
                ChangeReads::ColumnsAndExistence(read) => {
                    needs_existence = true;
                    read
                }
                _ => maintained.index.columns().clone(),
            };
            indexes.push(maintained);
            match &mut columns {
                None => columns = Some(read),
                Some(columns) => columns.include(&read),
            }
        }
        let Some(columns) = columns else { return Ok(None) };
        let reads = Self::whole(row, indexes, columns)?;
        Ok(Some(Self { needs_existence, ..reads }))
    }
}

/// A change to a row.
pub(super) struct RowChange<'r> {
    pub(super) region: &'r Region,
    pub(super) row: &'r [u8],
    /// The cells that are about to be committed.
    pub(super) cells: &'r [(&'r FamilyStore, CellRef<'r>)],
}

/// A row's entries from a time on, for each index given, in key order.
pub(super) type RowEntries = Vec<Vec<TimedEntry>>;

impl RowChange<'_> {
    /// Returns the entries of the indexes in `reads` before and after the change. `pending` returns
    /// the cells that are about to be committed for a read.
    ///
    /// # Errors
    /// `InvalidRequest` for an entry that is too long; errors from the reads.
    pub(super) fn entries<'p>(
        &self,
        table: &IndexedTable,
        reads: &Reads<'_>,
        pending: &dyn Fn() -> Option<&'p Pending>,
    ) -> Result<(RowEntries, RowEntries)> {
        if let Some(entries) = self.entries_by(reads, pending)? {
            return Ok(entries);
        }
        let whole = Reads::whole(self.row, reads.indexes.clone(), table.columns.clone())?;
        let entries = self.entries_by(&whole, pending)?;
        Ok(entries.expect("the whole row is enough"))
    }

    /// As [`RowChange::entries`]; `None` if the whole row has to be read.
    fn entries_by<'p>(
        &self,
        reads: &Reads<'_>,
        pending: &dyn Fn() -> Option<&'p Pending>,
    ) -> Result<Option<(RowEntries, RowEntries)>> {
        let now = self.region.engine().timestamps.now_millis();
        let before = RowAt { added: &[], ..self.row_at(RowVersion::Current) };
        let Some(row_now) = before.read(reads, now)? else { return Ok(None) };
        let new_row = row_with(&row_now.row, self.cells, &reads.get.columns);
        let mut too_long = TooLong::ABSENT;
        let old = before.entries(reads, row_now, now, &mut too_long)?;
        // A row that was there before the index can be changed and deleted.
        let mut too_long = if too_long.occurred { TooLong::ABSENT } else { TooLong::REFUSED };
        let new = match new_row {
            // It has the changed cells.
            Some(row) => {
                let new_row = RowNow { exists: true, row };
                before.entries(reads, new_row, now, &mut too_long)?
            }
            None => {
                let version = pending().map_or(RowVersion::Current, RowVersion::With);
                let after = self.row_at(version);
                let Some(row_now) = after.read(reads, now)? else { return Ok(None) };
                after.entries(reads, row_now, now, &mut too_long)?
            }
        };
        Ok(Some((old, new)))
    }

    fn row_at<'p>(&'p self, version: RowVersion<'p>) -> RowAt<'p> {
        RowAt { region: self.region, row: self.row, version, added: self.cells }
    }
}

/// Returns the entries that an index has for a version of a row, from a time on.
///
/// # Errors
/// `InvalidRequest` for an entry that is too long, unless it counts as absent; errors from the
/// reads.
pub(super) fn entries_at(
    region: &Region,
    row: &[u8],
    maintained: &MaintainedIndex,
    version: RowVersion<'_>,
    now_millis: i64,
    mut too_long: TooLong,
) -> Result<Vec<TimedEntry>> {
    let reads = Reads::whole(row, vec![maintained], maintained.index.columns().clone())?;
    let row = RowAt { region, row, version, added: &[] };
    let row_now = row.read(&reads, now_millis)?.expect("the whole row is enough");
    let mut entries = row.entries(&reads, row_now, now_millis, &mut too_long)?;
    Ok(entries.swap_remove(0))
}

/// The treatment of entries that are too long for their index.
pub(super) struct TooLong {
    /// The change that makes the row have one is refused. Otherwise the row has no such entry: it
    /// was there before the index was.
    is_refused: bool,
    occurred: bool,
}

impl TooLong {
    /// They are refused.
    pub(super) const REFUSED: Self = Self { is_refused: true, occurred: false };

    /// They count as absent.
    pub(super) const ABSENT: Self = Self { is_refused: false, occurred: false };
}

/// A row at the time from which entries are computed.
struct RowNow {
    row: TimedRow,
    /// The row has a cell, which need not be among those read.
    exists: bool,
}

/// A version of a row.
struct RowAt<'r> {
    region: &'r Region,
    row: &'r [u8],
    version: RowVersion<'r>,
    /// Cells in the version that are not stored yet.
    added: &'r [(&'r FamilyStore, CellRef<'r>)],
}

impl RowAt<'_> {
    /// Reads the row as it is at a time. Returns `None` if this does not tell how long the row
    /// exists.
    fn read(&self, reads: &Reads<'_>, now: i64) -> Result<Option<RowNow>> {
        let row = self.region.read_row_at_time(&reads.get, self.version, now)?;
        let exists = !row.row.is_empty();
        if !reads.needs_existence {
            return Ok(Some(RowNow { row, exists }));
        }
        if exists {
            return Ok((row.until_millis == i64::MAX).then_some(RowNow { row, exists }));
        }
        let any = self.get(Columns::all())?;
        let first = self.region.read_first_cells_at_time(&any, self.version, now)?;
        let is_lasting = row.until_millis == i64::MAX && first.until_millis == i64::MAX;
        Ok(is_lasting.then_some(RowNow { row, exists: !first.row.is_empty() }))
    }

    /// Returns the entries from a time on. `row_now` is the row at that time.
    fn entries(
        &self,
        reads: &Reads<'_>,
        row_now: RowNow,
        now: i64,
        too_long: &mut TooLong,
    ) -> Result<RowEntries> {
        let until_millis = row_now.row.until_millis;
        if until_millis == i64::MAX || row_now.row.row.len() <= CELLS_TOGETHER_MAX {
            return self.entries_over_time(&reads.indexes, &reads.get, row_now, now, too_long);
        }
        // Cells that end one after the other: for each end all cells would be read again.
        let entries = reads.indexes.iter().map(|maintained| {
            if let Some(family) =
                maintained.index.templated_family().filter(|_| maintained.index.is_by_cell())
                && reads.get.columns.qualifiers(family).is_none()
            {
                return self.entries_by_cell(maintained, family, now, too_long);
            }
            if maintained.index.columns().is_all() {
                return self.entries_of_existing(maintained, now, too_long);
            }
            let get = self.get(maintained.index.columns().clone())?;
            let row_now = self.read_now(&get, now)?;
            let entries = self.entries_over_time(&[maintained], &get, row_now, now, too_long)?;
            Ok(entries.into_iter().flatten().collect())
        });
        entries.collect()
    }

    /// Returns the entries of an index that has one for each cell of a family, some cells at a
    /// time.
    fn entries_by_cell(
        &self,
        maintained: &MaintainedIndex,
        family: &Bytes,
        now: i64,
        too_long: &mut TooLong,
    ) -> Result<Vec<TimedEntry>> {
        let context = self.region.engine().read_context();
        // Also for cells that nothing shows now: they may reappear when a later one ends.
        let stored =
            stored_cells(&context, self.region.family(family)?, self.row, &Qualifiers::all())?;
        let added = self.added.iter().filter(|(_, cell)| cell.key.family == family);
        let qualifiers: BTreeSet<&[u8]> = stored
            .iter()
            .map(|(_, cell)| cell.qualifier())
            .chain(added.map(|(_, cell)| cell.key.qualifier))
            .collect();
        let qualifiers: Vec<_> = qualifiers.into_iter().collect();
        let mut entries = Vec::new();
        for some in qualifiers.chunks(CELLS_AT_ONCE) {
            let get =
                self.get(maintained.index.single_columns_and(family, some.iter().copied()))?;
            let row_now = self.read_now(&get, now)?;
            let partial = self.entries_over_time(&[maintained], &get, row_now, now, too_long)?;
            entries.extend(partial.into_iter().flatten());
        }
        entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        Ok(entries)
    }

    /// Returns the entries of an index that has one for every row that exists. Among the cells that
    /// it does not name, the one that ends last tells how long the row exists.
    fn entries_of_existing(
        &self,
        maintained: &MaintainedIndex,
        mut now: i64,
        too_long: &mut TooLong,
    ) -> Result<Vec<TimedEntry>> {
        let mut entries = Vec::new();
        let mut is_first = true;
        let all = self.get(Columns::all())?;
        loop {
            let row_now = self.read_now(&all, now)?;
            let last = row_now.row.row.cells().max_by_key(|cell| self.end_of(cell));
            let existed = last.is_some();
            let columns = match last {
                Some(last) => {
                    maintained.index.single_columns_and(last.family(), [last.qualifier()])
                }
                None => Columns::all(),
            };
            let get = self.get(columns)?;
            loop {
                let row_now = self.read_now(&get, now)?;
                if existed && !row_now.exists {
                    // A cell may have reappeared that was hidden before.
                    break;
                }
                self.add_entries(maintained, &row_now, now, is_first, too_long, &mut entries)?;
                let until_millis = row_now.row.until_millis;
                if until_millis == i64::MAX {
                    return Ok(entries);
                }
                is_first = false;
                now = until_millis + 1;
                if !existed {
                    break;
                }
            }
        }
    }

    /// Returns the last millisecond of a cell; `i64::MAX` if it does not end.
    fn end_of(&self, cell: &KeyValue<'_>) -> i64 {
        let family = self.region.family(cell.family()).ok();
        let of_family = family.and_then(|family| family.retention().expires_after_millis());
        let ttl = of_family.into_iter().chain(own_ttl(&cell.view())).min();
        ttl.map_or(i64::MAX, |ttl| cell.timestamp().as_millis().saturating_add(ttl))
    }

    fn read_now(&self, get: &Get, now: i64) -> Result<RowNow> {
        let row = self.region.read_row_at_time(get, self.version, now)?;
        Ok(RowNow { exists: !row.row.is_empty(), row })
    }

    fn get(&self, columns: Columns) -> Result<Get> {
        let mut get = Get::new(Bytes::copy_from_slice(self.row))?;
        get.columns = columns;
        Ok(get)
    }

    /// Returns the entries of the cells that `get` reads, which are read again each time that one
    /// ends.
    fn entries_over_time(
        &self,
        indexes: &[&MaintainedIndex],
        get: &Get,
        mut row_now: RowNow,
        mut now: i64,
        too_long: &mut TooLong,
    ) -> Result<RowEntries> {
        let mut entries: RowEntries = vec![Vec::new(); indexes.len()];
        let mut is_first = true;
        loop {
            for (maintained, entries) in indexes.iter().zip(&mut entries) {
                self.add_entries(maintained, &row_now, now, is_first, too_long, entries)?;
            }
            let until_millis = row_now.row.until_millis;
            if until_millis == i64::MAX {
                return Ok(entries);
            }
            is_first = false;
            now = until_millis + 1;
            row_now = self.read_now(get, now)?;
        }
    }

    /// Adds the entries that the row has from `now` until it changes.
    fn add_entries(
        &self,
        maintained: &MaintainedIndex,
        row_now: &RowNow,
        now: i64,
        is_first: bool,
        too_long: &mut TooLong,
        entries: &mut Vec<TimedEntry>,
    ) -> Result<()> {
        if !row_now.exists {
            return Ok(());
        }
        match maintained.index.entries_of_existing(self.row, &row_now.row.row) {
            Ok(current) => add_timed(entries, current, (now, row_now.row.until_millis), is_first),
            Err(error) if !too_long.is_refused && error.kind() == ErrorKind::InvalidRequest => {
                too_long.occurred = true;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// The number of expiring cells up to which all are read again when one ends. Few in debug builds,
/// so that tests with small rows pass both ways.
const CELLS_TOGETHER_MAX: usize = if cfg!(debug_assertions) { 2 } else { 64 };

/// The number of cells with entries of their own that are read together.
const CELLS_AT_ONCE: usize = 4;

/// Adds entries that a row has from `from` until `until`. Both lists are in key order.
fn add_timed(
    entries: &mut Vec<TimedEntry>,
    current: Vec<Entry>,
    (from, until): (i64, i64),
    is_first: bool,
) {
    let certain_until = if is_first { until } else { -1 };
    let len = entries.len();
    for Entry { key, covered } in current {
        let Ok(at) = entries[..len].binary_search_by(|entry| entry.key.cmp(&key)) else {
            let is_unbroken = is_first;
            entries.push(TimedEntry { key, covered, certain_until, last: until, is_unbroken });
            continue;
        };
        let entry = &mut entries[at];
        entry.is_unbroken &= entry.last == from - 1 && entry.covered == covered;
        if entry.is_unbroken {
            entry.certain_until = until;
        }
        entry.last = until;
    }
    if len > 0 && entries.len() > len {
        entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    }
}

/// Returns a row as it is once these cells are committed, if nothing in it expires or is covered by
/// a marker. It spares a second read of the row.
fn row_with(
    before: &TimedRow,
    cells: &[(&FamilyStore, CellRef<'_>)],
    columns: &Columns,
) -> Option<TimedRow> {
    let is_plain = |(family, cell): &(&FamilyStore, CellRef<'_>)| {
        cell.kind() == CellKind::Put
            && cell.tags.is_empty()
            && cell.key.timestamp > before.newest_marker_millis
            && family.retention().expires_after_millis().is_none()
    };
    if before.until_millis < i64::MAX || !cells.iter().all(is_plain) {
        return None;
    }
    // Of two cells at one timestamp the later one counts.
    let added = cells.iter().rev().map(|(_, cell)| *cell);
    let added = added.filter(|cell| columns.has_column(cell.key.family, cell.key.qualifier));
    let mut cells: Vec<_> = added.chain(before.row.cells().map(KeyValue::view)).collect();
    cells.sort_by(|a, b| a.key.cmp(&b.key));
    cells.dedup_by(|later, first| {
        (later.key.family, later.key.qualifier) == (first.key.family, first.key.qualifier)
    });
    let row = Row::new(cells.iter().map(CellRef::to_cell).collect());
    Some(TimedRow { row, ..*before })
}

impl Region {
    /// Reads a version of a row as it is at a time.
    ///
    /// # Errors
    /// `UnknownScanner` if the version cannot be read any more.
    pub(crate) fn read_row_at_time(
        &self,
        get: &Get,
        version: RowVersion<'_>,
        now_millis: i64,
    ) -> Result<TimedRow> {
        self.read_cells_at_time(get, version, now_millis, usize::MAX)
    }

    /// As [`Region::read_row_at_time`], with only the first cell in each family, or a few.
    fn read_first_cells_at_time(
        &self,
        get: &Get,
        version: RowVersion<'_>,
        now_millis: i64,
    ) -> Result<TimedRow> {
        self.read_cells_at_time(get, version, now_millis, 1)
    }

    fn read_cells_at_time(
        &self,
        get: &Get,
        version: RowVersion<'_>,
        now_millis: i64,
        cells_max: usize,
    ) -> Result<TimedRow> {
        let context = self.engine().read_context();
        let families = self.families();
        let row = read_row_at_time(&context, families, get, version, now_millis, cells_max)?;
        row.ok_or_else(|| {
            let message = "the row cannot be read any more as it was before a load";
            Error::new(ErrorKind::UnknownScanner, message)
        })
    }
}
