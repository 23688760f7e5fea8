//! Queries over documents as tantivy queries.

use std::sync::Arc;

use rowhouse_model::{Error, Result};
use rowhouse_schema::SearchField;
use rowhouse_store::SearchRead;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, Query, TermQuery,
};

use super::doc_predicate::{Checked, DocQuery, DocTest, Docs};
use super::documents::{Alone, DocumentQuery, Test};
use super::watch::Watch;
use crate::lucene::Occurs;
use crate::rows::search_of;
use crate::segment::{Layout, VALUE_BYTES_MAX};
use crate::view::View;
use crate::words::{Excluded, any_of, lookup_query};

/// Returns the tantivy query that finds the documents.
pub(super) fn query_of(
    documents: &DocumentQuery,
    layout: &Layout,
    watch: &Arc<Watch>,
) -> Box<dyn Query> {
    let compiler = Compiler { layout, watch };
    if documents.filters.is_empty() {
        return compiler.query(&documents.query);
    }
    let filters = documents.filters.iter().cloned();
    let filters: Vec<_> = filters.map(|test| Test::Constant(Box::new(test), 0.0)).collect();
    let tests = std::iter::once(&documents.query).chain(&filters);
    compiler.group(&tests.map(|test| (Occurs::Must, test)).collect::<Vec<_>>())
}

struct Compiler<'a> {
    layout: &'a Layout,
    watch: &'a Arc<Watch>,
}

impl Compiler<'_> {
    fn query(&self, test: &Test) -> Box<dyn Query> {
        match test {
            Test::Nothing => Box::new(EmptyQuery),
            Test::Words(field, lookups) => {
                let texts = self.layout.texts(*field);
                let queries = lookups.iter().filter_map(|(analyser, lookup)| {
                    let (_, field) = texts.iter().find(|(other, _)| other == analyser)?;
                    Some(lookup_query(lookup.clone(), *field))
                });
                any_of(queries.collect()).unwrap_or_else(|| Box::new(EmptyQuery))
            }
            Test::Boosted(test, boost) => Box::new(BoostQuery::new(self.query(test), *boost)),
            Test::Constant(test, score) => Box::new(ConstScoreQuery::new(self.query(test), *score)),
            Test::Group(clauses) => {
                let clauses = clauses.iter().map(|(occurs, test)| (*occurs, test));
                self.group(&clauses.collect::<Vec<_>>())
            }
            Test::Alone(alone) => Box::new(DocQuery(self.docs(alone, 1.0))),
        }
    }

    fn group(&self, clauses: &[(Occurs, &Test)]) -> Box<dyn Query> {
        let mut queries = Vec::with_capacity(clauses.len());
        // Tests on documents that other clauses find.
        let mut checks: Vec<Arc<Docs>> = Vec::new();
        let mut has_must = false;
        for (occurs, test) in clauses {
            let occur = match occurs {
                Occurs::Should => Occur::Should,
                Occurs::MustNot => Occur::MustNot,
                Occurs::Must => Occur::Must,
            };
            has_must |= occur == Occur::Must;
            if occur == Occur::Must
                && let Some((test, score)) = alone(test)
                && let docs = self.docs(test, score)
                && !docs.is_of_ranges()
            {
                checks.push(docs);
                continue;
            }
            let query = self.query(test);
            queries.push((
                occur,
                match occur {
                    Occur::MustNot if !query.is::<TermQuery>() => {
                        Box::new(Excluded(query)) as Box<dyn Query>
                    }
                    _ => query,
                },
            ));
        }
        checks.sort_by_key(|docs| docs.is_costly());
        if !checks.is_empty() && !queries.iter().any(|(occur, _)| *occur == Occur::Must) {
            queries.push((Occur::Must, Box::new(DocQuery(checks.remove(0)))));
        }
        let least = usize::from(!has_must);
        let query = BooleanQuery::with_minimum_required_clauses(queries, least);
        if checks.is_empty() {
            Box::new(query)
        } else {
            Box::new(Checked { query: Box::new(query), checks })
        }
    }

    fn docs(&self, test: &Alone, score: f32) -> Arc<Docs> {
        let layout = self.layout;
        let test = match test {
            Alone::Values(field, ranges) => {
                let column = layout.value_column(*field);
                DocTest::Values { column, ranges: ranges.clone() }
            }
            Alone::Rows(rows) => DocTest::Rows(rows.clone()),
            Alone::Has(field) if layout.value(*field).is_some() => {
                DocTest::HasValue(layout.value_column(*field))
            }
            Alone::Has(field) => {
                DocTest::HasWord(layout.texts(*field).iter().map(|it| it.1).collect())
            }
        };
        Arc::new(Docs::new(test, layout, score, self.watch))
    }
}

/// Returns a condition that is without words, and its score.
fn alone(test: &Test) -> Option<(&Alone, f32)> {
    match test {
        Test::Alone(test) => Some((test, 1.0)),
        Test::Boosted(test, boost) => alone(test).map(|(test, score)| (test, score * boost)),
        Test::Constant(test, score) => alone(test).map(|(test, _)| (test, *score)),
        Test::Words(..) | Test::Group(_) | Test::Nothing => None,
    }
}

/// Refuses conditions on fields that have a value which is too long for the index: it cannot tell
/// whether the row matches.
pub(super) fn check_values(
    documents: &DocumentQuery,
    read: &SearchRead,
    layout: &Layout,
    view: &View,
) -> Result<()> {
    let mut fields = Vec::new();
    let tests = std::iter::once(&documents.query).chain(&documents.filters);
    tests.for_each(|test| fields_of_values(test, &mut fields));
    fields.sort_unstable();
    fields.dedup();
    for field in fields {
        let column = layout.value_column(field);
        for viewed in &view.segments {
            if viewed.has_unknown(&column)? {
                let name = search_of(read)?.fields().get(field).map_or("", SearchField::name);
                return Err(Error::unsupported(format!(
                    "a value is too long for conditions on its field: field={name}, \
                     max={VALUE_BYTES_MAX} bytes"
                )));
            }
        }
    }
    Ok(())
}

fn fields_of_values(test: &Test, fields: &mut Vec<usize>) {
    match test {
        Test::Alone(Alone::Values(field, _)) => fields.push(*field),
        Test::Boosted(test, _) | Test::Constant(test, _) => fields_of_values(test, fields),
        Test::Group(clauses) => clauses.iter().for_each(|(_, it)| fields_of_values(it, fields)),
        Test::Words(..) | Test::Alone(_) | Test::Nothing => {}
    }
}
