//! The rows of a query as columns in Arrow's layout: for each column a bitmap of the rows that have
//! a value, and one or two buffers.
//!
//! ```text
//! validity   1 bit a row, least significant first; 1 if the row has a value
//! numbers    8 or 16 bytes a row (4 for days), little-endian; bools 1 bit a row
//! texts      8 bytes for each offset, rows + 1 of them │ the texts, one after another
//! ```

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rowhouse::key::{FieldType, Holds, TimeUnit};
use rowhouse::query::QueryRow;
use rowhouse::{Error, Result, Table, Value};

use crate::value::{nanos, overflow};

/// A growing bitmap.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.len % 8);
        }
        self.len += 1;
    }
}

/// The type of a column, by the values that its field or declared column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnType {
    Int64,
    Uint64,
    /// Whole numbers with up to 38 digits.
    Decimal128,
    Float64,
    Bool,
    Text,
    Bytes,
    Uuid,
    Date32,
    Timestamp(TimeUnit),
}

impl ColumnType {
    /// Returns the type for a field or column.
    fn of(field_type: &FieldType, needs: &[Holds], is_hashed: bool) -> Self {
        if is_hashed {
            return Self::Bytes;
        }
        match (field_type, needs.first()) {
            (FieldType::Time { unit, .. }, _) => Self::Timestamp(*unit),
            (_, Some(Holds::Whole { min, max })) => {
                if *min >= i128::from(i64::MIN) && *max <= i128::from(i64::MAX) {
                    Self::Int64
                } else if *min >= 0 && *max <= i128::from(u64::MAX) {
                    Self::Uint64
                } else {
                    Self::Decimal128
                }
            }
            (_, Some(Holds::Float { .. })) => Self::Float64,
            (_, Some(Holds::Bool)) => Self::Bool,
            (_, Some(Holds::Bytes | Holds::Array { .. })) => Self::Bytes,
            (_, Some(Holds::Uuid)) => Self::Uuid,
            (_, Some(Holds::Date)) => Self::Date32,
            // A finer time of another system is refused when it is pushed.
            (_, Some(Holds::Time)) => Self::Timestamp(TimeUnit::Micros),
            // Texts; addresses, decimals and lists as they are printed.
            _ => Self::Text,
        }
    }

    /// The name by which `package/rowhouse/_arrow.py` knows the type.
    fn name(self) -> &'static str {
        match self {
            Self::Int64 => "int64",
            Self::Uint64 => "uint64",
            Self::Decimal128 => "decimal128",
            Self::Float64 => "float64",
            Self::Bool => "bool",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Uuid => "uuid",
            Self::Date32 => "date32",
            Self::Timestamp(TimeUnit::Seconds) => "timestamp s",
            Self::Timestamp(TimeUnit::Millis) => "timestamp ms",
            Self::Timestamp(TimeUnit::Micros) => "timestamp us",
            Self::Timestamp(TimeUnit::Nanos) => "timestamp ns",
        }
    }

    fn has_offsets(self) -> bool {
        matches!(self, Self::Text | Self::Bytes)
    }
}

/// Where the values of a column come from.
enum Of {
    /// The key field at this place.
    Field(usize),
    /// The declared column with this name.
    Column,
}

struct Column {
    name: String,
    of: Of,
    column_type: ColumnType,
    validity: Bits,
    offsets: Vec<u8>,
    data: Vec<u8>,
    flags: Bits,
}

impl Column {
    fn new(name: &str, of: Of, column_type: ColumnType) -> Self {
        let name = name.to_owned();
        let offsets = if column_type.has_offsets() { vec![0; 8] } else { Vec::new() };
        let validity = Bits::default();
        Self { name, of, column_type, validity, offsets, data: Vec::new(), flags: Bits::default() }
    }

    fn push(&mut self, row: &QueryRow) -> Result<()> {
        let decoded;
        let value = match self.of {
            Of::Field(place) => {
                let values = row.values().map_err(|why| Error::from(why.clone()))?;
                Some(&values.as_slice()[place])
            }
            Of::Column => {
                decoded = row.column(&self.name)?;
                decoded.as_ref()
            }
        };
        let value = value.filter(|value| !value.is_null());
        self.validity.push(value.is_some());
        match value {
            Some(value) => self.push_value(value),
            None => {
                self.push_null();
                Ok(())
            }
        }
    }

    fn push_null(&mut self) {
        match self.column_type {
            ColumnType::Int64
            | ColumnType::Uint64
            | ColumnType::Float64
            | ColumnType::Timestamp(_) => self.data.extend([0; 8]),
            ColumnType::Decimal128 | ColumnType::Uuid => self.data.extend([0; 16]),
            ColumnType::Date32 => self.data.extend([0; 4]),
            ColumnType::Bool => self.flags.push(false),
            ColumnType::Text | ColumnType::Bytes => self.end_text(),
        }
    }

    fn push_value(&mut self, value: &Value) -> Result<()> {
        let unfit = |column_type: ColumnType| overflow(column_type.name(), value);
        let column_type = self.column_type;
        match (column_type, value) {
            (ColumnType::Int64, _) => {
                let number = value.as_i64().ok_or_else(|| unfit(column_type))?;
                self.data.extend(number.to_le_bytes());
            }
            (ColumnType::Uint64, _) => {
                let number = value.as_u64().ok_or_else(|| unfit(column_type))?;
                self.data.extend(number.to_le_bytes());
            }
            (ColumnType::Decimal128, Value::Unsigned(number)) => {
                let number = i128::try_from(*number).map_err(|_| unfit(column_type))?;
                self.push_decimal(number)?;
            }
            (ColumnType::Decimal128, Value::Signed(number)) => self.push_decimal(*number)?,
            (ColumnType::Float64, Value::Float(float)) => {
                self.data.extend(float.get().to_le_bytes());
            }
            (ColumnType::Bool, Value::Bool(flag)) => self.flags.push(*flag),
            (ColumnType::Bytes, _) => {
                self.data.extend(value.as_bytes().ok_or_else(|| unfit(column_type))?);
                self.end_text();
            }
            (ColumnType::Uuid, Value::Uuid(uuid)) => self.data.extend(uuid.as_bytes()),
            (ColumnType::Date32, Value::Date(date)) => self.data.extend(date.days().to_le_bytes()),
            (ColumnType::Timestamp(unit), Value::Time(_) | Value::Date(_)) => {
                let nanos = nanos(value)?.unwrap_or_default();
                let unit_nanos = unit_nanos(unit);
                if nanos % unit_nanos != 0 {
                    return Err(unfit(column_type));
                }
                let count = i64::try_from(nanos / unit_nanos).map_err(|_| unfit(column_type))?;
                self.data.extend(count.to_le_bytes());
            }
            (ColumnType::Text, Value::Text(text)) => {
                self.data.extend(text.as_bytes());
                self.end_text();
            }
            (ColumnType::Text, other) => {
                self.data.extend(other.to_string().as_bytes());
                self.end_text();
            }
            _ => return Err(unfit(column_type)),
        }
        Ok(())
    }

    fn push_decimal(&mut self, number: i128) -> Result<()> {
        if number.unsigned_abs() >= 10_u128.pow(38) {
            return Err(overflow("decimal128 with 38 digits", &number.into()));
        }
        self.data.extend(number.to_le_bytes());
        Ok(())
    }

    fn end_text(&mut self) {
        self.offsets.extend((self.data.len() as u64).to_le_bytes());
    }

    /// Returns name, type, rows and buffers.
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let buffers = PyList::empty(py);
        buffers.append(PyBytes::new(py, &self.validity.bytes))?;
        if self.column_type.has_offsets() {
            buffers.append(PyBytes::new(py, &self.offsets))?;
        }
        let is_bool = self.column_type == ColumnType::Bool;
        let data = if is_bool { &self.flags.bytes } else { &self.data };
        buffers.append(PyBytes::new(py, data))?;
        let column = (&self.name, self.column_type.name(), self.validity.len, buffers);
        Ok(column.into_pyobject(py)?.into_any())
    }
}

fn unit_nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Seconds => 1_000_000_000,
        TimeUnit::Millis => 1_000_000,
        TimeUnit::Micros => 1_000,
        TimeUnit::Nanos => 1,
    }
}

/// The columns of the rows that were read so far.
pub(crate) struct ColumnSet {
    columns: Vec<Column>,
}

impl ColumnSet {
    /// Creates the columns of a table without rows: all key fields, and the named columns, or all
    /// declared ones whose qualifiers hold no data.
    ///
    /// # Errors
    /// `InvalidRequest` for a name that is not declared, and for a column with data in its
    /// qualifiers, of which a row has many cells.
    pub(crate) fn new(table: &Table, named: Option<&[String]>) -> Result<Self> {
        let fields = table.key_schema()?.fields().iter().enumerate().map(|(place, field)| {
            let needs = field.needs();
            let column_type = ColumnType::of(field.field_type(), &needs, field.is_hashed());
            Column::new(field.name(), Of::Field(place), column_type)
        });
        let mut columns: Vec<_> = fields.collect();
        let declared = match named {
            Some(names) => {
                let schema = table.column_schema()?;
                let columns = names.iter().map(|name| schema.column(name));
                columns.collect::<Result<Vec<_>>>()?
            }
            None => {
                let all = table.column_schema().map(|schema| schema.columns()).unwrap_or_default();
                all.iter().filter(|column| column.template().is_none()).collect()
            }
        };
        for column in declared {
            if column.template().is_some() {
                return Err(Error::invalid(format!(
                    "a row has many cells of a column with fields in its qualifier: column={}",
                    column.name()
                )));
            }
            let column_type = ColumnType::of(column.field_type(), &column.needs(), false);
            columns.push(Column::new(column.name(), Of::Column, column_type));
        }
        Ok(Self { columns })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// `InvalidRequest` for a key or cell that does not fit the declaration; `Unsupported` for a
    /// value that does not fit Arrow's type.
    pub(crate) fn push(&mut self, row: &QueryRow) -> Result<()> {
        self.columns.iter_mut().try_for_each(|column| column.push(row))
    }
}

/// Hands the columns over to pyarrow.
pub(crate) fn arrow_table(py: Python<'_>, set: ColumnSet) -> PyResult<Bound<'_, PyAny>> {
    let columns = PyList::empty(py);
    for column in set.columns {
        // Each is dropped when pyarrow has it.
        columns.append(column.to_python(py)?)?;
    }
    py.import("rowhouse._arrow")?.call_method1("table", (columns,))
}
