//! Row keys decoded by a table's template: `key=decoded`.

use std::sync::Arc;

use rowhouse_model::{Error, Result, TableDescriptor};
use rowhouse_schema::{KeySchema, Value};
use serde_json::{Map, Value as Json};

/// Returns the template for a table's keys.
///
/// # Errors
/// `InvalidRequest` for a table without one.
pub(in crate::gateway::rest) fn decoded_keys(table: &TableDescriptor) -> Result<Arc<KeySchema>> {
    let schema = KeySchema::of_table(table)?;
    schema.map(Arc::new).ok_or_else(|| {
        let message = format!("key=decoded: table {} has no row key template", table.name());
        Error::invalid(message)
    })
}

/// Returns the fields of a key as a JSON object; `null` for a key that does not fit the template.
pub(super) fn decoded(schema: &KeySchema, key: &[u8]) -> Json {
    match schema.decode(key) {
        Ok(values) => {
            let fields = values.iter().map(|(name, value)| (name.to_owned(), json(value)));
            Json::Object(fields.collect::<Map<_, _>>())
        }
        Err(_) => Json::Null,
    }
}

/// Returns a value in JSON. Numbers of more than 64 bits, decimals, times, bytes and uuids are
/// text.
fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Unsigned(number) => {
            u64::try_from(*number).map_or_else(|_| number.to_string().into(), Json::from)
        }
        Value::Signed(number) => {
            i64::try_from(*number).map_or_else(|_| number.to_string().into(), Json::from)
        }
        // JSON has no infinity.
        Value::Float(float) if float.get().is_finite() => float.get().into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(values) => values.iter().map(json).collect(),
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_objects_and_those_that_do_not_fit_are_null() {
        let schema = KeySchema::parse("[user text]#[number u64]").unwrap();
        let key = schema.encode(&[("user", "bob".into()), ("number", 7.into())]).unwrap();
        assert_eq!(decoded(&schema, &key).to_string(), r#"{"user":"bob","number":7}"#);
        assert_eq!(decoded(&schema, b"bob"), Json::Null);
    }
}
