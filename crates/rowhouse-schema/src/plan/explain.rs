//! Plans as text.

use std::fmt;

use rowhouse_model::{RowRange, escape};

use super::{Plan, RANGES_MAX, Residual};

/// How many ranges are printed before the rest is counted.
const RANGES_SHOWN: usize = 20;

impl fmt::Display for Plan {
    /// Explains the plan: the ranges, with bytes as HBase prints them (`…` where there is no end),
    /// the residual, the order, and a note if ranges were joined because they were too many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ranges.len() {
            0 => writeln!(f, "ranges: none, no row can match")?,
            count => writeln!(f, "ranges: {count}")?,
        }
        for range in self.ranges.iter().take(RANGES_SHOWN) {
            writeln!(f, "  {}", Shown(range))?;
        }
        if let Some(more @ 1..) = self.ranges.len().checked_sub(RANGES_SHOWN) {
            writeln!(f, "  and {more} more")?;
        }
        match &self.residual {
            Some(residual) => writeln!(f, "residual: {residual}")?,
            None => writeln!(f, "residual: none, the ranges are exact")?,
        }
        writeln!(f, "order: {}", self.order)?;
        if self.coarsened {
            writeln!(f, "note: more than {RANGES_MAX} ranges were needed, these are wider")?;
        }
        Ok(())
    }
}

impl fmt::Display for Residual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, wanted) in self.wanted.iter().enumerate() {
            write!(f, "{}{wanted}", if nth == 0 { "" } else { " and " })?;
        }
        Ok(())
    }
}

/// A range as plans print it.
struct Shown<'a>(&'a RowRange);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RowRange { start, stop } = self.0;
        if !start.is_empty() && *self.0 == RowRange::row(start) {
            return write!(f, "row {}", escape(start));
        }
        let bound = |bytes: &[u8]| if bytes.is_empty() { "…".to_owned() } else { escape(bytes) };
        write!(f, "[{}, {})", bound(start), bound(stop))
    }
}
