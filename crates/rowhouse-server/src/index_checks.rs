//! Index checks that clients request: one per index at a time, each on a separate thread.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rowhouse_model::{Error, IndexReport, IndexStatus, Result, TableName};
use rowhouse_query::verify_index;
use rowhouse_search::SearchEngine;
use rowhouse_store::Store;

/// Each index's latest check.
#[derive(Default)]
pub(crate) struct IndexChecks {
    latest: Mutex<BTreeMap<Checked, Result<IndexStatus>>>,
    ended: Condvar,
}

/// A table and an index on it.
type Checked = (TableName, String);

impl IndexChecks {
    /// Starts a check, unless one on the same index is under way.
    ///
    /// # Errors
    /// As [`Store::index_state`].
    pub(crate) fn begin(
        self: &Arc<Self>,
        (store, search): (&Store, &Arc<SearchEngine>),
        table: &TableName,
        index: &str,
    ) -> Result<()> {
        store.index_state(table, index)?;
        let checked = (table.clone(), index.to_owned());
        let mut latest = self.latest.lock();
        if is_running(latest.get(&checked)) {
            return Ok(());
        }
        let checks = Arc::clone(self);
        let of = checked.clone();
        let store = store.clone();
        let search = Arc::clone(search);
        std::thread::Builder::new()
            .name("rowhouse-index-check".to_owned())
            .spawn(move || checks.run(&store, &search, &of))
            .map_err(|source| Error::io("cannot start a thread", source))?;
        latest.insert(checked, Ok(IndexStatus::default()));
        Ok(())
    }

    /// Returns how far an index's latest check is.
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

    /// As [`IndexChecks::status`], after waiting up to `wait_max` for the check to end.
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

    fn run(&self, store: &Store, search: &SearchEngine, checked: &Checked) {
        let (table, index) = checked;
        let note = |status| self.latest.lock().insert(checked.clone(), status);
        let progress = |report: &IndexReport| {
            note(Ok(IndexStatus { is_done: false, report: *report }));
        };
        let report = verify_index(store, Some(search), table, index, progress);
        match &report {
            Ok(report) if report.is_clean() => tracing::info!(%table, index, "index verified"),
            Ok(report) => tracing::warn!(%table, index, ?report, "an index has differences"),
            Err(error) => tracing::warn!(%table, index, %error, "an index was not verified"),
        }
        note(report.map(|report| IndexStatus { is_done: true, report }));
        self.ended.notify_all();
    }
}

fn is_running(latest: Option<&Result<IndexStatus>>) -> bool {
    matches!(latest, Some(Ok(status)) if !status.is_done)
}
