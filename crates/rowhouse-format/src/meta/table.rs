//! A catalog table built from cells, with a table's read interface.

use std::cmp::Ordering;

use rowhouse_model::{
    Columns, Get, KeyValue, Namespace, Result, Row, TableName, TableState, TimeRange, Timestamp,
};

use super::{RegionRow, compare_rows, namespace_cell, table_state_cell};
use crate::convert::scan::OpenScan;

/// A catalog table's row order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// The order in `hbase:meta`: [`compare_rows`].
    Meta,
    /// Byte order, as in all other tables.
    Bytes,
}

impl RowOrder {
    fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Meta => compare_rows(a, b),
            Self::Bytes => a.cmp(b),
        }
    }
}

/// A computed table that is not stored.
#[derive(Clone, Debug)]
pub struct MetaTable {
    order: RowOrder,
    /// In row order; no row is empty.
    rows: Vec<Row>,
}

impl MetaTable {
    /// Builds `hbase:meta` from regions and tables; all cells have the timestamp `at`.
    ///
    /// # Errors
    /// As [`RegionRow::to_cells`].
    pub fn meta<'a>(
        regions: impl IntoIterator<Item = &'a RegionRow>,
        tables: impl IntoIterator<Item = (&'a TableName, TableState)>,
        at: Timestamp,
    ) -> Result<Self> {
        let mut rows = Vec::new();
        for region in regions {
            rows.push(Row::new(region.to_cells(at)?));
        }
        for (table, state) in tables {
            rows.push(Row::new(vec![table_state_cell(table, state, at)?]));
        }
        Ok(Self::new(RowOrder::Meta, rows))
    }

    /// Builds `hbase:namespace` from namespaces; all cells have the timestamp `at`.
    ///
    /// # Errors
    /// As [`namespace_cell`].
    pub fn namespaces<'a>(
        namespaces: impl IntoIterator<Item = &'a Namespace>,
        at: Timestamp,
    ) -> Result<Self> {
        let cells = namespaces.into_iter().map(|namespace| namespace_cell(namespace, at));
        let rows = cells.map(|cell| Ok(Row::new(vec![cell?]))).collect::<Result<_>>()?;
        Ok(Self::new(RowOrder::Bytes, rows))
    }

    /// Builds a table from rows in any order; each row's cells must be in cell order.
    pub fn new(order: RowOrder, mut rows: Vec<Row>) -> Self {
        rows.retain(|row| !row.is_empty());
        rows.sort_by(|a, b| order.compare(a.key(), b.key()));
        Self { order, rows }
    }

    /// Reads one row; returns an empty row if there is none.
    pub fn get(&self, get: &Get) -> Row {
        match self.rows.binary_search_by(|row| self.order.compare(row.key(), get.row())) {
            Ok(at) => select(&self.rows[at], &get.columns, get.time_range),
            Err(_) => Row::default(),
        }
    }

    /// Reads a row range. Uses the request's original bounds, because this table's order may differ
    /// from byte order. The caller must enforce the scan's limits.
    pub fn scan<'a>(&'a self, scan: &'a OpenScan) -> impl Iterator<Item = Row> + use<'a> {
        let (low, with_low, high, with_high) = if scan.scan.reversed {
            (&scan.stop_row, scan.include_stop, &scan.start_row, scan.include_start)
        } else {
            (&scan.start_row, scan.include_start, &scan.stop_row, scan.include_stop)
        };
        let begin = if low.is_empty() { 0 } else { self.first_not_before(low, !with_low) };
        let end =
            if high.is_empty() { self.rows.len() } else { self.first_not_before(high, with_high) };
        let rows = &self.rows[begin.min(end)..end];
        let reversed = scan.scan.reversed;
        (0..rows.len())
            .map(move |at| if reversed { &rows[rows.len() - 1 - at] } else { &rows[at] })
            .map(|row| select(row, &scan.scan.columns, scan.scan.time_range))
            .filter(|row| !row.is_empty())
    }

    /// Returns the index of the first row at or after `key`, or after `key` if `after` is set.
    fn first_not_before(&self, key: &[u8], after: bool) -> usize {
        self.rows.partition_point(|row| match self.order.compare(row.key(), key) {
            Ordering::Less => true,
            Ordering::Equal => after,
            Ordering::Greater => false,
        })
    }
}

/// Returns the cells in a row that a read selects. A catalog table holds one version of each cell.
fn select(row: &Row, columns: &Columns, time_range: TimeRange) -> Row {
    let is_selected = |cell: &KeyValue<'_>| {
        let key = cell.key();
        columns.has_column(key.family, key.qualifier) && time_range.contains(key.timestamp)
    };
    Row::new(row.cells().filter(is_selected).map(KeyValue::to_cell).collect())
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{RegionInfo, RowRange, Scan, ServerName};

    use super::super::{State, lookup, regions_of};
    use super::*;

    fn region(table: &str, start: &'static str, stop: &'static str) -> RegionRow {
        let table = TableName::parse(table).unwrap();
        RegionRow {
            region: RegionInfo::new(table, RowRange::new(start, stop), 5),
            server: Some(ServerName { host: "h".into(), port: 1, start_code: 2 }),
            open_sequence: 2,
            state: State::Open,
        }
    }

    fn table() -> MetaTable {
        let regions = [
            region("t", "", "+"),
            region("t", "+", "m,m"),
            region("t", "m,m", ""),
            region("t1", "", ""),
            region("ns:t", "", ""),
        ];
        let names = ["t", "t1", "ns:t"].map(|name| TableName::parse(name).unwrap());
        let states = names.iter().map(|name| (name, TableState::Enabled));
        MetaTable::meta(&regions, states, Timestamp::MIN).unwrap()
    }

    fn starts(scan: &OpenScan) -> Vec<String> {
        let rows = table();
        let rows = rows.scan(scan).map(|row| RegionRow::from_row(&row).unwrap());
        let name = |region: RegionRow| {
            format!(
                "{}/{}",
                region.region.table,
                rowhouse_model::escape(&region.region.range.start)
            )
        };
        rows.map(|row| row.map_or("table".into(), name)).collect()
    }

    #[test]
    fn a_lookup_finds_the_region_of_a_row() {
        let t = TableName::parse("t").unwrap();
        for (row, start) in
            [("", ""), ("*", ""), ("+", "+"), (",", "+"), ("m", "+"), ("m,m", "m,m"), ("z", "m,m")]
        {
            let scan = lookup(&t, row.as_bytes());
            assert_eq!(starts(&scan)[0], format!("t/{start}"), "{row}");
            // The same after a round trip over the wire.
            assert_eq!(starts(&OpenScan::from_proto(scan.to_proto()).unwrap()), starts(&scan));
        }
        assert!(starts(&lookup(&TableName::parse("s").unwrap(), b"x")).is_empty());
        let long = vec![b'x'; 40_000];
        assert_eq!(starts(&lookup(&t, &long))[0], "t/m,m");
    }

    #[test]
    fn the_regions_of_a_table_are_its_own() {
        let of = |name| starts(&regions_of(&TableName::parse(name).unwrap()));
        assert_eq!(of("t"), ["t/", "t/+", "t/m,m"]);
        assert_eq!(of("t1"), ["t1/"]);
        assert_eq!(of("ns:t"), ["ns:t/"]);
    }

    #[test]
    fn everything_comes_in_metas_order_and_back() {
        let all = OpenScan::new(Scan::all());
        let forward = starts(&all);
        assert_eq!(forward, ["table", "ns:t/", "table", "t/", "t/+", "t/m,m", "table", "t1/"]);
        let mut back = starts(&OpenScan::new(Scan { reversed: true, ..Scan::all() }));
        back.reverse();
        assert_eq!(back, forward);
    }

    #[test]
    fn gets_select_columns_and_times() {
        let table = table();
        let state = Get::new("t").unwrap().column("table", "state");
        assert_eq!(table.get(&state).len(), 1);
        assert!(table.get(&Get::new("nope").unwrap()).is_empty());
        assert!(table.get(&Get::new("t").unwrap().family("info")).is_empty());
        let later = TimeRange::at(Timestamp::from_millis(9).unwrap());
        assert!(table.get(&state.time_range(later)).is_empty());
    }

    #[test]
    fn an_upside_down_range_is_empty() {
        assert!(starts(&OpenScan::new(Scan::new(RowRange::new("t1", "t")))).is_empty());
    }
}
