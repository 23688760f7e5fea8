//! Writes cells as they are, for the store itself: without row locks, conditions and observers.

use std::sync::Arc;

use rowhouse_model::{Cell, CellKind, Durability, ErrorKind, Result, Timestamp};

use super::admit::admit;
use super::commit::Committed;
use super::record::Record;
use crate::region::Region;
use crate::space::Need;
use crate::table::Table;
use crate::wait_mode::WaitMode;

/// Writes cells, which have timestamps, to a table in one log record. Waits for room, and for
/// regions that are being replaced.
///
/// # Errors
/// `NoSuchColumnFamily`, also if the table was dropped or truncated meanwhile; `NotServingRegion`;
/// errors from the log.
pub(crate) fn write_cells(table: &Table, cells: &[Cell]) -> Result<()> {
    let Some(first) = cells.first() else { return Ok(()) };
    let engine = table.region_of(first.row()).engine();
    let has_put = cells.iter().any(|cell| cell.kind() == CellKind::Put);
    let need = if has_put { Need::Room } else { Need::Delete };
    loop {
        let placed = cells.iter().map(|cell| (table.region_of(cell.row()), cell));
        let mut placed: Vec<(&Arc<Region>, &Cell)> = placed.collect();
        // One family's cells follow each other.
        placed.sort_by_key(|(region, cell)| (region.id(), cell.family()));
        let mut regions: Vec<&Arc<Region>> = placed.iter().map(|(region, _)| *region).collect();
        regions.dedup_by_key(|region| region.id());
        match write_placed(&placed, &regions, need) {
            Ok(committed) => return committed.wait(engine),
            Err(error)
                if error.kind() == ErrorKind::NotServingRegion
                    && regions.iter().all(|region| region.wait_for_replacement()) => {}
            Err(error) => return Err(error),
        }
    }
}

fn write_placed(
    cells: &[(&Arc<Region>, &Cell)],
    regions: &[&Arc<Region>],
    need: Need,
) -> Result<Committed> {
    for region in regions {
        region.check_serving()?;
        admit(region, need, WaitMode::Blocking)?.done();
    }
    let mut record = Record::new(Durability::AsyncWal, Timestamp::MIN);
    for (region, cell) in cells {
        record.push(region, region.family(cell.family())?, cell, None);
    }
    let engine = regions[0].engine();
    let _latch = engine.freeze_latch.read();
    regions.iter().try_for_each(|region| region.check_serving())?;
    record.cells.check_families()?;
    record.log(engine)
}
