//! Searches that are retained for the next page.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind, Result};

use crate::find::Matches;

/// How long a search is retained after the last page.
const RETAINED: Duration = Duration::from_secs(300);

/// How long a search that was read to the end is retained, for a client that lost the answer.
const RETAINED_AT_END: Duration = Duration::from_secs(60);

/// A search that [`PinnedViews`] keeps.
pub trait Pinned {
    /// Returns true if the search's table was dropped, or replaced by another one with the same
    /// name: truncated, restored, or created again. The search's rows are not the table's rows any
    /// more.
    fn is_over(&self) -> bool;
}

impl Pinned for Matches {
    fn is_over(&self) -> bool {
        Self::is_over(self)
    }
}

/// The searches by which pages by score continue: scores of another search would differ after
/// changes. Each is retained for five minutes after the last page, and the oldest ends earlier
/// where there are more than a limit. It ends with the table.
pub struct PinnedViews<F> {
    views: Mutex<Views<F>>,
    views_max: usize,
}

struct Views<F> {
    next_id: u64,
    pinned: Vec<PinnedView<F>>,
}

struct PinnedView<F> {
    until: Instant,
    id: u64,
    search: Arc<F>,
}

impl<F: Pinned> PinnedViews<F> {
    /// Makes the place for at most `views_max` searches.
    pub fn new(views_max: usize) -> Self {
        // Tokens outlive the process, and a token from an earlier process must not reach another
        // search.
        let next_id = RandomState::new().hash_one(0) >> 1;
        let views = Views { next_id, pinned: Vec::new() };
        Self { views: Mutex::new(views), views_max }
    }

    /// Retains a search from now on, and returns the id. A search that is retained already has one.
    pub fn pin(&self, id: Option<u64>, search: Arc<F>) -> u64 {
        let mut views = self.views.lock();
        views.forget_old();
        let id = id.unwrap_or_else(|| {
            views.next_id += 1;
            views.next_id
        });
        views.pinned.retain(|view| view.id != id);
        if views.pinned.len() >= self.views_max {
            let first = (0..views.pinned.len()).min_by_key(|nth| views.pinned[*nth].until);
            first.into_iter().for_each(|nth| drop(views.pinned.swap_remove(nth)));
        }
        views.pinned.push(PinnedView { until: Instant::now() + RETAINED, id, search });
        id
    }

    /// Returns a retained search.
    ///
    /// # Errors
    /// `UnknownScanner` if it is not retained any more.
    pub fn get(&self, id: u64) -> Result<Arc<F>> {
        let mut views = self.views.lock();
        views.forget_old();
        let view = views.pinned.iter().find(|view| view.id == id);
        view.map(|view| Arc::clone(&view.search)).ok_or_else(ended)
    }

    /// Retains a search that was read to the end for a minute at most.
    pub fn end(&self, id: u64) {
        let until = Instant::now() + RETAINED_AT_END;
        let mut views = self.views.lock();
        for view in views.pinned.iter_mut().filter(|view| view.id == id) {
            view.until = view.until.min(until);
        }
    }

    /// Ends the searches whose time is over, or whose tables are gone. Other calls do so too.
    pub fn expire(&self) {
        self.views.lock().forget_old();
    }

    /// Ends all searches.
    pub fn clear(&self) {
        self.views.lock().pinned.clear();
    }
}

impl<F: Pinned> Views<F> {
    fn forget_old(&mut self) {
        let now = Instant::now();
        self.pinned.retain(|view| view.until > now && !view.search.is_over());
    }
}

fn ended() -> Error {
    let message = format!(
        "the pages by score have ended: a page is continued within {} s, in the process that \
         returned the page before it, and while the table is neither dropped, truncated nor restored",
        RETAINED.as_secs()
    );
    Error::new(ErrorKind::UnknownScanner, message)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Debug)]
    struct Search(&'static str, AtomicBool);

    impl Pinned for Search {
        fn is_over(&self) -> bool {
            self.1.load(Ordering::Relaxed)
        }
    }

    fn search(name: &'static str) -> Arc<Search> {
        Arc::new(Search(name, AtomicBool::new(false)))
    }

    #[test]
    fn search_is_retained_until_it_ends_or_too_many_follow() {
        let views = PinnedViews::new(2);
        let one = views.pin(None, search("one"));
        let two = views.pin(None, search("two"));
        assert_eq!(views.pin(Some(one), search("one")), one, "it keeps its id");
        let three = views.pin(None, search("three"));
        assert_eq!(views.get(one).unwrap().0, "one");
        assert_eq!(views.get(two).unwrap_err().kind(), ErrorKind::UnknownScanner, "the oldest");
        views.end(three);
        assert_eq!(views.get(three).unwrap().0, "three", "a call that is repeated finds it");
        let four = views.pin(None, search("four"));
        assert!(views.get(three).is_err(), "it was the first to end");
        assert_eq!((views.get(one).unwrap().0, views.get(four).unwrap().0), ("one", "four"));
        views.clear();
        assert!(views.get(four).is_err());
    }

    #[test]
    fn search_ends_with_its_table() {
        let views = PinnedViews::new(2);
        let dropped = search("found");
        let id = views.pin(None, Arc::clone(&dropped));
        assert!(views.get(id).is_ok());
        dropped.1.store(true, Ordering::Relaxed);
        assert_eq!(views.get(id).unwrap_err().kind(), ErrorKind::UnknownScanner);
        assert_eq!(Arc::strong_count(&dropped), 1, "it is dropped");
    }

    #[test]
    fn ids_of_another_process_are_unknown() {
        let before = PinnedViews::new(2);
        let after = PinnedViews::new(2);
        let id = before.pin(None, search("before"));
        after.pin(None, search("after"));
        assert!(after.get(id).is_err());
    }
}
