//! Writes rows to a table as puts, in batches.

use rowhouse::{Bytes, Durability, Error, Mutation, MutationOutcome, Result, Table};
use tokio::task::JoinHandle;

use crate::journal::{Progress, ProgressFile};
use crate::lanes::InputPart;
use crate::progress::{Reporter, Step};
use crate::rows::{InputPosition, Inputs};

/// The target of the rows, and the batch size.
pub(crate) struct Writing<'t> {
    pub(crate) inputs: &'t Inputs,
    pub(crate) table: &'t Table,
    pub(crate) journal: &'t ProgressFile,
    pub(crate) batch_rows: usize,
}

/// A batch being written.
struct PendingBatch {
    /// The batch rows' places in the files.
    places: Vec<InputPosition>,
    outcomes: JoinHandle<Vec<Result<MutationOutcome>>>,
    /// The progress after this batch.
    then: Progress,
    /// Whether the batch, and all before it, are then on the disk.
    is_synced: bool,
}

impl Writing<'_> {
    /// Writes all remaining rows that were not rejected, and returns the written row count. It
    /// reads the next batch while one is being written.
    pub(crate) async fn run(&self, mut reached: Progress, reporter: &mut Reporter) -> Result<u64> {
        self.journal.note(&reached)?;
        let lanes = reached.parts.iter().map(|part| InputPart::open(self.inputs, part));
        let mut lanes = lanes.collect::<Result<Vec<_>>>()?;
        let mut sent: Option<PendingBatch> = None;
        for batches in 1_u64.. {
            let (places, batch) = self.batch(&mut lanes)?;
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
            let is_synced = batches.is_multiple_of(BATCHES_BETWEEN_NOTES);
            let outcomes = self.send(batch, is_synced);
            sent = Some(PendingBatch { places, outcomes, then: reached.clone(), is_synced });
        }
        Ok(reached.written)
    }

    /// Returns the next rows, some from each part, and their places in the files.
    fn batch(&self, lanes: &mut [InputPart<'_>]) -> Result<(Vec<InputPosition>, Vec<Mutation>)> {
        let each = self.batch_rows.div_ceil(lanes.len().max(1));
        let bytes_each = BATCH_BYTES / lanes.len().max(1);
        let mut places = Vec::with_capacity(self.batch_rows);
        let mut batch = Vec::with_capacity(self.batch_rows);
        for lane in lanes {
            let mut rows = 0;
            let mut bytes = 0;
            while rows < each
                && bytes < bytes_each
                && let Some((place, row)) = lane.next()?
            {
                let put = row.into_put().map_err(|error| self.at(&place, error))?;
                lane.note(put.row());
                places.push(place);
                rows += 1;
                bytes += put.cells().iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
                batch.push(Mutation::from(put));
            }
        }
        Ok((places, batch))
    }

    fn send(
        &self,
        mut batch: Vec<Mutation>,
        is_synced: bool,
    ) -> JoinHandle<Vec<Result<MutationOutcome>>> {
        // The table may declare less, and then rows recorded as written would be lost with a killed
        // process. One log holds all rows in order, so syncing a batch covers all before it.
        let durability = if is_synced { Durability::FsyncWal } else { Durability::SyncWal };
        for mutation in &mut batch {
            if let Mutation::Put(put) = mutation {
                put.durability = durability;
            }
        }
        let table = self.table.clone();
        tokio::spawn(async move { table.batch(batch).await })
    }

    /// Waits until a batch is in the table, and records the progress if it is also on the disk.
    async fn arrived(&self, sent: Option<PendingBatch>) -> Result<()> {
        let Some(PendingBatch { places, outcomes, then, is_synced }) = sent else { return Ok(()) };
        let outcomes = outcomes.await.map_err(|_| Error::invalid("writing rows was ended"))?;
        if outcomes.len() != places.len() {
            return Err(Error::invalid(format!(
                "a batch has another number of outcomes than rows: rows={}, outcomes={}",
                places.len(),
                outcomes.len()
            )));
        }
        for (place, outcome) in places.iter().zip(outcomes) {
            outcome.map_err(|error| self.at(place, error))?;
        }
        if is_synced { self.journal.note(&then) } else { Ok(()) }
    }

    /// Adds to an error the place of the row that could not be written.
    fn at(&self, place: &InputPosition, error: Error) -> Error {
        let message = format!(
            "{}: {}\n  the import is incomplete; the same command resumes it",
            self.inputs.shown(place),
            error.message()
        );
        error.with_message(message)
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
