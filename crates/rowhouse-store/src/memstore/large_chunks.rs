//! The large chunks of memstores. When a memstore is dropped they are retained for the next one:
//! the system zeroes the pages of fresh memory when they are first written, which is a good part of
//! the cost of inserting large cells.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use parking_lot::Mutex;

/// Bytes in a large chunk: the large page size on most machines.
pub(super) const LARGE_BYTES: usize = if cfg!(loom) { 512 } else { 2 << 20 };

/// The most chunks that are retained: 64 MiB, as much as a memstore has by default.
const RETAINED_MAX: usize = if cfg!(loom) { 0 } else { 32 };

/// The retained chunks, for all stores of the process.
static RETAINED: Mutex<Retained> = Mutex::new(Retained { chunks: Vec::new(), stores: 0 });

struct Retained {
    chunks: Vec<FreeChunk>,
    /// How many stores are open. Without any, nothing is retained.
    stores: usize,
}

/// A large chunk that nobody uses.
struct FreeChunk(NonNull<u8>);

// SAFETY: nobody else has a pointer to the memory.
unsafe impl Send for FreeChunk {}

impl Drop for FreeChunk {
    fn drop(&mut self) {
        // SAFETY: a chunk from `allocate_large`, which nobody uses.
        unsafe { dealloc(self.0.as_ptr(), LAYOUT) };
    }
}

/// An open store: as long as there is one, chunks are retained.
pub(crate) struct RetainedChunks(());

impl RetainedChunks {
    /// Lets chunks be retained until the value is dropped.
    pub(crate) fn new() -> Self {
        RETAINED.lock().stores += 1;
        Self(())
    }
}

impl Drop for RetainedChunks {
    fn drop(&mut self) {
        let mut retained = RETAINED.lock();
        retained.stores -= 1;
        if retained.stores == 0 {
            retained.chunks.clear();
        }
    }
}

/// Frees the retained chunks.
pub(crate) fn free_retained_chunks() {
    RETAINED.lock().chunks.clear();
}

const LAYOUT: Layout = match Layout::from_size_align(LARGE_BYTES, LARGE_BYTES) {
    Ok(layout) => layout,
    Err(_) => panic!("the size is a power of two"),
};

/// Returns a retained chunk, or allocates one. The memory is uninitialised.
pub(super) fn allocate_large() -> NonNull<u8> {
    if let Some(chunk) = RETAINED.lock().chunks.pop() {
        return std::mem::ManuallyDrop::new(chunk).0;
    }
    // SAFETY: the layout is not empty.
    let Some(start) = NonNull::new(unsafe { alloc(LAYOUT) }) else { handle_alloc_error(LAYOUT) };
    want_large_page(start);
    start
}

/// Retains a chunk for another memstore, or frees it if there are enough.
///
/// # Safety
/// The chunk came from [`allocate_large`], and nobody uses it any more.
pub(super) unsafe fn free_large(chunk: NonNull<u8>) {
    let chunk = FreeChunk(chunk);
    let mut retained = RETAINED.lock();
    if retained.stores > 0 && retained.chunks.len() < RETAINED_MAX {
        retained.chunks.push(chunk);
    }
}

/// Asks the system for a large page: a search touches the whole arena, and with small pages a TLB
/// miss costs as much as the access itself.
fn want_large_page(start: NonNull<u8>) {
    #[cfg(all(target_os = "linux", not(any(miri, loom))))]
    // SAFETY: the range was just allocated and is not shared yet; the advice leaves the contents as
    // they are. A system that ignores the advice changes nothing.
    let _ = unsafe {
        rustix::mm::madvise(start.as_ptr().cast(), LARGE_BYTES, rustix::mm::Advice::LinuxHugepage)
    };
    #[cfg(not(all(target_os = "linux", not(any(miri, loom)))))]
    let _ = start;
}
