//! Compares designs for a workload.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

use rowhouse_model::{Error, Result};
use rowhouse_schema::{Design, Estimator, Proposal, WideForm, Workload, two_digits};

use super::advice::{Advice, AdvisedDesign, is_plain};
use super::reasons::{gives_up, reasons, tall_or_wide};
use super::simulate::simulate;
use super::trade::{alternative, trade};

/// Designs that are simulated at least, besides the present one.
const SIMULATED_MIN: usize = 4;
/// Designs that are simulated at most, besides the present one and the alternative.
const SIMULATED_MAX: usize = 12;
/// Designs that are simulated at most as long as all break a limit.
const REFUSED_MAX: usize = 24;
/// Designs that break a limit by their estimates and are simulated, although others break none.
const REFUSED_TRIED: usize = 4;
/// A design whose estimated score is so many times the best simulated one cannot win.
const HOPELESS: f64 = 1.25;
/// Designs in an advice, besides those that were simulated.
const ESTIMATED_MAX: usize = 20;
/// A design is no reason for a change unless its score is below this fraction of the present one's.
const CLEARLY_BETTER: f64 = 0.9;

/// Proposes designs for a workload, simulates the best ones in the directory `dir`, and compares
/// them.
///
/// The best design is the one with the least score
/// ([`Simulation::score`](super::Simulation::score)) among those that break no limit; among equal
/// ones the one that has fewer indexes and shorter rows. A design whose estimate is near the best
/// simulated score is simulated too. Scores come from counts, never from times, so under a seed the
/// result is the same in each run.
///
/// # Errors
/// As [`simulate`].
///
/// ```
/// use rowhouse::advise::{Workload, advise};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// let workload = Workload::parse("\
/// key [at millis][user string]
/// field user string: 200 values
/// field at millis: now
/// ask user = ? newest 10 : 20/s
/// rows 1000")?;
/// let advice = advise(&workload, dir.path()).await?;
/// assert!(advice.is_change);
/// assert_eq!(advice.designs[0].key, "[user string][at millis desc]");
/// println!("{}", advice.reasons.join("\n"));
/// # Ok(())
/// # }
/// ```
pub async fn advise(workload: &Workload, dir: &Path) -> Result<Advice> {
    advise_with_progress(workload, dir, |_| {}).await
}

/// A design that is about to be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdviceStep<'a> {
    /// The number, from 1 on.
    pub number: usize,
    /// How many designs are simulated at most.
    pub count: usize,
    /// The key and the indexes.
    pub design: &'a str,
}

/// As [`advise`], and calls `progress` with each design before it is simulated, which takes
/// seconds.
///
/// # Errors
/// As [`advise`].
///
/// ```no_run
/// # async fn example(workload: rowhouse::advise::Workload) -> rowhouse::Result<()> {
/// use rowhouse::advise::advise_with_progress;
///
/// let progress = |step: rowhouse::advise::AdviceStep<'_>| {
///     println!("{} of {}: {}", step.number, step.count, step.design);
/// };
/// let advice = advise_with_progress(&workload, "/tmp".as_ref(), progress).await?;
/// # Ok(())
/// # }
/// ```
pub async fn advise_with_progress(
    workload: &Workload,
    dir: &Path,
    mut progress: impl FnMut(AdviceStep<'_>),
) -> Result<Advice> {
    if let Some(name) = workload.without_values() {
        return Err(Error::invalid(format!("`{name}` has no distribution: it needs a sample")));
    }
    let proposals = proposals(workload).await?;
    advise_among(workload, &proposals, dir, |step| {
        progress(step);
        true
    })
    .await
}

/// As [`advise_with_progress`], for proposals that were estimated before, the best first
/// ([`Proposal::all`]). No further design is simulated once `progress` returns false: those that
/// were not rank below those that were.
///
/// # Errors
/// As [`advise`].
///
/// ```
/// use rowhouse::advise::{Estimator, Proposal, Workload, advise_among};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// let workload = Workload::parse("\
/// field user string: 200 values
/// field at millis: now
/// ask user = ? newest 10 : 20/s
/// rows 1000")?;
/// let proposals = Proposal::all(&workload, &Estimator::new(&workload)?)?;
/// let two = |step: rowhouse::advise::AdviceStep<'_>| step.number <= 2;
/// let advice = advise_among(&workload, &proposals, dir.path(), two).await?;
/// let simulated = advice.designs.iter().take_while(|design| design.simulation.is_some());
/// assert_eq!(simulated.count(), 2);
/// # Ok(())
/// # }
/// ```
pub async fn advise_among(
    workload: &Workload,
    proposals: &[Proposal],
    dir: &Path,
    mut progress: impl FnMut(AdviceStep<'_>) -> bool,
) -> Result<Advice> {
    let mut search = Search { workload, dir, proposals, simulated: BTreeMap::new() };
    search.run(&mut progress).await?;
    let mut designs = search.finish();
    designs.sort_by(compare);
    let (mut advice, advised) = advice(workload, designs)?;
    // Every design comes from a proposal.
    let design = proposals.iter().map(|it| &it.design).find(|it| it.to_string() == advised.text());
    if let Some(design) = design {
        advice.declaration = design.declaration();
        if advice.is_change {
            advice.steps = design.steps(workload);
        }
        advice.wide = wide(workload, design).await?;
    }
    advice.tall_or_wide = tall_or_wide(advice.wide.as_ref(), &advised);
    Ok(advice)
}

/// Returns the advice without the wide form and the commands, and the advised design.
///
/// # Errors
/// `InvalidRequest` without designs.
fn advice(workload: &Workload, designs: Vec<AdvisedDesign>) -> Result<(Advice, AdvisedDesign)> {
    let present = designs.iter().position(|design| design.is_present);
    let is_change = match (designs.first(), present.map(|at| &designs[at])) {
        (None, _) => false,
        (Some(best), _) if !best.refusals.is_empty() => false,
        (Some(_), None) => true,
        (Some(best), Some(present)) => {
            !best.is_present
                && (!present.refusals.is_empty() || best.score < present.score * CLEARLY_BETTER)
        }
    };
    let advised = match (is_change, present) {
        (false, Some(present)) => present,
        _ => 0,
    };
    let advised_design = designs.get(advised).cloned();
    let advised_design =
        advised_design.ok_or_else(|| Error::invalid("no design is valid for the workload"))?;
    let accepted = Some(&advised_design).filter(|design| design.refusals.is_empty());
    let alternative = accepted.and_then(|design| {
        let designs = designs.iter().enumerate();
        alternative(design, designs.filter(|(_, other)| other.simulation.is_some()))
    });
    let advice = Advice {
        reasons: reasons(workload, &designs, present, is_change),
        trade: trade(workload, &designs, advised, alternative),
        alternative,
        gives_up: gives_up(workload, &designs, advised),
        declaration: String::new(),
        steps: Vec::new(),
        wide: None,
        tall_or_wide: Vec::new(),
        designs,
        present,
        is_change,
    };
    Ok((advice, advised_design))
}

/// Returns a design's wide form, by a thread that may be busy for long.
async fn wide(workload: &Workload, design: &Design) -> Result<Option<WideForm>> {
    let workload = workload.clone();
    let design = design.clone();
    busy(move || design.wide(&workload)).await
}

/// Proposes designs on a thread that may be busy for long.
async fn proposals(workload: &Workload) -> Result<Vec<Proposal>> {
    let workload = workload.clone();
    busy(move || Proposal::all(&workload, &Estimator::new(&workload)?)).await
}

async fn busy<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let interrupted = |error| Error::invalid(format!("the advice was interrupted: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(interrupted)?
}

/// The simulations of proposals, the best estimates first.
struct Search<'s> {
    workload: &'s Workload,
    dir: &'s Path,
    /// By their estimates, the best first; those that break a limit last.
    proposals: &'s [Proposal],
    /// Simulated designs, by the places of their proposals.
    simulated: BTreeMap<usize, AdvisedDesign>,
}

impl Search<'_> {
    /// Simulates the present design, those that could be the best, and an alternative to the best,
    /// as long as `progress` returns true.
    async fn run(&mut self, progress: &mut impl FnMut(AdviceStep<'_>) -> bool) -> Result<()> {
        let present = self.proposals.iter().position(|it| it.is_present);
        let plain = || self.proposals.iter().position(|it| is_plain(self.workload, it));
        if let Some(at) = present.or_else(plain)
            && !self.simulate(at, progress).await?
        {
            return Ok(());
        }
        while let Some(at) = self.next() {
            if !self.simulate(at, progress).await? {
                return Ok(());
            }
        }
        let alternative = self.best().and_then(|best| {
            let designs = self.proposals.iter().enumerate().map(|(at, proposal)| {
                let simulated = self.simulated.get(&at).cloned();
                simulated.unwrap_or_else(|| AdvisedDesign::of(self.workload, proposal, None))
            });
            alternative(best, designs.collect::<Vec<_>>().iter().enumerate())
        });
        if let Some(at) = alternative.filter(|at| !self.simulated.contains_key(at)) {
            self.simulate(at, progress).await?;
        }
        Ok(())
    }

    /// Returns false if `progress` does, and nothing was simulated.
    async fn simulate(
        &mut self,
        at: usize,
        progress: &mut impl FnMut(AdviceStep<'_>) -> bool,
    ) -> Result<bool> {
        let proposal = &self.proposals[at];
        let number = self.simulated.len() + 1;
        let count = (SIMULATED_MAX + 2).min(self.proposals.len()).max(number);
        if !progress(AdviceStep { number, count, design: &proposal.design.to_string() }) {
            return Ok(false);
        }
        let simulation = simulate(self.workload, &proposal.design, self.dir).await?;
        let design = AdvisedDesign::of(self.workload, proposal, Some(simulation));
        self.simulated.insert(at, design);
        Ok(true)
    }

    /// The best simulated design that breaks no limit.
    fn best(&self) -> Option<&AdvisedDesign> {
        let allowed = self.simulated.values().filter(|design| design.refusals.is_empty());
        allowed.min_by(|one, other| compare(one, other))
    }

    /// Returns the next design to simulate; `None` if no other one can be the best.
    fn next(&self) -> Option<usize> {
        let count = self.simulated.len();
        let best = self.best();
        let score_max = best.map_or(f64::INFINITY, |best| best.score);
        let mut others = (0..self.proposals.len()).filter(|at| !self.simulated.contains_key(at));
        // Proposals that break a limit come last.
        let next = others.clone().next().filter(|at| !self.breaks_limit(*at));
        let can_win = |at: &usize| {
            self.proposals[*at].score() < score_max * HOPELESS || count < SIMULATED_MIN
        };
        let is_few = count < if best.is_none() { REFUSED_MAX } else { SIMULATED_MAX };
        if let Some(next) = next.filter(can_win).filter(|_| is_few) {
            return Some(next);
        }
        // An estimate may refuse a design that a simulation allows.
        let refused = self.simulated.keys().filter(|at| self.breaks_limit(**at)).count();
        let refused_max = if best.is_none() { REFUSED_MAX } else { REFUSED_TRIED };
        others
            .find(|at| self.breaks_limit(*at) && self.proposals[*at].score() < score_max)
            .filter(|_| refused < refused_max)
    }

    fn breaks_limit(&self, at: usize) -> bool {
        !self.proposals[at].estimate.broken_limits(self.workload).is_empty()
    }

    /// Returns the designs: those that were simulated, and the best of the others.
    fn finish(mut self) -> Vec<AdvisedDesign> {
        let estimated = self.proposals.iter().enumerate();
        let estimated = estimated.filter(|(at, _)| !self.simulated.contains_key(at));
        let estimated =
            estimated.map(|(_, proposal)| AdvisedDesign::of(self.workload, proposal, None));
        let estimated: Vec<AdvisedDesign> = estimated.take(ESTIMATED_MAX).collect();
        let simulated = std::mem::take(&mut self.simulated);
        simulated.into_values().chain(estimated).collect()
    }
}

/// Orders designs: those that were simulated first, of them those that break no limit, by score.
fn compare(one: &AdvisedDesign, other: &AdvisedDesign) -> Ordering {
    let refused = |design: &AdvisedDesign| !design.refusals.is_empty();
    let estimated = |design: &AdvisedDesign| design.simulation.is_none();
    let by_text = || one.text().cmp(&other.text());
    (estimated(one), refused(one))
        .cmp(&(estimated(other), refused(other)))
        .then_with(|| two_digits(one.score).total_cmp(&two_digits(other.score)))
        .then_with(|| one.indexes.len().cmp(&other.indexes.len()))
        .then_with(|| one.bytes().total_cmp(&other.bytes()))
        .then_with(|| one.score.total_cmp(&other.score))
        .then_with(by_text)
}
