//! Whether a write may block.

/// Whether a write may wait for other writes, compactions or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitMode {
    /// May wait as long as it takes.
    Blocking,
    /// Does not wait, except for microseconds.
    NonBlocking,
}

/// The result of a non-blocking call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonBlocking<T> {
    /// The call completed.
    Done(T),
    /// The call would have had to wait; nothing was done.
    WouldBlock,
}

impl<T> NonBlocking<T> {
    /// Maps the result of a completed call.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> NonBlocking<U> {
        match self {
            Self::Done(done) => NonBlocking::Done(map(done)),
            Self::WouldBlock => NonBlocking::WouldBlock,
        }
    }

    /// Returns the result of a blocking call.
    ///
    /// # Panics
    /// If the call did not complete.
    pub(crate) fn done(self) -> T {
        match self {
            Self::Done(done) => done,
            Self::WouldBlock => unreachable!("a call that may wait does"),
        }
    }
}
