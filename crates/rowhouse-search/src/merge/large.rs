//! A merge that runs while changed rows are written to segments and searched.

use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{Cell, ErrorKind, Result, TableName};
use rowhouse_store::{SearchRead, Store, Table};

use super::input::MergeInput;
use crate::list::ListedSegment;
use crate::segment::{NewSegment, PartCache, Stop, merge_in_table};

/// How often a record is tried that the store has no room for, beside what each write waits.
const ATTEMPTS_MAX: u32 = 60;
const ATTEMPT_EVERY: Duration = Duration::from_secs(1);

/// A planned merge. It holds no read point: segments do not change, and while it holds the inputs
/// their parts are not deleted.
pub(crate) struct LargeMerge {
    pub(crate) table: TableName,
    pub(crate) index: String,
    /// The table with the segments.
    pub(crate) entries: Arc<Table>,
    /// The number for the merged segment. No other segment gets it.
    pub(crate) number: u64,
    pub(crate) inputs: Vec<MergeInput>,
    pub(crate) stop: Stop,
}

impl LargeMerge {
    pub(crate) fn new(read: &SearchRead, number: u64, inputs: Vec<MergeInput>) -> Self {
        Self {
            table: read.table.name().clone(),
            index: read.index.name().to_owned(),
            entries: Arc::clone(&read.entries),
            number,
            inputs,
            stop: Stop::default(),
        }
    }

    /// Merges, and writes the parts of the merged segment, which no list names yet. `check` is
    /// called before each record is written, and may end the merge.
    ///
    /// # Errors
    /// As for reads and writes, also if the table is dropped or replaced; `ServerNotRunning` if
    /// `stop` ended it.
    pub(crate) fn run(
        &self,
        store: &Store,
        check: impl Fn() -> Result<()> + Send + Sync + 'static,
    ) -> Result<ListedSegment> {
        let cache = Arc::new(PartCache::for_merge(self.stop.clone()));
        let stop = self.stop.clone();
        let store = store.clone();
        let entries = Arc::clone(&self.entries);
        let write = Box::new(move |record| {
            check()?;
            write_in_time(&store, &entries, record, &stop)
        });
        let output = NewSegment::new(&self.entries, self.number, write, &cache);
        let inputs = self.inputs.iter().map(|it| (it.listed.id.clone(), it.alive.clone()));
        let inputs: Vec<_> = inputs.collect();
        let (id, docs) = merge_in_table(&self.entries, &inputs, &output, &cache)?;
        let long_words = self.inputs.iter().map(|input| input.segment.long_words()).sum();
        Ok(ListedSegment { id, docs, long_words })
    }

    /// The inputs' segment numbers, the oldest first.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.inputs.iter().map(|input| input.segment.number).collect()
    }
}

/// Writes a record. While the store has no room for it, a merge waits: to give up would throw away
/// what it has written.
///
/// # Errors
/// As for writes; `ServerNotRunning` if `stop` ended the merge.
fn write_in_time(
    store: &Store,
    entries: &Arc<Table>,
    record: Vec<Cell>,
    stop: &Stop,
) -> Result<()> {
    let mut attempts = 1;
    loop {
        stop.check()?;
        match store.write_search_table(entries, record.clone()) {
            Err(error)
                if error.kind() == ErrorKind::RegionTooBusy
                    && attempts < ATTEMPTS_MAX
                    && !entries.is_dropped() =>
            {
                attempts += 1;
                std::thread::sleep(ATTEMPT_EVERY);
            }
            written => return written,
        }
    }
}
