//! Rows out of cells: point reads and scanners of a region.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, Columns, Error, ErrorKind, Get, Key, Result, Row, RowBuilder, RowRange, Scan, TimeRange,
    equal_bytes,
};

use super::merge::Cells;
use super::{At, Merge, ReadPoint, Rules, Source, Verdict, Visible};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::memstore::MemstoreCursor;
use crate::store_file::{FileCursor, StoreFile};

/// How many cells are stepped over before a seek is tried: a step costs a comparison, a seek a
/// search in every source.
const STEPS_BEFORE_SEEK: usize = 8;

/// How many bytes may lie between two cells of an answer for both to share their blocks.
const PASSED_BYTES_MAX: usize = 4096;

/// How many rows a scanner gives between two looks at the clock, which would cost as much as a row.
const ROWS_BETWEEN_CHECKS: u32 = 64;

/// Reads one row, at this moment unless another is held.
pub(crate) fn read_row(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    point: Option<&ReadPoint>,
) -> Result<Row> {
    let asked = Asked {
        columns: &get.columns,
        time_range: get.time_range,
        versions: get.versions,
        rows: Rows::One(get.row()),
    };
    loop {
        if let Some(cells) = read_cells(engine, families, get, &asked, moment(engine, point))? {
            return Ok(cells.finish());
        }
    }
}

/// The moment to read at: what is held, or now.
fn moment<'a>(engine: &Engine, point: Option<&'a ReadPoint>) -> At<'a> {
    point.map_or_else(|| At::Sequence(engine.mvcc.visible()), At::Point)
}

/// The cells of one row as they were at a moment; `None` when that is too old by now.
fn read_cells(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    asked: &Asked<'_>,
    at: At<'_>,
) -> Result<Option<RowBuilder>> {
    let mut cells = RowBuilder::default();
    for family in families.iter().filter(|family| get.columns.has_family(family.name())) {
        match find(family, asked, at)? {
            Found::Merge(merge) => {
                FamilyReader::new(engine, family, asked, merge).read_row(get.row(), &mut cells)?;
            }
            Found::Nothing => {}
            Found::TooOld => return Ok(None),
        }
        if get.existence_only && !cells.is_empty() {
            break;
        }
    }
    Ok(Some(cells))
}

/// A scan of one region, open: it sees what was there when it was opened, as long as it lives. It
/// holds the files and memstores it reads, so merges neither wait for it nor take anything from it;
/// what they free on the disk becomes free with it. [`Settings::scan_age_max`] is how long that may
/// be.
///
/// [`Settings::scan_age_max`]: crate::Settings::scan_age_max
pub struct RegionScanner {
    families: Vec<FamilyReader<'static>>,
    range: RowRange,
    rows_left: u64,
    /// The row that is being read.
    row: Vec<u8>,
    /// Cells of the last row, and bytes copied of them: the next one may well have as many.
    usual: (usize, usize),
    read_point: u64,
    opened: Instant,
    age_max: Duration,
    rows_until_check: u32,
}

impl RegionScanner {
    pub(crate) fn open(
        engine: &Arc<Engine>,
        families: &[Arc<FamilyStore>],
        region: &RowRange,
        scan: &Scan,
        point: Option<&ReadPoint>,
    ) -> Result<Self> {
        let range = scan.range.intersect(region);
        let asked = Asked {
            columns: &scan.columns,
            time_range: scan.time_range,
            versions: scan.versions,
            rows: Rows::Range(&range),
        };
        let (read_point, readers) = loop {
            let at = moment(engine, point);
            if let Some(readers) = open_readers(engine, families, &asked, at)? {
                break (at.sequence(), readers);
            }
        };
        Ok(Self {
            families: readers,
            range,
            rows_left: scan.limit.unwrap_or(u64::MAX),
            row: Vec::new(),
            usual: (0, 0),
            read_point,
            opened: Instant::now(),
            age_max: engine.settings.scan_age_max,
            rows_until_check: 0,
        })
    }

    /// The next row that has anything to show; `None` behind the last.
    ///
    /// # Errors
    /// `Io` and `Corruption`; `UnknownScanner` when it has been open for too long. The scanner is of
    /// no use afterwards.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not borrow later")]
    pub fn next(&mut self) -> Result<Option<Row>> {
        if self.rows_left == 0 {
            return Ok(None);
        }
        loop {
            self.check_age()?;
            if !self.find_row() {
                return Ok(None);
            }
            let mut cells = RowBuilder::with_capacity(self.usual.0, self.usual.1);
            for family in &mut self.families {
                family.read_row(&self.row, &mut cells)?;
            }
            if !cells.is_empty() {
                self.usual = (cells.len(), cells.copied_len());
                self.rows_left -= 1;
                return Ok(Some(cells.finish()));
            }
        }
    }

    /// The sequence it reads at.
    pub fn read_point(&self) -> u64 {
        self.read_point
    }

    fn check_age(&mut self) -> Result<()> {
        if let Some(rows) = self.rows_until_check.checked_sub(1) {
            self.rows_until_check = rows;
            return Ok(());
        }
        let age = self.opened.elapsed();
        if age > self.age_max {
            // The files and memstores, and that it cannot go on.
            self.families.clear();
            return Err(Error::new(
                ErrorKind::UnknownScanner,
                format!(
                    "the scanner has been open for too long, begin another: age={age:?}, max={:?}",
                    self.age_max
                ),
            ));
        }
        self.rows_until_check = ROWS_BETWEEN_CHECKS;
        Ok(())
    }

    /// Finds the first row at which any family stands; false behind the last.
    fn find_row(&mut self) -> bool {
        let Self { families, range, row, .. } = self;
        let rows = families.iter().filter_map(|family| family.merge.cell());
        let Some(first) = rows.map(|cell| cell.key.row).min() else { return false };
        row.clear();
        row.extend_from_slice(first);
        range.stop.is_empty() || row[..] < range.stop[..]
    }
}

/// Readers of the families that are asked for; `None` when the moment is too old by now.
fn open_readers(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    asked: &Asked<'_>,
    at: At<'_>,
) -> Result<Option<Vec<FamilyReader<'static>>>> {
    if let Rows::Range(range) = asked.rows
        && range.is_empty()
    {
        return Ok(Some(Vec::new()));
    }
    let mut readers = Vec::with_capacity(families.len());
    for family in families.iter().filter(|family| asked.columns.has_family(family.name())) {
        match find(family, asked, at)? {
            Found::Merge(merge) => {
                readers.push(FamilyReader::new(engine, family, asked, merge).into_owned());
            }
            Found::Nothing => {}
            Found::TooOld => return Ok(None),
        }
    }
    Ok(Some(readers))
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
    /// Whether the first cell at or behind the first of them can be of any of them.
    fn may_hold(&self, row: &[u8]) -> bool {
        match self {
            Self::One(wanted) => *wanted == row,
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

impl Asked<'_> {
    /// Whether a file of the family may have anything that matters; `false` is certain.
    fn may_be_in(&self, file: &StoreFile, family: &Bytes) -> Result<bool> {
        if !file.may_hold_versions(&self.time_range) {
            return Ok(false);
        }
        match self.rows {
            Rows::One(row) => file.may_hold_row(row, self.columns.qualifiers(family)),
            Rows::Range(range) => Ok(file.may_hold_rows(range)),
        }
    }
}

/// The visible cells of one family, row by row.
struct FamilyReader<'a> {
    merge: Merge,
    judging: Judging<'a>,
}

/// What is known on the way through the cells of a family.
struct Judging<'a> {
    visible: Visible<'a>,
    /// Bytes passed over since a cell was last part of an answer.
    passed: usize,
    family: Bytes,
    /// Only one row is read: nothing behind it matters.
    single_row: bool,
}

/// Cells of a family that could be asked for, as they were at a moment.
enum Found {
    Merge(Merge),
    /// There are none.
    Nothing,
    /// The moment is too old to read the family at.
    TooOld,
}

/// Finds the first cell of the rows asked for.
fn find(family: &FamilyStore, asked: &Asked<'_>, at: At<'_>) -> Result<Found> {
    let Some(parts) = at.parts(family)? else { return Ok(Found::TooOld) };
    let start = Key::row_start(asked.rows.first());
    let mut sources = Vec::new();
    for memstore in parts.frozen.iter().chain([&parts.active]) {
        if !memstore.is_empty() {
            let cursor = MemstoreCursor::new(Arc::clone(memstore), &start);
            sources.push(Source::Memory(cursor));
        }
    }
    for file in &parts.files {
        if asked.may_be_in(file, family.name())? {
            sources.push(Source::File(FileCursor::open(file, &start)?));
        }
    }
    if sources.is_empty() {
        return Ok(Found::Nothing);
    }
    let merge = Merge::new(sources, at.sequence())?;
    let first = merge.cell().is_some_and(|cell| asked.rows.may_hold(cell.key.row));
    Ok(if first { Found::Merge(merge) } else { Found::Nothing })
}

impl<'a> FamilyReader<'a> {
    /// A reader of what was found.
    fn new(engine: &Engine, family: &FamilyStore, asked: &Asked<'a>, merge: Merge) -> Self {
        // The clock is read behind taking hold of the files: what a merge of files found to have
        // expired has expired for this reader.
        let rules = Rules::read(
            family.kept(),
            asked.columns.qualifiers(family.name()),
            asked.time_range,
            asked.versions,
            engine.timestamps.now_millis(),
        );
        let judging = Judging {
            visible: Visible::new(rules),
            passed: 0,
            family: family.name().clone(),
            single_row: matches!(asked.rows, Rows::One(_)),
        };
        Self { merge, judging }
    }

    /// The same, for longer than the question lives.
    fn into_owned(self) -> FamilyReader<'static> {
        let Self { merge, judging } = self;
        let visible = judging.visible.into_owned();
        FamilyReader { merge, judging: Judging { visible, ..judging } }
    }

    /// Adds the visible cells of `row` to `cells` and goes to the next row.
    fn read_row(&mut self, row: &[u8], cells: &mut RowBuilder) -> Result<()> {
        let Self { merge, judging } = self;
        match merge.only_file() {
            Some(cursor) => {
                judging.read_row(cursor, row, cells)?;
                merge.settle();
                Ok(())
            }
            None => judging.read_row(merge, row, cells),
        }
    }
}

impl Judging<'_> {
    /// Adds the visible cells of `row` to `cells` and goes to the next row.
    fn read_row(
        &mut self,
        from: &mut impl Cells,
        row: &[u8],
        cells: &mut RowBuilder,
    ) -> Result<()> {
        self.visible.begin_row();
        // Cells that were passed since nothing of their column was wanted any more.
        let mut behind: Option<usize> = None;
        loop {
            let Self { visible, passed, .. } = self;
            let Some(cell) = from.cell().filter(|cell| equal_bytes(cell.key.row, row)) else {
                return Ok(());
            };
            if !visible.is_in_column(&cell) {
                visible.enter_column(cell.key.qualifier);
                behind = None;
            }
            if let Some(steps) = &mut behind {
                *steps += 1;
                *passed += cell.value.len() + row.len();
                if *steps < STEPS_BEFORE_SEEK {
                    from.advance()?;
                } else {
                    // Whatever lies between is not known.
                    *passed += PASSED_BYTES_MAX + 1;
                    from.seek(&Key::column_end(row, &self.family, visible.qualifier()))?;
                }
                continue;
            }
            let verdict = visible.judge_in_column(&cell);
            if matches!(verdict, Verdict::Include | Verdict::IncludeLast) {
                // It shares its block, unless cells of answers are few and far between: then each
                // would keep a block of its own in memory.
                let passed = std::mem::take(passed);
                let is_sparse = passed > PASSED_BYTES_MAX && cell.value.len() < passed;
                from.push_to(cells, is_sparse);
            } else {
                *passed += cell.value.len() + row.len();
            }
            if matches!(verdict, Verdict::IncludeLast | Verdict::NextColumn) {
                if visible.rules().qualifiers.is_some() {
                    if !self.find_next_named_column(from, row)? {
                        return Ok(());
                    }
                    continue;
                }
                behind = Some(0);
            }
            from.advance()?;
        }
    }

    /// To the first cell of the next column that was asked for by name: it may be far, or none.
    /// `false` when no more of this row is wanted and it is the only one.
    fn find_next_named_column(&mut self, from: &mut impl Cells, row: &[u8]) -> Result<bool> {
        let Self { visible, passed, family, single_row } = self;
        let Some(wanted) = visible.rules().qualifiers.as_ref() else { return Ok(true) };
        let next = wanted.named_behind(visible.qualifier());
        if *single_row && next.is_none() {
            return Ok(false);
        }
        for _ in 0..STEPS_BEFORE_SEEK {
            from.advance()?;
            let Some(cell) = from.cell() else { return Ok(true) };
            let in_front = next.is_none_or(|next| cell.key.qualifier < &next[..]);
            if !in_front || cell.key.row != row {
                return Ok(true);
            }
            *passed += cell.value.len() + row.len();
        }
        *passed += PASSED_BYTES_MAX + 1;
        from.seek(&match next {
            Some(next) => Key::column_start(row, family, next),
            None => Key::row_end(row),
        })?;
        Ok(true)
    }
}
