//! Calls to coprocessor endpoints: HBase's atomic mutations to several rows and aggregation over a
//! column, and rowhouse's searches.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Coprocessor, Error, ErrorKind, Mutation, Nonce, Result, RowCondition};

use super::scan::OpenScan;
use super::search::{self, SearchCall};
use super::{condition, mutate};
use crate::proto;
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
    /// A search in the table's full-text indexes.
    Search(SearchCall),
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
            "MultiRowMutationService" => Err(no_method(&call.service_name, &call.method_name)),
            other => Err(Error::new(
                ErrorKind::Protocol,
                format!("No registered coprocessor service found for {other}"),
            )),
        }
    }

    /// Returns the coprocessor that the table must declare for the call; `None` for a search, which
    /// needs a full-text index.
    pub fn coprocessor(&self) -> Option<Coprocessor> {
        match self {
            Self::MutateRows { .. } => Some(Coprocessor::MultiRowMutation),
            Self::Aggregate { .. } => Some(Coprocessor::Aggregate),
            Self::Search(_) => None,
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
