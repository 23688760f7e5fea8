//! The query box: the plan of a query, and the first page of its rows, decoded.

use std::sync::Arc;
use std::time::Instant;

use maud::{Markup, html};
use rowhouse_model::{
    Error, Result, Row, Scan, TableDescriptor, TableName, escape, escape_controls,
};
use rowhouse_schema::{ColumnSchema, KeySchema, Predicate, TimeZone};
use rowhouse_store::{QueryScan, Region, RegionScanner, ScanLimits, Scanned, Store, Table};

use super::Web;
use super::page::{Page, Place, status_of};
use super::reader::Reader;
use super::shown::{Keys, bytes, count, shortened};
use super::{tables, words};
use crate::limits::{
    WEB_FAMILY_CELLS_MAX, WEB_LISTED_MAX, WEB_QUERY_ROWS_MAX, WEB_QUERY_WAIT, WEB_SHOWN_CHARS_MAX,
};

/// Bytes of a row after which the rest of it is left out.
const ROW_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a value above which it is not decoded.
const DECODED_BYTES_MAX: usize = 4 << 10;

/// Shows the box and, if the address has a table, the plan and rows of the query. Without a query
/// these are the first rows of the table.
pub(super) fn run(web: &Web, reader: &Reader) -> Result<Page> {
    let (table, query) = (reader.param("table"), reader.param("q"));
    let answer = match table {
        "" => Ok(html! {}),
        table => answer(web, reader, table, query),
    };
    let status = answer.as_ref().err().map(status_of);
    let body = html! {
        (form(web, reader, table, query))
        @match answer {
            Ok(answer) => (answer),
            Err(error) => p.error role="alert" lang="en" { (error) },
        }
    };
    let mut page = Page::new(Place::Query, reader.text(words::QUERY), body);
    page.status = status.unwrap_or(page.status);
    Ok(page)
}

fn form(web: &Web, reader: &Reader, asked: &str, query: &str) -> Markup {
    let tables = web.context.cluster.store.tables();
    html! {
        form action="/query" method="get" {
            @if let Some(lang) = reader.chosen_lang() { input type="hidden" name="lang" value=(lang); }
            label {
                (reader.text(words::TABLE))
                select name="table" required {
                    @for table in tables.iter().take(WEB_LISTED_MAX) {
                        @let name = table.name().to_string();
                        option value=(name) selected[name == asked] { (name) }
                    }
                }
            }
            label.grow {
                (reader.text(words::QUERY))
                input name="q" value=(query) autocomplete="off" spellcheck="false"
                    placeholder="user = 'bob' and at during 2022-12";
            }
            button { (reader.text(words::RUN)) }
        }
        p.dim { (reader.text(words::QUERY_MORE)) }
    }
}

fn answer(web: &Web, reader: &Reader, name: &str, query: &str) -> Result<Markup> {
    let store = &web.context.cluster.store;
    let table = store.table(&TableName::parse(name)?)?;
    let plan = match query.trim() {
        "" => None,
        query => Some(plan(store, &table, query)?),
    };
    let found = Found::read(store, &table, query.trim(), Instant::now() + WEB_QUERY_WAIT)?;
    Ok(html! {
        @if let Some(plan) = plan {
            h2 { (reader.text(words::PLAN)) }
            pre lang="en" { (plan) }
        }
        h2 { (reader.text(words::ROWS)) }
        (rows(reader, &table, &found))
    })
}

/// Returns the plan of a query as the shell's `explain` prints it.
fn plan(store: &Store, table: &Arc<Table>, query: &str) -> Result<String> {
    let (descriptor, predicate) = (table.descriptor(), Predicate::parse(query)?);
    let (key, columns) = (KeySchema::of_table(descriptor)?, ColumnSchema::of_table(descriptor)?);
    if predicate.has_matches() {
        let indexes = table.indexes()?;
        let (Some(indexes), Some(columns)) = (indexes, &columns) else {
            let message = format!("table {} has no full-text index", table.name());
            return Err(Error::invalid(message));
        };
        let plan = indexes.search_plan(key.as_ref(), columns, &predicate, &TimeZone::UTC, None)?;
        return Ok(plan.to_string());
    }
    let Some(key) = key else {
        let message = format!("a query needs a row-key template, and {} has none", table.name());
        return Err(Error::invalid(message));
    };
    let plan = match &columns {
        Some(columns) => key.plan_with_columns(columns, &predicate, &TimeZone::UTC)?,
        None => key.plan_in(&predicate, &TimeZone::UTC)?,
    };
    let limit = Some(WEB_QUERY_ROWS_MAX as u64);
    let scan = Scan::all();
    let asked = QueryScan { query, scan: &scan, limit, as_of: 0 };
    Ok(match store.query_index(table.name(), &asked)? {
        Some(index) => {
            format!("access: by index {}\n{index}\nby the key:\n{plan}", index.index().name())
        }
        None => format!("access: by the key\n{plan}{}", plan.reading()),
    })
}

/// Why no more rows were read.
#[derive(Debug, PartialEq, Eq)]
enum Stop {
    End,
    Rows,
    Time,
}

/// The first rows of a query.
struct Found {
    /// Each with whether cells of it are left out.
    rows: Vec<(Row, bool)>,
    stop: Stop,
}

impl Found {
    /// Reads region after region until there are enough rows or the time is over.
    fn read(store: &Store, table: &Table, query: &str, until: Instant) -> Result<Self> {
        let mut found = Self { rows: Vec::new(), stop: Stop::End };
        for region in table.regions() {
            let mut scanner = open(store, region, query)?;
            if !found.read_region(&mut scanner, until)? {
                break;
            }
        }
        Ok(found)
    }

    /// Returns whether to go on in the next region.
    fn read_region(&mut self, scanner: &mut RegionScanner, until: Instant) -> Result<bool> {
        let limits = ScanLimits { bytes: ROW_BYTES_MAX, until: Some(until) };
        let mut is_rest = false;
        loop {
            if Instant::now() >= until {
                self.stop = Stop::Time;
                return Ok(false);
            }
            match scanner.next_part(&limits)? {
                Scanned::End => return Ok(true),
                Scanned::Paused(_) => {}
                // The rest of a row that is shown already.
                Scanned::Row { is_partial, .. } if is_rest => is_rest = is_partial,
                Scanned::Row { .. } if self.rows.len() == WEB_QUERY_ROWS_MAX => {
                    self.stop = Stop::Rows;
                    return Ok(false);
                }
                Scanned::Row { row, is_partial } => {
                    is_rest = is_partial;
                    self.rows.push((row, is_partial));
                }
            }
        }
    }
}

fn open(store: &Store, region: &Region, query: &str) -> Result<RegionScanner> {
    let mut scan = Scan::all();
    // One more than is shown: it says that there are more.
    scan.family_limit = Some(WEB_FAMILY_CELLS_MAX + 1);
    if query.is_empty() {
        return region.scan(&scan);
    }
    let limit = Some(WEB_QUERY_ROWS_MAX as u64);
    store.scan_query(region, &QueryScan { query, scan: &scan, limit, as_of: 0 })
}

fn rows(reader: &Reader, table: &Table, found: &Found) -> Markup {
    let keys = Keys::of(table.descriptor());
    let cells = Cells::of(table.descriptor());
    html! {
        p {
            a href=(tables::link(reader, table.name())) { (table.name()) } ": "
            (count(found.rows.len())) " " (reader.text(words::ROWS_FOUND)) ", "
            (reader.text(match found.stop {
                Stop::End => words::ALL_ROWS,
                Stop::Rows => words::MORE_ROWS,
                Stop::Time => words::OUT_OF_TIME,
            }))
        }
        div.wide { table {
            thead { tr { th { (reader.text(words::ROW)) } th { (reader.text(words::CELLS)) } } }
            tbody { @for (row, is_cut) in &found.rows { tr {
                td { (keys.show(row.key())) }
                td { (cells.show(row, *is_cut)) }
            } } }
        } }
    }
}

/// The cells of a table, decoded by the declarations of its columns.
struct Cells(Option<ColumnSchema>);

impl Cells {
    fn of(table: &TableDescriptor) -> Self {
        Self(ColumnSchema::of_table(table).ok().flatten())
    }

    fn show(&self, row: &Row, is_cut: bool) -> Markup {
        let (mut family, mut of_family, mut is_cut) = (None, 0, is_cut);
        let mut texts = Vec::new();
        for cell in row.cells() {
            of_family = if family == Some(cell.family()) { of_family + 1 } else { 1 };
            family = Some(cell.family());
            match of_family > WEB_FAMILY_CELLS_MAX {
                true => is_cut = true,
                false => texts.push(self.text(cell.family(), cell.qualifier(), cell.value())),
            }
        }
        html! {
            @for text in texts { div { code { (text) } } }
            @if is_cut { "…" }
        }
    }

    fn text(&self, family: &[u8], qualifier: &[u8], value: &[u8]) -> String {
        if value.len() <= DECODED_BYTES_MAX
            && let Some(Ok(cell)) = self.0.as_ref().map(|it| it.decode(family, qualifier, value))
        {
            return shortened(&escape_controls(&cell.to_string()));
        }
        let begin = &value[..value.len().min(WEB_SHOWN_CHARS_MAX)];
        let more = match value.len() > begin.len() {
            true => format!("… ({})", bytes(value.len() as u64)),
            false => String::new(),
        };
        let column = shortened(&format!("{}:{}", escape(family), escape(qualifier)));
        format!("{column}={}{more}", escape(begin))
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, Put};

    use super::*;

    #[test]
    fn a_query_ends_when_its_time_is_over_after_enough_rows_or_with_the_rows() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let name = TableName::parse("t").unwrap();
        let table = TableDescriptor::new(name.clone()).family(FamilyDescriptor::new("f").unwrap());
        store.create_table(table, &["row10".into()]).unwrap();
        let table = store.table(&name).unwrap();
        let put = |row: usize| {
            let put = Put::new(format!("row{row:02}")).unwrap().add("f", "q", "v").unwrap();
            table.mutate(&put.into()).unwrap();
        };
        let read = |until| {
            let found = Found::read(&store, &table, "", until).unwrap();
            (found.rows.len(), found.stop)
        };
        let later = Instant::now() + std::time::Duration::from_secs(3_600);
        (0..WEB_QUERY_ROWS_MAX).for_each(put);
        assert_eq!(read(later), (WEB_QUERY_ROWS_MAX, Stop::End));
        assert_eq!(read(Instant::now()), (0, Stop::Time));
        put(WEB_QUERY_ROWS_MAX);
        assert_eq!(read(later), (WEB_QUERY_ROWS_MAX, Stop::Rows));
    }
}
