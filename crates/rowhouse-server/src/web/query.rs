//! The query box: a query's plan, and the first page of its rows, decoded.

use std::time::Instant;

use maud::{Markup, html};
use rowhouse_model::{
    Bytes, Error, ErrorKind, Result, Row, RowRange, Scan, TableDescriptor, TableName, escape,
    escape_controls,
};
use rowhouse_query::{QueryScan, StoreKeys, StoreQuery, scan_region};
use rowhouse_schema::{ColumnSchema, KeySchema, PlanPart, Predicate, TimeZone};
use rowhouse_store::{RegionScanner, ScanLimits, Scanned, Table};

use super::page::{Page, Place, status_of};
use super::reader::Reader;
use super::shown::{Keys, bytes, count, shortened};
use super::state::Web;
use super::{shown, tables, words};
use crate::limits::{
    WEB_FAMILY_CELLS_MAX, WEB_LISTED_MAX, WEB_QUERY_ROWS_MAX, WEB_QUERY_WAIT, WEB_SHOWN_CHARS_MAX,
};

/// Bytes of a row after which the rest is left out.
const ROW_BYTES_MAX: u64 = 64 << 10;
/// Value bytes above which a value is not decoded.
const DECODED_BYTES_MAX: usize = 4 << 10;

/// Shows the box and, if the address has a table, the query's plan and rows. Without a query these
/// are the table's first rows.
pub(super) fn run(web: &Web, reader: &Reader) -> Result<Page> {
    let table = reader.param("table");
    let query = reader.param("q");
    let answer = match table {
        "" => Ok(html! {}),
        table => answer(web, reader, table, query),
    };
    let status = answer.as_ref().err().map(status_of);
    let body = html! {
        (form(web, reader, table, query))
        @match answer {
            Ok(answer) => (answer),
            Err(error) => (shown::error(reader, &error)),
        }
    };
    let mut page = Page::new(Place::Query, reader.text(words::QUERY), body);
    page.status = status.unwrap_or(page.status);
    Ok(page)
}

fn form(web: &Web, reader: &Reader, selected_table: &str, query: &str) -> Markup {
    let tables = web.context.cluster.store.tables();
    html! {
        form action="/query" method="get" {
            @if let Some(lang) = reader.chosen_lang() { input type="hidden" name="lang" value=(lang); }
            label {
                (reader.text(words::TABLE))
                select name="table" required {
                    @for table in tables.iter().take(WEB_LISTED_MAX) {
                        @let name = table.name().to_string();
                        option value=(name) selected[name == selected_table] { (name) }
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
    let name = TableName::parse(name)?;
    let until = Instant::now() + WEB_QUERY_WAIT;
    let table = store.table(&name)?;
    let (plan, first_rows) = match Request::of(query.trim())? {
        Request::AllRows => (None, FirstRows::in_regions(&table, None, until)?),
        Request::Matches(query, predicate) => {
            let plan = search_plan(&table, &predicate)?;
            (Some(plan), FirstRows::in_regions(&table, Some((web, query)), until)?)
        }
        Request::Query(query) => {
            let query = StoreQuery::new(store, &name, query)?;
            // One more than is shown: it says that there are more.
            let query = query.limit(WEB_QUERY_ROWS_MAX as u64 + 1).until(until);
            (Some(plan(&query)?), FirstRows::of_query(query, until)?)
        }
    };
    Ok(html! {
        @if let Some(plan) = plan {
            h2 { (reader.text(words::PLAN)) }
            pre lang="en" { (plan) }
        }
        h2 { (reader.text(words::ROWS)) }
        (rows(reader, &table, &first_rows))
    })
}

/// What the box requests.
enum Request<'q> {
    AllRows,
    Matches(&'q str, Predicate),
    Query(&'q str),
}

impl<'q> Request<'q> {
    fn of(query: &'q str) -> Result<Self> {
        if query.is_empty() {
            return Ok(Self::AllRows);
        }
        let predicate = Predicate::parse(query)?;
        Ok(if predicate.has_matches() {
            Self::Matches(query, predicate)
        } else {
            Self::Query(query)
        })
    }
}

/// Returns the plan for a query with `matches` as the shell's `explain` prints it.
fn search_plan(table: &Table, predicate: &Predicate) -> Result<String> {
    let key = KeySchema::of_table(table.descriptor())?;
    let columns = ColumnSchema::of_table(table.descriptor())?;
    let (Some(indexes), Some(columns)) = (table.indexes()?, &columns) else {
        let message = format!("table {} has no full-text index", table.name());
        return Err(Error::invalid(message));
    };
    let plan = indexes.search_plan(key.as_ref(), columns, predicate, &TimeZone::UTC, None)?;
    Ok(plan.to_string())
}

/// Returns the plan for a query as the shell's `explain` prints it.
fn plan(query: &StoreQuery<'_>) -> Result<String> {
    let access = query.access()?;
    let plan = query.plan();
    let by_key = match (access.paths().len(), access.index_plan()) {
        (1, _) => String::new(),
        (_, Some(_)) => format!("{}\nby the key instead:\n", access.to_string().trim_end()),
        (_, None) => format!("{}\nby the key:\n", access.to_string().trim_end()),
    };
    Ok(format!("{by_key}{plan}{}", plan.reading()))
}

/// Why no more rows were read.
#[derive(Debug, PartialEq, Eq)]
enum Stop {
    End,
    Rows,
    Time,
}

/// A query's first rows.
struct FirstRows {
    /// Each row, and whether cells in it are left out.
    rows: Vec<(Row, bool)>,
    stop: Stop,
}

impl FirstRows {
    /// Reads region after region, the rows that match a query or all, until there are enough rows
    /// or the time is over.
    fn in_regions(table: &Table, query: Option<(&Web, &str)>, until: Instant) -> Result<Self> {
        let mut first_rows = Self { rows: Vec::new(), stop: Stop::End };
        let scan = cells_scan();
        for region in table.regions() {
            let mut scanner = match query {
                None => region.scan(&scan)?,
                Some((web, query)) => {
                    let limit = Some(WEB_QUERY_ROWS_MAX as u64);
                    let request =
                        QueryScan { query, scan: &scan, limit, as_of: 0, ignores_tags: false };
                    let cluster = &web.context.cluster;
                    scan_region(&cluster.store, Some(&cluster.search), region, &request)?
                }
            };
            if !first_rows.read_region(&mut scanner, until)? {
                break;
            }
        }
        Ok(first_rows)
    }

    /// Reads a query's rows in the query's order, until there are enough rows or the time is over.
    fn of_query(query: StoreQuery<'_>, until: Instant) -> Result<Self> {
        let mut first_rows = Self { rows: Vec::new(), stop: Stop::End };
        match first_rows.read_keys(query, until) {
            Err(error) if error.kind() == ErrorKind::Timeout => first_rows.stop = Stop::Time,
            read => read?,
        }
        Ok(first_rows)
    }

    fn read_keys(&mut self, query: StoreQuery<'_>, until: Instant) -> Result<()> {
        let mut keys = query.keys()?;
        while let Some(key) = keys.next()? {
            if self.rows.len() == WEB_QUERY_ROWS_MAX {
                self.stop = Stop::Rows;
                break;
            }
            self.rows.extend(row_of(&keys, &key, until)?);
        }
        Ok(())
    }

    /// Returns true if reading goes on in the next region.
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
                // More from a row that is shown already.
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

/// Returns the beginning of a row in a query, and true if cells in the row are left out; `None` if
/// the row's cells have expired.
fn row_of(keys: &StoreKeys, key: &Bytes, until: Instant) -> Result<Option<(Row, bool)>> {
    let limits = ScanLimits { bytes: ROW_BYTES_MAX, until: Some(until) };
    let mut cells = Vec::new();
    let mut is_cut = false;
    for PlanPart { columns, filter } in keys.parts() {
        let range = RowRange::row(key);
        let filter = filter.map(Box::new);
        let scan = Scan { range, columns, filter, ..cells_scan() };
        let mut scanner = keys.table().region_of(key).scan_at(&scan, keys.point())?;
        match scanner.next_part(&limits)? {
            Scanned::Row { row, is_partial } => {
                is_cut |= is_partial;
                cells.extend(row.to_cells());
            }
            Scanned::Paused(_) => {
                return Err(Error::new(ErrorKind::Timeout, "the time of the query is over"));
            }
            Scanned::End => {}
        }
    }
    cells.sort_by(|a, b| a.family().cmp(b.family()));
    Ok((!cells.is_empty()).then(|| (Row::new(cells), is_cut)))
}

/// Returns a scan for as many cells in a row as are shown, and one more: it shows that there are
/// more.
fn cells_scan() -> Scan {
    Scan { family_limit: Some(WEB_FAMILY_CELLS_MAX + 1), ..Scan::all() }
}

fn rows(reader: &Reader, table: &Table, first_rows: &FirstRows) -> Markup {
    let keys = Keys::of(table.descriptor());
    let cells = Cells::of(table.descriptor());
    html! {
        p {
            a href=(tables::link(reader, table.name())) { (table.name()) } (reader.text(words::COLON))
            (count(first_rows.rows.len())) " "
            (reader.text(if first_rows.rows.len() == 1 { words::COUNTED_ROW } else { words::COUNTED_ROWS }))
            (reader.text(words::COMMA))
            (reader.text(match first_rows.stop {
                Stop::End => words::ALL_ROWS,
                Stop::Rows => words::MORE_ROWS,
                Stop::Time => words::OUT_OF_TIME,
            }))
        }
        div.wide { table {
            thead { tr { th { (reader.text(words::ROW)) } th { (reader.text(words::CELLS)) } } }
            tbody { @for (row, is_cut) in &first_rows.rows { tr {
                td { (keys.show(row.key())) }
                td { (cells.show(row, *is_cut)) }
            } } }
        } }
    }
}

/// A table's cells, decoded by the column declarations.
struct Cells(Option<ColumnSchema>);

impl Cells {
    fn of(table: &TableDescriptor) -> Self {
        Self(ColumnSchema::of_table(table).ok().flatten())
    }

    fn show(&self, row: &Row, is_cut: bool) -> Markup {
        let mut family = None;
        let mut of_family = 0;
        let mut is_cut = is_cut;
        let mut texts = Vec::new();
        for cell in row.cells() {
            of_family = if family == Some(cell.family()) { of_family + 1 } else { 1 };
            family = Some(cell.family());
            if of_family > WEB_FAMILY_CELLS_MAX {
                is_cut = true;
            } else {
                texts.push(self.text(cell.family(), cell.qualifier(), cell.value()));
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
        let more = if value.len() > begin.len() {
            format!("… ({})", bytes(value.len() as u64))
        } else {
            String::new()
        };
        let column = shortened(&format!("{}:{}", escape(family), escape(qualifier)));
        format!("{column}={}{more}", escape(begin))
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, Put};
    use rowhouse_store::Store;

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
            let first_rows = FirstRows::in_regions(&table, None, until).unwrap();
            (first_rows.rows.len(), first_rows.stop)
        };
        let later = Instant::now() + std::time::Duration::from_secs(3_600);
        (0..WEB_QUERY_ROWS_MAX).for_each(put);
        assert_eq!(read(later), (WEB_QUERY_ROWS_MAX, Stop::End));
        assert_eq!(read(Instant::now()), (0, Stop::Time));
        put(WEB_QUERY_ROWS_MAX);
        assert_eq!(read(later), (WEB_QUERY_ROWS_MAX, Stop::Rows));
    }
}
