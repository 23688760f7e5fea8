//! Running tasks, and the indexes that are not ready.

use maud::{Markup, html};
use rowhouse_model::{Columns, Result, RowRange, escape_controls};
use rowhouse_schema::IndexState;
use rowhouse_store::Table;

use super::page::{Page, Place};
use super::reader::Reader;
use super::shown::{Keys, duration, message, shortened, time};
use super::state::Web;
use super::{tables, words};
use crate::limits::WEB_LISTED_MAX;

/// Lists the running tasks and index builds.
pub(super) fn list(web: &Web, reader: &Reader) -> Result<Page> {
    let text = |text| reader.text(text);
    let store = &web.context.cluster.store;
    let running = store.tasks();
    let now = store.now_millis();
    let body = html! {
        @if running.is_empty() { p.dim { (text(words::NO_TASKS)) } }
        @else { div.wide { table {
            thead { tr {
                th { (text(words::TASK)) } th { (text(words::PROGRESS)) }
                th { (text(words::BEGAN)) } th.number { (text(words::RUNNING_FOR)) }
            } }
            tbody { @for task in running.iter().take(WEB_LISTED_MAX) { tr {
                td { (message(reader, &shortened(&escape_controls(&task.description)))) }
                td { (message(reader, &shortened(&escape_controls(&task.status)))) }
                td { (time(task.started_millis)) }
                td.number { (duration(now - task.started_millis)) }
            } } }
        } } }
        @if web.context.cluster.backups.is_running() { p { (text(words::BACKUP_RUNNING)) } }
        h2 { (text(words::INDEXES_NOT_READY)) }
        (indexes(web, reader))
    };
    Ok(Page::new(Place::Tasks, text(words::TASKS), body))
}

/// Shows the indexes that are being built or repaired, or are off. Full-text indexes are among
/// them, whose builds are no store tasks.
fn indexes(web: &Web, reader: &Reader) -> Markup {
    let store = &web.context.cluster.store;
    let mut rows = Vec::new();
    for table in store.tables() {
        let Ok(Some(schema)) = table.indexes() else { continue };
        for index in schema.indexes() {
            let entries = index.table_name(table.name()).and_then(|name| store.table(&name));
            let Ok(entries) = entries else { continue };
            if !matches!(IndexState::of_table(entries.descriptor()), Ok(IndexState::Ready)) {
                rows.push((table.clone(), index.name().to_owned(), entries));
            }
        }
    }
    html! {
        @if rows.is_empty() { p.dim { (reader.text(words::NONE)) } }
        @else { table { tbody { @for (table, index, entries) in &rows { tr {
            td { a href=(tables::link(reader, table.name())) { (table.name()) } }
            td { (index) }
            td { (index_state(reader, table, entries)) }
        } } } } }
    }
}

/// Shows the state of an index whose entries are in `entries`, and how much of it is built.
pub(super) fn index_state(reader: &Reader, table: &Table, entries: &Table) -> Markup {
    match IndexState::of_table(entries.descriptor()) {
        Ok(IndexState::Ready) => html! { (reader.text(words::READY)) },
        Ok(IndexState::Building { next_row }) => html! {
            (reader.text(words::BUILDING)) " "
            @if let Some(percent) = percent_before(table, &next_row) {
                progress max="100" value=(percent) { (percent) "%" } " " (percent) "% "
            }
            @if !next_row.is_empty() {
                (reader.text(words::UP_TO)) " " (Keys::of(table.descriptor()).show(&next_row))
            }
        },
        Ok(IndexState::Repairing) => html! { (reader.text(words::REPAIRING)) },
        Ok(IndexState::Off(why)) => html! {
            span.bad {
                (reader.text(words::OFF)) (reader.text(words::COLON))
                (message(reader, &shortened(&escape_controls(&why))))
            }
        },
        Ok(other) => message(reader, &other.to_string()),
        Err(error) => html! { span.bad { (message(reader, error.message())) } },
    }
}

/// Returns about what percentage of a table's cells are in rows before this one; `None` if nothing
/// is known.
fn percent_before(table: &Table, row: &rowhouse_model::Bytes) -> Option<u64> {
    let cells = |range| Some(table.estimate(&[range], &Columns::all()).ok()?.cells);
    let before = if row.is_empty() { 0 } else { cells(RowRange::new("", row.clone()))? };
    let all = cells(RowRange::all())?.max(1);
    Some((before.saturating_mul(100) / all).min(100))
}
