//! A server's metrics: one table with the names, and the text for Prometheus.

#![cfg_attr(not(feature = "web"), allow(dead_code, reason = "only the web port reads them"))]

mod heat;
mod totals;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use rowhouse_model::{FollowerStatus, TableName};
use rowhouse_store::RegionRequests;

use crate::call_metrics::{BUCKET_MICROS, Calls, MethodCalls};
use crate::cap::Cap;
use crate::cluster::Cluster;
use crate::region_server::RegionServer;
use crate::replication_sink::ReplicationSink;
pub(crate) use heat::JudgedHeats;
use heat::TableHeat;
#[cfg(feature = "web")]
pub(crate) use heat::{keys_of, placement_of};
pub(crate) use totals::Totals;

/// A metric, and how the samples are collected.
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// One sentence, with the unit.
    pub(crate) help: &'static str,
    collect: fn(&Sources<'_>, &mut Samples<'_>),
}

/// What Prometheus calls a metric's type.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Every metric, in text order. `docs/operation.md` lists their names; a test compares them.
pub(crate) const METRICS: &[Metric] = &[
    Metric {
        name: "rowhouse_call_seconds",
        kind: Kind::Histogram,
        help: "Latency of calls from arrival to answer, by method of HBase's protocol.",
        collect: call_seconds,
    },
    Metric {
        name: "rowhouse_call_errors_total",
        kind: Kind::Counter,
        help: "Calls answered with an exception, by method.",
        collect: call_errors,
    },
    Metric {
        name: "rowhouse_open_scanners",
        kind: Kind::Gauge,
        help: "Scanners that clients have open.",
        collect: |from, out| {
            let ports = from.cluster.ports_ever();
            let open = ports.iter().map(|server| server.scanners.len()).sum::<usize>();
            out.sample("", &[], open as f64);
        },
    },
    Metric {
        name: "rowhouse_call_memory_bytes",
        kind: Kind::Gauge,
        help: "Bytes reserved for requests, calls and answers that clients have not taken.",
        collect: |from, out| out.sample("", &[], from.cluster.call_memory.used_bytes() as f64),
    },
    Metric {
        name: "rowhouse_call_memory_peak_bytes",
        kind: Kind::Gauge,
        help: "The most bytes that were reserved for calls at once.",
        collect: |from, out| out.sample("", &[], from.cluster.call_memory.peak_bytes() as f64),
    },
    Metric {
        name: "rowhouse_call_memory_max_bytes",
        kind: Kind::Gauge,
        help: "The most bytes that can be reserved for calls.",
        collect: |from, out| out.sample("", &[], from.cluster.call_memory.bytes_max() as f64),
    },
    Metric {
        name: "rowhouse_call_memory_waiting",
        kind: Kind::Gauge,
        help: "Requests and calls that wait for memory.",
        collect: |from, out| out.sample("", &[], from.cluster.call_memory.waiting() as f64),
    },
    Metric {
        name: "rowhouse_takes_writes",
        kind: Kind::Gauge,
        help: "1 while the database takes writes, 0 while `/health` says why it does not.",
        collect: |from, out| {
            let takes_writes = from.cluster.store.check_writable().is_ok();
            out.sample("", &[], f64::from(u8::from(takes_writes)));
        },
    },
    Metric {
        name: "rowhouse_server_up",
        kind: Kind::Gauge,
        help: "1 while the region server runs, 0 after it was stopped, by region server.",
        collect: |from, out| from.by_server(out, |server| f64::from(server.is_live)),
    },
    Metric {
        name: "rowhouse_server_regions",
        kind: Kind::Gauge,
        help: "Regions that are served, by region server.",
        collect: |from, out| from.by_server(out, |server| server.regions as f64),
    },
    Metric {
        name: "rowhouse_server_open_scanners",
        kind: Kind::Gauge,
        help: "Scanners that clients have open, by region server.",
        collect: |from, out| from.by_server(out, |server| server.server.scanners.len() as f64),
    },
    Metric {
        name: "rowhouse_server_call_seconds",
        kind: Kind::Histogram,
        help: "Latency of calls from arrival to answer, by region server.",
        collect: |from, out| {
            for server in &from.servers {
                out.histogram(("server", &server.address), &server.server.calls.all());
            }
        },
    },
    Metric {
        name: "rowhouse_server_call_errors_total",
        kind: Kind::Counter,
        help: "Calls answered with an exception, by region server.",
        collect: |from, out| {
            from.by_server(out, |server| server.server.calls.all().errors() as f64);
        },
    },
    Metric {
        name: "rowhouse_server_cap_waiting_calls",
        kind: Kind::Gauge,
        help: "Calls that wait for the limit of operations or bytes, by region server with one.",
        collect: |from, out| from.by_cap(out, |cap| cap.waiting() as f64),
    },
    Metric {
        name: "rowhouse_server_cap_waits_total",
        kind: Kind::Counter,
        help: "Calls that had to wait for the limit, by region server with one.",
        collect: |from, out| from.by_cap(out, |cap| cap.waits().delayed() as f64),
    },
    Metric {
        name: "rowhouse_server_cap_wait_seconds_total",
        kind: Kind::Counter,
        help: "Time that calls had to wait for the limit, by region server with one.",
        collect: |from, out| from.by_cap(out, |cap| cap.waits().delay().as_secs_f64()),
    },
    Metric {
        name: "rowhouse_server_cap_refusals_total",
        kind: Kind::Counter,
        help: "Calls refused because too many waited for the limit, by region server with one.",
        collect: |from, out| from.by_cap(out, |cap| cap.waits().refused() as f64),
    },
    Metric {
        name: "rowhouse_replicated_calls_total",
        kind: Kind::Counter,
        help: "Calls with log entries from other clusters that were applied, by region server.",
        collect: |from, out| from.by_sink(out, ReplicationSink::calls),
    },
    Metric {
        name: "rowhouse_replicated_call_errors_total",
        kind: Kind::Counter,
        help: "Such calls that were answered with an error. The source repeats them.",
        collect: |from, out| from.by_sink(out, ReplicationSink::failed_calls),
    },
    Metric {
        name: "rowhouse_replicated_entries_total",
        kind: Kind::Counter,
        help: "Log entries from other clusters that were applied, by region server.",
        collect: |from, out| from.by_sink(out, ReplicationSink::entries),
    },
    Metric {
        name: "rowhouse_replication_age_seconds",
        kind: Kind::Gauge,
        help: "How old the last such entry was when it was applied.",
        collect: |from, out| {
            from.by_server(out, |server| {
                server.server.replication_sink.last_age_millis() as f64 / 1e3
            });
        },
    },
    Metric {
        name: "rowhouse_memstore_bytes",
        kind: Kind::Gauge,
        help: "Bytes of memstores.",
        collect: |from, out| out.sample("", &[], from.cluster.store.memstore_bytes().0 as f64),
    },
    Metric {
        name: "rowhouse_memstore_bytes_max",
        kind: Kind::Gauge,
        help: "Bytes of memstores above which writers wait.",
        collect: |from, out| out.sample("", &[], from.cluster.store.memstore_bytes().1 as f64),
    },
    Metric {
        name: "rowhouse_index_memory_bytes",
        kind: Kind::Gauge,
        help: "Bytes of indexes in memory.",
        collect: |from, out| out.sample("", &[], from.cluster.store.index_memory_bytes().0 as f64),
    },
    Metric {
        name: "rowhouse_index_memory_bytes_max",
        kind: Kind::Gauge,
        help: "Bytes that indexes in memory may hold.",
        collect: |from, out| out.sample("", &[], from.cluster.store.index_memory_bytes().1 as f64),
    },
    Metric {
        name: "rowhouse_follower_lag_bytes",
        kind: Kind::Gauge,
        help: "Bytes of the log after the position that a registered follower saved.",
        collect: |from, out| from.by_follower(out, |follower| follower.lag_bytes as f64),
    },
    Metric {
        name: "rowhouse_follower_lag_seconds",
        kind: Kind::Gauge,
        help: "Age of the first change after that position.",
        collect: |from, out| from.by_follower(out, |it| it.lag_millis as f64 / 1000.0),
    },
    Metric {
        name: "rowhouse_follower_lost",
        kind: Kind::Gauge,
        help: "1 if the changes after that position are no longer retained.",
        collect: |from, out| {
            from.by_follower(out, |follower| f64::from(u8::from(follower.is_lost)));
        },
    },
    Metric {
        name: "rowhouse_block_cache_bytes",
        kind: Kind::Gauge,
        help: "Bytes in the block cache.",
        collect: |from, out| out.sample("", &[], from.cluster.store.block_cache_bytes().0 as f64),
    },
    Metric {
        name: "rowhouse_block_cache_bytes_max",
        kind: Kind::Gauge,
        help: "Bytes that the block cache may hold.",
        collect: |from, out| out.sample("", &[], from.cluster.store.block_cache_bytes().1 as f64),
    },
    Metric {
        name: "rowhouse_tasks",
        kind: Kind::Gauge,
        help: "Flushes, compactions, splits and merges of regions that are running.",
        collect: |from, out| out.sample("", &[], from.cluster.store.tasks().len() as f64),
    },
    Metric {
        name: "rowhouse_table_regions",
        kind: Kind::Gauge,
        help: "Regions, by table.",
        collect: |from, out| from.by_table(out, |table| table.regions as f64),
    },
    Metric {
        name: "rowhouse_table_files",
        kind: Kind::Gauge,
        help: "HFiles, by table.",
        collect: |from, out| from.by_table(out, |table| table.size.files as f64),
    },
    Metric {
        name: "rowhouse_table_file_bytes",
        kind: Kind::Gauge,
        help: "Bytes of HFiles on the disk, by table.",
        collect: |from, out| from.by_table(out, |table| table.size.file_bytes as f64),
    },
    Metric {
        name: "rowhouse_table_memstore_bytes",
        kind: Kind::Gauge,
        help: "Bytes of memstores, by table.",
        collect: |from, out| from.by_table(out, |table| table.size.memstore_bytes as f64),
    },
    Metric {
        name: "rowhouse_table_reads_total",
        kind: Kind::Counter,
        help: "Rows read, by table.",
        collect: |from, out| from.requests_by_table(out, |requests| requests.reads),
    },
    Metric {
        name: "rowhouse_table_filtered_reads_total",
        kind: Kind::Counter,
        help: "Rows read and not returned because a filter left no cell of them, by table.",
        collect: |from, out| from.requests_by_table(out, |requests| requests.filtered_reads),
    },
    Metric {
        name: "rowhouse_table_writes_total",
        kind: Kind::Counter,
        help: "Mutations, by table.",
        collect: |from, out| from.requests_by_table(out, |requests| requests.writes),
    },
    Metric {
        name: "rowhouse_table_hottest_range_share",
        kind: Kind::Gauge,
        help: "Share of a minute's requests that is in the hottest key range, by table, for the last ten minutes.",
        collect: |from, out| from.by_heat(out, |heat| heat.range_share),
    },
    Metric {
        name: "rowhouse_table_hottest_row_share",
        kind: Kind::Gauge,
        help: "Share of the requests that the hottest row has at least, by table, for the last ten minutes.",
        collect: |from, out| from.by_heat(out, |heat| heat.row_share),
    },
    Metric {
        name: "rowhouse_table_heat_verdict",
        kind: Kind::Gauge,
        help: "Share of the load that the verdict accounts for, by table, request kind and verdict, for the last ten minutes.",
        collect: |from, out| {
            for heat in from.heats.iter() {
                for (kind, verdict) in &heat.verdicts {
                    let labels = [
                        ("table", &heat.table[..]),
                        ("kind", kind),
                        ("verdict", verdict.cause.name()),
                    ];
                    out.sample("", &labels, verdict.share);
                }
            }
        },
    },
    Metric {
        name: "rowhouse_table_busiest_server_share",
        kind: Kind::Gauge,
        help: "Share of the requests on the busiest region server, by table, request kind and server, for the last ten minutes, if there are several servers.",
        collect: |from, out| {
            for heat in from.heats.iter() {
                for (kind, verdict) in &heat.verdicts {
                    let Some(busiest) = &verdict.server else { continue };
                    let labels =
                        [("table", &heat.table[..]), ("kind", kind), ("server", &busiest.address)];
                    out.sample("", &labels, busiest.share);
                }
            }
        },
    },
];

/// Tables whose heat is judged. Each takes some milliseconds of a scrape.
const JUDGED_TABLES_MAX: usize = 64;
/// The time whose heat is judged.
const JUDGED_MILLIS: i64 = 10 * 60_000;

/// Tables that have their own samples. Samples for all later tables, by name, are left out: a
/// scrape stays small whatever the catalog holds.
const TABLES_MAX: usize = 1_000;

/// Where the samples come from.
struct Sources<'a> {
    cluster: &'a Cluster,
    /// The calls to all ports.
    calls: Calls,
    servers: Vec<ServerSource>,
    tables: BTreeMap<TableName, Totals>,
    requests: BTreeMap<TableName, RegionRequests>,
    heats: Arc<Vec<TableHeat>>,
}

/// A region server, also one that was stopped: the counters stay.
struct ServerSource {
    server: Arc<RegionServer>,
    /// As announced to clients.
    address: String,
    is_live: bool,
    regions: usize,
}

impl<'a> Sources<'a> {
    fn new(cluster: &'a Cluster, judged: &JudgedHeats) -> Self {
        let tables = cluster.store.tables().into_iter().take(TABLES_MAX);
        let tables = tables.map(|table| (table.name().clone(), Totals::of(table.regions())));
        let tables: BTreeMap<_, _> = tables.collect();
        let mut requests = cluster.store.requests().tables;
        requests.retain(|name, _| tables.contains_key(name));
        let calls = Calls::sum(cluster.ports_ever().iter().map(|server| &*server.calls));
        let live = cluster.members.live_numbers();
        let regions = cluster.served_regions();
        let servers = cluster.members.all().into_iter().map(|server| ServerSource {
            address: server.name.address(),
            is_live: live.contains(&server.number),
            regions: regions.get(&server.number).copied().unwrap_or_default(),
            server,
        });
        let servers = servers.collect();
        let heats = judged.of_tables(cluster, JUDGED_MILLIS, JUDGED_TABLES_MAX);
        Self { cluster, calls, servers, tables, requests, heats }
    }

    fn by_table(&self, out: &mut Samples<'_>, value: impl Fn(&Totals) -> f64) {
        for (name, totals) in &self.tables {
            out.sample("", &[("table", &name.to_string())], value(totals));
        }
    }

    fn requests_by_table(&self, out: &mut Samples<'_>, count: impl Fn(&RegionRequests) -> u64) {
        for (name, requests) in &self.requests {
            out.sample("", &[("table", &name.to_string())], count(requests) as f64);
        }
    }

    fn by_heat(&self, out: &mut Samples<'_>, value: impl Fn(&TableHeat) -> f64) {
        for heat in self.heats.iter() {
            out.sample("", &[("table", &heat.table)], value(heat));
        }
    }

    fn by_sink(&self, out: &mut Samples<'_>, count: impl Fn(&ReplicationSink) -> u64) {
        self.by_server(out, |server| count(&server.server.replication_sink) as f64);
    }

    fn by_server(&self, out: &mut Samples<'_>, value: impl Fn(&ServerSource) -> f64) {
        for server in &self.servers {
            out.sample("", &[("server", &server.address)], value(server));
        }
    }

    fn by_follower(&self, out: &mut Samples<'_>, value: impl Fn(&FollowerStatus) -> f64) {
        for follower in self.cluster.store.followers() {
            let table = follower.table.to_string();
            let labels = [("follower", &*follower.name), ("table", &*table)];
            out.sample("", &labels, value(&follower));
        }
    }

    fn by_cap(&self, out: &mut Samples<'_>, value: impl Fn(&Cap) -> f64) {
        for server in &self.servers {
            if let Some(cap) = &server.server.cap {
                out.sample("", &[("server", &server.address)], value(cap));
            }
        }
    }
}

/// Writes one metric's samples.
struct Samples<'a> {
    name: &'static str,
    text: &'a mut String,
}

impl Samples<'_> {
    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(self.name);
        self.text.push_str(suffix);
        for (at, (label, value)) in labels.iter().enumerate() {
            let begin = if at == 0 { '{' } else { ',' };
            let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            // Writing to a string cannot fail.
            let _ = write!(self.text, "{begin}{label}=\"{value}\"");
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    fn histogram(&mut self, label: (&str, &str), calls: &MethodCalls) {
        let mut count = 0;
        let mut bounds = BUCKET_MICROS.iter();
        for bucket in calls.buckets() {
            count += bucket;
            let bound = bounds.next().map(|&micros| (micros as f64 / 1e6).to_string());
            let bound = bound.as_deref().unwrap_or("+Inf");
            self.sample("_bucket", &[label, ("le", bound)], count as f64);
        }
        self.sample("_sum", &[label], calls.latency().as_secs_f64());
        self.sample("_count", &[label], count as f64);
    }
}

/// Returns all metrics in Prometheus' text format, version 0.0.4.
pub(crate) fn render(cluster: &Cluster, judged: &JudgedHeats) -> String {
    let sources = Sources::new(cluster, judged);
    let mut text = String::new();
    for Metric { name, kind, help, collect } in METRICS {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {}", kind.name());
        collect(&sources, &mut Samples { name, text: &mut text });
    }
    text
}

fn call_seconds(from: &Sources<'_>, out: &mut Samples<'_>) {
    for (method, calls) in from.calls.called() {
        out.histogram(("method", method.name()), calls);
    }
}

fn call_errors(from: &Sources<'_>, out: &mut Samples<'_>) {
    for (method, calls) in from.calls.called() {
        out.sample("", &[("method", method.name())], calls.errors() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_about_operation_names_every_metric() {
        let page = include_str!("../../../../docs/operation.md");
        let (_, page) = page.split_once("\n### Metrics\n").unwrap();
        for metric in METRICS {
            let name = metric.name.strip_prefix("rowhouse_").unwrap();
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn dashboard_and_alerts_name_metrics_that_exist() {
        let dashboard = include_str!("../../../../packaging/monitoring/grafana.json");
        let alerts = include_str!("../../../../packaging/monitoring/alerts.yml");
        let names = regex::Regex::new("rowhouse_[a-z_]+").unwrap();
        for (text, at_least) in [(dashboard, 20), (alerts, 10)] {
            let used: Vec<_> = names.find_iter(text).map(|name| name.as_str()).collect();
            assert!(used.len() >= at_least, "{used:?}");
            for name in used {
                let is_known = METRICS.iter().any(|metric| {
                    let parts = ["_bucket", "_sum", "_count"].iter();
                    match metric.kind {
                        Kind::Histogram => parts
                            .map(|part| format!("{}{part}", metric.name))
                            .any(|part| part == name),
                        _ => metric.name == name,
                    }
                });
                assert!(is_known, "{name} is no sample of /metrics");
            }
        }
    }

    #[test]
    fn every_alert_is_explained_under_its_name() {
        let page = include_str!("../../../../docs/operation.md");
        let alerts = include_str!("../../../../packaging/monitoring/alerts.yml");
        let alerts = alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
        let explained = page.lines().filter_map(|line| line.strip_prefix("| `Rowhouse"));
        let explained =
            explained.map(|line| format!("Rowhouse{}", line.split('`').next().unwrap()));
        assert_eq!(alerts.collect::<Vec<_>>(), explained.collect::<Vec<_>>());
    }

    #[test]
    fn labels_are_escaped() {
        let mut text = String::new();
        Samples { name: "m", text: &mut text }.sample("_x", &[("a", "q\"\\\n"), ("b", "c")], 1.5);
        assert_eq!(text, "m_x{a=\"q\\\"\\\\\\n\",b=\"c\"} 1.5\n");
    }
}
