//! The outcomes of a call's changes. A change is accepted only by committing the record that has
//! its cells, and every change is settled before the call ends.

use std::ops::Range;

use rowhouse_model::{Error, MutationOutcome, Result};

/// What is known about a change.
#[derive(Default)]
pub(super) enum Outcome {
    /// The cells are in no record.
    #[default]
    Open,
    /// The cells are in the record being collected, which is not committed.
    Collected(MutationOutcome),
    /// It is committed or refused.
    Settled(Result<MutationOutcome>),
}

impl Outcome {
    /// Returns the outcome of a change in a call that has ended.
    ///
    /// # Panics
    /// If the change is not settled: it would be lost.
    pub(super) fn into_result(self) -> Result<MutationOutcome> {
        match self {
            Self::Settled(result) => result,
            Self::Open | Self::Collected(_) => unreachable!("a change was not settled"),
        }
    }
}

/// The outcomes of a call's changes, by position.
pub(super) struct Outcomes<'o> {
    all: &'o mut [Outcome],
    /// Positions between which all collected changes lie.
    record: Range<usize>,
}

impl<'o> Outcomes<'o> {
    pub(super) fn new(all: &'o mut [Outcome]) -> Self {
        Self { all, record: 0..0 }
    }

    pub(super) fn is_settled(&self, nth: usize) -> bool {
        matches!(self.all[nth], Outcome::Settled(_))
    }

    pub(super) fn are_all_settled(&self) -> bool {
        self.all.iter().all(|outcome| matches!(outcome, Outcome::Settled(_)))
    }

    /// Returns the number of changes that are not settled.
    pub(super) fn open(&self) -> usize {
        self.all.iter().filter(|outcome| !matches!(outcome, Outcome::Settled(_))).count()
    }

    /// Notes that the `nth` change's cells are in the record. Changes are collected in order.
    pub(super) fn collect(&mut self, nth: usize, outcome: MutationOutcome) {
        if self.record.is_empty() {
            self.record.start = nth;
        }
        self.record.end = nth + 1;
        self.all[nth] = Outcome::Collected(outcome);
    }

    /// Settles a change that adds nothing to the record.
    pub(super) fn settle(&mut self, nth: usize, result: Result<MutationOutcome>) {
        self.all[nth] = Outcome::Settled(result);
    }

    /// Returns the positions between which all collected changes lie.
    pub(super) fn record(&self) -> Range<usize> {
        self.record.clone()
    }

    /// Settles the collected changes: their record was committed.
    pub(super) fn accept_collected(&mut self) {
        self.end_record(|outcome| Outcome::Settled(Ok(outcome)));
    }

    /// Settles the collected changes: their record was refused.
    pub(super) fn refuse_collected(&mut self, error: &Error) {
        self.end_record(|_| Outcome::Settled(Err(error.clone())));
    }

    /// Takes the changes back whose record was not committed.
    pub(super) fn reopen_collected(&mut self) {
        self.end_record(|_| Outcome::Open);
    }

    fn end_record(&mut self, mut settle: impl FnMut(MutationOutcome) -> Outcome) {
        for outcome in &mut self.all[std::mem::take(&mut self.record)] {
            if let Outcome::Collected(collected) = outcome {
                *outcome = settle(std::mem::take(collected));
            }
        }
    }

    /// Refuses the changes that are not settled.
    pub(super) fn refuse_open(&mut self, error: &Error) {
        for outcome in self.all.iter_mut() {
            if !matches!(outcome, Outcome::Settled(_)) {
                *outcome = Outcome::Settled(Err(error.clone()));
            }
        }
    }

    /// Turns acceptances into an error: the log could not be synced.
    pub(super) fn fail_accepted(&mut self, error: &Error) {
        for outcome in self.all.iter_mut() {
            if matches!(outcome, Outcome::Settled(Ok(_))) {
                *outcome = Outcome::Settled(Err(error.clone()));
            }
        }
    }
}
