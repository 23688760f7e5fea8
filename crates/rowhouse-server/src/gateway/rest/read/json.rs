//! Rows in JSON, read one cell after another.
//!
//! ```text
//! {"Row": [{"key": "BASE64", "Cell": [{"column": "BASE64", "timestamp": 1, "$": "BASE64"}]}]}
//! ```

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use rowhouse_model::{Error, ErrorKind, Result};
use serde_core::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::decoded::base64;
use crate::gateway::rest::model::{Budget, CellModel, CellSet, RowModel};

pub(super) fn cells(body: &[u8], budget: &mut Budget) -> Result<CellSet> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let mut is_too_large = false;
    let set = Set { budget, is_too_large: &mut is_too_large };
    let rows = set.deserialize(&mut deserializer);
    let rows = rows.and_then(|rows| deserializer.end().map(|()| rows));
    rows.map_err(|error| {
        let kind =
            if is_too_large { ErrorKind::ResponseTooLarge } else { ErrorKind::InvalidRequest };
        Error::new(kind, error.to_string())
    })
}

/// Reads a field's name, or a text.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// Reads bytes in Base64; `null` is none.
struct Base64;

impl<'de> DeserializeSeed<'de> for Base64 {
    type Value = Option<Bytes>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for Base64 {
    type Value = Option<Bytes>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Base64")
    }

    fn visit_str<E: serde_core::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        base64(text).map(Some).map_err(E::custom)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Reads a timestamp: a number, or a number as text as Jackson does.
struct Millis;

impl<'de> DeserializeSeed<'de> for Millis {
    type Value = i64;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<i64, D::Error> {
        let value = <serde_json::Value as serde_core::Deserialize>::deserialize(from)?;
        let text = match &value {
            serde_json::Value::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        };
        text.parse().map_err(|_| D::Error::custom(format!("not a timestamp: {text}")))
    }
}

/// Declares a visitor of an object.
macro_rules! object {
    ($visitor:ident, $value:ty, $expected:literal) => {
        impl<'de> DeserializeSeed<'de> for $visitor<'_> {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<$value, D::Error> {
                from.deserialize_map(self)
            }
        }

        impl<'de> Visitor<'de> for $visitor<'_> {
            type Value = $value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expected)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$value, A::Error> {
                self.read(map)
            }
        }
    };
}

/// Declares a visitor of a list, whose elements `read_element` reads.
macro_rules! list {
    ($visitor:ident, $element:ident, $value:ty, $expected:literal) => {
        impl<'de> DeserializeSeed<'de> for $visitor<'_> {
            type Value = Vec<$value>;

            fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
                from.deserialize_seq(self)
            }
        }

        impl<'de> Visitor<'de> for $visitor<'_> {
            type Value = Vec<$value>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expected)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let Self { budget, is_too_large } = self;
                let mut elements = Vec::new();
                loop {
                    let element =
                        $element { budget: &mut *budget, is_too_large: &mut *is_too_large };
                    match list.next_element_seed(element)? {
                        Some(element) => elements.push(element),
                        None => return Ok(elements),
                    }
                }
            }
        }
    };
}

struct Set<'b> {
    budget: &'b mut Budget,
    is_too_large: &'b mut bool,
}

struct Rows<'b> {
    budget: &'b mut Budget,
    is_too_large: &'b mut bool,
}

struct Row<'b> {
    budget: &'b mut Budget,
    is_too_large: &'b mut bool,
}

struct Cells<'b> {
    budget: &'b mut Budget,
    is_too_large: &'b mut bool,
}

struct Cell<'b> {
    budget: &'b mut Budget,
    is_too_large: &'b mut bool,
}

object!(Set, CellSet, "an object with rows");
list!(Rows, Row, RowModel, "a list of rows");
object!(Row, RowModel, "a row");
list!(Cells, Cell, CellModel, "a list of cells");
object!(Cell, CellModel, "a cell");

/// Returns the error for a field that HBase does not have, either.
fn unknown<E: serde_core::de::Error>(name: &str, of: &str) -> E {
    E::custom(format!("unknown field of {of}: {name:?}"))
}

impl Set<'_> {
    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<CellSet, A::Error> {
        let Self { budget, is_too_large } = self;
        let mut rows = Vec::new();
        while let Some(name) = map.next_key_seed(Text)? {
            match &*name {
                "Row" => {
                    let seed = Rows { budget: &mut *budget, is_too_large: &mut *is_too_large };
                    rows = map.next_value_seed(seed)?;
                }
                other => return Err(unknown(other, "a set of cells")),
            }
        }
        Ok(rows)
    }
}

impl Row<'_> {
    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<RowModel, A::Error> {
        let Self { budget, is_too_large } = self;
        let mut row = RowModel::default();
        while let Some(name) = map.next_key_seed(Text)? {
            match &*name {
                "key" => row.key = map.next_value_seed(Base64)?,
                "Cell" => {
                    let seed = Cells { budget: &mut *budget, is_too_large: &mut *is_too_large };
                    row.cells = map.next_value_seed(seed)?;
                }
                other => return Err(unknown(other, "a row")),
            }
        }
        budget.take_row(&row).map_err(|error| {
            *is_too_large = true;
            A::Error::custom(error.message())
        })?;
        Ok(row)
    }
}

impl Cell<'_> {
    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<CellModel, A::Error> {
        let mut cell = CellModel::default();
        while let Some(name) = map.next_key_seed(Text)? {
            match &*name {
                "column" => cell.column = map.next_value_seed(Base64)?,
                "timestamp" => {
                    let millis = map.next_value_seed(Millis)?;
                    cell.timestamp = (millis != i64::MAX).then_some(millis);
                }
                "$" => cell.value = map.next_value_seed(Base64)?.unwrap_or_default(),
                other => return Err(unknown(other, "a cell")),
            }
        }
        let parts = 2 * (cell.column.as_ref().map_or(0, |it| it.len()) + cell.value.len());
        self.budget.take(parts).map_err(|error| {
            *self.is_too_large = true;
            A::Error::custom(error.message())
        })?;
        Ok(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CellSet> {
        cells(text.as_bytes(), &mut Budget::new(1 << 20))
    }

    #[test]
    fn rows_are_read_with_and_without_keys_columns_and_times() {
        let rows = read(
            r#"{"Row":[{"key":"cjE=","Cell":[{"column":"YTpx","timestamp":7,"$":"djE="}]},
               {"Cell":[{"$":"dg"},{"timestamp":"9","column":null}], "key":null}]}"#,
        );
        let rows = rows.unwrap();
        assert_eq!(rows[0].key.as_deref(), Some(&b"r1"[..]));
        let cell = |column: Option<&'static str>, timestamp, value: &'static str| CellModel {
            column: column.map(Bytes::from),
            timestamp,
            value: value.into(),
        };
        assert_eq!(rows[0].cells, [cell(Some("a:q"), Some(7), "v1")]);
        assert_eq!(rows[1].cells, [cell(None, None, "v"), cell(None, Some(9), "")]);
        assert_eq!(read("{}").unwrap(), []);
    }

    #[test]
    fn other_objects_than_rows_are_refused() {
        for text in [
            "",
            "{",
            "[]",
            "{}x",
            r#"{"row":[]}"#,
            r#"{"Row":{}}"#,
            r#"{"Row":[{"key":7}]}"#,
            r#"{"Row":[{"key":"!"}]}"#,
            r#"{"Row":[{"Cell":[{"timestamp":1.5}]}]}"#,
            r#"{"Row":[{"Cell":[{"value":""}]}]}"#,
        ] {
            assert_eq!(read(text).unwrap_err().kind(), ErrorKind::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn many_small_cells_do_not_outgrow_the_memory() {
        let cell = r#"{"$":""}"#;
        let text = format!(r#"{{"Row":[{{"Cell":[{}]}}]}}"#, [cell; 1000].join(","));
        let error = cells(text.as_bytes(), &mut Budget::new(50_000)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
    }
}
