//! Plans as text.

use std::fmt;

use rowhouse_model::{RowRange, escape};

use super::order::RowSequence;
use super::qualifiers::QualifierPlan;
use super::query_plan::{Plan, Residual};
use super::ranges::RANGES_MAX;
use crate::columns::ColumnAddress;
use crate::value::Value;

/// The most ranges that are printed; the others are only counted.
pub(crate) const RANGES_SHOWN: usize = 20;

impl Plan {
    /// Explains in words how the plan is read: the scan count, and where rows are filtered. Each
    /// line ends with a line end.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Predicate};
    ///
    /// let schema = KeySchema::parse("[user string][n u8]")?;
    /// let plan = schema.plan(&Predicate::parse("user = 'bob' and n > 7")?)?;
    /// let reading = "read: one range after the other\nfilter: only in the ranges\n";
    /// assert_eq!(plan.reading(), reading);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn reading(&self) -> String {
        let scans = match (self.ranges().len(), self.order().sequence()) {
            (0, _) => return "read: nothing\n".to_owned(),
            (_, RowSequence::AsRead) => "one range after the other",
            (_, RowSequence::Merged) => {
                "the streams side by side, merged by the key without its buckets"
            }
            (_, RowSequence::Physical) => {
                "one range after the other; a query that asks for the order of fields is refused"
            }
        };
        let filter = match (self.residual(), self.column_filter()) {
            (Some(_), None) => "on each row's decoded key, by the residual",
            (None, None) => "only in the ranges",
            (Some(_), Some(_)) => "on each row's decoded key, by the residual, then on its columns",
            (None, Some(_)) => "on each row's columns",
        };
        let names: Vec<_> = self.qualifiers().iter().map(|plan| plan.column().name()).collect();
        let cells = if names.is_empty() {
            String::new()
        } else {
            format!(
                "cells: of {} only matching qualifiers; the store seeks to them\n",
                names.join(", ")
            )
        };
        format!("read: {scans}\nfilter: {filter}\n{cells}")
    }
}

impl fmt::Display for Plan {
    /// Explains the plan: the ranges, with bytes as HBase prints them (`…` where there is no end),
    /// the residual, the conditions on columns and on qualifiers, the order, and a note if ranges
    /// were joined because there were too many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ranges.len(), self.streams.len()) {
            (0, _) => writeln!(f, "ranges: none, no row can match")?,
            (count, 0 | 1) => write!(f, "ranges: {count}")?,
            (count, streams) => write!(f, "ranges: {count}, in {streams} streams")?,
        }
        match (self.ranges.is_empty(), self.reads_whole_table()) {
            (true, _) => {}
            (false, true) => writeln!(f, ", reads the whole table")?,
            (false, false) => writeln!(f)?,
        }
        let ranges = self.streams().flat_map(|stream| {
            stream.ranges().to_vec().into_iter().map(move |range| (stream, range))
        });
        for (stream, range) in ranges.take(RANGES_SHOWN) {
            let buckets: Vec<_> = stream.buckets().iter().map(Value::to_string).collect();
            let buckets = if buckets.is_empty() { String::new() } else { buckets.join(" ") + ": " };
            writeln!(f, "  {buckets}{}", ShownAs("row", &range))?;
        }
        if let Some(more @ 1..) = self.ranges.len().checked_sub(RANGES_SHOWN) {
            writeln!(f, "  and {more} more")?;
        }
        match &self.residual {
            Some(residual) => writeln!(f, "residual: {residual}")?,
            None => writeln!(f, "residual: none, the ranges are exact")?,
        }
        if let Some(filter) = &self.filter {
            writeln!(f, "columns: {filter}, checked on each row")?;
        }
        self.qualifiers.iter().try_for_each(|plan| write!(f, "{plan}"))?;
        writeln!(f, "order: {}", self.order)?;
        for name in self.lossy() {
            let stored = match self.schema.field(name) {
                Some(field) if field.is_hashed() => "hash",
                _ => "step",
            };
            match self.decided_by(name) {
                None => writeln!(
                    f,
                    "note: keys hold only the {stored} of {name}, which other values have too"
                )?,
                Some(column) => {
                    writeln!(
                        f,
                        "note: keys hold only the {stored} of {name}, {} decides",
                        ColumnAddress(column)
                    )?;
                }
            }
        }
        if self.coarsened {
            writeln!(f, "note: more than {RANGES_MAX} ranges were needed, these are wider")?;
        }
        Ok(())
    }
}

impl fmt::Display for Residual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, conditions) in self.conditions.iter().enumerate() {
            write!(f, "{}{conditions}", if nth == 0 { "" } else { " and " })?;
        }
        Ok(())
    }
}

impl fmt::Display for QualifierPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "qualifiers of {} ({}): ", self.column().name(), ColumnAddress(self.column()))?;
        match self.ranges.len() {
            0 => return writeln!(f, "none, no cell can match"),
            1 => writeln!(f, "1 range")?,
            count => writeln!(f, "{count} ranges")?,
        }
        for range in self.ranges.iter().take(RANGES_SHOWN) {
            writeln!(f, "  {}", ShownAs("qualifier", range))?;
        }
        if let Some(more @ 1..) = self.ranges.len().checked_sub(RANGES_SHOWN) {
            writeln!(f, "  and {more} more")?;
        }
        match self.residual() {
            Some(residual) => writeln!(f, "  residual: {residual}"),
            None => writeln!(f, "  residual: none, the ranges are exact"),
        }
    }
}

/// Formats a range as plans print it; the word names a range that is a single row.
pub(crate) struct ShownAs<'a>(pub(crate) &'static str, pub(crate) &'a RowRange);

impl fmt::Display for ShownAs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(what, range) = self;
        let RowRange { start, stop } = range;
        if !start.is_empty() && **range == RowRange::row(start) {
            return write!(f, "{what} {}", escape(start));
        }
        let bound = |bytes: &[u8]| if bytes.is_empty() { "…".to_owned() } else { escape(bytes) };
        write!(f, "[{}, {})", bound(start), bound(stop))
    }
}
