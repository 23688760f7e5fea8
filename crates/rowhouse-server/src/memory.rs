//! Call memory: requests, the rows in an answer under construction, and answers that the client has
//! not taken. It is reserved before it is used (decision 0083).
//!
//! ```text
//!  call memory (--call-memory-bytes)
//!  ├── 7/8  requests above 256 KiB, calls on worker threads and their answers, searches of Solr
//!  │        └── of one connection at most --connection-memory-bytes
//!  └── 1/8  what connections read, answer and write themselves: 16 KiB to 768 KiB each
//! ```
//!
//! The second part lets small calls be answered while large ones hold the first. What holds memory
//! in the first part waits for neither part, and what holds memory in the second waits only for the
//! first, so that waiting always ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The unit of the counts.
const UNIT_BYTES: u64 = 1 << 10;
/// What a call on a worker thread starts with.
pub(crate) const CALL_BYTES: u64 = 1 << 20;
/// Requests up to this size are reserved in the small-call part.
pub(crate) const SMALL_REQUEST_BYTES: u64 = 256 << 10;
/// Cell bytes that an answer on the connection's task may have.
pub(crate) const SMALL_ANSWER_BYTES: u64 = 256 << 10;
/// What a connection reserves to answer the small calls in its input: answers that wait to be
/// written, and the rows and the answer for one more call.
pub(crate) const TURN_BYTES: u64 = 3 * SMALL_ANSWER_BYTES;

/// The share that a call may take in addition from what is free, so that some is left for others.
const GROWTH_SHARE: u64 = 4;

/// A reservation above this share of the large-call part counts as huge.
const HUGE_SHARE: u32 = 16;

/// Memory for a process's calls.
pub(crate) struct CallMemory {
    large: Part,
    /// The half of `large` that requests above its [`HUGE_SHARE`] share may take: others do not
    /// queue after all of them.
    huge: Part,
    small: Part,
    connection_bytes_max: u64,
    /// How many requests and calls wait for memory.
    waiting: AtomicUsize,
    /// The most bytes that were reserved at once.
    peak: AtomicU64,
}

/// A part of the memory.
struct Part {
    free: Arc<Semaphore>,
    units: u32,
}

impl Part {
    fn new(bytes: u64) -> Self {
        let units = units(bytes).min(Semaphore::MAX_PERMITS as u32);
        Self { free: Arc::new(Semaphore::new(units as usize)), units }
    }

    fn used_bytes(&self) -> u64 {
        (self.units as u64).saturating_sub(self.free.available_permits() as u64) * UNIT_BYTES
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

/// Bytes that are reserved until this is dropped.
pub(crate) struct Reserved {
    of_process: OwnedSemaphorePermit,
    /// The same bytes as a part of the connection's bytes; `None` for small calls.
    of_connection: Option<OwnedSemaphorePermit>,
    /// Until it is shrunk.
    of_huge: Option<OwnedSemaphorePermit>,
}

impl Reserved {
    pub(crate) fn bytes(&self) -> u64 {
        self.of_process.num_permits() as u64 * UNIT_BYTES
    }

    /// True if it is not from the small-call part.
    pub(crate) fn is_large(&self) -> bool {
        self.of_connection.is_some()
    }

    /// Splits off `bytes`, or all that there are.
    pub(crate) fn split_off(&mut self, bytes: u64) -> Self {
        let count = units(bytes) as usize;
        let of = |part: &mut OwnedSemaphorePermit| {
            let count = count.min(part.num_permits());
            part.split(count).expect("no more than there are")
        };
        Self {
            of_process: of(&mut self.of_process),
            of_connection: self.of_connection.as_mut().map(of),
            of_huge: None,
        }
    }

    /// Gives back all but `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        self.of_huge = None;
        let retained = units(bytes) as usize;
        for part in [Some(&mut self.of_process), self.of_connection.as_mut()].into_iter().flatten()
        {
            // Splitting off more than there is gives nothing.
            drop(part.split(part.num_permits().saturating_sub(retained)));
        }
    }
}

impl CallMemory {
    /// Divides `bytes_max`, of which one connection gets at most `connection_bytes_max`.
    pub(crate) fn new(bytes_max: u64, connection_bytes_max: u64) -> Self {
        let small = Part::new((bytes_max / 8).max(SMALL_REQUEST_BYTES + TURN_BYTES));
        let large_bytes = (bytes_max - bytes_max / 8).max(CALL_BYTES);
        Self {
            large: Part::new(large_bytes),
            huge: Part::new(large_bytes / 2),
            small,
            connection_bytes_max: connection_bytes_max.max(CALL_BYTES),
            waiting: AtomicUsize::new(0),
            peak: AtomicU64::new(0),
        }
    }

    /// Returns the bytes that are reserved now.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.large.used_bytes() + self.small.used_bytes()
    }

    /// Returns the most bytes that can be reserved.
    pub(crate) fn bytes_max(&self) -> u64 {
        (u64::from(self.large.units) + u64::from(self.small.units)) * UNIT_BYTES
    }

    /// Returns the most bytes that were reserved at once.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Returns how many requests and calls wait for memory.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// As [`CallMemory::small`], if nothing has to be waited for.
    pub(crate) fn try_small(&self, bytes: u64) -> Option<Reserved> {
        let count = units(bytes).min(self.small.units);
        let of_process = Arc::clone(&self.small.free).try_acquire_many_owned(count).ok()?;
        self.note_peak();
        Some(Reserved { of_process, of_connection: None, of_huge: None })
    }

    /// Reserves `bytes` for small calls, after those that wait already.
    pub(crate) async fn small(&self, bytes: u64) -> Reserved {
        let count = units(bytes).min(self.small.units);
        let of_process = self.permits(&self.small, count).await;
        self.note_peak();
        Reserved { of_process, of_connection: None, of_huge: None }
    }

    /// Reserves `bytes` that belong to no connection in HBase's protocol, or all that there are.
    #[cfg(feature = "web")]
    pub(crate) async fn large(&self, bytes: u64) -> Reserved {
        let count = units(bytes).min(self.large.units);
        let of_process = self.permits(&self.large, count).await;
        self.note_peak();
        Reserved { of_process, of_connection: None, of_huge: None }
    }

    /// Reserves more for an answer that grows, if it is free. At most a quarter of the unreserved
    /// memory counts as free.
    pub(crate) fn grow(
        &self,
        reserved: &mut Reserved,
        bytes: u64,
        own: Option<&Arc<Semaphore>>,
    ) -> bool {
        let count = units(bytes);
        if (self.large.free.available_permits() as u64) < u64::from(count) * GROWTH_SHARE {
            return false;
        }
        let of_connection = match own {
            None => None,
            Some(own) => match Arc::clone(own).try_acquire_many_owned(count) {
                Ok(more) => Some(more),
                Err(_) => return false,
            },
        };
        let Ok(more) = Arc::clone(&self.large.free).try_acquire_many_owned(count) else {
            return false;
        };
        reserved.of_process.merge(more);
        if let (Some(own), Some(more)) = (&mut reserved.of_connection, of_connection) {
            own.merge(more);
        }
        self.note_peak();
        true
    }

    /// Takes `count` permits, in request order.
    async fn permits(&self, part: &Part, count: u32) -> OwnedSemaphorePermit {
        if let Ok(permits) = Arc::clone(&part.free).try_acquire_many_owned(count) {
            return permits;
        }
        let _waiting = Waiting::new(&self.waiting);
        // The semaphore is never closed.
        Arc::clone(&part.free).acquire_many_owned(count).await.expect("an open semaphore")
    }

    fn note_peak(&self) {
        let used = self.used_bytes();
        // Connections on other processors need not lose the line for a value that stays.
        if used > self.peak_bytes() {
            self.peak.fetch_max(used, Ordering::Relaxed);
        }
    }
}

/// Counts one that waits.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Memory for one connection's calls.
pub(crate) struct ConnectionMemory {
    process: Arc<CallMemory>,
    free: Arc<Semaphore>,
    units: u32,
}

impl ConnectionMemory {
    pub(crate) fn new(process: &Arc<CallMemory>) -> Self {
        let units = units(process.connection_bytes_max);
        let free = Arc::new(Semaphore::new(units as usize));
        Self { process: Arc::clone(process), free, units }
    }

    pub(crate) fn process(&self) -> &CallMemory {
        &self.process
    }

    /// Reserves `bytes`. One that asks for more than a connection, or the process, may have waits
    /// until it is alone there.
    pub(crate) async fn reserve(&self, bytes: u64) -> Reserved {
        let count = units(bytes).min(self.units);
        let of_connection = Arc::clone(&self.free).acquire_many_owned(count);
        let of_connection = of_connection.await.expect("an open semaphore");
        let CallMemory { large, huge, .. } = &*self.process;
        let count = units(bytes).min(large.units);
        let of_huge = if count > large.units / HUGE_SHARE {
            Some(self.process.permits(huge, count.min(huge.units)).await)
        } else {
            None
        };
        let of_process = self.process.permits(large, count).await;
        self.process.note_peak();
        Reserved { of_process, of_connection: Some(of_connection), of_huge }
    }

    /// As [`ConnectionMemory::reserve`], if nothing has to be waited for.
    pub(crate) fn try_reserve(&self, bytes: u64) -> Option<Reserved> {
        let count = units(bytes);
        let of_connection = Arc::clone(&self.free).try_acquire_many_owned(count).ok()?;
        let of_process = Arc::clone(&self.process.large.free).try_acquire_many_owned(count).ok()?;
        self.process.note_peak();
        Some(Reserved { of_process, of_connection: Some(of_connection), of_huge: None })
    }

    /// As [`CallMemory::grow`], within the connection's bytes.
    pub(crate) fn grow(&self, reserved: &mut Reserved, bytes: u64) -> bool {
        self.process.grow(reserved, bytes, Some(&self.free))
    }
}
