//! Applies log entries that another cluster ships: HBase's replication sink.
//!
//! A source repeats a call until it is answered without an error. Cells have their own timestamps,
//! so a repetition changes nothing.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rowhouse_format::convert::replication::ReplicatedEntry;
use rowhouse_format::proto;
use rowhouse_format::rpc::{CellCodec, CellReader};
use rowhouse_model::{FamilyDescriptor, Mutation, Result, TableName};
use rowhouse_store::{NonBlocking, Table, WaitMode};

use crate::answer::ResumableCall;
use crate::call::CallContext;
use crate::limits::REPLICATED_MUTATIONS_AT_ONCE;

/// A call with log entries, and the progress.
pub(crate) struct Replicate {
    entries: std::vec::IntoIter<proto::WalEntry>,
    cells: CellReader,
    /// The id of this cluster, which is in the entries that came from here.
    own_id: Option<u128>,
    /// How many entries are applied, and when the source wrote the last one, in milliseconds since
    /// 1970.
    applied: u64,
    last_write_time_millis: u64,
}

impl ResumableCall for Replicate {
    type Answer = ();

    fn parse(call_context: &CallContext) -> Result<Self> {
        let request = call_context.message::<proto::ReplicateWalEntryRequest>()?;
        if call_context.client.codec != Some(CellCodec::KeyValueWithTags) {
            call_context.context.server.replication_sink.warn_without_tags();
        }
        Ok(Self {
            entries: request.entry.into_iter(),
            cells: call_context.request.cells(call_context.client.codec),
            own_id: u128::from_str_radix(&call_context.context.cluster.id.replace('-', ""), 16)
                .ok(),
            applied: 0,
            last_write_time_millis: 0,
        })
    }

    fn resume(&mut self, call_context: &CallContext) -> Result<NonBlocking<()>> {
        // Writes may wait for memory, and one call has many.
        if call_context.wait_mode == WaitMode::NonBlocking {
            return Ok(NonBlocking::WouldBlock);
        }
        let sink = &call_context.context.server.replication_sink;
        loop {
            if Instant::now() >= call_context.pause() {
                return Ok(NonBlocking::WouldBlock);
            }
            match self.apply_some(call_context) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    sink.count_failure();
                    return Err(error);
                }
            }
        }
        let now_millis = call_context.context.cluster.store.now_millis();
        sink.count(self.applied, self.last_write_time_millis, now_millis);
        Ok(NonBlocking::Done(()))
    }

    fn is_started(&self) -> bool {
        self.applied > 0
    }

    fn reply(&self, call_context: &CallContext, (): (), out: &mut BytesMut) -> Result<()> {
        call_context.reply(out, &proto::ReplicateWalEntryResponse {})
    }
}

impl Replicate {
    /// Applies the next entries; returns false if there are none.
    fn apply_some(&mut self, call_context: &CallContext) -> Result<bool> {
        let mut by_table: BTreeMap<TableName, Changes> = BTreeMap::new();
        let mut count = 0;
        while count < REPLICATED_MUTATIONS_AT_ONCE
            && let Some(entry) = self.entries.next()
        {
            let entry = ReplicatedEntry::from_proto(entry, &mut self.cells)?;
            self.applied += 1;
            self.last_write_time_millis = entry.write_time_millis;
            // A change that this cluster passed on to another cluster has come back.
            if self.own_id.is_some_and(|own_id| entry.cluster_ids.contains(&own_id)) {
                continue;
            }
            let changes = match by_table.entry(entry.table.clone()) {
                Entry::Occupied(occupied) => occupied.into_mut(),
                Entry::Vacant(vacant) => {
                    let table = call_context.context.cluster.store.table(vacant.key())?;
                    vacant.insert(Changes::new(table))
                }
            };
            let mutations = entry.into_mutations()?;
            count += mutations.len();
            changes.add(mutations)?;
        }
        by_table.into_values().try_for_each(|mut changes| changes.apply())?;
        Ok(count > 0 || self.entries.len() > 0)
    }
}

/// Changes of a table that are applied together.
struct Changes {
    table: Arc<Table>,
    mutations: Vec<Mutation>,
    /// Whether the order of changes in a row decides, beside the timestamps.
    is_ordered: bool,
    /// The rows of `mutations`, if the changes are ordered.
    rows: HashSet<Bytes>,
}

impl Changes {
    fn new(table: Arc<Table>) -> Self {
        let families = table.descriptor().families();
        let is_ordered = families.iter().any(FamilyDescriptor::new_version_behavior);
        Self { table, mutations: Vec::new(), is_ordered, rows: HashSet::new() }
    }

    /// Adds the mutations of a log entry, which had one sequence number at the source. Mutations
    /// that are applied together get one here, so earlier changes of a row are applied before if
    /// their order decides.
    fn add(&mut self, mutations: Vec<Mutation>) -> Result<()> {
        if self.is_ordered {
            if mutations.iter().any(|mutation| self.rows.contains(mutation.row())) {
                self.apply()?;
            }
            self.rows.extend(mutations.iter().map(|mutation| mutation.row().clone()));
        }
        self.mutations.extend(mutations);
        Ok(())
    }

    /// Applies the changes.
    fn apply(&mut self) -> Result<()> {
        self.rows.clear();
        let outcomes = self.table.batch(std::mem::take(&mut self.mutations));
        outcomes.into_iter().try_for_each(|outcome| outcome.map(drop))
    }
}
