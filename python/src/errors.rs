//! Errors of the library as the exceptions that `package/rowhouse/errors.py` declares.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};
use rowhouse::{Action, Error, Result};

/// Returns the exception for an error: the class is named as the kind, with `Error` at the end.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    match exception(py, error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Returns an exception of the module's own, of the named class.
pub(crate) fn raised_as(py: Python<'_>, class: &str, text: &str) -> PyErr {
    let exception = classes(py).and_then(|classes| classes.getattr(class)?.call1((text,)));
    match exception {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let classes = classes(py)?;
    let class = match classes.getattr(format!("{:?}Error", error.kind())) {
        Ok(class) => class,
        // A kind without a class of its own.
        Err(_) => classes.getattr(match error.action() {
            Action::FixRequest => "RequestError",
            Action::Retry | Action::Relocate => "RetryError",
            Action::Reopen => "ReopenError",
            Action::Report => "ReportError",
        })?,
    };
    class.call1((error.described(),))
}

fn classes(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static CLASSES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || PyResult::Ok(py.import("rowhouse.errors")?.unbind());
    Ok(CLASSES.get_or_try_init(py, import)?.bind(py))
}

/// Returns a `BatchError` with the error of each failed request by its place, or nothing if none
/// failed.
pub(crate) fn check_batch<T>(py: Python<'_>, results: &[Result<T>]) -> PyResult<()> {
    let errors = PyDict::new(py);
    for (place, result) in results.iter().enumerate() {
        if let Err(error) = result {
            errors.set_item(place, exception(py, error)?)?;
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    let error = classes(py)?.getattr("BatchError")?.call1((results.len(), errors))?;
    Err(PyErr::from_value(error))
}

/// Raises the library's errors.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or the error as an exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}
