//! Asking the processor for bytes before they are looked at.
//!
//! A search in hundreds of megabytes of blocks waits for memory at each step. Where the next places are known, and do not
//! depend on what is read first, they can be fetched side by side.

/// Bytes that come from memory together.
const LINE_LEN: usize = 64;

/// Asks the processor to have these bytes at hand soon; those behind the end are left out.
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
        // SAFETY: prefetching touches nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = byte;
}
