//! Rows and cells as Python objects. A value is decoded when it is read.

use std::sync::Arc;

use pyo3::exceptions::{PyAttributeError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple};
use rowhouse::cell::CellKind;
use rowhouse::query::QueryRow;
use rowhouse::{Error, Result, Row as StoredRow, Table};

use crate::errors::{OrRaise, raised};
use crate::value::{nanos, to_python};

/// The names that rows of a table have: key fields, then declared columns.
pub(crate) struct Names {
    fields: usize,
    /// Each name, with whether it is a column with many qualifiers.
    names: Vec<(Py<PyString>, String, bool)>,
}

impl Names {
    /// Returns the names of a table; none for a table without a template.
    pub(crate) fn of(py: Python<'_>, table: &Table) -> Self {
        let fields = table.key_schema().map(|schema| schema.fields()).unwrap_or_default();
        let columns = table.column_schema().map(|schema| schema.columns()).unwrap_or_default();
        let fields = fields.iter().map(|field| (field.name(), false));
        let fields_count = fields.len();
        let columns = columns.iter().map(|column| (column.name(), column.template().is_some()));
        let names = fields.chain(columns).map(|(name, has_many)| {
            (PyString::intern(py, name).unbind(), name.to_owned(), has_many)
        });
        Self { fields: fields_count, names: names.collect() }
    }

    pub(crate) fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.names.iter().map(|(name, ..)| name.bind(py)))
    }

    /// Returns where a name stands.
    fn place(&self, name: &Bound<'_, PyString>) -> PyResult<Option<usize>> {
        // Most are the interned object itself.
        if let Some(place) = self.names.iter().position(|(each, ..)| each.is(name)) {
            return Ok(Some(place));
        }
        let name = name.extract::<String>()?;
        Ok(self.names.iter().position(|(_, each, _)| *each == name))
    }
}

/// A text with the start and end of each word to mark, in characters.
type MarkedText = (String, Vec<(usize, usize)>);

/// A row: a mapping from the names of the key fields and declared columns to their values. A name
/// is also an attribute, unless the class has one of that name. A column without a cell, or that
/// was not read, is `None`; a column whose qualifiers hold data is a list of tuples, the fields in
/// the qualifier and the value.
#[pyclass(frozen, mapping, module = "rowhouse")]
pub(crate) struct Row {
    names: Arc<Names>,
    row: QueryRow,
}

impl Row {
    pub(crate) fn new(names: &Arc<Names>, row: QueryRow) -> Self {
        Self { names: Arc::clone(names), row }
    }

    fn value_at<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyAny>> {
        let (_, name, has_many) = &self.names.names[place];
        if place < self.names.fields {
            let values = self.row.values().map_err(|why| raised(py, &Error::from(why.clone())))?;
            return to_python(py, &values.as_slice()[place]);
        }
        if *has_many {
            return self.cells_of(py, name);
        }
        match self.row.column(name).or_raise(py)? {
            Some(value) => to_python(py, &value),
            None => Ok(py.None().into_bound(py)),
        }
    }

    fn cells_of<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(py);
        for cell in self.row.columns(name).or_raise(py)? {
            let (fields, value) = cell.map_err(Error::from).or_raise(py)?;
            let decoded = PyDict::new(py);
            for (name, value) in fields.iter() {
                decoded.set_item(name, to_python(py, value)?)?;
            }
            list.append((decoded, to_python(py, &value)?))?;
        }
        Ok(list.into_any())
    }

    /// Returns a time as nanoseconds since 1970.
    fn nanos_at(&self, place: usize) -> Result<Option<i128>> {
        if place < self.names.fields {
            let values = self.row.values().map_err(|why| Error::from(why.clone()))?;
            return nanos(&values.as_slice()[place]);
        }
        let value = self.row.column(&self.names.names[place].1)?;
        value.as_ref().map_or(Ok(None), nanos)
    }
}

#[pymethods]
impl Row {
    fn __getitem__<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        match self.names.place(name)? {
            Some(place) => self.value_at(name.py(), place),
            None => Err(PyKeyError::new_err(name.clone().unbind())),
        }
    }

    fn __getattr__<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        match self.names.place(name)? {
            Some(place) => self.value_at(name.py(), place),
            None => {
                Err(PyAttributeError::new_err(format!("the row has no field or column {name}")))
            }
        }
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        match name.cast::<PyString>() {
            Ok(name) => Ok(self.names.place(name)?.is_some()),
            Err(_) => Ok(false),
        }
    }

    fn __len__(&self) -> usize {
        self.names.names.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.names.to_tuple(py)?.try_iter()
    }

    fn __repr__(&self) -> String {
        format!("<Row {}>", self.row)
    }

    /// The names: key fields, then declared columns.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.names.to_tuple(py)
    }

    /// The values, in the order of `keys`.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..self.names.names.len()).map(|place| self.value_at(py, place)).collect()
    }

    /// Pairs of name and value, in the order of `keys`.
    fn items<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>> {
        let pair = |place: usize| {
            let name = &self.names.names[place].0;
            PyResult::Ok((name.bind(py).clone(), self.value_at(py, place)?))
        };
        (0..self.names.names.len()).map(pair).collect()
    }

    /// The value of a name, or `default` if it is `None` or there is no such name.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        name: &Bound<'py, PyString>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(place) = self.names.place(name)? else { return Ok(default) };
        let value = self.value_at(name.py(), place)?;
        Ok(if value.is_none() { default } else { Some(value) })
    }

    /// The row as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (place, (name, ..)) in self.names.names.iter().enumerate() {
            dict.set_item(name, self.value_at(py, place)?)?;
        }
        Ok(dict)
    }

    /// The time in a field or column as nanoseconds since 1970, also where `datetime` cannot hold
    /// it; `None` for a column without a cell.
    fn nanos(&self, name: &Bound<'_, PyString>) -> PyResult<Option<i128>> {
        match self.names.place(name)? {
            Some(place) => self.nanos_at(place).or_raise(name.py()),
            None => Err(PyKeyError::new_err(name.clone().unbind())),
        }
    }

    /// The key as bytes.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.row.key_bytes())
    }

    /// All cells that were read, as bytes, in the order of families and qualifiers.
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        cells(py, self.row.row())
    }

    /// The score of a full-text search, `None` for other queries.
    #[getter]
    fn score(&self) -> Option<f32> {
        self.row.score()
    }

    /// The part of a text around the words that the search found, of about `chars` characters, with
    /// the start and end of each word in it; `None` if the text has none of the words.
    #[pyo3(signature = (name, chars=120))]
    fn snippet(&self, py: Python<'_>, name: &str, chars: usize) -> PyResult<Option<MarkedText>> {
        let snippet = self.row.snippet(name, chars).or_raise(py)?;
        Ok(snippet.map(|snippet| {
            // Python counts characters.
            let chars = |to: usize| snippet.text[..to].chars().count();
            let words = snippet.matches.iter().map(|word| (chars(word.start), chars(word.end)));
            let words = words.collect();
            (snippet.text, words)
        }))
    }
}

/// A stored cell, as bytes.
#[pyclass(frozen, get_all, module = "rowhouse")]
pub(crate) struct Cell {
    /// The row key.
    row: Py<PyBytes>,
    /// The family.
    family: Py<PyBytes>,
    /// The qualifier.
    qualifier: Py<PyBytes>,
    /// The timestamp, usually milliseconds since 1970.
    timestamp: i64,
    /// The value; empty for a delete marker.
    value: Py<PyBytes>,
    /// Whether the cell is a delete marker, which only raw scans return.
    is_delete: bool,
}

#[pymethods]
impl Cell {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = |bytes: &Py<PyBytes>| PyResult::Ok(bytes.bind(py).repr()?.to_string());
        Ok(format!(
            "<Cell {} {} {} {} {}>",
            repr(&self.row)?,
            repr(&self.family)?,
            repr(&self.qualifier)?,
            self.timestamp,
            repr(&self.value)?
        ))
    }
}

/// Returns the cells of a row as a list.
pub(crate) fn cells<'py>(py: Python<'py>, row: &StoredRow) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let key = PyBytes::new(py, row.key());
    for cell in row.cells() {
        let cell = Cell {
            row: key.clone().unbind(),
            family: PyBytes::new(py, cell.family()).unbind(),
            qualifier: PyBytes::new(py, cell.qualifier()).unbind(),
            timestamp: cell.timestamp().as_millis(),
            value: PyBytes::new(py, cell.value()).unbind(),
            is_delete: cell.kind() != CellKind::Put,
        };
        list.append(Bound::new(py, cell)?)?;
    }
    Ok(list)
}
