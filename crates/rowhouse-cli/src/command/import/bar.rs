//! Progress of reading rows.

use std::time::Instant;

use rowhouse_store::Progress;

use crate::command::progress::Bar;
use crate::counted::counted;

/// A progress bar with the number of rows and their rate.
pub(super) struct RowBar {
    bar: Bar,
    bytes_total: u64,
    begun: Instant,
}

impl RowBar {
    /// Creates a bar for files with that many bytes in all.
    pub(super) fn new(bytes_total: u64) -> Self {
        Self { bar: Bar::new(), bytes_total, begun: Instant::now() }
    }

    /// Draws the bar, at most for one row in `ROWS_BETWEEN` and not right after the last draw.
    pub(super) fn draw(&mut self, doing: &str, rows: u64, bytes_done: u64) {
        // Formatting a text for every row would cost more than the row.
        if rows.is_multiple_of(ROWS_BETWEEN) {
            self.draw_now(doing, rows, bytes_done);
        }
    }

    /// As [`RowBar::draw`], for callers that do not call it for every row.
    pub(super) fn draw_now(&mut self, doing: &str, rows: u64, bytes_done: u64) {
        let seconds = self.begun.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
        let rate = |count: u64| count as f64 / seconds;
        let text = format!(
            "{doing}: {}, {:.0} rows/s, {:.1} MB/s",
            counted(rows, "row"),
            rate(rows),
            rate(bytes_done) / 1e6
        );
        self.bar.draw(&Progress::new(&text, bytes_done, self.bytes_total));
    }

    /// Returns the seconds since the bar was created.
    pub(super) fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Erases the bar.
    pub(super) fn clear(&mut self) {
        std::mem::replace(&mut self.bar, Bar::new()).clear();
    }
}

const ROWS_BETWEEN: u64 = 256;
