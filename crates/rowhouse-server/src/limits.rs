//! All server limits.

#![cfg_attr(
    not(all(feature = "tls", feature = "web")),
    allow(dead_code, reason = "only TLS and the web port have some of them")
)]

use std::time::Duration;

/// Maximum region servers in a process.
pub(crate) const REGION_SERVERS_MAX: u32 = 64;
/// Calls that wait for the operation or byte limit on their region server. Further ones are refused
/// with `CallQueueTooBigException`. HBase's default: 30 handlers with 10 calls each.
pub(crate) const CAPPED_CALLS_WAITING_MAX: usize = 300;
/// How far use on a limited region server may run ahead of the rate.
pub(crate) const CAP_BURST: Duration = Duration::from_millis(20);
/// The interval at which region load is measured.
pub(crate) const LOAD_SAMPLE_INTERVAL: Duration = Duration::from_secs(5);
/// The time over which a region's measured load is averaged.
pub(crate) const LOAD_WINDOW: Duration = Duration::from_secs(60);
/// The interval at which the balancer runs. HBase's is five minutes.
pub(crate) const BALANCER_INTERVAL: Duration = Duration::from_secs(60);
/// How long the balancer leaves a region where it was moved to.
pub(crate) const MOVED_REGION_REST: Duration = Duration::from_secs(120);
/// How long a region server that is killed waits for the calls that run, before the server's
/// regions go to others: longer than a scan looks for rows.
pub(crate) const KILL_WAIT: Duration = Duration::from_secs(30);
/// The interval at which it looks whether they have ended.
pub(crate) const KILL_LOOK: Duration = Duration::from_millis(1);
/// Maximum open connections, per port.
pub(crate) const CONNECTIONS_MAX: usize = 4096;
/// After this time without a packet the system asks whether the client's machine is still there.
pub(crate) const KEEPALIVE_TIME: Duration = Duration::from_secs(60);
/// The time between two such questions.
pub(crate) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// Questions without an answer after which the connection ends.
pub(crate) const KEEPALIVE_RETRIES: u32 = 4;
/// Connections to the web port that are open at once.
pub(crate) const WEB_CONNECTIONS_MAX: usize = 64;
/// Connections in addition to those, which are answered for health and metrics alone.
pub(crate) const WEB_MONITORING_CONNECTIONS_MAX: usize = 8;
/// How long a web connection waits for the client to take part of an answer.
pub(crate) const WEB_WRITE_WAIT: Duration = Duration::from_secs(30);
/// How long a connection for health and metrics alone may be open.
pub(crate) const WEB_MONITORING_TIME: Duration = Duration::from_secs(2);
/// Sessions of users on the web pages. Beyond it the one that ends first is closed.
pub(crate) const WEB_SESSIONS_MAX: usize = 1_000;
/// Sessions of one user. Beyond it the user's own that ends first is closed.
pub(crate) const WEB_USER_SESSIONS_MAX: usize = 50;
/// Bytes in the form that begins a session.
pub(crate) const WEB_LOGIN_BYTES_MAX: usize = 16 << 10;
/// How long such a session lasts.
pub(crate) const WEB_SESSION_TIME: Duration = Duration::from_secs(12 * 3600);
/// HTTP/2 requests on a connection that run at once.
pub(crate) const WEB_STREAMS_MAX: u32 = 16;
/// Header bytes in a web request.
pub(crate) const WEB_HEADER_BYTES_MAX: usize = 16 << 10;
/// Path and query bytes in a web request.
pub(crate) const WEB_URI_BYTES_MAX: usize = 8 << 10;
/// Web page queries that run at once. Further ones are refused.
pub(crate) const WEB_QUERIES_MAX: usize = 2;
/// How long a web page query reads.
pub(crate) const WEB_QUERY_WAIT: Duration = Duration::from_secs(2);
/// Rows that a web page query returns.
pub(crate) const WEB_QUERY_ROWS_MAX: usize = 50;
/// Cells per family that a web page shows for a row.
pub(crate) const WEB_FAMILY_CELLS_MAX: u32 = 20;
/// Key or value characters that a web page shows.
pub(crate) const WEB_SHOWN_CHARS_MAX: usize = 200;
/// Tables, regions in a table, and dead servers that a web page lists.
pub(crate) const WEB_LISTED_MAX: usize = 1_000;
/// Table heat reads for web pages that run at once. Further ones are refused.
pub(crate) const WEB_HEATS_MAX: usize = 4;
/// Searches for designs that run at once for web pages. Further ones are refused.
pub(crate) const WEB_DESIGNS_MAX: usize = 1;
/// How long a web page searches for designs.
pub(crate) const WEB_DESIGN_WAIT: Duration = Duration::from_secs(30);
/// How long a web page simulates designs; the one that is being simulated then is the last.
pub(crate) const WEB_SIMULATION_WAIT: Duration = Duration::from_secs(60);
/// Bytes in a form with a workload.
pub(crate) const WEB_DESIGN_FORM_BYTES_MAX: usize = 64 << 10;
/// Rows from which a web page estimates designs.
pub(crate) const WEB_DESIGN_ROWS_MAX: u64 = 2_000;
/// Bytes in the values of those rows.
pub(crate) const WEB_DESIGN_BYTES_MAX: u64 = 8 << 20;
/// Questions in a workload on a web page.
pub(crate) const WEB_DESIGN_QUESTIONS_MAX: usize = 16;
/// Solr client searches that run at once. Others wait.
pub(crate) const SOLR_SEARCHES_MAX: usize = 4;
/// How long a Solr client search waits for others.
pub(crate) const SOLR_SEARCH_WAIT: Duration = Duration::from_secs(5);
/// How long a Solr client search runs.
pub(crate) const SOLR_SEARCH_TIME: Duration = Duration::from_secs(10);
/// Form bytes that a Solr client posts.
pub(crate) const SOLR_FORM_BYTES_MAX: usize = 1 << 20;
/// Forms that are read and held at once.
pub(crate) const SOLR_FORMS_MAX: usize = 64;
/// Maximum bytes in a body that is too long for a form and is read to the end all the same.
pub(crate) const SOLR_BODY_BYTES_MAX: usize = 64 << 20;
/// Parameters in a Solr client request.
pub(crate) const SOLR_PARAMS_MAX: usize = 1_000;
/// Mark bytes before or after a word that is highlighted.
pub(crate) const SOLR_MARK_BYTES_MAX: usize = 256;
/// Rows on a Solr client page.
pub(crate) const SOLR_ROWS_MAX: usize = 10_000;
/// Rows up to the end of a page that is requested by the number of rows before it.
pub(crate) const SOLR_DEPTH_MAX: usize = 100_000;
/// Filters in a Solr client search.
pub(crate) const SOLR_FILTERS_MAX: usize = 64;
/// Bytes that a document holds for each cell byte: as a row, as values and as text.
pub(crate) const SOLR_BYTES_PER_BYTE: u64 = 4;
/// Bytes in the cells that an answer's documents are made from, and in the highlights.
pub(crate) const SOLR_ANSWER_BYTES_MAX: u64 = 64 << 20;
/// Searches by which Solr client pages in score order continue.
pub(crate) const SOLR_VIEWS_MAX: usize = 64;
/// How long a gateway repeats a call that a region refuses while it moves, splits or is busy.
#[cfg(any(feature = "rest", feature = "thrift"))]
pub(crate) const GATEWAY_RETRY_TIME: Duration = Duration::from_secs(10);
/// Open connections to a gateway.
#[cfg(any(feature = "rest", feature = "thrift"))]
pub(crate) const GATEWAY_CONNECTIONS_MAX: usize = 1024;
/// Header bytes in a REST request: HBase's `hbase.http.max.request.header.size` in the REST server.
#[cfg(feature = "rest")]
pub(crate) const REST_HEADER_BYTES_MAX: usize = 64 << 10;
/// Bytes in the body of a REST request with rows.
#[cfg(feature = "rest")]
pub(crate) const REST_BODY_BYTES_MAX: u64 = 64 << 20;
/// Bytes in the body of a REST request with a scanner, a schema or properties.
#[cfg(feature = "rest")]
pub(crate) const REST_MODEL_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a REST body that are read without reserving memory.
#[cfg(feature = "rest")]
pub(crate) const REST_SMALL_BODY_BYTES: u64 = 16 << 10;
/// Bytes that the rows of a REST body may take in memory, per byte of the body. The body counts as
/// one more.
#[cfg(feature = "rest")]
pub(crate) const REST_BYTES_PER_BODY_BYTE: u64 = 5;
/// Bytes in addition to those, for small bodies.
#[cfg(feature = "rest")]
pub(crate) const REST_ROWS_BYTES_MIN: u64 = 256 << 10;
/// Bytes of an encoded REST answer that are made at once.
#[cfg(feature = "rest")]
pub(crate) const REST_PART_BYTES: usize = 64 << 10;
/// Rows in a message of a stateless scan in protobuf: HBase's `hbase.rest.scan.fetchsize`.
#[cfg(feature = "rest")]
pub(crate) const REST_FRAME_ROWS: usize = 10;
/// Bytes of a request to a gateway once it is written out in full: each get with its columns, each
/// cell with its row.
#[cfg(any(feature = "rest", feature = "thrift"))]
pub(crate) const GATEWAY_WRITTEN_OUT_MAX: u64 = 256 << 20;
/// Rows that a REST scan reads in a call.
#[cfg(feature = "rest")]
pub(crate) const REST_SCAN_ROWS: u32 = 1_000;
/// Cell bytes after which an answer of a REST scanner, or a page, ends.
#[cfg(feature = "rest")]
pub(crate) const REST_PAGE_BYTES: u64 = 2 << 20;
/// Rows in a multi-get by REST.
#[cfg(feature = "rest")]
pub(crate) const REST_GETS_MAX: usize = 10_000;
/// Open REST scanners. Beyond it the one that was not used for longest ends, as in HBase
/// (`hbase.rest.scannercache.size`).
#[cfg(feature = "rest")]
pub(crate) const REST_SCANNERS_MAX: usize = 1_000;
/// How long a REST scanner may be unused: HBase's `hbase.rest.scannercache.expire.time`.
#[cfg(feature = "rest")]
pub(crate) const REST_SCANNER_TIME: Duration = Duration::from_secs(3600);
/// Bytes of rows that all REST scanners hold for their next answers.
#[cfg(feature = "rest")]
pub(crate) const REST_SCANNERS_HELD_BYTES_MAX: u64 = 32 << 20;
/// How long a Thrift connection waits for its first message. HBase's has as long for each:
/// `hbase.thrift.server.socket.read.timeout`.
#[cfg(feature = "thrift")]
pub(crate) const THRIFT_FIRST_WAIT: Duration = Duration::from_secs(60);
/// Bytes of Thrift messages without frames that have come in part and wait for more memory.
#[cfg(feature = "thrift")]
pub(crate) const THRIFT_WAITING_BYTES_MAX: usize = 64 << 20;
/// Open scanners of all Thrift clients.
#[cfg(feature = "thrift")]
pub(crate) const THRIFT_SCANNERS_MAX: usize = 10_000;
/// Open scanners that were opened on one Thrift connection.
#[cfg(feature = "thrift")]
pub(crate) const THRIFT_CONNECTION_SCANNERS_MAX: usize = 1_000;
/// Bytes in the requests of the open scanners of all Thrift clients.
#[cfg(feature = "thrift")]
pub(crate) const THRIFT_SCANNER_BYTES_MAX: usize = 64 << 20;
/// How long a Thrift scanner stays open without a call, as in HBase.
#[cfg(feature = "thrift")]
pub(crate) const THRIFT_SCANNER_LIFE: Duration = Duration::from_secs(120);
/// Cell bytes up to which the answers of several calls are joined to one of Thrift.
#[cfg(feature = "thrift")]
pub(crate) const THRIFT_JOINED_BYTES: u64 = 2 << 20;
/// Saved states of all tables, for tests.
pub(crate) const STATES_MAX: usize = 100;
/// Bytes in the files that saved states hold, each file counted once.
pub(crate) const STATES_BYTES_MAX: u64 = 4 << 30;
/// Maximum connections waiting to be accepted, per port; the system may permit fewer.
pub(crate) const CONNECTIONS_WAITING_MAX: u32 = 1024;
/// Maximum calls on one connection that run on worker threads at once; at this limit the connection
/// stops reading.
pub(crate) const LONG_CALLS_MAX: usize = 32;
/// Maximum worker threads in a region server, for the long calls on all connections.
pub(crate) const WORKERS_MAX: usize = 64;
/// Call bytes in addition to the largest mutation's cells.
pub(crate) const FRAME_SLACK_BYTES: usize = 1 << 20;
/// Maximum time from connecting to the first call.
pub(crate) const HANDSHAKE_WAIT: Duration = Duration::from_secs(30);
/// How long a TLS handshake may take.
pub(crate) const TLS_HANDSHAKE_WAIT: Duration = Duration::from_secs(10);
/// Bytes that a TLS connection holds for a client that takes them slowly.
pub(crate) const TLS_BUFFER_BYTES_MAX: usize = 32 << 10;
/// The interval at which the certificate files are looked at.
pub(crate) const TLS_FILES_LOOK: Duration = Duration::from_secs(10);
/// The interval at which the file of users is looked at.
pub(crate) const USERS_FILE_LOOK: Duration = Duration::from_secs(1);
/// How long a client that fails to authenticate waits for the answer.
pub(crate) const FAILED_LOGIN_WAIT: Duration = Duration::from_secs(1);
/// Requests to the ZooKeeper port above [`INPUT_BYTES_MIN`] that are read at once, up to 1 MiB
/// each.
pub(crate) const ZOOKEEPER_LONG_REQUESTS_MAX: usize = 16;
/// How long calls under way may continue after the server begins to stop.
pub(crate) const STOP_WAIT: Duration = Duration::from_millis(700);
/// Maximum time between two calls to a scanner: HBase's `hbase.client.scanner.timeout.period`.
pub(crate) const SCANNER_LEASE: Duration = Duration::from_secs(60);
/// Maximum time that a scanner waiting for the next call keeps flushed memstores in memory.
pub(crate) const SCANNER_MEMORY_WAIT: Duration = Duration::from_secs(1);
/// Maximum open scanners.
pub(crate) const SCANNERS_MAX: usize = 100_000;
/// How many closed scanners are remembered. A call for such a scanner returns no rows, as in HBase,
/// which remembers closed scanners for a minute. A call for an older one is refused.
pub(crate) const CLOSED_SCANNERS_MAX: usize = 10_000;
/// Mutations in replicated log entries that are applied as one batch; an entry is not divided.
pub(crate) const REPLICATED_MUTATIONS_AT_ONCE: usize = 1_000;
/// Maximum unfinished bulk loads; beyond it the oldest is forgotten.
pub(crate) const BULK_LOADS_MAX: usize = 1000;
/// Maximum finished and running calls in one bulk load.
pub(crate) const BULK_LOAD_CALLS_MAX: usize = 10_000;
/// Maximum cell bytes in one answer to a scan, even if the client permits more: HBase's
/// `hbase.server.scanner.max.result.size`.
pub(crate) const SCAN_ANSWER_BYTES_MAX: u64 = 100 << 20;
/// Maximum cell bytes in the answer to one multi call. The remaining actions are refused, and the
/// client retries them. HBase uses the same setting for it.
pub(crate) const MULTI_ANSWER_BYTES_MAX: u64 = SCAN_ANSWER_BYTES_MAX;
/// Upper bound for the bytes that a Java client counts per cell in addition to the cell itself: an
/// object, an array header, padding.
pub(crate) const CLIENT_CELL_OVERHEAD_BYTES: u64 = 128;
/// Maximum time that a scan looks for rows before it sends a heartbeat. The limit is half the
/// client's timeout if that is shorter, as in HBase, where the timeout defaults to one minute.
pub(crate) const SCAN_ANSWER_WAIT: Duration = Duration::from_secs(10);
/// Minimum for that time, even if the call waited long before it started: HBase's
/// `hbase.region.server.rpc.minimum.scan.time.limit.delta`.
pub(crate) const SCAN_ANSWER_WAIT_MIN: Duration = Duration::from_millis(10);
/// How long a call waits for another call to the same scanner.
pub(crate) const SCANNER_WAIT: Duration = Duration::from_secs(1);
/// Minimum timeout assumed for clients, even if they send a shorter one: HBase's
/// `hbase.ipc.min.client.request.timeout`.
pub(crate) const CLIENT_WAIT_MIN: Duration = Duration::from_millis(20);
/// Maximum rows in a scan that is read on the connection's task; larger scans run on a worker
/// thread.
pub(crate) const SHORT_SCAN_ROWS: u32 = 100;
/// Maximum cell bytes in such a scan.
pub(crate) const SHORT_SCAN_BYTES: u64 = 4 << 20;
/// How long a call may run on the connection's task before it moves to a worker thread.
pub(crate) const SHORT_CALL_WAIT: Duration = Duration::from_millis(1);
/// Maximum bytes in a call that is tried on the connection's task.
pub(crate) const SHORT_CALL_BYTES: usize = 16 << 10;
/// Rules for faults on demand.
pub(crate) const FAULT_RULES_MAX: usize = 64;
/// Slow and large calls that a server remembers: HBase's
/// `hbase.regionserver.slowlog.ringbuffer.size`.
pub(crate) const SLOW_LOG_ENTRIES_MAX: usize = 256;
/// Maximum bytes for a call's description in the slow log.
pub(crate) const SLOW_LOG_PARAM_BYTES_MAX: usize = 1 << 10;
/// Maximum capacity in bytes for each of the two buffers that a connection keeps for the next
/// request and answer.
pub(crate) const BUFFER_KEEP_BYTES: usize = 64 << 10;
/// How long a connection without calls keeps a larger buffer for answers, 256 KiB at most.
pub(crate) const BUFFER_KEEP_WAIT: Duration = Duration::from_secs(1);
/// Bytes that a connection reads without reserving memory. With less room a small request takes two
/// reads.
pub(crate) const INPUT_BYTES_MIN: usize = 16 << 10;
/// Maximum room in bytes that is made for the rest of a request before it arrives.
pub(crate) const INPUT_BYTES_MAX: usize = 4 << 20;
/// The time over which a client's pace is judged when it sends a request for which memory is
/// reserved, or takes an answer, while others wait for memory.
pub(crate) const PACE_WAIT: Duration = Duration::from_secs(2);
/// The bytes that must be sent or taken in that time: as many as a link of half a Mbit/s carries.
pub(crate) const PACE_BYTES: usize = 128 << 10;
/// The interval at which a connection that reads nothing looks whether the client has gone.
pub(crate) const CLOSED_LOOK: Duration = Duration::from_millis(100);
/// How long a call that can be paused keeps the worker thread.
pub(crate) const WORKER_SLICE: Duration = Duration::from_millis(50);
/// Calls that mostly read and run on worker threads at once, for each processor.
pub(crate) const READERS_PER_PROCESSOR: usize = 2;
/// The least number of such calls.
pub(crate) const READERS_MIN: usize = 4;
/// Scanners that wait at a block in each file that they read. Further scanners look for their place
/// again.
pub(crate) const READY_SCANNERS_MAX: usize = 256;
/// Row bytes that a region server's scanners hold for their next calls.
pub(crate) const SCANNERS_AHEAD_BYTES_MAX: u64 = 64 << 20;
/// Scanners that the calls on one connection have open.
pub(crate) const CONNECTION_SCANNERS_MAX: usize = 10_000;
/// Changes in an answer to a follower.
pub(crate) const CHANGES_ANSWER_MAX: usize = 10_000;
/// Bytes of rows and cells in such an answer, but for the last change.
pub(crate) const CHANGES_ANSWER_BYTES: usize = 1 << 20;
/// How long such a call waits for the first change at most.
pub(crate) const CHANGES_WAIT_MAX: Duration = Duration::from_secs(5);
/// The calls that wait for changes at once; others are answered without a change.
pub(crate) const CHANGES_WAITING_MAX: usize = 8;
/// Rows in a search answer.
pub(crate) const SEARCH_ROWS_MAX: usize = 10_000;
/// Field values that an answer counts.
pub(crate) const SEARCH_FACETS_MAX: usize = 100_000;
/// Searches by which pages by score continue.
pub(crate) const SEARCH_VIEWS_MAX: usize = 256;
