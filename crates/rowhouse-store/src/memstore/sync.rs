//! What threads share memory by: the machine's atomics, or those of a model that tries every order.
//!
//! `RUSTFLAGS="--cfg loom"` puts [loom](https://docs.rs/loom)'s in their place, under the very code
//! that is shipped.

#[cfg(not(all(loom, test)))]
mod here {
    pub(in super::super) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

    pub(in super::super) use parking_lot::Mutex;

    /// For a model that does not know the one order that accesses with `SeqCst` have. Nothing otherwise.
    #[inline(always)]
    pub(in super::super) fn fence() {}

    /// Stands for plain memory, for a model that watches who touches it. Nothing otherwise.
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

    /// loom takes accesses with `SeqCst` for ones that acquire and release, so what is written on one side of it and read on
    /// the other could pass unseen in the model, as it cannot on a machine.
    pub(in super::super) fn fence() {
        loom::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }

    /// With the signature of the mutex that is used otherwise: it cannot be poisoned.
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

    /// Stands for plain memory: loom fails when a read of it is not ordered behind the write.
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
