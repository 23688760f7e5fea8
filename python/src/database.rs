//! Databases: opening, tables, closing.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use rowhouse::schema::FamilyDescriptor;
use rowhouse::{Database as Opened, DatabaseBuilder, Durability, TableSpec};

use crate::errors::OrRaise;
use crate::executor::{Executor, Face};
use crate::session::{OfProcess, Session};
use crate::table::table_object;
use crate::value::Raw;

/// Opens a database: a directory, which is created if it does not exist, or a server or cluster,
/// `hbase://HOST:PORT` or `hbase+zk://HOST:PORT/ZNODE` (with TLS `hbase+tls://`, `hbase+zk+tls://`).
///
/// The settings are those of the library; one that means nothing for the URL is refused. Timeouts
/// are in seconds.
#[pyfunction]
#[pyo3(signature = (url, **settings))]
pub(crate) fn open<'py>(
    py: Python<'py>,
    url: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    open_as(py, Face::Blocking, url, settings)
}

/// As `open`, for asyncio: returns an awaitable for the database, whose calls return awaitables.
#[pyfunction]
#[pyo3(signature = (url, **settings))]
pub(crate) fn open_async<'py>(
    py: Python<'py>,
    url: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    open_as(py, Face::Asyncio, url, settings)
}

fn open_as<'py>(
    py: Python<'py>,
    face: Face,
    url: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let executor = Executor::of_process(py, face)?;
    let url = match url.cast::<PyString>() {
        Ok(url) => url.extract::<String>()?,
        Err(_) => {
            let path = py.import("os")?.call_method1("fsdecode", (url,))?;
            format!("file:{}", path.extract::<String>()?)
        }
    };
    let mut builder = Opened::builder(&url);
    for (name, value) in settings.into_iter().flatten() {
        builder = with_setting(builder, &name.extract::<String>()?, &value)?;
    }
    executor.run(py, builder.open(), move |py, opened| {
        let base = DatabaseBase { session: Arc::new(OfProcess::new(opened, executor)) };
        let base = PyClassInitializer::from(base);
        match executor.face() {
            Face::Blocking => Ok(Bound::new(py, base.add_subclass(Database))?.into_any()),
            Face::Asyncio => Ok(Bound::new(py, base.add_subclass(AsyncDatabase))?.into_any()),
        }
    })
}

fn with_setting(
    builder: DatabaseBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<DatabaseBuilder> {
    Ok(match name {
        "only_existing" if value.extract()? => builder.only_existing(),
        "only_existing" => builder,
        "durability" => builder.durability(parse_durability(&value.extract::<String>()?)?),
        "block_cache_bytes" => builder.block_cache_bytes(value.extract()?),
        "memstore_bytes_max" => builder.memstore_bytes_max(value.extract()?),
        "user" => builder.user(&value.extract::<String>()?),
        "connect_timeout" => builder.connect_timeout(seconds(value)?),
        "call_timeout" => builder.call_timeout(seconds(value)?),
        "operation_timeout" => builder.operation_timeout(seconds(value)?),
        other => return Err(PyTypeError::new_err(format!("no such setting: setting={other}"))),
    })
}

fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = value.extract()?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyValueError::new_err(format!("{error}: seconds={seconds}")))
}

/// Parses a durability, as HBase writes it.
pub(crate) fn parse_durability(text: &str) -> PyResult<Durability> {
    Ok(match text {
        "USE_DEFAULT" => Durability::UseDefault,
        "SKIP_WAL" => Durability::SkipWal,
        "ASYNC_WAL" => Durability::AsyncWal,
        "SYNC_WAL" => Durability::SyncWal,
        "FSYNC_WAL" => Durability::FsyncWal,
        other => {
            return Err(PyValueError::new_err(format!(
                "durability is USE_DEFAULT, SKIP_WAL, ASYNC_WAL, SYNC_WAL or FSYNC_WAL: \
                 durability={other}"
            )));
        }
    })
}

/// The calls of a database, for both faces.
#[pyclass(frozen, subclass, name = "_Database", module = "rowhouse")]
pub(crate) struct DatabaseBase {
    session: Arc<Session>,
}

/// An open database. It closes when a `with` block ends, on `close`, or when it and all its tables
/// and rows are gone. It may be used by several threads.
#[pyclass(frozen, extends = DatabaseBase, module = "rowhouse")]
pub(crate) struct Database;

/// An open database whose calls return awaitables, from `open_async`. It closes when an
/// `async with` block ends, on `close`, or when it and all its tables and rows are gone.
#[pyclass(frozen, extends = DatabaseBase, module = "rowhouse")]
pub(crate) struct AsyncDatabase;

#[pymethods]
impl DatabaseBase {
    /// The argument to `open` with which another process opens the same database.
    #[getter]
    fn url(&self) -> &str {
        self.session.get().url()
    }

    fn __repr__(&self) -> String {
        format!("<rowhouse database {}>", self.url())
    }

    /// Creates a table.
    ///
    /// `key` is the key template, `columns` and `indexes` are declarations separated by `;`.
    /// `families` is a name, several names, or a dict of names with attributes. `splits` are the
    /// rows at which further regions start, or `regions` their number, for a template that begins
    /// evenly.
    #[pyo3(signature = (
        name, families, *, key=None, columns=None, indexes=None, attributes=None, splits=None,
        regions=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn create<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        families: &Bound<'py, PyAny>,
        key: Option<&str>,
        columns: Option<&str>,
        indexes: Option<&str>,
        attributes: Option<Vec<(String, String)>>,
        splits: Option<Vec<Raw>>,
        regions: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut spec = TableSpec::new(name);
        for family in read_families(families)? {
            spec = spec.family_with(family);
        }
        if let Some(key) = key {
            spec = spec.key(key);
        }
        if let Some(columns) = columns {
            spec = spec.columns(columns);
        }
        if let Some(indexes) = indexes {
            spec = spec.indexes(indexes);
        }
        for (name, value) in attributes.unwrap_or_default() {
            spec = spec.attribute(&name, &value);
        }
        if let Some(splits) = splits {
            spec = spec.splits(splits.into_iter().map(|split| split.0));
        }
        if let Some(regions) = regions {
            spec = spec.regions(regions);
        }
        let database = self.session.get().clone();
        let created = async move {
            let table = database.create_table(spec).await?;
            Ok((database, table))
        };
        let executor = self.session.executor;
        executor.run(py, created, move |py, created| table_object(py, executor, created))
    }

    /// Returns the table `name`, written as `table` or `namespace:table`.
    fn table<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyAny>> {
        let database = self.session.get().clone();
        let table = async move {
            let table = database.table(&name).await?;
            Ok((database, table))
        };
        let executor = self.session.executor;
        executor.run(py, table, move |py, table| table_object(py, executor, table))
    }

    /// Returns the names of all user tables, in order.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let database = self.session.get().clone();
        let tables = async move { database.tables().await };
        self.session.executor.run(py, tables, |py, tables| {
            let names: Vec<_> = tables.iter().map(ToString::to_string).collect();
            names.into_pyobject(py).map(Bound::into_any)
        })
    }

    /// Returns true if the table exists.
    fn exists<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyAny>> {
        let database = self.session.get().clone();
        let exists = async move { database.table_exists(&name).await };
        self.session
            .executor
            .run(py, exists, |py, exists| Ok(exists.into_pyobject(py)?.to_owned().into_any()))
    }

    /// Disables the table and drops it, with its rows.
    fn drop<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyAny>> {
        let database = self.session.get().clone();
        let dropped = async move {
            let admin = database.admin();
            match admin.disable_table(&name).await {
                Err(error) if error.kind() != rowhouse::ErrorKind::TableNotEnabled => Err(error),
                _ => admin.drop_table(&name).await,
            }
        };
        self.session.executor.run(py, dropped, none)
    }

    /// Closes the database: finishes writes under way and releases the directory. Its tables and
    /// rows refuse every call from then on.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let database = self.session.get().clone();
        self.session.executor.run(py, database.close(), none)
    }
}

#[pymethods]
impl Database {
    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(this: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        this.as_super().get().close(this.py()).map(|_| ())
    }
}

#[pymethods]
impl AsyncDatabase {
    fn __aenter__(this: Py<Self>, py: Python<'_>) -> crate::executor::Ready {
        crate::executor::Ready(this.into_any().clone_ref(py))
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__<'py>(
        this: &Bound<'py, Self>,
        _exception: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.as_super().get().close(this.py())
    }
}

/// Converts the result of a call that returns nothing.
pub(crate) fn none(py: Python<'_>, (): ()) -> PyResult<Bound<'_, PyAny>> {
    Ok(py.None().into_bound(py))
}

fn read_families(families: &Bound<'_, PyAny>) -> PyResult<Vec<FamilyDescriptor>> {
    let py = families.py();
    let named = |name: &str| FamilyDescriptor::new(name.to_owned()).or_raise(py);
    if let Ok(name) = families.cast::<PyString>() {
        return Ok(vec![named(&name.extract::<String>()?)?]);
    }
    if let Ok(families) = families.cast::<PyDict>() {
        let mut read = Vec::new();
        for (name, attributes) in families {
            let mut family = named(&name.extract::<String>()?)?;
            for (name, value) in attributes.cast::<PyDict>()? {
                family = family.attribute(name.extract::<String>()?, value.extract::<String>()?);
            }
            read.push(family);
        }
        return Ok(read);
    }
    families.try_iter()?.map(|name| named(&name?.extract::<String>()?)).collect()
}
