//! Judges a table's load: whether it falls on few rows, which key field makes it so, and which
//! remedy spreads it (decision 0074).
//!
//! [`LoadProfile::judge`] reads the `evidence` from a sample, tests `hypotheses` with it, reports
//! the best supported one, and tries each `remedy` on the sample.

mod evidence;
mod hypotheses;
mod parts;
mod placement;
mod remedy;
#[cfg(test)]
mod tests;
mod text;

use rowhouse_model::{Bytes, HeatBucket, HeatReport, HeatSample, HotRow, RowRange, thinned};

use crate::KeySchema;
use evidence::Evidence;
use hypotheses::Hypothesis;
pub use placement::{BusiestServer, Placement};
pub use remedy::{Remedy, RemedyKind};

/// A row, and the requests that it received at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLoad {
    /// The row.
    pub row: Bytes,
    /// Requests.
    pub load: u64,
}

/// A table's load over some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadProfile {
    /// Requests.
    pub total: u64,
    /// Requests in the minutes that have a sample.
    pub sampled_total: u64,
    /// A sample of these, in the order in which they came. Each counts for equally many.
    pub sample: Vec<HeatSample>,
    /// The busiest rows in the last minutes, the busiest first.
    pub rows: Vec<RowLoad>,
    /// The load on all rows in these minutes.
    pub rows_total: u64,
    /// The table's regions, in key order.
    pub regions: Vec<RowRange>,
    /// Where the regions are served.
    pub placement: Placement,
    /// The requests to each region, if the servers count only those.
    pub region_loads: Option<Vec<u64>>,
}

/// A request kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKind {
    /// Rows read.
    Reads,
    /// Mutations.
    Writes,
}

impl LoadKind {
    /// A name for labels: `reads` or `writes`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }

    /// Returns the requests with this kind.
    pub fn of(self, bucket: &HeatBucket) -> u64 {
        match self {
            Self::Reads => bucket.reads,
            Self::Writes => bucket.writes,
        }
    }
}

/// What a table's load looks like.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoadCause {
    /// It cannot be judged.
    Unknown(MissingEvidence),
    /// The load is spread over the keys.
    Even,
    /// One row has a large share.
    OneRow {
        /// The row, or the first bytes of a long one.
        row: Bytes,
        /// The row as text: its fields, if the table has a template.
        text: String,
    },
    /// New keys are after all earlier ones, or before them.
    Growing {
        /// The field whose values grow, if the table has a template.
        field: Option<String>,
        /// True if new keys come before the older ones.
        is_falling: bool,
    },
    /// Few values of the first stored field have most of the load.
    FewValues {
        /// The field.
        field: String,
        /// The values, as text, the busiest first: at most four.
        values: Vec<String>,
    },
    /// The keys with one beginning have a large share.
    HotPrefix {
        /// The beginning.
        prefix: HotPrefix,
    },
    /// The keys with one beginning have a large share for a short time.
    Burst {
        /// The beginning.
        prefix: HotPrefix,
        /// In how many milliseconds most of these requests came.
        length_millis: i64,
        /// The share of the load in this time.
        share_then: f64,
    },
    /// The load is spread over the keys, but not over the regions.
    UnfitBounds {
        /// The first key of the busiest region, as text.
        start: String,
        /// The key after the last one.
        stop: String,
    },
    /// The load is spread over the regions, but these are on too few region servers.
    Placement {
        /// The busiest server's address.
        server: String,
    },
}

impl LoadCause {
    /// A name for labels: `growing`, `hot_prefix`. Names never change.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "unknown",
            Self::Even => "even",
            Self::OneRow { .. } => "one_row",
            Self::Growing { .. } => "growing",
            Self::FewValues { .. } => "few_values",
            Self::HotPrefix { .. } => "hot_prefix",
            Self::Burst { .. } => "burst",
            Self::UnfitBounds { .. } => "unfit_bounds",
            Self::Placement { .. } => "placement",
        }
    }

    /// All names, in the order of the variants.
    pub const NAMES: [&'static str; 9] = [
        "unknown",
        "even",
        "one_row",
        "growing",
        "few_values",
        "hot_prefix",
        "burst",
        "unfit_bounds",
        "placement",
    ];
}

/// The beginning of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotPrefix {
    /// The field that has one value there, if the table has a template.
    pub field: Option<String>,
    /// The value, or the first bytes of the keys, as text.
    pub value: String,
}

/// Why a load cannot be judged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MissingEvidence {
    /// There are too few requests.
    Requests {
        /// How many there are.
        count: u64,
        /// How many a judgement needs.
        needed: u64,
    },
    /// Most of the requests were measured without a sample of their keys: by an earlier version.
    Sample,
    /// There are too few requests in the sample.
    SampleSize {
        /// How many there are.
        count: usize,
        /// How many a judgement needs.
        needed: usize,
    },
    /// The servers count requests by region, without keys and times.
    Keys,
    /// The sample is too small to decide about this cause.
    Certainty {
        /// The name of the cause ([`LoadCause::name`]).
        cause: &'static str,
        /// The requests in the sample.
        count: usize,
    },
}

/// A judgement about a table's load.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadVerdict {
    /// What the load looks like.
    pub cause: LoadCause,
    /// The load share, between 0 and 1, that the cause accounts for.
    pub share: f64,
    /// How likely the cause's share is above the threshold, or for an even load all shares below
    /// theirs: between 0.8 and 0.99, and 0 if the load cannot be judged.
    pub confidence: f64,
    /// The share of the region with the most load; `None` if it is not measured.
    pub region_share: Option<f64>,
    /// How many regions the table has.
    pub regions: usize,
    /// The region server with the most load; `None` if it is not measured, and with fewer than two
    /// servers.
    pub server: Option<BusiestServer>,
    /// Remedies that lower the busiest share of this load, the cheapest first.
    pub remedies: Vec<Remedy>,
}

impl LoadVerdict {
    /// Returns the template that spreads the load, if one does.
    pub fn cure(&self) -> Option<&str> {
        self.remedies.iter().find_map(|remedy| match &remedy.kind {
            RemedyKind::Key { template, .. } => Some(&template[..]),
            RemedyKind::Split { .. } | RemedyKind::Move { .. } => None,
        })
    }
}

/// The longest time over which hot rows are counted.
const HOT_ROW_MILLIS: i64 = 10 * 60 * 1000;
/// Rows in a sample with this many bytes may be longer.
const ROW_BYTES_MAX: usize = 128;
/// Requests below which there is no judgement.
const LOAD_MIN: u64 = 1_000;
/// Requests in a sample below which there is no judgement, and how many are looked at.
const SAMPLE_MIN: usize = 100;
const SAMPLE_MAX: usize = 1_024;
/// The confidence below which a cause is not reported, nor an even load.
const CONFIDENCE_MIN: f64 = 0.8;

impl LoadProfile {
    /// Returns the profile for a report's reads or writes.
    pub fn of_heat(report: &HeatReport, kind: LoadKind, regions: Vec<RowRange>) -> Self {
        let is_write = kind == LoadKind::Writes;
        let load_of = |buckets: &[HeatBucket]| buckets.iter().map(|it| kind.of(it)).sum::<u64>();
        let mut total = 0;
        let mut sampled_total = 0;
        let mut weighted = Vec::new();
        for column in &report.columns {
            let load = load_of(&column.buckets);
            let sample = column.sample.iter().filter(|request| request.is_write == is_write);
            let count = sample.clone().count();
            total += load;
            sampled_total += if count > 0 { load } else { 0 };
            weighted.extend(sample.map(|request| (load as f64 / count as f64, request.clone())));
        }
        let row = |it: &HotRow| {
            let load = if is_write { it.writes } else { it.reads };
            RowLoad { row: it.row.clone(), load: load.saturating_sub(it.overestimate) }
        };
        let mut rows: Vec<_> = report.hot_rows.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.load));
        let end = report.columns.iter().map(|it| it.start_millis + it.length_millis).max();
        let since = end.unwrap_or(0) - HOT_ROW_MILLIS;
        let recent = report.columns.iter().filter(|column| column.start_millis >= since);
        let by_region = report.columns.first().filter(|_| report.is_by_region);
        Self {
            total,
            sampled_total,
            sample: thinned(weighted, SAMPLE_MAX),
            rows,
            rows_total: recent.map(|column| load_of(&column.buckets)).sum(),
            region_loads: by_region
                .map(|column| column.buckets.iter().map(|it| kind.of(it)).collect()),
            regions,
            placement: Placement::default(),
        }
    }

    /// Returns the profiles for a report's writes and reads, of regions that are served there.
    pub fn of_kinds(
        report: &HeatReport,
        regions: &[RowRange],
        placement: &Placement,
    ) -> [(LoadKind, Self); 2] {
        [LoadKind::Writes, LoadKind::Reads].map(|kind| {
            let profile = Self::of_heat(report, kind, regions.to_vec());
            (kind, Self { placement: placement.clone(), ..profile })
        })
    }

    /// Judges the load. `schema` is the table's template, if it has one.
    pub fn judge(&self, schema: Option<&KeySchema>) -> LoadVerdict {
        let (mut verdict, chosen) = self.tested(schema);
        if let Some((evidence, chosen)) = chosen {
            verdict.remedies = remedy::remedies(&evidence, &chosen, verdict.region_share);
        }
        verdict
    }

    /// As [`LoadProfile::judge`], but tries no remedies, which takes most of the time.
    pub fn cause(&self, schema: Option<&KeySchema>) -> LoadVerdict {
        self.tested(schema).0
    }

    /// Returns the verdict without remedies, and what it was made from unless it is unknown.
    fn tested<'p>(
        &'p self,
        schema: Option<&'p KeySchema>,
    ) -> (LoadVerdict, Option<(Evidence<'p>, Hypothesis)>) {
        let mut verdict = LoadVerdict {
            cause: LoadCause::Even,
            share: 0.0,
            confidence: 0.0,
            region_share: self.region_share(),
            regions: self.regions.len(),
            server: self.busiest_server(),
            remedies: Vec::new(),
        };
        if let Some(missing) = self.missing() {
            verdict.cause = LoadCause::Unknown(missing);
            return (verdict, None);
        }
        let evidence = Evidence::new(self, schema);
        let chosen = match hypotheses::choose(&evidence, verdict.region_share) {
            Ok(chosen) => chosen,
            Err((cause, count)) => {
                verdict.cause = LoadCause::Unknown(MissingEvidence::Certainty { cause, count });
                return (verdict, None);
            }
        };
        verdict.cause = chosen.cause.clone();
        verdict.share = chosen.share;
        verdict.confidence = chosen.confidence;
        (verdict, Some((evidence, chosen)))
    }

    fn missing(&self) -> Option<MissingEvidence> {
        if self.total < LOAD_MIN {
            return Some(MissingEvidence::Requests { count: self.total, needed: LOAD_MIN });
        }
        if self.region_loads.is_some() {
            return Some(MissingEvidence::Keys);
        }
        if self.sampled_total < self.total / 2 {
            return Some(MissingEvidence::Sample);
        }
        let count = self.sample.len();
        (count < SAMPLE_MIN).then_some(MissingEvidence::SampleSize { count, needed: SAMPLE_MIN })
    }

    /// Returns the share of the region with the most load; `None` if it is not known.
    fn region_share(&self) -> Option<f64> {
        let loads = self.region_counts()?;
        let sum: u64 = loads.iter().sum();
        (sum > 0).then(|| loads.into_iter().max().unwrap_or(0) as f64 / sum as f64)
    }

    /// Returns the requests to each region, in the sample or as the servers count them; `None` if
    /// they are not known.
    fn region_counts(&self) -> Option<Vec<u64>> {
        match &self.region_loads {
            Some(by_region) => Some(by_region.clone()),
            None => self.counts_of(self.sample.iter()),
        }
    }

    /// Returns how many of these requests are for each region.
    fn counts_of<'r>(&self, requests: impl Iterator<Item = &'r HeatSample>) -> Option<Vec<u64>> {
        let mut counts = vec![0; self.regions.len()];
        for request in requests {
            counts[self.region_of(&request.row)?] += 1;
        }
        Some(counts)
    }

    /// Returns the position of a row's region.
    fn region_of(&self, row: &[u8]) -> Option<usize> {
        self.regions.partition_point(|region| region.start[..] <= *row).checked_sub(1)
    }
}
