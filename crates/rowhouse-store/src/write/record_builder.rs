//! A commit being put together: the cells of mutations, encoded as the log will have them.

use rowhouse_model::{Bytes, Cell, CellRef, Error, ErrorKind, Nonce, Result, Timestamp, escape};

use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::wal::{RecordBody, SealedRecord};

/// Cells on their way into the log and the memstores. They are copied once, into the record, and
/// inserted from there.
#[derive(Default)]
pub(crate) struct RecordBuilder<'a> {
    body: RecordBody,
    parts: Vec<Part<'a>>,
    /// Of its increments and appends.
    pub(crate) nonces: Vec<Nonce>,
}

/// Neighbours of one (region, family).
struct Part<'a> {
    family: &'a FamilyStore,
    /// Where their bytes lie in the record.
    begin: usize,
    end: usize,
}

impl<'a> RecordBuilder<'a> {
    /// Adds a cell, at another timestamp than its own if one is given.
    pub(crate) fn push(&mut self, family: &'a FamilyStore, cell: &Cell, at: Option<Timestamp>) {
        if !self.parts.last().is_some_and(|part| std::ptr::eq(part.family, family)) {
            self.body.group(family.region_id(), family.name());
            let begin = self.body.buffer_len();
            self.parts.push(Part { family, begin, end: begin });
        }
        self.body.cell(cell.as_bytes(), at.map(Timestamp::as_millis));
        let part = self.parts.last_mut().expect("one was begun above");
        part.end = self.body.buffer_len();
    }

    /// Checks that no family was dropped since the draft was begun. It stays so while the gate is held.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub(crate) fn check_families(&self) -> Result<()> {
        match self.parts.iter().find(|part| part.family.is_dropped()) {
            None => Ok(()),
            Some(part) => Err(Error::new(
                ErrorKind::NoSuchColumnFamily,
                format!("Column family {} was deleted meanwhile", escape(part.family.name())),
            )),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Bytes of the record so far.
    pub(crate) fn len(&self) -> usize {
        self.body.len()
    }

    /// Whether any cell is of this row of the region.
    pub(crate) fn has_row(&self, region: u64, row: &[u8]) -> bool {
        let of_region = self.parts.iter().filter(|part| part.family.region_id() == region);
        of_region
            .flat_map(|part| self.body.cells(part.begin, part.end))
            .any(|key_value| row_of(key_value) == row)
    }

    /// Its cells, each for itself.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        let cells = self.parts.iter().flat_map(|part| self.body.cells(part.begin, part.end));
        cells.map(|cell| Cell::from_checked(Bytes::copy_from_slice(cell), 0)).collect()
    }

    /// Nothing can be added any more.
    pub(crate) fn seal(self) -> SealedBuilder<'a> {
        SealedBuilder {
            record: self.body.seal(&self.nonces),
            parts: self.parts,
            nonces: self.nonces,
        }
    }
}

fn row_of(key_value: &[u8]) -> &[u8] {
    CellRef::from_checked(key_value, 0).key.row
}

/// A draft that is complete: the record, and where its cells belong.
pub(crate) struct SealedBuilder<'a> {
    pub(crate) record: SealedRecord,
    pub(crate) nonces: Vec<Nonce>,
    parts: Vec<Part<'a>>,
}

impl SealedBuilder<'_> {
    /// The rows of its cells, each with the id of its region; one may come more than once.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.parts.iter().flat_map(|part| {
            let cells = self.record.cells(part.begin, part.end);
            cells.map(|key_value| (part.family.region_id(), row_of(key_value)))
        })
    }

    /// Puts the cells into their memstores.
    pub(crate) fn insert(&self, engine: &Engine, sequence: u64, is_logged: bool) {
        for part in &self.parts {
            let memstore = part.family.active();
            let cells = self.record.cells(part.begin, part.end);
            let added = cells.map(|key_value| memstore.insert(key_value, sequence)).sum();
            if !is_logged {
                memstore.set_unlogged();
            }
            engine.memory.add(added);
            part.family.took(engine, &memstore);
        }
    }
}
