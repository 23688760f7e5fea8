//! Checks of indexes that clients request: one of each index at a time, each on its own thread.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rowhouse_format::convert::index::IndexStatus;
use rowhouse_model::{Error, Result, TableName};
use rowhouse_store::{IndexReport, Store};

/// The latest check of each index.
#[derive(Default)]
pub(crate) struct IndexChecks {
    latest: Mutex<BTreeMap<Checked, Result<IndexStatus>>>,
    ended: Condvar,
}

/// A table and an index of it.
type Checked = (TableName, String);

impl IndexChecks {
    /// Starts a check, unless one of the same index is under way.
    ///
    /// # Errors
    /// As [`Store::index_state`].
    pub(crate) fn begin(
        self: &Arc<Self>,
        store: &Store,
        table: &TableName,
        index: &str,
    ) -> Result<()> {
        store.index_state(table, index)?;
        let checked = (table.clone(), index.to_owned());
        let mut latest = self.latest.lock();
        if is_running(latest.get(&checked)) {
            return Ok(());
        }
        let (checks, store, of) = (Arc::clone(self), store.clone(), checked.clone());
        std::thread::Builder::new()
            .name("rowhouse-index-check".to_owned())
            .spawn(move || checks.run(&store, &of))
            .map_err(|source| Error::io("cannot start a thread", source))?;
        latest.insert(checked, Ok(IndexStatus::default()));
        Ok(())
    }

    /// Returns how far the latest check of an index is.
    ///
    /// # Errors
    /// The error with which it failed; `InvalidRequest` if there was none.
    pub(crate) fn status(&self, table: &TableName, index: &str) -> Result<IndexStatus> {
        let checked = (table.clone(), index.to_owned());
        let latest = self.latest.lock().get(&checked).cloned();
        latest.unwrap_or_else(|| {
            let message = format!("the index has not been verified: table={table}, index={index}");
            Err(Error::invalid(message))
        })
    }

    /// As [`IndexChecks::status`], after waiting for the end of the check for up to `wait_max`.
    pub(crate) fn wait(
        &self,
        table: &TableName,
        index: &str,
        wait_max: Duration,
    ) -> Result<IndexStatus> {
        let checked = (table.clone(), index.to_owned());
        let until = Instant::now() + wait_max;
        let mut latest = self.latest.lock();
        while is_running(latest.get(&checked))
            && !self.ended.wait_until(&mut latest, until).timed_out()
        {}
        drop(latest);
        self.status(table, index)
    }

    fn run(&self, store: &Store, checked: &Checked) {
        let (table, index) = checked;
        let progress = |report: &IndexReport| {
            self.latest.lock().insert(checked.clone(), Ok(status(report, false)));
        };
        let report = store.verify_index(table, index, progress);
        match &report {
            Ok(report) if report.is_clean() => tracing::info!(%table, index, "index verified"),
            Ok(report) => tracing::warn!(%table, index, ?report, "an index has differences"),
            Err(error) => tracing::warn!(%table, index, %error, "an index was not verified"),
        }
        self.latest.lock().insert(checked.clone(), report.map(|report| status(&report, true)));
        self.ended.notify_all();
    }
}

fn is_running(latest: Option<&Result<IndexStatus>>) -> bool {
    matches!(latest, Some(Ok(status)) if !status.is_done)
}

fn status(report: &IndexReport, is_done: bool) -> IndexStatus {
    let IndexReport { rows, unfit_rows, entries, missing, stale, .. } = *report;
    IndexStatus { is_done, rows, unfit_rows, entries, missing, stale }
}
