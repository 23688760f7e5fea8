//! Tables: typed rows by key fields, and indexes.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use rowhouse::schema::{IndexSchema, TableDescriptor, with_indexes};
use rowhouse::{
    Bytes, Database, Delete, Error, Get, Mutation, Result, RowPut, Table as Stored, Value,
};

use crate::database::none;
use crate::errors::{OrRaise, check_batch};
use crate::executor::{Executor, Face};
use crate::query::{QueryOptions, query_object};
use crate::raw::raw_table_object;
use crate::row::{Names, Row};
use crate::session::{OfProcess, TableHandle};
use crate::value::{Raw, to_python, to_value};

/// The calls of a table, for both faces.
#[pyclass(frozen, subclass, name = "_Table", module = "rowhouse")]
pub(crate) struct TableBase {
    handle: Arc<TableHandle>,
    names: Arc<Names>,
}

/// A table. Rows are written and read by the fields of the key template and by declared columns;
/// `raw` has HBase's own requests. It may be used by several threads.
#[pyclass(frozen, extends = TableBase, module = "rowhouse")]
pub(crate) struct Table;

/// A table whose calls return awaitables.
#[pyclass(frozen, extends = TableBase, module = "rowhouse")]
pub(crate) struct AsyncTable;

/// Creates the table for an executor's face.
pub(crate) fn table_object<'py>(
    py: Python<'py>,
    executor: Executor,
    opened: (Database, Stored),
) -> PyResult<Bound<'py, PyAny>> {
    let names = Arc::new(Names::of(py, &opened.1));
    let base = TableBase { handle: Arc::new(OfProcess::new(opened, executor)), names };
    let base = PyClassInitializer::from(base);
    match executor.face() {
        Face::Blocking => Ok(Bound::new(py, base.add_subclass(Table))?.into_any()),
        Face::Asyncio => Ok(Bound::new(py, base.add_subclass(AsyncTable))?.into_any()),
    }
}

impl TableBase {
    fn stored(&self) -> &Stored {
        self.handle.table()
    }

    fn executor(&self) -> Executor {
        self.handle.executor
    }

    /// Makes a put of named values: key fields make the key, the others are declared columns, and
    /// `cells` holds columns by `family:qualifier`, as bytes.
    fn row_put<'t>(
        &'t self,
        py: Python<'_>,
        cells: Option<&Bound<'_, PyDict>>,
        values: &Bound<'_, PyDict>,
    ) -> PyResult<RowPut<'t>> {
        let table = self.stored();
        let schema = table.key_schema().or_raise(py)?;
        let mut fields: Vec<(String, Value)> = Vec::with_capacity(schema.fields().len());
        let mut columns: Vec<(String, Bound<'_, PyAny>)> = Vec::new();
        for (name, value) in values {
            let name = name.cast::<PyString>()?.extract::<String>()?;
            if is_key_name(table, &name) {
                fields.push((name, to_value(&value)?));
            } else {
                columns.push((name, value));
            }
        }
        let mut row = table.row(&fields);
        for (name, value) in columns {
            row = self.set_column(py, row, &name, &value)?;
        }
        for (column, value) in cells.into_iter().flatten() {
            let Raw(column) = column.extract()?;
            let (family, qualifier) = split_column(&column)?;
            let Raw(value) = value.extract()?;
            row = row.set(family, qualifier, value);
        }
        Ok(row)
    }

    /// Sets a declared column; one with data in its qualifiers to pairs of fields and value.
    fn set_column<'t>(
        &self,
        py: Python<'_>,
        mut row: RowPut<'t>,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<RowPut<'t>> {
        let column = self.stored().column_schema().and_then(|schema| schema.column(name));
        if column.or_raise(py)?.template().is_none() {
            return Ok(row.set_named(name, to_value(value)?));
        }
        for pair in value.try_iter()? {
            let (fields, value) = pair?.extract::<(Bound<'_, PyDict>, Bound<'_, PyAny>)>()?;
            row = row.set_named_with(name, &named_values(&fields)?, to_value(&value)?);
        }
        Ok(row)
    }

    /// Returns the keys that a row with these fields may have: one, or one for each salt.
    fn keys(&self, py: Python<'_>, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Bytes>> {
        let schema = self.stored().key_schema().or_raise(py)?;
        let fields = fields.map(named_values).transpose()?.unwrap_or_default();
        schema.encode_all(&fields).or_raise(py)
    }
}

/// Returns true if a name belongs to the key: a field, a salt that is given, or an unknown name, for
/// which the template reports the mistake.
fn is_key_name(table: &Stored, name: &str) -> bool {
    let is_field = table.key_schema().is_ok_and(|schema| schema.field(name).is_some());
    let is_column = || table.column_schema().is_ok_and(|columns| columns.column(name).is_ok());
    is_field || !is_column()
}

/// Reads names with values.
pub(crate) fn named_values(values: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Value)>> {
    values.iter().map(|(name, value)| Ok((name.extract()?, to_value(&value)?))).collect()
}

/// Splits `family:qualifier` at the first colon.
fn split_column(column: &[u8]) -> PyResult<(&str, &str)> {
    let text = std::str::from_utf8(column)
        .map_err(|_| PyValueError::new_err("a column that is no UTF-8 is written by `raw.put`"))?;
    text.split_once(':').ok_or_else(|| {
        PyValueError::new_err(format!("a column is written family:qualifier: column={text}"))
    })
}

#[pymethods]
impl TableBase {
    /// The table name, `table` or `namespace:table`.
    #[getter]
    fn name(&self) -> String {
        self.stored().name().to_string()
    }

    /// The key template, `None` if the table declares none.
    #[getter]
    fn template(&self) -> Option<String> {
        self.stored().key_schema().ok().map(ToString::to_string)
    }

    /// The names that rows have: key fields, then declared columns.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.names.to_tuple(py)
    }

    /// HBase's requests: rows, families, qualifiers and values as bytes.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        raw_table_object(py, &self.handle)
    }

    fn __repr__(&self) -> String {
        let template = self.template().unwrap_or_default();
        format!("<rowhouse table {} {template}>", self.stored().name())
    }

    /// Encodes these fields as a row key.
    #[pyo3(signature = (**fields))]
    fn key<'py>(
        &self,
        py: Python<'py>,
        fields: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let fields = fields.map(named_values).transpose()?.unwrap_or_default();
        Ok(PyBytes::new(py, &self.stored().key(&fields).or_raise(py)?))
    }

    /// Decodes a row key to its fields.
    fn decode_key<'py>(&self, py: Python<'py>, key: Raw) -> PyResult<Bound<'py, PyDict>> {
        let schema = self.stored().key_schema().or_raise(py)?;
        let values = schema.decode(&key.0).map_err(Error::from).or_raise(py)?;
        let fields = PyDict::new(py);
        for (name, value) in values.iter() {
            fields.set_item(name, to_python(py, value)?)?;
        }
        Ok(fields)
    }

    /// Writes cells of one row, atomically: `put(user="bob", at=…, subject="…")`.
    ///
    /// Key fields make the key; the other names are declared columns. `cells` has further columns:
    /// `put({"d:subject": b"…"}, user="bob", at=…)`.
    #[pyo3(signature = (cells=None, /, **values))]
    fn put<'py>(
        &self,
        py: Python<'py>,
        cells: Option<&Bound<'py, PyDict>>,
        values: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = values.cloned().unwrap_or_else(|| PyDict::new(py));
        let put = self.row_put(py, cells, &values)?.into_put().or_raise(py)?;
        let table = self.stored().clone();
        self.executor().run(py, async move { table.put(put).await }, none)
    }

    /// Writes a row if it does not exist; raises `RowExistsError` otherwise. Arguments as of `put`.
    #[pyo3(signature = (cells=None, /, **values))]
    fn insert<'py>(
        &self,
        py: Python<'py>,
        cells: Option<&Bound<'py, PyDict>>,
        values: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = values.cloned().unwrap_or_else(|| PyDict::new(py));
        // With a random salt the same values may be in another row: the template requires the salt.
        let schema = self.stored().key_schema().or_raise(py)?;
        if schema.has_salt() {
            let fields = values.iter().filter_map(|(name, value)| {
                let name = name.extract::<String>().ok()?;
                is_key_name(self.stored(), &name).then_some((name, value))
            });
            let fields: PyResult<Vec<_>> =
                fields.map(|(name, value)| Ok((name, to_value(&value)?))).collect();
            schema.encode(&fields?).or_raise(py)?;
        }
        let put = self.row_put(py, cells, &values)?.into_put().or_raise(py)?;
        let table = self.stored().clone();
        self.executor().run(py, async move { table.insert(put).await }, none)
    }

    /// Writes many rows, given as mappings of names to values. All are encoded first, so give a
    /// bounded number, such as 10,000. Raises `BatchError` if some failed; the others are written.
    /// Returns how many were written.
    fn put_many<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut puts: Vec<Mutation> = Vec::new();
        for row in rows.try_iter()? {
            let row = row?;
            let put = match row.cast::<PyDict>() {
                Ok(values) => self.row_put(py, None, values)?,
                Err(_) => {
                    let values = PyDict::new(py);
                    values.call_method1("update", (row,))?;
                    self.row_put(py, None, &values)?
                }
            };
            puts.push(put.into_put().or_raise(py)?.into());
        }
        let table = self.stored().clone();
        let written = async move { Ok(write_batches(&table, puts).await) };
        self.executor().run(py, written, |py, results| {
            check_batch(py, &results)?;
            Ok(results.len().into_pyobject(py)?.into_any())
        })
    }

    /// Returns the row with these key fields, or `None`.
    #[pyo3(signature = (**fields))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        fields: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keys = self.keys(py, fields)?;
        let gets = keys.into_iter().map(Get::new).collect::<Result<Vec<_>>>().or_raise(py)?;
        let table = self.stored().clone();
        let names = Arc::clone(&self.names);
        let found = async move {
            if let [get] = &gets[..] {
                let row = table.get(get).await?;
                return if row.is_empty() { Ok(None) } else { table.query_row(row).map(Some) };
            }
            // The salt was drawn when the row was written.
            for row in table.get_many(gets).await {
                let row = row?;
                if !row.is_empty() {
                    return table.query_row(row).map(Some);
                }
            }
            Ok(None)
        };
        self.executor().run(py, found, move |py, row| match row {
            Some(row) => Ok(Bound::new(py, Row::new(&names, row))?.into_any()),
            None => Ok(py.None().into_bound(py)),
        })
    }

    /// Returns many rows, `None` for each that does not exist, in the order of `keys`, which are
    /// mappings of key fields to values.
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut gets = Vec::new();
        for key in keys.try_iter()? {
            let fields = PyDict::new(py);
            fields.call_method1("update", (key?,))?;
            let key = self.stored().key(&named_values(&fields)?).or_raise(py)?;
            gets.push(Get::new(key).or_raise(py)?);
        }
        let table = self.stored().clone();
        let names = Arc::clone(&self.names);
        let found = async move {
            let mut rows = Vec::new();
            for row in table.get_many(gets).await {
                let row = row?;
                rows.push(if row.is_empty() { None } else { Some(table.query_row(row)?) });
            }
            Ok(rows)
        };
        self.executor().run(py, found, move |py, rows| {
            let list = PyList::empty(py);
            for row in rows {
                list.append(row.map(|row| Row::new(&names, row)))?;
            }
            Ok(list.into_any())
        })
    }

    /// Deletes the row with these key fields.
    #[pyo3(signature = (**fields))]
    fn delete<'py>(
        &self,
        py: Python<'py>,
        fields: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keys = self.keys(py, fields)?;
        let deletes = keys.into_iter().map(|key| Delete::new(key).map(Mutation::from));
        let deletes = deletes.collect::<Result<Vec<_>>>().or_raise(py)?;
        let table = self.stored().clone();
        let deleted = async move { Ok(table.batch(deletes).await) };
        self.executor().run(py, deleted, |py, results| {
            for result in results {
                result.or_raise(py)?;
            }
            none(py, ())
        })
    }

    /// Returns a query. Nothing is read before its rows are.
    ///
    /// `where` has values that must be equal, so that no text is put together:
    /// `query("at during 2022-12", where={"user": name})`. `columns` are names of declared
    /// columns, `family:qualifier` or `family:`; without them all cells are read. `using` names the
    /// index to read by, in whose order the rows then come, or is `"key"`.
    #[pyo3(signature = (
        text="", *, r#where=None, columns=None, limit=None, offset=0, after=None, reversed=false,
        zone=None, using=None, by_score=false, by_field=None, with_misfits=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn query<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        r#where: Option<&Bound<'py, PyDict>>,
        columns: Option<Vec<String>>,
        limit: Option<u64>,
        offset: u64,
        after: Option<String>,
        reversed: bool,
        zone: Option<&str>,
        using: Option<String>,
        by_score: bool,
        by_field: Option<String>,
        with_misfits: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = QueryOptions {
            text: text.to_owned(),
            equal: r#where.map(named_values).transpose()?.unwrap_or_default(),
            columns,
            limit,
            offset,
            after,
            reversed,
            zone: zone.map(str::to_owned),
            using,
            by_score,
            by_field,
            with_misfits,
        };
        query_object(py, &self.handle, &self.names, options)
    }

    /// Returns the indexes: each name with its declaration and state (`ready`, `building …`).
    fn indexes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let handle = Arc::clone(&self.handle);
        let name = self.name();
        let indexes = async move {
            let admin = handle.database().admin();
            let descriptor = admin.describe(&name).await?;
            let mut indexes = Vec::new();
            let declared = IndexSchema::of_table(&descriptor)?;
            for index in declared.iter().flat_map(IndexSchema::indexes) {
                let state = admin.index_state(&name, index.name()).await?;
                indexes.push((index.name().to_owned(), index.to_string(), state.to_string()));
            }
            Ok(indexes)
        };
        self.executor().run(py, indexes, |py, indexes| {
            let dict = PyDict::new(py);
            for (name, declaration, state) in indexes {
                dict.set_item(name, (declaration, state))?;
            }
            Ok(dict.into_any())
        })
    }

    /// Declares an index, such as `by_sender [sender]`. It is built while writers go on, and read
    /// by queries once it is ready: see `indexes`.
    fn create_index<'py>(
        &self,
        py: Python<'py>,
        declaration: String,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.alter_indexes(py, move |table, mut declarations| {
            declarations.push(declaration.clone());
            with_indexes(table, &declarations.join("\n"))
        })
    }

    /// Drops an index, with its entries.
    fn drop_index<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyAny>> {
        self.alter_indexes(py, move |table, declarations| {
            if let Some(declared) = IndexSchema::of_table(&table)? {
                let place = declared.index(&name)?.name().to_owned();
                let names = declared.indexes().iter().map(|index| index.name() != place);
                let left = declarations.iter().zip(names).filter(|(_, stays)| *stays);
                let left: Vec<&str> = left.map(|(declaration, _)| &declaration[..]).collect();
                return with_indexes(table, &left.join("\n"));
            }
            Err(Error::invalid(format!("table {} declares no indexes", table.name())))
        })
    }
}

impl TableBase {
    fn alter_indexes<'py>(
        &self,
        py: Python<'py>,
        alter: impl Fn(TableDescriptor, Vec<String>) -> Result<TableDescriptor> + Send + Sync + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let handle = Arc::clone(&self.handle);
        let name = self.name();
        let altered = async move {
            let alter = move |table: &TableDescriptor| {
                let declared = IndexSchema::of_table(table)?;
                let indexes = declared.iter().flat_map(IndexSchema::indexes);
                alter(table.clone(), indexes.map(ToString::to_string).collect())
            };
            handle.database().admin().alter_table(&name, alter).await
        };
        self.executor().run(py, altered, none)
    }
}

/// How many mutations a call to the library has.
const BATCH_MUTATIONS: usize = 1_000;

/// Applies mutations; returns the result of each.
pub(crate) async fn write_batches(table: &Stored, mutations: Vec<Mutation>) -> Vec<Result<()>> {
    let mut results = Vec::with_capacity(mutations.len());
    let mut mutations = mutations.into_iter().peekable();
    while mutations.peek().is_some() {
        let batch = mutations.by_ref().take(BATCH_MUTATIONS).collect();
        results.extend(table.batch(batch).await.into_iter().map(|result| result.map(|_| ())));
    }
    results
}
