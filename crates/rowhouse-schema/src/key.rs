//! Keys: the one way from values to bytes, and the one way back.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rowhouse_model::{Bytes, Error, ROW_LEN_MAX, Result};

use crate::error::NotFitting;
use crate::field::Field;
use crate::plan::{Plan, Predicate};
use crate::template::{self, Element};
use crate::time::TimeZone;
use crate::value::{NamedValues, Value, Values};

/// A row-key template, ready to encode, decode and plan. Cheap to clone.
///
/// # Example: how is a key made, and read?
///
/// ```
/// use rowhouse_schema::KeySchema;
///
/// // In Java: "123_" + (Long.MAX_VALUE - ts)
/// let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
/// let key = schema.encode(&[("blogger", "123".into()), ("at", 1_669_852_800_000_u64.into())])?;
/// assert_eq!(key, "123_9223370367001975807");
///
/// let values = schema.decode(&key)?;
/// assert_eq!(values["blogger"].as_str(), Some("123"));
/// assert_eq!(values["at"].to_string(), "2022-12-01T00:00:00.000Z");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: what does a mistake look like?
///
/// ```
/// use rowhouse_schema::KeySchema;
///
/// let error = KeySchema::parse("[at mills desc]").unwrap_err();
/// assert_eq!(error.to_string(), "\
/// unknown type `mills`; did you mean `millis`?: offset=4
///   [at mills desc]
///       ^");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct KeySchema {
    template: Arc<Template>,
}

#[derive(PartialEq, Eq)]
struct Template {
    elements: Vec<Element>,
    fields: Vec<Field>,
}

/// The number of the template language in which [`KeySchema::to_stored`] writes.
const LANGUAGE_VERSION: &str = "1";

impl KeySchema {
    /// Reads a template. The error points at the character that is wrong, says what was expected
    /// there, and what was probably meant.
    pub fn parse(template: &str) -> Result<Self> {
        let (elements, fields) =
            template::parse(template).map_err(|fault| fault.in_text(template))?;
        Ok(Self { template: Arc::new(Template { elements, fields }) })
    }

    /// Reads a template as it is stored in a table descriptor: the number of the language, a
    /// space, the template.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[user string][at millis desc]")?;
    /// assert_eq!(schema.to_stored(), "1 [user string][at millis desc]");
    /// assert_eq!(KeySchema::from_stored(&schema.to_stored())?, schema);
    ///
    /// let newer = KeySchema::from_stored("2 [user string]").unwrap_err();
    /// assert_eq!(newer.kind(), rowhouse_model::ErrorKind::Unsupported);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn from_stored(stored: &str) -> Result<Self> {
        match stored.split_once(' ') {
            Some((LANGUAGE_VERSION, template)) => Self::parse(template),
            Some((version, _)) if version.bytes().all(|c| c.is_ascii_digit()) => {
                Err(Error::unsupported(format!(
                    "the template was written in a newer language: version={version}, \
                     known={LANGUAGE_VERSION}"
                )))
            }
            _ => Err(Error::invalid(format!("not a stored template: text={stored}"))),
        }
    }

    /// The template as it is stored in a table descriptor.
    pub fn to_stored(&self) -> String {
        format!("{LANGUAGE_VERSION} {self}")
    }

    /// The stored fields, in the order of the template.
    pub fn fields(&self) -> &[Field] {
        &self.template.fields
    }

    /// The stored field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.position(name).map(|at| &self.fields()[at])
    }

    /// The key of these values. Every field must be given, once, in any order.
    ///
    /// # Example: what is refused?
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
    /// let error = schema.encode(&[("blogger", "a_b".into()), ("at", 0.into())]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "field `blogger`: a value cannot hold the literal behind the field, it would end there: \
    ///      value='a_b', literal=_"
    /// );
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn encode<V: NamedValues + ?Sized>(&self, values: &V) -> Result<Bytes> {
        let mut key = Vec::new();
        self.encode_into(values, &mut key)?;
        Ok(key.into())
    }

    /// Appends the key of these values to `out`, which stays as it was if there is an error.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
    /// let mut buffer = Vec::new();
    /// schema.encode_into(&[("metric", "cpu".into()), ("at", 1425330757685_u64.into())], &mut buffer)?;
    /// assert_eq!(buffer, b"cpu#1425330757685");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn encode_into<V: NamedValues + ?Sized>(
        &self,
        values: &V,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let result = self.append(values, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn append<V: NamedValues + ?Sized>(&self, values: &V, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        self.check_names(values)?;
        for element in self.elements() {
            match element {
                Element::Literal(bytes) => out.extend_from_slice(bytes),
                Element::Field(at) => {
                    let field = &self.fields()[*at];
                    let value = named(values, &field.name).ok_or_else(|| {
                        Error::invalid(format!("field `{}`: no value given", field.name))
                    })?;
                    field.codec.encode(value, out).map_err(|why| field_error(field, &why))?;
                }
            }
        }
        match out.len() - start {
            0 => Err(Error::invalid("the values make an empty key, and no row key is empty")),
            len if len > ROW_LEN_MAX => Err(Error::invalid(format!(
                "the values make a key that is too long: len={len}, max={ROW_LEN_MAX}"
            ))),
            _ => Ok(()),
        }
    }

    fn check_names<V: NamedValues + ?Sized>(&self, values: &V) -> Result<()> {
        for at in 0..values.len() {
            let (name, _) = values.pair(at);
            if self.position(name).is_none() {
                return Err(self.no_field(name));
            }
            if (0..at).any(|earlier| values.pair(earlier).0 == name) {
                return Err(Error::invalid(format!("field `{name}`: given twice")));
            }
        }
        Ok(())
    }

    /// The values of a key, or why the key does not fit the template. Never panics, and what it
    /// gives encodes to the same bytes again.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[user text][at millis desc]")?;
    /// assert!(schema.decode(b"bob").is_err());
    /// let values = schema.decode(b"bob\x7f\xff\xfe\x7b\x34\x5e\xbf\xff")?;
    /// assert_eq!(values["user"].as_str(), Some("bob"));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn decode(&self, key: &[u8]) -> Result<Values, NotFitting> {
        if key.is_empty() {
            return Err(NotFitting::new(0, "a row key is never empty"));
        }
        if key.len() > ROW_LEN_MAX {
            let why = format!("longer than a row key can be: max={ROW_LEN_MAX}");
            return Err(NotFitting::new(ROW_LEN_MAX, why));
        }
        let mut values = Vec::with_capacity(self.fields().len());
        let mut at = 0;
        for element in self.elements() {
            match element {
                Element::Literal(bytes) if key[at..].starts_with(bytes) => at += bytes.len(),
                Element::Literal(bytes) => {
                    let literal = rowhouse_model::escape(bytes);
                    return Err(NotFitting::new(at, format!("expected the literal `{literal}`")));
                }
                Element::Field(nth) => {
                    let field = &self.fields()[*nth];
                    let (value, next) =
                        field.codec.decode(key, at).map_err(|NotFitting { at, why }| {
                            NotFitting::new(at, format!("field `{}`: {why}", field.name))
                        })?;
                    values.push(value);
                    at = next;
                }
            }
        }
        if at < key.len() {
            return Err(NotFitting::new(at, "the key goes on behind its last field"));
        }
        Ok(Values::new(self.clone(), values))
    }

    /// The row ranges that hold every row a predicate asks for, and what remains to be checked.
    /// Times without a zone are UTC.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Predicate};
    ///
    /// let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
    /// let plan = schema.plan(&Predicate::parse("blogger = '123' and at during 2022-12")?)?;
    /// assert_eq!(plan.to_string(), "\
    /// ranges: 1
    ///   [123_9223370364323575808, 123_9223370367001975808)
    /// residual: none, the ranges are exact
    /// order: blogger ascending, at descending (newest first)
    /// ");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn plan(&self, predicate: &Predicate) -> Result<Plan> {
        self.plan_in(predicate, &TimeZone::UTC)
    }

    /// As [`KeySchema::plan`], with the zone of times that name none.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Predicate, TimeZone};
    ///
    /// let schema = KeySchema::parse("[at millis digits 13]")?;
    /// let beijing = TimeZone::fixed(jiff::tz::offset(8));
    /// let plan = schema.plan_in(&Predicate::parse("at >= 2022-12-01")?, &beijing)?;
    /// assert_eq!(plan.ranges()[0].start, "1669824000000");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn plan_in(&self, predicate: &Predicate, zone: &TimeZone) -> Result<Plan> {
        Plan::new(self, predicate, zone)
    }

    pub(crate) fn elements(&self) -> &[Element] {
        &self.template.elements
    }

    /// Where in [`KeySchema::fields`] the field of that name stands.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.fields().iter().position(|field| field.name == name)
    }

    fn no_field(&self, name: &str) -> Error {
        Error::invalid(self.no_field_message(name))
    }

    pub(crate) fn no_field_message(&self, name: &str) -> String {
        let names = self.fields().iter().map(Field::name);
        match template::closest(name, names.clone()) {
            Some(close) => format!("the key has no field `{name}`; did you mean `{close}`?"),
            None => {
                let names: Vec<_> = names.collect();
                format!("the key has no field `{name}`; it has: {}", names.join(", "))
            }
        }
    }
}

fn named<'v, V: NamedValues + ?Sized>(values: &'v V, name: &str) -> Option<&'v Value> {
    (0..values.len()).map(|at| values.pair(at)).find(|pair| pair.0 == name).map(|pair| pair.1)
}

fn field_error(field: &Field, why: &str) -> Error {
    Error::invalid(format!("field `{}`: {why}", field.name))
}

impl FromStr for KeySchema {
    type Err = Error;

    fn from_str(template: &str) -> Result<Self> {
        Self::parse(template)
    }
}

impl fmt::Display for KeySchema {
    /// The template, so that parsing it gives the same schema.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for element in self.elements() {
            match element {
                Element::Literal(bytes) => template::print_literal(bytes, f)?,
                Element::Field(at) => write!(f, "[{}]", self.fields()[*at])?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for KeySchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySchema({self})")
    }
}
