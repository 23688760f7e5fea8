//! Designs for a workload, ranked by their estimates: a chart, what each costs, sample keys, and
//! the declaration to paste.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use rowhouse_model::{Error, ErrorKind, Result, Row, Scan, TableName, escape, escape_controls};
use rowhouse_schema::{DesignKind, Estimator, Proposal, RowSample, Way, Workload};
use rowhouse_store::{ScanLimits, Scanned, Table};

use super::chart::{Point, scatter};
use super::page::{Page, Place, status_of};
use super::reader::Reader;
use super::shown::{Keys, message, number, shortened};
use super::state::Web;
use super::words::Text;
use super::{shown, tables, words};
use crate::limits::{
    WEB_DESIGN_BYTES_MAX, WEB_DESIGN_QUESTIONS_MAX, WEB_DESIGN_ROWS_MAX, WEB_DESIGN_WAIT,
    WEB_QUERY_WAIT,
};

/// Designs that the page lists, besides the present one.
const LISTED: usize = 10;
/// Rows whose keys are shown for a design.
const SAMPLE_KEYS: u64 = 3;
/// A design is no reason for a change unless its score is below this fraction of the present one's.
const CLEARLY_BETTER: f64 = 0.9;
/// The workload that the empty page offers.
const EXAMPLE: &str = include_str!("../../../../docs/workloads/mail.design");

/// Answers with the form, and with the designs if the address has a workload. The search takes
/// seconds, so only one runs at once.
pub(super) async fn answer(State(web): State<Web>, reader: Reader) -> Response {
    if reader.param("w").trim().is_empty() {
        return web.page(reader, form_page).await;
    }
    let permits = Arc::clone(&web.designs);
    web.limited_page(reader, permits, designs_page).await
}

/// Shows the form with the workload of a table, or with an example.
fn form_page(web: &Web, reader: &Reader) -> Result<Page> {
    let text = match reader.param("table") {
        "" => EXAMPLE.to_owned(),
        name => table_text(reader, &*table_of(web, name)?)?,
    };
    Ok(Page::new(Place::Design, reader.text(words::DESIGN), form(reader, &text)))
}

fn designs_page(web: &Web, reader: &Reader) -> Result<Page> {
    let text = reader.param("w");
    let designs = Designs::search(web, reader, text, Instant::now() + WEB_DESIGN_WAIT);
    let status = designs.as_ref().err().map(|error| match error.kind() {
        ErrorKind::Timeout => StatusCode::SERVICE_UNAVAILABLE,
        _ => status_of(error),
    });
    let body = html! {
        (form(reader, text))
        @match &designs {
            Ok(designs) => (designs.show(reader)),
            Err(error) if error.kind() == ErrorKind::Timeout => p.error role="alert" {
                (reader.text(words::DESIGN_TIMEOUT))
            },
            Err(error) => (shown::error(reader, error)),
        }
    };
    let mut page = Page::new(Place::Design, reader.text(words::DESIGN), body);
    page.status = status.unwrap_or(page.status);
    Ok(page)
}

fn form(reader: &Reader, text: &str) -> Markup {
    let table = reader.param("table");
    html! {
        p { (reader.text(words::DESIGN_MORE)) }
        form action="/design" method="get" {
            @if let Some(lang) = reader.chosen_lang() { input type="hidden" name="lang" value=(lang); }
            @if !table.is_empty() { input type="hidden" name="table" value=(table); }
            label.grow {
                (reader.text(words::WORKLOAD))
                textarea name="w" rows=(text.lines().count().clamp(8, 24)) spellcheck="false" { (text) }
            }
            button { (reader.text(words::PROPOSE)) }
        }
    }
}

fn table_of(web: &Web, name: &str) -> Result<Arc<Table>> {
    web.context.cluster.store.table(&TableName::parse(name)?)
}

/// Returns a table as a workload's text, with the rates of the heat, and lines to complete: no
/// server records which queries are asked.
fn table_text(reader: &Reader, table: &Table) -> Result<String> {
    let heat = table.heat(i64::MIN, i64::MAX);
    let declared = Workload::text_of_table(table.descriptor(), &[""; 0], &heat)?;
    let columns: i64 = heat.columns.iter().map(|column| column.length_millis).sum();
    let reads: u64 = heat.columns.iter().flat_map(|it| &it.buckets).map(|it| it.reads).sum();
    let reads = if columns > 0 { reads as f64 * 1000.0 / columns as f64 } else { 0.0 };
    let key = declared.lines().find_map(|line| line.strip_prefix("field "));
    let field = key.and_then(|field| field.split(' ').next()).unwrap_or_default();
    Ok(format!(
        "{declared}# {}\n# {}{}{reads:.1}/s\n# ask {field} = ? limit 20 : 40/s\n",
        reader.text(words::ADD_QUESTIONS),
        reader.text(words::READS),
        reader.text(words::COLON),
    ))
}

/// The designs for a workload.
struct Designs {
    workload: Workload,
    /// The table from which values come, if it is not the workload that declares them.
    table: Option<TableName>,
    /// The best first.
    proposals: Vec<Proposal>,
}

impl Designs {
    fn search(web: &Web, reader: &Reader, text: &str, until: Instant) -> Result<Self> {
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
        let proposals = Proposal::all_while(&workload, &estimator, &goes_on)?;
        Ok(Self { workload, table, proposals })
    }

    fn show(&self, reader: &Reader) -> Markup {
        let text = |text| reader.text(text);
        let listed = self.proposals.iter().enumerate();
        let listed: Vec<_> = listed.filter(|(at, it)| *at < LISTED || it.is_present).collect();
        html! {
            p role="status" { (self.advice(reader)) }
            p.dim {
                (text(words::DESIGN_ESTIMATED)) " " (number(self.workload.rows()))
                @if let Some(table) = &self.table {
                    (text(words::COMMA)) (text(words::TABLE)) " "
                    a href=(tables::link(reader, table)) { (table) }
                }
                (text(words::END)) " " (text(words::DESIGN_SIMULATE)) " " code { "rowhouse advise" } (text(words::END))
            }
            (self.chart(reader))
            div.wide { table {
                thead { tr {
                    th.number { "" } th { (text(words::DESIGN)) } th { (text(words::KIND)) }
                    th.number { (text(words::READ_COST)) } th.number { (text(words::WRITE_COST)) }
                    th.number { (text(words::SCORE)) } th.number { (text(words::BUSIEST_REGION)) }
                } }
                tbody { @for (at, proposal) in &listed { (self.row(reader, *at, proposal)) } }
            } }
            p.dim { (text(words::SCORE_MORE)) }
            @for (at, proposal) in &listed { (self.details(reader, *at, proposal)) }
        }
    }

    /// States which design is the best, and whether it is worth a change.
    fn advice(&self, reader: &Reader) -> Markup {
        let Some(best) = self.proposals.first() else {
            return html! { (reader.text(words::NONE)) };
        };
        let present = self.proposals.iter().find(|it| it.is_present);
        let is_refused = |it: &Proposal| !it.estimate.broken_limits(&self.workload).is_empty();
        let keeps = present.filter(|present| {
            !is_refused(present) && best.score() >= present.score() * CLEARLY_BETTER
        });
        let says = match keeps {
            _ if is_refused(best) => words::ALL_REFUSED,
            Some(_) => words::PRESENT_IS_BEST,
            None => words::BEST_DESIGN,
        };
        let design = keeps.unwrap_or(best).design.to_string();
        html! { (reader.text(says)) (reader.text(words::COLON)) strong { code { (design) } } }
    }

    fn chart(&self, reader: &Reader) -> Markup {
        let points = self.proposals.iter().enumerate().map(|(at, proposal)| {
            let is_listed = at < LISTED || proposal.is_present;
            let estimate = &proposal.estimate;
            let class = match proposal {
                it if it.is_present => "present",
                it if !it.estimate.broken_limits(&self.workload).is_empty() => "refused",
                _ if at == 0 => "best",
                _ => "other",
            };
            Point {
                x: estimate.reads,
                y: estimate.load,
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

    fn row(&self, reader: &Reader, at: usize, proposal: &Proposal) -> Markup {
        let estimate = &proposal.estimate;
        let refusals = estimate.broken_limits(&self.workload);
        html! { tr {
            td.number { (at + 1) }
            td {
                a href=(format!("#design-{}", at + 1)) { code { (proposal.design) } }
                @if proposal.is_present { " " strong { (reader.text(words::PRESENT)) } }
                @for refusal in &refusals { div.bad { (message(reader, &escape_controls(refusal))) } }
            }
            td { (reader.text(kind_name(proposal.kind))) }
            td.number { (rounded(estimate.reads)) }
            td.number { (rounded(estimate.load)) }
            td.number { (rounded(estimate.score())) }
            td.number { (format!("{:.0} %", estimate.share() * 100.0)) }
        } }
    }

    /// Shows what questions read under a design, keys of rows, and the commands that lead to it.
    fn details(&self, reader: &Reader, at: usize, proposal: &Proposal) -> Markup {
        let text = |text| reader.text(text);
        let design = &proposal.design;
        let questions = self.workload.questions().iter().zip(&proposal.estimate.questions);
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
                tbody { @for (question, cost) in questions { tr {
                    td { code { (shortened(&escape_controls(&question.to_string()))) } }
                    td { @match &cost.way {
                        Way::Key => (text(words::THE_KEY)),
                        Way::Index(name) => code { (name) },
                    } }
                    td.number { (rounded(cost.rows_real)) }
                    td.number { (rounded(cost.ranges_real)) }
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

/// Returns the workload with rows of a table, from the beginning of each region.
fn sampled(table: &Table, workload: Workload) -> Result<Workload> {
    let until = Instant::now() + WEB_QUERY_WAIT;
    let mut sample = RowSample::new(table.descriptor(), &workload)?;
    let regions = table.regions();
    let of_region = WEB_DESIGN_ROWS_MAX.div_ceil(regions.len().max(1) as u64);
    let mut left = WEB_DESIGN_BYTES_MAX;
    let mut total = 0;
    let mut is_cut = false;
    for region in regions {
        let has_room =
            |total, left| total < WEB_DESIGN_ROWS_MAX && left > 0 && Instant::now() < until;
        if !has_room(total, left) {
            break;
        }
        let mut scanner = region.scan(&Scan::all())?;
        let mut rows = 0;
        while rows < of_region && has_room(total, left) {
            let limits = ScanLimits { bytes: left, until: Some(until) };
            match scanner.next_part(&limits)? {
                Scanned::End => break,
                Scanned::Paused(_) => {}
                Scanned::Row { row, is_partial } => {
                    left = left.saturating_sub(bytes_of(&row));
                    rows += 1;
                    total += 1;
                    // The rest of a row is as large as the room that is left.
                    if is_partial {
                        is_cut = true;
                        break;
                    }
                    sample.add(&row);
                }
            }
        }
    }
    if sample.is_empty() {
        let name = table.name();
        if total == 0 && Instant::now() >= until {
            let message = format!("no row of the table was read in time: table={name}");
            return Err(Error::new(ErrorKind::Timeout, message));
        }
        return Err(Error::invalid(match (total, is_cut) {
            (0, _) => format!("the table has no rows: table={name}"),
            (_, true) => {
                format!("there is no row of at most {WEB_DESIGN_BYTES_MAX} bytes: table={name}")
            }
            _ => format!("no row that was read fits the template: rows={total}, table={name}"),
        }));
    }
    sample.sampled(workload)
}

fn bytes_of(row: &Row) -> u64 {
    row.cells().map(|cell| cell.as_bytes().len() as u64).sum()
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
        assert!(!designs.proposals.is_empty());
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
