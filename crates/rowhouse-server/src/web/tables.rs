//! The tables, and one table: template, columns, indexes, families, sizes, regions.

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};
use rowhouse_model::{Result, TableName, TableState, escape, escape_controls};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, FieldOrder, INDEXES_ATTRIBUTE, IndexOf, KEY_ATTRIBUTE,
    KeySchema,
};
use rowhouse_store::{RegionRequests, RegionSize, Table};

use super::chart::{Line, sparkline};
use super::history::SAMPLES_MAX;
use super::page::{Page, Place};
use super::reader::{Reader, escaped};
use super::shown::{Keys, bytes, count, number, shortened, time};
use super::state::Web;
use super::tasks::index_state;
use super::{shown, words};
use crate::limits::WEB_LISTED_MAX;
use crate::metrics::Totals;

/// Lists the tables, each with its index tables below it.
pub(super) fn list(web: &Web, reader: &Reader) -> Result<Page> {
    let store = &web.context.cluster.store;
    let rows = nested(store.tables());
    let requests = store.requests().tables;
    let text = |text| reader.text(text);
    let body = html! {
        @if rows.is_empty() { p { (text(words::NO_TABLES)) } }
        div.wide { table {
            thead { tr {
                th { (text(words::TABLE)) } th { (text(words::TEMPLATE)) }
                @for heading in [words::REGIONS, words::FILES, words::FILE_BYTES, words::MEMSTORE_BYTES, words::READS, words::WRITES] {
                    th.number { (text(heading)) }
                }
                th { (text(words::LOAD_COURSE)) } th { (text(words::STATE)) }
            } }
            tbody { @for listed in rows.iter().take(WEB_LISTED_MAX) {
                @let requests = requests.get(listed.table.name()).copied().unwrap_or_default();
                (list_row(web, reader, listed, requests))
            } }
        } }
        (left_out(reader, rows.len()))
    };
    Ok(Page::new(Place::Tables, text(words::TABLES), body))
}

/// A table in the list.
struct Listed {
    table: Arc<Table>,
    /// The index and the table that it is of, if both are there.
    index: Option<(String, Arc<Table>)>,
}

/// Returns the tables, and below each the tables of indexes on it.
fn nested(tables: Vec<Arc<Table>>) -> Vec<Listed> {
    let by_name: BTreeMap<_, _> =
        tables.iter().map(|table| (table.name().clone(), Arc::clone(table))).collect();
    let mut listed: Vec<_> = tables
        .into_iter()
        .map(|table| {
            let of = IndexOf::of_table(table.descriptor()).ok().flatten();
            let index = of.and_then(|of| Some((of.index, Arc::clone(by_name.get(&of.table)?))));
            Listed { table, index }
        })
        .collect();
    listed.sort_by_cached_key(|listed| match &listed.index {
        None => (listed.table.name().clone(), String::new()),
        Some((index, of)) => (of.name().clone(), index.clone()),
    });
    listed
}

fn list_row(web: &Web, reader: &Reader, listed: &Listed, requests: RegionRequests) -> Markup {
    let Listed { table, index } = listed;
    let size = Totals::of(table.regions()).size;
    html! { tr {
        @match index {
            None => {
                td { a href=(link(reader, table.name())) { (table.name()) } }
                td {
                    @if let Some(template) = declared(table, KEY_ATTRIBUTE) {
                        code { (shortened(&template)) }
                    }
                }
            }
            Some((index, of)) => {
                td.nested { a href=(link(reader, table.name())) { (index) } }
                td { span.dim { (reader.text(words::INDEX_OF)) " " (of.name()) } }
            }
        }
        td.number { (count(table.regions().len())) }
        td.number { (count(size.files)) }
        td.number { (bytes(size.file_bytes)) }
        td.number { (bytes(size.memstore_bytes)) }
        td.number { (number(requests.reads)) }
        td.number { (number(requests.writes)) }
        td { (course(web, reader, table)) }
        td {
            @match index {
                None => (state(reader, table)),
                Some((_, of)) => (index_state(reader, of, table)),
            }
        }
    } }
}

/// Shows reads and writes per second in the last hour; nothing without any.
fn course(web: &Web, reader: &Reader, table: &Table) -> Markup {
    let [reads, writes] = web.history.of_table(table.name());
    let is_idle = reads.iter().chain(&writes).flatten().all(|rate| *rate == 0.0);
    let lines = [
        Line { name: reader.text(words::READS), values: reads },
        Line { name: reader.text(words::WRITES), values: writes },
    ];
    html! { @if !is_idle {
        (sparkline(reader.text(words::LOAD_COURSE), &lines, SAMPLES_MAX - 1))
    } }
}

/// Shows how many entries in a list are left out.
pub(super) fn left_out(reader: &Reader, listed: usize) -> Markup {
    let more = listed.saturating_sub(WEB_LISTED_MAX);
    html! { @if more > 0 { p.dim { (reader.text(words::NOT_SHOWN)) " " (count(more)) } } }
}

/// Returns the address of a table's page.
pub(super) fn link(reader: &Reader, table: &TableName) -> String {
    reader.link(&format!("/tables/{}", escaped(&table.to_string())), &[])
}

fn state(reader: &Reader, table: &Table) -> &'static str {
    reader.text(match table.state() {
        TableState::Enabled => words::ENABLED,
        TableState::Disabled => words::DISABLED,
    })
}

/// Returns a table's declaration in the template language; `None` if it has none.
fn declared(table: &Table, attribute: &str) -> Option<String> {
    let stored = table.descriptor().attributes.get(attribute.as_bytes())?;
    let stored = String::from_utf8_lossy(stored);
    // The language version comes first.
    Some(escape_controls(stored.split_once(' ').map_or(&*stored, |(_, text)| text)))
}

/// Shows a table.
pub(super) fn one(web: &Web, reader: &Reader, name: &str) -> Result<Page> {
    let table = web.context.cluster.store.table(&TableName::parse(name)?)?;
    let text = |text| reader.text(text);
    let size = Totals::of(table.regions()).size;
    let all_requests = web.context.cluster.store.requests().tables;
    let requests = all_requests.get(table.name()).copied().unwrap_or_default();
    let body = html! {
        p {
            (state(reader, &table)) " · " (bytes(size.file_bytes)) " " (text(words::IN_FILES)) " · "
            (bytes(size.memstore_bytes)) " " (text(words::IN_MEMORY)) " · "
            (text(words::READS)) (text(words::COLON)) (number(requests.reads)) " · "
            (text(words::WRITES)) (text(words::COLON)) (number(requests.writes)) " · "
            a href=(reader.link("/query", &[("table", name)])) { (text(words::QUERY)) } " · "
            a href=(reader.link(&format!("/heat/{}", escaped(name)), &[])) { (text(words::HEAT)) }
        }
        h2 { (text(words::TEMPLATE)) } (template(reader, &table))
        h2 { (text(words::COLUMNS)) } (columns(reader, &table))
        h2 { (text(words::INDEXES)) } (indexes(web, reader, &table)?)
        h2 { (text(words::FAMILIES)) } (families(reader, &table))
        h2 { (text(words::ATTRIBUTES)) } (attributes(reader, &table))
        h2 { (text(words::REGIONS)) } (regions(web, reader, &table))
    };
    Ok(Page::new(Place::Tables, table.name().to_string(), body))
}

fn none(reader: &Reader) -> Markup {
    html! { p.dim { (reader.text(words::NONE)) } }
}

/// Shows a declaration that this version cannot read.
fn unreadable(reader: &Reader, stored: &str, error: &rowhouse_model::Error) -> Markup {
    html! { pre { (stored) } (shown::error(reader, error)) }
}

fn order(reader: &Reader, order: FieldOrder) -> &'static str {
    reader.text(match order {
        FieldOrder::Ordered => words::ORDERED,
        FieldOrder::AsStored => words::ORDERED_AS_STORED,
        FieldOrder::Unordered => words::UNORDERED,
    })
}

fn template(reader: &Reader, table: &Table) -> Markup {
    let Some(stored) = declared(table, KEY_ATTRIBUTE) else { return none(reader) };
    let schema = match KeySchema::of_table(table.descriptor()) {
        Ok(Some(schema)) => schema,
        Ok(None) => return none(reader),
        Err(error) => return unreadable(reader, &stored, &error),
    };
    html! {
        pre { (stored) }
        ul {
            @for field in schema.fields() {
                li { code { "[" (field) "]" } " " span.dim { (order(reader, field.order())) } }
            }
            @for computed in schema.computed() {
                li { code { "[" (computed) "]" } " " span.dim { (reader.text(words::COMPUTED)) } }
            }
        }
    }
}

fn columns(reader: &Reader, table: &Table) -> Markup {
    let Some(stored) = declared(table, COLUMNS_ATTRIBUTE) else { return none(reader) };
    match ColumnSchema::of_table(table.descriptor()) {
        Ok(Some(schema)) => html! {
            ul { @for column in schema.columns() {
                li { code { (column.name()) } " " code.dim { (escape_controls(&column.to_string())) } }
            } }
        },
        Ok(None) => none(reader),
        Err(error) => unreadable(reader, &stored, &error),
    }
}

fn indexes(web: &Web, reader: &Reader, table: &Arc<Table>) -> Result<Markup> {
    let Some(stored) = declared(table, INDEXES_ATTRIBUTE) else { return Ok(none(reader)) };
    let schema = match table.indexes() {
        Ok(Some(schema)) => schema,
        Ok(None) => return Ok(none(reader)),
        Err(error) => return Ok(unreadable(reader, &stored, &error)),
    };
    let mut rows = Vec::new();
    for index in schema.indexes() {
        let name = index.table_name(table.name())?;
        // It may have been dropped since.
        let entries = web.context.cluster.store.table(&name).ok();
        rows.push((index, name, entries));
    }
    Ok(html! { div.wide { table {
        thead { tr {
            th { (reader.text(words::INDEX)) } th { (reader.text(words::DECLARATION)) }
            th.number { (reader.text(words::FILE_BYTES)) } th { (reader.text(words::STATE)) }
        } }
        tbody { @for (index, name, entries) in rows { tr {
            td { a href=(link(reader, &name)) { (index.name()) } }
            td { code { (escape_controls(&index.to_string())) } }
            td.number { @if let Some(entries) = &entries { (bytes(Totals::of(entries.regions()).size.file_bytes)) } }
            td { @if let Some(entries) = &entries { (index_state(reader, table, entries)) } }
        } } }
    } } })
}

fn families(reader: &Reader, table: &Table) -> Markup {
    let mut sizes = BTreeMap::<_, RegionSize>::new();
    for (family, size) in table.regions().iter().flat_map(|region| region.family_sizes()) {
        sizes.entry(family).or_default().add(&size);
    }
    html! { div.wide { table {
        thead { tr {
            th { (reader.text(words::FAMILY)) }
            th.number { (reader.text(words::FILES)) }
            th.number { (reader.text(words::FILE_BYTES)) }
            th.number { (reader.text(words::MEMSTORE_BYTES)) }
            th { (reader.text(words::ATTRIBUTES)) }
        } }
        tbody { @for family in table.descriptor().families() {
            @let size = sizes.get(family.name()).copied().unwrap_or_default();
            tr {
                td { code { (escape(family.name())) } }
                td.number { (count(size.files)) }
                td.number { (bytes(size.file_bytes)) }
                td.number { (bytes(size.memstore_bytes)) }
                td { @for (name, value) in &family.attributes {
                    code { (shortened(&escape(name))) "=" (shortened(&escape(value))) } " "
                } }
            }
        } }
    } } }
}

/// Shows a table's attributes and configuration, without the declarations shown above.
fn attributes(reader: &Reader, table: &Table) -> Markup {
    let shown = [KEY_ATTRIBUTE, COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE].map(str::as_bytes);
    let attributes = &table.descriptor().attributes;
    let attributes = attributes.iter().filter(|(name, _)| !shown.contains(&&name[..]));
    let attributes = attributes.map(|(name, value)| (escape(name), escape(value)));
    let configured = table.descriptor().configuration.iter();
    let configured =
        configured.map(|(name, value)| (escape_controls(name), escape_controls(value)));
    let all: Vec<_> = attributes.chain(configured).collect();
    html! {
        @if all.is_empty() { (none(reader)) }
        ul { @for (name, value) in all { li { code { (shortened(&name)) "=" (shortened(&value)) } } } }
    }
}

fn regions(web: &Web, reader: &Reader, table: &Table) -> Markup {
    let keys = Keys::of(table.descriptor());
    let members = &web.context.cluster.members;
    let headings = [words::FILE_BYTES, words::MEMSTORE_BYTES, words::READS, words::WRITES];
    html! {
        div.wide { table {
            thead { tr {
                th { (reader.text(words::START)) } th { (reader.text(words::STOP)) }
                th { (reader.text(words::SERVER)) }
                @for heading in headings { th.number { (reader.text(heading)) } }
                th { (reader.text(words::MAJOR_COMPACTION)) } th { (reader.text(words::REGION)) }
            } }
            tbody { @for region in table.regions().iter().take(WEB_LISTED_MAX) {
                @let size = region.size();
                @let requests = region.requests();
                @let assignment = region.assignment();
                tr {
                    td { (keys.start(reader, &region.info().range.start)) }
                    td { (keys.stop(reader, &region.info().range.stop)) }
                    td {
                        @match members.live_number(assignment.server) {
                            Some(server) if assignment.in_service => {
                                (server.name.host) ":" (server.name.port)
                            }
                            _ => span.bad { (reader.text(words::NOT_IN_SERVICE)) },
                        }
                    }
                    td.number { (bytes(size.file_bytes)) }
                    td.number { (bytes(size.memstore_bytes)) }
                    td.number { (number(requests.reads)) }
                    td.number { (number(requests.writes)) }
                    td { @if let Some(millis) = region.last_major_compaction() { (time(millis)) } }
                    td { code.dim { (region.name().encoded) } }
                }
            } }
        } }
        (left_out(reader, table.regions().len()))
    }
}
