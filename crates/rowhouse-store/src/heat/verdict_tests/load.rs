//! A labelled load: requests with times and keys, and the verdict that is right for them.

use rowhouse_model::{Bytes, RowRange};
use rowhouse_schema::KeySchema;

/// The verdict that is right for a load, by how the load was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Even,
    /// New keys come after all others, or before them. The field is `None` without a template.
    Growing(Option<&'static str>),
    FewValues(&'static str),
    OneRow(Bytes),
    /// The field is `None` without a template.
    HotPrefix(Option<&'static str>),
    Burst(Option<&'static str>),
    UnfitBounds,
    TooLittle,
}

impl Label {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Growing(_) => "growing",
            Self::FewValues(_) => "few values",
            Self::OneRow(_) => "one row",
            Self::HotPrefix(_) => "hot prefix",
            Self::Burst(_) => "burst",
            Self::UnfitBounds => "unfit bounds",
            Self::TooLittle => "too little",
        }
    }
}

/// A request to a table.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) at_millis: i64,
    pub(super) row: Bytes,
    /// True for a request of the kind that is judged.
    pub(super) is_judged: bool,
    /// The rows that a scan reads from there on; otherwise 1.
    pub(super) rows: u64,
}

/// A load, and all that a verdict may depend on.
#[derive(Debug)]
pub(super) struct LabelledLoad {
    pub(super) label: Label,
    pub(super) begun_millis: i64,
    pub(super) template: Option<String>,
    pub(super) regions: Vec<RowRange>,
    /// By time.
    pub(super) requests: Vec<Request>,
    pub(super) judges_writes: bool,
    /// The time from the last request to the verdict.
    pub(super) silent_millis: i64,
    /// True if the store is closed and opened before the verdict.
    pub(super) is_reopened: bool,
}

impl LabelledLoad {
    pub(super) fn schema(&self) -> Option<KeySchema> {
        self.template.as_ref().map(|template| KeySchema::parse(template).unwrap())
    }

    /// Returns the keys of the judged requests, by time.
    pub(super) fn judged(&self) -> Vec<Bytes> {
        let judged = self.requests.iter().filter(|request| request.is_judged);
        judged.map(|request| request.row.clone()).collect()
    }
}

/// A pseudo-random number generator (SplitMix64) with the draws that loads need.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x6a09_e667_f3bc_c908)
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns a number from 0 to 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn share(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// Returns true with this probability.
    pub(super) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// Returns a number between the bounds whose logarithm is even.
    pub(super) fn scale(&mut self, low: u64, high: u64) -> u64 {
        let ratio = high as f64 / low as f64;
        (low as f64 * ratio.powf(self.unit())) as u64
    }
}
