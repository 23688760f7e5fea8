//! The memstore's synchronization primitives: the machine's, or loom's.
//!
//! `RUSTFLAGS="--cfg loom"` selects [loom](https://docs.rs/loom), which runs the production code in
//! every interleaving.

#[cfg(not(all(loom, test)))]
mod here {
    pub(in super::super) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

    pub(in super::super) use parking_lot::Mutex;

    /// A fence for loom, which does not model the total order of `SeqCst` accesses. Does nothing
    /// otherwise.
    #[inline(always)]
    pub(in super::super) fn fence() {}

    /// Stands for plain memory, whose accesses loom checks. Does nothing otherwise.
    pub(in super::super) struct Watched;

    impl Watched {
        pub(in super::super) fn new() -> Self {
            Self
        }

        #[inline(always)]
        pub(in super::super) fn write(&self) {}

        #[inline(always)]
        pub(in super::super) fn read(&self) {}
    }
}

#[cfg(all(loom, test))]
mod here {
    use loom::cell::UnsafeCell;
    pub(in super::super) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

    /// loom treats `SeqCst` accesses as acquire and release only, so in the model a write on one
    /// side and a read on the other could miss each other, as they cannot on a machine.
    pub(in super::super) fn fence() {
        loom::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }

    /// A loom mutex with the production mutex's signature, which cannot be poisoned.
    #[derive(Default)]
    pub(in super::super) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(in super::super) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }

        pub(in super::super) fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap()
        }
    }

    /// Stands for plain memory: loom fails if a read is not ordered after the write.
    pub(in super::super) struct Watched(UnsafeCell<()>);

    impl Watched {
        pub(in super::super) fn new() -> Self {
            Self(UnsafeCell::new(()))
        }

        pub(in super::super) fn write(&self) {
            self.0.with_mut(|_| ());
        }

        pub(in super::super) fn read(&self) {
            self.0.with(|_| ());
        }
    }
}

pub(super) use here::*;
