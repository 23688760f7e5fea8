//! What all objects of one open database share.

use rowhouse::{Database, Table};

use crate::executor::Executor;

/// A value that a forked child does not drop: the threads that would finish the writes are in the
/// parent, and so are the files.
pub(crate) struct OfProcess<T> {
    /// `None` only while it is dropped.
    value: Option<T>,
    pub(crate) executor: Executor,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T, executor: Executor) -> Self {
        Self { value: Some(value), executor }
    }

    pub(crate) fn get(&self) -> &T {
        self.value.as_ref().expect("the value is there until it is dropped")
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("the value is there until it is dropped")
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.executor.is_forked() {
            std::mem::forget(self.value.take());
        }
    }
}

/// An open database.
pub(crate) type Session = OfProcess<Database>;

/// A table in an open database.
pub(crate) type TableHandle = OfProcess<(Database, Table)>;

impl TableHandle {
    pub(crate) fn table(&self) -> &Table {
        &self.get().1
    }

    pub(crate) fn database(&self) -> &Database {
        &self.get().0
    }
}
