//! Reading one row.

use std::sync::Arc;

use rowhouse_model::{Get, Result, Row, RowBuilder};

use super::family::{Asked, FamilyReader, Found, Rows, find};
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
    let asked = Asked {
        columns: &get.columns,
        time_range: get.time_range,
        versions: get.versions,
        rows: Rows::One(get.row()),
    };
    loop {
        if let Some(cells) = read_cells(engine, families, get, &asked, At::of(engine, point))? {
            return Ok(cells.finish());
        }
    }
}

/// The cells of one row as they were at a moment; `None` when that is too old by now.
fn read_cells(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    asked: &Asked<'_>,
    at: At<'_>,
) -> Result<Option<RowBuilder>> {
    let mut cells = RowBuilder::default();
    for family in families.iter().filter(|family| get.columns.has_family(family.name())) {
        match find(family, asked, at)? {
            Found::Merge(merge) => {
                FamilyReader::new(engine, family, asked, merge).read_row(get.row(), &mut cells)?;
            }
            Found::Nothing => {}
            Found::TooOld => return Ok(None),
        }
        if get.existence_only && !cells.is_empty() {
            break;
        }
    }
    Ok(Some(cells))
}
