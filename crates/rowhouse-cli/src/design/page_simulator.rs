//! Simulations for the web pages of a server that this program starts.

use std::collections::HashMap;

use rowhouse::advise::{AdviceStep, AdvisedDesign, Proposal, Workload, advise_among};
use rowhouse::{Error, Result};
use rowhouse_server::{DesignSimulator, RankedDesign, SimulatedCosts};

use super::ScratchDir;

/// Simulates designs as `rowhouse advise` does.
#[derive(Debug)]
pub(crate) struct PageSimulator;

impl DesignSimulator for PageSimulator {
    fn rank(
        &self,
        workload: &Workload,
        proposals: &[Proposal],
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Vec<RankedDesign>> {
        let dir = ScratchDir::create()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| Error::io("cannot start a runtime", source))?;
        let progress = |step: AdviceStep<'_>| progress(step.number, step.count);
        let advice = advise_among(workload, proposals, dir.path(), progress);
        let designs = runtime.block_on(advice)?.designs;
        let places = proposals.iter().enumerate().map(|(at, it)| (it.design.to_string(), at));
        let places: HashMap<String, usize> = places.collect();
        let ranked = designs.into_iter().filter_map(|design| {
            let proposal = *places.get(&design.text())?;
            Some(RankedDesign { proposal, simulated: costs(design) })
        });
        Ok(ranked.collect())
    }
}

/// Returns what a design costs, if it was simulated.
fn costs(design: AdvisedDesign) -> Option<SimulatedCosts> {
    let questions = design.simulation?.questions.into_iter();
    Some(SimulatedCosts {
        reads: design.reads,
        load: design.load,
        share: design.share,
        refusals: design.refusals,
        questions: questions.map(|it| (it.way_real, it.rows_real, it.ranges_real)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use rowhouse::advise::Estimator;

    use super::*;

    #[test]
    fn simulated_designs_come_before_estimates_and_end_when_they_have_to() {
        let workload = "field user string: 50 values\nfield at millis: now\nrows 300\n\
                        ask user = ? newest 10 : 50/s";
        let workload = Workload::parse(workload).unwrap();
        let estimator = Estimator::new(&workload).unwrap();
        let proposals = Proposal::all(&workload, &estimator).unwrap();
        let mut numbers = Vec::new();
        let ranked = PageSimulator.rank(&workload, &proposals, &mut |number, count| {
            assert!(number <= count);
            numbers.push(number);
            number <= 2
        });
        let ranked = ranked.unwrap();
        assert_eq!(numbers, [1, 2, 3]);
        let simulated: Vec<bool> = ranked.iter().map(|it| it.simulated.is_some()).collect();
        assert!(simulated.len() > 3 && simulated.iter().skip(2).all(|is| !is), "{simulated:?}");
        let best = ranked[0].simulated.as_ref().unwrap();
        assert_eq!(best.questions.len(), 1);
        assert!(best.reads > 0.0 && best.refusals.is_empty(), "{best:?}");
    }
}
