//! Whether a write may wait for others.

/// Whether a write may wait for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitMode {
    /// As long as it takes.
    Blocking,
    /// Not at all, but for what is a matter of microseconds.
    NonBlocking,
}

/// What came of a call that may not wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonBlocking<T> {
    /// It came to its end.
    Done(T),
    /// It would have had to wait, and nothing was done.
    WouldBlock,
}

impl<T> NonBlocking<T> {
    /// The same of something made of what was done.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> NonBlocking<U> {
        match self {
            Self::Done(done) => NonBlocking::Done(map(done)),
            Self::WouldBlock => NonBlocking::WouldBlock,
        }
    }

    /// What a call came to that may wait.
    ///
    /// # Panics
    /// If it did not.
    pub(crate) fn done(self) -> T {
        match self {
            Self::Done(done) => done,
            Self::WouldBlock => unreachable!("a call that may wait does"),
        }
    }
}
