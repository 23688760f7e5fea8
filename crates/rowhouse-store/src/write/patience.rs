//! Whether a write may wait for others.

/// Whether a write may wait for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as it takes.
    Waits,
    /// Not at all, but for what is a matter of microseconds.
    None,
}

/// What came of a call that may not wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried<T> {
    /// It came to its end.
    Done(T),
    /// It would have had to wait, and nothing was done.
    WouldWait,
}

impl<T> Tried<T> {
    /// The same of something made of what was done.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Tried<U> {
        match self {
            Self::Done(done) => Tried::Done(map(done)),
            Self::WouldWait => Tried::WouldWait,
        }
    }

    /// What a call came to that may wait.
    ///
    /// # Panics
    /// If it did not.
    pub(crate) fn done(self) -> T {
        match self {
            Self::Done(done) => done,
            Self::WouldWait => unreachable!("a call that may wait does"),
        }
    }
}
