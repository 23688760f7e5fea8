//! Searches of full-text indexes, rowhouse's own calls. They are sent as calls of a coprocessor
//! endpoint, which every HBase client can make; any region of the table answers for all of it.
//!
//! ```text
//! service SearchService      request         answer
//!   Search                   Rows            Found
//!   Count                    Text            Count
//!   Facets                   Values          Facets
//!
//! Text    1 query string · 2 index string?
//! Rows    1 text Text · 2 rows uint32 · 3 order (0 by key, 1 by score, 2 by field) · 4 reversed bool
//!         5 field string? · 6 after_row bytes? · 7 after_value bytes?
//!         8 view uint64? · 9 skip uint64 · 10 cells hbase.pb.Get? · 11 ends_view bool
//! Found   1 rows (1 row bytes · 2 score float? · 3 value bytes? · 4 cells hbase.pb.Result?)*
//!         2 is_end bool · 3 view uint64? · 4 view_has_ended bool · 5 long_words uint64
//! Count   1 rows uint64
//! Values  1 text Text · 2 field string · 3 values uint32
//! Facets  1 facets (1 value bytes · 2 rows uint64)*
//! ```
//!
//! Fields are numbered as in protobuf; `?` marks those that may be absent, `*` repeated ones.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    Error, ErrorKind, FacetCount, FoundKey, FoundRows, Result, Row, SearchPlace, SearchRequest,
    SearchText, ValueRow,
};

use super::endpoint::answer;
use super::{CellPlacement, get, result};
use crate::proto;
use crate::rpc::{CellCodec, CellReader, decode_message};

/// The name of the service.
pub const SERVICE: &str = "SearchService";

const SEARCH: &str = "Search";
const COUNT: &str = "Count";
const FACETS: &str = "Facets";

/// A call of the service.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchCall {
    /// Rows of a search.
    Rows(Box<SearchRequest>),
    /// The number of its rows.
    Count(SearchText),
    /// How many of its rows have each value of a field, the most frequent first.
    Facets {
        /// The search.
        text: SearchText,
        /// The field.
        field: String,
        /// The most values to return.
        values: u32,
    },
}

#[derive(Clone, PartialEq, Message)]
struct TextMessage {
    #[prost(string, tag = "1")]
    query: String,
    #[prost(string, optional, tag = "2")]
    index: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct RowsMessage {
    #[prost(message, optional, tag = "1")]
    text: Option<TextMessage>,
    #[prost(uint32, tag = "2")]
    rows: u32,
    #[prost(uint32, tag = "3")]
    order: u32,
    #[prost(bool, tag = "4")]
    reversed: bool,
    #[prost(string, optional, tag = "5")]
    field: Option<String>,
    #[prost(bytes = "bytes", optional, tag = "6")]
    after_row: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "7")]
    after_value: Option<Bytes>,
    #[prost(uint64, optional, tag = "8")]
    view: Option<u64>,
    #[prost(uint64, tag = "9")]
    skip: u64,
    #[prost(message, optional, tag = "10")]
    cells: Option<proto::Get>,
    #[prost(bool, tag = "11")]
    ends_view: bool,
}

#[derive(Clone, PartialEq, Message)]
struct FoundMessage {
    #[prost(message, repeated, tag = "1")]
    rows: Vec<RowMessage>,
    #[prost(bool, tag = "2")]
    is_end: bool,
    #[prost(uint64, optional, tag = "3")]
    view: Option<u64>,
    #[prost(bool, tag = "4")]
    view_has_ended: bool,
    #[prost(uint64, tag = "5")]
    long_words: u64,
}

#[derive(Clone, PartialEq, Message)]
struct RowMessage {
    #[prost(bytes = "bytes", tag = "1")]
    row: Bytes,
    #[prost(float, optional, tag = "2")]
    score: Option<f32>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    value: Option<Bytes>,
    #[prost(message, optional, tag = "4")]
    cells: Option<proto::Result>,
}

#[derive(Clone, PartialEq, Message)]
struct CountMessage {
    #[prost(uint64, tag = "1")]
    rows: u64,
}

#[derive(Clone, PartialEq, Message)]
struct ValuesMessage {
    #[prost(message, optional, tag = "1")]
    text: Option<TextMessage>,
    #[prost(string, tag = "2")]
    field: String,
    #[prost(uint32, tag = "3")]
    values: u32,
}

#[derive(Clone, PartialEq, Message)]
struct FacetsMessage {
    #[prost(message, repeated, tag = "1")]
    facets: Vec<FacetMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct FacetMessage {
    #[prost(bytes = "bytes", tag = "1")]
    value: Bytes,
    #[prost(uint64, tag = "2")]
    rows: u64,
}

/// Encodes a call to the region with the row.
pub fn call_to_proto(call: &SearchCall, row: Bytes) -> proto::CoprocessorServiceCall {
    let (method, request) = match call {
        SearchCall::Rows(request) => (SEARCH, rows_message(request).encode_to_vec()),
        SearchCall::Count(text) => (COUNT, text_message(text).encode_to_vec()),
        SearchCall::Facets { text, field, values } => {
            let text = Some(text_message(text));
            let message = ValuesMessage { text, field: field.clone(), values: *values };
            (FACETS, message.encode_to_vec())
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
/// `InvalidRequest` for an unknown order, a field that is not named, and a reversed order of
/// scores; the errors of decoding gets.
pub(super) fn call_from_proto(method: &str, request: Bytes) -> Result<Option<SearchCall>> {
    Ok(Some(match method {
        SEARCH => SearchCall::Rows(Box::new(rows_from_message(decode_message(request)?)?)),
        COUNT => SearchCall::Count(text_from_message(Some(decode_message(request)?))),
        FACETS => {
            let ValuesMessage { text, field, values } = decode_message(request)?;
            SearchCall::Facets { text: text_from_message(text), field, values }
        }
        _ => return Ok(None),
    }))
}

fn text_message(text: &SearchText) -> TextMessage {
    TextMessage { query: text.query.clone(), index: text.index.clone() }
}

fn text_from_message(message: Option<TextMessage>) -> SearchText {
    let TextMessage { query, index } = message.unwrap_or_default();
    SearchText { query, index }
}

fn rows_message(request: &SearchRequest) -> RowsMessage {
    let mut message = RowsMessage {
        text: Some(text_message(&request.text)),
        rows: request.rows,
        reversed: request.reversed,
        cells: request.cells.as_ref().map(get::to_proto),
        ends_view: request.ends_view,
        ..RowsMessage::default()
    };
    match &request.place {
        SearchPlace::Key { after } => message.after_row.clone_from(after),
        SearchPlace::Score { view, skip } => {
            (message.order, message.view, message.skip) = (1, *view, *skip);
        }
        SearchPlace::Field { field, after } => {
            (message.order, message.field) = (2, Some(field.clone()));
            if let Some(ValueRow { value, row }) = after {
                (message.after_row, message.after_value) = (Some(row.clone()), value.clone());
            }
        }
    }
    message
}

fn rows_from_message(message: RowsMessage) -> Result<SearchRequest> {
    let (after_row, after_value) = (message.after_row, message.after_value);
    let place = match message.order {
        0 => SearchPlace::Key { after: after_row },
        1 if message.reversed => {
            return Err(Error::unsupported("rows by score are not returned in reverse"));
        }
        1 => SearchPlace::Score { view: message.view, skip: message.skip },
        2 => SearchPlace::Field {
            field: message.field.ok_or_else(|| Error::invalid("the field has no name"))?,
            after: after_row.map(|row| ValueRow { value: after_value, row }),
        },
        other => {
            return Err(Error::invalid(format!("not an order of rows of a search: order={other}")));
        }
    };
    Ok(SearchRequest {
        text: text_from_message(message.text),
        place,
        reversed: message.reversed,
        rows: message.rows,
        cells: message.cells.map(get::from_proto).transpose()?,
        ends_view: message.ends_view,
    })
}

/// Encodes the rows of a search, with their cells if the request named some.
pub fn found_to_proto(found: &FoundRows, has_cells: bool) -> proto::NameBytesPair {
    let row = |(key, cells): &(FoundKey, Row)| RowMessage {
        row: key.row.clone(),
        score: key.score,
        value: key.value.clone(),
        cells: has_cells.then(|| result::to_proto(cells, CellPlacement::Message)),
    };
    let message = FoundMessage {
        rows: found.rows.iter().map(row).collect(),
        is_end: found.is_end,
        view: found.view,
        view_has_ended: false,
        long_words: found.long_words,
    };
    answer("rowhouse.Found", &message)
}

/// Encodes the answer that the view by score has ended. As an error, clients would take it for a
/// scanner that they can open again.
pub fn ended_view_to_proto() -> proto::NameBytesPair {
    let message = FoundMessage { view_has_ended: true, ..FoundMessage::default() };
    answer("rowhouse.Found", &message)
}

/// Decodes the rows of a search.
///
/// # Errors
/// `UnknownScanner` if the view has ended; `Protocol` for a malformed message.
pub fn found_from_proto(answer: proto::NameBytesPair) -> Result<FoundRows> {
    let message: FoundMessage = decode_message(answer.value.unwrap_or_default())?;
    if message.view_has_ended {
        return Err(Error::new(
            ErrorKind::UnknownScanner,
            "the pages by score have ended: the server keeps the view of a page for 5 minutes, and \
             not over its restart",
        ));
    }
    // The message contains the cells.
    let mut no_cells = CellReader::new(CellCodec::default(), Bytes::new());
    let mut rows = Vec::with_capacity(message.rows.len());
    for RowMessage { row, score, value, cells } in message.rows {
        let cells = cells.map(|cells| result::from_proto(cells, &mut no_cells)).transpose()?;
        let key = FoundKey { row, score, value };
        rows.push((key, cells.map(|read| read.row).unwrap_or_default()));
    }
    let FoundMessage { is_end, view, long_words, .. } = message;
    Ok(FoundRows { rows, is_end, view, long_words })
}

/// Encodes a number of rows.
pub fn count_to_proto(rows: u64) -> proto::NameBytesPair {
    answer("rowhouse.Count", &CountMessage { rows })
}

/// Decodes a number of rows.
///
/// # Errors
/// `Protocol` for a malformed message.
pub fn count_from_proto(answer: proto::NameBytesPair) -> Result<u64> {
    Ok(decode_message::<CountMessage>(answer.value.unwrap_or_default())?.rows)
}

/// Encodes the values of a field.
pub fn facets_to_proto(facets: Vec<FacetCount>) -> proto::NameBytesPair {
    let facet = |FacetCount { value, rows }| FacetMessage { value, rows };
    let message = FacetsMessage { facets: facets.into_iter().map(facet).collect() };
    answer("rowhouse.Facets", &message)
}

/// Decodes the values of a field.
///
/// # Errors
/// `Protocol` for a malformed message.
pub fn facets_from_proto(answer: proto::NameBytesPair) -> Result<Vec<FacetCount>> {
    let message: FacetsMessage = decode_message(answer.value.unwrap_or_default())?;
    let facet = |FacetMessage { value, rows }| FacetCount { value, rows };
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
        let sent = call_to_proto(call, Bytes::new());
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
        let refused = |change: fn(&mut RowsMessage)| {
            let mut message = rows_message(&request(SearchPlace::Key { after: None }));
            change(&mut message);
            call_from_proto(SEARCH, message.encode_to_vec().into()).unwrap_err()
        };
        assert!(refused(|it| it.order = 3).message().contains("order=3"));
        assert!(refused(|it| it.order = 2).message().contains("no name"));
        assert!(refused(|it| (it.order, it.reversed) = (1, true)).message().contains("in reverse"));
        assert_eq!(call_from_proto("Update", Bytes::new()).unwrap(), None);
    }

    #[test]
    fn answers_survive_the_wire() {
        let cell = Cell::new("r", "d", "body", Timestamp::MIN, CellKind::Put, "v").unwrap();
        let key = |row: &str, score, value| FoundKey { row: row.to_owned().into(), score, value };
        let found = FoundRows {
            rows: vec![
                (key("r", Some(1.5), None), Row::new(vec![cell])),
                (key("s", None, Some("v".into())), Row::default()),
            ],
            is_end: true,
            view: Some(9),
            long_words: 4,
        };
        assert_eq!(found_from_proto(found_to_proto(&found, true)).unwrap(), found);
        let keys = found_from_proto(found_to_proto(&found, false)).unwrap();
        assert!(keys.rows[0].1.is_empty() && keys.rows[0].0 == found.rows[0].0);
        let ended = found_from_proto(ended_view_to_proto()).unwrap_err();
        assert_eq!(ended.kind(), ErrorKind::UnknownScanner);
        assert_eq!(count_from_proto(count_to_proto(17)).unwrap(), 17);
        let facets = vec![FacetCount { value: "ann".into(), rows: 2 }];
        assert_eq!(facets_from_proto(facets_to_proto(facets.clone())).unwrap(), facets);
    }
}
