//! Reading many rows: opening a scanner, going on with it, and what it gives.

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

/// One Scan request.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanCall {
    /// Which scanner, or what to open one for.
    pub target: ScanTarget,
    /// How many rows the client wants now (`number_of_rows`). Without a number it is 1, or 0 with
    /// [`ScanCall::close`].
    pub rows: u32,
    /// How many rows the client will take from here on, over all calls and regions
    /// (`limit_of_rows`); `None` for all. At the limit the server closes the scanner by itself.
    pub limit: Option<u32>,
    /// Close the scanner behind these rows.
    pub close: bool,
    /// Only keep the scanner from expiring.
    pub renew: bool,
    /// The number of this call to the scanner, from 0; the open has none.
    pub next_call_seq: Option<u64>,
    /// Whether a result may end inside a row.
    pub client_handles_partials: bool,
    /// Whether an answer may come early, without rows, to say that the scan is alive.
    pub client_handles_heartbeats: bool,
    /// Whether the client asks for numbers about the scan.
    pub track_metrics: bool,
}

/// What a Scan request is about.
#[derive(Clone, Debug, PartialEq)]
pub enum ScanTarget {
    /// A scanner to be opened.
    Open {
        /// The region to scan.
        region: RegionRef,
        /// What to read.
        scan: Box<OpenScan>,
    },
    /// A scanner that is open.
    Scanner(u64),
}

/// What a scanner is opened for: a [`Scan`] and what only the wire knows about it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenScan {
    /// What to read. Its range is half-open and in key order: the bounds below with their flags
    /// worked in and, when reversed, changed over.
    pub scan: Scan,
    /// Where the scan begins, as sent: the greater end of a reversed scan. `hbase:meta`, whose
    /// order is not that of bytes, wants this and the next three instead of the range.
    pub start_row: Bytes,
    /// Whether `start_row` itself is read; it usually is.
    pub include_start: bool,
    /// Where the scan ends, as sent.
    pub stop_row: Bytes,
    /// Whether `stop_row` itself is read; it usually is not.
    pub include_stop: bool,
    /// What the server is to see: 0, or the number it gave to the scanner that this one goes on
    /// with inside a row.
    pub read_point: u64,
    /// How many bytes of cells an answer may have, by the client's word.
    pub result_bytes_max: Option<u64>,
    /// Whether the application itself takes rows in parts.
    pub allow_partial_results: bool,
    /// Whether the client wants to know how far a scan without results has come.
    pub wants_cursor: bool,
}

impl OpenScan {
    /// A scanner for `scan`, as a client opens it.
    pub fn new(scan: Scan) -> Self {
        let RowRange { start, stop } = scan.range.clone();
        let reversed = scan.reversed;
        let (start_row, stop_row) = if reversed { (stop, start) } else { (start, stop) };
        Self {
            // Reversed, the bounds change sides and keep what they include.
            include_start: !reversed || start_row.is_empty(),
            include_stop: reversed,
            start_row,
            stop_row,
            scan,
            read_point: 0,
            result_bytes_max: None,
            allow_partial_results: false,
            wants_cursor: false,
        }
    }

    /// Sets where the scan begins and ends, each with whether that row itself is read; `start` is
    /// the greater end of a reversed scan.
    pub fn set_bounds(&mut self, start: (Bytes, bool), stop: (Bytes, bool)) {
        self.scan.range = range(&start.0, start.1, &stop.0, stop.1, self.scan.reversed);
        (self.start_row, self.include_start) = start;
        (self.stop_row, self.include_stop) = stop;
    }

    /// Reads a scan.
    ///
    /// Passed over: `small`, `readType` and `query_metrics_enabled`, which change no
    /// answer.
    ///
    /// # Errors
    /// `Unsupported` for filters and comparators that are not known, and attributes with an
    /// effect.
    pub fn from_proto(scan: proto::Scan) -> Result<Self> {
        attributes::check(&scan.attribute)?;
        let start_row = scan.start_row.clone().unwrap_or_default();
        let stop_row = scan.stop_row.clone().unwrap_or_default();
        let include_start = scan.include_start_row();
        // Clients older than the flag mean one row when both ends are the same.
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
            wants_cursor: scan.need_cursor_result(),
            scan: Scan { columns: columns_from_proto(scan.column), ..read },
            start_row,
            include_start,
            stop_row,
            include_stop,
        })
    }

    /// Writes a scan. The limit is not part of it: [`ScanCall::limit`].
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
            attribute: self.scan.raw.then(attributes::raw).into_iter().collect(),
            filter: self.scan.filter.as_deref().map(filter::to_proto),
            load_column_families_on_demand: (!self.scan.families_on_demand).then_some(false),
            cache_blocks: (!self.scan.cache_blocks).then_some(false),
            allow_partial_results: self.allow_partial_results.then_some(true),
            mvcc_read_point: (self.read_point != 0).then_some(self.read_point),
            need_cursor_result: self.wants_cursor.then_some(true),
            ..Default::default()
        }
    }
}

/// The half-open range, in key order, of a scan between these bounds.
fn range(
    start: &Bytes,
    include_start: bool,
    stop: &Bytes,
    include_stop: bool,
    reversed: bool,
) -> RowRange {
    // The first row behind the bound, where the bound itself belongs to the other side.
    let bound = |row: &Bytes, behind: bool| match behind && !row.is_empty() {
        true => [&row[..], &[0]].concat().into(),
        false => row.clone(),
    };
    if reversed {
        RowRange { start: bound(stop, !include_stop), stop: bound(start, include_start) }
    } else {
        RowRange { start: bound(start, !include_start), stop: bound(stop, include_stop) }
    }
}

impl ScanCall {
    /// A request that opens a scanner and takes up to `rows` rows at once.
    pub fn open(region: RegionRef, scan: OpenScan, rows: u32) -> Self {
        Self::new(ScanTarget::Open { region, scan: Box::new(scan) }, rows)
    }

    /// A request for up to `rows` more rows of a scanner; the first one after the open is number 0.
    pub fn next(scanner: u64, next_call_seq: u64, rows: u32) -> Self {
        let next_call_seq = Some(next_call_seq);
        Self { next_call_seq, ..Self::new(ScanTarget::Scanner(scanner), rows) }
    }

    /// A request that closes a scanner.
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

    /// Reads a Scan request.
    ///
    /// # Errors
    /// As [`OpenScan::from_proto`]; `InvalidRequest` when it names neither scanner nor scan.
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
            // Java: an int, of which only what is above 0 is a limit.
            limit: request.limit_of_rows.filter(|&rows| rows as i32 > 0),
            close,
            renew: request.renew.unwrap_or(false),
            next_call_seq: request.next_call_seq,
            client_handles_partials: request.client_handles_partials.unwrap_or(false),
            client_handles_heartbeats: request.client_handles_heartbeats.unwrap_or(false),
            track_metrics: request.track_scan_metrics.unwrap_or(false),
        })
    }

    /// Writes a Scan request.
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

/// One Scan response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanResult {
    /// The rows.
    pub rows: Vec<ScannedRow>,
    /// The scanner; Apache gives it with the open alone.
    pub scanner: Option<u64>,
    /// How long the scanner lives without a call, in milliseconds; with the open alone.
    pub ttl_ms: Option<u32>,
    /// What the scanner sees; with the open alone.
    pub read_point: Option<u64>,
    /// Whether the scan as a whole goes on, here or in another region. `false` ends it: the limit
    /// was reached.
    pub more_results: bool,
    /// Whether this region has more; `None` when the answer does not say (to a renewal). `false`
    /// means that the server has closed the scanner.
    pub more_results_in_region: Option<bool>,
    /// Whether the answer came early to say that the scan is alive.
    pub heartbeat: bool,
    /// How far a scan without results has come.
    pub cursor: Option<Bytes>,
    /// What the call cost, for a client that asks: HBase's names (`ServerSideScanMetrics`) and numbers.
    pub metrics: Vec<(String, i64)>,
}

/// A row of a scan, or a part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScannedRow {
    /// The cells.
    pub row: Row,
    /// Whether more cells of the same row follow in the next result.
    pub partial: bool,
}

impl ScanResult {
    /// Writes a Scan response; with [`CellPlacement::Block`], [`ScanResult::cells`] go into the block.
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
                response.results = self.rows.iter().map(row_to_proto).collect()
            }
        }
        response
    }

    /// The cells of all rows, in the order of the cell block.
    pub fn cells(&self) -> impl Iterator<Item = KeyValue<'_>> + Clone {
        self.rows.iter().flat_map(|row| row.row.cells())
    }

    /// Reads a Scan response.
    ///
    /// # Errors
    /// `Protocol` for cells that are missing, malformed, or of several rows.
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
