//! One key's values.

use std::fmt;
use std::ops::Index;

use rowhouse_model::{Bytes, Result};

use super::schema::KeySchema;
use crate::value::{Shown, Value};

/// One decoded key's values, in template field order.
///
/// ```
/// use rowhouse_schema::KeySchema;
///
/// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
/// let values = schema.decode(b"cpu#1425330757685")?;
/// assert_eq!(values["metric"].as_str(), Some("cpu"));
/// assert_eq!(values.get("host"), None);
/// assert_eq!(values.to_string(), "metric='cpu', at=2015-03-02T21:12:37.685Z");
/// assert_eq!(values.encode()?, "cpu#1425330757685");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// Named computed fields are accessible too:
///
/// ```
/// use rowhouse_schema::KeySchema;
///
/// let schema = KeySchema::parse("[salt 4 a-d as shard]-[id text]")?;
/// let values = schema.decode(b"c-foo0003")?;
/// assert_eq!(values.to_string(), "id='foo0003'");
/// assert_eq!(values["shard"].as_str(), Some("c"));
/// assert_eq!(values.encode()?, "c-foo0003");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Values {
    schema: KeySchema,
    /// The stored fields' values, then the computed ones'.
    values: Vec<Value>,
}

impl Values {
    pub(crate) fn new(schema: KeySchema, values: Vec<Value>) -> Self {
        debug_assert_eq!(schema.slots(), values.len());
        Self { schema, values }
    }

    /// Returns the value for the field with this name, stored or computed.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.schema.slot(name).map(|at| &self.values[at])
    }

    /// The stored fields' names and values, in template order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.schema.fields().iter().map(|field| field.name()).zip(&self.values)
    }

    /// The template the values belong to.
    pub fn schema(&self) -> &KeySchema {
        &self.schema
    }

    /// Encodes the key with these values, with the same bytes from which they were decoded.
    pub fn encode(&self) -> Result<Bytes> {
        self.schema.encode(self)
    }

    /// The stored fields' values, in template order.
    pub fn as_slice(&self) -> &[Value] {
        &self.values[..self.schema.fields().len()]
    }

    /// The computed fields' values, in template order.
    pub fn computed_values(&self) -> &[Value] {
        &self.values[self.schema.fields().len()..]
    }
}

impl Index<&str> for Values {
    type Output = Value;

    /// Returns the value for the field with this name.
    ///
    /// # Panics
    ///
    /// If the template has no such field; [`Values::get`] does not panic.
    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or_else(|| panic!("no field `{name}` in {}", self.schema))
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (field, value)) in self.schema.fields().iter().zip(&self.values).enumerate() {
            let comma = if nth == 0 { "" } else { ", " };
            let shown = Shown(value, field.modifiers.zone);
            write!(f, "{comma}{}={shown}", value.written_name(field.name()))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
