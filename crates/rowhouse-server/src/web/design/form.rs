//! The page with the form, and with the estimates for the workload in the address.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use rowhouse_model::{Error, ErrorKind, Result, TableName};
use rowhouse_schema::Workload;
use rowhouse_store::Table;

use super::super::page::{Page, Place, status_of};
use super::super::reader::Reader;
use super::super::state::Web;
use super::super::{shown, words};
use super::latest::Designs;
use super::{simulation, upload};
use crate::limits::WEB_DESIGN_WAIT;

/// The workload that the empty page offers.
const EXAMPLE: &str = include_str!("../../../../../docs/workloads/mail.design");

/// Answers with the form, and with the designs if the address has a workload. The search takes
/// seconds, so only one runs at once.
pub(in crate::web) async fn answer(State(web): State<Web>, reader: Reader) -> Response {
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
    let has_simulator = web.context.cluster.options.simulator.is_some();
    let offer =
        if has_simulator { simulation::offer(reader) } else { simulation::elsewhere(reader) };
    Ok(page_of(reader, text, designs.as_ref(), &offer))
}

/// Returns the page with the form, and designs or what is wrong.
pub(super) fn page_of(
    reader: &Reader,
    text: &str,
    designs: Result<&Designs, &Error>,
    offer: &Markup,
) -> Page {
    let status = designs.as_ref().err().map(|error| match error.kind() {
        ErrorKind::Timeout => StatusCode::SERVICE_UNAVAILABLE,
        _ => status_of(error),
    });
    let body = html! {
        (form(reader, text))
        @match designs {
            Ok(designs) => (designs.show(reader, offer)),
            Err(error) if error.kind() == ErrorKind::Timeout => p.error role="alert" {
                (reader.text(words::DESIGN_TIMEOUT))
            },
            Err(error) => (shown::error(reader, error)),
        }
    };
    let mut page = Page::new(Place::Design, reader.text(words::DESIGN), body);
    page.status = status.unwrap_or(page.status);
    page
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
        (upload::form(reader))
    }
}

pub(super) fn table_of(web: &Web, name: &str) -> Result<Arc<Table>> {
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
