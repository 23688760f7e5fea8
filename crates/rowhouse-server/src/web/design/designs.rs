//! Designs for a workload, ranked: a chart, what each costs, sample keys, and the declaration to
//! paste.

use std::time::Instant;

use maud::{Markup, html};
use rowhouse_model::{Error, ErrorKind, Result, escape, escape_controls};
use rowhouse_schema::{DesignKind, Estimator, Proposal, Way, Workload};

use super::super::chart::{Point, scatter};
use super::super::reader::Reader;
use super::super::shown::{Keys, message, number, shortened};
use super::super::state::Web;
use super::super::words::Text;
use super::super::{tables, words};
use super::form::table_of;
use super::latest::{Designs, Ranked};
use super::sample::sampled;
use crate::limits::{WEB_DESIGN_BYTES_MAX, WEB_DESIGN_QUESTIONS_MAX, WEB_DESIGN_ROWS_MAX};
use crate::simulator::DesignSimulator;

/// Designs that the page lists, besides the present one.
const LISTED: usize = 10;
/// Rows whose keys are shown for a design.
const SAMPLE_KEYS: u64 = 3;
/// A design is no reason for a change unless its score is below this fraction of the present one's.
const CLEARLY_BETTER: f64 = 0.9;

impl Ranked {
    fn reads(&self) -> f64 {
        self.simulated.as_ref().map_or(self.proposal.estimate.reads, |it| it.reads)
    }

    fn load(&self) -> f64 {
        self.simulated.as_ref().map_or(self.proposal.estimate.load, |it| it.load)
    }

    fn score(&self) -> f64 {
        self.reads() + self.load()
    }

    fn share(&self) -> f64 {
        self.simulated.as_ref().map_or_else(|| self.proposal.estimate.share(), |it| it.share)
    }

    fn refusals(&self, workload: &Workload) -> Vec<String> {
        match &self.simulated {
            Some(costs) => costs.refusals.clone(),
            None => self.proposal.estimate.broken_limits(workload),
        }
    }

    /// Returns how each question is read: the way, rows and ranges at the full size.
    fn questions(&self) -> Vec<(Way, f64, f64)> {
        match &self.simulated {
            Some(costs) => costs.questions.clone(),
            None => {
                let questions = self.proposal.estimate.questions.iter();
                questions.map(|it| (it.way.clone(), it.rows_real, it.ranges_real)).collect()
            }
        }
    }
}

impl Designs {
    /// Proposes designs for a workload's text, with values of the table that the address names, and
    /// estimates what they cost.
    ///
    /// # Errors
    /// `InvalidRequest` for a malformed text, or one above a limit; `Timeout`.
    pub(super) fn search(web: &Web, reader: &Reader, text: &str, until: Instant) -> Result<Self> {
        // Forms send line ends of two characters.
        let workload = Workload::parse(&text.replace("\r\n", "\n"))?;
        let questions = workload.questions().len();
        if questions > WEB_DESIGN_QUESTIONS_MAX {
            return Err(Error::invalid(format!(
                "too many questions for a page: questions={questions}, max={WEB_DESIGN_QUESTIONS_MAX}"
            )));
        }
        let name = reader.param("table");
        let needs_sample = workload.without_values().map(str::to_owned);
        let (workload, table) = match needs_sample {
            None => (workload, None),
            Some(field) if name.is_empty() => {
                return Err(Error::invalid(format!(
                    "`{field}` has no distribution: it needs a sample"
                )));
            }
            Some(_) => {
                let table = table_of(web, name)?;
                (sampled(&table, workload)?, Some(table.name().clone()))
            }
        };
        let workload = workload.limited(WEB_DESIGN_ROWS_MAX, WEB_DESIGN_BYTES_MAX)?;
        let goes_on = || Instant::now() < until;
        if !goes_on() {
            return Err(Error::new(ErrorKind::Timeout, "no time is left to estimate designs"));
        }
        let estimator = Estimator::new(&workload)?;
        let proposals = Proposal::all_while(&workload, &estimator, &goes_on)?.into_iter();
        let ranked = proposals.map(|proposal| Ranked { proposal, simulated: None }).collect();
        Ok(Self { workload, table, ranked, is_cut: false })
    }

    /// Simulates the best of these designs, and ranks them again.
    ///
    /// # Errors
    /// As [`DesignSimulator::rank`].
    pub(super) fn simulated(
        self,
        simulator: &dyn DesignSimulator,
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Self> {
        let proposals: Vec<Proposal> = self.ranked.into_iter().map(|it| it.proposal).collect();
        let mut is_cut = false;
        let mut progress = |number, count| {
            let goes_on = progress(number, count);
            is_cut |= !goes_on;
            goes_on
        };
        let ranked = simulator.rank(&self.workload, &proposals, &mut progress)?.into_iter();
        let ranked = ranked.filter_map(|design| {
            let proposal = proposals.get(design.proposal)?.clone();
            Some(Ranked { proposal, simulated: design.simulated })
        });
        Ok(Self { ranked: ranked.collect(), is_cut, ..self })
    }

    fn is_simulated(&self) -> bool {
        self.ranked.first().is_some_and(|best| best.simulated.is_some())
    }

    /// Shows the designs, and after what the numbers are an offer.
    pub(super) fn show(&self, reader: &Reader, offer: &Markup) -> Markup {
        let text = |text| reader.text(text);
        let source =
            if self.is_simulated() { words::DESIGN_SIMULATED } else { words::DESIGN_ESTIMATED };
        let listed = self.ranked.iter().enumerate();
        let listed: Vec<_> =
            listed.filter(|(at, it)| *at < LISTED || it.proposal.is_present).collect();
        html! {
            p role="status" { (self.advice(reader)) }
            @if self.is_cut { p.error role="alert" { (text(words::SIMULATION_CUT)) } }
            p.dim {
                (text(source)) " " (number(self.workload.rows()))
                @if let Some(table) = &self.table {
                    (text(words::COMMA)) (text(words::TABLE)) " "
                    a href=(tables::link(reader, table)) { (table) }
                }
                (text(words::END))
                @if self.is_simulated() { " " (text(words::ONLY_ESTIMATED)) }
            }
            (offer)
            (self.chart(reader))
            div.wide { table {
                thead { tr {
                    th.number { "" } th { (text(words::DESIGN)) } th { (text(words::KIND)) }
                    th.number { (text(words::READ_COST)) } th.number { (text(words::WRITE_COST)) }
                    th.number { (text(words::SCORE)) } th.number { (text(words::BUSIEST_REGION)) }
                } }
                tbody { @for (at, design) in &listed { (self.row(reader, *at, design)) } }
            } }
            p.dim { (text(words::SCORE_MORE)) }
            @for (at, design) in &listed { (self.details(reader, *at, design)) }
        }
    }

    /// States which design is the best, and whether it is worth a change.
    fn advice(&self, reader: &Reader) -> Markup {
        let Some(best) = self.ranked.first() else {
            return html! { (reader.text(words::NONE)) };
        };
        let present = self.ranked.iter().find(|it| it.proposal.is_present);
        let is_refused = |it: &Ranked| !it.refusals(&self.workload).is_empty();
        let keeps = present.filter(|present| {
            !is_refused(present) && best.score() >= present.score() * CLEARLY_BETTER
        });
        let says = match keeps {
            _ if is_refused(best) => words::ALL_REFUSED,
            Some(_) => words::PRESENT_IS_BEST,
            None if self.is_simulated() => words::BEST_SIMULATED,
            None => words::BEST_DESIGN,
        };
        let design = keeps.unwrap_or(best).proposal.design.to_string();
        html! { (reader.text(says)) (reader.text(words::COLON)) strong { code { (design) } } }
    }

    fn chart(&self, reader: &Reader) -> Markup {
        let points = self.ranked.iter().enumerate().map(|(at, design)| {
            let proposal = &design.proposal;
            let is_listed = at < LISTED || proposal.is_present;
            let class = match design {
                it if it.proposal.is_present => "present",
                it if !it.refusals(&self.workload).is_empty() => "refused",
                _ if at == 0 => "best",
                _ => "other",
            };
            Point {
                x: design.reads(),
                y: design.load(),
                class,
                label: is_listed.then(|| (at + 1).to_string()),
                title: format!(
                    "{} {}",
                    reader.text(kind_name(proposal.kind)),
                    escape_controls(&proposal.design.to_string())
                ),
                link: is_listed.then(|| format!("#design-{}", at + 1)),
            }
        });
        let axes = [words::READ_COST, words::WRITE_COST].map(|axis| reader.text(axis));
        scatter(reader.text(words::DESIGN_CHART), axes, &points.collect::<Vec<_>>())
    }

    fn row(&self, reader: &Reader, at: usize, design: &Ranked) -> Markup {
        let proposal = &design.proposal;
        let refusals = design.refusals(&self.workload);
        let is_only_estimated = self.is_simulated() && design.simulated.is_none();
        html! { tr {
            td.number { (at + 1) @if is_only_estimated { "*" } }
            td {
                a href=(format!("#design-{}", at + 1)) { code { (proposal.design) } }
                @if proposal.is_present { " " strong { (reader.text(words::PRESENT)) } }
                @for refusal in &refusals { div.bad { (message(reader, &escape_controls(refusal))) } }
            }
            td { (reader.text(kind_name(proposal.kind))) }
            td.number { (rounded(design.reads())) }
            td.number { (rounded(design.load())) }
            td.number { (rounded(design.score())) }
            td.number { (format!("{:.0} %", design.share() * 100.0)) }
        } }
    }

    /// Shows what questions read under a design, keys of rows, and the commands that lead to it.
    fn details(&self, reader: &Reader, at: usize, ranked: &Ranked) -> Markup {
        let text = |text| reader.text(text);
        let proposal = &ranked.proposal;
        let design = &proposal.design;
        let questions = self.workload.questions().iter().zip(ranked.questions());
        let name = self.table.as_ref().map(ToString::to_string);
        let named = |command: &String| match &name {
            Some(name) => command.replace("'NAME'", &format!("'{name}'")),
            None => command.clone(),
        };
        let steps: Vec<String> = if proposal.is_present {
            Vec::new()
        } else {
            design.steps(&self.workload).iter().map(named).collect()
        };
        html! { details id=(format!("design-{}", at + 1)) open[at == 0] {
            summary { (at + 1) " " code { (design) } }
            div.wide { table {
                thead { tr {
                    th { (text(words::QUERY)) } th { (text(words::READ_BY)) }
                    th.number { (text(words::ROWS)) } th.number { (text(words::RANGES)) }
                } }
                tbody { @for (question, (way, rows, ranges)) in questions { tr {
                    td { code { (shortened(&escape_controls(&question.to_string()))) } }
                    td { @match &way {
                        Way::Key => (text(words::THE_KEY)),
                        Way::Index(name) => code { (name) },
                    } }
                    td.number { (rounded(rows)) }
                    td.number { (rounded(ranges)) }
                } } }
            } }
            h3 { (text(words::SAMPLE_KEYS)) }
            ul { @for key in self.sample_keys(proposal) { li { (key) } } }
            @if !steps.is_empty() {
                h3 { (text(words::CHANGE_STEPS)) }
                pre lang="en" { (steps.join("\n")) }
            }
            h3 { (text(words::DECLARATION)) }
            pre { (design.declaration()) }
        } }
    }

    /// Returns keys of the first rows, decoded; rows whose values a key cannot hold have none.
    fn sample_keys(&self, proposal: &Proposal) -> Vec<Markup> {
        let design = &proposal.design;
        let keys = Keys::with(design.key().clone());
        let numbers = 0..self.workload.rows().min(SAMPLE_KEYS);
        let sampled = numbers.filter_map(|at| {
            let key = design.key_of(&self.workload.record(at).ok()?, at).ok()?;
            Some(html! { (keys.show(&key)) " " span.dim { code { (shortened(&escape(&key))) } } })
        });
        sampled.collect()
    }
}

/// Returns a cost with one decimal below 10.
fn rounded(cost: f64) -> String {
    match cost {
        ..9.95 => format!("{cost:.1}"),
        _ => number(cost.round() as u64),
    }
}

fn kind_name(kind: DesignKind) -> Text {
    match kind {
        DesignKind::Sequential => words::SEQUENTIAL,
        DesignKind::Salted => words::SALTED,
        DesignKind::Promoted => words::PROMOTED,
        DesignKind::Bucketed => words::BUCKETED,
        DesignKind::Reversed => words::REVERSED,
        _ => words::HASHED,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_search_ends_when_the_time_is_over_and_is_made_from_few_rows() {
        let dir = tempfile::tempdir().unwrap();
        let web = Web::of_directory(dir.path());
        let reader = Reader::new("/design", Vec::new(), "");
        let text = "field n u64: sequence\nask n = ? : 1/s\nwrite 900/s";
        let search = |text: &str, until| Designs::search(&web, &reader, text, until);
        let stopped = search(text, Instant::now()).err().unwrap();
        assert_eq!(stopped.kind(), ErrorKind::Timeout);
        let later = Instant::now() + Duration::from_secs(3_600);
        let designs = search(text, later).unwrap();
        assert_eq!(designs.workload.rows(), WEB_DESIGN_ROWS_MAX);
        assert!(!designs.ranked.is_empty());
        // Rows of 1 MiB.
        let large = "field n u64: sequence\ncolumn d:b blob blob: 1048576 bytes\nwrite 900/s";
        assert!(search(large, later).unwrap().workload.rows() < 8);
        let larger = "field n u64: sequence\ncolumn d:b blob blob: 10485760 bytes\nwrite 900/s";
        let refused = search(larger, later).err().unwrap();
        assert!(refused.message().starts_with("a row is too large"), "{refused}");
        let questions = "ask n = ? : 1/s\n".repeat(WEB_DESIGN_QUESTIONS_MAX + 1);
        let refused = search(&format!("field n u64: sequence\n{questions}"), later).err().unwrap();
        assert!(refused.message().starts_with("too many questions"), "{refused}");
    }
}
