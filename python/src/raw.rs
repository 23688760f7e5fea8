//! HBase's requests: rows, families, qualifiers and values as bytes.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use rowhouse::filter::{CompareOperator, Filter};
use rowhouse::{
    Append, Bytes, Columns, Condition, Increment, Mutation, Result, Row as StoredRow, RowRange,
    TimeRange, Timestamp,
};

use crate::database::{none, parse_durability};
use crate::errors::{OrRaise, check_batch};
use crate::executor::{Executor, Face};
use crate::row::cells;
use crate::rows::{Source, rows_object};
use crate::session::TableHandle;
use crate::table::write_batches;
use crate::value::Raw;

/// A row of plain cells: those of one key, in the order of families and qualifiers. A row without
/// cells is false.
#[pyclass(frozen, module = "rowhouse")]
pub(crate) struct RawRow {
    row: StoredRow,
}

/// Creates the object for a row.
pub(crate) fn raw_row<'py>(py: Python<'py>, row: &StoredRow) -> PyResult<Bound<'py, PyAny>> {
    Ok(Bound::new(py, RawRow { row: row.clone() })?.into_any())
}

#[pymethods]
impl RawRow {
    /// The row key, empty for a row without cells.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.row.key())
    }

    /// The cells.
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        cells(py, &self.row)
    }

    /// The newest value of a column, or `None`.
    fn value<'py>(
        &self,
        py: Python<'py>,
        family: Raw,
        qualifier: Raw,
    ) -> Option<Bound<'py, PyBytes>> {
        let cell = self.row.cell(family.0, qualifier.0)?;
        Some(PyBytes::new(py, cell.value()))
    }

    /// The newest value of a counter, or `None`.
    fn counter(&self, py: Python<'_>, family: Raw, qualifier: Raw) -> PyResult<Option<i64>> {
        self.row.counter(family.0, qualifier.0).or_raise(py)
    }

    fn __len__(&self) -> usize {
        self.row.len()
    }

    fn __repr__(&self) -> String {
        format!("<RawRow {} cells={}>", rowhouse::key::escape(self.row.key()), self.row.len())
    }
}

/// Reads columns: `family`, `family:`, `family:qualifier`, as `str` or `bytes`, or a pair of family
/// and qualifier.
fn read_columns(columns: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<Columns> {
    let mut read = Columns::all();
    for column in columns.into_iter().flatten() {
        if let Ok(pair) = column.cast::<PyTuple>() {
            let (family, qualifier) = pair.extract::<(Raw, Raw)>()?;
            read.add_column(family.0, qualifier.0);
            continue;
        }
        let Raw(column) = column.extract()?;
        match column.iter().position(|byte| *byte == b':') {
            None => read.add_family(column),
            Some(at) if at + 1 == column.len() => read.add_family(column.slice(..at)),
            Some(at) => read.add_column(column.slice(..at), column.slice(at + 1..)),
        }
    }
    Ok(read)
}

fn read_time_range(py: Python<'_>, range: Option<(i64, i64)>) -> PyResult<TimeRange> {
    let Some((min, max)) = range else { return Ok(TimeRange::ALL) };
    let min = Timestamp::from_millis(min).or_raise(py)?;
    let max = Timestamp::from_millis(max).or_raise(py)?;
    TimeRange::new(min, max).or_raise(py)
}

fn read_timestamp(py: Python<'_>, millis: Option<i64>) -> PyResult<Timestamp> {
    millis.map_or(Ok(Timestamp::LATEST), Timestamp::from_millis).or_raise(py)
}

fn read_filter(py: Python<'_>, filter: Option<&str>) -> PyResult<Option<Box<Filter>>> {
    Ok(filter.map(Filter::parse).transpose().or_raise(py)?.map(Box::new))
}

/// A request for one row.
///
/// `columns` are families (`"f"`), columns (`"f:q"`) or pairs of family and qualifier; without them
/// all are read. `time_range` is a pair of milliseconds, the second one outside. `filter` is text
/// in the language of HBase's shell.
#[pyclass(frozen, module = "rowhouse")]
pub(crate) struct Get {
    get: rowhouse::Get,
}

#[pymethods]
impl Get {
    #[new]
    #[pyo3(signature = (row, *, columns=None, versions=1, time_range=None, filter=None))]
    fn new(
        py: Python<'_>,
        row: Raw,
        columns: Option<Vec<Bound<'_, PyAny>>>,
        versions: u32,
        time_range: Option<(i64, i64)>,
        filter: Option<&str>,
    ) -> PyResult<Self> {
        let mut get = rowhouse::Get::new(row.0).or_raise(py)?.versions(versions);
        get.columns = read_columns(columns)?;
        get.time_range = read_time_range(py, time_range)?;
        get.filter = read_filter(py, filter)?;
        Ok(Self { get })
    }

    /// The row key.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.get.row())
    }
}

/// A request for a range of rows: from `start` to before `stop`, or those that begin with `prefix`;
/// without them all. With `reversed` the range is the same, and is read from its end. The other arguments are as of `Get`. `caching` is how many rows a server sends
/// at a time, `raw` returns delete markers and deleted cells too.
#[pyclass(frozen, module = "rowhouse")]
pub(crate) struct Scan {
    scan: rowhouse::Scan,
}

#[pymethods]
impl Scan {
    #[new]
    #[pyo3(signature = (
        start=None, stop=None, *, prefix=None, columns=None, versions=1, time_range=None,
        filter=None, limit=None, caching=None, reversed=false, raw=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        start: Option<Raw>,
        stop: Option<Raw>,
        prefix: Option<Raw>,
        columns: Option<Vec<Bound<'_, PyAny>>>,
        versions: u32,
        time_range: Option<(i64, i64)>,
        filter: Option<&str>,
        limit: Option<u64>,
        caching: Option<u32>,
        reversed: bool,
        raw: bool,
    ) -> PyResult<Self> {
        let range = match prefix {
            None => {
                let end = |row: Option<Raw>| row.map_or_else(Bytes::new, |row| row.0);
                RowRange::new(end(start), end(stop))
            }
            Some(prefix) if start.is_none() && stop.is_none() => RowRange::prefix(&prefix.0),
            Some(_) => {
                return Err(PyValueError::new_err("a scan has a prefix, or start and stop"));
            }
        };
        let mut scan = rowhouse::Scan::new(range).versions(versions);
        scan.columns = read_columns(columns)?;
        scan.time_range = read_time_range(py, time_range)?;
        scan.filter = read_filter(py, filter)?;
        scan.limit = limit;
        scan.caching = caching;
        scan.reversed = reversed;
        scan.raw = raw;
        Ok(Self { scan })
    }
}

/// Cells to write to one row, atomically. `durability` is HBase's word, `ttl` milliseconds.
#[pyclass(module = "rowhouse")]
pub(crate) struct Put {
    put: rowhouse::Put,
}

#[pymethods]
impl Put {
    #[new]
    #[pyo3(signature = (row, *, durability=None, ttl=None))]
    fn new(py: Python<'_>, row: Raw, durability: Option<&str>, ttl: Option<i64>) -> PyResult<Self> {
        let mut put = rowhouse::Put::new(row.0).or_raise(py)?;
        put.durability = durability.map(parse_durability).transpose()?.unwrap_or_default();
        put.ttl_millis = ttl;
        Ok(Self { put })
    }

    /// The row key.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.put.row())
    }

    /// Adds a cell, with the time of the write if there is no timestamp. Returns the put.
    #[pyo3(signature = (family, qualifier, value, timestamp=None))]
    fn add(
        this: Py<Self>,
        py: Python<'_>,
        family: Raw,
        qualifier: Raw,
        value: Raw,
        timestamp: Option<i64>,
    ) -> PyResult<Py<Self>> {
        let timestamp = read_timestamp(py, timestamp)?;
        let mut inner = this.bind(py).try_borrow_mut()?;
        let put = inner.put.clone();
        inner.put = put.add_at(family.0, qualifier.0, timestamp, value.0).or_raise(py)?;
        drop(inner);
        Ok(this)
    }
}

/// A delete of one row, or of the families and columns that are added to it. With a timestamp, only
/// cells up to it are deleted.
#[pyclass(module = "rowhouse")]
pub(crate) struct Delete {
    delete: rowhouse::Delete,
}

impl Delete {
    fn add(
        this: Py<Self>,
        py: Python<'_>,
        add: impl FnOnce(rowhouse::Delete) -> Result<rowhouse::Delete>,
    ) -> PyResult<Py<Self>> {
        let mut inner = this.bind(py).try_borrow_mut()?;
        let delete = inner.delete.clone();
        inner.delete = add(delete).or_raise(py)?;
        drop(inner);
        Ok(this)
    }
}

#[pymethods]
impl Delete {
    #[new]
    #[pyo3(signature = (row, *, timestamp=None, durability=None))]
    fn new(
        py: Python<'_>,
        row: Raw,
        timestamp: Option<i64>,
        durability: Option<&str>,
    ) -> PyResult<Self> {
        let mut delete = rowhouse::Delete::new(row.0).or_raise(py)?;
        delete.timestamp = read_timestamp(py, timestamp)?;
        delete.durability = durability.map(parse_durability).transpose()?.unwrap_or_default();
        Ok(Self { delete })
    }

    /// The row key.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.delete.row())
    }

    /// Deletes a family. Returns the delete.
    #[pyo3(signature = (family, timestamp=None))]
    fn family(
        this: Py<Self>,
        py: Python<'_>,
        family: Raw,
        timestamp: Option<i64>,
    ) -> PyResult<Py<Self>> {
        let timestamp = read_timestamp(py, timestamp)?;
        Self::add(this, py, |delete| delete.family(family.0, timestamp))
    }

    /// Deletes all versions of a column. Returns the delete.
    #[pyo3(signature = (family, qualifier, timestamp=None))]
    fn column(
        this: Py<Self>,
        py: Python<'_>,
        family: Raw,
        qualifier: Raw,
        timestamp: Option<i64>,
    ) -> PyResult<Py<Self>> {
        let timestamp = read_timestamp(py, timestamp)?;
        Self::add(this, py, |delete| delete.column(family.0, qualifier.0, timestamp))
    }

    /// Deletes one version of a column, the newest if there is no timestamp. Returns the delete.
    #[pyo3(signature = (family, qualifier, timestamp=None))]
    fn version(
        this: Py<Self>,
        py: Python<'_>,
        family: Raw,
        qualifier: Raw,
        timestamp: Option<i64>,
    ) -> PyResult<Py<Self>> {
        let timestamp = read_timestamp(py, timestamp)?;
        Self::add(this, py, |delete| delete.version(family.0, qualifier.0, timestamp))
    }
}

/// Reads a `Put` or a `Delete`.
fn read_mutation(request: &Bound<'_, PyAny>) -> PyResult<Mutation> {
    if let Ok(put) = request.cast::<Put>() {
        return Ok(put.try_borrow()?.put.clone().into());
    }
    if let Ok(delete) = request.cast::<Delete>() {
        return Ok(delete.try_borrow()?.delete.clone().into());
    }
    Err(PyTypeError::new_err(format!(
        "Put or Delete required: type={}",
        request.get_type().fully_qualified_name()?
    )))
}

/// The requests to a table, for both faces.
#[pyclass(frozen, subclass, name = "_RawTable", module = "rowhouse")]
pub(crate) struct RawTableBase {
    handle: Arc<TableHandle>,
}

/// HBase's requests to a table.
#[pyclass(frozen, extends = RawTableBase, module = "rowhouse")]
pub(crate) struct RawTable;

/// HBase's requests to a table, which return awaitables.
#[pyclass(frozen, extends = RawTableBase, module = "rowhouse")]
pub(crate) struct AsyncRawTable;

/// Creates the object for the face of the table.
pub(crate) fn raw_table_object<'py>(
    py: Python<'py>,
    handle: &Arc<TableHandle>,
) -> PyResult<Bound<'py, PyAny>> {
    let base = PyClassInitializer::from(RawTableBase { handle: Arc::clone(handle) });
    match handle.executor.face() {
        Face::Blocking => Ok(Bound::new(py, base.add_subclass(RawTable))?.into_any()),
        Face::Asyncio => Ok(Bound::new(py, base.add_subclass(AsyncRawTable))?.into_any()),
    }
}

impl RawTableBase {
    fn executor(&self) -> Executor {
        self.handle.executor
    }

    fn mutate_if<'py>(
        &self,
        py: Python<'py>,
        condition: Condition,
        mutation: Mutation,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.handle.table().clone();
        let applied = async move { table.mutate_if(&condition, mutation).await };
        self.executor().run(py, applied, |py, outcome| {
            Ok(outcome.is_some().into_pyobject(py)?.to_owned().into_any())
        })
    }
}

#[pymethods]
impl RawTableBase {
    /// Reads one row; it has no cells if it does not exist.
    fn get<'py>(&self, py: Python<'py>, get: &Bound<'py, Get>) -> PyResult<Bound<'py, PyAny>> {
        let table = self.handle.table().clone();
        let get = get.get().get.clone();
        let row = async move { table.get(&get).await };
        self.executor().run(py, row, |py, row| raw_row(py, &row))
    }

    /// Reads many rows, in the order of the requests.
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        gets: Vec<Bound<'py, Get>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.handle.table().clone();
        let gets = gets.iter().map(|get| get.get().get.clone()).collect();
        let rows =
            async move { table.get_many(gets).await.into_iter().collect::<Result<Vec<_>>>() };
        self.executor().run(py, rows, |py, rows| {
            let list = PyList::empty(py);
            for row in rows {
                list.append(raw_row(py, &row)?)?;
            }
            Ok(list.into_any())
        })
    }

    /// Returns true if any cell matches.
    fn exists<'py>(&self, py: Python<'py>, get: &Bound<'py, Get>) -> PyResult<Bound<'py, PyAny>> {
        let table = self.handle.table().clone();
        let get = get.get().get.clone();
        let exists = async move { table.exists(&get).await };
        self.executor()
            .run(py, exists, |py, exists| Ok(exists.into_pyobject(py)?.to_owned().into_any()))
    }

    /// Writes cells of one row, atomically.
    fn put<'py>(&self, py: Python<'py>, put: &Bound<'py, Put>) -> PyResult<Bound<'py, PyAny>> {
        let table = self.handle.table().clone();
        let put = put.try_borrow()?.put.clone();
        self.executor().run(py, async move { table.put(put).await }, none)
    }

    /// Deletes cells of one row, atomically.
    fn delete<'py>(
        &self,
        py: Python<'py>,
        delete: &Bound<'py, Delete>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.handle.table().clone();
        let delete = delete.try_borrow()?.delete.clone();
        self.executor().run(py, async move { table.delete(delete).await }, none)
    }

    /// Applies puts and deletes, each on its own. Raises `BatchError` if some failed; the others
    /// are applied. Returns how many were applied.
    fn batch<'py>(
        &self,
        py: Python<'py>,
        requests: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mutations = requests.try_iter()?.map(|request| read_mutation(&request?));
        let mutations = mutations.collect::<PyResult<Vec<_>>>()?;
        let table = self.handle.table().clone();
        let written = async move { Ok(write_batches(&table, mutations).await) };
        self.executor().run(py, written, |py, results| {
            check_batch(py, &results)?;
            Ok(results.len().into_pyobject(py)?.into_any())
        })
    }

    /// Adds to a counter and returns the new value.
    #[pyo3(signature = (row, family, qualifier, amount=1))]
    fn increment<'py>(
        &self,
        py: Python<'py>,
        row: Raw,
        family: Raw,
        qualifier: Raw,
        amount: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let increment = Increment::new(row.0).or_raise(py)?;
        let increment = increment.add(&family.0, &qualifier.0, amount).or_raise(py)?;
        let table = self.handle.table().clone();
        let grown = async move { table.increment(increment).await?.counter(family.0, qualifier.0) };
        self.executor().run(py, grown, |py, value| Ok(value.into_pyobject(py)?.into_any()))
    }

    /// Appends bytes to a value and returns the new value.
    fn append<'py>(
        &self,
        py: Python<'py>,
        row: Raw,
        family: Raw,
        qualifier: Raw,
        value: Raw,
    ) -> PyResult<Bound<'py, PyAny>> {
        let append = Append::new(row.0).or_raise(py)?;
        let append = append.add(&family.0, &qualifier.0, value.0).or_raise(py)?;
        let table = self.handle.table().clone();
        let grown = async move { Ok(table.append(append).await?.value(family.0, qualifier.0)) };
        self.executor().run(py, grown, |py, value| {
            let value = value.map(|value| PyBytes::new(py, &value));
            Ok(value.into_pyobject(py)?.into_any())
        })
    }

    /// Writes if a column of the same row has this value, or none at all if `value` is `None`.
    /// Returns whether it did. `operator` compares the stored value with `value`: `=`, `!=`, `<`,
    /// `<=`, `>` or `>=`.
    #[pyo3(signature = (family, qualifier, value, put, *, operator="="))]
    fn check_and_put<'py>(
        &self,
        py: Python<'py>,
        family: Raw,
        qualifier: Raw,
        value: Option<Raw>,
        put: &Bound<'py, Put>,
        operator: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let condition = read_condition(family, qualifier, value, operator)?;
        let put = put.try_borrow()?.put.clone();
        self.mutate_if(py, condition, put.into())
    }

    /// Deletes if a column of the same row has this value: arguments as of `check_and_put`.
    #[pyo3(signature = (family, qualifier, value, delete, *, operator="="))]
    fn check_and_delete<'py>(
        &self,
        py: Python<'py>,
        family: Raw,
        qualifier: Raw,
        value: Option<Raw>,
        delete: &Bound<'py, Delete>,
        operator: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let condition = read_condition(family, qualifier, value, operator)?;
        let delete = delete.try_borrow()?.delete.clone();
        self.mutate_if(py, condition, delete.into())
    }
}

fn read_condition(
    family: Raw,
    qualifier: Raw,
    value: Option<Raw>,
    operator: &str,
) -> PyResult<Condition> {
    let operator = match operator {
        "=" => CompareOperator::Equal,
        "!=" => CompareOperator::NotEqual,
        "<" => CompareOperator::Less,
        "<=" => CompareOperator::LessOrEqual,
        ">" => CompareOperator::Greater,
        ">=" => CompareOperator::GreaterOrEqual,
        other => {
            let message = format!("operator is =, !=, <, <=, > or >=: operator={other}");
            return Err(PyValueError::new_err(message));
        }
    };
    match value {
        Some(value) => Ok(Condition::value(family.0, qualifier.0, operator, value.0)),
        None if operator == CompareOperator::Equal => {
            Ok(Condition::no_value(family.0, qualifier.0))
        }
        None => Err(PyValueError::new_err("a column without a value is compared by = only")),
    }
}

#[pymethods]
impl RawTable {
    /// Returns an iterator over the rows of a range, in the order of their keys.
    fn scan<'py>(this: &Bound<'py, Self>, scan: &Bound<'py, Scan>) -> PyResult<Bound<'py, PyAny>> {
        let base = this.as_super().get();
        let table = base.handle.table().clone();
        let scan = scan.get().scan.clone();
        let executor = base.executor();
        let rows = executor.wait(this.py(), async move { table.scan(scan).await })?;
        rows_object(this.py(), executor, Source::Scan(rows))
    }
}

#[pymethods]
impl AsyncRawTable {
    /// Returns an awaitable for an iterator over the rows of a range, in the order of their keys.
    fn scan<'py>(this: &Bound<'py, Self>, scan: &Bound<'py, Scan>) -> PyResult<Bound<'py, PyAny>> {
        let base = this.as_super().get();
        let table = base.handle.table().clone();
        let scan = scan.get().scan.clone();
        let executor = base.executor();
        let rows = async move { table.scan(scan).await };
        executor.run(this.py(), rows, move |py, rows| rows_object(py, executor, Source::Scan(rows)))
    }
}
