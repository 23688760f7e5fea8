//! Writes rows to a table as puts, in batches.

use rowhouse::{Bytes, Durability, Error, Mutation, MutationOutcome, Result, Table};
use tokio::task::JoinHandle;

use crate::journal::{Progress, ProgressFile};
use crate::lanes::InputPart;
use crate::progress::{Reporter, Step};
use crate::rows::Inputs;

/// The target of the rows, and the size of a batch.
pub(crate) struct Writing<'t> {
    pub(crate) inputs: &'t Inputs,
    pub(crate) table: &'t Table,
    pub(crate) journal: &'t ProgressFile,
    pub(crate) batch_rows: usize,
}

/// A batch being written.
struct PendingBatch {
    outcomes: JoinHandle<Vec<Result<MutationOutcome>>>,
    /// The progress after this batch.
    then: Progress,
    /// Whether the batch, and all before it, are then on the disk.
    is_synced: bool,
}

impl Writing<'_> {
    /// Writes all remaining rows that were not rejected, and returns the number of written rows. It
    /// reads the next batch while one is being written.
    pub(crate) async fn run(&self, mut reached: Progress, reporter: &mut Reporter) -> Result<u64> {
        self.journal.note(&reached)?;
        let lanes = reached.parts.iter().map(|part| InputPart::open(self.inputs, part));
        let mut lanes = lanes.collect::<Result<Vec<_>>>()?;
        let mut sent: Option<PendingBatch> = None;
        for batches in 1_u64.. {
            let batch = self.batch(&mut lanes)?;
            let is_end = batch.is_empty();
            reached.written += batch.len() as u64;
            reached.parts = lanes.iter().map(InputPart::rest).collect();
            let last: Vec<Bytes> = lanes.iter().filter_map(InputPart::last).collect();
            if !last.is_empty() {
                reached.last = last;
            }
            self.draw(reporter, &reached);
            self.arrived(sent.take()).await?;
            if is_end {
                break;
            }
            sent = Some(self.send(batch, &reached, batches.is_multiple_of(BATCHES_BETWEEN_NOTES)));
        }
        Ok(reached.written)
    }

    /// Returns the next rows, some of each part.
    fn batch(&self, lanes: &mut [InputPart<'_>]) -> Result<Vec<Mutation>> {
        let each = self.batch_rows.div_ceil(lanes.len().max(1));
        let bytes_each = BATCH_BYTES / lanes.len().max(1);
        let mut batch = Vec::with_capacity(self.batch_rows);
        for lane in lanes {
            let (mut rows, mut bytes) = (0, 0);
            while rows < each
                && bytes < bytes_each
                && let Some(row) = lane.next()?
            {
                let put = row.into_put()?;
                lane.note(put.row());
                rows += 1;
                bytes += put.cells().iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
                batch.push(Mutation::from(put));
            }
        }
        Ok(batch)
    }

    fn send(&self, mut batch: Vec<Mutation>, then: &Progress, is_synced: bool) -> PendingBatch {
        // The table may declare less, and then rows recorded as written would be lost with a killed
        // process. One log holds all rows in order, so a sync of a batch covers all before it.
        let durability = if is_synced { Durability::FsyncWal } else { Durability::SyncWal };
        for mutation in &mut batch {
            if let Mutation::Put(put) = mutation {
                put.durability = durability;
            }
        }
        let table = self.table.clone();
        let outcomes = tokio::spawn(async move { table.batch(batch).await });
        PendingBatch { outcomes, then: then.clone(), is_synced }
    }

    /// Waits until a batch is in the table, and records the progress if it is also on the disk.
    async fn arrived(&self, sent: Option<PendingBatch>) -> Result<()> {
        let Some(PendingBatch { outcomes, then, is_synced }) = sent else { return Ok(()) };
        let outcomes = outcomes.await.map_err(|_| Error::invalid("writing rows was ended"))?;
        for outcome in outcomes {
            outcome.map_err(|error| {
                let message = format!(
                    "{}\n  the import is incomplete; the same command resumes it",
                    error.message()
                );
                error.with_message(message)
            })?;
        }
        match is_synced {
            true => self.journal.note(&then),
            false => Ok(()),
        }
    }

    fn draw(&self, reporter: &mut Reporter, reached: &Progress) {
        let rows = (reached.counts.rows - reached.counts.rejected).max(1);
        let part = reached.written as f64 / rows as f64;
        reporter.report_now(
            Step::Writing,
            reached.written,
            (self.inputs.bytes() as f64 * part) as u64,
        );
    }
}

const BATCH_BYTES: usize = 4 << 20;
/// A sync takes as long as many thousand rows.
const BATCHES_BETWEEN_NOTES: u64 = 16;
