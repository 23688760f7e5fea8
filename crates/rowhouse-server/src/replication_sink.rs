//! What a region server has applied for other clusters.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rowhouse_format::proto;
use rowhouse_format::rpc::CellCodec;

/// Counts the replication calls to a region server, as HBase's MetricsSink.
#[derive(Default)]
pub(crate) struct ReplicationSink {
    calls: AtomicU64,
    failed_calls: AtomicU64,
    entries: AtomicU64,
    /// When the source wrote the last entry, in milliseconds since 1970; 0 before the first entry.
    last_write_time_millis: AtomicU64,
    /// How old the last entry was when it was applied, in milliseconds.
    last_age_millis: AtomicU64,
    has_warned: AtomicBool,
}

impl ReplicationSink {
    /// Counts a call with so many entries, the last of which was written at this time.
    pub(crate) fn count(&self, entries: u64, last_write_time_millis: u64, now_millis: i64) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if entries == 0 {
            return;
        }
        self.entries.fetch_add(entries, Ordering::Relaxed);
        let age = now_millis.unsigned_abs().saturating_sub(last_write_time_millis);
        self.last_age_millis.store(age, Ordering::Relaxed);
        self.last_write_time_millis.store(last_write_time_millis, Ordering::Relaxed);
    }

    /// Counts a call that was answered with an error, which the source repeats.
    pub(crate) fn count_failure(&self) {
        self.failed_calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Logs, once, that a source sends cells without tags.
    pub(crate) fn warn_without_tags(&self) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                codec = CellCodec::KeyValueWithTags.class(),
                "a replication source sends cells without tags: cells with a TTL of their own will \
                 not expire here; set hbase.replication.rpc.codec on the source"
            );
        }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn failed_calls(&self) -> u64 {
        self.failed_calls.load(Ordering::Relaxed)
    }

    pub(crate) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    pub(crate) fn last_age_millis(&self) -> u64 {
        self.last_age_millis.load(Ordering::Relaxed)
    }

    /// Returns the load as HBase's status has it, for a server that started at this time.
    pub(crate) fn load(&self, started_millis: u64) -> proto::ReplicationLoadSink {
        let last = self.last_write_time_millis.load(Ordering::Relaxed);
        proto::ReplicationLoadSink {
            age_of_last_applied_op: self.last_age_millis(),
            // Before the first entry HBase's shell expects the start time here.
            time_stamps_of_last_applied_op: if last == 0 { started_millis } else { last },
            timestamp_started: Some(started_millis),
            total_ops_processed: Some(self.entries()),
        }
    }
}
