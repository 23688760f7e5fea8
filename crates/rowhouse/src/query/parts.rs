//! The rows of a range, read in parts: of families in which only some qualifiers are wanted, each by itself.

use rowhouse_model::{Result, Row, RowRange, Scan};
use rowhouse_schema::PlanPart;

use crate::rows::Rows;
use crate::table::Table;

/// Scans of one range, whose rows are put together. Mostly there is one.
pub(super) struct Parts {
    parts: Vec<Part>,
    reversed: bool,
}

struct Part {
    rows: Rows,
    /// A row that was read and not yet given.
    next: Option<Row>,
    ended: bool,
}

impl Parts {
    /// Begins to read a range, as `scan` says.
    pub(super) async fn open(
        table: &Table,
        scan: &Scan,
        parts: &[PlanPart],
        range: RowRange,
    ) -> Result<Self> {
        let mut opened = Vec::with_capacity(parts.len());
        for PlanPart { columns, filter } in parts {
            let (range, columns) = (range.clone(), columns.clone());
            let filter = filter.clone().map(Box::new);
            let rows = table.scan(Scan { range, columns, filter, ..scan.clone() }).await?;
            opened.push(Part { rows, next: None, ended: false });
        }
        Ok(Self { parts: opened, reversed: scan.reversed })
    }

    /// The next row that some part has cells of; `None` behind the last. A caller that stops waiting and asks
    /// again later misses no row.
    pub(super) async fn next(&mut self) -> Result<Option<Row>> {
        if let [part] = &mut self.parts[..] {
            return part.rows.next().await;
        }
        for part in &mut self.parts {
            part.fill().await?;
        }
        let keys = self.parts.iter().filter_map(|part| Some(part.next.as_ref()?.key()));
        let first = if self.reversed { keys.max() } else { keys.min() };
        let Some(key) = first.map(<[u8]>::to_vec) else { return Ok(None) };
        let of_key = |part: &mut Part| part.next.take_if(|row| row.key() == key);
        Ok(Some(together(self.parts.iter_mut().filter_map(of_key).collect())))
    }
}

impl Part {
    async fn fill(&mut self) -> Result<()> {
        if self.next.is_none() && !self.ended {
            self.next = self.rows.next().await?;
            self.ended = self.next.is_none();
        }
        Ok(())
    }
}

/// One row of the cells of all. No family is in two parts, so their cells need only be put by families.
fn together(mut rows: Vec<Row>) -> Row {
    if rows.len() == 1 {
        return rows.swap_remove(0);
    }
    let mut cells: Vec<_> = rows.iter().flat_map(Row::to_cells).collect();
    cells.sort_by(|a, b| a.family().cmp(b.family()));
    Row::new(cells)
}
