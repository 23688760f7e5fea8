//! How far reading rows has come.

use std::time::Instant;

use rowhouse_store::Progress;

use crate::command::progress::Bar;
use crate::counted::counted;

/// A bar with the number of rows and their rate.
pub(super) struct RowBar {
    bar: Bar,
    bytes_total: u64,
    begun: Instant,
}

impl RowBar {
    /// A bar over so many bytes of files.
    pub(super) fn new(bytes_total: u64) -> Self {
        Self { bar: Bar::new(), bytes_total, begun: Instant::now() }
    }

    /// Draws it for one row of some, unless that was done a moment ago.
    pub(super) fn draw(&mut self, doing: &str, rows: u64, bytes_done: u64) {
        // A text for every row would cost more than the row.
        if rows.is_multiple_of(ROWS_BETWEEN) {
            self.draw_now(doing, rows, bytes_done);
        }
    }

    /// As [`RowBar::draw`], for whoever does not ask at every row.
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

    /// Seconds since it was made.
    pub(super) fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Takes it away.
    pub(super) fn clear(&mut self) {
        std::mem::replace(&mut self.bar, Bar::new()).clear();
    }
}

const ROWS_BETWEEN: u64 = 256;
