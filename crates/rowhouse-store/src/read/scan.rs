//! Rows out of cells: point reads and scanners of a region.

use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, Cell, Columns, Error, ErrorKind, Get, Key, Result, Row, RowRange, Scan, TimeRange,
};

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
            return Ok(Row::new(cells));
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
) -> Result<Option<Vec<Cell>>> {
    let mut cells = Vec::new();
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
    /// Cells of the last row: the next one may well have as many.
    row_len: usize,
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
            row_len: 0,
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
        self.check_age()?;
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

    fn next_row_key(&self) -> Option<Bytes> {
        let rows = self.families.iter().filter_map(|family| family.merge.cell());
        let row = rows.map(|cell| cell.key.row).min()?;
        self.range.contains(row).then(|| Bytes::copy_from_slice(row))
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
        Self {
            merge,
            visible: Visible::new(rules),
            passed: 0,
            family: family.name().clone(),
            single_row: matches!(asked.rows, Rows::One(_)),
        }
    }

    /// The same, for longer than the question lives.
    fn into_owned(self) -> FamilyReader<'static> {
        FamilyReader { visible: self.visible.into_owned(), ..self }
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
