//! Reads that tantivy trusts. Its streams panic where a read fails; guarded, the read's own error
//! unwinds to the caller instead.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

use rowhouse_model::{Error, ErrorKind, Result};

/// Runs a function that reads segments through tantivy. A read that fails meanwhile ends it with
/// the read's error, wherever tantivy is.
///
/// # Errors
/// As the function and the reads; `Io` if the function panics otherwise.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    let was = IS_GUARDED.replace(true);
    let ran = panic::catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(was);
    ran.unwrap_or_else(|cause| match cause.downcast::<Error>() {
        Ok(error) => Err(*error),
        Err(_) => Err(Error::new(ErrorKind::Io, "reading a full-text index panicked")),
    })
}

/// Ends the innermost [`guarded`] function of this thread with an error; returns the error if there
/// is none.
pub(super) fn unwind_if_guarded(error: Error) -> Error {
    if IS_GUARDED.get() {
        // No panic: the hook for panics does not run.
        panic::resume_unwind(Box::new(error));
    }
    error
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_error_passes_code_that_trusts_reads() {
        let read = || -> Result<()> { Err(unwind_if_guarded(Error::corruption("a part"))) };
        let trusting = || -> Result<u32> {
            read().expect("tantivy trusts reads");
            Ok(1)
        };
        assert_eq!(guarded(trusting).unwrap_err().message(), "a part");
        assert_eq!(read().unwrap_err().message(), "a part", "unguarded, it is returned");
        let nested = || guarded(trusting).or_else(|_| guarded(|| Ok(2)));
        assert_eq!(guarded(nested).unwrap(), 2);
    }
}
