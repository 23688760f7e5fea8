//! The steps in a write to a table whose indexes this client maintains.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use rowhouse_model::{
    Bytes, Cell, CellKind, Durability, Error, ErrorKind, Mutation, Result, Row, Timestamp, escape,
};
use rowhouse_schema::Index;

use super::claims::{CLAIM_WAIT, Claimant};
use super::intents::OpenIntent;
use super::{MaintainedTable, Maintainer, OPERATION_MAX, Step, Token};

/// The most rows that one intent names, and their bytes.
const ROWS_MAX: usize = 1000;
const ROW_BYTES_MAX: usize = 1 << 20;
/// How many mutations to a table without indexes are written under one look at the declaration.
const UNINDEXED_MAX: usize = 10_000;

/// A write that has begun: its rows may be changed until it ends.
pub(in crate::backend) struct Write {
    maintained: Arc<MaintainedTable>,
    rows: Vec<Bytes>,
    open: OpenIntent,
    token: Token,
    /// For each index, the cells in the entries that the rows had.
    seen: Vec<Vec<Row>>,
}

impl Maintainer {
    /// Begins a write to one row: opens its intent, if it can change entries. Makes the mutations
    /// as durable as entries are.
    ///
    /// # Errors
    /// `InvalidRequest` for a value in a unique index that another row has, and for an entry that
    /// is too long; `Unsupported` for a mutation that indexes do not allow. Nothing is written
    /// then.
    pub(in crate::backend) async fn begin(
        &self,
        table: &rowhouse_model::TableName,
        mutations: &mut [Mutation],
    ) -> Result<Option<Write>> {
        let mut refused: Vec<_> = mutations.iter().map(|_| None).collect();
        let write = self.begin_part(table, mutations, &mut refused).await?;
        match refused.into_iter().flatten().next() {
            None => Ok(write),
            Some(error) => {
                if let Some(write) = write {
                    self.close(write.open).await?;
                }
                Err(error)
            }
        }
    }

    /// Begins to write a part of a batch. `refused` gets an error for each mutation that must not
    /// be written.
    pub(in crate::backend) async fn begin_part(
        &self,
        table: &rowhouse_model::TableName,
        mutations: &mut [Mutation],
        refused: &mut [Option<Error>],
    ) -> Result<Option<Write>> {
        loop {
            let Some(maintained) = self.maintained(table).await? else { return Ok(None) };
            let started = Instant::now();
            let write = self.begin_maintained(maintained, mutations, refused).await?;
            match write {
                // The declaration may be old, and who finishes intents that were left may have
                // taken this one for such.
                Some(write) if started.elapsed() > self.shared.times.prepared => {
                    self.close(write.open).await?;
                }
                write => return Ok(write),
            }
        }
    }

    /// Returns the parts in which a batch is written.
    pub(in crate::backend) async fn parts(
        &self,
        table: &rowhouse_model::TableName,
        mutations: &[Mutation],
    ) -> Result<Vec<Range<usize>>> {
        let is_indexed = self.maintained(table).await?.is_some();
        let rows_max = if is_indexed { ROWS_MAX } else { UNINDEXED_MAX };
        let mut parts = Vec::new();
        let mut start = 0;
        let mut bytes = 0;
        for (at, mutation) in mutations.iter().enumerate() {
            if at - start == rows_max || bytes > ROW_BYTES_MAX {
                parts.push(start..at);
                (start, bytes) = (at, 0);
            }
            bytes += mutation.row().len();
        }
        parts.push(start..mutations.len());
        Ok(parts)
    }

    async fn begin_maintained(
        &self,
        maintained: Arc<MaintainedTable>,
        mutations: &mut [Mutation],
        refused: &mut [Option<Error>],
    ) -> Result<Option<Write>> {
        if self.client.settings().operation_timeout > OPERATION_MAX {
            return Err(Error::unsupported(format!(
                "a client that keeps indexes has to end its operations in time: \
                 operation_timeout={:?}, max={OPERATION_MAX:?}",
                self.client.settings().operation_timeout
            )));
        }
        let mut rows = BTreeSet::new();
        for (mutation, refused) in mutations.iter_mut().zip(&mut *refused) {
            if !maintained.is_touched_by(mutation) {
                continue;
            }
            *refused = maintained.check(mutation).err();
            if refused.is_none() {
                maintained.make_durable(mutation);
                rows.insert(mutation.row().clone());
            }
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let (rows, token): (Vec<_>, _) = (rows.into_iter().collect(), self.token());
        let open = self.open(&maintained, token.write, &rows).await?;
        self.step(Step::Opened).await;
        match self.prepare(&maintained, &rows, mutations, refused, token).await {
            Ok(seen) => {
                self.step(Step::Read).await;
                Ok(Some(Write { maintained, rows, open, token, seen }))
            }
            Err(error) => {
                self.close(open).await?;
                Err(error)
            }
        }
    }

    /// Reads the entries that rows have, and claims unique values.
    async fn prepare(
        &self,
        maintained: &MaintainedTable,
        rows: &[Bytes],
        mutations: &[Mutation],
        refused: &mut [Option<Error>],
        token: Token,
    ) -> Result<Vec<Vec<Row>>> {
        let old = self.read(maintained, &maintained.columns, rows).await?;
        let claimant = Claimant { token, waits_until: Instant::now() + CLAIM_WAIT };
        for (mutation, refused) in mutations.iter().zip(&mut *refused) {
            let at = rows.binary_search(mutation.row());
            let Some(old) = at.ok().filter(|_| refused.is_none()).map(|at| &old[at]) else {
                continue;
            };
            *refused = self.claim_values(maintained, old, mutation, claimant).await?.err();
        }
        let mut seen = Vec::new();
        for index in &maintained.indexes {
            let mut keys = Vec::new();
            for (row, cells) in rows.iter().zip(&old) {
                // A row that was there before the index may have an entry that is too long.
                keys.extend(maintained.entries(index, row, cells).unwrap_or_default());
            }
            seen.push(if keys.is_empty() {
                Vec::new()
            } else {
                self.read_entries(&index.entries, &keys).await?
            });
        }
        Ok(seen)
    }

    /// Ends a write: brings the entries for the rows up to date and closes the intent. If that
    /// fails, or if the write may still arrive, the intent stays open, and readers look at the
    /// rows.
    pub(in crate::backend) async fn end_write<'e>(
        &self,
        write: Option<Write>,
        errors: impl IntoIterator<Item = &'e Error>,
    ) {
        let Some(write) = write else { return };
        self.step(Step::Written).await;
        let may_arrive = errors.into_iter().any(|error| !is_refusal(error));
        let updated = match self.update_entries(&write).await {
            Ok(()) => true,
            Err(_) => self.update_by_new_declaration(&write).await.is_ok(),
        };
        if updated && !may_arrive {
            // An intent that is still there costs readers time, and nothing else.
            let _ = self.close(write.open).await;
        }
    }

    async fn update_entries(&self, write: &Write) -> Result<()> {
        let new = self.read(&write.maintained, &write.maintained.columns, &write.rows).await?;
        self.step(Step::ReadAgain).await;
        self.add_entries_of_read(&write.maintained, &write.rows, &new, write.token).await?;
        self.step(Step::Added).await;
        for (index, seen) in write.maintained.indexes.iter().zip(&write.seen) {
            self.remove_entries(&index.entries, seen).await?;
        }
        self.step(Step::Removed).await;
        Ok(())
    }

    /// Adds the entries for a write's rows by the declaration as it is now: an index may have been
    /// dropped meanwhile.
    async fn update_by_new_declaration(&self, write: &Write) -> Result<()> {
        self.forget(&write.maintained.name);
        match self.maintained(&write.maintained.name).await? {
            Some(maintained) => self.add_entries_of(&maintained, &write.rows).await,
            None => Ok(()),
        }
    }

    /// Adds the entries that rows have.
    pub(super) async fn add_entries_of(
        &self,
        maintained: &MaintainedTable,
        rows: &[Bytes],
    ) -> Result<()> {
        let read = self.read(maintained, &maintained.columns, rows).await?;
        self.add_entries_of_read(maintained, rows, &read, self.token()).await
    }

    async fn add_entries_of_read(
        &self,
        maintained: &MaintainedTable,
        rows: &[Bytes],
        read: &[Row],
        token: Token,
    ) -> Result<()> {
        for index in &maintained.indexes {
            let mut keys = Vec::new();
            for (row, cells) in rows.iter().zip(read) {
                keys.extend(maintained.entries(index, row, cells)?);
            }
            if !keys.is_empty() {
                self.add_entries(&index.entries, keys, token).await?;
            }
        }
        Ok(())
    }
}

impl MaintainedTable {
    /// Whether a mutation can change entries.
    fn is_touched_by(&self, mutation: &Mutation) -> bool {
        let decides = |cell: &Cell| decides(&self.columns, cell);
        self.columns.is_all()
            || mutation.cells().iter().any(decides)
            || matches!(mutation, Mutation::Delete(delete) if delete.cells().is_empty())
    }

    /// Refuses a mutation that would let rows change without a write, or whose new value in a
    /// unique index is not known before.
    fn check(&self, mutation: &Mutation) -> Result<()> {
        if let Some(ttl) = mutation.ttl_millis() {
            return Err(Error::unsupported(format!(
                "on Apache HBase an indexed column has no cells with their own time to live, an \
                 older value would come back without an entry: table={}, row={}, ttl={ttl} ms",
                self.name,
                escape(mutation.row())
            )));
        }
        let uniques =
            self.indexes.iter().map(|maintained| &maintained.index).filter(|it| it.is_unique());
        for index in uniques {
            let decides = |cell: &&Cell| decides(index.columns(), cell);
            let cells = mutation.cells().iter().filter(decides);
            let is_unknown =
                |cell: &Cell| mutation.is_read_modify_write() || cell.kind().is_version_delete();
            if cells.into_iter().any(is_unknown) {
                return Err(Error::unsupported(format!(
                    "on Apache HBase increments, appends, and deletes of single versions of a \
                     column of a unique index are refused: table={}, index={}, row={}",
                    self.name,
                    index.name(),
                    escape(mutation.row())
                )));
            }
        }
        Ok(())
    }

    /// A row must not go back to an older value after a crash: the entries do not.
    fn make_durable(&self, mutation: &mut Mutation) {
        let durability = match mutation {
            Mutation::Put(put) => &mut put.durability,
            Mutation::Delete(delete) => &mut delete.durability,
            Mutation::Increment(increment) => &mut increment.durability,
            Mutation::Append(append) => &mut append.durability,
        };
        if *durability != Durability::FsyncWal {
            *durability = Durability::SyncWal;
        }
    }
}

/// Returns a row's cells as they are if a mutation's puts are the newest ones.
pub(super) fn with_puts(index: &Index, old: &Row, mutation: &Mutation) -> Result<Row> {
    let is_own = |cell: &&Cell| {
        cell.kind() == CellKind::Put && index.columns().has_column(cell.family(), cell.qualifier())
    };
    let mut puts: Vec<_> = mutation.cells().iter().filter(is_own).collect();
    // For a column the newest one, for one time the last one.
    puts.reverse();
    puts.sort_by_key(|cell| std::cmp::Reverse(cell.timestamp()));
    let puts: Vec<_> = puts.iter().map(|cell| cell.with_timestamp(Timestamp::MIN)).collect();
    let column = |cell: &Cell| (cell.family().to_vec(), cell.qualifier().to_vec());
    let is_replaced = |cell: &Cell| puts.iter().any(|put| column(put) == column(cell));
    let maintained = old.cells().map(|cell| cell.to_cell()).filter(|cell| !is_replaced(cell));
    let mut cells: Vec<_> = maintained.chain(puts.iter().cloned()).collect();
    cells.sort_by_key(column);
    cells.dedup_by(|later, first| column(later) == column(first));
    Ok(Row::new(cells))
}

fn decides(columns: &rowhouse_model::Columns, cell: &Cell) -> bool {
    match cell.kind() {
        CellKind::DeleteFamily | CellKind::DeleteFamilyVersion => {
            columns.selects_family(cell.family())
        }
        _ => columns.has_column(cell.family(), cell.qualifier()),
    }
}

/// Whether an error means that nothing was written and nothing will be.
fn is_refusal(error: &Error) -> bool {
    use ErrorKind::*;
    matches!(
        error.kind(),
        TableNotFound
            | TableNotEnabled
            | NoSuchColumnFamily
            | InvalidRequest
            | Unsupported
            | RegionTooBusy
            | RowExists
    )
}
