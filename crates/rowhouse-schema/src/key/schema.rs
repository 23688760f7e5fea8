//! A parsed template: the fields, and the template's text.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rowhouse_model::{Error, Result, TableDescriptor};

use super::computed_steps::ComputedFastPath;
use super::steps::FastPath;
use crate::computed::{Computed, Operands};
use crate::encode::Codec;
use crate::error::Fault;
use crate::field::Field;
use crate::spelling::closest;
use crate::template::{self, Element, Naming, Parsed};

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
    pub(super) template: Arc<Template>,
}

pub(super) struct Template {
    elements: Vec<Element>,
    fields: Vec<Field>,
    computed: Vec<Computed>,
    /// For each computed field, true if the elements before it determine it.
    follows: Vec<bool>,
    /// The fast path, if the template has one.
    steps: Option<FastPath>,
    /// The fast path for decoding keys with computed fields, if the template has one.
    pub(super) computed_steps: Option<ComputedFastPath>,
    /// The template's canonical text: equal templates have equal texts.
    text: String,
}

/// The table attribute that holds the key template. It is stored with the table, on rowhouse and on
/// Apache HBase alike; tools that do not know it ignore it.
pub const KEY_ATTRIBUTE: &str = "rowhouse.key";

/// The attribute on a table that holds index entries: the base table and the index name. Only the
/// store writes such a table.
pub const INDEX_OF_ATTRIBUTE: &str = "rowhouse.index_of";

/// The template language version that [`KeySchema::to_stored`] writes.
pub(crate) const LANGUAGE_VERSION: &str = "1";

/// Returns the text after the language version. `what` names the text kind in errors.
pub(crate) fn without_version<'t>(stored: &'t str, what: &str) -> Result<&'t str> {
    let is_number =
        |version: &str| !version.is_empty() && version.bytes().all(|c| c.is_ascii_digit());
    match stored.split_once(' ') {
        Some((LANGUAGE_VERSION, text)) => Ok(text),
        Some((version, _)) if is_number(version) => Err(Error::unsupported(format!(
            "a {what} written in a newer language: version={version}, known={LANGUAGE_VERSION}"
        ))),
        _ => Err(Error::invalid(format!(
            "not a stored {what}, which begins with the version of its language, as in \
             `{LANGUAGE_VERSION} TEXT`: text={stored}"
        ))),
    }
}

impl KeySchema {
    /// Parses a template. The error points at the wrong character, says what was expected there,
    /// and suggests what was probably meant.
    pub fn parse(template: &str) -> Result<Self> {
        Self::read_template(template, Naming::Key).map_err(|fault| fault.in_text(template))
    }

    /// Parses a template that may be part of a longer text.
    pub(crate) fn read_template(template: &str, naming: Naming) -> Result<Self, Fault> {
        let parsed = template::parse(template, naming)?;
        let text = Printed(&parsed).to_string();
        let Parsed { elements, fields, computed } = parsed;
        let follows = (0..computed.len()).map(|at| follows(&elements, &fields, at, &computed[at]));
        let follows = follows.collect();
        let steps = FastPath::new(&elements, &fields);
        let computed_steps = (steps.is_none() && !computed.is_empty())
            .then(|| ComputedFastPath::new(&elements, &fields, &computed))
            .flatten();
        let template =
            Template { elements, fields, computed, follows, steps, computed_steps, text };
        Ok(Self { template: Arc::new(template) })
    }

    /// Parses a template in the form stored in a table descriptor: the language version, a space,
    /// the template.
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

    /// Returns the template that a table declares, if any.
    ///
    /// # Errors
    /// As [`KeySchema::from_stored`].
    pub fn of_table(table: &TableDescriptor) -> Result<Option<Self>> {
        let Some(stored) = table.attributes.get(KEY_ATTRIBUTE.as_bytes()) else { return Ok(None) };
        let stored = String::from_utf8_lossy(stored);
        if !table.attributes.contains_key(INDEX_OF_ATTRIBUTE.as_bytes()) {
            return Self::from_stored(&stored).map(Some);
        }
        let text = without_version(&stored, "template")?;
        Self::read_template(text, Naming::Index).map(Some).map_err(|fault| fault.in_text(text))
    }

    /// Returns the template in the form stored in a table descriptor.
    pub fn to_stored(&self) -> String {
        format!("{LANGUAGE_VERSION} {self}")
    }

    /// The stored fields, in template order.
    pub fn fields(&self) -> &[Field] {
        &self.template.fields
    }

    /// The computed fields, in template order.
    pub fn computed(&self) -> &[Computed] {
        &self.template.computed
    }

    /// Returns true if keys contain a salt, so that several rows can have equal fields.
    pub fn has_salt(&self) -> bool {
        self.computed().iter().any(Computed::is_random)
    }

    /// Returns the stored field with this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.position(name).map(|at| &self.fields()[at])
    }

    /// Returns the fast path for encoding and decoding, if the template has one.
    #[inline]
    pub(super) fn steps(&self) -> Option<&FastPath> {
        self.template.steps.as_ref()
    }

    pub(crate) fn elements(&self) -> &[Element] {
        &self.template.elements
    }

    /// How many fields there are, stored and computed.
    pub(crate) fn slots(&self) -> usize {
        self.fields().len() + self.computed().len()
    }

    /// The slot for the field with this name: stored fields come first, computed ones after them.
    pub(crate) fn slot(&self, name: &str) -> Option<usize> {
        let computed = || self.computed_position(name).map(|at| self.fields().len() + at);
        self.position(name).or_else(computed)
    }

    /// Returns the codec for the field in a slot.
    pub(crate) fn codec(&self, slot: usize) -> &Codec {
        match slot.checked_sub(self.fields().len()) {
            None => &self.fields()[slot].codec,
            Some(computed) => &self.computed()[computed].codec,
        }
    }

    /// An element's slot, if the element is a field.
    pub(crate) fn slot_of(&self, element: &Element) -> Option<usize> {
        match element {
            Element::Literal(_) => None,
            Element::Field(at) => Some(*at),
            Element::Computed(at) => Some(self.fields().len() + at),
        }
    }

    /// Returns true if the elements before a computed field determine it. Such a field does not
    /// disturb the others' order: where the elements before it are equal, it is equal too.
    pub(crate) fn follows(&self, computed: usize) -> bool {
        self.template.follows[computed]
    }

    /// The position of the field with this name in [`KeySchema::fields`].
    ///
    /// In an index template several fields may have it; the last holds most of the value.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.fields().iter().rposition(|field| field.name == name)
    }

    /// The position of the field with this name in [`KeySchema::computed`].
    pub(crate) fn computed_position(&self, name: &str) -> Option<usize> {
        self.computed().iter().position(|computed| computed.name() == Some(name))
    }

    pub(crate) fn no_field_message(&self, name: &str) -> String {
        let computed = self.computed().iter().filter_map(Computed::name);
        let names = self.fields().iter().map(Field::name).chain(computed);
        match closest(name, names.clone()) {
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
        // Fields stored as a hash or step can be equal while their values and buckets differ.
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
    /// Writes the template; parsing it returns an equal schema.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.template.text)
    }
}

impl fmt::Debug for KeySchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySchema({self})")
    }
}

/// Formats a template.
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
