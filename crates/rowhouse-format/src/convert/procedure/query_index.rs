//! The index by which a server answers a query, rowhouse's own call. It is sent as an HBase
//! procedure; the index name is the data that the procedure returns.

use rowhouse_model::{Bytes, Columns, Error, Result, TableName, escape, unescape};

use super::pairs::{needed, pair, value};
use crate::proto;

/// The procedure's signature. The instance is the table.
pub(super) const SIGNATURE: &str = "rowhouse-query-index";

const QUERY: &str = "query";
const LIMIT: &str = "limit";
/// A column, or a family without `:`; as often as there are some.
const COLUMN: &str = "column";

/// A request for the index that a query is answered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryIndexCall {
    /// The table.
    pub table: TableName,
    /// The query, in the query language. Times without a zone are UTC.
    pub query: String,
    /// The columns to return.
    pub columns: Columns,
    /// The most rows that will be read; `None` for all.
    pub limit: Option<u64>,
}

/// Encodes a request.
pub fn call_to_proto(call: &QueryIndexCall) -> proto::ProcedureDescription {
    let columns = call.columns.families().flat_map(|(family, named)| {
        let family = escape(family);
        let texts: Vec<String> = if named.is_all() {
            vec![family]
        } else {
            let qualifiers = named.named().map(|qualifier| escape(qualifier));
            qualifiers.map(|qualifier| format!("{family}:{qualifier}")).collect()
        };
        texts.into_iter().map(|text| pair(COLUMN, text))
    });
    let limit = call.limit.map(|limit| pair(LIMIT, limit));
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: Some(call.table.to_string()),
        creation_time: None,
        configuration: [pair(QUERY, &call.query)].into_iter().chain(limit).chain(columns).collect(),
    }
}

/// Decodes a request from a procedure with this signature.
///
/// # Errors
/// `InvalidRequest` for an invalid table name, limit or column, and for a request without a query.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<QueryIndexCall> {
    let table = TableName::parse(procedure.instance())?;
    let query = needed(procedure, QUERY)?.to_owned();
    let limit = value(procedure, LIMIT).map(|limit| {
        limit.parse().map_err(|_| Error::invalid(format!("not a number of rows: limit={limit}")))
    });
    let mut columns = Columns::all();
    for column in procedure.configuration.iter().filter(|pair| pair.name == COLUMN) {
        let bytes = |text: &str| unescape(text).map(Bytes::from);
        match column.value.split_once(':') {
            None => columns.add_family(bytes(&column.value)?),
            Some((family, qualifier)) => columns.add_column(bytes(family)?, bytes(qualifier)?),
        }
    }
    Ok(QueryIndexCall { table, query, columns, limit: limit.transpose()? })
}

/// Encodes an index name; `None` if the query is read by the key.
pub fn answer_to_bytes(index: Option<&str>) -> Bytes {
    Bytes::copy_from_slice(index.unwrap_or_default().as_bytes())
}

/// Decodes an index name; `None` if the query is read by the key.
pub fn answer_from_bytes(answer: &Bytes) -> Option<String> {
    Some(String::from_utf8_lossy(answer).into_owned()).filter(|index| !index.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_survives_the_wire() {
        let mut columns = Columns::all();
        columns.add_family("d");
        columns.add_column("e", "a:b");
        columns.add_column("e", &b"\xff"[..]);
        let call = QueryIndexCall {
            table: TableName::parse("ns:mail").unwrap(),
            query: "sender = 'eve'".to_owned(),
            columns,
            limit: Some(10),
        };
        let all = QueryIndexCall { columns: Columns::all(), limit: None, ..call.clone() };
        for call in [call, all] {
            assert_eq!(call_from_proto(&call_to_proto(&call)).unwrap(), call);
        }
        let mut without = call_to_proto(&QueryIndexCall {
            table: TableName::parse("mail").unwrap(),
            query: String::new(),
            columns: Columns::all(),
            limit: None,
        });
        without.configuration.clear();
        assert!(call_from_proto(&without).unwrap_err().message().ends_with("missing=query"));
        for index in [None, Some("by_sender")] {
            assert_eq!(answer_from_bytes(&answer_to_bytes(index)).as_deref(), index);
        }
    }
}
