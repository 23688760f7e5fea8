//! Applies filters and limits to the visible cells, cell by cell, in the order of HBase's
//! `RegionScannerImpl`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rowhouse_filter::{FilterRun, FilterVerdict, ValuePart};
use rowhouse_model::{Cell, Scan};

use super::plain::{Family, Plain, Query};

/// Returns the rows that a scan of one region returns, each whole. `rows` are the region's, in the
/// scan's order; the filter is private to the region.
pub(crate) fn scan(
    plain: &Plain,
    families: &[Family],
    rows: impl Iterator<Item = Vec<u8>>,
    scan: &Scan,
    filter: &mut Option<FilterRun>,
    now: i64,
) -> Vec<Vec<Cell>> {
    let selected =
        families.iter().filter(|family| scan.columns.selects_family(family.name.as_bytes()));
    // Some families are read only if the filter accepts the row by the others. A row without cells
    // in those others is not found.
    let (seen, on_demand): (Vec<&Family>, Vec<&Family>) = selected.partition(|family| {
        let needs = |filter: &FilterRun| filter.needs_family(family.name.as_bytes());
        !scan.families_on_demand || filter.as_ref().is_none_or(needs)
    });
    let mut results = Vec::new();
    let mut over = BTreeSet::new();
    // The row that a hint has moved a family to. Other families may still read the rows before it.
    let mut gone_to: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for row in rows {
        if filter.as_mut().is_some_and(FilterRun::is_done) {
            break;
        }
        let is_there = |family: &Family, over: &BTreeSet<&str>, gone: &BTreeMap<&str, Vec<u8>>| {
            let is_passed = gone.get(family.name).is_some_and(|to| row < *to);
            !is_passed && !over.contains(family.name) && plain.has(&row, family)
        };
        if !seen.iter().any(|family| is_there(family, &over, &gone_to)) {
            continue;
        }
        let by_key = filter.as_mut().is_some_and(|filter| filter.filters_row_key(&row));
        let mut read = |family: &&Family, filter: &mut Option<FilterRun>| {
            if !is_there(family, &over, &gone_to) {
                return Vec::new();
            }
            let read = |query: &Query<'_>| plain.read(&row, family, query, now);
            let sifted = sifted(read, family, scan, filter, now);
            if sifted.is_over {
                over.insert(family.name);
            }
            if sifted.jumped {
                plain.jumped.set(true);
            }
            gone_to.extend(sifted.gone_to.map(|to| (family.name, to)));
            sifted.cells
        };
        // A filter that rejects a row by the key is still called with the row's cells.
        let cells = seen.iter().flat_map(|family| read(family, filter)).collect();
        let cells = if by_key { None } else { whole(cells, filter) };
        if let Some(mut cells) = cells {
            cells.extend(on_demand.iter().flat_map(|family| read(family, filter)));
            cells.sort_by(|a, b| a.key().cmp(&b.key()));
            results.push(cells);
        }
        if let Some(filter) = filter {
            filter.reset();
        }
    }
    results.retain(|cells| !cells.is_empty());
    results
}

/// Applies the filter's decisions on a whole row. Returns `None` when the row is rejected before
/// families on demand are read.
fn whole(mut cells: Vec<Cell>, filter: &mut Option<FilterRun>) -> Option<Vec<Cell>> {
    if cells.is_empty() {
        return None;
    }
    if let Some(filter) = filter {
        if filter.needs_whole_row() {
            cells.retain(|cell| filter.keeps(&cell.view()));
        }
        // The filter is not called for a row without remaining cells.
        if !cells.is_empty() && filter.filters_row() {
            return None;
        }
    }
    Some(cells)
}

/// Returns the scan's request for a family.
fn query_of<'a>(scan: &'a Scan, family: &Family) -> Query<'a> {
    let own = scan.family_time_ranges.get(family.name.as_bytes());
    Query {
        qualifiers: scan.columns.qualifiers(family.name.as_bytes()).filter(|names| !names.is_all()),
        range: own.copied().unwrap_or(scan.time_range),
        versions: scan.versions,
        raw: scan.raw,
        filtered: scan.filter.is_some(),
        jumps: Vec::new(),
    }
}

/// The result of filter and limits for a family in a row.
struct Sifted {
    /// The accepted cells.
    cells: Vec<Cell>,
    /// Whether the family returns nothing more: the filter was done while there were cells left,
    /// though it may start again with the next row.
    is_over: bool,
    /// The later row that a hint leads to.
    gone_to: Option<Vec<u8>>,
    /// Whether a hint skipped a cell that would have hidden later ones. If a flush or a compaction
    /// has dropped those, they are hidden anyway.
    jumped: bool,
}

fn sifted(
    read: impl Fn(&Query<'_>) -> Vec<Cell>,
    family: &Family,
    scan: &Scan,
    filter: &mut Option<FilterRun>,
    now: i64,
) -> Sifted {
    let versions = if scan.raw { scan.versions } else { scan.versions.min(family.versions_max) };
    let offset = scan.family_offset as usize;
    let most = scan.family_limit.map_or(usize::MAX, |limit| limit.max(1) as usize);
    let mut accepted = Vec::new();
    let mut passed = 0;
    let mut gone_to = None;
    let mut jumped = false;
    let mut query = query_of(scan, family);
    let named = query.qualifiers.is_some();
    let mut visible = VecDeque::from(read(&query));
    let mut column = Column::default();
    while let Some(cell) = visible.pop_front() {
        column.enter(&cell);
        if column.done {
            continue;
        }
        let mut value = ValuePart::Whole;
        let mut row_done = false;
        // Family markers lie among the cells in the column with an empty name, so HBase continues
        // with that column's older versions and calls the filter for them unless columns were
        // named.
        let can_end = named || !cell.qualifier().is_empty();
        if let Some(filter) = filter.as_mut() {
            if filter.is_done() {
                break;
            }
            column.met += 1;
            // The family's version limits apply before the filter.
            let most = if family.by_sequence { versions } else { u32::MAX };
            if !(scan.raw || column.met <= most && family.keeps(&cell, column.met, now)) {
                continue;
            }
            match filter.judge(&cell.view()) {
                FilterVerdict::Include => {}
                FilterVerdict::IncludeAndNextColumn => column.done = can_end,
                FilterVerdict::IncludeAndNextRow => row_done = true,
                FilterVerdict::Skip => continue,
                FilterVerdict::NextColumn => {
                    column.done = can_end;
                    continue;
                }
                FilterVerdict::NextRow => break,
                FilterVerdict::SeekToHint => {
                    let hint = filter.hint(&cell.view());
                    // A hint back to an earlier row ends this one.
                    if scan.reversed && hint.as_ref().is_some_and(|hint| hint.row < cell.row()) {
                        return Sifted { cells: accepted, is_over: false, gone_to, jumped };
                    }
                    if !scan.reversed
                        && let Some(to) = hint.as_ref().filter(|to| to.row > cell.row())
                    {
                        gone_to = Some(to.row.to_vec());
                        break;
                    }
                    // In reverse HBase proceeds cell by cell; forward it does not visit skipped
                    // cells.
                    let ahead = hint.filter(|hint| !scan.reversed && cell.key() < hint.as_key());
                    if let Some(hint) = ahead {
                        let there = |cells: Vec<Cell>| -> VecDeque<Cell> {
                            cells.into_iter().filter(|cell| cell.key() >= hint.as_key()).collect()
                        };
                        let all_met = there(read(&query));
                        query.jumps.push((cell, hint.clone()));
                        visible = there(read(&query));
                        jumped |= visible != all_met;
                    }
                    continue;
                }
            }
            value = filter.value_part(&cell.view());
            column.versions += 1;
            if column.versions > versions {
                column.done = can_end;
                if row_done {
                    break;
                }
                continue;
            }
        }
        passed += 1;
        if passed > offset {
            accepted.push(with_value(&cell, value));
        }
        if accepted.len() >= most {
            return Sifted { cells: accepted, is_over: false, gone_to, jumped };
        }
        if row_done {
            break;
        }
    }
    let is_over = filter.as_mut().is_some_and(FilterRun::is_done);
    Sifted { cells: accepted, is_over, gone_to, jumped }
}

fn with_value(cell: &Cell, value: ValuePart) -> Cell {
    let value = match value {
        ValuePart::Whole => return cell.clone(),
        ValuePart::Nothing => Vec::new(),
        ValuePart::Number(number) => number.to_be_bytes().to_vec(),
        ValuePart::Length => (cell.value().len() as u32).to_be_bytes().to_vec(),
    };
    let shown = Cell::from_parts(cell.key(), &value, &[]);
    shown.unwrap_or_else(|error| panic!("{error}"))
}

/// The state of the filter for a column.
#[derive(Default)]
struct Column {
    qualifier: Option<Vec<u8>>,
    /// Versions that no hint skipped.
    met: u32,
    /// Versions that the filter accepted.
    versions: u32,
    /// No further version is needed.
    done: bool,
}

impl Column {
    fn enter(&mut self, cell: &Cell) {
        if self.qualifier.as_deref() != Some(cell.qualifier()) {
            *self = Self { qualifier: Some(cell.qualifier().to_vec()), ..Self::default() };
        }
    }
}
