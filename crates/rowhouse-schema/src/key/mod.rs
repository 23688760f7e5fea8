//! Templates, ready to use: the one way from values to keys, and the one way back.

mod compute;
mod computed_steps;
mod decode;
mod encode;
mod logical;
mod prefix;
mod reader;
mod splits;
mod steps;
mod written_value;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rowhouse_model::{Error, Result, TableDescriptor};

use crate::columns::ColumnSchema;
use crate::computed::{Computed, Operands};
use crate::encode::Codec;
use crate::error::Fault;
use crate::field::Field;
use crate::plan::{Plan, Predicate};
use crate::template::{self, Element, Parsed};
use crate::time::TimeZone;

use computed_steps::ComputedSteps;
use steps::Steps;

pub use prefix::KeyPrefix;
pub use reader::KeyReader;

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
#[derive(Clone)]
pub struct KeySchema {
    template: Arc<Template>,
}

struct Template {
    elements: Vec<Element>,
    fields: Vec<Field>,
    computed: Vec<Computed>,
    /// For each computed field, whether it follows from what stands before it.
    follows: Vec<bool>,
    /// The quick way, if there is one.
    steps: Option<Steps>,
    /// The quick way to read a key with computed fields, if there is one.
    computed_steps: Option<ComputedSteps>,
    /// What it was read from, printed: equal templates have equal texts.
    text: String,
}

/// The attribute of a table that holds its key's template. It travels with the table, on rowhouse
/// and on Apache HBase alike; tools that do not know it are not disturbed.
pub const KEY_ATTRIBUTE: &str = "rowhouse.key";

/// The number of the template language in which [`KeySchema::to_stored`] writes.
pub(crate) const LANGUAGE_VERSION: &str = "1";

/// What is stored behind the version of the language. `what` it is, errors say.
pub(crate) fn without_version<'t>(stored: &'t str, what: &str) -> Result<&'t str> {
    let is_number =
        |version: &str| !version.is_empty() && version.bytes().all(|c| c.is_ascii_digit());
    match stored.split_once(' ') {
        Some((LANGUAGE_VERSION, text)) => Ok(text),
        Some((version, _)) if is_number(version) => Err(Error::unsupported(format!(
            "a {what} written in a newer language: version={version}, known={LANGUAGE_VERSION}"
        ))),
        _ => Err(Error::invalid(format!("not a stored {what}: text={stored}"))),
    }
}

impl KeySchema {
    /// Reads a template. The error points at the character that is wrong, says what was expected
    /// there, and what was probably meant.
    pub fn parse(template: &str) -> Result<Self> {
        Self::read_template(template).map_err(|fault| fault.in_text(template))
    }

    /// Reads a template that may be part of a longer text.
    pub(crate) fn read_template(template: &str) -> Result<Self, Fault> {
        let parsed = template::parse(template)?;
        let text = Printed(&parsed).to_string();
        let Parsed { elements, fields, computed } = parsed;
        let follows = (0..computed.len()).map(|at| follows(&elements, &fields, at, &computed[at]));
        let follows = follows.collect();
        let steps = Steps::new(&elements, &fields);
        let computed_steps = (steps.is_none() && !computed.is_empty())
            .then(|| ComputedSteps::new(&elements, &fields, &computed))
            .flatten();
        let template =
            Template { elements, fields, computed, follows, steps, computed_steps, text };
        Ok(Self { template: Arc::new(template) })
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
        Self::parse(without_version(stored, "template")?)
    }

    /// The template that a table declares, if it declares one.
    ///
    /// # Errors
    /// As [`KeySchema::from_stored`].
    pub fn of_table(table: &TableDescriptor) -> Result<Option<Self>> {
        let stored = table.attributes.get(KEY_ATTRIBUTE.as_bytes());
        stored.map(|stored| Self::from_stored(&String::from_utf8_lossy(stored))).transpose()
    }

    /// The template as it is stored in a table descriptor.
    pub fn to_stored(&self) -> String {
        format!("{LANGUAGE_VERSION} {self}")
    }

    /// The stored fields, in the order of the template.
    pub fn fields(&self) -> &[Field] {
        &self.template.fields
    }

    /// The computed fields, in the order of the template.
    pub fn computed(&self) -> &[Computed] {
        &self.template.computed
    }

    /// Whether a salt is part of every key: then equal fields may make several rows.
    pub fn has_salt(&self) -> bool {
        self.computed().iter().any(Computed::is_random)
    }

    /// The stored field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.position(name).map(|at| &self.fields()[at])
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

    /// As [`KeySchema::plan`], with the zone of times that name none and are of a field that names none.
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
        Plan::new(self, None, predicate, zone)
    }

    /// As [`KeySchema::plan_in`], of a predicate that may ask for declared columns too: the key's fields make
    /// the ranges, and [`Plan::column_filter`] is what remains to be checked on the cells of each row.
    ///
    /// ```
    /// use rowhouse_schema::{ColumnSchema, KeySchema, Predicate, TimeZone};
    ///
    /// let key = KeySchema::parse("[user string][at millis desc]")?;
    /// let columns = ColumnSchema::parse("d:n count u64; d:via colour string")?;
    /// let query = Predicate::parse("user = 'bob' and count > 5 and colour in ('red', 'blue')")?;
    /// assert_eq!(key.plan_with_columns(&columns, &query, &TimeZone::UTC)?.to_string(), "\
    /// ranges: 1
    ///   [bob\\x00\\x01, bob\\x00\\x02)
    /// residual: none, the ranges are exact
    /// columns: count > 5 (d:n) and colour in ('red', 'blue') (d:via), checked on each row
    /// order: user ascending, at descending (newest first)
    /// ");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`KeySchema::plan`]; `InvalidRequest` for a name that is neither a field's nor a column's, and for the
    /// name of many columns.
    pub fn plan_with_columns(
        &self,
        columns: &ColumnSchema,
        predicate: &Predicate,
        zone: &TimeZone,
    ) -> Result<Plan> {
        Plan::new(self, Some(columns), predicate, zone)
    }

    /// The quick way to keys and back, if there is one.
    #[inline]
    fn steps(&self) -> Option<&Steps> {
        self.template.steps.as_ref()
    }

    pub(crate) fn elements(&self) -> &[Element] {
        &self.template.elements
    }

    /// How many fields there are, stored and computed.
    pub(crate) fn slots(&self) -> usize {
        self.fields().len() + self.computed().len()
    }

    /// Where the field of that name stands among the stored fields and, behind those, the computed ones.
    pub(crate) fn slot(&self, name: &str) -> Option<usize> {
        let computed = || self.computed_position(name).map(|at| self.fields().len() + at);
        self.position(name).or_else(computed)
    }

    /// The codec of the field in a slot.
    pub(crate) fn codec(&self, slot: usize) -> &Codec {
        match slot.checked_sub(self.fields().len()) {
            None => &self.fields()[slot].codec,
            Some(computed) => &self.computed()[computed].codec,
        }
    }

    /// The slot of an element that is a field.
    pub(crate) fn slot_of(&self, element: &Element) -> Option<usize> {
        match element {
            Element::Literal(_) => None,
            Element::Field(at) => Some(*at),
            Element::Computed(at) => Some(self.fields().len() + at),
        }
    }

    /// Whether a computed field follows from what stands before it. Then it does not disturb the
    /// order of the others: where those before it are equal, it is too.
    pub(crate) fn follows(&self, computed: usize) -> bool {
        self.template.follows[computed]
    }

    /// Where in [`KeySchema::fields`] the field of that name stands.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.fields().iter().position(|field| field.name == name)
    }

    /// Where in [`KeySchema::computed`] the field of that name stands.
    pub(crate) fn computed_position(&self, name: &str) -> Option<usize> {
        self.computed().iter().position(|computed| computed.name() == Some(name))
    }

    pub(crate) fn no_field_message(&self, name: &str) -> String {
        let computed = self.computed().iter().filter_map(Computed::name);
        let names = self.fields().iter().map(Field::name).chain(computed);
        match template::closest(name, names.clone()) {
            Some(close) => format!("the key has no field `{name}`; did you mean `{close}`?"),
            None => {
                let names: Vec<_> = names.collect();
                format!("the key has no field `{name}`; it has: {}", names.join(", "))
            }
        }
    }
}

fn follows(elements: &[Element], fields: &[Field], at: usize, computed: &Computed) -> bool {
    let before = elements.iter().take_while(|element| **element != Element::Computed(at));
    let before: Vec<_> = before.collect();
    match &computed.operands {
        Operands::Chance | Operands::Rest => false,
        // Where only a hash or a floor is stored, equal fields do not make equal buckets.
        Operands::Fields(operands) => operands.iter().all(|operand| {
            before.contains(&&Element::Field(*operand)) && !fields[*operand].codec.is_lossy()
        }),
    }
}

impl FromStr for KeySchema {
    type Err = Error;

    fn from_str(template: &str) -> Result<Self> {
        Self::parse(template)
    }
}

impl PartialEq for KeySchema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.template, &other.template) || self.template.text == other.template.text
    }
}

impl Eq for KeySchema {}

impl fmt::Display for KeySchema {
    /// The template, so that parsing it gives the same schema.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.template.text)
    }
}

impl fmt::Debug for KeySchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySchema({self})")
    }
}

/// A template as text.
struct Printed<'p>(&'p Parsed);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for element in &self.0.elements {
            match element {
                Element::Literal(bytes) => template::print_literal(bytes, f)?,
                Element::Field(at) => write!(f, "[{}]", self.0.fields[*at])?,
                Element::Computed(at) => write!(f, "[{}]", self.0.computed[*at])?,
            }
        }
        Ok(())
    }
}
