//! Whether an operation may block.

/// Whether an operation may wait for other operations, compactions, memory or a sync, or may take
/// long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitMode {
    /// May wait as long as it takes.
    Blocking,
    /// Does not wait, except for microseconds.
    NonBlocking,
}

/// The result of an operation in a wait mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonBlocking<T> {
    /// The operation completed.
    Done(T),
    /// The operation would have had to wait; nothing was done.
    WouldBlock,
}

impl<T> NonBlocking<T> {
    /// Maps a completed operation's result.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> NonBlocking<U> {
        match self {
            Self::Done(done) => NonBlocking::Done(map(done)),
            Self::WouldBlock => NonBlocking::WouldBlock,
        }
    }

    /// Returns the result of an operation in blocking mode, which always completes.
    ///
    /// # Panics
    /// If the operation did not complete.
    pub fn done(self) -> T {
        match self {
            Self::Done(done) => done,
            Self::WouldBlock => unreachable!("an operation that may wait does"),
        }
    }
}
