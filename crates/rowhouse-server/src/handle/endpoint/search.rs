//! Searches full-text indexes.

use std::sync::Arc;

use rowhouse_format::convert::search::{
    SearchCall, count_to_proto, ended_view_to_proto, facets_to_proto, matches_to_proto,
};
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Result, SearchPlace, SearchRequest, SearchText, TableName};
use rowhouse_schema::Direction;
use rowhouse_search::Matches;

use crate::context::Context;
use crate::limits::{SEARCH_FACETS_MAX, SEARCH_ROWS_MAX};

/// Answers a call to the service.
pub(super) fn answer(
    context: &Context,
    table: &TableName,
    call: SearchCall,
) -> Result<proto::NameBytesPair> {
    match call {
        SearchCall::Rows(request) => rows(context, table, &request),
        SearchCall::Count(text) => Ok(count_to_proto(find(context, table, &text)?.count()?)),
        SearchCall::Facets { text, field, values } => {
            let values = (values as usize).min(SEARCH_FACETS_MAX + 1);
            let facets = find(context, table, &text)?.facets(&field, values)?;
            if facets.len() > SEARCH_FACETS_MAX {
                return Err(Error::invalid(format!(
                    "the field has too many values, ask for fewer: field={field}, \
                     max={SEARCH_FACETS_MAX}"
                )));
            }
            Ok(facets_to_proto(facets))
        }
    }
}

fn find(context: &Context, table: &TableName, text: &SearchText) -> Result<Matches> {
    let search = &context.cluster.search;
    search.find(table, &search.plan(table, text)?)
}

/// Returns rows from a search: from a new one, or from the view that an earlier call retained.
fn rows(
    context: &Context,
    table: &TableName,
    request: &SearchRequest,
) -> Result<proto::NameBytesPair> {
    let views = &context.cluster.searches;
    let is_by_score = matches!(request.place, SearchPlace::Score { .. });
    let (matches, mut view) = match request.place {
        SearchPlace::Score { view: Some(view), .. } => match views.get(view) {
            Ok(matches) => (matches, Some(view)),
            Err(error) if error.kind() == ErrorKind::UnknownScanner => {
                return Ok(ended_view_to_proto());
            }
            Err(error) => return Err(error),
        },
        _ => (Arc::new(find(context, table, &request.text)?), None),
    };
    if matches.table().name() != table {
        return Err(Error::invalid(format!(
            "the view is one of table {}, not of {table}",
            matches.table().name()
        )));
    }
    let direction = if request.reversed { Direction::Reverse } else { Direction::Forward };
    let limit = (request.rows as usize).min(SEARCH_ROWS_MAX);
    let rows = matches.rows(&request.place, direction, request.cells.as_ref(), limit);
    let mut answer = match rows {
        Err(error) if error.kind() == ErrorKind::UnknownScanner && view.is_some() => {
            return Ok(ended_view_to_proto());
        }
        rows => rows?,
    };
    if is_by_score {
        if request.ends_view && answer.is_end {
            view.take().into_iter().for_each(|view| views.end(view));
        } else if view.is_some() || !answer.is_end {
            view = Some(views.pin(view, Arc::clone(&matches)));
        }
    }
    answer.view = view;
    Ok(matches_to_proto(answer, request.cells.is_some()))
}
