//! Compares [`Visible`] with HBase's own query matchers. `compat/visible/run.sh` made the golden
//! file and describes the format.

use std::borrow::Cow;

use rowhouse_model::{
    Cell, CellKind, FamilyDescriptor, KeepDeletedCells, Qualifiers, TimeRange, Timestamp,
};

use super::{parse, shown};
use crate::compact::{CompactionFilter, is_plain};
use crate::compaction_policy::CompactionKind;
use crate::read::{Rules, Verdict, Visible};

pub(super) const GOLDEN: &str = include_str!("../../../../tests/fixtures/visible.txt");

/// One line in the golden file.
pub(super) struct Case<'a> {
    line: &'a str,
    family: FamilyDescriptor,
    now_millis: i64,
    pub(super) cells: Vec<Cell>,
    query: Vec<&'a str>,
    /// Indexes of the cells that HBase includes.
    included: Vec<usize>,
}

impl<'a> Case<'a> {
    pub(super) fn parse(line: &'a str) -> Self {
        let [family, now, cells, query, included] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        Self {
            line,
            family: family_of(family),
            now_millis: now.parse().unwrap(),
            cells: cells.split(' ').map(parse).collect(),
            query: query.split(' ').collect(),
            included: included.split_whitespace().map(|at| at.parse().unwrap()).collect(),
        }
    }

    pub(super) fn is_read(&self) -> bool {
        matches!(self.query[0], "read" | "raw")
    }

    /// Returns the query's rules, without the query's filter.
    pub(super) fn rules(&self) -> Rules<'a> {
        match self.query[..] {
            ["major"] => self.merging(CompactionKind::Major),
            ["minor"] => self.merging(CompactionKind::Minor),
            [kind, versions, range, _, columns] => {
                let versions = versions.parse().unwrap();
                let range = range_of(range);
                let rules = match kind {
                    "raw" => Rules::raw(&self.family, range, versions, self.now_millis),
                    _ => Rules::read(&self.family, None, range, versions, self.now_millis),
                };
                Rules { qualifiers: columns_of(columns).map(Cow::Owned), ..rules }
            }
            _ => panic!("{}", self.line),
        }
    }

    fn merging(&self, kind: CompactionKind) -> Rules<'a> {
        let puts = self.cells.iter().filter(|cell| !cell.kind().is_delete());
        let earliest_put = puts.map(|cell| cell.timestamp().as_millis()).min();
        let earliest_put = earliest_put.unwrap_or(i64::MAX);
        Rules::compact(kind, &self.family, earliest_put, self.now_millis)
    }

    /// Returns the indexes of the cells included here.
    fn ours(&self) -> Vec<usize> {
        if self.query == ["minor"] {
            return self.left_by_minor_merge();
        }
        if self.query.get(3) != Some(&"odd") {
            return shown(self.rules(), &self.cells);
        }
        let (rules, versions) = self.rules().before_filter();
        self.odd_ones(rules, versions)
    }

    /// Returns the cells that a minor compaction leaves, with surplus versions dropped unless the
    /// family keeps them.
    fn left_by_minor_merge(&self) -> Vec<usize> {
        let keep =
            CompactionFilter::new(CompactionKind::Minor, &self.family, i64::MIN, self.now_millis);
        let mut keep = keep.dropping_surplus(&self.family, self.now_millis);
        let cells = self.cells.iter().enumerate();
        cells.filter(|(_, cell)| keep.keeps(&cell.view())).map(|(at, _)| at).collect()
    }

    /// Returns up to `versions` cells in each column that pass a filter on odd timestamps.
    fn odd_ones(&self, rules: Rules<'_>, versions: u32) -> Vec<usize> {
        let mut visible = Visible::new(rules);
        let mut seen: Vec<usize> = Vec::new();
        for (at, cell) in self.cells.iter().enumerate() {
            let verdict = visible.judge(&cell.view());
            let passed = matches!(verdict, Verdict::Include | Verdict::IncludeLast)
                && cell.timestamp().as_millis() % 2 == 1;
            let same = |seen: &&usize| self.cells[**seen].qualifier() == cell.qualifier();
            if passed && seen.iter().filter(same).count() < versions as usize {
                seen.push(at);
            }
        }
        seen
    }

    /// Whether the cells included here are HBase's, apart from the known differences.
    fn agrees(&self, ours: &[usize]) -> bool {
        let covers_by_sequence = self.family.new_version_behavior();
        let keeps_deleted = self.family.keep_deleted_cells() != KeepDeletedCells::False;
        match self.query[..] {
            // A minor compaction keeps more, and one of two equal markers (docs/decisions/0050):
            // markers after surplus versions, cells that one with its own TTL covers or makes
            // surplus, and all cells in families that are not plain.
            ["minor"] => {
                let is_there = |&at: &usize| ours.contains(&at) || self.is_marker_again(at);
                let puts = |all: &[usize]| {
                    let puts = all.iter().filter(|&&at| !self.cells[at].kind().is_delete());
                    puts.copied().collect::<Vec<_>>()
                };
                let same_puts =
                    is_plain(&self.family) && self.cells.iter().all(|it| it.tags().is_empty());
                self.included.iter().all(is_there)
                    && (!same_puts || puts(ours) == puts(&self.included))
            }
            // HBase counts a marker as a version here and drops versions that should be retained.
            ["major"] if covers_by_sequence && keeps_deleted => {
                self.included.iter().all(|at| ours.contains(at))
            }
            // HBase may drop a family marker after a column without qualifier here.
            ["major"] if keeps_deleted => {
                let of_family = |&at: &usize| {
                    let kind = self.cells[at].kind();
                    matches!(kind, CellKind::DeleteFamily | CellKind::DeleteFamilyVersion)
                };
                let others = |all: &[usize]| {
                    all.iter().copied().filter(|at| !of_family(at)).collect::<Vec<_>>()
                };
                others(ours) == others(&self.included)
                    && self.included.iter().filter(|at| of_family(at)).all(|at| ours.contains(at))
            }
            // For a requested column HBase may show one expired version more than MIN_VERSIONS.
            ["read", .., columns] if columns != "*" && self.family.versions_min() > 0 => {
                let expired =
                    |&&at: &&usize| self.cells[at].timestamp().as_millis() < self.now_millis - 1000;
                let (more, same): (Vec<_>, Vec<_>) =
                    self.included.iter().partition(|at| !ours.contains(at));
                same.into_iter().eq(ours) && more.iter().all(expired)
            }
            _ => ours == self.included,
        }
    }

    /// Whether the cell before it is the same marker.
    fn is_marker_again(&self, at: usize) -> bool {
        if at == 0 {
            return false;
        }
        let before = &self.cells[at - 1];
        let cell = &self.cells[at];
        cell.kind().is_delete() && cell.key() == before.key()
    }
}

fn family_of(text: &str) -> FamilyDescriptor {
    let [versions, versions_min, ttl, keep, deletes] = text.split(' ').collect::<Vec<_>>()[..]
    else {
        panic!("{text}");
    };
    let family = FamilyDescriptor::new("f")
        .unwrap()
        .attribute("VERSIONS", versions.to_owned())
        .attribute("MIN_VERSIONS", versions_min.to_owned())
        .attribute("KEEP_DELETED_CELLS", keep.to_owned())
        .attribute("NEW_VERSION_BEHAVIOR", if deletes == "sequence" { "TRUE" } else { "FALSE" });
    if ttl == "-" { family } else { family.attribute("TTL", ttl.to_owned()) }
}

fn range_of(text: &str) -> TimeRange {
    let (min, max) = text.split_once("..").unwrap();
    let at = |text: &str| Timestamp::from_millis(text.parse().unwrap()).unwrap();
    TimeRange::new(at(min), if max.is_empty() { Timestamp::LATEST } else { at(max) }).unwrap()
}

fn columns_of(text: &str) -> Option<Qualifiers> {
    let names = text.split(',').map(|name| name.strip_prefix('\''));
    names
        .map(|name| name.map(str::to_owned))
        .collect::<Option<Vec<_>>>()
        .map(|names| names.into_iter().collect())
}

#[test]
fn visible_cells_are_those_of_hbase() {
    let mut wrong = Vec::new();
    for case in GOLDEN.lines().map(Case::parse) {
        let ours = case.ours();
        if !case.agrees(&ours) {
            wrong.push(format!("{}\n    ours: {ours:?}", case.line));
        }
    }
    let count = wrong.len();
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{count} differ\n{}", wrong.join("\n"));
}
