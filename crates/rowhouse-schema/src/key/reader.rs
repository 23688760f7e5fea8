//! Decoding a key from beginning to end, field by field.

use rowhouse_model::{ROW_LEN_MAX, escape};

use super::compute::NO_VALUE;
use super::schema::KeySchema;
use crate::encode::{Encodable, ValueForm};
use crate::error::KeyMismatch;
use crate::field::Field;
use crate::template::{COMPUTED_MAX, Element};
use crate::value::{FieldValue, Value};

/// Decodes a key field by field into Rust types, which borrow from the key where they can.
///
/// ```
/// use rowhouse_schema::{KeyReader, KeySchema, Time};
///
/// let schema = KeySchema::parse("[metric text 4]#[at millis digits 13]")?;
/// let mut reader = KeyReader::new(&schema, b"cpu\0#1425330757685")?;
/// assert_eq!(reader.take::<&str>()?, "cpu");
/// assert_eq!(reader.take::<Time>()?.to_string(), "2015-03-02T21:12:37.685Z");
/// assert!(reader.is_done());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyReader<'s, 'k> {
    schema: &'s KeySchema,
    key: &'k [u8],
    /// The next element's offset in the key.
    at: usize,
    /// The next template element.
    element: usize,
    /// The computed fields' offsets in the key.
    places: [usize; COMPUTED_MAX],
}

impl<'s, 'k> KeyReader<'s, 'k> {
    /// Starts at a key's first field.
    ///
    /// # Errors
    /// Returns an error for an empty key and for one longer than a row key can be.
    #[inline]
    pub fn new(schema: &'s KeySchema, key: &'k [u8]) -> Result<Self, KeyMismatch> {
        check_len(key)?;
        Ok(Self { schema, key, at: 0, element: 0, places: [0; COMPUTED_MAX] })
    }

    /// The next element's offset in the key.
    #[inline]
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Returns true if the whole key and the whole template were read. Unlike
    /// [`KeyReader::finish`], this does not check computed fields.
    pub fn is_done(&self) -> bool {
        self.at == self.key.len() && self.element == self.schema.elements().len()
    }

    /// Reads literals and computed fields up to the element at this position.
    pub(crate) fn skip_to(&mut self, element: usize) -> Result<(), KeyMismatch> {
        let schema = self.schema;
        while self.element < element {
            self.pass(&schema.elements()[self.element], &mut |_| {})?;
            self.element += 1;
        }
        Ok(())
    }

    /// Decodes the next stored field and returns `made` for the field and the value. Values from
    /// computed fields before it are passed to `computed`.
    #[inline(always)]
    pub(crate) fn next<R>(
        &mut self,
        form: ValueForm,
        mut computed: impl FnMut(Value),
        made: impl FnOnce(&Field, FieldValue<'k>) -> R,
    ) -> Result<R, KeyMismatch> {
        let schema = self.schema;
        while let Some(element) = schema.elements().get(self.element) {
            self.element += 1;
            if let Element::Field(nth) = element {
                let field = &schema.fields()[*nth];
                if *nth == 0 && self.at == self.key.len() && field.codec.tail().is_some() {
                    return Err(KeyMismatch::new(self.at, NO_VALUE));
                }
                // Written twice, because moving a value costs more than decoding a number.
                if let Some((domain, number, next)) = field.codec.decode_quickly(self.key, self.at)
                {
                    self.at = next;
                    return Ok(made(field, domain.value_as(number, form).into()));
                }
                let decoded = field.codec.decode_as(form, self.key, self.at);
                let (value, next) = decoded.map_err(|why| in_field(field, why))?;
                self.at = next;
                return Ok(made(field, value));
            }
            self.pass(element, &mut computed)?;
        }
        Err(KeyMismatch::new(self.at, "the template has no further field"))
    }

    /// Reads to the key's end and checks the computed fields against the stored values.
    #[inline]
    pub(crate) fn end<V: Encodable>(
        mut self,
        mut computed: impl FnMut(Value),
        value_of: impl Fn(usize) -> V,
    ) -> Result<(), KeyMismatch> {
        let schema = self.schema;
        for element in &schema.elements()[self.element..] {
            self.pass(element, &mut computed)?;
        }
        if self.at < self.key.len() {
            return Err(KeyMismatch::new(self.at, "the key continues after its last field"));
        }
        let checks = schema.computed().iter().zip(self.places);
        checks
            .into_iter()
            .try_for_each(|(field, place)| schema.check_computed(field, place, self.key, &value_of))
    }

    /// Reads a literal or a computed field.
    #[inline]
    fn pass(
        &mut self,
        element: &Element,
        computed: &mut impl FnMut(Value),
    ) -> Result<(), KeyMismatch> {
        match element {
            Element::Literal(bytes) => self.at = literal(bytes, self.key, self.at)?,
            Element::Computed(nth) => {
                let field = &self.schema.computed()[*nth];
                let decoded = field.codec.decode(self.key, self.at);
                let (value, next) = decoded
                    .map_err(|why| KeyMismatch::new(why.at, format!("`{field}`: {}", why.why)))?;
                computed(value);
                self.places[*nth] = self.at;
                self.at = next;
            }
            Element::Field(_) => {
                return Err(KeyMismatch::new(self.at, "a field was left out by its reader"));
            }
        }
        Ok(())
    }
}

#[cold]
fn in_field(field: &Field, why: KeyMismatch) -> KeyMismatch {
    KeyMismatch::new(why.at, format!("field `{}`: {}", field.name, why.why))
}

/// Returns the offset after a literal that must be at `at`.
pub(super) fn literal(bytes: &[u8], key: &[u8], at: usize) -> Result<usize, KeyMismatch> {
    if key[at..].starts_with(bytes) {
        Ok(at + bytes.len())
    } else {
        Err(KeyMismatch::new(at, format!("expected the literal `{}`", escape(bytes))))
    }
}

/// Checks the length of a row key, or of a qualifier that has fields.
fn check_len(key: &[u8]) -> Result<(), KeyMismatch> {
    match key.len() {
        0 => Err(KeyMismatch::new(0, "it is empty")),
        len if len > ROW_LEN_MAX => {
            let why = format!("it is too long: max={ROW_LEN_MAX}");
            Err(KeyMismatch::new(ROW_LEN_MAX, why))
        }
        _ => Ok(()),
    }
}
