//! Requests to `hbase:meta`, and how the rows are decoded.

use bytes::Bytes;
use rowhouse_format::convert::names;
use rowhouse_format::convert::region::{self, RegionRef};
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_format::proto;
use rowhouse_format::rpc::{CellReader, decode_message};
use rowhouse_model::{
    Error, ErrorKind, RegionInfo, Result, Row, RowRange, Scan, ServerName, TableName, TableState,
    escape,
};

use super::{Located, RegionTarget};
use crate::connection::Address;
use crate::retry::Failure;

/// The family for region rows.
const REGION_FAMILY: &str = "info";
/// The family for table rows.
const TABLE_FAMILY: &str = "table";
/// How many regions a lookup reads, as in Java's async client.
const LOOKUP_ROWS: u32 = 10;

/// A row in `hbase:meta` that describes a region.
#[derive(Debug)]
pub(crate) struct MetaRegion {
    pub(crate) region: RegionInfo,
    pub(crate) server: Option<ServerName>,
}

impl MetaRegion {
    /// Parses a row; returns `None` for a row that does not describe a region, or only a replica.
    pub(crate) fn from_row(row: &Row) -> Result<Option<Self>> {
        let Some(region) = row.value(REGION_FAMILY, "regioninfo") else { return Ok(None) };
        Ok(Some(Self { region: region::from_pbuf(&region)?, server: server(row)? }))
    }

    /// Returns the region's location, if the region belongs to `table` and is served.
    pub(super) fn located(&self, table: &TableName) -> Option<Located> {
        let is_parent = self.region.split && self.region.offline;
        let server = self.server.as_ref().filter(|_| !is_parent && self.region.table == *table)?;
        // Copy the keys, so that they do not keep the answer's buffer alive.
        let mut region = self.region.clone();
        region.range.start = Bytes::copy_from_slice(&region.range.start);
        region.range.stop = Bytes::copy_from_slice(&region.range.stop);
        Some(Located::new(region, Address::from(server)))
    }
}

/// Returns the server in a row from `hbase:meta`; `None` if the region is unassigned.
fn server(row: &Row) -> Result<Option<ServerName>> {
    let Some(address) = row.value(REGION_FAMILY, "server").filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let (host, port) = ServerName::parse_address(&String::from_utf8_lossy(&address))
        .map_err(|error| Error::new(ErrorKind::Protocol, format!("hbase:meta: {error}")))?;
    let start_code = row.value(REGION_FAMILY, "serverstartcode");
    let start_code =
        start_code.and_then(|bytes| Some(u64::from_be_bytes(bytes[..].try_into().ok()?)));
    Ok(Some(ServerName { host, port, start_code: start_code.unwrap_or(0) }))
}

/// Builds a reversed scan over `hbase:meta` that starts at the region's position.
pub(super) fn lookup(meta: RegionRef, table: &TableName, place: RegionTarget<'_>) -> ScanCall {
    let start = match place {
        // After every region that starts at the row, for any id.
        RegionTarget::Row(row) => meta_row(table, row, ",99999999999999"),
        // Before every region that starts at the row.
        RegionTarget::Before(row) if !row.is_empty() => meta_row(table, row, ",00000000000000"),
        // After the table's last region: no table name continues with a zero byte.
        RegionTarget::Before(_) => [table.to_string().as_bytes(), b"\0"].concat().into(),
    };
    let mut scan = Scan::all().family(REGION_FAMILY);
    scan.reversed = true;
    scan.caching = Some(LOOKUP_ROWS);
    let mut open = OpenScan::new(scan);
    open.start_row = start;
    open.include_start = true;
    open.stop_row = meta_row(table, b"", ",");
    open.include_stop = true;
    let mut call = ScanCall::open(meta, open, LOOKUP_ROWS);
    call.limit = Some(LOOKUP_ROWS);
    call.close = true;
    call
}

fn meta_row(table: &TableName, row: &[u8], id: &str) -> Bytes {
    [table.to_string().as_bytes(), b",", row, id.as_bytes()].concat().into()
}

/// Returns the regions in the answer to a [`lookup`], nearest first.
pub(super) fn regions(
    answer: proto::ScanResponse,
    cells: &mut CellReader,
) -> Result<Vec<MetaRegion>, Failure> {
    let read = || -> Result<Vec<MetaRegion>> {
        let rows = ScanResult::from_proto(answer, cells)?.rows;
        // A partial last row loses only a region that the lookup does not need.
        let whole = rows.iter().filter(|row| !row.partial);
        whole.filter_map(|row| MetaRegion::from_row(&row.row).transpose()).collect()
    };
    read().map_err(Failure::unknown)
}

/// Returns the region that a [`lookup`] searched for.
pub(super) fn choose(
    entries: &[MetaRegion],
    table: &TableName,
    place: RegionTarget<'_>,
) -> Result<Located, Failure> {
    let fail = |kind, message: String| Err(Failure::before(Error::new(kind, message)));
    let mut of_table = entries.iter().filter(|meta| meta.region.table == *table);
    let Some(nearest) = of_table.next() else {
        return fail(ErrorKind::TableNotFound, table.to_string());
    };
    let name = nearest.region.name();
    match nearest.located(table) {
        Some(located) if located.has(place) => Ok(located),
        Some(_) => {
            let (RegionTarget::Row(row) | RegionTarget::Before(row)) = place;
            fail(
                ErrorKind::NotServingRegion,
                format!("no region of {table} has row {}: nearest={name}", escape(row)),
            )
        }
        None if nearest.region.split => {
            fail(ErrorKind::NotServingRegion, format!("region has been split: region={name}"))
        }
        None => {
            fail(ErrorKind::NotServingRegion, format!("no server has the region: region={name}"))
        }
    }
}

/// Reads all regions in a table from `hbase:meta`.
pub(crate) struct TableRegions;

impl TableRegions {
    /// Returns the scan over `hbase:meta` for a table's regions.
    pub(crate) fn scan(table: &TableName) -> Scan {
        // Table `t ` sorts directly after table `t`, because the order in hbase:meta compares names
        // field by field. In byte order `t ,,` would sort before `t,,`.
        let stop = [table.to_string().as_bytes(), b" ,,"].concat();
        let range = RowRange::new(meta_row(table, b"", ","), stop);
        Scan::new(range).family(REGION_FAMILY).caching(100)
    }

    /// Returns the region in a row, unless the daughters have replaced it.
    pub(crate) fn read(row: &Row) -> Result<Option<(RegionInfo, Option<ServerName>)>> {
        let entry = MetaRegion::from_row(row)?.filter(|meta| !meta.region.split);
        Ok(entry.map(|meta| (meta.region, meta.server)))
    }
}

/// Returns a table's state from its row in `hbase:meta`; `None` if there is no such table.
pub(crate) fn table_state(row: &Row) -> Result<Option<TableState>> {
    let Some(value) = row.value(TABLE_FAMILY, "state") else { return Ok(None) };
    Ok(Some(names::state_from_proto(decode_message::<proto::TableState>(value)?)))
}

#[cfg(test)]
mod tests {
    use rowhouse_format::convert::scan::ScanTarget;
    use rowhouse_model::{Cell, CellKind, Timestamp};

    use super::*;

    fn table() -> TableName {
        TableName::parse("t").unwrap()
    }

    fn row(region: &RegionInfo, columns: &[(&str, &[u8])]) -> Row {
        let name = region.name().full;
        let cell = |&(qualifier, value): &(&str, &[u8])| {
            Cell::new(&name, "info", qualifier, Timestamp::MIN, CellKind::Put, value).unwrap()
        };
        Row::new(columns.iter().map(cell).collect())
    }

    fn meta_region(start: &'static str, stop: &'static str, server: Option<&[u8]>) -> MetaRegion {
        let region = RegionInfo::new(table(), RowRange::new(start, stop), 5);
        let info = region::to_pbuf(&region);
        let mut columns = vec![("regioninfo", &info[..])];
        columns.extend(server.map(|server| ("server", server)));
        MetaRegion::from_row(&row(&region, &columns)).unwrap().unwrap()
    }

    fn bounds(place: RegionTarget<'_>) -> (Bytes, Bytes) {
        let call = lookup(RegionRef::encoded("1588230740"), &table(), place);
        let ScanTarget::Open { scan, .. } = call.target else { panic!("it opens a scanner") };
        (scan.start_row, scan.stop_row)
    }

    #[test]
    fn lookups_are_those_of_the_stock_client() {
        assert_eq!(
            bounds(RegionTarget::Row(b"a,\xff")),
            (b"t,a,\xff,99999999999999"[..].into(), "t,,".into())
        );
        assert_eq!(bounds(RegionTarget::Row(b"")).0, "t,,99999999999999");
        assert_eq!(bounds(RegionTarget::Before(b"m")).0, "t,m,00000000000000");
        assert_eq!(bounds(RegionTarget::Before(b"")).0, "t\0");
    }

    #[test]
    fn rows_say_where_a_region_is() {
        let entry = meta_region("a", "b", Some(b"host:16020"));
        let located = choose(&[entry], &table(), RegionTarget::Row(b"aa")).unwrap();
        assert_eq!(located.server.to_string(), "host:16020");
        assert_eq!(located.region.range, RowRange::new("a", "b"));
    }

    #[test]
    fn missing_region_is_an_error_with_its_reason() {
        let failed = |entries: &[MetaRegion]| {
            let failure = choose(entries, &table(), RegionTarget::Row(b"x")).unwrap_err();
            (failure.error.kind(), failure.error.message().to_owned())
        };
        assert_eq!(failed(&[]), (ErrorKind::TableNotFound, "t".into()));
        let (kind, message) = failed(&[meta_region("a", "b", Some(b"h:1"))]);
        assert_eq!(kind, ErrorKind::NotServingRegion);
        assert!(message.starts_with("no region of t has row x"), "{message}");
        let (kind, message) = failed(&[meta_region("a", "", None)]);
        assert_eq!(kind, ErrorKind::NotServingRegion);
        assert!(message.starts_with("no server has the region"), "{message}");
        let mut parent = meta_region("a", "", Some(b"h:1"));
        (parent.region.split, parent.region.offline) = (true, true);
        assert!(failed(&[parent]).1.starts_with("region has been split"));
    }
}
