//! Builds, verifies and repairs indexes that this client maintains, some regions at a time, while
//! writers go on.
//!
//! Nothing is locked. An entry that is added may be stale at once, which is harmless. An entry is
//! removed, cell by cell, only after it was read and then its row, without the entry, was read: a
//! writer that gives the row this entry afterwards adds a separate cell.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, Error, ErrorKind, Get, IndexReport, Put, Result, Row, RowRange, Scan, TableName,
};
use rowhouse_schema::{ENTRY_FAMILY, IndexState, Intent};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::claims::{CLAIM_WAIT, Claimant, refuse_search};
use super::{MaintainedIndex, MaintainedTable, Maintainer};

/// Regions that are read at the same time.
const REGIONS_MAX: usize = 4;
/// Rows or entries that are looked at together.
const CHUNK_ROWS: usize = 500;
/// Chunks after which a build's progress is noted.
const NOTED_CHUNKS: usize = 20;
/// How often a row that seems to lack entries is looked at, and the pause between.
const LOOKS: usize = 3;
const PAUSE: Duration = Duration::from_millis(100);

/// What is done with a table's rows.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    /// Adds all entries.
    Build,
    /// Adds those that are missing.
    Repair,
    /// Counts those that are missing.
    Verify,
}

impl Maintainer {
    /// Compares an index with the rows in the table.
    pub(crate) async fn verify(&self, table: &TableName, name: &str) -> Result<IndexReport> {
        let (maintained, index) = self.named(table, name).await?;
        self.check_maintained(&maintained).await?;
        let mut report = self.each_region(&maintained, &index, Work::Verify).await?;
        (report.entries, report.stale) = self.sweep(&maintained, &index, false).await?;
        Ok(report)
    }

    /// Makes an index right: finishes the build, or adds the entries that are missing, removes
    /// entries that no row has, and finishes writes that were left.
    pub(crate) async fn repair(&self, table: &TableName, name: &str) -> Result<()> {
        let (maintained, index) = self.named(table, name).await?;
        maintained.indexes.iter().try_for_each(|maintained| refuse_search(&maintained.index))?;
        self.create_missing(&self.describe(table).await?).await?;
        self.settle(&maintained).await?;
        let state = IndexState::of_table(&self.describe(&index.entries).await?)?;
        match state {
            IndexState::Ready | IndexState::Repairing => {
                self.off_on_failure(&index, self.each_region(&maintained, &index, Work::Repair))
                    .await?;
            }
            _ => self.build(&maintained, &index).await?,
        }
        self.sweep(&maintained, &index, true).await?;
        if index.index.is_unique() {
            self.remove_old_claims(&maintained, &index).await?;
        }
        self.set_state(&index.entries, &IndexState::Ready).await
    }

    /// Waits until every client knows the declaration, and adds the entries for all rows. Continues
    /// an earlier build.
    pub(super) async fn build(
        &self,
        maintained: &Arc<MaintainedTable>,
        index: &MaintainedIndex,
    ) -> Result<()> {
        let begin = IndexState::Building { next_row: Bytes::new() };
        self.set_state(&index.entries, &begin).await?;
        let times = &self.shared.times;
        sleep(times.lease + self.operation_max() + times.margin).await;
        self.off_on_failure(index, self.each_region(maintained, index, Work::Build)).await?;
        self.set_state(&index.entries, &IndexState::Ready).await?;
        self.forget_progress(maintained, index).await
    }

    fn operation_max(&self) -> Duration {
        #[cfg(test)]
        if let Some(limit) = self.shared.tests.operation_max() {
            return limit;
        }
        self.client.settings().operation_timeout
    }

    /// Turns an index off if rows do not allow it.
    async fn off_on_failure<T>(
        &self,
        index: &MaintainedIndex,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let done = work.await;
        if let Err(error) = &done
            && error.kind() == ErrorKind::InvalidRequest
        {
            self.set_state(&index.entries, &IndexState::Off(error.message().to_owned())).await?;
        }
        done
    }

    async fn named(
        &self,
        table: &TableName,
        name: &str,
    ) -> Result<(Arc<MaintainedTable>, MaintainedIndex)> {
        let maintained = self.maintained_table(&self.describe(table).await?)?;
        let maintained = maintained
            .ok_or_else(|| Error::invalid(format!("table {table} declares no indexes")))?;
        let index = maintained.index(name)?.clone();
        Ok((Arc::new(maintained), index))
    }

    async fn each_region(
        &self,
        maintained: &Arc<MaintainedTable>,
        index: &MaintainedIndex,
        work: Work,
    ) -> Result<IndexReport> {
        let noted = match work {
            Work::Build => self.progress(maintained, index).await?,
            Work::Repair | Work::Verify => Vec::new(),
        };
        let regions = self.client.table(&maintained.name).regions().await?;
        let mut ranges: Vec<_> = regions.into_iter().map(|(region, _)| region.range).collect();
        ranges.retain_mut(|range| begin_after(range, &noted));
        ranges.reverse();
        let mut report = IndexReport::default();
        let mut running = JoinSet::new();
        loop {
            while running.len() < REGIONS_MAX
                && let Some(range) = ranges.pop()
            {
                let maintainer = self.clone();
                let maintained = Arc::clone(maintained);
                let index = index.clone();
                running.spawn(
                    async move { maintainer.region(&maintained, &index, range, work).await },
                );
            }
            let Some(done) = running.join_next().await else { return Ok(report) };
            let done = match done.map_err(tokio::task::JoinError::try_into_panic) {
                Ok(done) => done?,
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                Err(Err(_)) => {
                    let message = "the runtime that worked on an index was shut down";
                    return Err(Error::new(ErrorKind::ServerNotRunning, message));
                }
            };
            report.rows += done.rows;
            report.unfit_rows += done.unfit_rows;
            report.missing += done.missing;
        }
    }

    async fn region(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        range: RowRange,
        work: Work,
    ) -> Result<IndexReport> {
        let mut report = IndexReport::default();
        let start = range.start.clone();
        let stop = range.stop.clone();
        let mut scan = Scan::new(range).caching(CHUNK_ROWS as u32);
        scan.columns = index.index.columns().clone();
        let mut rows = self.client.table(&maintained.name).scan(scan);
        let mut chunks = 0;
        loop {
            let mut chunk = Vec::new();
            while chunk.len() < CHUNK_ROWS
                && let Some(row) = rows.next().await?
            {
                chunk.push(row);
            }
            let Some(last) = chunk.last().map(|row| next_row(row.key())) else { break };
            report.rows += chunk.len() as u64;
            report.unfit_rows +=
                chunk.iter().filter(|row| !index.index.fits(row.key())).count() as u64;
            match work {
                Work::Build => self.add(maintained, index, &chunk).await?,
                Work::Repair => {
                    let lacking = self.lacking_now(maintained, index, &chunk).await?;
                    let rows: Vec<_> = lacking.into_iter().map(|(row, _)| row).collect();
                    self.add_entries_of(maintained, &rows).await?;
                    self.claim_all(maintained, index, &chunk).await?;
                }
                Work::Verify => {
                    let lacking = self.lacking(maintained, index, &chunk).await?;
                    report.missing += lacking.iter().map(|(_, missing)| missing).sum::<u64>();
                }
            }
            chunks += 1;
            if work == Work::Build && chunks % NOTED_CHUNKS == 0 {
                self.note(maintained, index, &start, &last).await?;
            }
        }
        if work == Work::Build {
            self.note(maintained, index, &start, &stop).await?;
        }
        Ok(report)
    }

    /// Adds the entries for rows.
    async fn add(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        rows: &[Row],
    ) -> Result<()> {
        let mut keys = Vec::new();
        for row in rows {
            keys.extend(maintained.entries(index, row.key(), row)?);
        }
        self.claim_all(maintained, index, rows).await?;
        self.add_entries(&index.entries, keys, self.token()).await
    }

    /// Claims the values that rows have in a unique index.
    async fn claim_all(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        rows: &[Row],
    ) -> Result<()> {
        if !index.index.is_unique() {
            return Ok(());
        }
        for row in rows {
            for entry in index.index.entries(row.key(), row)? {
                let Some(value) = index.index.unique_prefix(&entry.key) else { continue };
                let token = self.token();
                let waits_until = Instant::now() + CLAIM_WAIT;
                let claimant = Claimant { token, waits_until };
                let owner = self.claim(maintained, index, value, row.key(), claimant).await?;
                // The row may have lost the value since it was read.
                let key = Bytes::copy_from_slice(row.key());
                if let Some(owner) = owner
                    && self.is_owner(maintained, index, value, &key).await?
                {
                    return Err(index.index.taken(value, &owner, row.key()));
                }
            }
        }
        Ok(())
    }

    /// Returns the rows that lack entries and are not being written, each with the count of these
    /// entries.
    async fn lacking(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        rows: &[Row],
    ) -> Result<Vec<(Bytes, u64)>> {
        let mut lacking = self.lacking_now(maintained, index, rows).await?;
        // A row may have been written meanwhile.
        for _ in 1..LOOKS {
            if lacking.is_empty() {
                break;
            }
            sleep(PAUSE).await;
            let mut open: BTreeSet<_> =
                self.unsettled(&maintained.name).await?.into_iter().collect();
            let rows: Vec<_> = lacking.into_iter().map(|(row, _)| row).collect();
            let read = self.read(maintained, index.index.columns(), &rows).await?;
            let read: Vec<_> = read.into_iter().filter(|row| !row.is_empty()).collect();
            lacking = self.lacking_now(maintained, index, &read).await?;
            open.extend(self.unsettled(&maintained.name).await?);
            lacking.retain(|(row, _)| !open.contains(row));
        }
        Ok(lacking)
    }

    async fn lacking_now(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        rows: &[Row],
    ) -> Result<Vec<(Bytes, u64)>> {
        let mut keys = Vec::new();
        let mut owners = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let entries = maintained.entries(index, row.key(), row)?;
            owners.extend(entries.iter().map(|_| at));
            keys.extend(entries);
        }
        let found = self.read_entries(&index.entries, &keys).await?;
        let mut lacking: Vec<(Bytes, u64)> = Vec::new();
        for (at, _) in owners.into_iter().zip(found).filter(|(_, found)| found.is_empty()) {
            match lacking.last_mut() {
                Some((row, missing)) if row == rows[at].key() => *missing += 1,
                _ => lacking.push((Bytes::copy_from_slice(rows[at].key()), 1)),
            }
        }
        Ok(lacking)
    }

    /// Counts entries, and entries that no row has; removes the latter if requested.
    async fn sweep(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        removes: bool,
    ) -> Result<(u64, u64)> {
        let scan = Scan::all().family(ENTRY_FAMILY).caching(CHUNK_ROWS as u32);
        let mut entries = self.client.table(&index.entries).scan(scan);
        let mut count = 0;
        let mut stale = 0;
        loop {
            let mut chunk = Vec::new();
            while chunk.len() < CHUNK_ROWS
                && let Some(entry) = entries.next().await?
            {
                chunk.push(entry);
            }
            if chunk.is_empty() {
                return Ok((count, stale));
            }
            count += chunk.len() as u64;
            let mut without = self.without_row(maintained, index, chunk).await?;
            if removes {
                self.remove_entries(&index.entries, &without).await?;
            } else if !without.is_empty() {
                // The writer may be about to remove it.
                sleep(PAUSE).await;
                let keys: Vec<_> =
                    without.iter().map(|row| Bytes::copy_from_slice(row.key())).collect();
                let open: BTreeSet<_> =
                    self.unsettled(&maintained.name).await?.into_iter().collect();
                without = self.read_entries(&index.entries, &keys).await?;
                without.retain(|entry| !entry.is_empty());
                without = self.without_row(maintained, index, without).await?;
                let is_open = |entry: &Row| {
                    index.index.row_key(entry.key()).is_ok_and(|row| open.contains(&row[..]))
                };
                without.retain(|entry| !is_open(entry));
            }
            stale += without.len() as u64;
        }
    }

    /// Returns the entries among these that their rows do not have.
    async fn without_row(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        entries: Vec<Row>,
    ) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let mut owned = Vec::new();
        let mut without = Vec::new();
        for entry in entries {
            match index.index.row_key(entry.key()) {
                Ok(row) => {
                    rows.push(Bytes::from(row));
                    owned.push(entry);
                }
                Err(_) => without.push(entry),
            }
        }
        let read = self.read(maintained, index.index.columns(), &rows).await?;
        for ((row, cells), entry) in rows.iter().zip(read).zip(owned) {
            let has = maintained.entries(index, row, &cells).unwrap_or_default();
            if !has.iter().any(|key| key == entry.key()) {
                without.push(entry);
            }
        }
        Ok(without)
    }

    /// Reads how far a build has come: the range starts, each with the first row that is not done,
    /// which is empty if the range has no end.
    async fn progress(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
    ) -> Result<Vec<(Bytes, Bytes)>> {
        let get = Get::new(index.index.name().to_owned())?.family(Intent::BUILD_FAMILY);
        let row = self.client.table(&maintained.intents).get(&get).await?;
        let note = |cell: rowhouse_model::KeyValue<'_>| {
            (Bytes::copy_from_slice(cell.qualifier()), cell.value_bytes())
        };
        Ok(row.cells().map(note).collect())
    }

    async fn note(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        start: &Bytes,
        next: &Bytes,
    ) -> Result<()> {
        let put =
            Put::new(index.index.name().to_owned())?.add(Intent::BUILD_FAMILY, start, next)?;
        self.client.table(&maintained.intents).mutate(put).await.map(drop)
    }

    pub(super) async fn forget_progress(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
    ) -> Result<()> {
        let row = index.index.name().to_owned();
        let noted = self.progress(maintained, index).await?;
        if noted.is_empty() {
            return Ok(());
        }
        let at = rowhouse_model::Timestamp::LATEST;
        let delete = rowhouse_model::Delete::new(row)?.family(Intent::BUILD_FAMILY, at)?;
        self.client.table(&maintained.intents).mutate(delete).await.map(drop)
    }
}

/// Makes a range begin after the rows that are done; returns true if any remain.
fn begin_after(range: &mut RowRange, noted: &[(Bytes, Bytes)]) -> bool {
    for (start, next) in noted {
        if *start > range.start || (!next.is_empty() && *next <= range.start) {
            continue;
        }
        if next.is_empty() || (!range.stop.is_empty() && *next >= range.stop) {
            return false;
        }
        range.start = next.clone();
    }
    true
}

/// The first row key after this one.
fn next_row(row: &[u8]) -> Bytes {
    [row, b"\0"].concat().into()
}

#[cfg(test)]
mod range_tests {
    use super::*;

    #[test]
    fn a_build_continues_after_the_rows_that_are_done_also_after_a_split_or_merge() {
        let noted = |notes: &[(&'static str, &'static str)]| -> Vec<(Bytes, Bytes)> {
            notes.iter().map(|(start, next)| ((*start).into(), (*next).into())).collect()
        };
        let check = |range: (&'static str, &'static str), notes, expected: Option<&'static str>| {
            let mut range = RowRange::new(range.0, range.1);
            let left = begin_after(&mut range, &noted(notes));
            assert_eq!(left.then_some(&range.start[..]), expected.map(str::as_bytes));
        };
        check(("", "m"), &[], Some(""));
        check(("", "m"), &[("", "f")], Some("f"));
        check(("", "m"), &[("", "m")], None);
        check(("m", ""), &[("", "m"), ("m", "")], None);
        // Split at f and at r; merged.
        check(("", "f"), &[("", "h")], None);
        check(("f", "m"), &[("", "h")], Some("h"));
        check(("", ""), &[("", "m"), ("m", "p")], Some("p"));
        check(("m", "r"), &[("", "m")], Some("m"));
    }
}
