//! The methods.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use rowhouse_format::convert::attributes::Attributes;
use rowhouse_format::proto::NameBytesPair;
use rowhouse_format::thrift::{Answer, Args, Failure, Method, Pairs};
use rowhouse_model::{TableName, Timestamp, escape};

use super::failure::{Thrown, remote};
use super::scanners::Scanners;
use super::{admin, read, write};
use crate::gateway::Session;
use crate::gateway::exception;
use crate::memory::Reserved;

/// The state that the calls on a connection share.
pub(super) struct Caller<'a> {
    pub(super) session: &'a Session,
    pub(super) scanners: &'a Scanners,
    /// The connection's open scanners.
    pub(super) scanner_count: &'a Arc<AtomicUsize>,
}

/// A method's result, and the memory of the bytes.
pub(super) struct Returned {
    pub(super) answer: Answer,
    pub(super) memory: Vec<Reserved>,
}

impl From<Answer> for Returned {
    fn from(answer: Answer) -> Self {
        Self { answer, memory: Vec::new() }
    }
}

pub(super) type Outcome<T> = Result<T, Thrown>;

/// The memory of a method's arguments, if they are many.
pub(super) type ArgsMemory = Option<Reserved>;

/// Returns true for methods whose arguments may be large: their memory is handed on to the calls.
pub(super) fn takes_large_arguments(method: Method) -> bool {
    use Method::{
        Append, CheckAndPut, GetRows, GetRowsTs, GetRowsWithColumns, GetRowsWithColumnsTs,
        MutateRow, MutateRowTs, MutateRows, MutateRowsTs,
    };
    matches!(
        method,
        Append
            | CheckAndPut
            | GetRows
            | GetRowsTs
            | GetRowsWithColumns
            | GetRowsWithColumnsTs
            | MutateRow
            | MutateRowTs
            | MutateRows
            | MutateRowsTs
    )
}

/// Returns true for methods that may read a whole table before they return a row.
pub(super) fn reads_on(method: Method) -> bool {
    matches!(method, Method::ScannerGet | Method::ScannerGetList)
}

impl Caller<'_> {
    /// Makes a call. The match over methods has no wildcard, so it lists all of them.
    pub(super) async fn call(
        &self,
        method: Method,
        args: Args,
        memory: ArgsMemory,
    ) -> Result<Returned, Failure> {
        self.route(method, args, memory).await.map_err(|thrown| thrown.into_failure(method))
    }

    async fn route(&self, method: Method, args: Args, memory: ArgsMemory) -> Outcome<Returned> {
        let session = self.session;
        match method {
            Method::EnableTable => admin::enable(session, args).await,
            Method::DisableTable => admin::disable(session, args).await,
            Method::IsTableEnabled => admin::is_enabled(session, args).await,
            Method::Compact => admin::compact(session, args, false).await,
            Method::MajorCompact => admin::compact(session, args, true).await,
            Method::GetTableNames => admin::names(session).await,
            Method::GetTableNamesWithIsTableEnabled => admin::states(session).await,
            Method::GetColumnDescriptors => admin::families(session, args).await,
            Method::GetTableRegions => admin::regions(session, args),
            Method::CreateTable => admin::create(session, args).await,
            Method::DeleteTable => admin::delete(session, args).await,
            Method::GetRegionInfo => admin::region_of_row(session, args).await,
            Method::GetThriftServerType => Ok(Answer::I32(admin::THRIFT_1).into()),
            Method::GetClusterId => Ok(Answer::Text(session.cluster().id.clone()).into()),

            Method::Get | Method::GetVer | Method::GetVerTs => read::cells(session, args).await,
            Method::GetRow
            | Method::GetRowWithColumns
            | Method::GetRowTs
            | Method::GetRowWithColumnsTs => read::row(session, args).await,
            Method::GetRows
            | Method::GetRowsWithColumns
            | Method::GetRowsTs
            | Method::GetRowsWithColumnsTs => read::rows(session, args, memory).await,

            Method::MutateRow | Method::MutateRowTs => {
                write::mutate_row(session, args, memory).await
            }
            Method::MutateRows | Method::MutateRowsTs => {
                write::mutate_rows(session, args, memory).await
            }
            Method::AtomicIncrement => write::atomic_increment(session, args).await,
            Method::DeleteAll | Method::DeleteAllTs => write::delete_all(session, args).await,
            Method::DeleteAllRow | Method::DeleteAllRowTs => write::delete_row(session, args).await,
            Method::Increment => write::increment(session, args.increment).await,
            Method::IncrementRows => write::increment_rows(session, args).await,
            Method::Append => write::append(session, args, memory).await,
            Method::CheckAndPut => write::check_and_put(session, args, memory).await,

            Method::ScannerOpenWithScan
            | Method::ScannerOpen
            | Method::ScannerOpenWithStop
            | Method::ScannerOpenWithPrefix
            | Method::ScannerOpenTs
            | Method::ScannerOpenWithStopTs => self.scanners.open(method, args, self.scanner_count),
            Method::ScannerGet => self.scanners.next(session, args.scanner, 1).await,
            Method::ScannerGetList => {
                let count = args.row_count.unwrap_or_default();
                self.scanners.next(session, args.scanner, count).await
            }
            Method::ScannerClose => self.scanners.close(session, args.scanner).await,
        }
    }
}

/// Returns an argument that Java's code does not check before it uses it.
pub(super) fn required<T>(argument: Option<T>, name: &str) -> Outcome<T> {
    argument.ok_or_else(|| Thrown::Unexpected(format!("the argument {name} is missing")))
}

/// Returns a table's name.
pub(super) fn table_name(name: Option<Bytes>) -> Outcome<TableName> {
    let name = required(name, "tableName")?;
    TableName::parse(&String::from_utf8_lossy(&name)).map_err(|error| Thrown::illegal(&error))
}

/// The longest row key in bytes.
const ROW_LEN_MAX: usize = i16::MAX as usize;

/// Checks a row key as HBase's client does.
pub(super) fn checked_row(row: Option<Bytes>) -> Outcome<Bytes> {
    let row = required(row, "row")?;
    match row.len() {
        0 => Err(Thrown::IllegalArgument("Row length is 0".into())),
        len if len > ROW_LEN_MAX => {
            Err(Thrown::IllegalArgument(format!("Row length {len} is > {ROW_LEN_MAX}")))
        }
        _ => Ok(row),
    }
}

/// Returns a timestamp in milliseconds; the latest without the argument.
pub(super) fn timestamp(millis: Option<i64>) -> Outcome<Timestamp> {
    let Some(millis) = millis else { return Ok(Timestamp::LATEST) };
    Timestamp::from_millis(millis)
        .map_err(|_| Thrown::IllegalArgument(format!("Timestamp cannot be negative. ts={millis}")))
}

/// Splits a column at the first colon; without one it is a family.
pub(super) fn split_column(column: &Bytes) -> (Bytes, Option<Bytes>) {
    match column.iter().position(|&byte| byte == b':') {
        Some(colon) => (column.slice(..colon), Some(column.slice(colon + 1..))),
        None => (column.clone(), None),
    }
}

/// Returns the attributes of an operation.
pub(super) fn attributes(
    attributes: Option<Pairs<Bytes, Bytes>>,
    is_scan: bool,
) -> Outcome<Attributes> {
    let Some(Pairs(pairs)) = attributes else { return Ok(Attributes::default()) };
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| NameBytesPair { name: escape(&name), value: Some(value) });
    let read = Attributes::read(pairs.collect(), is_scan);
    read.map_err(|error| remote(exception(error)).into())
}
