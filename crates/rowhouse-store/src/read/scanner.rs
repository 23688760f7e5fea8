//! Scanners of a region, as their users hold them.

use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_model::{Result, Row, Scan};

use super::memory::{MemoryHolder, Over, Registered};
use super::scan::{AskedToEnd, NOT_ASKED, Opening, ScanCursor, ScanLimits, ScanProgress, Scanned};
use crate::region::ReadCounts;

/// A scan of one region, open: it sees what was there when it was opened, as long as it lives. It
/// holds the files and memstores it reads, so merges neither wait for it nor take anything from it;
/// what they free on the disk becomes free with it. [`Settings::scan_age_max`] is how long that may
/// be. When a memstore is flushed it goes on in the file, on its way or by
/// [`RegionScanner::follow_flushes`]. One that cannot ends when readers hold too much memory:
/// [`Settings::reader_memstore_bytes_max`].
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
    /// It holds files only.
    Own(ScanCursor),
    /// It holds memstores, and is asked to let go of them.
    Shared {
        shared: Registered<SharedCursor>,
        /// The cursor during a call that its user has begun.
        in_call: Option<Box<ScanCursor>>,
    },
}

struct SharedCursor {
    /// Held while a row is read, and by who has it let go of memstores between two calls; none
    /// during a call that the user has begun.
    cursor: Mutex<Option<Box<ScanCursor>>>,
    asked_to_end: AskedToEnd,
}

impl RegionScanner {
    pub(crate) fn open(
        opening: &Opening<'_>,
        scan: &Scan,
        counter: &Arc<ReadCounts>,
    ) -> Result<Self> {
        let cursor = ScanCursor::open(opening, scan)?.counted_by(counter);
        let read_point = cursor.read_point();
        let cursor = if cursor.holds_memstores() {
            let cursor = Mutex::new(Some(Box::new(cursor)));
            let shared = SharedCursor { cursor, asked_to_end: AskedToEnd::new() };
            let shared = opening.engine.reader_memory.register(read_point, shared);
            Cursor::Shared { shared, in_call: None }
        } else {
            Cursor::Own(cursor)
        };
        Ok(Self { cursor, read_point })
    }

    /// Begins a call in which many rows are read: up to [`RegionScanner::end_call`] it is in use,
    /// which spares a lock for each row. Memory that it holds is not free before.
    pub fn begin_call(&mut self) {
        if let Cursor::Shared { shared, in_call } = &mut self.cursor
            && in_call.is_none()
        {
            *in_call = shared.cursor.lock().take();
        }
    }

    /// Ends a call: its user may not come back for long.
    pub fn end_call(&mut self) {
        if let Cursor::Shared { shared, in_call } = &mut self.cursor
            && let Some(mut cursor) = in_call.take()
        {
            let mut place = shared.cursor.lock();
            if let Some(over) = shared.asked_to_end.take() {
                cursor.release_memory(Some(over));
            }
            *place = Some(cursor);
        }
    }

    /// The next row that has anything to show, or the next part of it where the scan has a batch;
    /// `None` behind the last.
    ///
    /// # Errors
    /// `Io` and `Corruption`; `UnknownScanner` when it has been open for too long, and after any
    /// error: it does not come to an end that is none. `ScannerReset` when it was ended to free
    /// memory.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not borrow later")]
    pub fn next(&mut self) -> Result<Option<Row>> {
        match self.next_part(&ScanLimits::NONE)? {
            Scanned::Row { row, .. } => Ok(Some(row)),
            Scanned::Paused(_) | Scanned::End => Ok(None),
        }
    }

    /// The same, as far as the limits allow: what a server answers a call with.
    ///
    /// # Errors
    /// As [`RegionScanner::next`].
    pub fn next_part(&mut self, limits: &ScanLimits) -> Result<Scanned> {
        let (cursor, asked_to_end) = match &mut self.cursor {
            Cursor::Own(cursor) => (cursor, &NOT_ASKED),
            Cursor::Shared { shared, in_call: Some(cursor) } => {
                (&mut **cursor, &shared.asked_to_end)
            }
            Cursor::Shared { shared, in_call: None } => {
                let mut cursor = shared.cursor.lock();
                let cursor = cursor.as_mut().expect(AT_REST);
                let scanned = cursor.next_part(limits, &shared.asked_to_end);
                // Its user may not come back for long.
                if let Some(over) = shared.asked_to_end.take() {
                    cursor.release_memory(Some(over));
                }
                return scanned;
            }
        };
        cursor.next_part(limits, asked_to_end)
    }

    /// Lets go of memory that was flushed to files since it was opened. It does so on its way; this
    /// is for scanners that wait to be asked for more, which would keep it meanwhile. Gives the
    /// bytes that it keeps all the same: it may see what a flush has dropped that had begun before
    /// the first time, and one that goes backward keeps them up to the end of its row.
    ///
    /// # Errors
    /// `Io` and `Corruption`.
    pub fn follow_flushes(&mut self) -> Result<u64> {
        self.with(ScanCursor::follow_flushes)
    }

    /// Whether there may be more rows; `false` is certain.
    pub fn may_have_more(&mut self) -> bool {
        self.with(ScanCursor::may_have_more)
    }

    /// How many rows it may still give.
    pub(crate) fn rows_left(&mut self) -> u64 {
        self.with(|cursor| cursor.rows_left())
    }

    /// Whether a filter has said that nothing more comes, here or in any other region.
    pub fn is_filter_done(&mut self) -> bool {
        self.with(ScanCursor::is_filter_done)
    }

    /// How far it has come.
    pub fn progress(&self) -> ScanProgress {
        match &self.cursor {
            Cursor::Own(cursor) => cursor.progress(),
            Cursor::Shared { in_call: Some(cursor), .. } => cursor.progress(),
            Cursor::Shared { shared, in_call: None } => {
                shared.cursor.lock().as_ref().expect(AT_REST).progress()
            }
        }
    }

    /// The sequence it reads at.
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

/// Why the cursor is in its place.
const AT_REST: &str = "outside of a call the cursor is in its place";

impl MemoryHolder for SharedCursor {
    fn release_memory(&self, over: Option<Over>) {
        let mut place = self.cursor.try_lock();
        match (place.as_mut().and_then(|place| place.as_mut()), over) {
            (Some(cursor), over) => cursor.release_memory(over),
            (None, Some(over)) => self.asked_to_end.ask(over),
            // It goes on in files on its way.
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

    /// A scanner that has read a row and holds a flushed memstore, of which the flush has dropped
    /// what a scan with an upper end of time may see.
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

    fn asked_in_a_call(scanner: &RegionScanner, store: &Store) {
        let Cursor::Shared { shared, .. } = &scanner.cursor else { panic!("it holds no memstore") };
        let call = shared.cursor.lock();
        store.release_reader_memory();
        assert!(store.reader_memstore_bytes().0 > 0, "it is in use");
        drop(call);
    }

    #[test]
    fn a_scanner_that_is_asked_in_a_call_lets_go_at_its_end() {
        let (store, table) = open();
        let mut scanner = cannot_follow(&store, &table, Scan::all());
        asked_in_a_call(&scanner, &store);
        assert!(scanner.next().unwrap().is_some(), "it has not looked at the clock");
        assert_eq!(store.reader_memstore_bytes().0, 0);
        assert!(scanner.may_have_more());
        assert_eq!(scanner.next().unwrap_err().kind(), ErrorKind::ScannerReset);
    }

    #[test]
    fn a_scanner_that_is_asked_in_a_call_of_many_rows_lets_go_where_the_user_ends_it() {
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
    fn a_scanner_that_is_asked_in_a_long_call_ends_within_it() {
        let (store, table) = open();
        let first = Filter::parse("RowFilter(<=, 'binary:\x01')").unwrap();
        let scan = Scan { filter: Some(Box::new(first)), ..Scan::all() };
        let mut scanner = cannot_follow(&store, &table, scan);
        assert!(scanner.next().unwrap().is_some());
        asked_in_a_call(&scanner, &store);
        // It would look at all other rows.
        let error = scanner.next().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ScannerReset);
        assert!(error.to_string().contains("flushed memstores held by readers: bytes="), "{error}");
        assert_eq!(store.reader_memstore_bytes().0, 0);
        assert_eq!(scanner.next().unwrap_err().kind(), ErrorKind::ScannerReset);
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
