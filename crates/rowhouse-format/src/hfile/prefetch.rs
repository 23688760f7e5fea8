//! Prefetch hints to the processor.
//!
//! A search in hundreds of megabytes of blocks incurs a memory stall at each step. If the next
//! addresses are known and do not depend on the bytes read first, their loads can overlap.

/// How large a cache line is, in bytes.
const LINE_LEN: usize = 64;

/// Prefetches the cache lines in `range`; ignores positions past the end of `bytes`.
#[inline]
pub(super) fn prefetch(bytes: &[u8], range: std::ops::Range<usize>) {
    for at in range.step_by(LINE_LEN) {
        let Some(byte) = bytes.get(at) else { return };
        prefetch_line(byte);
    }
}

#[inline]
fn prefetch_line(byte: &u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint that accesses no memory; it cannot fault at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = byte;
}
