//! Compares designs for a workload.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;

use rowhouse_model::{Error, Result};
use rowhouse_schema::{Design, Estimator, Proposal, WideForm, Workload, two_digits};

use super::advice::{Advice, AdvisedDesign};
use super::reasons::{declaration, gives_up, reasons, steps, tall_or_wide};
use super::simulate::simulate;
use super::warnings::broken_by_estimate;

/// Designs that are simulated, besides the present one.
const SIMULATED: usize = 4;
/// A design is no reason for a change unless its score is below this fraction of the present one's.
const CLEARLY_BETTER: f64 = 0.9;

/// Proposes designs for a workload, simulates the best ones in the directory `dir`, and compares
/// them.
///
/// The best design is the one with the least score ([`design_score`](super::design_score)) among
/// those that break no limit; among equal ones the one that was simulated, has fewer indexes and
/// shorter rows. Scores come from counts, never from times, so under a seed the result is the same
/// in each run.
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
    /// How many designs are simulated.
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
    let chosen = chosen(workload, &proposals);
    let mut designs = Vec::new();
    let mut number = 0;
    for (at, proposal) in proposals.iter().enumerate() {
        let simulation = if chosen.contains(&at) {
            number += 1;
            let design = proposal.design.to_string();
            progress(AdviceStep { number, count: chosen.len(), design: &design });
            Some(simulate(workload, &proposal.design, dir).await?)
        } else {
            None
        };
        designs.push(AdvisedDesign::of(workload, proposal, simulation));
    }
    designs.sort_by(compare);
    let (mut advice, advised) = advice(workload, designs);
    if let Some(design) = proposals.iter().find(|it| it.design.to_string() == advised.text()) {
        advice.wide = wide(workload, &design.design).await?;
    }
    advice.tall_or_wide = tall_or_wide(advice.wide.as_ref(), &advised);
    Ok(advice)
}

/// Returns the advice without the wide form, and the advised design.
fn advice(workload: &Workload, designs: Vec<AdvisedDesign>) -> (Advice, AdvisedDesign) {
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
    let advised_design = designs[advised].clone();
    let advice = Advice {
        reasons: reasons(workload, &designs, present, is_change),
        gives_up: gives_up(workload, &designs, advised),
        declaration: declaration(workload, &designs[advised]),
        steps: if is_change { steps(workload, &designs[advised]) } else { Vec::new() },
        wide: None,
        tall_or_wide: Vec::new(),
        designs,
        present,
        is_change,
    };
    (advice, advised_design)
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

/// Returns the places of the designs to simulate: the present one, and by their estimates the best
/// one for each kind, as far as they break no limit; if there are fewer, the next best.
fn chosen(workload: &Workload, proposals: &[Proposal]) -> Vec<usize> {
    let broken =
        proposals.iter().map(|it| broken_by_estimate(workload, &it.estimate)).collect::<Vec<_>>();
    // Proposals come in score order, which stays where refusals are equal.
    let mut places: Vec<usize> = (0..proposals.len()).collect();
    places.sort_by_key(|at| !broken[*at].is_empty());
    let (present, others): (Vec<usize>, Vec<usize>) =
        places.into_iter().partition(|at| proposals[*at].is_present);
    let mut kinds = BTreeSet::new();
    let (firsts, rest): (Vec<usize>, Vec<usize>) = others
        .into_iter()
        .partition(|at| broken[*at].is_empty() && kinds.insert(proposals[*at].kind));
    let best = firsts.into_iter().chain(rest).take(SIMULATED);
    present.into_iter().chain(best).collect()
}

/// Orders designs: those that break no limit first, then those that were simulated, by score.
fn compare(one: &AdvisedDesign, other: &AdvisedDesign) -> Ordering {
    let refused = |design: &AdvisedDesign| !design.refusals.is_empty();
    let estimated = |design: &AdvisedDesign| design.simulation.is_none();
    let by_text = || one.text().cmp(&other.text());
    (refused(one), estimated(one))
        .cmp(&(refused(other), estimated(other)))
        .then_with(|| two_digits(one.score).total_cmp(&two_digits(other.score)))
        .then_with(|| one.indexes.len().cmp(&other.indexes.len()))
        .then_with(|| one.bytes().total_cmp(&other.bytes()))
        .then_with(|| one.score.total_cmp(&other.score))
        .then_with(by_text)
}
