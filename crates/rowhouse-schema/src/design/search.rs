//! The search for designs: every key with sets of indexes, composed from estimates of single
//! tables.
//!
//! A question reads about the same by an index whatever the key is, so indexes are estimated under
//! one key first. The best combinations are then estimated exactly.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use rowhouse_model::{Error, ErrorKind, Result};

use super::estimate::{DesignEstimate, Estimator, TableEstimate};
use super::rank::two_digits;
use super::reading::Way;
use super::table_design::Design;
use super::workload::Workload;

/// Combinations of a key and indexes that are estimated exactly.
const COMBINATIONS: usize = 80;
/// Indexes of one design.
const INDEXES_MAX: usize = 4;
/// Indexes that are combined: those that are best alone under the best key. All pairs of them are
/// tried under each key.
const COMBINED_MAX: usize = 64;

/// A key or a combination with indexes, by its estimate; the least is the best.
#[derive(Clone, Debug, PartialEq)]
struct Candidate {
    breaks_limit: bool,
    score: f64,
    key: usize,
    /// Places of the indexes, in order.
    indexes: Vec<usize>,
}

/// Keys and indexes with their estimates.
pub(super) struct Search<'s> {
    workload: &'s Workload,
    estimator: &'s Estimator,
    /// Returns false when the search has to stop.
    goes_on: &'s dyn Fn() -> bool,
    keys: Vec<(Design, TableEstimate)>,
    declarations: Vec<String>,
    /// The indexes under the best key.
    indexes: Vec<TableEstimate>,
    /// Indexes under other keys, by the places of the key and of the index.
    exact: BTreeMap<(usize, usize), Option<TableEstimate>>,
}

impl<'s> Search<'s> {
    /// Estimates the keys, and the indexes with these declarations.
    pub(super) fn new(
        workload: &'s Workload,
        estimator: &'s Estimator,
        keys: Vec<Design>,
        declarations: Vec<String>,
        goes_on: &'s dyn Fn() -> bool,
    ) -> Result<Self> {
        let mut search = Self {
            workload,
            estimator,
            goes_on,
            keys: Vec::new(),
            declarations: Vec::new(),
            indexes: Vec::new(),
            exact: BTreeMap::new(),
        };
        for design in keys {
            let table = search.table(&design, 0)?;
            search.keys.push((design, table));
        }
        let keys = 0..search.keys.len();
        let keys = keys.map(|key| search.candidate(key, Vec::new())).collect::<Result<Vec<_>>>()?;
        let Some(best) = keys.into_iter().min_by(compare) else { return Ok(search) };
        let mut alone: Vec<Candidate> = Vec::new();
        for declaration in declarations {
            let Some(table) = search.index(best.key, &declaration)? else { continue };
            search.indexes.push(table);
            search.declarations.push(declaration);
            alone.push(search.candidate(best.key, vec![search.indexes.len() - 1])?);
            let places = alone.iter().enumerate();
            let worst = places.max_by(|(_, one), (_, other)| compare(one, other));
            if let Some((worst, _)) = worst.filter(|_| alone.len() > COMBINED_MAX) {
                alone.remove(worst);
                search.indexes.remove(worst);
                search.declarations.remove(worst);
            }
        }
        Ok(search)
    }

    /// Returns designs with their estimates: all keys alone, and the best combinations with
    /// indexes.
    pub(super) fn designs(mut self) -> Result<Vec<(Design, DesignEstimate)>> {
        let mut best = BestCandidates::default();
        for key in 0..self.keys.len() {
            self.combine(key, &mut best)?;
        }
        let mut designs = Vec::new();
        for (design, table) in &self.keys {
            designs.push((design.clone(), self.estimator.of_tables(&[table])));
        }
        for candidate in best.sorted() {
            designs.extend(self.exact(&candidate)?);
        }
        Ok(designs)
    }

    /// Adds combinations of a key with one index, with two, and with more as long as each lowers
    /// the score.
    fn combine(&self, key: usize, best: &mut BestCandidates) -> Result<()> {
        let all = 0..self.indexes.len();
        let mut least: Option<Candidate> = None;
        for first in all.clone() {
            let seconds = all.clone().skip(first + 1).map(|second| vec![first, second]);
            for indexes in [vec![first]].into_iter().chain(seconds) {
                let candidate = self.candidate(key, indexes)?;
                if least.as_ref().is_none_or(|least| compare(&candidate, least).is_lt()) {
                    least = Some(candidate.clone());
                }
                best.add(candidate);
            }
        }
        while let Some(candidate) =
            least.take().filter(|candidate| candidate.indexes.len() < INDEXES_MAX)
        {
            let others = all.clone().filter(|at| !candidate.indexes.contains(at));
            let more = others.map(|at| {
                let mut indexes = candidate.indexes.clone();
                indexes.push(at);
                indexes.sort_unstable();
                self.candidate(key, indexes)
            });
            let more = more.collect::<Result<Vec<_>>>()?;
            let lower = more.into_iter().min_by(compare);
            least = lower.filter(|lower| compare(lower, &candidate).is_lt());
            if let Some(candidate) = &least {
                best.add(candidate.clone());
            }
        }
        Ok(())
    }

    /// Estimates a combination as if its indexes were those under the best key, unless the search
    /// has to stop.
    fn candidate(&self, key: usize, indexes: Vec<usize>) -> Result<Candidate> {
        check(self.goes_on)?;
        let mut tables = vec![&self.keys[key].1];
        tables.extend(indexes.iter().map(|at| &self.indexes[*at]));
        let estimate = self.estimator.of_tables(&tables);
        let breaks_limit = !estimate.broken_limits(self.workload).is_empty();
        Ok(Candidate { breaks_limit, score: estimate.score(), key, indexes })
    }

    /// Estimates a combination; `None` if it is no valid design, or has an index that no question
    /// is read by.
    fn exact(&mut self, candidate: &Candidate) -> Result<Option<(Design, DesignEstimate)>> {
        for at in &candidate.indexes {
            if !self.exact.contains_key(&(candidate.key, *at)) {
                let table = self.index(candidate.key, &self.declarations[*at])?;
                self.exact.insert((candidate.key, *at), table);
            }
        }
        let (key, table) = &self.keys[candidate.key];
        let declarations: Vec<&str> =
            candidate.indexes.iter().map(|at| self.declarations[*at].as_str()).collect();
        let key = key.key().to_string();
        let Ok(design) = Design::new(self.workload, &key, &declarations.join("\n")) else {
            return Ok(None);
        };
        let mut tables = vec![table];
        for at in &candidate.indexes {
            let Some(Some(table)) = self.exact.get(&(candidate.key, *at)) else { return Ok(None) };
            tables.push(table);
        }
        let estimate = self.estimator.of_tables(&tables);
        let ways: BTreeSet<&Way> =
            estimate.questions.iter().map(|question| &question.way).collect();
        let is_read = design
            .indexes()
            .iter()
            .all(|index| ways.contains(&Way::Index(index.name().to_owned())));
        Ok(is_read.then_some((design, estimate)))
    }

    /// Estimates an index under a key; `None` if the key cannot have it.
    fn index(&self, key: usize, declaration: &str) -> Result<Option<TableEstimate>> {
        let key = self.keys[key].0.key().to_string();
        let Ok(design) = Design::new(self.workload, &key, declaration) else { return Ok(None) };
        self.table(&design, 1).map(Some)
    }

    /// As [`Estimator::table`], unless the search has to stop.
    fn table(&self, design: &Design, at: usize) -> Result<TableEstimate> {
        check(self.goes_on)?;
        self.estimator.table(design, at)
    }
}

/// Checks that a search goes on.
///
/// # Errors
/// `Timeout` if it has to stop.
pub(super) fn check(goes_on: &dyn Fn() -> bool) -> Result<()> {
    if !goes_on() {
        return Err(Error::new(ErrorKind::Timeout, "the search for designs was stopped"));
    }
    Ok(())
}

/// The [`COMBINATIONS`] best candidates; of equal ones those that were added first.
#[derive(Default)]
struct BestCandidates {
    /// At most twice as many, sorted as far as they have been cut.
    candidates: Vec<Candidate>,
}

impl BestCandidates {
    fn add(&mut self, candidate: Candidate) {
        self.candidates.push(candidate);
        if self.candidates.len() >= 2 * COMBINATIONS {
            self.cut();
        }
    }

    fn sorted(mut self) -> Vec<Candidate> {
        self.cut();
        self.candidates
    }

    fn cut(&mut self) {
        // A stable sort: equal ones stay in the order in which they were added.
        self.candidates.sort_by(compare);
        self.candidates.truncate(COMBINATIONS);
    }
}

fn compare(one: &Candidate, other: &Candidate) -> Ordering {
    one.breaks_limit
        .cmp(&other.breaks_limit)
        .then_with(|| two_digits(one.score).total_cmp(&two_digits(other.score)))
        .then_with(|| one.indexes.len().cmp(&other.indexes.len()))
        .then_with(|| one.score.total_cmp(&other.score))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_candidates_are_the_first_of_all_sorted(
            scores in vec((0_u8..30, 1_usize..3, any::<bool>()), 0..700),
        ) {
            let candidate = |(key, (score, count, breaks_limit)): (usize, (u8, usize, bool))| {
                Candidate { breaks_limit, score: f64::from(score), key, indexes: vec![0; count] }
            };
            let mut all: Vec<_> = scores.into_iter().enumerate().map(candidate).collect();
            let mut best = BestCandidates::default();
            for candidate in all.clone() {
                best.add(candidate);
                prop_assert!(best.candidates.len() < 2 * COMBINATIONS);
            }
            all.sort_by(compare);
            all.truncate(COMBINATIONS);
            prop_assert_eq!(best.sorted(), all);
        }
    }

    /// A workload with so many columns, and questions about the last ones.
    fn workload(count: usize, questions: usize) -> Workload {
        let columns = (0..count).map(|at| {
            let is_read = at + questions >= count;
            let question = if is_read { format!("ask c{at} = ? : 9/s\n") } else { String::new() };
            format!("column d:c{at} c{at} u16: 50 values\n{question}")
        });
        let text = format!("field n u32: sequence\nrows 60\n{}", columns.collect::<String>());
        Workload::parse(&text).unwrap()
    }

    fn indexes(columns: usize) -> Vec<String> {
        (0..columns).map(|at| format!("by_c{at} [c{at}]")).collect()
    }

    #[test]
    fn only_the_best_indexes_are_combined() {
        let workload = workload(COMBINED_MAX + 3, 2);
        let estimator = Estimator::new(&workload).unwrap();
        let key = Design::new(&workload, "[n u32]", "").unwrap();
        let declarations = indexes(COMBINED_MAX + 3);
        let search =
            Search::new(&workload, &estimator, vec![key], declarations.clone(), &|| true).unwrap();
        assert_eq!(search.indexes.len(), COMBINED_MAX);
        // Those that no question is read by only cost writes; the last of them are left out.
        let best = [&declarations[..COMBINED_MAX - 2], &declarations[COMBINED_MAX + 1..]].concat();
        assert_eq!(search.declarations, best);
    }

    #[test]
    fn a_search_stops_between_combinations() {
        let workload = workload(6, 6);
        let estimator = Estimator::new(&workload).unwrap();
        let key = Design::new(&workload, "[n u32]", "").unwrap();
        let checks_left = Cell::new(usize::MAX);
        let goes_on = || {
            checks_left.set(checks_left.get() - 1);
            checks_left.get() > 0
        };
        let search = Search::new(&workload, &estimator, vec![key], indexes(6), &goes_on).unwrap();
        checks_left.set(5);
        let stopped = search.combine(0, &mut BestCandidates::default()).unwrap_err();
        assert_eq!(stopped.kind(), ErrorKind::Timeout);
    }
}
