//! Increments and appends: computes the new cells from the current ones.

use rowhouse_model::{
    Append, Bytes, Cell, CellKind, Durability, Error, Get, Increment, Key, KeyValue, Nonce, Result,
    Row, TimeRange, Timestamp, counter_value, tags_with_ttl,
};

/// Bytes of the length field that HBase counts in a cell's size.
pub(super) const CELL_LEN_LEN: usize = 4;

/// An increment or append: both read columns in a row and rewrite them.
pub(super) struct Delta<'a> {
    row: &'a Bytes,
    /// The operands, sorted by column.
    added: Vec<&'a Cell>,
    time_range: TimeRange,
    ttl_millis: Option<i64>,
    join: fn(&[u8], &[u8]) -> Result<Vec<u8>>,
    pub(super) return_results: bool,
    pub(super) nonce: Option<Nonce>,
    /// True for increments that do not request SYNC_WAL or FSYNC_WAL: they may stay out of the log
    /// for as long as a BUFFERED family allows.
    pub(super) may_be_buffered: bool,
}

impl<'a> From<&'a Increment> for Delta<'a> {
    fn from(increment: &'a Increment) -> Self {
        Self {
            row: increment.row(),
            added: in_order(increment.cells()),
            time_range: increment.time_range,
            ttl_millis: increment.ttl_millis,
            join: sum,
            return_results: increment.return_results,
            nonce: increment.nonce,
            may_be_buffered: !matches!(
                increment.durability,
                Durability::SyncWal | Durability::FsyncWal
            ),
        }
    }
}

impl<'a> From<&'a Append> for Delta<'a> {
    fn from(append: &'a Append) -> Self {
        Self {
            row: append.row(),
            added: in_order(append.cells()),
            time_range: append.time_range,
            ttl_millis: append.ttl_millis,
            join: |before, added| Ok([before, added].concat()),
            return_results: append.return_results,
            nonce: append.nonce,
            may_be_buffered: false,
        }
    }
}

fn sum(before: &[u8], added: &[u8]) -> Result<Vec<u8>> {
    let sum = counter_value(before)?.wrapping_add(counter_value(added)?);
    Ok(sum.to_be_bytes().into())
}

/// Sorts cells by key; cells of one column and timestamp keep their order.
fn in_order(cells: &[Cell]) -> Vec<&Cell> {
    let mut cells: Vec<&Cell> = cells.iter().collect();
    cells.sort_by(|a, b| a.key().cmp(&b.key()));
    cells
}

impl Delta<'_> {
    /// Returns the get that reads the columns' current cells.
    pub(super) fn get(&self) -> Result<Get> {
        let mut get = Get::new(self.row.clone())?.time_range(self.time_range);
        for cell in &self.added {
            let bytes = cell.as_bytes();
            get = get.column(bytes.slice_ref(cell.family()), bytes.slice_ref(cell.qualifier()));
        }
        Ok(get)
    }

    /// Returns the cells to write, given the columns' `current` cells.
    ///
    /// # Errors
    /// `InvalidRequest` for an increment of a value that is no counter, and for a cell that would
    /// become too large.
    pub(super) fn read_modify_write(
        &self,
        current: &Row,
        now: Timestamp,
        cell_bytes_max: usize,
    ) -> Result<Vec<Cell>> {
        let mut current = current.cells().peekable();
        let mut cells = Vec::with_capacity(self.added.len());
        for added in &self.added {
            let column = (added.family(), added.qualifier());
            while current.next_if(|cell| (cell.family(), cell.qualifier()) < column).is_some() {}
            // Do not consume it: the next operand may belong to the same column and starts from the
            // same cell.
            let before = current.peek().copied();
            let before = before.filter(|cell| (cell.family(), cell.qualifier()) == column);
            let cell = self.grow(added, before, now)?;
            let len = cell.as_bytes().len() + CELL_LEN_LEN;
            if len > cell_bytes_max {
                return Err(Error::invalid(format!(
                    "Cell with size {len} exceeds limit of {cell_bytes_max} bytes"
                )));
            }
            cells.push(cell);
        }
        Ok(cells)
    }

    /// Returns the cell that replaces `before`.
    fn grow(&self, added: &Cell, before: Option<KeyValue<'_>>, now: Timestamp) -> Result<Cell> {
        let own = added.timestamp();
        let (value, at, tags) = match before {
            // Newer than the cell it replaces, even if ahead of the clock, or it would be hidden.
            Some(before) => (
                (self.join)(before.value(), added.value())?,
                now.max(before.timestamp().saturating_add(1)),
                [added.tags(), before.tags()].concat(),
            ),
            None => {
                let at = if own.is_latest() { now } else { own };
                (added.value().to_vec(), at, added.tags().to_vec())
            }
        };
        let tags = match self.ttl_millis {
            Some(millis) => tags_with_ttl(&tags, millis),
            None => tags,
        };
        let key = Key {
            row: self.row,
            family: added.family(),
            qualifier: added.qualifier(),
            timestamp: at.as_millis(),
            kind: CellKind::Put.code(),
        };
        Cell::from_parts(key, &value, &tags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL_BYTES_MAX: usize = 10 << 20;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    fn cell(qualifier: &str, millis: i64, value: &[u8], tags: &[u8]) -> Cell {
        let put = CellKind::Put;
        let cell = Cell::new("r", "f", qualifier, at(millis), put, value).unwrap();
        Cell::from_parts(cell.key(), value, tags).unwrap()
    }

    /// Returns the cells, as `q@5=value`, that an append writes to a row with these cells at 100.
    fn appended(append: &Append, current: Vec<Cell>) -> String {
        let cells = Delta::from(append)
            .read_modify_write(&Row::new(current), at(100), CELL_BYTES_MAX)
            .unwrap();
        let print = |cell: &Cell| {
            let qualifier = cell.qualifier();
            let value = cell.value();
            let text = [qualifier, value].map(String::from_utf8_lossy);
            format!("{}@{}={}", text[0], cell.timestamp(), text[1])
        };
        cells.iter().map(print).collect::<Vec<_>>().join(" ")
    }

    fn append() -> Append {
        Append::new("r").unwrap()
    }

    #[test]
    fn values_grow_column_by_column_and_in_the_order_of_columns() {
        let request = append().add("f", "c", "3").unwrap().add("f", "a", "1").unwrap();
        let current = vec![cell("a", 5, b"x", b""), cell("b", 5, b"y", b"")];
        assert_eq!(appended(&request, current), "a@100=x1 c@100=3");
    }

    #[test]
    fn a_grown_cell_stands_above_the_one_it_replaces() {
        let request = append().add("f", "a", "1").unwrap();
        assert_eq!(appended(&request, vec![cell("a", 200, b"x", b"")]), "a@201=x1");
    }

    #[test]
    fn a_timestamp_counts_only_where_there_is_no_cell_yet() {
        let request = append().add_cell(cell("a", 7, b"1", b"")).unwrap();
        assert_eq!(appended(&request, Vec::new()), "a@7=1");
        assert_eq!(appended(&request, vec![cell("a", 5, b"x", b"")]), "a@100=x1");
    }

    #[test]
    fn cells_of_one_column_start_from_the_same_value() {
        let latest = i64::MAX;
        let request = append().add_cell(cell("a", latest, b"1", b"")).unwrap();
        let request = request.add_cell(cell("a", latest, b"2", b"")).unwrap();
        let request = request.add_cell(cell("b", latest, b"3", b"")).unwrap();
        let current = vec![cell("a", 5, b"x", b""), cell("b", 5, b"y", b"")];
        assert_eq!(appended(&request, current), "a@100=x1 a@100=x2 b@100=y3");
    }

    #[test]
    fn tags_are_carried_on_and_a_time_to_live_is_replaced() {
        let note = b"\0\x02\x40n";
        let old = tags_with_ttl(b"", 5);
        let mut request = append().add_cell(cell("a", i64::MAX, b"1", note)).unwrap();
        let current = Row::new(vec![cell("a", 5, b"x", &old)]);
        let grown =
            Delta::from(&request).read_modify_write(&current, at(100), CELL_BYTES_MAX).unwrap();
        assert_eq!(grown[0].tags(), [&note[..], &old].concat());
        request.ttl_millis = Some(7);
        let grown =
            Delta::from(&request).read_modify_write(&current, at(100), CELL_BYTES_MAX).unwrap();
        assert_eq!(grown[0].tags(), tags_with_ttl(note, 7));
    }

    #[test]
    fn a_value_does_not_grow_beyond_the_limit_of_hbase() {
        let request = append().add("f", "a", "1").unwrap();
        let grow = |len: usize| {
            let current = Row::new(vec![cell("a", 5, &vec![b'x'; len], b"")]);
            Delta::from(&request)
                .read_modify_write(&current, at(100), CELL_BYTES_MAX)
                .map(|cells| cells[0].as_bytes().len())
        };
        let rest = grow(0).unwrap();
        assert_eq!(grow(CELL_BYTES_MAX - CELL_LEN_LEN - rest).unwrap(), CELL_BYTES_MAX - 4);
        let error = grow(CELL_BYTES_MAX - CELL_LEN_LEN - rest + 1).unwrap_err();
        assert_eq!(error.message(), "Cell with size 10485761 exceeds limit of 10485760 bytes");
    }

    #[test]
    fn sums_wrap_and_values_that_are_no_numbers_are_refused() {
        let request = Increment::new("r").unwrap().add("f", "n", 1).unwrap();
        let read_modify_write = |value: &[u8]| {
            let current = Row::new(vec![cell("n", 5, value, b"")]);
            Delta::from(&request)
                .read_modify_write(&current, at(100), CELL_BYTES_MAX)
                .map(|cells| cells[0].value().to_vec())
        };
        assert_eq!(read_modify_write(&i64::MAX.to_be_bytes()).unwrap(), i64::MIN.to_be_bytes());
        assert_eq!(
            read_modify_write(b"12345").unwrap_err().message(),
            "Field is not a long, it's 5 bytes wide"
        );
    }
}
