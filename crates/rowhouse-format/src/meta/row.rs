//! Rows in the catalog tables, and the scans with which clients find them.

use prost::Message;
use rowhouse_model::{
    Cell, CellKind, Error, ErrorKind, Namespace, RegionInfo, Result, Row, RowRange, Scan,
    ServerName, TableName, TableState, Timestamp,
};

use crate::convert::scan::OpenScan;
use crate::convert::{names, region};

/// A region's state, as in `info:state`.
pub use crate::proto::region_state::State;

const FAMILY: &str = "info";
const REGION_INFO: &str = "regioninfo";
const OPEN_SEQUENCE: &str = "seqnumDuringOpen";
const SERVER: &str = "server";
const START_CODE: &str = "serverstartcode";
const SERVER_NAME: &str = "sn";
const STATE: &str = "state";
const TABLE_FAMILY: &str = "table";

/// An id that sorts after all regions' ids.
const ID_MAX: &str = "99999999999999";

/// An `hbase:meta` row that describes a region.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionRow {
    /// The region.
    pub region: RegionInfo,
    /// The server that serves the region, or served it last.
    pub server: Option<ServerName>,
    /// The sequence number at which the region was opened.
    pub open_sequence: u64,
    /// The region's state.
    pub state: State,
}

impl RegionRow {
    /// Returns the cells for the region's row, in cell order.
    ///
    /// # Errors
    /// `InvalidRequest` if a long start key makes the region's name longer than a row key may be.
    pub fn to_cells(&self, at: Timestamp) -> Result<Vec<Cell>> {
        let row = self.region.name().full;
        let cell = |qualifier: &str, value: &[u8]| {
            Cell::new(&row, FAMILY, qualifier, at, CellKind::Put, value)
        };
        let mut cells = vec![
            cell(REGION_INFO, &region::to_pbuf(&self.region))?,
            cell(OPEN_SEQUENCE, &self.open_sequence.to_be_bytes())?,
        ];
        if let Some(server) = &self.server {
            cells.push(cell(SERVER, server.address().as_bytes())?);
            cells.push(cell(START_CODE, &server.start_code.to_be_bytes())?);
            cells.push(cell(SERVER_NAME, server.to_string().as_bytes())?);
        }
        cells.push(cell(STATE, self.state.as_str_name().as_bytes())?);
        Ok(cells)
    }

    /// Parses an `hbase:meta` row; returns `None` if it does not describe a region.
    ///
    /// # Errors
    /// `Protocol` if a column is malformed.
    pub fn from_row(row: &Row) -> Result<Option<Self>> {
        let Some(info) = row.value(FAMILY, REGION_INFO) else { return Ok(None) };
        let state = match row.value(FAMILY, STATE) {
            None => State::Open,
            Some(text) => std::str::from_utf8(&text)
                .ok()
                .and_then(State::from_str_name)
                .ok_or_else(|| malformed(STATE, &text))?,
        };
        Ok(Some(Self {
            region: region::from_pbuf(&info)?,
            server: server_of(row)?,
            open_sequence: number(row, OPEN_SEQUENCE)?.unwrap_or(0),
            state,
        }))
    }
}

fn server_of(row: &Row) -> Result<Option<ServerName>> {
    let (Some(address), Some(start_code)) = (row.value(FAMILY, SERVER), number(row, START_CODE)?)
    else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&address).map_err(|_| malformed(SERVER, &address))?;
    if text.is_empty() {
        return Ok(None);
    }
    let (host, port) = ServerName::parse_address(text).map_err(|_| malformed(SERVER, &address))?;
    Ok(Some(ServerName { host, port, start_code }))
}

fn number(row: &Row, qualifier: &str) -> Result<Option<u64>> {
    let Some(value) = row.value(FAMILY, qualifier).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let bytes = value[..].try_into().map_err(|_| malformed(qualifier, &value))?;
    Ok(Some(u64::from_be_bytes(bytes)))
}

fn malformed(qualifier: &str, value: &[u8]) -> Error {
    let value = rowhouse_model::escape(value);
    Error::new(
        ErrorKind::Protocol,
        format!("malformed {FAMILY}:{qualifier} in hbase:meta: {value}"),
    )
}

/// Returns the `hbase:meta` cell that holds a table's state: enabled or disabled.
///
/// # Errors
/// `InvalidRequest` if the table name is longer than a row key may be.
pub fn table_state_cell(table: &TableName, state: TableState, at: Timestamp) -> Result<Cell> {
    let value = names::state_to_proto(state).encode_to_vec();
    Cell::new(table.to_string(), TABLE_FAMILY, STATE, at, CellKind::Put, value)
}

/// Returns the `hbase:namespace` cell that describes a namespace.
///
/// # Errors
/// `InvalidRequest` if the name is longer than a row key may be.
pub fn namespace_cell(namespace: &Namespace, at: Timestamp) -> Result<Cell> {
    let value = names::namespace_to_proto(namespace).encode_to_vec();
    Cell::new(namespace.name(), FAMILY, "d", at, CellKind::Put, value)
}

/// Returns the scan over `hbase:meta` whose first row is the region in `table` that may hold `row`.
pub fn lookup(table: &TableName, row: &[u8]) -> OpenScan {
    let from = [table.to_string().as_bytes(), b",", row, b",", ID_MAX.as_bytes()].concat();
    let mut scan = Scan::all().family(FAMILY).caching(1);
    scan.reversed = true;
    let mut open = OpenScan::new(scan);
    open.set_bounds((from.into(), true), (format!("{table},,").into(), true));
    open
}

/// Returns the scan over `table`'s regions in `hbase:meta`, in order.
pub fn regions_of(table: &TableName) -> OpenScan {
    // A space sorts before all characters that can continue a table's name.
    let range = RowRange::new(format!("{table},,"), format!("{table} ,,"));
    OpenScan::new(Scan::new(range).family(FAMILY))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row() -> RegionRow {
        RegionRow {
            region: RegionInfo::new(TableName::parse("t").unwrap(), RowRange::new("a,b", "c"), 9),
            server: Some(ServerName { host: "hbase.test".into(), port: 16020, start_code: 7 }),
            open_sequence: 2,
            state: State::Open,
        }
    }

    #[test]
    fn rows_come_back() {
        let unserved = RegionRow { server: None, state: State::Closed, ..row() };
        for row in [row(), unserved] {
            let cells = Row::new(row.to_cells(Timestamp::MIN).unwrap());
            assert_eq!(RegionRow::from_row(&cells).unwrap(), Some(row));
        }
        let state =
            table_state_cell(&TableName::meta(), TableState::Disabled, Timestamp::MIN).unwrap();
        assert_eq!(state.value(), b"\x08\x01");
        assert_eq!(RegionRow::from_row(&Row::new(vec![state])).unwrap(), None);
    }

    #[test]
    fn namespaces_are_written_as_apache_writes_them() {
        let cell = namespace_cell(&Namespace::new("default").unwrap(), Timestamp::MIN).unwrap();
        assert_eq!(cell.value(), b"\x0a\x07default");
    }

    proptest! {
        #[test]
        fn damaged_rows_never_panic(which in 0usize..6, value: Vec<u8>) {
            let mut cells = row().to_cells(Timestamp::MIN).unwrap();
            cells[which] = Cell::from_parts(cells[which].key(), &value, &[]).unwrap();
            let _ = RegionRow::from_row(&Row::new(cells));
        }
    }
}
