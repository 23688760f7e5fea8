//! Reading one family's rows: selects the memstores and files to merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_filter::FilterRun;
use rowhouse_model::{BloomKind, Bytes, Columns, Key, Result, RowBuilder, RowRange, TimeRange};

use super::post_filter::PostFilter;
use super::row::{QueryMatcher, ReadBudget, RowRead};
use super::trace::{FamilyTrace, ReadTrace, TracedSource};
use super::{Merge, ReadAt, Rules, Source};
use crate::block_cache::Caching;
use crate::cells::Cells;
use crate::clock::TimestampSource;
use crate::family::{FamilyStore, SuperVersion};
use crate::memstore::{FlushResult, Memstore, MemstoreCursor};
use crate::retention::Retention;
use crate::store_file::{FileCursor, LeftOut, StoreFile};

/// The query, for each family.
pub(super) struct Query<'a> {
    pub(super) columns: &'a Columns,
    pub(super) time_range: TimeRange,
    pub(super) family_time_ranges: &'a BTreeMap<Bytes, TimeRange>,
    pub(super) versions: u32,
    pub(super) rows: Rows<'a>,
    /// Blocks read for it are added to the block cache.
    pub(super) cache_blocks: bool,
    pub(super) reversed: bool,
    /// Returns everything stored.
    pub(super) raw: bool,
    /// A filter decides as well; versions are counted after it.
    pub(super) filtered: bool,
    /// Limits applied to visible cells.
    pub(super) post_filter: PostFilter,
}

/// The requested rows.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    One(&'a [u8]),
    Range(&'a RowRange),
}

impl Rows<'_> {
    /// True if `row`, which holds the first cell at or after the start, can be a requested row.
    fn may_hold(&self, row: &[u8]) -> bool {
        match self {
            Self::One(requested) => *requested == row,
            Self::Range(range) => range.stop.is_empty() || row < &range.stop[..],
        }
    }

    fn first(&self) -> &[u8] {
        match self {
            Self::One(row) => row,
            Self::Range(range) => &range.start,
        }
    }
}

impl Query<'_> {
    /// Returns the time range requested for the family.
    pub(super) fn time_range_of(&self, family: &Bytes) -> TimeRange {
        self.family_time_ranges.get(family).copied().unwrap_or(self.time_range)
    }

    /// True if the query sees no cell that a flush in the family dropped under `retention`.
    pub(super) fn sees_nothing_dropped(&self, family: &FamilyStore, retention: &Retention) -> bool {
        let time_range = self.time_range_of(family.name());
        !self.raw && retention.hides_dropped(&family.retention(), &time_range)
    }

    /// Returns how the read uses the block cache.
    pub(super) fn caching(&self, family: &FamilyStore) -> Caching {
        if self.cache_blocks { family.caching() } else { Caching::LookOnly }
    }

    /// Whether a file in the family may have versions that matter; `false` is certain.
    fn may_hold_times(&self, file: &StoreFile, family: &FamilyStore) -> bool {
        family.retention().needs_all_times()
            || file.may_hold_versions(&self.time_range_of(family.name()))
    }

    /// Returns why [`Query::may_be_in`] is `false`.
    #[cold]
    pub(super) fn why_left_out(&self, file: &StoreFile, family: &FamilyStore) -> LeftOut {
        let has_rows = match self.rows {
            Rows::One(row) => file.may_hold_rows(&RowRange::row(row)),
            Rows::Range(range) => file.may_hold_rows(range),
        };
        match (self.may_hold_times(file, family), has_rows) {
            (false, _) => LeftOut::Times,
            (true, false) => LeftOut::Rows,
            (true, true) => LeftOut::Bloom,
        }
    }

    /// Whether a file in the family may have cells that matter; `false` is certain.
    pub(super) fn may_be_in(&self, file: &StoreFile, family: &FamilyStore) -> Result<bool> {
        if !self.may_hold_times(file, family) {
            return Ok(false);
        }
        match self.rows {
            Rows::One(row) => file.may_hold_row(row, || self.columns.qualifiers(family.name())),
            Rows::Range(range) => match family.bloom() {
                BloomKind::RowPrefix(len) if range.shared_prefix(len.into()).is_some() => {
                    file.may_hold_prefix(range)
                }
                _ => Ok(file.may_hold_rows(range)),
            },
        }
    }
}

/// Reads the requested cells of one family, row by row.
pub(super) struct FamilyReader<'a> {
    merge: Merge,
    matcher: QueryMatcher<'a>,
    caching: Caching,
}

/// The outcome of looking for the family's first requested cell in a snapshot.
pub(super) enum FirstCell {
    Merge(Merge),
    /// There is none.
    Nothing,
    /// The read point is too old to read the family.
    TooOld,
}

/// Finds the first cell in the requested rows; a reverse read starts after the last requested row.
pub(super) fn find(family: &FamilyStore, query: &Query<'_>, at: ReadAt<'_>) -> Result<FirstCell> {
    let Some(super_version) = at.super_version(family, query)? else {
        return Ok(FirstCell::TooOld);
    };
    find_in(&super_version, family, query, at)
}

/// As [`find`], in the super version of `at`.
#[inline]
pub(super) fn find_in(
    super_version: &SuperVersion,
    family: &FamilyStore,
    query: &Query<'_>,
    at: ReadAt<'_>,
) -> Result<FirstCell> {
    let sources = match at.trace() {
        None => select_sources(family, query, super_version, at.sequence(), None)?,
        Some(trace) => select_traced(family, query, super_version, at.sequence(), trace)?,
    };
    if sources.is_empty() {
        return Ok(FirstCell::Nothing);
    }
    if query.reversed {
        return Ok(FirstCell::Merge(Merge::backward(sources, at.sequence())));
    }
    let merge = Merge::new(sources, at.sequence())?;
    let first = merge.cell().is_some_and(|cell| query.rows.may_hold(cell.key.row));
    Ok(if first { FirstCell::Merge(merge) } else { FirstCell::Nothing })
}

/// Selects the memstores and files that may have cells in the requested rows, at the first
/// requested row.
// Inlined in both callers; one passes no trace. In a common function, the trace code took 9 % in a
// get without a trace that finds nothing.
#[inline(always)]
fn select_sources(
    family: &FamilyStore,
    query: &Query<'_>,
    super_version: &SuperVersion,
    sequence: u64,
    trace: Option<&FamilyTrace>,
) -> Result<Vec<Source>> {
    let memstores = super_version.frozen.iter().chain([&super_version.active]);
    // A memstore whose cells are all newer than the read point is left out, so that the read does
    // not keep it in memory.
    let is_visible = |first: u64| first <= sequence;
    let memstores = memstores.filter(|memstore| {
        memstore.first_sequence().is_some_and(is_visible)
            && match query.rows {
                Rows::One(row) => memstore.may_hold_row(row),
                Rows::Range(_) => true,
            }
    });
    let start = Key::row_start(query.rows.first());
    let caching = query.caching(family);
    let mut sources = Vec::new();
    for memstore in memstores {
        let memstore = Arc::clone(memstore);
        let source = Source::Memory(if query.reversed {
            MemstoreCursor::at_end(memstore)
        } else {
            MemstoreCursor::new(memstore, &start)
        });
        sources.push(match trace {
            Some(trace) => trace.of_memory(source),
            None => source,
        });
    }
    for file in &super_version.files {
        let trace = trace.map(|trace| trace.file(file));
        if query.may_be_in(file, family)? {
            let source = if query.reversed {
                Source::File(FileCursor::at_end(file, caching)?.traced(trace.as_ref()))
            } else if file.first_row() > start.row {
                Source::Waiting(Arc::clone(file), caching)
            } else {
                let trace = trace.as_ref();
                Source::File(match query.rows {
                    Rows::One(_) => FileCursor::open_row(file, &start, caching, trace)?,
                    Rows::Range(_) => FileCursor::open_traced(file, &start, caching, trace)?,
                })
            };
            sources.push(match &trace {
                Some(trace) => TracedSource::of_file(source, trace),
                None => source,
            });
        } else if let Some(trace) = trace {
            trace.leave_out(query.why_left_out(file, family));
        }
    }
    Ok(sources)
}

/// As [`select_sources`], for a read whose read point has a trace.
#[cold]
fn select_traced(
    family: &FamilyStore,
    query: &Query<'_>,
    super_version: &SuperVersion,
    sequence: u64,
    trace: &ReadTrace,
) -> Result<Vec<Source>> {
    let trace = trace.family(family);
    select_sources(family, query, super_version, sequence, trace.as_deref())
}

impl<'a> FamilyReader<'a> {
    /// Creates a reader for the merge that [`find`] returned.
    pub(super) fn new(
        timestamps: &TimestampSource,
        family: &FamilyStore,
        query: &Query<'a>,
        merge: Merge,
    ) -> Self {
        // Read the clock after taking the super version: a cell that a compaction dropped as
        // expired has then expired for this reader, too.
        Self::at_time(timestamps.now_millis(), family, query, merge)
    }

    /// As [`FamilyReader::new`], for the cells that are visible at a time.
    pub(super) fn at_time(
        now_millis: i64,
        family: &FamilyStore,
        query: &Query<'a>,
        merge: Merge,
    ) -> Self {
        let qualifiers = query.columns.qualifiers(family.name());
        let time_range = query.time_range_of(family.name());
        let retention = family.retention();
        let versions = query.versions;
        let mut rules = if query.raw {
            Rules::raw(retention, time_range, versions, now_millis)
        } else {
            Rules::read(retention, qualifiers, time_range, versions, now_millis)
        };
        let mut post_filter = query.post_filter;
        if query.filtered {
            (rules, post_filter.versions) = rules.before_filter();
        }
        let is_one = matches!(query.rows, Rows::One(_));
        let matcher = QueryMatcher::new(rules, family.name().clone(), is_one, post_filter);
        Self { merge, matcher, caching: query.caching(family) }
    }

    /// As [`Visible::own_until_millis`], for the cells read so far.
    pub(super) fn own_until_millis(&self) -> i64 {
        self.matcher.visible.own_until_millis()
    }

    /// As [`Visible::newest_marker_millis`], for the rows read so far.
    pub(super) fn newest_marker_millis(&self) -> i64 {
        self.matcher.visible.newest_marker_millis()
    }

    /// Returns a reader that borrows nothing from the query.
    pub(super) fn into_owned(self) -> FamilyReader<'static> {
        FamilyReader { matcher: self.matcher.into_owned(), ..self }
    }

    /// Releases memstores that were flushed meanwhile and continues in their files.
    pub(super) fn follow_flushes(&mut self, between_rows: bool) -> Result<()> {
        let Self { merge, matcher, caching } = self;
        let backward = matcher.post_filter.reversed;
        if (backward && !between_rows) || merge.is_traced() {
            return Ok(());
        }
        loop {
            let rules = matcher.visible.rules();
            let can_follow = |flushed: &&Arc<FlushResult>| {
                // If the flush did not know about it, it may have dropped too much.
                flushed.readable_from <= merge.sequence_max()
                    && (flushed.readable_from == 0
                        || rules.sees_nothing_dropped(&flushed.retention))
            };
            let mut flushed = merge.memstores().filter_map(|memstore| memstore.flushed());
            let next = flushed.find(can_follow).map(Arc::clone);
            drop(flushed);
            let Some(flushed) = next else { break };
            if backward {
                merge.follow_flush_backward(&flushed, *caching)?;
            } else {
                merge.follow_flush(&flushed, *caching)?;
            }
            if flushed.readable_from > 0 {
                matcher.visible.advance_clock(flushed.now_millis);
            }
        }
        Ok(())
    }

    /// As [`Merge::rest`].
    pub(super) fn rest(&mut self) {
        self.merge.rest();
    }

    /// As [`Merge::wake`].
    pub(super) fn wake(&mut self) -> Result<()> {
        self.merge.wake()
    }

    /// Whether a memstore that it reads was flushed.
    pub(super) fn holds_flushed(&self) -> bool {
        self.merge.memstores().any(|memstore| memstore.flushed().is_some())
    }

    /// Whether it reads from memory.
    pub(super) fn holds_memstores(&self) -> bool {
        self.merge.memstores().next().is_some()
    }

    /// Returns the bytes of this reader's memstores that only readers hold.
    pub(super) fn held_bytes(&self) -> u64 {
        self.merge.memstores().map(|memstore: &Arc<Memstore>| memstore.held_bytes()).sum()
    }

    /// Returns the family's name.
    pub(super) fn name(&self) -> &Bytes {
        self.matcher.family()
    }

    /// Returns the current cell's row; `None` after the last.
    pub(super) fn row(&self) -> Option<&[u8]> {
        self.merge.cell().filter(|_| !self.matcher.is_over).map(|cell| cell.key.row)
    }

    /// Adds the visible cells of `row` to `cells` within the budget, and moves past the row once
    /// all are added.
    pub(super) fn read_row(
        &mut self,
        row: &[u8],
        budget: &mut ReadBudget,
        cells: &mut RowBuilder,
    ) -> Result<RowRead> {
        let Self { merge, matcher, .. } = self;
        match merge.only_file_with(row) {
            Some(cursor) => {
                let read = matcher.read_row(cursor, row, budget, cells)?;
                merge.settle()?;
                Ok(read)
            }
            None => matcher.read_row(merge, row, budget, cells),
        }
    }

    /// As [`FamilyReader::read_row`], but returns only cells that pass the post-visibility filter.
    /// The filter may move the reader past the next row.
    pub(super) fn read_filtered_row(
        &mut self,
        row: &[u8],
        filter: Option<&mut FilterRun>,
        budget: &mut ReadBudget,
        cells: &mut RowBuilder,
    ) -> Result<RowRead> {
        self.matcher.read_filtered_row(&mut self.merge, row, filter, budget, cells)
    }

    /// Moves forward to `row` or the first row after it; never moves backward.
    pub(super) fn seek_row(&mut self, row: &[u8]) -> Result<()> {
        self.merge.seek(&Key::row_start(row))
    }

    /// Moves to the last row before `row`, or to the last row if it is `None`. Only for reverse
    /// reads, like the next two functions.
    pub(super) fn seek_row_before(&mut self, row: Option<&[u8]>) -> Result<()> {
        self.merge.seek_row_before(row)
    }

    /// Moves back from `row`, which was read: to the row before it, or to the filter's hint.
    pub(super) fn go_back(&mut self, row: &[u8]) -> Result<()> {
        match self.matcher.take_row_to_go_back_to() {
            Some(to) => self.go_back_to(&to),
            // The reader had no cells in `row` and is already before it.
            None if self.row().is_some_and(|here| here < row) => Ok(()),
            None => self.merge.seek_row_before(Some(row)),
        }
    }

    /// Moves back to `row` or to the last row before it.
    pub(super) fn go_back_to(&mut self, row: &[u8]) -> Result<()> {
        if self.row().is_some_and(|here| here <= row) {
            return Ok(());
        }
        let mut end = row.to_vec();
        end.push(0);
        self.merge.seek_row_before(Some(&end))
    }
}
