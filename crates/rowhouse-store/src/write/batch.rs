//! Turns mutations into the cells they write and collects these into log records.

use std::collections::HashMap;
use std::sync::Arc;
use std::vec::IntoIter;

use rowhouse_model::{
    Cell, CellKind, Delete, Durability, Error, Get, KeyValue, Mutation, MutationOutcome, Put,
    Result, Row, Timestamp, escape, tags_with_ttl,
};

use super::apply::requested_durability;
use super::delta::{CELL_LEN_LEN, Delta};
use super::observe;
use super::record::Record;
use super::record_builder::Filled;
use crate::commits::Touched;
use crate::family::FamilyStore;
use crate::read::{Pending, ReadPoint, ReadRequest, RowVersion};
use crate::region::Region;

/// Limit of a record's cells in bytes, unless a single mutation has more, so that a batch of any
/// size fits the log.
const RECORD_BYTES_MAX: usize = 8 << 20;

/// How atomic a batch's mutations are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Atomicity {
    /// Independent mutations: one that reads its row sees the effect of earlier mutations, and a
    /// refused one does not affect the others.
    Each,
    /// One record for all, or none. A mutation that reads its row sees the effect of earlier
    /// mutations.
    Together,
    /// One record for all, or none. A mutation that reads its row sees it as it was before all
    /// mutations: HBase's RowMutations.
    AsOne,
}

/// Collects mutations into a log record. Commits nothing: the caller must check whether the record
/// has to be committed before a mutation is added ([`Batch::must_end_before`]).
pub(super) struct Batch<'a> {
    atomicity: Atomicity,
    /// An index may refuse one of several independent mutations, so each has its own record.
    are_alone: bool,
    /// The timestamp for cells that have none of their own.
    pub(super) now: Timestamp,
    /// Lower limit for the timestamps of puts: a condition has read a cell with this timestamp.
    seen: Timestamp,
    /// The read point for the batch's reads, if not the current one.
    point: Option<&'a ReadPoint>,
    record: Record<'a>,
    /// Cells of the record that reads have to see.
    pending: Option<Pending>,
    filled: Filled,
    /// The newest timestamp given to a cell in the mutation being added that later writes to the
    /// row must follow.
    stamped: Option<Timestamp>,
}

/// A mutation whose cells are in the record.
#[must_use]
pub(super) struct Added {
    pub(super) outcome: MutationOutcome,
    /// The timestamp that later puts and deletes in the row must follow, if it is ahead of the
    /// clock or belongs to a version that must stay a separate version.
    pub(super) stamped: Option<Timestamp>,
}

impl<'a> Batch<'a> {
    /// Begins an empty record for mutations to `region`, and to others in the same store.
    pub(super) fn new(region: &Region, atomicity: Atomicity, now: Timestamp) -> Self {
        Self {
            are_alone: atomicity == Atomicity::Each && observe::may_refuse_one(region),
            ..Self::extending(Record::new(Durability::UseDefault, now), atomicity, now)
        }
    }

    /// Continues a record.
    pub(super) fn extending(record: Record<'a>, atomicity: Atomicity, now: Timestamp) -> Self {
        Self {
            atomicity,
            are_alone: false,
            now,
            seen: Timestamp::MIN,
            point: None,
            record,
            pending: None,
            filled: Filled::default(),
            stamped: None,
        }
    }

    /// Sets the durability of an atomic call's record. Each record of independent mutations has the
    /// durability of the first mutation.
    pub(super) fn set_durability(&mut self, durability: Durability) {
        self.record.durability = durability;
    }

    /// Notes that the record depends on a row that a condition has read.
    pub(super) fn note_read(&mut self, region: &Region, row: &[u8]) {
        self.record.cells.reads.push((region.id(), Touched::Row(row.to_vec())));
    }

    /// Makes puts follow a cell that a condition has read.
    pub(super) fn after(self, seen: Timestamp) -> Self {
        Self { seen, ..self }
    }

    /// Makes it read at a read point.
    pub(super) fn at_point(self, point: &'a ReadPoint) -> Self {
        Self { point: Some(point), ..self }
    }

    /// Returns true if the record of independent mutations must be committed before this one is
    /// added: the mutation needs its own record or another durability, the record is full, or the
    /// mutation reads what earlier mutations have written.
    pub(super) fn must_end_before(&self, region: &Region, mutation: &Mutation) -> bool {
        let bytes = || mutation.cells().iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
        self.are_alone
            || self.record.durability != requested_durability(region, mutation)
            || reads_its_row(mutation)
            || self.record.cells.len() + bytes() > RECORD_BYTES_MAX
    }

    /// Returns true if no cells were added.
    pub(super) fn is_empty(&self) -> bool {
        self.record.cells.is_empty()
    }

    /// Returns the cells' bytes.
    pub(super) fn len(&self) -> usize {
        self.record.cells.len()
    }

    /// Takes the record out; the batch begins another one.
    pub(super) fn take(&mut self) -> Record<'a> {
        self.pending = None;
        self.filled = Filled::default();
        let next = Record::new(Durability::UseDefault, self.now);
        std::mem::replace(&mut self.record, next)
    }

    /// Returns the record.
    pub(super) fn into_record(self) -> Record<'a> {
        self.record
    }

    /// Adds a mutation's cells; none if it is refused.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that cannot grow and for a cell that is too large; errors from
    /// the reads.
    pub(super) fn add(&mut self, region: &'a Region, mutation: &Mutation) -> Result<Added> {
        self.stamped = None;
        self.record.now = self.record.now.max(self.now);
        let outcome = match mutation {
            Mutation::Put(put) => self.put(region, put),
            Mutation::Delete(delete) => self.delete(region, delete),
            Mutation::Increment(increment) => self.delta(region, &increment.into()),
            Mutation::Append(append) => self.delta(region, &append.into()),
        }?;
        Ok(Added { outcome, stamped: self.stamped })
    }

    fn put(&mut self, region: &'a Region, put: &Put) -> Result<MutationOutcome> {
        if let Some(max) = region.cell_bytes_max() {
            put.cells().iter().try_for_each(|cell| check_len(cell, max))?;
        }
        let now = self.now.max(self.seen);
        match put.ttl_millis {
            None => put.cells().iter().try_for_each(|cell| self.push_stamped(region, cell, now))?,
            Some(millis) => self.push_living(region, put.cells(), millis, now)?,
        }
        Ok(MutationOutcome::default())
    }

    fn delete(&mut self, region: &'a Region, delete: &Delete) -> Result<MutationOutcome> {
        let markers = if delete.cells().is_empty() {
            row_markers(region, delete)?
        } else {
            self.markers(region, delete)?
        };
        match delete.ttl_millis {
            None => {
                markers
                    .iter()
                    .try_for_each(|marker| self.push_stamped(region, marker, self.now))?;
            }
            Some(millis) => self.push_living(region, &markers, millis, self.now)?,
        }
        Ok(MutationOutcome::default())
    }

    /// Returns the delete's markers. Those for a newest version get that version's timestamp.
    fn markers(&mut self, region: &Region, delete: &Delete) -> Result<Vec<Cell>> {
        let cells = delete.cells();
        // The k-th such marker in a column stands for the column's k-th newest version.
        let mut columns: HashMap<_, NewestVersions> = HashMap::new();
        for cell in cells.iter().filter(|cell| means_newest(cell)) {
            columns.entry((cell.family(), cell.qualifier())).or_default().requested += 1;
        }
        if columns.is_empty() {
            return Ok(cells.to_vec());
        }
        self.settle();
        let mut markers = Vec::with_capacity(cells.len());
        for cell in cells {
            let column = columns.get_mut(&(cell.family(), cell.qualifier()));
            let Some(column) = column.filter(|_| means_newest(cell)) else {
                markers.push(cell.clone());
                continue;
            };
            let timestamps = match &mut column.timestamps {
                Some(timestamps) => timestamps,
                None => column.timestamps.insert(self.newest(region, cell, column.requested)?),
            };
            markers.push(cell.with_timestamp(timestamps.next().unwrap_or(self.now)));
        }
        Ok(markers)
    }

    /// Makes the record's cells visible to the next read, if the batch's atomicity requires that.
    /// Before an independent mutation that reads, the caller has committed them.
    fn settle(&mut self) {
        if self.atomicity == Atomicity::Together && !self.record.cells.is_empty() {
            self.record.cells.fill(self.pending.get_or_insert_default(), &mut self.filled);
        }
    }

    /// Returns the timestamps of the newest `versions` versions in the cell's column.
    fn newest(&self, region: &Region, cell: &Cell, versions: u32) -> Result<IntoIter<Timestamp>> {
        let get = Get::new(cell.row_bytes())?
            .column(cell.family().to_vec(), cell.qualifier().to_vec())
            .versions(versions);
        let row = self.read(region, &get)?;
        Ok(row.cells().map(KeyValue::timestamp).collect::<Vec<_>>().into_iter())
    }

    fn delta(&mut self, region: &'a Region, delta: &Delta<'_>) -> Result<MutationOutcome> {
        let get = delta.get()?;
        self.settle();
        let taken = delta.nonce.and_then(|nonce| region.engine().nonces.taken_at(nonce));
        if let Some(sequence) = taken {
            return repeat(region, delta, &get, sequence);
        }
        let cell_bytes_max = region.cell_bytes_max();
        let cell_bytes_max = cell_bytes_max.unwrap_or(region.engine().settings.cell_bytes_max);
        let cells = delta.read_modify_write(&self.read(region, &get)?, self.now, cell_bytes_max)?;
        for cell in &cells {
            let family = region.family(cell.family())?;
            self.note_issued_timestamp(region, family, cell.timestamp());
            match family.buffered().filter(|_| delta.may_be_buffered) {
                Some(period) => self.record.push_counter(region, family, cell, period),
                None => self.record.push(region, family, cell, None),
            }
        }
        self.record.cells.nonces.extend(delta.nonce);
        let row = if delta.return_results { Row::new(cells) } else { Row::default() };
        Ok(MutationOutcome { row })
    }

    fn read(&self, region: &Region, get: &Get) -> Result<Row> {
        match (&self.pending, self.point) {
            (Some(pending), _) => region.read_row(get, RowVersion::With(pending)),
            (None, Some(point)) => region.read_whole(&ReadRequest::at_point(get, point)),
            (None, None) => region.read_row(get, RowVersion::Current),
        }
    }

    /// Adds cells with a TTL of `millis`.
    fn push_living(
        &mut self,
        region: &'a Region,
        cells: &[Cell],
        millis: i64,
        now: Timestamp,
    ) -> Result<()> {
        let tagged = |cell: &Cell| {
            Cell::from_parts(cell.key(), cell.value(), &tags_with_ttl(cell.tags(), millis))
        };
        // Build all of them first: a refused mutation must leave none of its cells.
        let cells = cells.iter().map(tagged).collect::<Result<Vec<_>>>()?;
        cells.iter().try_for_each(|cell| self.push_stamped(region, cell, now))
    }

    /// Adds a cell, at `now` if it has no timestamp.
    fn push_stamped(&mut self, region: &'a Region, cell: &Cell, now: Timestamp) -> Result<()> {
        self.push(region, cell, cell.timestamp().is_latest().then_some(now))
    }

    /// Records a timestamp that was given to a cell.
    fn note_issued_timestamp(&mut self, region: &Region, family: &FamilyStore, at: Timestamp) {
        let timestamps = &region.engine().timestamps;
        let is_ahead = timestamps.is_ahead(at);
        let counts = if at == self.now {
            is_ahead || family.has_versions()
        } else {
            is_ahead && timestamps.may_be_own(at)
        };
        if counts {
            if is_ahead {
                timestamps.note_ahead(at);
            }
            self.stamped = self.stamped.max(Some(at));
        }
    }

    fn push(&mut self, region: &'a Region, cell: &Cell, at: Option<Timestamp>) -> Result<()> {
        let family = region.family(cell.family())?;
        if let Some(at) = at {
            self.note_issued_timestamp(region, family, at);
        }
        self.record.push(region, family, cell, at);
        Ok(())
    }
}

/// Returns the result of an increment or append that was accepted at `sequence`.
fn repeat(region: &Region, delta: &Delta<'_>, get: &Get, sequence: u64) -> Result<MutationOutcome> {
    let row = if delta.return_results {
        region.read_row(get, RowVersion::AsOf(sequence))?
    } else {
        Row::default()
    };
    Ok(MutationOutcome { row })
}

/// Returns the mutations' results if they retry an atomic call accepted before; `None` if they are
/// new. A retry writes nothing, not even its puts.
pub(super) fn repeat_all<'m>(
    region: &Region,
    mutations: impl Iterator<Item = &'m Mutation> + Clone,
) -> Result<Option<Vec<MutationOutcome>>> {
    let nonces = &region.engine().nonces;
    let mut named = mutations.clone().filter_map(Mutation::nonce);
    let Some(sequence) = named.find_map(|nonce| nonces.taken_at(nonce)) else {
        return Ok(None);
    };
    let repeat = |mutation: &Mutation| {
        let delta: Delta<'_> = match mutation {
            Mutation::Put(_) | Mutation::Delete(_) => return Ok(MutationOutcome::default()),
            Mutation::Increment(increment) => increment.into(),
            Mutation::Append(append) => append.into(),
        };
        repeat(region, &delta, &delta.get()?, sequence)
    };
    mutations.map(repeat).collect::<Result<_>>().map(Some)
}

/// Returns a marker for each family.
fn row_markers(region: &Region, delete: &Delete) -> Result<Vec<Cell>> {
    let families = region.families().iter();
    let marker = |family: &Arc<FamilyStore>| {
        let kind = CellKind::DeleteFamily;
        Cell::new(delete.row(), family.name(), b"", delete.timestamp, kind, b"")
    };
    families.map(marker).collect()
}

/// Returns true if the mutation's cells depend on what the row shows.
pub(super) fn reads_its_row(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Put(_) => false,
        Mutation::Delete(delete) => delete.cells().iter().any(means_newest),
        Mutation::Increment(_) | Mutation::Append(_) => true,
    }
}

/// A column's newest versions, consumed one by one by the markers that stand for them.
#[derive(Default)]
struct NewestVersions {
    /// How many versions are requested.
    requested: u32,
    timestamps: Option<IntoIter<Timestamp>>,
}

/// Refuses a cell larger than the table allows, with HBase's message.
fn check_len(cell: &Cell, bytes_max: usize) -> Result<()> {
    let len = cell.as_bytes().len() + CELL_LEN_LEN;
    if len <= bytes_max {
        return Ok(());
    }
    let at = match cell.timestamp() {
        at if at.is_latest() => "LATEST_TIMESTAMP".to_owned(),
        at => at.as_millis().to_string(),
    };
    Err(Error::invalid(format!(
        "Cell[{}/{}:{}/{at}/Put/vlen={}/seqid=0] with size {len} exceeds limit of {bytes_max} bytes",
        escape(cell.row()),
        escape(cell.family()),
        escape(cell.qualifier()),
        cell.value().len()
    )))
}

/// Whether the cell marks the column's newest version, without a timestamp.
fn means_newest(cell: &Cell) -> bool {
    cell.kind() == CellKind::DeleteVersion && cell.timestamp().is_latest()
}
