//! Values of fields and columns as Python objects, and back.

use std::net::Ipv4Addr;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyBytes, PyDate, PyDateTime, PyDelta, PyFloat, PyInt, PyList, PyString, PyTuple,
    PyTzInfo,
};
use rowhouse::key::{Date, Decimal, Time, TimeUnit, Uuid};
use rowhouse::{Bytes, Error, ErrorKind, Result, Value};

use crate::errors::raised;

/// The hash that a key holds in place of a field's value (`md5 4`, `xxh3`, …). It compares and
/// hashes as its bytes, but is no `bytes`, so that it is not mistaken for the value.
#[pyclass(frozen, eq, hash, module = "rowhouse")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Hashed {
    bytes: Vec<u8>,
}

#[pymethods]
impl Hashed {
    #[new]
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// The stored bytes.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    fn __repr__(&self) -> String {
        let hex: String = self.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("Hashed(bytes.fromhex('{hex}'))")
    }
}

/// Returns a value as a Python object: numbers, texts, bytes and bools as themselves, times as
/// `datetime` in UTC.
///
/// # Errors
/// `Unsupported` for a time that `datetime` cannot hold: one finer than a microsecond, or outside
/// the years 1 to 9999.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    static DECIMAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static UUID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static IPV4: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Unsigned(number) => match u64::try_from(*number) {
            Ok(number) => number.into_pyobject(py)?.into_any(),
            Err(_) => number.into_pyobject(py)?.into_any(),
        },
        Value::Signed(number) => match i64::try_from(*number) {
            Ok(number) => number.into_pyobject(py)?.into_any(),
            Err(_) => number.into_pyobject(py)?.into_any(),
        },
        Value::Float(float) => PyFloat::new(py, float.get()).into_any(),
        Value::Decimal(decimal) => {
            DECIMAL.import(py, "decimal", "Decimal")?.call1((decimal.to_string(),))?
        }
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Uuid(uuid) => UUID.import(py, "uuid", "UUID")?.call1((uuid.to_string(),))?,
        Value::Ipv4(address) => {
            IPV4.import(py, "ipaddress", "IPv4Address")?.call1((u32::from(*address),))?
        }
        Value::Date(date) => {
            let days = PyDelta::new(py, date.days(), 0, 0, true);
            days.and_then(|days| epoch_day(py)?.add(days)).map_err(|_| outside(py, value))?
        }
        Value::Time(time) => to_datetime(py, *time)?,
        Value::List(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(to_python(py, value)?)?;
            }
            list.into_any()
        }
        Value::Hashed(bytes) => Bound::new(py, Hashed { bytes: bytes.clone() })?.into_any(),
        other => return Err(raised(py, &Error::unsupported(format!("value: {other}")))),
    })
}

fn to_datetime(py: Python<'_>, time: Time) -> PyResult<Bound<'_, PyAny>> {
    let nanos = time.as_nanos();
    if nanos % 1_000 != 0 {
        let message = format!("a datetime holds no nanoseconds, `nanos` returns them: time={time}");
        return Err(raised(py, &Error::unsupported(message)));
    }
    let micros = nanos / 1_000;
    let days = i32::try_from(micros.div_euclid(DAY_MICROS));
    let in_day = micros.rem_euclid(DAY_MICROS);
    let days = days.map_err(|_| outside(py, &time.into()))?;
    // Both are less than the seconds and microseconds in a day.
    let since =
        PyDelta::new(py, days, (in_day / 1_000_000) as i32, (in_day % 1_000_000) as i32, false);
    since.and_then(|since| epoch(py)?.add(since)).map_err(|_| outside(py, &time.into()))
}

const DAY_MICROS: i128 = 86_400_000_000;

fn outside(py: Python<'_>, value: &Value) -> PyErr {
    let message = format!("datetime holds the years 1 to 9999 only: value={value}");
    raised(py, &Error::unsupported(message))
}

fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let create = || {
        let utc = PyTzInfo::utc(py)?;
        let epoch = PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&utc))?;
        PyResult::Ok(epoch.into_any().unbind())
    };
    Ok(EPOCH.get_or_try_init(py, create)?.bind(py))
}

fn epoch_day(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EPOCH_DAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let create = || PyResult::Ok(PyDate::new(py, 1970, 1, 1)?.into_any().unbind());
    Ok(EPOCH_DAY.get_or_try_init(py, create)?.bind(py))
}

/// Returns a Python object as a value. The field or column for which it is meant checks the type.
///
/// # Errors
/// `TypeError` for a type that no field has, `ValueError` for a `datetime` without a time zone.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = object.py();
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.extract()?));
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if object.cast::<PyInt>().is_ok() {
        return integer(object);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(float.value().into());
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().into());
    }
    if object.cast::<PyDateTime>().is_ok() {
        return from_datetime(object).map(Value::Time);
    }
    if object.cast::<PyDate>().is_ok() {
        let since = object.sub(epoch_day(py)?)?;
        return Ok(Value::Date(Date::new(since.getattr(intern!(py, "days"))?.extract()?)));
    }
    if let Ok(hashed) = object.cast::<Hashed>() {
        return Ok(Value::Hashed(hashed.get().bytes.clone()));
    }
    if object.cast::<PyList>().is_ok() || object.cast::<PyTuple>().is_ok() {
        let values = object.try_iter()?.map(|each| to_value(&each?));
        return values.collect::<PyResult<Vec<_>>>().map(Value::List);
    }
    from_other(object)
}

fn integer(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let extracted = object.extract::<i128>();
    extracted.map(Value::Signed).map_err(|_| {
        let message = format!("number out of range: number={object}, max={}", i128::MAX);
        PyOverflowError::new_err(message)
    })
}

fn from_datetime(datetime: &Bound<'_, PyAny>) -> PyResult<Time> {
    let py = datetime.py();
    if datetime.call_method0(intern!(py, "utcoffset"))?.is_none() {
        return Err(PyValueError::new_err(format!(
            "a datetime needs a time zone, such as timezone.utc: datetime={datetime}"
        )));
    }
    let since = datetime.sub(epoch(py)?)?;
    let part = |name| since.getattr(name)?.extract::<i64>();
    let seconds = part(intern!(py, "days"))? * 86_400 + part(intern!(py, "seconds"))?;
    let micros = seconds * 1_000_000 + part(intern!(py, "microseconds"))?;
    // pandas.Timestamp counts nanoseconds.
    let nanos = match since.getattr_opt(intern!(py, "nanoseconds"))? {
        Some(nanos) => nanos.extract::<i64>()?,
        None => 0,
    };
    if nanos == 0 {
        return Ok(Time::new(micros, TimeUnit::Micros));
    }
    let nanos = micros.checked_mul(1_000).and_then(|micros| micros.checked_add(nanos));
    let nanos = nanos.ok_or_else(|| PyOverflowError::new_err(format!("time={datetime}")))?;
    Ok(Time::new(nanos, TimeUnit::Nanos))
}

/// Converts objects of classes that are recognized by name, so that their modules are imported only
/// by those who use them.
fn from_other(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = object.py();
    let class = object.get_type();
    let module = class.module()?;
    let name = class.name()?;
    match (&module.extract::<String>()?[..], &name.extract::<String>()?[..]) {
        ("decimal", "Decimal") => {
            let text = object.str()?.extract::<String>()?;
            let decimal = Decimal::parse(&text);
            let unsupported = || format!("no decimal with up to 38 digits: decimal={text}");
            decimal.map(Value::Decimal).ok_or_else(|| PyValueError::new_err(unsupported()))
        }
        ("uuid", "UUID") => {
            let text = object.str()?.extract::<String>()?;
            let uuid = Uuid::parse(&text);
            uuid.map(Value::Uuid).ok_or_else(|| PyValueError::new_err(format!("uuid={text}")))
        }
        ("ipaddress", "IPv4Address") => {
            let number = object.call_method0(intern!(py, "__int__"))?.extract::<u32>()?;
            Ok(Value::Ipv4(Ipv4Addr::from(number)))
        }
        // numpy's numbers, and what else is a number.
        _ if object.hasattr(intern!(py, "__index__"))? => integer(object),
        _ if object.hasattr(intern!(py, "__float__"))? => Ok(object.extract::<f64>()?.into()),
        _ => Err(PyTypeError::new_err(format!(
            "no field has values of this type: type={}",
            class.fully_qualified_name()?
        ))),
    }
}

/// Returns the nanoseconds since 1970 in a time or a date.
pub(crate) fn nanos(value: &Value) -> Result<Option<i128>> {
    match value {
        Value::Null => Ok(None),
        Value::Time(time) => Ok(Some(time.as_nanos())),
        Value::Date(date) => Ok(Some(date.midnight().as_nanos())),
        other => Err(Error::invalid(format!("not a time: value={other}"))),
    }
}

/// Bytes from `bytes`, `bytearray`, or a `str` in UTF-8.
pub(crate) struct Raw(pub(crate) Bytes);

impl<'a, 'py> FromPyObject<'a, 'py> for Raw {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(Bytes::copy_from_slice(bytes.as_bytes())));
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self(text.extract::<String>()?.into()));
        }
        if let Ok(bytes) = object.cast::<pyo3::types::PyByteArray>() {
            return Ok(Self(bytes.to_vec().into()));
        }
        Err(PyTypeError::new_err(format!(
            "bytes or str required: type={}",
            object.get_type().fully_qualified_name()?
        )))
    }
}

/// Returns an error for a request, for code without an interpreter at hand.
pub(crate) fn overflow(kind: &str, value: &Value) -> Error {
    Error::new(ErrorKind::Unsupported, format!("value does not fit {kind}: value={value}"))
}
