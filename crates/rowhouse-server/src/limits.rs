//! Every bound of the server in one place.

use std::time::Duration;

/// Connections open at once, on each port.
pub(crate) const CONNECTIONS_MAX: usize = 4096;
/// Connections to the web port that are open at once.
#[cfg(feature = "web")]
pub(crate) const WEB_CONNECTIONS_MAX: usize = 64;
/// Bytes of the header of a web request.
#[cfg(feature = "web")]
pub(crate) const WEB_HEADER_BYTES_MAX: usize = 16 << 10;
/// Connections that wait to be accepted, on each port; the system may allow fewer.
pub(crate) const CONNECTIONS_WAITING_MAX: u32 = 1024;
/// Calls of one connection that run at once on threads of their own; then reading stops.
pub(crate) const LONG_CALLS_MAX: usize = 32;
/// Threads for long calls, of all connections together. They come when needed and go when idle.
pub(crate) const WORKERS_MAX: usize = 64;
/// Bytes of a call besides the cells of the largest mutation.
pub(crate) const FRAME_SLACK_BYTES: usize = 1 << 20;
/// How long a client may take from connecting to its first call.
pub(crate) const HANDSHAKE_WAIT: Duration = Duration::from_secs(30);
/// How long calls under way may take once the server is stopping.
pub(crate) const STOP_WAIT: Duration = Duration::from_millis(700);
/// How long a scanner lives between two calls: HBase's `hbase.client.scanner.timeout.period`.
pub(crate) const SCANNER_LEASE: Duration = Duration::from_secs(60);
/// How long a scanner that waits for its next call may keep memory that was flushed.
pub(crate) const SCANNER_MEMORY_WAIT: Duration = Duration::from_secs(1);
/// Scanners open at once.
pub(crate) const SCANNERS_MAX: usize = 100_000;
/// Closed scanners that are remembered: a call for one of these returns no rows, as in HBase, which remembers them for a
/// minute. A call for an older one is refused.
pub(crate) const CLOSED_SCANNERS_MAX: usize = 10_000;
/// Clients that load HFiles at once; of more, the one that began first is forgotten.
pub(crate) const BULK_LOADS_MAX: usize = 1000;
/// Bytes of cells in one answer to a scan, whatever the client allows: HBase's
/// `hbase.server.scanner.max.result.size`.
pub(crate) const SCAN_ANSWER_BYTES_MAX: u64 = 100 << 20;
/// Bytes of cells in the answers to the actions of one multi call; what is left then is refused, and the client
/// asks for it again. HBase takes the same setting for it.
pub(crate) const MULTI_ANSWER_BYTES_MAX: u64 = SCAN_ANSWER_BYTES_MAX;
/// Bytes that a Java client counts for a cell besides the cell's own, at most: an object, an array's header, padding.
pub(crate) const CLIENT_CELL_OVERHEAD_BYTES: u64 = 128;
/// How long a scan looks for rows before it tells the client that it is alive, at most: half of the client's
/// patience, as in HBase, which is a minute by default.
pub(crate) const SCAN_ANSWER_WAIT: Duration = Duration::from_secs(10);
/// How long it does so at least, however long the call had to wait: HBase's
/// `hbase.region.server.rpc.minimum.scan.time.limit.delta`.
pub(crate) const SCAN_ANSWER_WAIT_MIN: Duration = Duration::from_millis(10);
/// How long a call waits for another of the same scanner.
pub(crate) const SCANNER_WAIT: Duration = Duration::from_secs(1);
/// What clients wait at least for an answer, whatever they say: HBase's `hbase.ipc.min.client.request.timeout`.
pub(crate) const CLIENT_WAIT_MIN: Duration = Duration::from_millis(20);
/// Rows of a scan that are read where the call arrives; more are read on a thread of their own.
pub(crate) const SHORT_SCAN_ROWS: u32 = 100;
/// Bytes of cells of such a scan.
pub(crate) const SHORT_SCAN_BYTES: u64 = 4 << 20;
/// How long a call may take where it arrived, before it goes on elsewhere.
pub(crate) const SHORT_CALL_WAIT: Duration = Duration::from_millis(1);
/// Bytes of a call that is tried where it arrives.
pub(crate) const SHORT_CALL_BYTES: usize = 16 << 10;
/// Slow and large calls that a server remembers: HBase's `hbase.regionserver.slowlog.ringbuffer.size`.
pub(crate) const SLOW_LOG_ENTRIES_MAX: usize = 256;
/// Bytes of a call's description among them.
pub(crate) const SLOW_LOG_PARAM_BYTES_MAX: usize = 1 << 10;
/// Bytes of answers that are written before more calls of a connection are looked at.
pub(crate) const ANSWERS_BYTES_MAX: usize = 1 << 20;
/// Bytes of an answer's buffer that a connection keeps for the next one.
pub(crate) const BUFFER_KEEP_BYTES: usize = 256 << 10;
