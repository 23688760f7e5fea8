//! The import progress bar.

use rowhouse_import::ImportProgress;
use rowhouse_store::Progress;

use crate::command::progress::Bar;
use crate::counted::counted;

/// A progress bar with the row count and the row rate.
#[derive(Default)]
pub(super) struct RowBar(Bar);

impl RowBar {
    /// Draws the bar, unless that was done very recently.
    pub(super) fn draw(&mut self, progress: &ImportProgress) {
        if !self.0.is_due() {
            return;
        }
        let ImportProgress { step, rows, bytes_done, bytes_total, elapsed } = *progress;
        let seconds = elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        let rate = |count: u64| count as f64 / seconds;
        let text = format!(
            "{step}: {}, {:.0} rows/s, {:.1} MB/s",
            counted(rows, "row"),
            rate(rows),
            rate(bytes_done) / 1e6
        );
        self.0.draw(&Progress::new(&text, bytes_done, bytes_total));
    }

    /// Erases the bar.
    pub(super) fn clear(&mut self) {
        std::mem::take(&mut self.0).clear();
    }
}
