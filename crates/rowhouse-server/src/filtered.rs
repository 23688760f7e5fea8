//! Filters on catalog rows, which are complete in memory.

use rowhouse_filter::{FilterRun, FilterVerdict, ValuePart};
use rowhouse_model::{Cell, CellRef, KeyBuf, Result, Row, RowBuilder};

/// Which cells in a row to skip, after a filter's verdict.
enum Skip {
    Nothing,
    Column,
    Family,
    /// All cells before this position.
    UpTo(KeyBuf),
}

/// Applies a filter to a row and returns the remaining row, or `None` if nothing remains.
///
/// # Errors
/// As [`FilterRun::check`].
pub(crate) fn filter_row(filter: &mut FilterRun, row: &Row) -> Result<Option<Row>> {
    let passed = apply_to_row(filter, row);
    filter.check()?;
    filter.reset();
    Ok(passed.filter(|row| !row.is_empty()))
}

fn apply_to_row(filter: &mut FilterRun, row: &Row) -> Option<Row> {
    if filter.filters_row_key(row.key()) {
        return None;
    }
    let mut cells = RowBuilder::default();
    let mut last: Option<CellRef<'_>> = None;
    let mut pass = Skip::Nothing;
    for cell in row.cells() {
        let here = cell.view();
        let skipped = match (&pass, last) {
            (Skip::Column, Some(last)) => {
                (last.key.family, last.key.qualifier) == (here.key.family, here.key.qualifier)
            }
            (Skip::Family, Some(last)) => last.key.family == here.key.family,
            (Skip::UpTo(place), _) => here.key < place.as_key(),
            _ => false,
        };
        if skipped {
            continue;
        }
        if filter.is_done() {
            break;
        }
        let verdict = filter.judge(&here);
        pass = match verdict {
            FilterVerdict::Include | FilterVerdict::Skip => Skip::Nothing,
            FilterVerdict::IncludeAndNextColumn | FilterVerdict::NextColumn => Skip::Column,
            FilterVerdict::IncludeAndNextRow | FilterVerdict::NextRow => Skip::Family,
            FilterVerdict::SeekToHint => filter.hint(&here).map_or(Skip::Nothing, Skip::UpTo),
        };
        let passes = matches!(
            verdict,
            FilterVerdict::Include
                | FilterVerdict::IncludeAndNextColumn
                | FilterVerdict::IncludeAndNextRow
        );
        if passes {
            cells.push(with_retained_value(cell.to_cell(), filter.value_part(&here)));
        }
        last = Some(here);
    }
    if filter.needs_whole_row() {
        cells.retain(|cell| filter.keeps(cell));
    }
    let filtered = cells.is_empty() || filter.filters_row();
    (!filtered).then(|| cells.finish())
}

fn with_retained_value(cell: Cell, retained: ValuePart) -> Cell {
    let value = match retained {
        ValuePart::Whole => return cell,
        ValuePart::Nothing => Vec::new(),
        ValuePart::Length => (cell.value().len() as u32).to_be_bytes().to_vec(),
        ValuePart::Number(number) => number.to_be_bytes().to_vec(),
    };
    let changed = Cell::from_parts(cell.key(), &value, &[]);
    changed.expect("no longer than before").with_sequence(cell.sequence())
}
