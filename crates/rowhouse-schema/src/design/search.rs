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
        let best = (0..search.keys.len()).map(|key| search.candidate(key, Vec::new()));
        let Some(best) = best.min_by(compare) else { return Ok(search) };
        for declaration in declarations {
            if let Some(table) = search.index(best.key, &declaration)? {
                search.indexes.push(table);
                search.declarations.push(declaration);
            }
        }
        Ok(search)
    }

    /// Returns designs with their estimates: all keys alone, and the best combinations with
    /// indexes.
    pub(super) fn designs(mut self) -> Result<Vec<(Design, DesignEstimate)>> {
        let mut combinations: Vec<Candidate> = Vec::new();
        for key in 0..self.keys.len() {
            combinations.extend(self.combinations(key));
        }
        combinations.sort_by(compare);
        combinations.truncate(COMBINATIONS);
        let mut designs = Vec::new();
        for (design, table) in &self.keys {
            designs.push((design.clone(), self.estimator.of_tables(&[table])));
        }
        for candidate in combinations {
            designs.extend(self.exact(&candidate)?);
        }
        Ok(designs)
    }

    /// Returns combinations of a key with one index, with two, and with more as long as each lowers
    /// the score.
    fn combinations(&self, key: usize) -> Vec<Candidate> {
        let mut combinations = Vec::new();
        let all = 0..self.indexes.len();
        for first in all.clone() {
            combinations.push(self.candidate(key, vec![first]));
            let seconds = all.clone().skip(first + 1);
            combinations.extend(seconds.map(|second| self.candidate(key, vec![first, second])));
        }
        let mut best = combinations.iter().min_by(|a, b| compare(a, b)).cloned();
        while let Some(candidate) =
            best.take().filter(|candidate| candidate.indexes.len() < INDEXES_MAX)
        {
            let others = all.clone().filter(|at| !candidate.indexes.contains(at));
            let more = others.map(|at| {
                let mut indexes = candidate.indexes.clone();
                indexes.push(at);
                indexes.sort_unstable();
                self.candidate(key, indexes)
            });
            let least = more.min_by(compare);
            best = least.filter(|least| compare(least, &candidate) == Ordering::Less);
            combinations.extend(best.clone());
        }
        combinations.dedup();
        combinations
    }

    /// Estimates a combination as if its indexes were those under the best key.
    fn candidate(&self, key: usize, indexes: Vec<usize>) -> Candidate {
        let mut tables = vec![&self.keys[key].1];
        tables.extend(indexes.iter().map(|at| &self.indexes[*at]));
        let estimate = self.estimator.of_tables(&tables);
        let breaks_limit = !estimate.broken_limits(self.workload).is_empty();
        Candidate { breaks_limit, score: estimate.score(), key, indexes }
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
        if !(self.goes_on)() {
            return Err(Error::new(ErrorKind::Timeout, "the search for designs was stopped"));
        }
        self.estimator.table(design, at)
    }
}

fn compare(one: &Candidate, other: &Candidate) -> Ordering {
    one.breaks_limit
        .cmp(&other.breaks_limit)
        .then_with(|| two_digits(one.score).total_cmp(&two_digits(other.score)))
        .then_with(|| one.indexes.len().cmp(&other.indexes.len()))
        .then_with(|| one.score.total_cmp(&other.score))
}
