//! Explains why a get shows or hides a column's cells, using the read path's own matcher.

use std::sync::Arc;

use rowhouse_model::{
    Bytes, Cell, CellEntry, CellHistory, CellLocation, CellStatus, Error, Get, Key, Qualifiers,
    Result, Timestamp, compare, escape,
};

use super::deletes::Marker;
use super::own_ttl::lives_until;
use super::point::super_version_at;
use super::{Fate, ReadContext, Rules, Source, Visible};
use crate::block_cache::Caching;
use crate::cells::Cells;
use crate::family::{FamilyStore, SuperVersion};
use crate::layout::file_path;
use crate::memstore::MemstoreCursor;
use crate::store_file::FileCursor;

/// Returns the fate of every stored cell in the column that `get` names.
///
/// # Errors
/// `InvalidRequest` unless the get names exactly one column and has no filter or limit.
pub(crate) fn explain_cell(
    context: &ReadContext<'_>,
    family: &FamilyStore,
    get: &Get,
    qualifier: &Bytes,
) -> Result<CellHistory> {
    let (super_version, sequence) = loop {
        let sequence = context.mvcc.visible();
        if let Some(super_version) = super_version_at(family, sequence)? {
            break (super_version, sequence);
        }
    };
    let mut cells = Vec::new();
    for (mut source, place) in sources(&super_version, get.row())? {
        collect(&mut source, get.row(), family.name(), qualifier, |cell| {
            if cell.sequence() <= sequence {
                cells.push((cell, place.clone()));
            }
        })?;
    }
    // Cells equal in two files keep the order in which a merge would return them.
    cells.sort_by(|(a, _), (b, _)| compare(&a.view(), &b.view()));
    let range = get.family_time_ranges.get(family.name()).unwrap_or(&get.time_range);
    let qualifiers: Qualifiers = [qualifier.clone()].into_iter().collect();
    let now_millis = context.timestamps.now_millis();
    let rules =
        Rules::read(family.retention(), Some(&qualifiers), *range, get.versions, now_millis);
    let mut entries = judge(Visible::new(rules), family, cells);
    // Family markers sort before every column.
    entries.sort_by(|a, b| {
        let newest = |entry: &CellEntry| (entry.cell.timestamp(), entry.cell.kind().code());
        newest(b).cmp(&newest(a)).then(b.cell.sequence().cmp(&a.cell.sequence()))
    });
    Ok(CellHistory { entries })
}

/// Returns the family and qualifier that a get names.
///
/// # Errors
/// As [`explain_cell`].
pub(crate) fn only_column(get: &Get) -> Result<(Bytes, Bytes)> {
    let refused =
        |what: &str| Err(Error::invalid(format!("only one column can be explained: {what}")));
    if get.filter.is_some() || get.family_limit.is_some() || get.family_offset > 0 {
        return refused("the get has a filter or a limit");
    }
    let mut families = get.columns.families();
    let (Some((family, qualifiers)), None) = (families.next(), families.next()) else {
        return refused("the get names no family, or several");
    };
    let mut named = qualifiers.named();
    match (named.next(), named.next()) {
        (Some(qualifier), None) => Ok((family.clone(), qualifier.clone())),
        _ => refused(&format!("the get names no column of family {}, or several", escape(family))),
    }
}

/// Returns a cursor for every memstore and file that may have cells in the row.
fn sources(super_version: &SuperVersion, row: &[u8]) -> Result<Vec<(Source, CellLocation)>> {
    let start = Key::row_start(row);
    let mut sources = Vec::new();
    for memstore in super_version.frozen.iter().chain([&super_version.active]) {
        let cursor = MemstoreCursor::new(Arc::clone(memstore), &start);
        sources.push((Source::Memory(cursor), CellLocation::Memory));
    }
    for file in &super_version.files {
        if file.may_hold_row(row, || None)? {
            let place = CellLocation::File(file_path(file.id()));
            sources.push((Source::File(FileCursor::open(file, &start, Caching::LookOnly)?), place));
        }
    }
    Ok(sources)
}

/// Collects the row's family markers and the column's cells.
fn collect(
    source: &mut Source,
    row: &[u8],
    family: &Bytes,
    qualifier: &Bytes,
    mut take: impl FnMut(Cell),
) -> Result<()> {
    source.seek(&Key::column_start(row, family, b""))?;
    while let Some(cell) = source.cell().filter(|cell| cell.key.row == row) {
        if !cell.key.qualifier.is_empty() {
            break;
        }
        if qualifier.is_empty() || Marker::of(&cell).is_of_family() {
            take(cell.to_cell());
        }
        source.advance()?;
    }
    if qualifier.is_empty() {
        return Ok(());
    }
    source.seek(&Key::column_start(row, family, qualifier))?;
    while let Some(cell) = source.cell() {
        if cell.key.row != row || cell.key.qualifier != *qualifier {
            break;
        }
        take(cell.to_cell());
        source.advance()?;
    }
    Ok(())
}

/// Determines the fates of one row's cells, in order.
fn judge(
    mut visible: Visible<'_>,
    family: &FamilyStore,
    cells: Vec<(Cell, CellLocation)>,
) -> Vec<CellEntry> {
    visible.begin_row();
    let versions = visible.rules().versions;
    let judged = cells.into_iter().map(|(cell, place)| {
        if !visible.is_in_column(&cell.view()) {
            visible.enter_column(cell.qualifier());
        }
        let fate = status(visible.fate(&cell.view()), &cell, family, versions);
        CellEntry { cell, place, fate }
    });
    judged.collect()
}

fn status(fate: Fate, cell: &Cell, family: &FamilyStore, versions: u32) -> CellStatus {
    let at = |millis: i64| Timestamp::from_millis(millis.max(0)).unwrap_or(Timestamp::LATEST);
    match fate {
        Fate::Included { .. } => CellStatus::Visible,
        // A repeated marker covers the same cells.
        Fate::Marker | Fate::RepeatedMarker | Fate::ObsoleteMarker => CellStatus::Covers,
        Fate::IrrelevantMarker => CellStatus::CoversOtherTimes,
        Fate::Expired => {
            let ttl = family
                .descriptor()
                .ttl()
                .map_or(i64::MAX, |ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
            CellStatus::Expired { until: cell.timestamp().saturating_add(ttl) }
        }
        Fate::OwnExpired => {
            CellStatus::OwnTtlExpired { until: at(lives_until(&cell.view()).unwrap_or_default()) }
        }
        Fate::Deleted(marker) => CellStatus::Deleted {
            by: marker.kind,
            at: at(marker.timestamp),
            sequence: marker.sequence,
        },
        // Cells in other columns are not collected.
        Fate::TooNew | Fate::TooOld | Fate::NotRequested => CellStatus::OutsideTimeRange,
        Fate::Overwritten(sequence) => CellStatus::Overwritten { sequence },
        Fate::Surplus(version) => CellStatus::Surplus { version, versions },
        Fate::SurplusAtDelete => CellStatus::SurplusAtDelete,
    }
}
