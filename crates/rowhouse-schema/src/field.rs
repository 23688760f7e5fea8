//! One stored template field: name, type, modifiers.

use std::fmt;

use rowhouse_model::Result;

use crate::encode::{Body, Codec, FieldType, Holds};
use crate::order::FieldOrder;
use crate::time::{FixedZone, InZone, TimeZone};
use crate::transform::Modifiers;
use crate::value::Value;

/// A stored field in a template.
///
/// ```
/// use rowhouse_schema::{FieldOrder, FieldType, KeySchema, TimeUnit};
///
/// let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
/// let at = &schema.fields()[1];
/// assert_eq!(at.name(), "at");
/// assert_eq!(*at.field_type(), FieldType::Time { unit: TimeUnit::Millis, bytes: 8 });
/// assert!(at.is_desc());
/// assert_eq!(at.order(), FieldOrder::Ordered);
/// assert_eq!(at.to_string(), "at millis digits desc");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub(crate) name: String,
    pub(crate) field_type: FieldType,
    pub(crate) modifiers: Modifiers,
    pub(crate) codec: Codec,
    pub(crate) order: FieldOrder,
}

impl Field {
    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's type.
    pub fn field_type(&self) -> &FieldType {
        &self.field_type
    }

    /// True if keys hold the field in descending order.
    pub fn is_desc(&self) -> bool {
        self.modifiers.desc
    }

    /// Returns true if keys come in the order of this field's values when all fields before it are
    /// equal.
    pub fn order(&self) -> FieldOrder {
        self.order
    }

    /// Reads a value from plain text, for example from a command line: a text as it is, a number, a
    /// time literal (without a zone it is in the field's zone, or in UTC), bytes as `0x00ff`. A
    /// number for a time counts the field's units, unless it has four digits: then it is a year.
    /// For a nullable field, `null` means no value. A text is never a stored hash:
    /// [`KeySchema::parse_value`](crate::KeySchema::parse_value) reads those.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
    /// let metric = schema.fields()[0].parse_value("cpu")?;
    /// let at = schema.fields()[1].parse_value("2015-03-02T21:12:37.685")?;
    /// assert_eq!(schema.encode(&[("metric", metric), ("at", at)])?, "cpu#1425330757685");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn parse_value(&self, text: &str) -> Result<Value> {
        self.codec.read(text).map_err(|fault| fault.in_text(text))
    }

    /// The zone for the field's times, if the template names one (`tz +08:00`). It applies to
    /// literals without a zone, to calendar digits, and to times when they are printed.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[at ymdhms tz +08:00]")?;
    /// let key = schema.encode(&[("at", "2022-12-01T08:00".into())])?;
    /// assert_eq!(key, "20221201080000");
    /// assert_eq!(schema.decode(&key)?.to_string(), "at=2022-12-01T08:00:00.000+08:00");
    /// assert_eq!(schema.decode(&key)?["at"].to_string(), "2022-12-01T00:00:00.000Z");
    /// assert!(schema.fields()[0].zone().is_some());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn zone(&self) -> Option<TimeZone> {
        self.modifiers.zone.map(FixedZone::time_zone)
    }

    /// Formats a field value as text: as `Display` does, but with times in the field's zone, if it
    /// has one.
    pub fn value_to_string(&self, value: &Value) -> String {
        match (value, self.modifiers.zone) {
            (Value::Time(time), Some(zone)) => InZone(*time, zone).to_string(),
            (value, _) => value.to_string(),
        }
    }

    /// Returns true if the field may be null: declared `null first` or `null last`.
    pub fn is_nullable(&self) -> bool {
        self.modifiers.null.is_some()
    }

    /// Returns true if keys hold only a hash of the value: queries can match it, but decoding
    /// cannot recover it.
    pub fn is_hashed(&self) -> bool {
        matches!(self.codec.body, Body::Hashed(_))
    }

    /// Returns true if keys hold the value rounded down to a step (`floor 1h`).
    pub fn is_floored(&self) -> bool {
        self.codec.is_lossy() && !self.is_hashed()
    }

    /// The sets from which a Rust type must hold one to fit this field. Empty for a `repeat`.
    ///
    /// ```
    /// use rowhouse_schema::{Holds, KeySchema};
    ///
    /// let schema = KeySchema::parse("[at seconds 4]")?;
    /// let seconds = Holds::Whole { min: 0, max: u32::MAX.into() };
    /// assert_eq!(schema.fields()[0].needs(), [Holds::Time, seconds]);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn needs(&self) -> Vec<Holds> {
        match &self.codec.body {
            Body::Hashed(hashed) => hashed.of.needs(),
            body => body.needs(),
        }
    }

    /// Returns true if keys hold a text or bytes unchanged, so that a value can borrow from the
    /// key.
    pub fn is_borrowable(&self) -> bool {
        match &self.codec.body {
            Body::Sequence(sequence) => sequence.is_as_given(),
            _ => false,
        }
    }

    /// How many key bytes the field takes, if that is constant.
    pub fn width(&self) -> Option<usize> {
        self.codec.width()
    }
}

impl fmt::Display for Field {
    /// Writes the field as templates do, without the brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.name, self.field_type, self.modifiers)
    }
}
