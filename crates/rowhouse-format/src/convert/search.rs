//! Searches in full-text indexes, rowhouse's own calls: `proto/search.proto`. They are sent as
//! calls to a coprocessor endpoint, which every HBase client can make.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    Error, ErrorKind, FacetCount, MatchingKey, MatchingRows, Result, Row, SearchPlace,
    SearchRequest, SearchText, ValueRow,
};

use super::endpoint::answer;
use super::{CellPlacement, get, result};
use crate::proto::{
    self, NameBytesPair, SearchCountRequest, SearchCountResponse, SearchFacet, SearchFacetsRequest,
    SearchFacetsResponse, SearchOrder, SearchRow, SearchRowsRequest, SearchRowsResponse,
};
use crate::rpc::{CellCodec, CellReader, decode_message};

/// The service name.
pub(super) const SERVICE: &str = "rowhouse.SearchService";

const ROWS: &str = "Rows";
const COUNT: &str = "Count";
const FACETS: &str = "Facets";

/// A call to the service.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchCall {
    /// A search's rows.
    Rows(Box<SearchRequest>),
    /// How many rows the search has.
    Count(SearchText),
    /// How many rows in the search have each value of a field, the most frequent first.
    Facets {
        /// The search.
        text: SearchText,
        /// The field.
        field: String,
        /// The most values to return.
        values: u32,
    },
}

/// Encodes a call to the region with the row.
pub fn call_to_proto(call: SearchCall, row: Bytes) -> proto::CoprocessorServiceCall {
    let (method, request) = match call {
        SearchCall::Rows(request) => (ROWS, rows_to_proto(*request).encode_to_vec()),
        SearchCall::Count(SearchText { query, index }) => {
            (COUNT, SearchCountRequest { query, index }.encode_to_vec())
        }
        SearchCall::Facets { text: SearchText { query, index }, field, values } => {
            (FACETS, SearchFacetsRequest { query, index, field, values }.encode_to_vec())
        }
    };
    proto::CoprocessorServiceCall {
        row,
        service_name: SERVICE.to_owned(),
        method_name: method.to_owned(),
        request: request.into(),
    }
}

/// Decodes a call; `None` for a method that the service does not have.
///
/// # Errors
/// `InvalidRequest` for a field without a name; `Unsupported` for a reversed score order; errors as
/// for decoding gets.
pub(super) fn call_from_proto(method: &str, request: Bytes) -> Result<Option<SearchCall>> {
    Ok(Some(match method {
        ROWS => SearchCall::Rows(Box::new(rows_from_proto(decode_message(request)?)?)),
        COUNT => {
            let SearchCountRequest { query, index } = decode_message(request)?;
            SearchCall::Count(SearchText { query, index })
        }
        FACETS => {
            let SearchFacetsRequest { query, index, field, values } = decode_message(request)?;
            SearchCall::Facets { text: SearchText { query, index }, field, values }
        }
        _ => return Ok(None),
    }))
}

fn rows_to_proto(request: SearchRequest) -> SearchRowsRequest {
    let SearchText { query, index } = request.text;
    let mut message = SearchRowsRequest {
        query,
        index,
        rows: request.rows,
        reversed: Some(request.reversed),
        cells: request.cells.as_ref().map(get::to_proto),
        ends_view: Some(request.ends_view),
        ..SearchRowsRequest::default()
    };
    match request.place {
        SearchPlace::Key { after } => message.after_row = after,
        SearchPlace::Score { view, skip } => {
            message.set_order(SearchOrder::ByScore);
            (message.view, message.skip) = (view, Some(skip));
        }
        SearchPlace::Field { field, after } => {
            message.set_order(SearchOrder::ByField);
            message.field = Some(field);
            if let Some(ValueRow { value, row }) = after {
                (message.after_row, message.after_value) = (Some(row), value);
            }
        }
    }
    message
}

fn rows_from_proto(message: SearchRowsRequest) -> Result<SearchRequest> {
    let reversed = message.reversed();
    let skip = message.skip();
    let ends_view = message.ends_view();
    let place = match message.order() {
        SearchOrder::ByKey => SearchPlace::Key { after: message.after_row },
        SearchOrder::ByScore if reversed => {
            return Err(Error::unsupported("rows by score are not returned in reverse"));
        }
        SearchOrder::ByScore => SearchPlace::Score { view: message.view, skip },
        SearchOrder::ByField => {
            let value = message.after_value;
            SearchPlace::Field {
                field: message.field.ok_or_else(|| Error::invalid("the field has no name"))?,
                after: message.after_row.map(|row| ValueRow { value, row }),
            }
        }
    };
    Ok(SearchRequest {
        text: SearchText { query: message.query, index: message.index },
        place,
        reversed,
        rows: message.rows,
        cells: message.cells.map(get::from_proto).transpose()?,
        ends_view,
    })
}

/// Encodes a search's rows, with the cells if the request named some.
pub fn matches_to_proto(rows: MatchingRows, has_cells: bool) -> NameBytesPair {
    let row = |(key, cells): (MatchingKey, Row)| SearchRow {
        row: key.row,
        score: key.score,
        value: key.value,
        cells: has_cells.then(|| result::to_proto(&cells, CellPlacement::Message)),
    };
    let message = SearchRowsResponse {
        rows: rows.rows.into_iter().map(row).collect(),
        is_end: rows.is_end,
        view: rows.view,
        view_has_ended: None,
        long_words: Some(rows.long_words),
    };
    answer("rowhouse.SearchRowsResponse", &message)
}

/// Encodes the answer that the view by score has ended. As an error, clients would take it for a
/// scanner that they can open again.
pub fn ended_view_to_proto() -> NameBytesPair {
    let ended = SearchRowsResponse { is_end: true, ..SearchRowsResponse::default() };
    answer(
        "rowhouse.SearchRowsResponse",
        &SearchRowsResponse { view_has_ended: Some(true), ..ended },
    )
}

/// Decodes a search's rows.
///
/// # Errors
/// `UnknownScanner` if the view has ended; `Protocol` for a malformed message.
pub fn matches_from_proto(answer: NameBytesPair) -> Result<MatchingRows> {
    let message: SearchRowsResponse = decode_message(answer.value.unwrap_or_default())?;
    if message.view_has_ended() {
        return Err(Error::new(
            ErrorKind::UnknownScanner,
            "the pages by score have ended: the server keeps the view of a page for 5 minutes, not \
             over a restart, and while the table is neither dropped, truncated nor restored",
        ));
    }
    let is_end = message.is_end;
    let view = message.view;
    let long_words = message.long_words();
    // The message contains the cells.
    let mut no_cells = CellReader::new(CellCodec::default(), Bytes::new());
    let mut rows = Vec::with_capacity(message.rows.len());
    for SearchRow { row, score, value, cells } in message.rows {
        let cells = cells.map(|cells| result::from_proto(cells, &mut no_cells)).transpose()?;
        let key = MatchingKey { row, score, value };
        rows.push((key, cells.map(|read| read.row).unwrap_or_default()));
    }
    Ok(MatchingRows { rows, is_end, view, long_words })
}

/// Encodes a row count.
pub fn count_to_proto(rows: u64) -> NameBytesPair {
    answer("rowhouse.SearchCountResponse", &SearchCountResponse { rows })
}

/// Decodes a row count.
///
/// # Errors
/// `Protocol` for a malformed message.
pub fn count_from_proto(answer: NameBytesPair) -> Result<u64> {
    Ok(decode_message::<SearchCountResponse>(answer.value.unwrap_or_default())?.rows)
}

/// Encodes a field's values.
pub fn facets_to_proto(facets: Vec<FacetCount>) -> NameBytesPair {
    let facet = |FacetCount { value, rows }| SearchFacet { value, rows };
    let message = SearchFacetsResponse { facets: facets.into_iter().map(facet).collect() };
    answer("rowhouse.SearchFacetsResponse", &message)
}

/// Decodes a field's values.
///
/// # Errors
/// `Protocol` for a malformed message.
pub fn facets_from_proto(answer: NameBytesPair) -> Result<Vec<FacetCount>> {
    let message: SearchFacetsResponse = decode_message(answer.value.unwrap_or_default())?;
    let facet = |SearchFacet { value, rows }| FacetCount { value, rows };
    Ok(message.facets.into_iter().map(facet).collect())
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{Cell, CellKind, Get, Timestamp};

    use super::*;

    fn text() -> SearchText {
        SearchText { query: "body matches 'row'".to_owned(), index: Some("text".to_owned()) }
    }

    fn request(place: SearchPlace) -> SearchRequest {
        let cells = Some(Get::new("r").unwrap().column("d", "body"));
        SearchRequest { text: text(), place, reversed: false, rows: 7, cells, ends_view: true }
    }

    fn read_back(call: &SearchCall) -> SearchCall {
        let sent = call_to_proto(call.clone(), Bytes::new());
        call_from_proto(&sent.method_name, sent.request).unwrap().unwrap()
    }

    #[test]
    fn calls_survive_the_wire() {
        let after = ValueRow { value: Some(Bytes::new()), row: "r".into() };
        let none = ValueRow { value: None, row: "r".into() };
        let field = |after| SearchPlace::Field { field: "size".to_owned(), after };
        for place in [
            SearchPlace::Key { after: None },
            SearchPlace::Key { after: Some("r".into()) },
            SearchPlace::Score { view: None, skip: 0 },
            SearchPlace::Score { view: Some(u64::MAX), skip: 12 },
            field(None),
            field(Some(after)),
            field(Some(none)),
        ] {
            let call = SearchCall::Rows(Box::new(request(place)));
            assert_eq!(read_back(&call), call);
        }
        let reversed = SearchPlace::Key { after: None };
        let keys_only =
            SearchRequest { reversed: true, cells: None, ends_view: false, ..request(reversed) };
        for call in [
            SearchCall::Rows(Box::new(keys_only)),
            SearchCall::Count(text()),
            SearchCall::Facets { text: text(), field: "sender".to_owned(), values: 3 },
        ] {
            assert_eq!(read_back(&call), call);
        }
    }

    #[test]
    fn calls_that_make_no_sense_are_refused() {
        let refused = |change: fn(&mut SearchRowsRequest)| {
            let mut message = rows_to_proto(request(SearchPlace::Key { after: None }));
            change(&mut message);
            call_from_proto(ROWS, message.encode_to_vec().into()).unwrap_err()
        };
        assert!(refused(|it| it.set_order(SearchOrder::ByField)).message().contains("no name"));
        let reversed = refused(|it| {
            it.set_order(SearchOrder::ByScore);
            it.reversed = Some(true);
        });
        assert!(reversed.message().contains("in reverse"));
        assert_eq!(call_from_proto("Update", Bytes::new()).unwrap(), None);
    }

    #[test]
    fn answers_survive_the_wire() {
        let cell = Cell::new("r", "d", "body", Timestamp::MIN, CellKind::Put, "v").unwrap();
        let key =
            |row: &str, score, value| MatchingKey { row: row.to_owned().into(), score, value };
        let expected = MatchingRows {
            rows: vec![
                (key("r", Some(1.5), None), Row::new(vec![cell])),
                (key("s", None, Some("v".into())), Row::default()),
            ],
            is_end: true,
            view: Some(9),
            long_words: 4,
        };
        assert_eq!(matches_from_proto(matches_to_proto(expected.clone(), true)).unwrap(), expected);
        let keys = matches_from_proto(matches_to_proto(expected.clone(), false)).unwrap();
        assert!(keys.rows[0].1.is_empty() && keys.rows[0].0 == expected.rows[0].0);
        let ended = matches_from_proto(ended_view_to_proto()).unwrap_err();
        assert_eq!(ended.kind(), ErrorKind::UnknownScanner);
        assert_eq!(count_from_proto(count_to_proto(17)).unwrap(), 17);
        let facets = vec![FacetCount { value: "ann".into(), rows: 2 }];
        assert_eq!(facets_from_proto(facets_to_proto(facets.clone())).unwrap(), facets);
    }
}
