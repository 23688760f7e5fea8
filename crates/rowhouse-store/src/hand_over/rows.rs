//! Writes ordered rows to files for a table's regions.

use rowhouse_model::{Cell, Error, Result, TableName, Timestamp, escape};

use super::LoadReport;
use super::loading::Load;
use crate::new_file::NewFile;
use crate::region::Region;
use crate::store::Store;
use crate::table::Table;

impl Store {
    /// Puts the rows that `next` returns into `table`. They must come in key order, each key once
    /// and the cells in cell order; `None` ends them. They bypass the log and the memstores and go
    /// to files, one for each region and family. All become visible atomically, also across a
    /// crash. Cells at the latest timestamp get a timestamp from when the load begins, after all
    /// earlier writes.
    ///
    /// # Errors
    /// Errors from `next`; as [`Store::bulk_load`]; `InvalidRequest` for rows out of order;
    /// `Unsupported` for cells with tags.
    pub fn load_rows(
        &self,
        table: &TableName,
        mut next: impl FnMut() -> Result<Option<Vec<Cell>>>,
    ) -> Result<LoadReport> {
        let table = self.table_to_load(table)?;
        let mut load = Load::begin(self.engine())?;
        let now = self.engine().timestamps.issue_last();
        let mut files: Option<RegionFiles<'_>> = None;
        let mut before: Option<Cell> = None;
        while let Some(cells) = next()? {
            let Some(first) = cells.first() else { continue };
            check_cells(before.as_ref(), &cells)?;
            let row = first.row();
            let mut open = match files.take() {
                Some(open) if open.region.info().range.contains(row) => open,
                other => {
                    if let Some(done) = other {
                        done.finish(&mut load)?;
                    }
                    RegionFiles::new(table.region_of(row))
                }
            };
            for cell in &cells {
                open.append(&mut load, &table, cell, now)?;
            }
            before = cells.into_iter().next_back();
            files = Some(open);
        }
        if let Some(open) = files {
            open.finish(&mut load)?;
        }
        self.install(load, 0, &table, None)
    }
}

/// The files being written for a region, one for each family that has cells so far.
struct RegionFiles<'t> {
    region: &'t Region,
    /// In the region's family order.
    files: Vec<Option<NewFile<'t>>>,
}

impl<'t> RegionFiles<'t> {
    fn new(region: &'t Region) -> Self {
        Self { region, files: region.families().iter().map(|_| None).collect() }
    }

    fn append(
        &mut self,
        load: &mut Load<'_>,
        table: &Table,
        cell: &Cell,
        now: Timestamp,
    ) -> Result<()> {
        let families = self.region.families();
        let Some(at) = families.iter().position(|family| family.name() == cell.family()) else {
            // Returns the same message as for an undeclared family.
            return table.descriptor().find_family(cell.family()).map(|_| ());
        };
        let mut view = cell.view();
        // The manifest has the load's sequence number.
        view.sequence = 0;
        if view.key.timestamp == Timestamp::LATEST.as_millis() {
            view.key.timestamp = now.as_millis();
        }
        let file = match &mut self.files[at] {
            Some(file) => file,
            free => free.insert(NewFile::create(load.engine(), &families[at], false)?),
        };
        file.append(&view)?;
        load.count_cell(&view)
    }

    fn finish(self, load: &mut Load<'_>) -> Result<()> {
        for (family, file) in self.region.families().iter().zip(self.files) {
            if let Some(file) = file {
                load.add(family.name(), file.finish(0, false)?, 0);
            }
        }
        Ok(())
    }
}

/// Checks that all cells are in one row after the row of `before`, in order, and without tags,
/// which the files are not written with.
fn check_cells(before: Option<&Cell>, cells: &[Cell]) -> Result<()> {
    let Some(first) = cells.first() else { return Ok(()) };
    if let Some(before) = before.filter(|before| before.row() >= first.row()) {
        return Err(Error::invalid(format!(
            "rows to load are out of order: row={}, after={}",
            escape(first.row()),
            escape(before.row())
        )));
    }
    if cells.iter().any(|cell| !cell.tags().is_empty()) {
        return Err(Error::unsupported(format!(
            "cells with tags cannot be loaded by rows: row={}",
            escape(first.row())
        )));
    }
    let in_order = |pair: &[Cell]| pair[0].row() == pair[1].row() && pair[0].key() < pair[1].key();
    if cells.windows(2).all(in_order) {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "cells to load are out of order, or of two rows: row={}",
            escape(first.row())
        )))
    }
}
