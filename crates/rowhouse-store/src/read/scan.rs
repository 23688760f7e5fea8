//! Scanners of a region: rows of all its families, one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{Error, ErrorKind, Result, Row, RowBuilder, RowRange, Scan};

use super::family::{Asked, FamilyReader, Found, Rows, find};
use super::{At, ReadPoint};
use crate::engine::Engine;
use crate::family::FamilyStore;

/// How many rows a scanner gives between two looks at the clock, which would cost as much as a row.
const ROWS_BETWEEN_CHECKS: u32 = 64;

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
    /// It met an error, and what it had is let go of.
    failed: bool,
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
            let at = At::of(engine, point);
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
            failed: false,
        })
    }

    /// The next row that has anything to show; `None` behind the last.
    ///
    /// # Errors
    /// `Io` and `Corruption`; `UnknownScanner` when it has been open for too long, and after any error:
    /// it does not come to an end that is none.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not borrow later")]
    pub fn next(&mut self) -> Result<Option<Row>> {
        if self.failed {
            let message = "the scanner has failed before, begin another";
            return Err(Error::new(ErrorKind::UnknownScanner, message));
        }
        let next = self.read_next();
        if next.is_err() {
            self.failed = true;
            // The files and memstores.
            self.families.clear();
        }
        next
    }

    fn read_next(&mut self) -> Result<Option<Row>> {
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
        let Some(first) = families.iter().filter_map(FamilyReader::row).min() else {
            return false;
        };
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
