//! A concurrent bump allocator whose memory is freed together.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::large_chunks::{LARGE_BYTES, allocate_large, free_large};
use super::sync::{AtomicPtr, AtomicU64, AtomicUsize, Mutex, Watched};

/// Alignment of every piece.
pub(super) const ALIGN: usize = align_of::<Chunk>();

/// The first chunk's size: the cost of a memstore with a handful of cells.
const CHUNK_BYTES_MIN: usize = if cfg!(loom) { 512 } else { 2 << 10 };
/// A chunk is as large as all earlier ones together, up to this limit.
const CHUNK_BYTES_MAX: usize = LARGE_BYTES;
/// A larger piece gets a separate chunk as large as the piece, so that the unused end in a shared
/// chunk is never more than a sixteenth of [`CHUNK_BYTES_MAX`].
const SHARED_BYTES_MAX: usize = CHUNK_BYTES_MAX / 16;

/// Hands out memory to many threads. A thread waits for another only while a chunk is added.
pub(super) struct Arena {
    /// The chunk from which pieces are cut; null before the first one.
    current: AtomicPtr<Chunk>,
    /// The chunk added last, shared or not; locked while one is added.
    newest: Mutex<NewestChunk>,
    bytes: AtomicU64,
}

struct NewestChunk(*mut Chunk);

/// A chunk's header; the pieces follow.
#[repr(C)]
struct Chunk {
    /// Bytes handed out, including this header. More than `len` once the chunk is full.
    used: AtomicUsize,
    len: usize,
    /// The chunk added before this one.
    before: *mut Chunk,
    /// Stands for `len` and `before` in loom, which checks that they are written before any read.
    plain: Watched,
}

// SAFETY: chunks belong to the arena alone. Their pointers are followed under the mutex or after an
// acquire load of `current`; their shared fields are atomic.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

/// A memory piece from the arena.
pub(super) struct Piece {
    /// Uninitialised; valid for the requested length while the arena lives.
    pub(super) start: NonNull<u8>,
    /// Bytes newly requested from the allocator for it; usually none.
    pub(super) added: u64,
}

impl Default for Arena {
    fn default() -> Self {
        Self {
            current: AtomicPtr::new(ptr::null_mut()),
            newest: Mutex::default(),
            bytes: AtomicU64::new(0),
        }
    }
}

impl Default for NewestChunk {
    fn default() -> Self {
        Self(ptr::null_mut())
    }
}

impl Arena {
    /// Returns the bytes requested from the allocator: the sum of every [`Piece::added`].
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Returns `len` bytes for the caller alone, aligned to [`ALIGN`].
    pub(super) fn take(&self, len: usize) -> Piece {
        let len = len.next_multiple_of(ALIGN);
        if len > SHARED_BYTES_MAX {
            let needed = size_of::<Chunk>() + len;
            return self.add_chunk(&mut self.newest.lock(), needed, len).0;
        }
        loop {
            let current = self.current.load(Acquire);
            if let Some(start) = NonNull::new(current).and_then(|chunk| cut(chunk, len)) {
                return Piece { start, added: 0 };
            }
            if let Some(piece) = self.grow(current, len) {
                return piece;
            }
        }
    }

    /// Adds a chunk and cuts a piece from it; returns `None` if another thread was faster.
    #[cold]
    fn grow(&self, full: *mut Chunk, len: usize) -> Option<Piece> {
        let mut newest = self.newest.lock();
        if self.current.load(Relaxed) != full {
            return None;
        }
        let so_far = usize::try_from(self.bytes()).unwrap_or(CHUNK_BYTES_MAX);
        let chunk_len = so_far.clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
        let chunk_len = chunk_len.max(size_of::<Chunk>() + len);
        let (piece, chunk) = self.add_chunk(&mut newest, chunk_len, len);
        self.current.store(chunk.as_ptr(), Release);
        Some(piece)
    }

    /// Allocates a chunk of `chunk_len` bytes and returns it with the first piece.
    fn add_chunk(
        &self,
        newest: &mut NewestChunk,
        chunk_len: usize,
        len: usize,
    ) -> (Piece, NonNull<Chunk>) {
        let chunk = Chunk::allocate(chunk_len, size_of::<Chunk>() + len, newest.0);
        newest.0 = chunk.as_ptr();
        self.bytes.fetch_add(chunk_len as u64, Relaxed);
        // SAFETY: the chunk has room for the header and the piece.
        let start = unsafe { chunk.cast::<u8>().add(size_of::<Chunk>()) };
        (Piece { start, added: chunk_len as u64 }, chunk)
    }
}

/// Cuts a piece from a chunk if it has room; `len` is a multiple of [`ALIGN`].
#[inline]
fn cut(chunk: NonNull<Chunk>, len: usize) -> Option<NonNull<u8>> {
    // SAFETY: chunks live as long as their arena. The header was written before the chunk was
    // stored into `current` with release, and it was loaded from there with acquire. Only `used`
    // changes afterwards, and it is atomic.
    let (used, chunk_len, plain) = unsafe {
        let chunk = chunk.as_ptr();
        (&(*chunk).used, (*chunk).len, &(*chunk).plain)
    };
    plain.read();
    if used.load(Relaxed) > chunk_len {
        return None;
    }
    let start = used.fetch_add(len, Relaxed);
    // Each thread adds to a full chunk at most once, so this stays far from overflowing.
    (start + len <= chunk_len).then(|| {
        // SAFETY: `start` is within the chunk's allocation.
        unsafe { chunk.cast::<u8>().add(start) }
    })
}

impl Chunk {
    /// Allocates a chunk of `len` bytes, of which `used` are taken.
    fn allocate(len: usize, used: usize, before: *mut Self) -> NonNull<Self> {
        let chunk = match len {
            LARGE_BYTES => allocate_large(),
            _ => allocate(Self::layout(len)),
        };
        let chunk = chunk.cast::<Self>();
        let head = Self { used: AtomicUsize::new(used), len, before, plain: Watched::new() };
        head.plain.write();
        // SAFETY: the allocation is aligned for a `Chunk`, has room for one, and is not shared yet.
        unsafe { chunk.write(head) };
        chunk
    }

    /// Frees a chunk of `len` bytes.
    ///
    /// # Safety
    /// The chunk came from [`Chunk::allocate`] with this length, and nobody uses it any more.
    unsafe fn free(chunk: NonNull<u8>, len: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match len {
                LARGE_BYTES => free_large(chunk),
                _ => dealloc(chunk.as_ptr(), Self::layout(len)),
            }
        }
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len, ALIGN).expect("a cell has less than 2 GiB")
    }
}

fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is not empty, since a chunk has a header.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Drop for Arena {
    fn drop(&mut self) {
        let mut newest = self.newest.get_mut().0;
        while let Some(chunk) = NonNull::new(newest) {
            // SAFETY: the list contains each chunk once, and no piece is borrowed any more.
            // `allocate` wrote the header with the allocation's length.
            unsafe {
                let len = chunk.as_ref().len;
                newest = chunk.as_ref().before;
                Chunk::free(chunk.cast(), len);
            }
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_apart_and_counted_to_the_byte() {
        let arena = Arena::default();
        assert_eq!(arena.bytes(), 0);
        let mut added = 0;
        let mut pieces: Vec<(usize, usize)> = Vec::new();
        for len in (1..200).chain([5000, SHARED_BYTES_MAX, SHARED_BYTES_MAX + 1, 3 << 20, 7]) {
            let piece = arena.take(len);
            // SAFETY: the piece has `len` bytes.
            unsafe { piece.start.write_bytes(0xAB, len) };
            added += piece.added;
            pieces.push((piece.start.addr().get(), len));
        }
        assert_eq!(arena.bytes(), added);
        pieces.sort_unstable();
        assert!(pieces.iter().all(|(start, _)| start.is_multiple_of(ALIGN)));
        assert!(pieces.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
    }

    #[test]
    fn chunks_grow_with_the_arena() {
        let arena = Arena::default();
        let sizes = (0..2_000).map(|_| arena.take(4096 - 8).added).filter(|&added| added > 0);
        let sizes: Vec<_> = sizes.collect();
        assert_eq!(sizes[..4], [4112, 4112, 8224, 16448]);
        assert_eq!(sizes[9..], [1_052_672, 2 << 20, 2 << 20, 2 << 20]);
    }

    #[test]
    fn a_large_piece_leaves_the_current_chunk_in_use() {
        let arena = Arena::default();
        arena.take(8);
        let large = arena.take(1 << 20);
        assert_eq!(large.added, (1 << 20) + size_of::<Chunk>() as u64);
        assert_eq!(arena.take(8).added, 0);
    }

    #[test]
    fn threads_get_pieces_of_their_own() {
        let arena = Arena::default();
        let pieces = if cfg!(miri) { 40 } else { 4000 };
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let arena = &arena;
                scope.spawn(move || {
                    let mine: Vec<_> = (0..pieces).map(|len| arena.take(len % 90 + 1)).collect();
                    for (at, piece) in mine.iter().enumerate() {
                        // SAFETY: the piece has this many bytes.
                        unsafe { piece.start.write_bytes(thread, at % 90 + 1) };
                    }
                    for (at, piece) in mine.iter().enumerate() {
                        // SAFETY: all bytes were written above.
                        let bytes = unsafe {
                            std::slice::from_raw_parts(piece.start.as_ptr(), at % 90 + 1)
                        };
                        assert!(bytes.iter().all(|&byte| byte == thread));
                    }
                });
            }
        });
    }
}
