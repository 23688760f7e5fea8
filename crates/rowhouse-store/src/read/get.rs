//! Reading one row.

use std::sync::Arc;

use rowhouse_model::{Get, Result, Row, RowBuilder, Scan};

use super::family::{Asked, FamilyReader, Found, Rows, find};
use super::row::Room;
use super::scan::{Opening, RegionScanner};
use super::sift::Sift;
use super::{At, ReadPoint};
use crate::engine::Engine;
use crate::family::FamilyStore;

/// Reads one row, at this moment unless another is held.
pub(crate) fn read_row(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    point: Option<&ReadPoint>,
) -> Result<Row> {
    if !is_plain(get) {
        return sift_row(engine, families, get, point);
    }
    let asked = asked(get);
    loop {
        let mut cells = None;
        if read_cells(engine, families, get, &asked, At::of(engine, point), &mut cells)? {
            return Ok(finish(cells));
        }
    }
}

/// Whether everything visible in the columns is wanted.
fn is_plain(get: &Get) -> bool {
    get.filter.is_none() && get.family_limit.is_none() && get.family_offset == 0
}

/// Reads a row of which everything visible in the columns is wanted, as it was at `sequence`; `None`
/// when flushes or merges have dropped since what was to be seen then.
pub(crate) fn read_row_as_of(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    sequence: u64,
) -> Result<Option<Row>> {
    let mut cells = None;
    let at = At::Sequence(sequence);
    let is_there = read_cells(engine, families, get, &asked(get), at, &mut cells)?;
    Ok(is_there.then(|| finish(cells)))
}

fn finish(cells: Option<RowBuilder>) -> Row {
    cells.map_or_else(Row::default, RowBuilder::finish)
}

fn asked(get: &Get) -> Asked<'_> {
    Asked {
        columns: &get.columns,
        time_range: get.time_range,
        family_time_ranges: &get.family_time_ranges,
        versions: get.versions,
        rows: Rows::One(get.row()),
        cache_blocks: get.cache_blocks,
        reversed: false,
        raw: false,
        filtered: false,
        sift: Sift::default(),
    }
}

/// Adds the cells of one row as they were at a moment, to none where they can be nowhere; `false` when that is too
/// old by now.
fn read_cells(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    asked: &Asked<'_>,
    at: At<'_>,
    cells: &mut Option<RowBuilder>,
) -> Result<bool> {
    let mut room = if get.existence_only { Room { cells: 1, ..Room::WHOLE } } else { Room::WHOLE };
    for family in families.iter().filter(|family| get.columns.has_family(family.name())) {
        match find(family, asked, at)? {
            Found::Merge(merge) => {
                let mut reader = FamilyReader::new(engine, family, asked, merge);
                reader.read_row(get.row(), &mut room, cells.get_or_insert_default())?;
            }
            Found::Nothing => {}
            Found::TooOld => return Ok(false),
        }
        if get.existence_only && cells.as_ref().is_some_and(|cells| !cells.is_empty()) {
            break;
        }
    }
    Ok(true)
}

/// Reads a row of which only some of what is visible is wanted. As in HBase, this is a scan of one row.
fn sift_row(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    point: Option<&ReadPoint>,
) -> Result<Row> {
    let scan = Scan {
        columns: get.columns.clone(),
        time_range: get.time_range,
        family_time_ranges: get.family_time_ranges.clone(),
        versions: get.versions,
        family_limit: get.family_limit,
        family_offset: get.family_offset,
        filter: get.filter.clone(),
        families_on_demand: get.families_on_demand,
        cache_blocks: get.cache_blocks,
        ..Scan::all()
    };
    let opening = Opening { engine, families, rows: Rows::One(get.row()), point };
    let row = RegionScanner::open(&opening, &scan)?.next()?;
    Ok(row.unwrap_or_default())
}
