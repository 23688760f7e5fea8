//! Selects the sources for a read that requests only the newest version of one column in one row.
//! Takes the newest sources first, and leaves out files that are older than a put found already.
//!
//! A cell covers and precedes only cells at the same timestamp and older ones. So a visible put is
//! the newest version if every file that was not read has only older timestamps, the timestamps on
//! its delete markers included. Whether the put is visible is known after the read:
//! [`NewestVersion::is_answered_by`] says whether the files may stay unread. Families with
//! NEW_VERSION_BEHAVIOR, where sequences decide too, are read in full.

use std::sync::Arc;

use rowhouse_model::{CellKind, CellRef, Key, Result, RowBuilder, TimeRange};

use super::family::{FirstCell, Query, Rows, find_in};
use super::merge::skip_unseen;
use super::trace::TracedSource;
use super::{Merge, ReadAt, Source};
use crate::cells::Cells;
use crate::family::FamilyStore;
use crate::memstore::MemstoreCursor;
use crate::store_file::{FileCursor, FileTrace, LeftOut, StoreFile};

/// A read that requests one column's newest version.
pub(super) struct NewestVersion<'a> {
    row: &'a [u8],
    qualifier: &'a [u8],
    /// The newest put found, unless a marker was found before it.
    newest: Newest,
    /// The newest timestamp in the files that were left out.
    left_out_max: Option<i64>,
    /// For a traced read, the files that were left out.
    left_out: Vec<Arc<FileTrace>>,
}

/// The column's newest put in the sources selected so far.
#[derive(Clone, Copy, PartialEq)]
enum Newest {
    Nothing,
    Put(i64),
    /// A delete marker came first. The column is probably deleted, so no file is left out.
    Marker,
}

impl<'a> NewestVersion<'a> {
    /// Returns the read for a family if it requests only one column's newest version.
    pub(super) fn of(query: &Query<'a>, family: &FamilyStore) -> Option<Self> {
        let Rows::One(row) = query.rows else { return None };
        let retention = family.retention();
        if query.versions.min(retention.versions_max) != 1
            || retention.needs_all_times()
            || query.time_range_of(family.name()) != TimeRange::ALL
        {
            return None;
        }
        let qualifier = query.columns.qualifiers(family.name())?.only()?;
        let newest = Newest::Nothing;
        let left_out = Vec::new();
        Some(Self { row, qualifier, newest, left_out_max: None, left_out })
    }

    /// Finds the column's first cell, as [`find`](super::family::find) does for other reads.
    // Not inlined into reads of other kinds.
    #[inline(never)]
    pub(super) fn find(
        &mut self,
        family: &FamilyStore,
        query: &Query<'_>,
        at: ReadAt<'_>,
    ) -> Result<FirstCell> {
        let Some(super_version) = at.super_version(family, query)? else {
            return Ok(FirstCell::TooOld);
        };
        let memstores = super_version.frozen.iter().chain([&super_version.active]).rev();
        let memstores = memstores.filter(|memstore| memstore.first_sequence().is_some());
        if super_version.files.len() + memstores.clone().count() < 2 {
            return find_in(&super_version, family, query, at);
        }
        let trace = at.trace().and_then(|trace| trace.family(family));
        let sequence_max = at.sequence();
        let column = Key::column_start(self.row, family.name(), self.qualifier);
        // Markers over the family have no qualifier and come first.
        let start = |has_markers| if has_markers { Key::row_start(self.row) } else { column };
        let mut sources = Vec::new();
        for memstore in memstores {
            if memstore.first_sequence().is_some_and(|first| first <= sequence_max)
                && memstore.may_hold_column(self.row, self.qualifier)
            {
                let start = start(memstore.has_family_markers());
                let source = Source::Memory(MemstoreCursor::new(Arc::clone(memstore), &start));
                let source = match &trace {
                    Some(trace) => trace.of_memory(source),
                    None => source,
                };
                self.add(source, &column, sequence_max, &mut sources)?;
            }
        }
        for (nth, file) in super_version.files.iter().enumerate().rev() {
            let is_last = nth == 0;
            let trace = trace.as_ref().map(|trace| trace.file(file));
            if self.leaves_out(file, trace.as_ref()) {
                continue;
            }
            if !query.may_be_in(file, family)? {
                if let Some(trace) = trace {
                    trace.leave_out(query.why_left_out(file, family));
                }
                continue;
            }
            let start = start(!file.has_no_markers() || is_last);
            let caching = query.caching(family);
            let cursor = FileCursor::open_row(file, &start, caching, trace.as_ref())?;
            let source = Source::File(cursor);
            let source = match &trace {
                Some(trace) => TracedSource::of_file(source, trace),
                None => source,
            };
            if is_last {
                // There is no file left to leave out, so the read itself finds the column.
                sources.push(source);
            } else {
                self.add(source, &column, sequence_max, &mut sources)?;
            }
        }
        // Sources with equal cells are merged by age.
        sources.reverse();
        let merge = Merge::new(sources, sequence_max)?;
        let is_present = merge.cell().is_some_and(|cell| cell.key.row == self.row);
        Ok(if is_present { FirstCell::Merge(merge) } else { FirstCell::Nothing })
    }

    /// Whether a file is older than the put found. Counts it in `trace` once the read is over.
    fn leaves_out(&mut self, file: &StoreFile, trace: Option<&Arc<FileTrace>>) -> bool {
        let newest_in_file = file.meta().timestamp_max;
        let is_older = matches!(self.newest, Newest::Put(timestamp) if newest_in_file < timestamp);
        if is_older {
            self.left_out_max = self.left_out_max.max(Some(newest_in_file));
            self.left_out.extend(trace.map(Arc::clone));
        }
        is_older
    }

    /// Moves a source to the column, or to markers that may cover it, and adds it to `sources` if
    /// it has such cells.
    fn add(
        &mut self,
        mut source: Source,
        column: &Key<'_>,
        sequence_max: u64,
        sources: &mut Vec<Source>,
    ) -> Result<()> {
        let is_before = |cell: CellRef<'_>| cell.key < *column && !cell.key.qualifier.is_empty();
        skip_unseen(&mut source, sequence_max)?;
        if source.cell().is_some_and(is_before) {
            source.seek(column)?;
            skip_unseen(&mut source, sequence_max)?;
        }
        let Some(cell) = source.cell().filter(|cell| cell.key.row == self.row) else {
            return Ok(());
        };
        let next = match cell.key.qualifier {
            qualifier if qualifier == self.qualifier && cell.kind() == CellKind::Put => {
                Newest::Put(cell.key.timestamp)
            }
            qualifier if qualifier == self.qualifier || qualifier.is_empty() => Newest::Marker,
            _ => return Ok(()),
        };
        self.newest = match (self.newest, next) {
            (Newest::Nothing, next) => next,
            (Newest::Put(one), Newest::Put(other)) => Newest::Put(one.max(other)),
            (newest, _) => newest,
        };
        sources.push(source);
        Ok(())
    }

    /// Whether the files that were left out cannot change what was read from `family` into `cells`.
    pub(super) fn is_answered_by(&self, family: &FamilyStore, cells: &RowBuilder) -> bool {
        let Some(left_out_max) = self.left_out_max else { return true };
        let is_newer = cells.last().is_some_and(|cell| {
            cell.key.family == family.name() && cell.key.timestamp > left_out_max
        });
        if is_newer {
            self.left_out.iter().for_each(|trace| trace.leave_out(LeftOut::Newer));
        }
        is_newer
    }
}
