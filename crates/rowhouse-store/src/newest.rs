//! A value that is read often and replaced rarely.

use std::sync::OnceLock;

use parking_lot::Mutex;

/// Holds the current value of something that changes rarely, such as a table's declaration. `get`
/// takes no lock and counts no references; replaced values stay allocated until the holder is
/// dropped.
pub(crate) struct Current<T> {
    first: Link<T>,
    replacing: Mutex<()>,
}

struct Link<T> {
    value: T,
    next: OnceLock<Box<Link<T>>>,
}

impl<T> Current<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { first: Link::new(value), replacing: Mutex::default() }
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        &self.last().value
    }

    /// Replaces the value for later `get` calls.
    pub(crate) fn replace(&self, value: T) {
        let _replacing = self.replacing.lock();
        let added = self.last().next.set(Box::new(Link::new(value)));
        assert!(added.is_ok(), "nobody else replaces meanwhile");
    }

    #[inline]
    fn last(&self) -> &Link<T> {
        let mut link = &self.first;
        while let Some(next) = link.next.get() {
            link = next;
        }
        link
    }
}

impl<T> Link<T> {
    fn new(value: T) -> Self {
        Self { value, next: OnceLock::new() }
    }
}

impl<T> Drop for Current<T> {
    /// Drops the links in a loop: recursion over a long chain would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.first.next.take();
        while let Some(mut link) = next {
            next = link.next.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_get_the_newest_value_and_hold_the_value_they_got() {
        let newest = Current::new(String::from("a"));
        let first = newest.get();
        newest.replace(String::from("b"));
        newest.replace(String::from("c"));
        assert_eq!((&first[..], &newest.get()[..]), ("a", "c"));
    }

    #[test]
    fn however_many_values_there_were_they_go() {
        let newest = Current::new(0);
        let mut link = &newest.first;
        for value in 1..200_000 {
            link = link.next.get_or_init(|| Box::new(Link::new(value)));
        }
        assert_eq!(*newest.get(), 199_999);
        drop(newest);
    }
}
