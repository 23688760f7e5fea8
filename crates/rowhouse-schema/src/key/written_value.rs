//! Parsing values from plain text, by field name.

use rowhouse_model::{Error, Result};

use super::schema::KeySchema;
use crate::encode::Body;
use crate::encode::{Calendar, FieldType};
use crate::field::Field;
use crate::time::{Time, TimeZone};
use crate::value::{Value, hashed_name};

impl KeySchema {
    /// Parses plain text as a value of the field `name`, and returns it with the field name.
    /// [`Field::parse_value`] defines how the text is read; times without a zone are in the field's
    /// zone, or else in `zone`.
    ///
    /// A text is always a value, never a stored hash. A stored hash is written as decoding prints
    /// it, with the name `hash(field)`, which no field can have.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, TimeZone, Value};
    ///
    /// let schema = KeySchema::parse("[user text md5 4][n u8]")?;
    /// let read = |name, text| schema.parse_value(name, text, &TimeZone::UTC);
    ///
    /// assert_eq!(read("user", "0x9f9d51bc")?, ("user", Value::from("0x9f9d51bc")));
    /// let stored = Value::Hashed(vec![0x9F, 0x9D, 0x51, 0xBC]);
    /// assert_eq!(read("hash(user)", "0x9f9d51bc")?, ("user", stored));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` with the field name, for a text that does not fit the field's type. A name
    /// that the key does not have is not an error here: the value is the text, and encoding the key
    /// refuses the name.
    pub fn parse_value<'n>(
        &self,
        name: &'n str,
        text: &str,
        zone: &TimeZone,
    ) -> Result<(&'n str, Value)> {
        let in_field = |error: Error| error.with_context(format_args!("field `{name}`"));
        if let Some(name) = hashed_name(name) {
            let stored = self.stored_hash(name, text).map_err(Error::invalid);
            return Ok((name, stored.map_err(in_field)?));
        }
        let computed = || self.computed().iter().find(|computed| computed.name() == Some(name));
        let value = match (self.field(name), computed()) {
            (Some(field), _) => parse_in(field, text, zone),
            (None, Some(computed)) => computed.parse_value(text),
            (None, None) => Ok(text.into()),
        };
        Ok((name, value.map_err(in_field)?))
    }

    fn stored_hash(&self, name: &str, text: &str) -> Result<Value, String> {
        match self.field(name).map(|field| &field.codec.body) {
            Some(Body::Hashed(hashed)) => hashed.read_stored(text),
            Some(_) => Err(format!("keys hold `{name}` itself, not a hash of it")),
            None => Err(self.no_field_message(name)),
        }
    }
}

fn parse_in(field: &Field, text: &str, zone: &TimeZone) -> Result<Value> {
    // A date means the same day in every zone.
    let is_day = matches!(field.field_type(), FieldType::Date | FieldType::Calendar(Calendar::Day));
    match field.parse_value(text)? {
        Value::Time(_) if field.zone().is_none() && !is_day => {
            Time::parse_in(text, zone).map(Value::from)
        }
        value => Ok(value),
    }
}
