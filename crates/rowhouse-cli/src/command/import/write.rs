//! Rows into a table as puts, some at a time.

use rowhouse::{Bytes, Durability, Error, Mutation, MutationOutcome, Result, Table};
use tokio::task::JoinHandle;

use super::bar::RowBar;
use super::journal::{Journal, Reached};
use super::lanes::Lane;
use super::rows::Inputs;

/// Where rows go, and how many at once.
pub(super) struct Writing<'t> {
    pub(super) inputs: &'t Inputs,
    pub(super) table: &'t Table,
    pub(super) journal: &'t Journal,
    pub(super) batch_rows: usize,
}

/// Rows that are on their way.
struct Sent {
    outcomes: JoinHandle<Vec<Result<MutationOutcome>>>,
    /// How far the import has come when they are there.
    then: Reached,
    /// Whether they are on the disk then, with all before them.
    is_synced: bool,
}

impl Writing<'_> {
    /// Writes all rows that are left to do and were not rejected before; how many are written then. While some rows are on
    /// their way, the next ones are read.
    pub(super) async fn run(&self, mut reached: Reached, bar: &mut RowBar) -> Result<u64> {
        self.journal.note(&reached)?;
        let lanes = reached.parts.iter().map(|part| Lane::open(self.inputs, part));
        let mut lanes = lanes.collect::<Result<Vec<_>>>()?;
        let mut sent: Option<Sent> = None;
        for batches in 1_u64.. {
            let batch = self.batch(&mut lanes)?;
            let is_end = batch.is_empty();
            reached.written += batch.len() as u64;
            reached.parts = lanes.iter().map(Lane::rest).collect();
            let last: Vec<Bytes> = lanes.iter().filter_map(Lane::last).collect();
            if !last.is_empty() {
                reached.last = last;
            }
            self.draw(bar, &reached);
            self.arrived(sent.take()).await?;
            if is_end {
                break;
            }
            sent = Some(self.send(batch, &reached, batches.is_multiple_of(BATCHES_BETWEEN_NOTES)));
        }
        Ok(reached.written)
    }

    /// The next rows, some of each part.
    fn batch(&self, lanes: &mut [Lane<'_>]) -> Result<Vec<Mutation>> {
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

    fn send(&self, mut batch: Vec<Mutation>, then: &Reached, is_synced: bool) -> Sent {
        // What the table declares may be less, and then rows that are noted as written would go with a killed process. One
        // log has all rows in order, so a sync of some is one of all before them.
        let durability = if is_synced { Durability::FsyncWal } else { Durability::SyncWal };
        for mutation in &mut batch {
            if let Mutation::Put(put) = mutation {
                put.durability = durability;
            }
        }
        let table = self.table.clone();
        let outcomes = tokio::spawn(async move { table.batch(batch).await });
        Sent { outcomes, then: then.clone(), is_synced }
    }

    /// Waits until rows are in the table, and notes it if they are on the disk too.
    async fn arrived(&self, sent: Option<Sent>) -> Result<()> {
        let Some(Sent { outcomes, then, is_synced }) = sent else { return Ok(()) };
        let outcomes = outcomes.await.map_err(|_| Error::invalid("writing rows was ended"))?;
        for outcome in outcomes {
            outcome.map_err(|error| {
                let message = format!(
                    "{}\n  the import is not at its end; the same command goes on where it was",
                    error.message()
                );
                Error::new(error.kind(), message)
            })?;
        }
        match is_synced {
            true => self.journal.note(&then),
            false => Ok(()),
        }
    }

    fn draw(&self, bar: &mut RowBar, reached: &Reached) {
        let rows = (reached.counts.rows - reached.counts.rejected).max(1);
        let part = reached.written as f64 / rows as f64;
        bar.draw_now("writing", reached.written, (self.inputs.bytes() as f64 * part) as u64);
    }
}

const BATCH_BYTES: usize = 4 << 20;
/// A sync takes as long as many thousand rows.
const BATCHES_BETWEEN_NOTES: u64 = 16;
