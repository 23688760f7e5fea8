//! Queries: rows, pages, counts, plans, deletes, and columns for Arrow and pandas.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rowhouse::query::{Page as ReadPage, Predicate, Query as Planned};
use rowhouse::{Result, Table as Stored, Value};

use crate::columns::{ColumnSet, arrow_table};
use crate::executor::{Executor, Face};
use crate::row::{Names, Row};
use crate::rows::{Source, rows_object};
use crate::session::TableHandle;
use crate::value::to_python;

/// What a query was given.
pub(crate) struct QueryOptions {
    pub(crate) text: String,
    pub(crate) equal: Vec<(String, Value)>,
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: u64,
    pub(crate) after: Option<String>,
    pub(crate) reversed: bool,
    pub(crate) zone: Option<String>,
    pub(crate) using: Option<String>,
    pub(crate) by_score: bool,
    pub(crate) by_field: Option<String>,
    pub(crate) with_misfits: bool,
}

impl QueryOptions {
    fn predicate(&self) -> Result<Predicate> {
        let mut predicate = match self.text.trim() {
            "" => Predicate::all(),
            text => Predicate::parse(text)?,
        };
        for (name, value) in &self.equal {
            predicate = match value {
                Value::Null => predicate.is_null(name),
                value => predicate.eq(name, value.clone()),
            };
        }
        Ok(predicate)
    }

    /// Returns the library's query over a table.
    fn on<'t>(&self, table: &'t Stored) -> Result<Planned<'t>> {
        let mut query = table.query_where(self.predicate()?).offset(self.offset);
        for column in self.columns.iter().flatten() {
            query = match column.split_once(':') {
                None => query.named(column),
                Some((family, "")) => query.family(family),
                Some((family, qualifier)) => query.column(family, qualifier),
            };
        }
        if let Some(limit) = self.limit {
            query = query.limit(limit);
        }
        if let Some(token) = &self.after {
            query = query.after(token);
        }
        if let Some(zone) = &self.zone {
            query = query.zone(rowhouse_schema::parse_zone(zone)?);
        }
        query = match self.using.as_deref() {
            None => query,
            Some("key") => query.using_key(),
            Some(index) => query.using(index),
        };
        if let Some(field) = &self.by_field {
            query = query.by_field(field);
        }
        query = if self.reversed { query.reversed() } else { query };
        query = if self.by_score { query.by_score() } else { query };
        Ok(if self.with_misfits { query.with_misfits() } else { query })
    }
}

/// The calls of a query, for both faces.
#[pyclass(frozen, subclass, name = "_Query", module = "rowhouse")]
pub(crate) struct QueryBase {
    handle: Arc<TableHandle>,
    names: Arc<Names>,
    options: Arc<QueryOptions>,
}

/// A query. It is iterated for its rows, each time anew.
#[pyclass(frozen, extends = QueryBase, module = "rowhouse")]
pub(crate) struct Query;

/// A query whose calls return awaitables. It is iterated by `async for`, each time anew.
#[pyclass(frozen, extends = QueryBase, module = "rowhouse")]
pub(crate) struct AsyncQuery;

/// Creates the query for the face of its table.
pub(crate) fn query_object<'py>(
    py: Python<'py>,
    handle: &Arc<TableHandle>,
    names: &Arc<Names>,
    options: QueryOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let base = QueryBase {
        handle: Arc::clone(handle),
        names: Arc::clone(names),
        options: Arc::new(options),
    };
    let base = PyClassInitializer::from(base);
    match handle.executor.face() {
        Face::Blocking => Ok(Bound::new(py, base.add_subclass(Query))?.into_any()),
        Face::Asyncio => Ok(Bound::new(py, base.add_subclass(AsyncQuery))?.into_any()),
    }
}

impl QueryBase {
    fn executor(&self) -> Executor {
        self.handle.executor
    }

    /// Returns what a call needs, for a future that outlives it.
    fn shared(&self) -> (Stored, Arc<QueryOptions>) {
        (self.handle.table().clone(), Arc::clone(&self.options))
    }
}

#[pymethods]
impl QueryBase {
    fn __repr__(&self) -> String {
        format!("<rowhouse query of {}: {}>", self.handle.table().name(), self.options.text)
    }

    /// Reads up to `rows` rows. The page has a token with which `after` resumes, also in another
    /// process.
    fn page<'py>(&self, py: Python<'py>, rows: usize) -> PyResult<Bound<'py, PyAny>> {
        let (table, options) = self.shared();
        let names = Arc::clone(&self.names);
        let page = async move { options.on(&table)?.page(rows).await };
        self.executor().run(py, page, move |py, page| Page::create(py, &names, page))
    }

    /// Returns how many rows there are.
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (table, options) = self.shared();
        let count = async move { options.on(&table)?.count().await };
        self.executor().run(py, count, |py, count| Ok(count.into_pyobject(py)?.into_any()))
    }

    /// Returns the row keys, as bytes, in memory.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (table, options) = self.shared();
        let keys = async move { options.on(&table)?.keys().await };
        self.executor().run(py, keys, |py, keys| {
            let keys = keys.iter().map(|key| PyBytes::new(py, key));
            Ok(PyList::new(py, keys)?.into_any())
        })
    }

    /// Returns how the query is read, by the key or by an index, with the ranges and the other
    /// ways. Nothing is read.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (table, options) = self.shared();
        let explained = async move {
            let query = options.on(&table)?;
            if options.predicate()?.has_matches() {
                return Ok(query.explain_search().await?.to_string());
            }
            let plan = query.explain()?;
            let access = query.explain_access().await?;
            Ok(match (access.paths().len(), access.index_plan()) {
                (..=1, _) => plan.to_string(),
                (_, Some(_)) => format!("{access}by the key instead:\n{plan}"),
                (_, None) => format!("{access}by the key:\n{plan}"),
            })
        };
        self.executor().run(py, explained, text)
    }

    /// Reads the rows and returns what was read for them: a report of blocks, cells and times.
    fn analyze<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (table, options) = self.shared();
        let analysis = async move { Ok(options.on(&table)?.analyze().await?.to_string()) };
        self.executor().run(py, analysis, text)
    }

    /// Deletes the rows; returns how many. Some rows are gone before others.
    fn delete<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (table, options) = self.shared();
        let deleted = async move { options.on(&table)?.delete().run().await };
        self.executor().run(py, deleted, |py, count| Ok(count.into_pyobject(py)?.into_any()))
    }

    /// Returns the values of a field of the full-text index with the number of rows that have each,
    /// the most frequent first, at most `values`. The query has a condition with `matches`.
    #[pyo3(signature = (field, values=10))]
    fn facets<'py>(
        &self,
        py: Python<'py>,
        field: String,
        values: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (table, options) = self.shared();
        let facets = async move { options.on(&table)?.facets(&field, values).await };
        self.executor().run(py, facets, |py, facets| {
            let list = PyList::empty(py);
            for facet in facets {
                list.append((to_python(py, &facet.value)?, facet.rows))?;
            }
            Ok(list.into_any())
        })
    }

    /// Reads all rows into a `pyarrow.Table`, one column for each key field and each declared
    /// column, or each that `columns` names. The columns are built outside of the interpreter.
    ///
    /// Whole numbers are int64 or uint64 (decimal128 beyond), times timestamps in UTC in their own
    /// unit, UUIDs 16 bytes; addresses, lists and decimal numbers of other systems are texts.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read_columns(py, arrow_table)
    }

    /// Reads all rows into a `pandas.DataFrame`, by way of `to_arrow`. Whole numbers and bools have
    /// pandas' nullable types, so that a column without a cell does not change the type.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read_columns(py, |py, columns| {
            let table = arrow_table(py, columns)?;
            py.import("rowhouse._arrow")?.call_method1("to_pandas", (table,))
        })
    }
}

impl QueryBase {
    fn read_columns<'py>(
        &self,
        py: Python<'py>,
        convert: impl for<'p> FnOnce(Python<'p>, ColumnSet) -> PyResult<Bound<'p, PyAny>>
        + Send
        + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A missing module is reported before anything is read.
        py.import("rowhouse._arrow")?.call_method0("check")?;
        let (table, options) = self.shared();
        let columns = async move {
            let mut columns = ColumnSet::new(&table, options.columns.as_deref())?;
            let mut rows = options.on(&table)?.rows().await?;
            while let Some(row) = rows.next().await? {
                columns.push(&row)?;
            }
            Ok(columns)
        };
        self.executor().run(py, columns, convert)
    }
}

fn text(py: Python<'_>, text: String) -> PyResult<Bound<'_, PyAny>> {
    Ok(text.into_pyobject(py)?.into_any())
}

#[pymethods]
impl Query {
    fn __iter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let base = this.as_super().get();
        let (table, options) = base.shared();
        let names = Arc::clone(&base.names);
        let executor = base.executor();
        let rows = async move { options.on(&table)?.rows().await };
        let rows = executor.wait(this.py(), rows)?;
        rows_object(this.py(), executor, Source::Query(Box::new(rows), names))
    }
}

#[pymethods]
impl AsyncQuery {
    fn __aiter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let base = this.as_super().get();
        let (table, options) = base.shared();
        let names = Arc::clone(&base.names);
        // The rows are opened by the first step, which is awaited.
        let opening = Box::pin(async move { options.on(&table)?.rows().await });
        rows_object(this.py(), base.executor(), Source::Opening(opening, names))
    }
}

/// A part of a query's rows.
#[pyclass(frozen, get_all, module = "rowhouse")]
pub(crate) struct Page {
    /// The rows.
    rows: Py<PyList>,
    /// The token for `after`, `None` if this is the last page.
    next: Option<String>,
    /// How many rows were left out because their keys do not fit the template.
    left_out: u64,
    /// How many rows were left out because a value in a condition cannot be decoded.
    unreadable: u64,
}

impl Page {
    fn create<'py>(
        py: Python<'py>,
        names: &Arc<Names>,
        page: ReadPage,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = PyList::empty(py);
        for row in page.rows {
            rows.append(Row::new(names, row))?;
        }
        let ReadPage { next, left_out, unreadable, .. } = page;
        let page = Self { rows: rows.unbind(), next, left_out, unreadable };
        Ok(Bound::new(py, page)?.into_any())
    }
}

#[pymethods]
impl Page {
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
        self.rows.bind(py).try_iter()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.rows.bind(py).len()
    }
}
