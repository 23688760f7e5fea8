//! Intents: the rows that clients are writing, and whose entries may not be right.
//!
//! A client overwrites the slots in its own row, so that closed intents leave nothing to skip.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rowhouse_model::{
    Bytes, CompareOperator, Condition, Delete, Put, Result, Scan, TableName, Timestamp,
};
use rowhouse_schema::Intent;

use super::{MaintainedTable, Maintainer, now_millis, timestamp};

/// This client's slots.
#[derive(Default)]
pub(super) struct Slots(Mutex<Free>);

#[derive(Default)]
struct Free {
    free: BTreeSet<u32>,
    next: u32,
    /// The last timestamp in any slot: later ones are larger, whatever the clock shows.
    last_millis: i64,
}

impl Slots {
    fn take(&self) -> u32 {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.free.pop_first().unwrap_or_else(|| {
            slots.next += 1;
            slots.next - 1
        })
    }

    fn give_back(&self, slot: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).free.insert(slot);
    }

    fn next_timestamp(&self) -> Result<Timestamp> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.last_millis = now_millis().max(slots.last_millis + 1);
        timestamp(slots.last_millis)
    }
}

/// This client's intent. It stays open if it is dropped.
pub(super) struct OpenIntent {
    table: TableName,
    slot: u32,
}

/// Any client's open intent.
pub(super) struct StoredIntent {
    pub(super) intent: Intent,
    pub(super) opened_millis: i64,
    client: Bytes,
    slot: Bytes,
    bytes: Bytes,
}

impl Maintainer {
    pub(super) async fn open(
        &self,
        maintained: &MaintainedTable,
        write: u64,
        rows: &[Bytes],
    ) -> Result<OpenIntent> {
        let open = OpenIntent { table: maintained.intents.clone(), slot: self.shared.slots.take() };
        let intent = Intent { write, rows: rows.to_vec() };
        self.put_slot(&open, &intent.encode()?).await?;
        Ok(open)
    }

    /// Closes an intent: the entries for its rows are right.
    pub(super) async fn close(&self, open: OpenIntent) -> Result<()> {
        self.put_slot(&open, b"").await?;
        self.shared.slots.give_back(open.slot);
        Ok(())
    }

    async fn put_slot(&self, open: &OpenIntent, value: &[u8]) -> Result<()> {
        let row = self.shared.id.to_vec();
        let slot = open.slot.to_be_bytes();
        let at = self.shared.slots.next_timestamp()?;
        let put = Put::new(row)?.add_at(Intent::FAMILY, slot, at, value)?;
        self.client.table(&open.table).mutate(put).await.map(drop)
    }

    /// Reads all clients' open intents.
    pub(super) async fn intents(&self, table: &TableName) -> Result<Vec<StoredIntent>> {
        let mut found = Vec::new();
        let mut clients = self.client.table(table).scan(Scan::all().family(Intent::FAMILY));
        while let Some(client) = clients.next().await? {
            for cell in client.cells() {
                let Some(intent) = Intent::decode(cell.value())? else { continue };
                found.push(StoredIntent {
                    intent,
                    opened_millis: cell.timestamp().as_millis(),
                    client: Bytes::copy_from_slice(client.key()),
                    slot: Bytes::copy_from_slice(cell.qualifier()),
                    bytes: cell.value_bytes(),
                });
            }
        }
        Ok(found)
    }

    /// Returns the rows in open intents, whose entries may not be right.
    pub(in crate::backend) async fn unsettled(&self, table: &TableName) -> Result<Vec<Bytes>> {
        let found = self.intents(&Intent::table_name(table)?).await?;
        let rows: BTreeSet<_> = found.into_iter().flat_map(|found| found.intent.rows).collect();
        Ok(rows.into_iter().collect())
    }

    /// Adds the entries for rows whose writers have left their intents open, and closes these.
    /// Removes the rows for clients that closed all their intents long ago.
    pub(super) async fn settle(&self, maintained: &MaintainedTable) -> Result<()> {
        let grace = i64::try_from(self.shared.times.grace.as_millis()).unwrap_or(i64::MAX);
        let before = now_millis() - grace;
        let table = self.client.table(&maintained.intents);
        for found in self.intents(&maintained.intents).await? {
            if found.opened_millis > before {
                continue;
            }
            self.add_entries_of(maintained, &found.intent.rows).await?;
            let family = Intent::FAMILY;
            let slot = found.slot.clone();
            let at = timestamp(found.opened_millis)?;
            // The writer may have begun again.
            let same =
                Condition::value(family, slot.clone(), CompareOperator::Equal, found.bytes.clone());
            table
                .mutate_if(&same, Put::new(found.client.clone())?.add_at(family, slot, at, b"")?)
                .await?;
        }
        let mut clients = table.scan(Scan::all().family(Intent::FAMILY));
        while let Some(client) = clients.next().await? {
            let last = client.cells().map(|cell| cell.timestamp()).max();
            let Some(last) = last.filter(|last| last.as_millis() <= before) else { continue };
            if client.cells().all(|cell| cell.value().is_empty()) {
                let row = Bytes::copy_from_slice(client.key());
                table.mutate(Delete::new(row)?.family(Intent::FAMILY, last)?).await?;
            }
        }
        Ok(())
    }

    /// Closes this client: removes the client's row if no intent in it is open. A row that stays
    /// costs readers little, and a repair removes it.
    pub(in crate::backend) async fn end(&self) {
        let tables: Vec<_> = self.lock_tables().values().filter_map(|(_, it)| it.clone()).collect();
        for maintained in tables {
            let Ok(open) = self.intents(&maintained.intents).await else { continue };
            if !open.iter().any(|found| found.client == self.shared.id[..]) {
                let _ = self.remove_client(&maintained.intents).await;
            }
        }
    }

    async fn remove_client(&self, intents: &TableName) -> Result<()> {
        let at = self.shared.slots.next_timestamp()?;
        let delete = Delete::new(self.shared.id.to_vec())?.family(Intent::FAMILY, at)?;
        self.client.table(intents).mutate(delete).await.map(drop)
    }
}
