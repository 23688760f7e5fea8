//! A progress bar for reading a store, shown on a terminal.

use std::time::{Duration, Instant};

use rowhouse_store::Progress;

use crate::output::StatusLine;

/// The bar's width in characters.
const WIDTH: usize = 30;
/// The shortest time between two drawings.
const DRAW_INTERVAL: Duration = Duration::from_millis(100);

/// A progress bar on standard error. It writes nothing if that is not a terminal.
pub(super) struct Bar {
    shown: StatusLine,
    /// When the bar was drawn last.
    drawn: Option<Instant>,
}

impl Default for Bar {
    fn default() -> Self {
        Self { shown: StatusLine::new(), drawn: None }
    }
}

impl Bar {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Returns true if the bar is shown, and was not drawn very recently.
    pub(super) fn is_due(&self) -> bool {
        self.shown.is_seen() && self.drawn.is_none_or(|drawn| drawn.elapsed() >= DRAW_INTERVAL)
    }

    /// Draws the bar, unless that was done very recently.
    pub(super) fn draw(&mut self, progress: &Progress<'_>) {
        if self.is_due() {
            self.drawn = Some(Instant::now());
            self.shown.show(line(progress));
        }
    }

    /// Erases the bar.
    pub(super) fn clear(self) {
        drop(self.shown);
    }
}

fn line(progress: &Progress<'_>) -> String {
    let share = progress.bytes_done as f64 / progress.bytes_total.max(1) as f64;
    let full = ((share * WIDTH as f64) as usize).min(WIDTH);
    let bar = "█".repeat(full);
    let rest = "░".repeat(WIDTH - full);
    format!("{bar}{rest} {:>3.0} % {}", share * 100.0, progress.file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_from_nothing_to_all() {
        let at = |bytes_done, bytes_total| {
            line(&Progress::new("files/0000000001.hfile", bytes_done, bytes_total))
        };
        let empty = "░".repeat(WIDTH);
        assert_eq!(at(0, 100), format!("{empty}   0 % files/0000000001.hfile"));
        assert_eq!(at(0, 0), format!("{empty}   0 % files/0000000001.hfile"));
        assert!(at(50, 100).contains(" 50 %"));
        assert!(at(100, 100).starts_with(&"█".repeat(WIDTH)));
    }
}
