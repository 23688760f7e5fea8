//! How a workload's writes are spread over a design's regions.

use rowhouse_model::{Bytes, Result};

use super::regions::{BusiestShares, RegionModel};
use super::table_design::Design;
use super::workload::{Record, Workload};
use crate::key::KeySchema;

/// A row or entry that is written costs as much as this many rows that are read: a call, like a
/// range.
pub const ROWS_PER_WRITE: f64 = 10.0;
/// Intervals in which writes are counted.
const INTERVALS: u64 = 48;
/// Intervals at the beginning that are not counted: the table gets its regions there.
const UNCOUNTED: usize = 24;

/// A workload's writes under one design: to the table, and to each index table.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The table first, then the indexes in design order.
    pub tables: Vec<TableSpread>,
}

/// The writes to one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSpread {
    /// The index name; `None` for the table itself.
    pub index: Option<String>,
    /// The largest shares in each interval in the second half of the time, oldest first.
    pub intervals: Vec<BusiestShares>,
    /// The first key of each region but the first, at the end.
    pub splits: Vec<Bytes>,
    /// Rows written, or entries.
    pub writes: u64,
    /// How many key bytes are written.
    pub key_bytes: u64,
}

impl Spread {
    /// Writes all rows in a workload to a region model and counts.
    ///
    /// A table whose template determines how keys are distributed begins with all regions, any
    /// other table with one. Regions divide at the row count that makes the workload's region
    /// count, if they are filled.
    ///
    /// ```
    /// use rowhouse_schema::{Design, Spread, Workload};
    ///
    /// let text = "field at millis: now\nfield user string: 500 values\nrows 10000";
    /// let workload = Workload::parse(text)?;
    /// let spread = |key| Spread::of(&workload, &Design::new(&workload, key, "")?);
    ///
    /// // All new rows are after the older ones: one region takes all of them.
    /// assert_eq!(spread("[at millis][user string]")?.median(), 1.0);
    /// assert!(spread("[user string][at millis]")?.median() < 0.15);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Workload::record`], [`Design::key_of`] and [`Design::entries`].
    pub fn of(workload: &Workload, design: &Design) -> Result<Self> {
        let tables = count(workload, Counted::all(workload, design), |number| {
            let record = workload.record(number)?;
            let key = design.key_of(&record, number)?;
            let mut keys = design.entries(&key, &record)?;
            keys.insert(0, vec![key]);
            Ok(keys)
        });
        Ok(Self { tables: tables? })
    }

    /// Returns what the writes cost per second, in rows read: ten for each row and entry, times the
    /// servers that the busiest region's share would keep as busy.
    ///
    /// With a share below an even part of the servers nothing is added: no server has less to do.
    /// A table whose writes all go to one of four servers costs as much as one with four times the
    /// writes, evenly spread.
    ///
    /// ```
    /// use rowhouse_schema::{Design, Spread, Workload};
    ///
    /// let text = "field at millis: now\nfield user string: 500 values\nrows 10000\nwrite 5/s";
    /// let workload = Workload::parse(text)?;
    /// let load = |key| {
    ///     let spread = Spread::of(&workload, &Design::new(&workload, key, "")?)?;
    ///     Ok::<_, rowhouse_model::Error>(spread.load(&workload))
    /// };
    /// assert_eq!(load("[at millis][user string]")?, 200.0);
    /// assert_eq!(load("[user string][at millis]")?, 50.0);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn load(&self, workload: &Workload) -> f64 {
        let rows = self.tables.first().map_or(1, |table| table.writes).max(1) as f64;
        let per_row = self.tables.iter().map(|table| {
            table.writes as f64 / rows * (table.median() * workload.servers() as f64).max(1.0)
        });
        ROWS_PER_WRITE * workload.writes_per_second() * per_row.fold(0.0, |sum, load| sum + load)
    }

    /// The largest share of the writes, from 0 to 1, that a region takes in the median interval: a
    /// region of the table or of the index where it is greatest.
    pub fn median(&self) -> f64 {
        self.tables.iter().map(TableSpread::median).fold(0.0, f64::max)
    }

    /// As [`Spread::median`], for the server with the most writes.
    pub fn median_of_servers(&self) -> f64 {
        self.tables.iter().map(TableSpread::median_of_servers).fold(0.0, f64::max)
    }

    /// Entries written for each row.
    ///
    /// ```
    /// use rowhouse_schema::{Design, Spread, Workload};
    ///
    /// let text = "field n u64: sequence\ncolumn d:s state u8: 2 values\nrows 1000";
    /// let workload = Workload::parse(text)?;
    /// let indexes = "by_state [state]; low [state] where state = 0";
    /// let design = Design::new(&workload, "[n u64]", indexes)?;
    /// let entries = Spread::of(&workload, &design)?.entries_per_row();
    /// assert!((1.4..1.6).contains(&entries));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn entries_per_row(&self) -> f64 {
        let rows = self.tables.first().map_or(1, |table| table.writes).max(1);
        self.tables.iter().skip(1).map(|table| table.writes).sum::<u64>() as f64 / rows as f64
    }
}

impl TableSpread {
    /// Writes cells to a region model for a table with this template, where `key` returns each
    /// cell's row.
    pub(super) fn of_cells(
        workload: &Workload,
        template: &KeySchema,
        mut key: impl FnMut(&Record, u64) -> Result<Bytes>,
    ) -> Result<Self> {
        let table = Counted::new(workload, None, template);
        let key = |number| Ok(vec![vec![key(&workload.record(number)?, number)?]]);
        let mut tables = count(workload, vec![table], key)?;
        Ok(tables.remove(0))
    }

    /// Writes keys to a region model for a table with this template: the keys of each row, in
    /// order.
    pub(super) fn of_keys(
        workload: &Workload,
        index: Option<&str>,
        template: &KeySchema,
        keys: &[Vec<Bytes>],
    ) -> Result<Self> {
        let table = Counted::new(workload, index, template);
        let mut tables =
            count(workload, vec![table], |number| Ok(vec![keys[number as usize].clone()]))?;
        Ok(tables.remove(0))
    }

    /// The busiest region's share in the median interval.
    pub fn median(&self) -> f64 {
        median(self.intervals.iter().map(|shares| shares.busiest_region))
    }

    /// The busiest server's share in the median interval.
    pub fn median_of_servers(&self) -> f64 {
        median(self.intervals.iter().map(|shares| shares.busiest_server))
    }

    /// The busiest region's share in the worst interval.
    pub fn worst(&self) -> f64 {
        self.intervals.iter().map(|shares| shares.busiest_region).fold(0.0, f64::max)
    }

    /// How many regions there are at the end.
    pub fn regions(&self) -> usize {
        self.splits.len() + 1
    }
}

fn median(shares: impl Iterator<Item = f64>) -> f64 {
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_unstable_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied().unwrap_or(0.0)
}

/// Makes all rows in a workload, and counts the keys that are written to each table for them.
fn count(
    workload: &Workload,
    mut tables: Vec<Counted>,
    mut keys: impl FnMut(u64) -> Result<Vec<Vec<Bytes>>>,
) -> Result<Vec<TableSpread>> {
    let rows = workload.rows();
    let mut interval = 0;
    for number in 0..rows {
        for (table, keys) in tables.iter_mut().zip(keys(number)?) {
            keys.into_iter().for_each(|key| table.write(key));
        }
        // Fits: at most the interval count.
        let ended = (u128::from(number + 1) * u128::from(INTERVALS) / u128::from(rows)) as u64;
        while interval < ended {
            interval += 1;
            for table in &mut tables {
                let shares = table.model.end_interval();
                table.intervals.push(shares);
            }
        }
    }
    Ok(tables.into_iter().map(Counted::finish).collect())
}

/// The writes to one table, while they are counted.
struct Counted {
    index: Option<String>,
    model: RegionModel,
    intervals: Vec<BusiestShares>,
    writes: u64,
    key_bytes: u64,
}

impl Counted {
    fn new(workload: &Workload, index: Option<&str>, template: &KeySchema) -> Self {
        Self {
            index: index.map(str::to_owned),
            model: model(workload, template),
            intervals: Vec::new(),
            writes: 0,
            key_bytes: 0,
        }
    }

    fn all(workload: &Workload, design: &Design) -> Vec<Self> {
        let indexes = design.indexes().iter();
        let indexes = indexes.map(|it| Self::new(workload, Some(it.name()), it.template()));
        [Self::new(workload, None, design.key())].into_iter().chain(indexes).collect()
    }

    fn write(&mut self, key: Bytes) {
        self.writes += 1;
        self.key_bytes += key.len() as u64;
        self.model.write(key);
    }

    fn finish(mut self) -> TableSpread {
        if self.intervals.len() > UNCOUNTED {
            self.intervals.drain(..UNCOUNTED);
        }
        // An index with a condition may have no entry in an interval.
        self.intervals.retain(|shares| shares.writes > 0);
        TableSpread {
            index: self.index,
            intervals: self.intervals,
            splits: self.model.splits().cloned().collect(),
            writes: self.writes,
            key_bytes: self.key_bytes,
        }
    }
}

/// Returns the regions with which a table begins.
fn model(workload: &Workload, template: &KeySchema) -> RegionModel {
    let regions = workload.regions();
    let servers = workload.servers();
    let rows_max = workload.rows().div_ceil(regions as u64);
    RegionModel::new(first_splits(template, regions), rows_max, servers)
}

/// Returns the splits of a template that determines how keys are distributed: for the region count,
/// or for fewer if the template has too few first values.
fn first_splits(template: &KeySchema, regions: usize) -> Vec<Bytes> {
    let fewer = std::iter::successors(Some(regions), |count| Some(count / 2));
    let mut fewer = fewer.take_while(|count| *count > 1);
    fewer.find_map(|count| template.splits(count).ok()).unwrap_or_default()
}
