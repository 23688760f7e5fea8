//! Verdicts on labelled loads: how often they are right (`docs/heat.md` has the rates).

mod generator;
mod load;
mod recorded;

use std::collections::BTreeMap;

use rowhouse_schema::{LoadCause, LoadVerdict};

use load::{Label, LabelledLoad};
use recorded::verdict_on;

/// How often each label got each answer.
#[derive(Default)]
struct Matrix {
    counts: BTreeMap<(&'static str, String), u32>,
    right: u32,
    all: u32,
}

impl Matrix {
    fn add(&mut self, label: &Label, verdict: &LoadVerdict) -> bool {
        let is_right = is_right(label, &verdict.cause);
        let mut answer = name_of(&verdict.cause).to_owned();
        if !is_right && answer == label.name() {
            answer += ", wrong name";
        }
        *self.counts.entry((label.name(), answer)).or_default() += 1;
        self.right += u32::from(is_right);
        self.all += 1;
        is_right
    }

    fn print(&self) {
        for ((label, answer), count) in &self.counts {
            println!("{label:>14} -> {answer:<28} {count:>5}");
        }
        println!("right: {} of {}", self.right, self.all);
    }
}

fn name_of(cause: &LoadCause) -> &'static str {
    match cause {
        LoadCause::TooLittle => "too little",
        LoadCause::Even => "even",
        LoadCause::OneRow { .. } => "one row",
        LoadCause::Growing { .. } => "growing",
        LoadCause::FewValues { .. } => "few values",
        LoadCause::OneValue { is_burst: false, .. } => "hot prefix",
        LoadCause::OneValue { is_burst: true, .. } => "burst",
        _ => "other",
    }
}

/// Returns true if a verdict names the cause and the field with which a load was made.
fn is_right(label: &Label, cause: &LoadCause) -> bool {
    match (label, cause) {
        (Label::TooLittle, LoadCause::TooLittle) => true,
        (Label::Even, LoadCause::Even) => true,
        (Label::OneRow(row), LoadCause::OneRow { row: named }) => row == named,
        (Label::Growing(field), LoadCause::Growing { field: named, .. }) => {
            field.map(str::to_owned) == *named
        }
        (Label::FewValues(field), LoadCause::FewValues { field: named, .. }) => field == named,
        (Label::HotPrefix(field), LoadCause::OneValue { field: named, is_burst: false, .. }) => {
            field.is_some_and(|field| field == named)
        }
        (Label::Burst(field), LoadCause::OneValue { field: named, is_burst: true, .. }) => {
            field.is_some_and(|field| field == named)
        }
        _ => false,
    }
}

/// Judges the loads of these seeds; prints the wrong ones if `is_verbose`.
fn matrix(
    seeds: std::ops::Range<u64>,
    load: impl Fn(u64) -> LabelledLoad,
    is_verbose: bool,
) -> Matrix {
    let mut matrix = Matrix::default();
    for seed in seeds {
        let load = load(seed);
        let verdict = verdict_on(&load);
        if !matrix.add(&load.label, &verdict) && is_verbose {
            let template = load.template.as_deref().unwrap_or("no template");
            println!("{seed} {:?} {template} {}", load.label, load.regions.len());
            println!("    {verdict}");
        }
    }
    matrix
}

/// Prints the rates for the seeds in `ROWHOUSE_VERDICT_SEEDS`, such as `1000..2000`, and the false
/// alarms in as many even loads.
#[test]
#[ignore = "takes a minute in a release build: run by .ci/long"]
fn verdicts_on_many_loads() {
    let seeds = std::env::var("ROWHOUSE_VERDICT_SEEDS").unwrap_or_else(|_| "1000..2000".into());
    let (from, to) = seeds.split_once("..").expect("seeds are FROM..TO");
    let seeds = from.parse().unwrap()..to.parse().unwrap();
    let is_verbose = std::env::var_os("ROWHOUSE_VERDICT_VERBOSE").is_some();
    let all = matrix(seeds.clone(), generator::any, is_verbose);
    all.print();
    let even = matrix(seeds, generator::even_of, is_verbose);
    even.print();
}
