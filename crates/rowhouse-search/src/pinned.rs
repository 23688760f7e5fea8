//! Searches that are kept for the next page.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind, Result};

/// The time for which a search is kept after its last page.
const KEPT: Duration = Duration::from_secs(300);

/// The time for which a search that was read to its end is kept, for a client that lost the answer.
const KEPT_AT_END: Duration = Duration::from_secs(60);

/// The searches by which pages by score continue: scores of another search would differ after
/// changes. Each is kept for five minutes after its last page, and the oldest ends earlier where
/// there are more than a limit.
pub struct PinnedViews<F> {
    views: Mutex<Views<F>>,
    views_max: usize,
}

struct Views<F> {
    next_id: u64,
    kept: Vec<Kept<F>>,
}

struct Kept<F> {
    until: Instant,
    id: u64,
    found: Arc<F>,
}

impl<F> PinnedViews<F> {
    /// Makes the place for at most `views_max` searches.
    pub fn new(views_max: usize) -> Self {
        // Tokens outlive the process, and one of an earlier process must not reach another search.
        let next_id = RandomState::new().hash_one(0) >> 1;
        let views = Views { next_id, kept: Vec::new() };
        Self { views: Mutex::new(views), views_max }
    }

    /// Keeps a search from now on, and returns its id. A search that is kept already has one.
    pub fn pin(&self, id: Option<u64>, found: Arc<F>) -> u64 {
        let mut views = self.views.lock();
        views.forget_old();
        let id = id.unwrap_or_else(|| {
            views.next_id += 1;
            views.next_id
        });
        views.kept.retain(|kept| kept.id != id);
        if views.kept.len() >= self.views_max {
            let first = (0..views.kept.len()).min_by_key(|nth| views.kept[*nth].until);
            first.into_iter().for_each(|nth| drop(views.kept.swap_remove(nth)));
        }
        views.kept.push(Kept { until: Instant::now() + KEPT, id, found });
        id
    }

    /// Returns a search that is kept.
    ///
    /// # Errors
    /// `UnknownScanner` if it is not kept any more.
    pub fn get(&self, id: u64) -> Result<Arc<F>> {
        let mut views = self.views.lock();
        views.forget_old();
        let kept = views.kept.iter().find(|kept| kept.id == id);
        kept.map(|kept| Arc::clone(&kept.found)).ok_or_else(ended)
    }

    /// Keeps a search that was read to its end for a minute at most.
    pub fn end(&self, id: u64) {
        let until = Instant::now() + KEPT_AT_END;
        let mut views = self.views.lock();
        for kept in views.kept.iter_mut().filter(|kept| kept.id == id) {
            kept.until = kept.until.min(until);
        }
    }

    /// Ends the searches whose time is over. Other calls do so too.
    pub fn expire(&self) {
        self.views.lock().forget_old();
    }

    /// Ends all searches.
    pub fn clear(&self) {
        self.views.lock().kept.clear();
    }
}

impl<F> Views<F> {
    fn forget_old(&mut self) {
        let now = Instant::now();
        self.kept.retain(|kept| kept.until > now);
    }
}

fn ended() -> Error {
    let message = format!(
        "the pages by score have ended: a page is continued within {} s, in the process that \
         returned the page before it",
        KEPT.as_secs()
    );
    Error::new(ErrorKind::UnknownScanner, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_found_by_its_id_until_it_ends_or_too_many_come_after_it() {
        let views = PinnedViews::new(2);
        let one = views.pin(None, Arc::new("one"));
        let two = views.pin(None, Arc::new("two"));
        assert_eq!(views.pin(Some(one), Arc::new("one")), one, "it keeps its id");
        let three = views.pin(None, Arc::new("three"));
        assert_eq!(*views.get(one).unwrap(), "one");
        assert_eq!(views.get(two).unwrap_err().kind(), ErrorKind::UnknownScanner, "the oldest");
        views.end(three);
        assert_eq!(*views.get(three).unwrap(), "three", "a call that is repeated finds it");
        let four = views.pin(None, Arc::new("four"));
        assert!(views.get(three).is_err(), "it was the first to end");
        assert_eq!((*views.get(one).unwrap(), *views.get(four).unwrap()), ("one", "four"));
        views.clear();
        assert!(views.get(four).is_err());
    }

    #[test]
    fn ids_of_another_process_are_unknown() {
        let (before, after) = (PinnedViews::new(2), PinnedViews::new(2));
        let id = before.pin(None, Arc::new("before"));
        after.pin(None, Arc::new("after"));
        assert!(after.get(id).is_err());
    }
}
