//! Runs a search, and makes the answer.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind, Result, TableName, escape};
use rowhouse_schema::{ColumnSchema, Index, IndexSchema, KeySchema, SearchPlan};
use rowhouse_search::{DocumentQuery, Matches, OrderKey, OrderedPage, PagePart, ROW_NAME};
use rowhouse_store::Table;

use super::AnswerMemory;
use super::answer::{Data, Documents};
use super::cursor::{self, Mark};
use super::documents::Shape;
use super::facets;
use super::highlight::Highlights;
use super::params::Params;
use super::request::{Request, SCORE};
use super::shared::RetainedSearch;
use crate::limits::{SOLR_ANSWER_BYTES_MAX, SOLR_SEARCH_TIME};
use crate::web::state::Web;

/// Returns the table with a name.
pub(super) fn table_of(web: &Web, name: &str) -> Result<Arc<Table>> {
    web.context.cluster.store.table(&TableName::parse(name)?)
}

/// Returns the answer to a request.
pub(super) fn answer(
    web: &Web,
    table: &str,
    params: &Params,
    started: Instant,
    memory: &mut AnswerMemory,
) -> Result<Data> {
    let request = Request::read(params)?;
    let table = table_of(web, table)?;
    let search = Search::new(web, &request, &table)?;
    let mut answer = search.run(params, memory)?;
    if request.has_header {
        answer.insert(0, params.header(0, started));
    }
    Ok(Data::Named(answer))
}

/// A search in a table.
struct Search<'a> {
    web: &'a Web,
    request: &'a Request,
    table: &'a Table,
    key: Option<KeySchema>,
    columns: ColumnSchema,
    plan: SearchPlan,
    documents: DocumentQuery,
    default_field: Option<String>,
    deadline: Instant,
}

impl<'a> Search<'a> {
    fn new(web: &'a Web, request: &'a Request, table: &'a Table) -> Result<Self> {
        let descriptor = table.descriptor();
        let key = KeySchema::of_table(descriptor)?;
        let columns = ColumnSchema::of_table(descriptor)?;
        let (Some(indexes), Some(columns)) = (table.indexes()?, columns) else {
            let message = format!("table {} has no full-text index", table.name());
            return Err(Error::invalid(message));
        };
        let index = index_of(indexes, key.as_ref(), request).ok_or_else(|| {
            Error::invalid(format!("table {} has no full-text index", table.name()))
        })?;
        let default_field = default_field(index, request);
        let query = &request.query;
        let filters = &request.filters;
        let documents =
            DocumentQuery::new(index, key.as_ref(), query, filters, default_field.as_deref())?;
        let plan = indexes.all_documents(key.as_ref(), &columns, index.name())?;
        let deadline = Instant::now() + SOLR_SEARCH_TIME;
        Ok(Self { web, request, table, key, columns, plan, documents, default_field, deadline })
    }

    fn run(&self, params: &Params, memory: &mut AnswerMemory) -> Result<Vec<(String, Data)>> {
        let order = self.order()?;
        let fingerprint = cursor::fingerprint(&self.table.name().to_string(), params);
        let values = order.iter().filter(|key| matches!(key, OrderKey::Value(..))).count();
        let requested = self.request.cursor.as_deref().filter(|mark| *mark != cursor::FIRST);
        let mark = requested.map(|mark| Mark::parse(mark, fingerprint, values)).transpose()?;
        let view = mark.as_ref().and_then(|mark| mark.view);
        let retained = match view {
            Some(view) => self.web.solr.retained.get(view)?,
            None => {
                let matches = self.find(&self.documents)?;
                let table = Arc::clone(matches.table());
                Arc::new(RetainedSearch { table, matches: Mutex::new(matches) })
            }
        };
        let mut matches = retained.matches.lock();
        matches.renew(Some(self.deadline));
        let part = match &mark {
            Some(mark) => PagePart { after: Some(&mark.after), ..self.request.part() },
            None => self.request.part(),
        };
        let page = self.page(&matches, &order, part)?;
        let mut answer = self.documents_of(&matches, &page, memory)?;
        if self.request.has_facets {
            answer.push(("facet_counts".to_owned(), self.facets(&matches)?));
        }
        drop(matches);
        if let Some(requested) = &self.request.cursor {
            let next = match page.rows.last() {
                // The requested mark says that there are no more.
                None => requested.clone(),
                Some(last) => {
                    let is_retained = self.request.is_by_score();
                    let pin = || self.web.solr.retained.pin(view, Arc::clone(&retained));
                    let view = is_retained.then(pin);
                    Mark { view, after: last.clone() }.write(fingerprint)
                }
            };
            answer.push(("nextCursorMark".to_owned(), Data::Text(next)));
        }
        Ok(answer)
    }

    fn find(&self, documents: &DocumentQuery) -> Result<Matches> {
        let engine = &self.web.context.cluster.search;
        engine.find_documents(self.table.name(), &self.plan, documents, Some(self.deadline))
    }

    fn order(&self) -> Result<Vec<OrderKey>> {
        let mut order = Vec::new();
        for (name, direction) in &self.request.sort {
            order.push(match &name[..] {
                SCORE => OrderKey::Score(*direction),
                ROW_NAME => OrderKey::Row(*direction),
                name => {
                    let name = facets::declared_name(self.plan.index(), name);
                    OrderKey::Value(name.to_owned(), *direction)
                }
            });
            if name == ROW_NAME {
                // No two rows are alike.
                break;
            }
        }
        Ok(order)
    }

    fn page(
        &self,
        matches: &Matches,
        order: &[OrderKey],
        part: PagePart<'_>,
    ) -> Result<OrderedPage> {
        // Scores cost more than the documents.
        let is_counted_only = part.limit == 0 && !self.request.fields.score;
        let order = if is_counted_only { &[] } else { order };
        matches.ordered(order, self.request.fields.score, part)
    }

    /// Returns a page's documents, and their highlights.
    fn documents_of(
        &self,
        matches: &Matches,
        page: &OrderedPage,
        memory: &mut AnswerMemory,
    ) -> Result<Vec<(String, Data)>> {
        let mut shape = Shape::new(&self.request.fields, self.key.as_ref(), &self.columns)?;
        let highlights = self.request.highlight.as_ref().map(|highlight| {
            let default_field = self.default_field.as_deref();
            let index = self.plan.index();
            Highlights::new(highlight, &self.documents, index, &self.columns, default_field)
        });
        let highlights = highlights.transpose()?;
        highlights.iter().flat_map(Highlights::columns).for_each(|it| shape.read_also(it));
        let mut documents = Vec::new();
        let mut marked = Vec::new();
        let mut bytes = 0;
        for row in &page.rows {
            if Instant::now() >= self.deadline {
                return Err(Error::new(ErrorKind::Timeout, "the search took too long"));
            }
            let cells = shape.get(&row.row)?.map(|get| matches.row(&get)).transpose()?;
            bytes += cells.as_ref().map_or(0, |cells| cells.byte_len()) + row.row.len() as u64;
            documents.push(shape.document(row, cells.as_ref()));
            if let (Some(highlights), Some(cells)) = (&highlights, &cells) {
                marked.push((escape(&row.row), highlights.of_row(cells, &mut bytes)));
            }
            memory.hold(bytes)?;
            if bytes > SOLR_ANSWER_BYTES_MAX {
                return Err(Error::invalid(format!(
                    "the documents are too large; ask for fewer rows or fields: rows={}, max={} bytes",
                    self.request.rows, SOLR_ANSWER_BYTES_MAX
                )));
            }
        }
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let score_max = page.score_max.filter(|_| self.request.fields.score);
        let documents = Documents {
            count: number(page.count),
            start: number(self.request.start as u64),
            score_max,
            documents,
        };
        let mut answer = vec![("response".to_owned(), Data::Documents(documents))];
        if highlights.is_some() {
            answer.push(("highlighting".to_owned(), Data::Named(marked)));
        }
        Ok(answer)
    }

    fn facets(&self, matches: &Matches) -> Result<Data> {
        let mut fields: Vec<(String, Data)> = Vec::new();
        for facet in &self.request.facets {
            if fields.iter().any(|(name, _)| *name == facet.field) {
                continue;
            }
            let all = || self.find(&DocumentQuery::all());
            let counts = facets::of_field(facet, self.plan.index(), matches, all)?;
            fields.push((facet.field.clone(), counts));
        }
        let none = || Data::Named(Vec::new());
        Ok(Data::Named(vec![
            ("facet_queries".to_owned(), none()),
            ("facet_fields".to_owned(), Data::Named(fields)),
            ("facet_ranges".to_owned(), none()),
            ("facet_intervals".to_owned(), none()),
            ("facet_heatmaps".to_owned(), none()),
        ]))
    }
}

/// Returns the first full-text index that has all fields in a request that the key lacks, or else
/// the first one.
fn index_of<'i>(
    indexes: &'i IndexSchema,
    key: Option<&KeySchema>,
    request: &Request,
) -> Option<&'i Index> {
    let searches = || indexes.indexes().iter().filter(|index| index.search().is_some());
    let has_all = |index: &&Index| {
        request.names().all(|name| {
            let of_key = key.is_some_and(|key| key.field(name).is_some());
            let declared = facets::declared_name(index, name);
            let of_index = index.search().is_some_and(|search| search.field(declared).is_some());
            name == ROW_NAME || of_key || of_index
        })
    };
    searches().find(has_all).or_else(|| searches().next())
}

/// Returns the field for clauses without one: the parameter's field, or the only text in the index.
fn default_field(index: &Index, request: &Request) -> Option<String> {
    if request.default_field.is_some() {
        return request.default_field.clone();
    }
    let mut texts = index.search()?.fields().iter().filter(|field| field.is_text());
    let first = texts.next()?;
    texts.next().is_none().then(|| first.name().to_owned())
}
