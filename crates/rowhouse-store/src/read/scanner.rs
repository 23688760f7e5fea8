//! Region scanners, and how the store takes memory from idle ones.

use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_model::{Result, Row, Scan};

use super::RowSelection;
use super::counts::RegionCounts;
use super::scan::{
    EndRequest, NO_END_REQUEST, Opening, ScanCursor, ScanLimits, ScanProgress, Scanned,
};
use crate::reader_memory::{MemoryHolder, Over, Registered};

/// An open scan over one region: it reads a snapshot taken when it was opened. It holds the files
/// and memstores it reads, so compactions neither wait for it nor take anything from it; the disk
/// space for files they replace is freed when the scanner is dropped. [`Settings::scan_age_max`]
/// limits the scanner's lifetime. After a memstore is flushed, the scanner continues in the file,
/// either while it reads or in [`RegionScanner::follow_flushes`]. A scanner that cannot continue in
/// the file is closed when readers hold too much memory: [`Settings::reader_memstore_bytes_max`].
///
/// [`Settings::scan_age_max`]: crate::Settings::scan_age_max
/// [`Settings::reader_memstore_bytes_max`]: crate::Settings::reader_memstore_bytes_max
pub struct RegionScanner {
    cursor: Cursor,
    read_point: u64,
}

#[expect(
    clippy::large_enum_variant,
    reason = "a box for files only is one allocation more for each short scan"
)]
enum Cursor {
    /// Holds files only.
    Own(ScanCursor),
    /// Holds memstores; the store can make it release them.
    Shared {
        shared: Registered<SharedCursor>,
        /// The cursor, during a call begun by [`RegionScanner::begin_call`].
        in_call: Option<Box<ScanCursor>>,
    },
}

struct SharedCursor {
    /// Locked while a row is read, and while the store makes an idle scanner release memstores.
    /// `None` during a call begun by [`RegionScanner::begin_call`].
    cursor: Mutex<Option<Box<ScanCursor>>>,
    end_request: EndRequest,
}

impl RegionScanner {
    /// Opens a scanner; it adds to `counts`, if there are any.
    pub(crate) fn open(
        opening: &Opening<'_>,
        scan: &Scan,
        selection: Option<RowSelection>,
        counts: Option<&Arc<RegionCounts>>,
    ) -> Result<Self> {
        let mut cursor = ScanCursor::open(opening, scan, selection)?;
        if let Some(counts) = counts {
            let families = opening.families.iter();
            let read = families.filter(|family| scan.columns.selects_family(family.name()));
            cursor = cursor.counted_by(counts, &scan.columns, read);
        }
        let read_point = cursor.read_point();
        let cursor = if cursor.holds_memstores() {
            let cursor = Mutex::new(Some(Box::new(cursor)));
            let shared = SharedCursor { cursor, end_request: EndRequest::new() };
            let shared = opening.context.reader_memory.register(read_point, shared);
            Cursor::Shared { shared, in_call: None }
        } else {
            Cursor::Own(cursor)
        };
        Ok(Self { cursor, read_point })
    }

    /// Begins a call that reads several rows, which then take no lock each. The store cannot take
    /// memory from the scanner until [`RegionScanner::end_call`].
    pub fn begin_call(&mut self) {
        if let Cursor::Shared { shared, in_call } = &mut self.cursor
            && in_call.is_none()
        {
            *in_call = shared.cursor.lock().take();
        }
    }

    /// Ends a call. The next one may be far away, so a pending request for memory is carried out.
    pub fn end_call(&mut self) {
        if let Cursor::Shared { shared, in_call } = &mut self.cursor
            && let Some(mut cursor) = in_call.take()
        {
            let mut slot = shared.cursor.lock();
            if let Some(over) = shared.end_request.take() {
                cursor.release_memory(Some(over));
            }
            *slot = Some(cursor);
        }
    }

    /// Returns the next row that has visible cells, or the next part if the scan has a batch;
    /// `None` after the last.
    ///
    /// # Errors
    /// `Io` and `Corruption`; `UnknownScanner` if the scanner has been open for too long, and on
    /// every call after an error, so that an error never looks like the end of the scan;
    /// `ScannerReset` if it was closed to free memory.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not borrow later")]
    pub fn next(&mut self) -> Result<Option<Row>> {
        match self.next_part(&ScanLimits::NONE)? {
            Scanned::Row { row, .. } => Ok(Some(row)),
            Scanned::Paused(_) | Scanned::End => Ok(None),
        }
    }

    /// As [`RegionScanner::next`], within limits: a server's response to one call.
    ///
    /// # Errors
    /// As [`RegionScanner::next`].
    pub fn next_part(&mut self, limits: &ScanLimits) -> Result<Scanned> {
        let (cursor, end_request) = match &mut self.cursor {
            Cursor::Own(cursor) => (cursor, &NO_END_REQUEST),
            Cursor::Shared { shared, in_call: Some(cursor) } => {
                (&mut **cursor, &shared.end_request)
            }
            Cursor::Shared { shared, in_call: None } => {
                let mut cursor = shared.cursor.lock();
                let cursor = cursor.as_mut().expect(AT_REST);
                let scanned = cursor.next_part(limits, &shared.end_request);
                // The next call may be far away.
                if let Some(over) = shared.end_request.take() {
                    cursor.release_memory(Some(over));
                }
                return scanned;
            }
        };
        cursor.next_part(limits, end_request)
    }

    /// Releases memstores that were flushed since the scanner was opened. A scanner does this while
    /// it reads; this call is for an idle scanner, which would otherwise keep them. Returns the
    /// bytes it still keeps: it cannot continue in the file from a flush that dropped cells it may
    /// see, and a reverse scanner keeps memstores up to its row's end.
    ///
    /// # Errors
    /// `Io` and `Corruption`.
    pub fn follow_flushes(&mut self) -> Result<u64> {
        self.with(ScanCursor::follow_flushes)
    }

    /// Releases the file blocks that the scanner holds until the scanner's next call, which
    /// searches for the place in each file. Until then there may be more rows.
    pub fn rest(&mut self) {
        self.with(ScanCursor::rest);
    }

    /// Whether there may be more rows; `false` is certain.
    pub fn may_have_more(&mut self) -> bool {
        self.with(ScanCursor::may_have_more)
    }

    /// Returns how many rows the scan's limit still allows.
    pub(crate) fn rows_left(&mut self) -> u64 {
        self.with(|cursor| cursor.rows_left())
    }

    /// Whether the filter has ended the scan, in this region and all others.
    pub fn is_filter_done(&mut self) -> bool {
        self.with(ScanCursor::is_filter_done)
    }

    /// Returns the scanner's progress.
    pub fn progress(&self) -> ScanProgress {
        match &self.cursor {
            Cursor::Own(cursor) => cursor.progress(),
            Cursor::Shared { in_call: Some(cursor), .. } => cursor.progress(),
            Cursor::Shared { shared, in_call: None } => {
                shared.cursor.lock().as_ref().expect(AT_REST).progress()
            }
        }
    }

    /// Returns the sequence it reads at.
    pub fn read_point(&self) -> u64 {
        self.read_point
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut ScanCursor) -> T) -> T {
        match &mut self.cursor {
            Cursor::Own(cursor) => act(cursor),
            Cursor::Shared { in_call: Some(cursor), .. } => act(cursor),
            Cursor::Shared { shared, in_call: None } => {
                act(shared.cursor.lock().as_mut().expect(AT_REST))
            }
        }
    }
}

/// The invariant of [`SharedCursor::cursor`].
const AT_REST: &str = "the cursor is in its slot outside of begin_call and end_call";

impl MemoryHolder for SharedCursor {
    fn release_memory(&self, over: Option<Over>) {
        let mut slot = self.cursor.try_lock();
        match (slot.as_mut().and_then(|slot| slot.as_mut()), over) {
            (Some(cursor), over) => cursor.release_memory(over),
            (None, Some(over)) => self.end_request.set(over),
            // A scanner inside a call continues in files by itself.
            (None, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{
        ErrorKind, FamilyDescriptor, Filter, Put, TableDescriptor, TableName, TimeRange, Timestamp,
    };

    use super::*;
    use crate::disk::simulated::SimulatedDisk;
    use crate::{Settings, Store, Table};

    const ROWS: u8 = 200;

    fn open() -> (Store, Arc<Table>) {
        let settings = Settings { reader_memstore_bytes_max: Some(0), ..Settings::default() };
        let disk = SimulatedDisk::default();
        let store = Store::builder("simulated").settings(settings).with_disk(disk).open().unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        (store, table)
    }

    fn put_all(table: &Table, millis: i64) {
        for row in 0..ROWS {
            let at = Timestamp::from_millis(millis).unwrap();
            let put = Put::new(vec![row]).unwrap().add_at("f", "q", at, "").unwrap();
            table.mutate(&put.into()).unwrap();
        }
    }

    /// A scanner that has read a row and holds a flushed memstore, from which the flush has dropped
    /// cells that a scan with an upper time bound may see.
    fn cannot_follow(store: &Store, table: &Table, scan: Scan) -> RegionScanner {
        put_all(table, 1);
        put_all(table, 1);
        let [start, end] = [0, 9].map(|millis| Timestamp::from_millis(millis).unwrap());
        let scan = scan.time_range(TimeRange::new(start, end).unwrap());
        let mut scanner = table.regions()[0].scan(&scan).unwrap();
        assert!(scanner.next().unwrap().is_some());
        put_all(table, 2);
        table.flush().unwrap();
        assert!(store.reader_memstore_bytes().0 > 0);
        scanner
    }

    fn request_memory_in_call(scanner: &RegionScanner, store: &Store) {
        let Cursor::Shared { shared, .. } = &scanner.cursor else { panic!("it holds no memstore") };
        let call = shared.cursor.lock();
        store.release_reader_memory();
        assert!(store.reader_memstore_bytes().0 > 0, "it is in use");
        drop(call);
    }

    #[test]
    fn a_scanner_signaled_in_a_call_releases_memory_at_its_end() {
        let (store, table) = open();
        let mut scanner = cannot_follow(&store, &table, Scan::all());
        request_memory_in_call(&scanner, &store);
        assert!(scanner.next().unwrap().is_some(), "it has not looked at the clock");
        assert_eq!(store.reader_memstore_bytes().0, 0);
        assert!(scanner.may_have_more());
        assert_eq!(scanner.next().unwrap_err().kind(), ErrorKind::ScannerReset);
    }

    #[test]
    fn a_scanner_signaled_in_a_call_of_many_rows_releases_memory_at_end_call() {
        let (store, table) = open();
        let mut scanner = cannot_follow(&store, &table, Scan::all());
        scanner.begin_call();
        store.release_reader_memory();
        assert!(scanner.next().unwrap().is_some());
        assert!(store.reader_memstore_bytes().0 > 0, "it is in use");
        scanner.end_call();
        assert_eq!(store.reader_memstore_bytes().0, 0);
        assert_eq!(scanner.next().unwrap_err().kind(), ErrorKind::ScannerReset);
    }

    #[test]
    fn a_scanner_signaled_in_a_long_call_ends_within_it() {
        let (store, table) = open();
        let first = Filter::parse("RowFilter(<=, 'binary:\x01')").unwrap();
        let scan = Scan { filter: Some(Box::new(first)), ..Scan::all() };
        let mut scanner = cannot_follow(&store, &table, scan);
        assert!(scanner.next().unwrap().is_some());
        request_memory_in_call(&scanner, &store);
        // It would look at all other rows.
        let error = scanner.next().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ScannerReset);
        assert!(error.to_string().contains("flushed memstores held by readers: bytes="), "{error}");
        assert_eq!(store.reader_memstore_bytes().0, 0);
        assert_eq!(scanner.next().unwrap_err().kind(), ErrorKind::ScannerReset);
    }

    /// Returns the parts of a scan in answers with few bytes, and rests after each with `rests`.
    fn parts(table: &Table, scan: &Scan, rests: bool) -> Vec<(Row, bool)> {
        let mut scanner = table.regions()[0].scan(scan).unwrap();
        let limits = ScanLimits { bytes: 100, until: None };
        let mut parts = Vec::new();
        loop {
            if rests {
                scanner.rest();
                scanner.follow_flushes().unwrap();
                assert!(scanner.may_have_more());
            }
            match scanner.next_part(&limits).unwrap() {
                Scanned::Row { row, is_partial } => parts.push((row, is_partial)),
                Scanned::Paused(_) => {}
                Scanned::End => return parts,
            }
        }
    }

    #[test]
    fn a_scanner_that_rests_between_its_parts_goes_on_where_it_was() {
        let (store, table) = open();
        // A compaction between two scans drops delete markers, and shows puts in the memstore that
        // came later with older timestamps.
        store.set_compactions(false);
        for round in 0..4 {
            for row in 0..ROWS {
                let mut put = Put::new(vec![row / 7, row]).unwrap();
                for column in 0..6 {
                    let at = Timestamp::from_millis(i64::from(row) % 3 + round).unwrap();
                    put = put.add_at("f", format!("q{column}"), at, format!("{round}")).unwrap();
                }
                table.mutate(&put.into()).unwrap();
                if (row + round as u8).is_multiple_of(5) {
                    let delete = rowhouse_model::Delete::new(vec![row / 7, row]).unwrap();
                    let delete = delete.column("f", "q3", Timestamp::LATEST).unwrap();
                    table.mutate(&delete.into()).unwrap();
                }
            }
            // The last round stays in memory.
            if round < 3 {
                table.flush().unwrap();
            }
        }
        let value = Filter::parse("ValueFilter(=, 'binary:3')").unwrap();
        let scans = [
            Scan::all(),
            Scan { versions: u32::MAX, ..Scan::all() },
            Scan { raw: true, versions: u32::MAX, ..Scan::all() },
            Scan { reversed: true, ..Scan::all() },
            Scan { batch: Some(4), versions: 2, ..Scan::all() },
            Scan { filter: Some(Box::new(value)), versions: 3, ..Scan::all() },
        ];
        for scan in scans {
            let whole = parts(&table, &scan, false);
            assert!(whole.len() > 100);
            assert_eq!(parts(&table, &scan, true), whole, "{scan:?}");
        }
    }

    #[test]
    fn a_scanner_of_files_only_is_not_registered() {
        let (store, table) = open();
        put_all(&table, 1);
        table.flush().unwrap();
        let scanner = table.regions()[0].scan(&Scan::all()).unwrap();
        assert!(matches!(scanner.cursor, Cursor::Own(_)));
        drop(store);
    }
}
