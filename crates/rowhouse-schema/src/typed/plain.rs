//! The quick way of keys that are plain throughout: numbers and times as big-endian bytes, `string` and
//! `blob` ascending, `text N` as it is, literals. What `#[derive(RowKey)]` writes goes it, with all that is known of a field as
//! constants, and takes the general way for whatever cannot be done so: for the same bytes, and for errors.

use rowhouse_model::ROW_LEN_MAX;

use super::{FromField, Holds, ToField};
use crate::encode::{Body, Container, Content, Fixed, Quick, Sequence, Terminated, count_ticks};
use crate::key::KeySchema;
use crate::template::Element;
use crate::time::{Time, TimeUnit};
use crate::value::{FieldValue, Value};

/// A step of a plain key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainStep {
    /// Bytes that stand in every key.
    Literal(Vec<u8>),
    /// An ascending `string`.
    Text,
    /// An ascending `blob`.
    Bytes,
    /// A `text N` that is neither reversed nor in descending order.
    Padded {
        /// How many bytes: N.
        width: u16,
        /// What shorter texts are padded with.
        pad: u8,
    },
    /// A number or a time.
    Number(PlainNumber),
}

/// A number or time as big-endian bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainNumber {
    /// How many bytes: 1 to 8.
    pub bytes: u8,
    /// Whether the sign bit is stored flipped.
    pub signed: bool,
    /// For `desc`: stored is this number minus the value.
    pub mirror: Option<i128>,
    /// The least value.
    pub min: i128,
    /// The greatest value.
    pub max: i128,
    /// What is counted, if it is time.
    pub unit: Option<TimeUnit>,
}

impl KeySchema {
    /// The steps of the key, if it is plain: all fields numbers, times, `string`, `blob` or `text N`, none computed
    /// or with other modifiers than `desc` on numbers.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, derived::PlainStep};
    ///
    /// let steps = KeySchema::parse("[user string]-[n u8 desc]")?.plain_steps().unwrap();
    /// assert_eq!(steps[..2], [PlainStep::Text, PlainStep::Literal(b"-".to_vec())]);
    /// assert_eq!(KeySchema::parse("[user text]-[n u8 desc]")?.plain_steps(), None);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn plain_steps(&self) -> Option<Vec<PlainStep>> {
        let step = |element: &Element| match element {
            Element::Literal(bytes) => Some(PlainStep::Literal(bytes.clone())),
            Element::Computed(_) => None,
            Element::Field(at) => {
                let codec = &self.fields()[*at].codec;
                match &codec.body {
                    _ if !codec.lead.is_none() => None,
                    Body::Number(number) => number.plain_number().map(PlainStep::Number),
                    Body::Sequence(sequence) => text_or_bytes(sequence),
                    Body::Shortest(_) | Body::Repeat(_) | Body::Hashed(_) => None,
                }
            }
        };
        self.elements().iter().map(step).collect()
    }
}

fn text_or_bytes(sequence: &Sequence) -> Option<PlainStep> {
    match (sequence.content, &sequence.container) {
        _ if !sequence.arrangement.is_as_given() => None,
        (Content::Text, Container::Terminated(Terminated::PLAIN)) => Some(PlainStep::Text),
        (Content::Raw, Container::Terminated(Terminated::PLAIN)) => Some(PlainStep::Bytes),
        (Content::Text, Container::Fixed(fixed)) if fixed.is_plainly_padded() => {
            fixed.pad.map(|pad| PlainStep::Padded { width: fixed.width, pad })
        }
        _ => None,
    }
}

impl PlainNumber {
    #[inline(always)]
    const fn quick(self) -> Quick {
        Quick::big_endian(self.bytes, self.signed, self.mirror)
    }

    /// The number that is stored for a value, if the field can hold it.
    #[inline(always)]
    fn number(self, value: &FieldValue<'_>) -> Option<i128> {
        let number = match (value, self.unit) {
            (FieldValue::Other(Value::Signed(number)), _) => *number,
            (FieldValue::Other(Value::Unsigned(number)), _) => i128::try_from(*number).ok()?,
            (FieldValue::Other(Value::Time(time)), Some(unit)) => {
                count_ticks(time.as_nanos(), unit.nanos())?
            }
            _ => return None,
        };
        (self.min <= number && number <= self.max).then_some(number)
    }

    #[inline(always)]
    fn value<T: ToField>(self, number: i128) -> Value {
        match (T::HOLDS, self.unit) {
            (Holds::Time, Some(unit)) => Value::Time(Time::from_nanos(number * unit.nanos())),
            _ => Value::Signed(number),
        }
    }
}

/// Writes a plain key.
///
/// ```
/// use rowhouse_schema::derived::PlainWriter;
///
/// let mut key = Vec::new();
/// assert!(PlainWriter::new(&mut key).text(&"bob").literal(b"-").finish());
/// assert_eq!(key, b"bob\x00\x01-");
/// ```
#[derive(Debug)]
#[must_use = "a key is whole when it is finished"]
pub struct PlainWriter<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    is_plain: bool,
}

impl<'o> PlainWriter<'o> {
    /// Begins a key behind what `out` holds.
    #[inline(always)]
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, is_plain: true }
    }

    /// Appends bytes that stand in every key.
    #[inline(always)]
    pub fn literal(self, bytes: &[u8]) -> Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// Appends a `string`.
    #[inline(always)]
    pub fn text<T: ToField>(mut self, text: &T) -> Self {
        match text.to_field() {
            FieldValue::Text(text) => Terminated::PLAIN.put(text.as_bytes(), self.out),
            _ => self.is_plain = false,
        }
        self
    }

    /// Appends a `blob`.
    #[inline(always)]
    pub fn bytes<T: ToField>(mut self, bytes: &T) -> Self {
        match bytes.to_field() {
            FieldValue::Bytes(bytes) => Terminated::PLAIN.put(&bytes, self.out),
            _ => self.is_plain = false,
        }
        self
    }

    /// Appends a `text N` of `width` bytes, padded with `pad`.
    #[inline(always)]
    pub fn padded<T: ToField>(mut self, text: &T, width: u16, pad: u8) -> Self {
        self.is_plain &= match text.to_field() {
            FieldValue::Text(text) => {
                Fixed::padded(width, pad).put_plainly(text.as_bytes(), self.out)
            }
            _ => false,
        };
        self
    }

    /// Appends a number or a time.
    #[inline(always)]
    pub fn number<T: ToField>(mut self, number: &T, field: PlainNumber) -> Self {
        match field.number(&number.to_field()) {
            Some(number) => field.quick().put(number, self.out),
            None => self.is_plain = false,
        }
        self
    }

    /// Whether the key is whole. If not, what was appended is taken back: the general way says why.
    #[inline(always)]
    pub fn finish(self) -> bool {
        let len = self.out.len() - self.start;
        let is_whole = self.is_plain && len > 0 && len <= ROW_LEN_MAX;
        if !is_whole {
            self.out.truncate(self.start);
        }
        is_whole
    }
}

/// Reads a plain key. What cannot be read is nothing, and nothing is read behind it.
///
/// ```
/// use rowhouse_schema::derived::PlainReader;
///
/// let mut reader = PlainReader::new(b"bob\x00\x01-");
/// assert_eq!(reader.text(), Some("bob"));
/// assert!(reader.literal(b"-") && reader.is_done());
/// ```
#[derive(Clone, Debug)]
pub struct PlainReader<'k> {
    /// What is left of the key; nothing if it is not plain.
    rest: Option<&'k [u8]>,
}

impl<'k> PlainReader<'k> {
    /// Begins at the first byte of a key.
    #[inline(always)]
    pub fn new(key: &'k [u8]) -> Self {
        Self { rest: (key.len() <= ROW_LEN_MAX).then_some(key) }
    }

    /// Reads bytes that stand in every key; says whether they are there.
    #[inline(always)]
    pub fn literal(&mut self, bytes: &[u8]) -> bool {
        self.rest = self.rest.and_then(|rest| rest.strip_prefix(bytes));
        self.rest.is_some()
    }

    /// Reads a `string` that holds no zeros.
    #[inline(always)]
    pub fn text<T: FromField<'k>>(&mut self) -> Option<T> {
        let text = std::str::from_utf8(self.terminated()?).ok()?;
        T::from_field(FieldValue::from(text))
    }

    /// Reads a `blob` that holds no zeros.
    #[inline(always)]
    pub fn bytes<T: FromField<'k>>(&mut self) -> Option<T> {
        T::from_field(FieldValue::from(self.terminated()?))
    }

    /// Reads a `text N` of `width` bytes, padded with `pad`.
    #[inline(always)]
    pub fn padded<T: FromField<'k>>(&mut self, width: u16, pad: u8) -> Option<T> {
        let (bytes, rest) = self.rest.take()?.split_at_checked(width.into())?;
        self.rest = Some(rest);
        let text = Fixed::padded(width, pad).without_padding(bytes);
        T::from_field(FieldValue::from(std::str::from_utf8(text).ok()?))
    }

    /// Reads a number or a time.
    #[inline(always)]
    pub fn number<T: FromField<'k>>(&mut self, field: PlainNumber) -> Option<T> {
        let taken = self.rest.take()?.split_at_checked(field.bytes.into());
        let (bytes, rest) = taken?;
        self.rest = Some(rest);
        let number = field.quick().read(bytes);
        let is_value = field.min <= number && number <= field.max;
        if is_value { T::from_field(field.value::<T>(number).into()) } else { None }
    }

    /// Whether all was read, and nothing is left.
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        self.rest.is_some_and(<[u8]>::is_empty)
    }

    #[inline(always)]
    fn terminated(&mut self) -> Option<&'k [u8]> {
        let rest = self.rest.take()?;
        let (value, next) = Terminated::PLAIN.decode_plain(rest, 0)?;
        self.rest = Some(&rest[next..]);
        Some(value)
    }
}
