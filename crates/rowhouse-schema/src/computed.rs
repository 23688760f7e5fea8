//! Computed fields: key bytes that are derived from the other fields, or random.
//!
//! The input concatenates the operands' canonical bytes: the values before any modifier, terminator
//! or escape. For `of rest` it is all key bytes after the field.

use std::fmt;

use rowhouse_model::Result;

use crate::encode::foreign::java_remainder;
use crate::encode::{
    Arrangement, Body, Codec, Container, Content, Fixed, Labels, Number, OrdinalDomain, Sequence,
    Shape, digits_of,
};
use crate::transform::{Bucketing, Digest, HashFunction, bucket_width};
use crate::value::Value;

/// A computed field in a template.
///
/// ```
/// use rowhouse_schema::KeySchema;
///
/// let schema = KeySchema::parse("[bucket 16 of user as shard][user string][at millis desc]")?;
/// let shard = &schema.computed()[0];
/// assert_eq!(shard.name(), Some("shard"));
/// assert_eq!(shard.width(), 1);
/// assert_eq!(shard.count(), Some(16));
/// assert!(!shard.is_random());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    pub(crate) name: Option<String>,
    pub(crate) formula: Formula,
    pub(crate) operands: Operands,
    /// The operands' names as written, separated by commas.
    pub(crate) of: String,
    /// Encodes and decodes the field's bytes, so that they can be queried and enumerated like a
    /// stored field's bytes.
    pub(crate) codec: Codec,
}

/// How the bytes are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// A hash modulo the bucket count.
    Bucket { count: u32, by: Bucketing, form: BucketForm },
    /// A digest's first bytes.
    Hash { len: u8, function: HashFunction, hex: bool },
    /// A random number, or a random character from an alphabet.
    Salt { count: u32, alphabet: Option<Alphabet> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BucketForm {
    Binary,
    Digits,
    Hex,
}

/// A salt's characters, in ascending order or as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alphabet {
    /// As written: `a-d`, or each character.
    pub(crate) text: String,
    pub(crate) characters: String,
}

/// The computation's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// None: the field is random.
    Chance,
    /// The key bytes after the field.
    Rest,
    /// These stored fields, by position.
    Fields(Vec<usize>),
}

/// The most buckets that fit in two bytes.
pub(crate) const BUCKETS_MAX: u32 = 65_536;

impl Formula {
    /// The codec for the field's bytes.
    pub(crate) fn codec(&self) -> Codec {
        let scaled = |domain, shape| Codec::of(Body::Number(Number::plain(domain, shape)));
        let number = |max: u32, shape| scaled(OrdinalDomain::up_to(max.into()), shape);
        let bytes = |bytes| Shape::Binary { bytes, signed: false };
        let binary = |max| bytes(bucket_width(max + 1));
        match self {
            Self::Bucket { count, by: Bucketing::JavaRemainder(_), .. } => {
                let max = i128::from(count - 1);
                let shape = java_remainder();
                scaled(OrdinalDomain::integers(-max, max), shape)
            }
            Self::Bucket { count, by: Bucketing::Hbasewd, .. } => scaled(
                OrdinalDomain::up_to_and(count - 1, Bucketing::stray(*count).into()),
                bytes(1),
            ),
            Self::Bucket { count, by: Bucketing::Opentsdb { bytes: width }, .. } => {
                number(count - 1, bytes(*width))
            }
            Self::Bucket { count, form, by: Bucketing::Modulo(_) | Bucketing::Phoenix } => {
                let max = count - 1;
                let shape = match form {
                    BucketForm::Binary => binary(max),
                    BucketForm::Digits => Shape::Digits { width: digits_of(max.into()) },
                    BucketForm::Hex => {
                        let width = max.checked_ilog(16).unwrap_or(0) as u8 + 1;
                        Shape::Hex { width, signed: false }
                    }
                };
                number(max, shape)
            }
            Self::Hash { len, hex, .. } => Codec::of(Body::Sequence(Sequence {
                content: Content::Raw,
                arrangement: Arrangement::AsGiven,
                container: Container::Fixed(Fixed { hex: *hex, ..Fixed::new((*len).into()) }),
            })),
            Self::Salt { alphabet: Some(alphabet), .. } => {
                let domain = OrdinalDomain::of_labels(Labels::of_alphabet(&alphabet.characters));
                let shape = Shape::Binary { bytes: 1, signed: false };
                Codec::of(Body::Number(Number::plain(domain, shape)))
            }
            Self::Salt { count, alphabet: None } => number(count - 1, binary(count - 1)),
        }
    }
}

impl Computed {
    /// The field's name, if the template gives it one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Reads a value from plain text: a number, or a character from a salt's alphabet.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[salt 4 a-d as shard]-[id text]")?;
    /// let shard = schema.computed()[0].parse_value("c")?;
    /// assert_eq!(schema.encode(&[("shard", shard), ("id", "foo0003".into())])?, "c-foo0003");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn parse_value(&self, text: &str) -> Result<Value> {
        self.codec.read(text).map_err(|fault| fault.in_text(text))
    }

    /// How many key bytes the field takes, which is constant.
    pub fn width(&self) -> usize {
        self.codec.width().unwrap_or(0)
    }

    /// How many values the field can have, for buckets and salts; `None` for hashes, which are too
    /// many to enumerate. With `java.hashcode` it is twice the bucket count minus one, because
    /// Java's remainders are signed.
    pub fn count(&self) -> Option<u32> {
        match self.formula {
            Formula::Bucket { count, by: Bucketing::JavaRemainder(_), .. } => Some(2 * count - 1),
            Formula::Bucket { count, by: Bucketing::Hbasewd, .. } => {
                Some(count + u32::from(u32::from(Bucketing::stray(count)) >= count))
            }
            Formula::Bucket { count, .. } | Formula::Salt { count, .. } => Some(count),
            Formula::Hash { .. } => None,
        }
    }

    /// Returns true if the stored fields that this test accepts determine the field.
    pub(crate) fn depends_only_on(&self, is_accepted: impl Fn(&usize) -> bool) -> bool {
        match &self.operands {
            Operands::Chance | Operands::Rest => false,
            Operands::Fields(fields) => fields.iter().all(is_accepted),
        }
    }

    /// Returns true if the field is a salt: then it belongs to a row's identity, and several rows
    /// can have equal stored fields.
    pub fn is_random(&self) -> bool {
        self.operands == Operands::Chance
    }

    /// Returns the input digest from which the field's bytes are derived; `None` for a salt.
    pub(crate) fn digest(&self, input: &[u8]) -> Option<Digest> {
        match self.formula {
            Formula::Bucket { by, .. } => Some(by.function().digest(input)),
            Formula::Hash { function, .. } => Some(function.digest(input)),
            Formula::Salt { .. } => None,
        }
    }

    /// Returns true if the field is a bucket and `number` is this input's bucket.
    #[inline]
    pub(crate) fn is_bucket(&self, number: i128, input: &[u8]) -> bool {
        match self.formula {
            Formula::Bucket { count, by, .. } => {
                by.bucket(&by.function().digest(input), count) == number
            }
            Formula::Hash { .. } | Formula::Salt { .. } => false,
        }
    }

    /// Appends the field's bytes for this digest.
    pub(crate) fn put(&self, digest: Option<&Digest>, out: &mut Vec<u8>) {
        let Some(digest) = digest else { return };
        match (&self.formula, &self.codec.body) {
            (Formula::Bucket { count, by, .. }, Body::Number(number)) => {
                number.put(by.bucket(digest, *count), out);
            }
            (
                Formula::Hash { len, .. },
                Body::Sequence(Sequence { container: Container::Fixed(fixed), .. }),
            ) => fixed.put(&digest.as_bytes()[..(*len).into()], out),
            // Only these formulas have a digest, each with the codec matched above.
            _ => {}
        }
    }

    /// Returns the salt for a random number.
    pub(crate) fn salt(&self, random: u64) -> Value {
        match &self.formula {
            Formula::Salt { count, alphabet } => {
                let nth = random % u64::from(*count);
                match alphabet {
                    Some(alphabet) => {
                        let character = alphabet.characters.as_bytes()[nth as usize];
                        Value::Text(char::from(character).to_string())
                    }
                    None => nth.into(),
                }
            }
            _ => Value::Null,
        }
    }
}

impl fmt::Display for Computed {
    /// Writes the field as templates do, without the brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |word: &str| match word {
            "xxh3" => String::new(),
            word => format!(" by {word}"),
        };
        let of = if self.of.is_empty() { String::new() } else { format!(" of {}", self.of) };
        match &self.formula {
            Formula::Bucket { count, by: bucketing, form } => {
                let width = match bucketing {
                    Bucketing::Opentsdb { bytes } if *bytes != bucket_width(*count) => {
                        format!(" {bytes}")
                    }
                    _ => String::new(),
                };
                let form = match form {
                    BucketForm::Binary => "",
                    BucketForm::Digits => " digits",
                    BucketForm::Hex => " hex",
                };
                write!(f, "bucket {count}{of}{}{width}{form}", by(bucketing.word()))?;
            }
            Formula::Hash { len, function, hex } => {
                let hex = if *hex { " hex" } else { "" };
                write!(f, "hash {len}{of}{}{hex}", by(function.word()))?;
            }
            Formula::Salt { count, alphabet } => {
                write!(f, "salt {count}")?;
                if let Some(alphabet) = alphabet {
                    write!(f, " {}", alphabet.text)?;
                }
            }
        }
        match &self.name {
            Some(name) => write!(f, " as {name}"),
            None => Ok(()),
        }
    }
}
