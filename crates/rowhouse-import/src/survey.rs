//! Checks all rows before any is written: for rejected rows and for rows with the same key as
//! another row.

use rowhouse::filter::Filter;
use rowhouse::key::{KeySchema, escape};
use rowhouse::{Bytes, Result, RowRange, Scan, Table};
use rowhouse_model::{FilterRange, ListOperator, escape_line};

use crate::cells;
use crate::lanes::PositionSamples;
use crate::progress::{Reporter, Step};
use crate::rejects::Rejects;
use crate::rows::{InputPosition, Inputs};
use crate::sort::{Entry, Sorter};

/// Row counts by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All rows in the files.
    pub rows: u64,
    /// Rows that cannot be written.
    pub rejected: u64,
    /// Rows with the same key as an earlier row.
    pub same_key: u64,
    /// Keys of the other rows that are already in the table.
    pub in_table: u64,
}

/// The check's result.
pub(crate) struct Survey {
    pub(crate) counts: Counts,
    /// The first rows with the same key as another row.
    pub(crate) examples: Vec<String>,
    /// The keys in order, with their cells if requested.
    pub(crate) sorter: Sorter,
    /// Whether the rows are in key order in the files.
    pub(crate) is_in_order: bool,
    /// Positions among them.
    pub(crate) marks: PositionSamples,
}

/// Settings for the check.
pub(crate) struct SurveyOptions<'t> {
    pub(crate) key: &'t KeySchema,
    pub(crate) inputs: &'t Inputs,
    /// The table, if it may already have rows.
    pub(crate) table: Option<&'t Table>,
    /// Whether cells are sorted with their keys.
    pub(crate) with_cells: bool,
    /// Limit on key and cell bytes in memory.
    pub(crate) memory: usize,
}

impl SurveyOptions<'_> {
    /// Reads all files.
    pub(crate) async fn run(
        &self,
        rejects: &mut Rejects,
        reporter: &mut Reporter,
    ) -> Result<Survey> {
        let mut counts = Counts::default();
        let mut sorter = Sorter::new(self.memory);
        let mut rows = self.inputs.rows(InputPosition::default())?;
        let mut file = 0;
        let mut before = Bytes::new();
        let mut is_in_order = true;
        let mut marks = PositionSamples::new();
        while let Some(read) = rows.next()? {
            if read.file != file {
                rejects.finish_file()?;
                file = read.file;
            }
            counts.rows += 1;
            match read.row {
                Ok(row) => {
                    let payload =
                        if self.with_cells { cells::pack(&row.cells) } else { Vec::new() };
                    let from = from(read.file, read.place.line);
                    is_in_order &= before <= row.key;
                    before = row.key.clone();
                    sorter.push(Entry { key: row.key.to_vec(), from, payload })?;
                }
                Err(why) => {
                    let original = rows.original(&read.place)?;
                    let path = self.inputs.path(read.file);
                    rejects.push(path, &why, &original)?;
                }
            }
            marks.count(rows.reached());
            reporter.report(Step::Reading, counts.rows, rows.bytes_done());
        }
        rejects.finish_file()?;
        counts.rejected = rejects.count();
        let mut survey = Survey { counts, examples: Vec::new(), sorter, is_in_order, marks };
        self.compare(&mut survey, reporter).await?;
        Ok(survey)
    }

    /// Compares the keys in order: equal keys are adjacent.
    async fn compare(&self, survey: &mut Survey, reporter: &mut Reporter) -> Result<()> {
        let Survey { counts, examples, sorter, .. } = survey;
        let mut sorted = sorter.sorted()?;
        let mut before: Option<Entry> = None;
        let mut candidates = Vec::new();
        let mut done = 0;
        while let Some(entry) = sorted.next()? {
            done += 1;
            reporter.report(Step::Comparing, done, self.inputs.bytes());
            if let Some(before) = before.as_ref().filter(|before| before.key == entry.key) {
                counts.same_key += 1;
                if examples.len() < EXAMPLES {
                    let this = self.shown(entry.from);
                    let that = self.shown(before.from);
                    let key = self.key_text(&entry.key);
                    examples.push(format!("{this} has the key of {that}: {key}"));
                }
            } else if let Some(table) = self.table {
                candidates.push((Bytes::copy_from_slice(&entry.key), entry.from));
                if candidates.len() == LOOKUP_ROWS_MAX {
                    self.look_up(table, &mut candidates, counts, examples).await?;
                }
            }
            before = Some(entry);
        }
        match self.table {
            Some(table) if !candidates.is_empty() => {
                self.look_up(table, &mut candidates, counts, examples).await
            }
            _ => Ok(()),
        }
    }

    /// Returns which of these rows, in order, the table has.
    async fn look_up(
        &self,
        table: &Table,
        candidates: &mut Vec<(Bytes, u64)>,
        counts: &mut Counts,
        examples: &mut Vec<String>,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (candidates.first(), candidates.last()) else {
            return Ok(());
        };
        let range = RowRange::new(first.0.clone(), key_after(&last.0));
        let mut rows = table.scan(Scan::new(range).filter(only(candidates))).await?;
        while let Some(row) = rows.next().await? {
            counts.in_table += 1;
            let at = candidates.binary_search_by(|(key, _)| key[..].cmp(row.key()));
            if let (Ok(at), true) = (at, examples.len() < EXAMPLES) {
                let shown = self.shown(candidates[at].1);
                let key = self.key_text(row.key());
                examples.push(format!("{shown} has the key of a row of the table: {key}"));
            }
        }
        candidates.clear();
        Ok(())
    }

    /// Returns a key's fields, on one line.
    fn key_text(&self, key: &[u8]) -> String {
        match self.key.decode(key) {
            Ok(values) => escape_line(&values.to_string()),
            Err(_) => escape(key),
        }
    }

    /// Returns a row's position for messages.
    fn shown(&self, from: u64) -> String {
        let path = self.inputs.path((from >> LINE_BITS) as usize);
        format!("{}, line {}", path.display(), from & ((1 << LINE_BITS) - 1))
    }
}

/// Returns a filter that passes the first cell in each of these rows, without the value.
fn only(candidates: &[(Bytes, u64)]) -> Filter {
    let ranges = candidates.iter().map(|(key, _)| FilterRange {
        start: key.clone(),
        start_inclusive: true,
        stop: key.clone(),
        stop_inclusive: true,
    });
    let filters = vec![
        Filter::MultiRowRange(ranges.collect()),
        Filter::FirstKeyOnly,
        Filter::KeyOnly { length_as_value: false },
    ];
    Filter::List { operator: ListOperator::And, filters }
}

/// Returns the first key after `key`.
fn key_after(key: &[u8]) -> Bytes {
    [key, b"\0"].concat().into()
}

/// Returns a number that rises with files and their lines.
fn from(file: usize, line: u64) -> u64 {
    (file as u64) << LINE_BITS | line
}

const LINE_BITS: u32 = 44;
const LOOKUP_ROWS_MAX: usize = 1_000;
const EXAMPLES: usize = 3;
