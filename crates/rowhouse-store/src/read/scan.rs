//! Rows out of cells: point reads and scanners of a region.

use std::ops::Bound;
use std::sync::Arc;

use rowhouse_model::{Bytes, Cell, Columns, Get, Key, Result, Row, RowRange, Scan, TimeRange};

use super::{Merge, Rules, Source, Verdict, Visible};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::memstore::MemstoreCursor;
use crate::mvcc::ReadPoint;
use crate::store_file::{FileCursor, StoreFile};

/// How many cells are stepped over before a seek is tried: a step costs a comparison, a seek a
/// search in every source.
const STEPS_BEFORE_SEEK: usize = 8;

/// How many bytes may lie between two cells of an answer for both to share their blocks.
const PASSED_BYTES_MAX: usize = 4096;

/// Reads one row at this moment.
pub(crate) fn read_row(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    get: &Get,
) -> Result<Row> {
    let asked = Asked {
        columns: &get.columns,
        time_range: get.time_range,
        versions: get.versions,
        rows: Rows::One(get.row()),
    };
    let read_point = engine.mvcc.read();
    let mut cells = Vec::new();
    for family in families.iter().filter(|family| get.columns.has_family(family.name())) {
        let mut reader = FamilyReader::open(engine, family, &asked, read_point.sequence())?;
        if reader.merge.cell().is_some() {
            reader.read_row(get.row(), &mut cells)?;
        }
        if get.existence_only && !cells.is_empty() {
            break;
        }
    }
    Ok(Row::new(cells))
}

/// A scan of one region, open: it sees what was there when it was opened, as long as it lives.
pub struct RegionScanner {
    families: Vec<FamilyReader>,
    range: RowRange,
    rows_left: u64,
    /// Cells of the last row: the next one may well have as many.
    row_len: usize,
    read_point: ReadPoint,
}

impl RegionScanner {
    pub(crate) fn open(
        engine: &Arc<Engine>,
        families: &[Arc<FamilyStore>],
        region: &RowRange,
        scan: &Scan,
    ) -> Result<Self> {
        let range = scan.range.intersect(region);
        let read_point = engine.mvcc.read();
        let mut readers = Vec::with_capacity(families.len());
        if !range.is_empty() {
            let asked = Asked {
                columns: &scan.columns,
                time_range: scan.time_range,
                versions: scan.versions,
                rows: Rows::Range(&range),
            };
            for family in families.iter().filter(|family| scan.columns.has_family(family.name())) {
                readers.push(FamilyReader::open(engine, family, &asked, read_point.sequence())?);
            }
        }
        let rows_left = scan.limit.unwrap_or(u64::MAX);
        Ok(Self { families: readers, range, rows_left, row_len: 0, read_point })
    }

    /// The next row that has anything to show; `None` behind the last.
    ///
    /// # Errors
    /// `Io` and `Corruption`; the scanner is of no use afterwards.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not borrow later")]
    pub fn next(&mut self) -> Result<Option<Row>> {
        if self.rows_left == 0 {
            return Ok(None);
        }
        while let Some(row) = self.next_row_key() {
            let mut cells = Vec::with_capacity(self.row_len);
            for family in &mut self.families {
                family.read_row(&row, &mut cells)?;
            }
            if !cells.is_empty() {
                self.row_len = cells.len();
                self.rows_left -= 1;
                return Ok(Some(Row::new(cells)));
            }
        }
        Ok(None)
    }

    /// The sequence it reads at.
    pub fn read_point(&self) -> u64 {
        self.read_point.sequence()
    }

    fn next_row_key(&self) -> Option<Bytes> {
        let rows = self.families.iter().filter_map(|family| family.merge.cell());
        let row = rows.map(|cell| cell.key.row).min()?;
        self.range.contains(row).then(|| Bytes::copy_from_slice(row))
    }
}

/// What is asked of each family.
struct Asked<'a> {
    columns: &'a Columns,
    time_range: TimeRange,
    versions: u32,
    rows: Rows<'a>,
}

#[derive(Clone, Copy)]
enum Rows<'a> {
    One(&'a [u8]),
    Range(&'a RowRange),
}

impl Rows<'_> {
    fn first(&self) -> &[u8] {
        match self {
            Self::One(row) => row,
            Self::Range(range) => &range.start,
        }
    }

    /// Whether a file may have any of them; `false` is certain.
    fn may_be_in(self, engine: &Engine, file: &StoreFile) -> Result<bool> {
        match self {
            Self::One(row) => file.may_hold_row(engine, row),
            Self::Range(range) => Ok(file.may_hold_rows(range)),
        }
    }
}

/// The visible cells of one family, row by row.
struct FamilyReader {
    merge: Merge,
    visible: Visible,
    /// Bytes passed over since a cell was last part of an answer.
    passed: usize,
    family: Bytes,
    /// Only one row is read: nothing behind it matters.
    single_row: bool,
}

impl FamilyReader {
    /// Opens a reader at the first of the rows.
    fn open(
        engine: &Arc<Engine>,
        family: &FamilyStore,
        asked: &Asked<'_>,
        sequence: u64,
    ) -> Result<Self> {
        let rules = Rules::read(
            family.descriptor(),
            asked.columns.qualifiers(family.name()),
            asked.time_range,
            asked.versions,
            engine.timestamps.now_millis(),
        );
        let start = Key::row_start(asked.rows.first());
        let parts = family.parts();
        let mut sources = Vec::with_capacity(parts.files.len() + parts.frozen.len() + 1);
        for memstore in parts.frozen.iter().chain([&parts.active]) {
            if !memstore.is_empty() {
                let cursor = MemstoreCursor::new(Arc::clone(memstore), &start);
                sources.push(Source::Memory(cursor));
            }
        }
        for file in &parts.files {
            if asked.rows.may_be_in(engine, file)? {
                sources.push(Source::File(FileCursor::open(engine, file, &start)?));
            }
        }
        Ok(Self {
            merge: Merge::new(sources, sequence)?,
            visible: Visible::new(rules),
            passed: 0,
            family: family.name().clone(),
            single_row: matches!(asked.rows, Rows::One(_)),
        })
    }

    /// Adds the visible cells of `row` to `cells` and goes to the next row.
    fn read_row(&mut self, row: &[u8], cells: &mut Vec<Cell>) -> Result<()> {
        self.visible.begin_row();
        loop {
            let Some(cell) = self.merge.cell().filter(|cell| cell.key.row == row) else {
                return Ok(());
            };
            let verdict = self.visible.judge(&cell);
            if matches!(verdict, Verdict::Include | Verdict::IncludeLast) {
                cells.extend(self.take_cell());
            } else {
                self.passed += cell.value.len() + cell.key.row.len();
            }
            match verdict {
                Verdict::Include | Verdict::Skip => self.merge.advance()?,
                Verdict::IncludeLast | Verdict::NextColumn => {
                    if !self.leave_column(row)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The current cell. It shares its block, unless cells of answers are few and far between:
    /// then each would keep a block of its own in memory.
    fn take_cell(&mut self) -> Option<Cell> {
        let passed = std::mem::take(&mut self.passed);
        let is_sparse = passed > PASSED_BYTES_MAX
            && self.merge.cell().is_some_and(|cell| cell.value.len() < passed);
        self.merge.to_cell(is_sparse)
    }

    /// To the first cell behind the current column that can matter: cells of one family are told
    /// apart by row and qualifier. `false` when no more of this row is wanted and it is the only one.
    fn leave_column(&mut self, row: &[u8]) -> Result<bool> {
        let Self { merge, visible, passed, family, single_row } = self;
        let qualifier = visible.qualifier();
        let wanted = visible.rules().qualifiers.as_ref();
        // The next column that was asked for may be far, or none.
        let next = wanted.map(|wanted| wanted.range::<[u8], _>(behind(qualifier)).next());
        if *single_row && next == Some(None) {
            return Ok(false);
        }
        for _ in 0..STEPS_BEFORE_SEEK {
            merge.advance()?;
            let Some(cell) = merge.cell() else { return Ok(true) };
            let in_front = match next {
                None => cell.key.qualifier == qualifier,
                Some(Some(next)) => cell.key.qualifier < &next[..],
                Some(None) => true,
            };
            if !in_front || cell.key.row != row {
                return Ok(true);
            }
            *passed += cell.value.len() + cell.key.row.len();
        }
        // Whatever lies between is not known.
        *passed += PASSED_BYTES_MAX + 1;
        merge.seek(&match next {
            None => Key::column_end(row, family, qualifier),
            Some(Some(next)) => Key::column_start(row, family, next),
            Some(None) => Key::row_end(row),
        })?;
        Ok(true)
    }
}

/// Everything above `qualifier`.
fn behind(qualifier: &[u8]) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (Bound::Excluded(qualifier), Bound::Unbounded)
}
