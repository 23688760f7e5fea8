//! File parts that are read in parallel, so that rows in key order do not all go to one region at a
//! time.

use rowhouse::{Bytes, Result};

use crate::row::NewRow;
use crate::rows::{InputPosition, Inputs, Rows};

/// A file part: from one position up to another, or up to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub(crate) start: InputPosition,
    pub(crate) end: Option<InputPosition>,
}

/// Evenly spaced positions among the rows. Their number stays small.
#[derive(Debug)]
pub(crate) struct PositionSamples {
    spots: Vec<InputPosition>,
    rows: u64,
    /// How many rows are between two marks.
    distance: u64,
}

impl PositionSamples {
    pub(crate) fn new() -> Self {
        Self { spots: Vec::new(), rows: 0, distance: 1 }
    }

    /// Counts one more row, which ends at `reached`.
    pub(crate) fn count(&mut self, reached: InputPosition) {
        self.rows += 1;
        if !self.rows.is_multiple_of(self.distance) {
            return;
        }
        self.spots.push(reached);
        if self.spots.len() == MARKS_MAX {
            let mut nth = 0;
            self.spots.retain(|_| {
                nth += 1;
                nth % 2 == 0
            });
            self.distance *= 2;
        }
    }

    /// Divides the files into `count` parts with about equal row counts, or fewer if there are few
    /// rows.
    pub(crate) fn parts(&self, count: usize) -> Vec<Part> {
        let mut starts = vec![InputPosition::default()];
        starts.extend((1..count).filter_map(|nth| {
            let before = nth * self.spots.len() / count;
            self.spots.get(before.checked_sub(1)?).copied()
        }));
        starts.dedup();
        let ends = starts[1..].iter().copied().map(Some).chain([None]);
        starts.iter().zip(ends).map(|(start, end)| Part { start: *start, end }).collect()
    }
}

/// A part that is being read.
pub(crate) struct InputPart<'i> {
    rows: Rows<'i>,
    end: Option<InputPosition>,
    is_done: bool,
    /// The key in the last row taken.
    last: Option<Bytes>,
}

impl<'i> InputPart<'i> {
    pub(crate) fn open(inputs: &'i Inputs, part: &Part) -> Result<Self> {
        Ok(Self { rows: inputs.rows(part.start)?, end: part.end, is_done: false, last: None })
    }

    /// Records the key in a row that was taken.
    pub(crate) fn note(&mut self, key: &Bytes) {
        self.last = Some(key.clone());
    }

    /// Returns the key in the last row taken.
    pub(crate) fn last(&self) -> Option<Bytes> {
        self.last.clone()
    }

    /// Returns the next row that is not rejected, and the place.
    pub(crate) fn next(&mut self) -> Result<Option<(InputPosition, NewRow)>> {
        while !self.is_done {
            let read =
                if self.end == Some(self.rows.reached()) { None } else { self.rows.next()? };
            let Some(read) = read else {
                self.is_done = true;
                continue;
            };
            // The survey has reported the others.
            if let Ok(row) = read.row {
                return Ok(Some((InputPosition { file: read.file, place: read.place }, row)));
            }
        }
        Ok(None)
    }

    /// Returns the part's unread rest.
    pub(crate) fn rest(&self) -> Part {
        Part { start: self.rows.reached(), end: self.end }
    }
}

const MARKS_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::source::RecordPosition;

    fn spot(row: u64) -> InputPosition {
        InputPosition { file: 0, place: RecordPosition { byte: row * 10, line: row, record: row } }
    }

    proptest! {
        #[test]
        fn parts_cover_all_rows_once_and_are_about_as_long(rows in 0_u64..5_000, count in 1_usize..9) {
            let mut marks = PositionSamples::new();
            (1..=rows).for_each(|row| marks.count(spot(row)));
            let parts = marks.parts(count);
            prop_assert!(parts.len() <= count);
            prop_assert_eq!(parts[0].start, InputPosition::default());
            prop_assert_eq!(parts[parts.len() - 1].end, None);
            for pair in parts.windows(2) {
                prop_assert_eq!(pair[0].end, Some(pair[1].start));
                prop_assert!(pair[0].start.place.line < pair[1].start.place.line);
            }
            if rows as usize >= MARKS_MAX {
                let end = |part: &Part| part.end.map_or(rows, |end| end.place.line);
                let length = |part: &Part| end(part) - part.start.place.line;
                let longest = parts.iter().map(length).max().unwrap();
                prop_assert!(longest <= rows / count as u64 + rows / 100 + 10, "{longest}");
            }
        }
    }
}
