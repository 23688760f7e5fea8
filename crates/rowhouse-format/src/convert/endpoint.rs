//! Calls to coprocessor endpoints: HBase's atomic mutations to several rows, aggregation over a
//! column and deletes by a scan, and rowhouse's searches and deletes by a query.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    Coprocessor, DeleteRows, Error, ErrorKind, Mutation, Nonce, Result, RowCondition, Timestamp,
};

use super::changes::{self, ReadChanges};
use super::scan::OpenScan;
use super::search::{self, SearchCall};
use super::{condition, delete, mutate};
use crate::proto::{self, bulk_delete_request};
use crate::rpc::{CellCodec, CellReader, decode_message};

/// The Java package for HBase's column interpreters.
const INTERPRETERS: &str = "org.apache.hadoop.hbase.client.coprocessor.";

/// A call to an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum EndpointCall {
    /// Atomic mutations to rows in one region.
    MutateRows {
        /// The mutations, with their nonces.
        mutations: Vec<Mutation>,
        /// The conditions for the mutations.
        conditions: Vec<RowCondition>,
    },
    /// An aggregate over the cells that a scan returns from one region.
    Aggregate {
        /// The aggregate function.
        function: AggregateFunction,
        /// How the values are decoded.
        interpreter: ColumnInterpreter,
        /// The scan that selects the cells.
        scan: Box<OpenScan>,
    },
    /// Deletes what a scan returns from one region.
    BulkDelete {
        /// The scan.
        scan: Box<OpenScan>,
        /// What is deleted in a row that the scan returns.
        kind: BulkDeleteKind,
        /// The markers' timestamp, if the request has one.
        timestamp: Option<Timestamp>,
        /// The most rows that are deleted at once, at least 1.
        batch_rows: u32,
    },
    /// A search in the table's full-text indexes.
    Search(SearchCall),
    /// Deletes of rows in one region.
    DeleteRows(DeleteRows),
    /// Changes of the table.
    ReadChanges(ReadChanges),
    /// A token for the user who calls.
    GetAuthenticationToken,
    /// The user who calls, and the proof.
    WhoAmI,
}

/// The service for tokens, which clients call on `hbase:meta`.
pub const AUTHENTICATION: &str = "AuthenticationService";

/// What a bulk delete deletes in a row that the scan returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkDeleteKind {
    /// The row.
    Row,
    /// The families of the returned cells.
    Family,
    /// The columns of the returned cells.
    Column,
    /// The returned cells; with a timestamp, the version at it in each returned column.
    Version,
}

/// An aggregate function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateFunction {
    /// The greatest value.
    Max,
    /// The least value.
    Min,
    /// The value sum.
    Sum,
    /// The row count.
    RowCount,
    /// The value sum and the row count.
    Average,
    /// The value sum, the sum of squares and the row count.
    Deviation,
    /// The value sum, and the weight sum.
    Median,
}

/// How values are decoded: HBase's column interpreters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnInterpreter {
    /// LongColumnInterpreter: eight bytes, signed.
    Long,
    /// DoubleColumnInterpreter: a double's eight bytes.
    Double,
    /// BigDecimalColumnInterpreter: a BigDecimal's `Bytes.toBytes`, rounded to two decimal places.
    BigDecimal,
}

impl EndpointCall {
    /// Decodes a call.
    ///
    /// # Errors
    /// `Protocol` for a service or method that the endpoints do not have; `Unsupported` for another
    /// interpreter; all errors from decoding scans, mutations and conditions.
    pub fn from_proto(call: proto::CoprocessorServiceCall) -> Result<Self> {
        match &*call.service_name {
            "MultiRowMutationService" if call.method_name == "MutateRows" => {
                mutate_rows(decode_message(call.request)?)
            }
            "AggregateService" => {
                let function = function(&call.method_name)?;
                aggregate(function, decode_message(call.request)?)
            }
            search::SERVICE => {
                let search_call = search::call_from_proto(&call.method_name, call.request)?;
                search_call
                    .map(Self::Search)
                    .ok_or_else(|| no_method(search::SERVICE, &call.method_name))
            }
            "BulkDeleteService" if call.method_name == "delete" => {
                bulk_delete(decode_message(call.request)?)
            }
            delete::SERVICE => {
                let rows = delete::call_from_proto(&call.method_name, call.request)?;
                rows.map(Self::DeleteRows)
                    .ok_or_else(|| no_method(delete::SERVICE, &call.method_name))
            }
            changes::SERVICE => {
                let read = changes::call_from_proto(&call.method_name, call.request)?;
                read.map(Self::ReadChanges)
                    .ok_or_else(|| no_method(changes::SERVICE, &call.method_name))
            }
            AUTHENTICATION => match &*call.method_name {
                "GetAuthenticationToken" => Ok(Self::GetAuthenticationToken),
                "WhoAmI" => Ok(Self::WhoAmI),
                other => Err(no_method(AUTHENTICATION, other)),
            },
            "MultiRowMutationService" | "BulkDeleteService" => {
                Err(no_method(&call.service_name, &call.method_name))
            }
            other => Err(Error::new(
                ErrorKind::Protocol,
                format!("No registered coprocessor service found for {other}"),
            )),
        }
    }

    /// Returns the coprocessor that the table must declare for the call; `None` for rowhouse's own
    /// calls, and for users.
    pub fn coprocessor(&self) -> Option<Coprocessor> {
        match self {
            Self::MutateRows { .. } => Some(Coprocessor::MultiRowMutation),
            Self::Aggregate { .. } => Some(Coprocessor::Aggregate),
            Self::BulkDelete { .. } => Some(Coprocessor::BulkDelete),
            Self::Search(_)
            | Self::DeleteRows(_)
            | Self::ReadChanges(_)
            | Self::GetAuthenticationToken
            | Self::WhoAmI => None,
        }
    }
}

fn mutate_rows(request: proto::MutateRowsRequest) -> Result<EndpointCall> {
    // The messages contain the cells.
    let mut no_cells = CellReader::new(CellCodec::default(), Bytes::new());
    let group = request.nonce_group;
    let number = request.nonce;
    let nonce = number.filter(|&number| number != 0);
    let nonce = nonce.map(|number| Nonce { group: group.unwrap_or(0), number });
    let mutations = request.mutation_request.into_iter();
    let mutations = mutations
        .map(|mutation| Ok(mutate::from_proto(mutation, &mut no_cells)?.with_nonce(nonce)))
        .collect::<Result<_>>()?;
    let conditions = request.condition.into_iter().map(condition::from_proto);
    Ok(EndpointCall::MutateRows { mutations, conditions: conditions.collect::<Result<_>>()? })
}

fn aggregate(
    function: AggregateFunction,
    request: proto::AggregateRequest,
) -> Result<EndpointCall> {
    let interpreter = match request.interpreter_class_name.strip_prefix(INTERPRETERS) {
        Some("LongColumnInterpreter") => ColumnInterpreter::Long,
        Some("DoubleColumnInterpreter") => ColumnInterpreter::Double,
        Some("BigDecimalColumnInterpreter") => ColumnInterpreter::BigDecimal,
        _ => {
            return Err(Error::unsupported(format!(
                "the interpreter of columns is not supported: class={}",
                request.interpreter_class_name
            )));
        }
    };
    let scan = Box::new(OpenScan::from_proto(request.scan)?);
    if function != AggregateFunction::RowCount && scan.scan.columns.families().next().is_none() {
        return Err(Error::invalid("an aggregate of values must name a family"));
    }
    Ok(EndpointCall::Aggregate { function, interpreter, scan })
}

fn bulk_delete(request: proto::BulkDeleteRequest) -> Result<EndpointCall> {
    use bulk_delete_request::DeleteType;
    let kind = match DeleteType::try_from(request.delete_type) {
        Ok(DeleteType::Row) => BulkDeleteKind::Row,
        Ok(DeleteType::Family) => BulkDeleteKind::Family,
        Ok(DeleteType::Column) => BulkDeleteKind::Column,
        Ok(DeleteType::Version) => BulkDeleteKind::Version,
        Err(_) => {
            let message = format!("the delete type is unknown: type={}", request.delete_type);
            return Err(Error::unsupported(message));
        }
    };
    if request.row_batch_size == 0 {
        // In HBase, such a call never ends.
        return Err(Error::invalid("a batch of a bulk delete has rows: rowBatchSize=0, min=1"));
    }
    Ok(EndpointCall::BulkDelete {
        scan: Box::new(OpenScan::from_proto(request.scan)?),
        kind,
        timestamp: request.timestamp.map(delete::timestamp_of).transpose()?,
        batch_rows: request.row_batch_size,
    })
}

fn function(method: &str) -> Result<AggregateFunction> {
    Ok(match method {
        "GetMax" => AggregateFunction::Max,
        "GetMin" => AggregateFunction::Min,
        "GetSum" => AggregateFunction::Sum,
        "GetRowNum" => AggregateFunction::RowCount,
        "GetAvg" => AggregateFunction::Average,
        "GetStd" => AggregateFunction::Deviation,
        "GetMedian" => AggregateFunction::Median,
        other => return Err(no_method("AggregateService", other)),
    })
}

fn no_method(service: &str, method: &str) -> Error {
    let message = format!("Unknown method {method} called on service {service}");
    Error::new(ErrorKind::Protocol, message)
}

/// Encodes an endpoint's response: a message and the Java class name.
pub fn answer(class: &str, answer: &impl Message) -> proto::NameBytesPair {
    let value = Some(answer.encode_to_vec().into());
    proto::NameBytesPair { name: class.to_owned(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(service: &str, method: &str, request: &impl Message) -> Result<EndpointCall> {
        EndpointCall::from_proto(proto::CoprocessorServiceCall {
            row: Bytes::new(),
            service_name: service.to_owned(),
            method_name: method.to_owned(),
            request: request.encode_to_vec().into(),
        })
    }

    fn sum(interpreter: &str) -> proto::AggregateRequest {
        let column = proto::Column { family: "cf".into(), qualifier: vec!["n".into()] };
        let scan = proto::Scan { column: vec![column], ..Default::default() };
        let interpreter_class_name = format!("{INTERPRETERS}{interpreter}");
        proto::AggregateRequest { interpreter_class_name, scan, ..Default::default() }
    }

    #[test]
    fn aggregates_are_distinguished_by_method_and_interpreter() {
        for (method, function) in [
            ("GetMax", AggregateFunction::Max),
            ("GetMin", AggregateFunction::Min),
            ("GetSum", AggregateFunction::Sum),
            ("GetRowNum", AggregateFunction::RowCount),
            ("GetAvg", AggregateFunction::Average),
            ("GetStd", AggregateFunction::Deviation),
            ("GetMedian", AggregateFunction::Median),
        ] {
            let decoded = call("AggregateService", method, &sum("LongColumnInterpreter")).unwrap();
            let EndpointCall::Aggregate { function: decoded, interpreter, scan } = decoded else {
                panic!("{decoded:?}");
            };
            assert_eq!((decoded, interpreter), (function, ColumnInterpreter::Long));
            assert!(scan.scan.columns.has_column(b"cf", b"n"));
        }
    }

    #[test]
    fn bulk_deletes_are_read_with_their_kind_and_refused_without_a_batch() {
        let request = |delete_type, row_batch_size| {
            let message =
                proto::BulkDeleteRequest { delete_type, row_batch_size, ..Default::default() };
            call("BulkDeleteService", "delete", &message)
        };
        for (number, expected) in [
            (0, BulkDeleteKind::Row),
            (1, BulkDeleteKind::Family),
            (2, BulkDeleteKind::Column),
            (3, BulkDeleteKind::Version),
        ] {
            let read = request(number, 5).unwrap();
            assert_eq!(read.coprocessor(), Some(Coprocessor::BulkDelete));
            let EndpointCall::BulkDelete { kind, timestamp, batch_rows, .. } = read else {
                panic!("{read:?}");
            };
            assert_eq!((kind, timestamp, batch_rows), (expected, None, 5));
        }
        assert!(request(4, 5).unwrap_err().message().contains("type=4"));
        assert!(request(0, 0).unwrap_err().message().contains("rowBatchSize=0"));
    }

    #[test]
    fn unknown_endpoints_are_refused_by_name() {
        let refused = |service, method, interpreter| {
            call(service, method, &sum(interpreter)).unwrap_err().to_string()
        };
        let long = "LongColumnInterpreter";
        assert!(refused("MyService", "GetMax", long).contains("MyService"));
        assert!(refused("AggregateService", "GetMode", long).contains("GetMode"));
        assert!(refused("MultiRowMutationService", "Other", long).contains("Other"));
        assert!(refused("AggregateService", "GetMax", "Mine").contains(".Mine"));
        let request = proto::AggregateRequest { scan: proto::Scan::default(), ..sum(long) };
        assert!(call("AggregateService", "GetRowNum", &request).is_ok());
        assert!(call("AggregateService", "GetSum", &request).is_err());
    }
}
