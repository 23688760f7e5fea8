//! Rows into a table as puts, some at a time.

use rowhouse::{Durability, Error, Mutation, MutationOutcome, Result, Table};
use tokio::task::JoinHandle;

use super::bar::RowBar;
use super::journal::{Journal, Reached};
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
    /// Writes all rows from `reached` on that were not rejected before; how far it came. While some rows are on their way, the next ones are read.
    pub(super) async fn run(&self, reached: Reached, bar: &mut RowBar) -> Result<Reached> {
        self.journal.note(&reached)?;
        let mut rows =
            self.inputs.rows(reached.file, Some(reached.place).filter(|place| place.line > 0))?;
        let (mut next, mut batch, mut bytes) = (reached, Vec::new(), 0);
        let mut sent: Option<Sent> = None;
        let mut batches = 0_u64;
        loop {
            let read = rows.next()?;
            let is_end = read.is_none();
            if let Some(Ok(row)) = read.map(|read| read.row) {
                let put = row.into_put()?;
                bytes += put.cells().iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
                batch.push(Mutation::from(put));
                next.written += 1;
            }
            (next.file, next.place) = rows.reached();
            bar.draw("writing", next.written, rows.bytes_done());
            if batch.len() >= self.batch_rows || bytes >= BATCH_BYTES || is_end {
                self.arrived(sent.take()).await?;
                batches += 1;
                let is_synced = is_end || batches.is_multiple_of(BATCHES_BETWEEN_NOTES);
                sent = self.send(std::mem::take(&mut batch), next, is_synced);
                bytes = 0;
            }
            if is_end {
                self.arrived(sent.take()).await?;
                return Ok(next);
            }
        }
    }

    fn send(&self, mut batch: Vec<Mutation>, then: Reached, is_synced: bool) -> Option<Sent> {
        // One log has all rows in order, so the sync of the last is one of all before it.
        if let (Some(Mutation::Put(last)), true) = (batch.last_mut(), is_synced) {
            last.durability = Durability::FsyncWal;
        }
        if batch.is_empty() {
            return None;
        }
        let table = self.table.clone();
        let outcomes = tokio::spawn(async move { table.batch(batch).await });
        Some(Sent { outcomes, then, is_synced })
    }

    /// Waits until rows are in the table, and notes it if they are on the disk too.
    async fn arrived(&self, sent: Option<Sent>) -> Result<()> {
        let Some(Sent { outcomes, then, is_synced }) = sent else { return Ok(()) };
        let outcomes = outcomes.await.map_err(|_| Error::invalid("writing rows was ended"))?;
        for outcome in outcomes {
            outcome.map_err(|error| {
                Error::new(
                    error.kind(),
                    format!(
                        "{}\n  the import is not at its end; the same command goes on where it was",
                        error.message()
                    ),
                )
            })?;
        }
        match is_synced {
            true => self.journal.note(&then),
            false => Ok(()),
        }
    }
}

const BATCH_BYTES: usize = 4 << 20;
/// A sync takes as long as many thousand rows.
const BATCHES_BETWEEN_NOTES: u64 = 16;
