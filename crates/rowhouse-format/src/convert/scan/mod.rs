//! Scans: opening and continuing a scanner, and the results.

use bytes::Bytes;
use rowhouse_model::{Error, ErrorKind, KeyValue, Result, Row, RowRange, Scan};

use super::columns::{
    columns_from_proto, columns_to_proto, family_limit_from_proto, family_offset_from_proto,
    family_time_ranges_from_proto, family_time_ranges_to_proto, time_range_from_proto,
    time_range_to_proto,
};
use super::region::RegionRef;
use super::{CellPlacement, attributes, filter, get, result};
use crate::proto;
use crate::rpc::CellReader;

/// A Scan request.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanCall {
    /// The scanner, or the scan to open one for.
    pub target: ScanTarget,
    /// How many rows this response has at most (`number_of_rows`). If not sent, 1, or 0 with
    /// [`ScanCall::close`].
    pub rows: u32,
    /// Most rows that the client accepts from here on, over all calls and regions
    /// (`limit_of_rows`); `None` for all. The server closes the scanner at the limit.
    pub limit: Option<u32>,
    /// Whether to close the scanner after these rows.
    pub close: bool,
    /// Whether to only renew the scanner's lease.
    pub renew: bool,
    /// This call's sequence number on the scanner, from 0; the open has none.
    pub next_call_seq: Option<u64>,
    /// Whether a result may end inside a row.
    pub client_handles_partials: bool,
    /// Whether the server may send an early response without rows as a heartbeat.
    pub client_handles_heartbeats: bool,
    /// Whether the client requests scan metrics.
    pub track_metrics: bool,
}

/// A Scan request's target.
#[derive(Clone, Debug, PartialEq)]
pub enum ScanTarget {
    /// Opens a scanner.
    Open {
        /// The region to scan.
        region: RegionRef,
        /// The scan.
        scan: Box<OpenScan>,
    },
    /// An open scanner's id.
    Scanner(u64),
}

/// A scan to open a scanner for: a [`Scan`] with the fields that exist only on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenScan {
    /// The scan. The range is half-open and in key order: it combines the bounds below with their
    /// flags, swapped if the scan is reversed.
    pub scan: Scan,
    /// First bound as sent: the greater one in a reversed scan. `hbase:meta`, which is not in byte
    /// order, uses this and the next three fields instead of the range.
    pub start_row: Bytes,
    /// Whether `start_row` is inclusive; usually it is.
    pub include_start: bool,
    /// Last bound as sent.
    pub stop_row: Bytes,
    /// Whether `stop_row` is inclusive; usually it is not.
    pub include_stop: bool,
    /// The read point to use: 0 for a new one, or the read point that belongs to the scanner that
    /// this one continues inside a row.
    pub read_point: u64,
    /// The most cell bytes per response that the client requests.
    pub result_bytes_max: Option<u64>,
    /// Whether the application accepts partial rows.
    pub allow_partial_results: bool,
    /// True if the client requests the position when a scan has no results.
    pub needs_cursor: bool,
    /// The query that selects rows, in the query language, if the client sends one (the attribute
    /// `rowhouse.query`). The rest of the scan applies to the rows that match.
    pub query: Option<String>,
}

impl OpenScan {
    /// Creates a client's request for `scan`.
    pub fn new(scan: Scan) -> Self {
        let RowRange { start, stop } = scan.range.clone();
        let reversed = scan.reversed;
        let (start_row, stop_row) = if reversed { (stop, start) } else { (start, stop) };
        Self {
            // A reversed scan swaps the bounds; each retains the inclusiveness.
            include_start: !reversed || start_row.is_empty(),
            include_stop: reversed,
            start_row,
            stop_row,
            scan,
            read_point: 0,
            result_bytes_max: None,
            allow_partial_results: false,
            needs_cursor: false,
            query: None,
        }
    }

    /// Sets the scan's bounds, each with its inclusiveness; `start` is the greater one in a
    /// reversed scan.
    pub fn set_bounds(&mut self, start: (Bytes, bool), stop: (Bytes, bool)) {
        self.scan.range = range(&start.0, start.1, &stop.0, stop.1, self.scan.reversed);
        (self.start_row, self.include_start) = start;
        (self.stop_row, self.include_stop) = stop;
    }

    /// Decodes a scan.
    ///
    /// Ignores `small`, `readType` and `query_metrics_enabled`, which do not affect results.
    ///
    /// # Errors
    /// `Unsupported` for unknown filters and comparators, and for attributes that request an
    /// unsupported feature; `InvalidRequest` for a query that is not UTF-8.
    pub fn from_proto(mut scan: proto::Scan) -> Result<Self> {
        let query = attributes::take_query(&mut scan.attribute)?;
        attributes::check(&scan.attribute)?;
        let start_row = scan.start_row.clone().unwrap_or_default();
        let stop_row = scan.stop_row.clone().unwrap_or_default();
        let include_start = scan.include_start_row();
        // Clients older than the flag send equal bounds for a scan over one row.
        let is_one_row = !start_row.is_empty() && start_row == stop_row;
        let include_stop = scan.include_stop_row.unwrap_or(is_one_row);
        let reversed = scan.reversed();
        let mut read =
            Scan::new(range(&start_row, include_start, &stop_row, include_stop, reversed));
        read.reversed = reversed;
        read.versions = get::check_versions(scan.max_versions())?;
        read.caching = scan.caching.filter(|&rows| rows as i32 > 0);
        read.time_range = time_range_from_proto(scan.time_range)?;
        read.family_time_ranges = family_time_ranges_from_proto(scan.cf_time_range.clone())?;
        read.family_limit = family_limit_from_proto(scan.store_limit);
        read.family_offset = family_offset_from_proto(scan.store_offset)?;
        read.batch = scan.batch_size.filter(|&batch| batch as i32 > 0);
        read.raw = attributes::is_raw(&scan.attribute);
        read.filter = scan.filter.clone().map(filter::from_proto).transpose()?.map(Box::new);
        read.families_on_demand = scan.load_column_families_on_demand.unwrap_or(true);
        read.cache_blocks = scan.cache_blocks();
        Ok(Self {
            read_point: scan.mvcc_read_point(),
            result_bytes_max: scan.max_result_size.filter(|&bytes| bytes as i64 > 0),
            allow_partial_results: scan.allow_partial_results.unwrap_or(false),
            needs_cursor: scan.need_cursor_result(),
            query,
            scan: Scan { columns: columns_from_proto(scan.column), ..read },
            start_row,
            include_start,
            stop_row,
            include_stop,
        })
    }

    /// Encodes a scan, without the limit, which is in [`ScanCall::limit`].
    pub fn to_proto(&self) -> proto::Scan {
        proto::Scan {
            column: columns_to_proto(&self.scan.columns),
            start_row: Some(self.start_row.clone()),
            stop_row: Some(self.stop_row.clone()),
            include_start_row: Some(self.include_start),
            include_stop_row: Some(self.include_stop),
            time_range: Some(time_range_to_proto(self.scan.time_range)),
            max_versions: Some(self.scan.versions),
            max_result_size: self.result_bytes_max,
            caching: self.scan.caching,
            reversed: self.scan.reversed.then_some(true),
            cf_time_range: family_time_ranges_to_proto(&self.scan.family_time_ranges),
            store_limit: self.scan.family_limit,
            store_offset: (self.scan.family_offset != 0).then_some(self.scan.family_offset),
            batch_size: self.scan.batch,
            attribute: {
                let query = self.query.as_deref().map(attributes::query);
                self.scan.raw.then(attributes::raw).into_iter().chain(query).collect()
            },
            filter: self.scan.filter.as_deref().map(filter::to_proto),
            load_column_families_on_demand: (!self.scan.families_on_demand).then_some(false),
            cache_blocks: (!self.scan.cache_blocks).then_some(false),
            allow_partial_results: self.allow_partial_results.then_some(true),
            mvcc_read_point: (self.read_point != 0).then_some(self.read_point),
            need_cursor_result: self.needs_cursor.then_some(true),
            ..Default::default()
        }
    }
}

/// Returns the half-open range, in key order, for a scan between these bounds.
fn range(
    start: &Bytes,
    include_start: bool,
    stop: &Bytes,
    include_stop: bool,
    reversed: bool,
) -> RowRange {
    // The bound itself or, with `after`, the first row after it.
    let bound = |row: &Bytes, after: bool| {
        if after && !row.is_empty() { [&row[..], &[0]].concat().into() } else { row.clone() }
    };
    if reversed {
        RowRange { start: bound(stop, !include_stop), stop: bound(start, include_start) }
    } else {
        RowRange { start: bound(start, !include_start), stop: bound(stop, include_stop) }
    }
}

impl ScanCall {
    /// Creates a request that opens a scanner and reads up to `rows` rows.
    pub fn open(region: RegionRef, scan: OpenScan, rows: u32) -> Self {
        Self::new(ScanTarget::Open { region, scan: Box::new(scan) }, rows)
    }

    /// Creates a request for up to `rows` more rows; the first request after the open has sequence
    /// number 0.
    pub fn next(scanner: u64, next_call_seq: u64, rows: u32) -> Self {
        let next_call_seq = Some(next_call_seq);
        Self { next_call_seq, ..Self::new(ScanTarget::Scanner(scanner), rows) }
    }

    /// Creates a request that closes a scanner.
    pub fn close(scanner: u64) -> Self {
        Self { close: true, ..Self::new(ScanTarget::Scanner(scanner), 0) }
    }

    fn new(target: ScanTarget, rows: u32) -> Self {
        Self {
            target,
            rows,
            limit: None,
            close: false,
            renew: false,
            next_call_seq: None,
            client_handles_partials: true,
            client_handles_heartbeats: true,
            track_metrics: false,
        }
    }

    /// Decodes a Scan request.
    ///
    /// # Errors
    /// As [`OpenScan::from_proto`]; `InvalidRequest` without both a scanner and a scan.
    pub fn from_proto(request: proto::ScanRequest) -> Result<Self> {
        let close = request.close_scanner.unwrap_or(false);
        let target = match (request.scanner_id, request.scan) {
            (Some(scanner), _) => ScanTarget::Scanner(scanner),
            (None, Some(scan)) => ScanTarget::Open {
                region: RegionRef::from_proto(request.region.unwrap_or_default()),
                scan: Box::new(OpenScan::from_proto(scan)?),
            },
            (None, None) => {
                return Err(Error::invalid("Missing required input: scannerId or scan"));
            }
        };
        Ok(Self {
            target,
            rows: request.number_of_rows.unwrap_or(if close { 0 } else { 1 }),
            // A Java int; only positive values are a limit.
            limit: request.limit_of_rows.filter(|&rows| rows as i32 > 0),
            close,
            renew: request.renew.unwrap_or(false),
            next_call_seq: request.next_call_seq,
            client_handles_partials: request.client_handles_partials.unwrap_or(false),
            client_handles_heartbeats: request.client_handles_heartbeats.unwrap_or(false),
            track_metrics: request.track_scan_metrics.unwrap_or(false),
        })
    }

    /// Encodes a Scan request.
    pub fn to_proto(&self) -> proto::ScanRequest {
        let mut request = proto::ScanRequest {
            number_of_rows: Some(self.rows),
            close_scanner: Some(self.close),
            next_call_seq: self.next_call_seq,
            client_handles_partials: Some(self.client_handles_partials),
            client_handles_heartbeats: Some(self.client_handles_heartbeats),
            track_scan_metrics: Some(self.track_metrics),
            renew: self.renew.then_some(true),
            limit_of_rows: self.limit,
            ..Default::default()
        };
        match &self.target {
            ScanTarget::Scanner(scanner) => request.scanner_id = Some(*scanner),
            ScanTarget::Open { region, scan } => {
                request.region = Some(region.to_proto());
                request.scan = Some(scan.to_proto());
            }
        }
        request
    }
}

/// A Scan response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanResult {
    /// The rows.
    pub rows: Vec<ScannedRow>,
    /// The scanner's id; Apache sends it only in the response to the open.
    pub scanner: Option<u64>,
    /// The scanner's lease timeout in milliseconds; only in the response to the open.
    pub ttl_ms: Option<u32>,
    /// The scanner's read point; only in the response to the open.
    pub read_point: Option<u64>,
    /// Whether the scan continues, in this or another region. `false` ends it: the scan has reached
    /// its limit.
    pub more_results: bool,
    /// Whether this region has more rows; `None` in the response to a renewal. `false` means that
    /// the server has closed the scanner.
    pub more_results_in_region: Option<bool>,
    /// Whether the response is a heartbeat.
    pub heartbeat: bool,
    /// The position when a scan has no results.
    pub cursor: Option<Bytes>,
    /// The call's metrics, if requested: HBase's names (`ServerSideScanMetrics`) and values.
    pub metrics: Vec<(String, i64)>,
}

/// A row from a scan, or a row part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScannedRow {
    /// The cells.
    pub row: Row,
    /// True if more cells in the row follow in the next result.
    pub partial: bool,
}

impl ScanResult {
    /// Encodes a Scan response; with [`CellPlacement::Block`], the caller puts
    /// [`ScanResult::cells`] into the cell block.
    pub fn to_proto(&self, cells_in: CellPlacement) -> proto::ScanResponse {
        let mut response = proto::ScanResponse {
            scanner_id: self.scanner,
            ttl: self.ttl_ms,
            mvcc_read_point: self.read_point,
            more_results: Some(self.more_results),
            more_results_in_region: self.more_results_in_region,
            stale: Some(false),
            heartbeat_message: self.heartbeat.then_some(true),
            cursor: self.cursor.clone().map(|row| proto::Cursor { row: Some(row) }),
            scan_metrics: metrics_to_proto(&self.metrics),
            ..Default::default()
        };
        match cells_in {
            CellPlacement::Block => {
                let counts = self.rows.iter().map(|row| row.row.len() as u32);
                response.cells_per_result = counts.collect();
                response.partial_flag_per_result =
                    self.rows.iter().map(|row| row.partial).collect();
            }
            CellPlacement::Message => {
                response.results = self.rows.iter().map(row_to_proto).collect();
            }
        }
        response
    }

    /// Iterates over all rows' cells, in cell block order.
    pub fn cells(&self) -> impl Iterator<Item = KeyValue<'_>> + Clone {
        self.rows.iter().flat_map(|row| row.row.cells())
    }

    /// Decodes a Scan response.
    ///
    /// # Errors
    /// `Protocol` if cells are missing, malformed, or from several rows.
    pub fn from_proto(response: proto::ScanResponse, block: &mut CellReader) -> Result<Self> {
        let mut rows = Vec::new();
        for (at, &count) in response.cells_per_result.iter().enumerate() {
            let row = result::row_of(block.take_cells(count as usize)?)?;
            let partial = response.partial_flag_per_result.get(at).copied().unwrap_or(false);
            rows.push(ScannedRow { row, partial });
        }
        for message in response.results {
            let read = result::from_proto(message, block)?;
            rows.push(ScannedRow { row: read.row, partial: read.partial });
        }
        if !block.is_empty() {
            return Err(Error::new(
                ErrorKind::Protocol,
                format!("cell block has cells of no result: results={}", rows.len()),
            ));
        }
        Ok(Self {
            rows,
            scanner: response.scanner_id,
            ttl_ms: response.ttl,
            read_point: response.mvcc_read_point,
            more_results: response.more_results.unwrap_or(true),
            more_results_in_region: response.more_results_in_region,
            heartbeat: response.heartbeat_message.unwrap_or(false),
            cursor: response.cursor.and_then(|cursor| cursor.row),
            metrics: metrics_from_proto(response.scan_metrics),
        })
    }
}

fn metrics_to_proto(metrics: &[(String, i64)]) -> Option<proto::ScanMetrics> {
    let pairs = metrics.iter().map(|(name, value)| proto::NameInt64Pair {
        name: Some(name.clone()),
        value: Some(*value),
    });
    (!metrics.is_empty()).then(|| proto::ScanMetrics { metrics: pairs.collect() })
}

fn metrics_from_proto(metrics: Option<proto::ScanMetrics>) -> Vec<(String, i64)> {
    let pairs = metrics.unwrap_or_default().metrics.into_iter();
    pairs.map(|pair| (pair.name.unwrap_or_default(), pair.value.unwrap_or_default())).collect()
}

fn row_to_proto(row: &ScannedRow) -> proto::Result {
    let mut message = result::to_proto(&row.row, CellPlacement::Message);
    message.partial = Some(row.partial);
    message
}

#[cfg(test)]
mod tests;
