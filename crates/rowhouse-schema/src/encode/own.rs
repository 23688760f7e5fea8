//! The facts about rowhouse's own types: the words, and each type's values and layout. What a
//! template may say about a type, and how its values are stored, follow from these.

use super::{Arrangement, Calendar, Content, FieldType, ForeignType, OrdinalDomain, Shape};
use crate::time::TimeUnit;

/// The types' words, in the order in which messages list them. A word without a type has
/// parameters.
static WORDS: &[(&str, Option<FieldType>)] = &[
    ("text", Some(FieldType::Text)),
    ("string", Some(FieldType::String)),
    ("blob", Some(FieldType::Blob)),
    ("domain", Some(FieldType::Domain)),
    ("decimal", Some(FieldType::ShortestDigits)),
    ("u8", unsigned(1)),
    ("u16", unsigned(2)),
    ("u24", unsigned(3)),
    ("u32", unsigned(4)),
    ("u40", unsigned(5)),
    ("u48", unsigned(6)),
    ("u56", unsigned(7)),
    ("u64", unsigned(8)),
    ("i8", signed(1)),
    ("i16", signed(2)),
    ("i24", signed(3)),
    ("i32", signed(4)),
    ("i40", signed(5)),
    ("i48", signed(6)),
    ("i56", signed(7)),
    ("i64", signed(8)),
    ("f32", Some(FieldType::Float { bytes: 4 })),
    ("f64", Some(FieldType::Float { bytes: 8 })),
    ("bool", Some(FieldType::Bool)),
    ("enum", None),
    ("uuid", Some(FieldType::Uuid)),
    ("ipv4", Some(FieldType::Ipv4)),
    ("bytes", None),
    ("hex", None),
    ("digits", None),
    ("millis", count_of(TimeUnit::Millis)),
    ("micros", count_of(TimeUnit::Micros)),
    ("nanos", count_of(TimeUnit::Nanos)),
    ("seconds", count_of(TimeUnit::Seconds)),
    ("date", Some(FieldType::Date)),
    ("ymd", Some(FieldType::Calendar(Calendar::Day))),
    ("ymdhm", Some(FieldType::Calendar(Calendar::Minute))),
    ("ymdhms", Some(FieldType::Calendar(Calendar::Second))),
    ("repeat", None),
];

const fn unsigned(bytes: u8) -> Option<FieldType> {
    Some(FieldType::Unsigned { bytes })
}

const fn signed(bytes: u8) -> Option<FieldType> {
    Some(FieldType::Signed { bytes })
}

const fn count_of(unit: TimeUnit) -> Option<FieldType> {
    Some(FieldType::Time { unit, bytes: 8 })
}

/// Where a type's values are stored.
pub(crate) enum Layout<'t> {
    /// As a domain's numbers, in a shape with constant width.
    Number(OrdinalDomain, Shape),
    /// As the shortest decimal text.
    Shortest,
    /// As texts or bytes.
    Sequence(Content, Arrangement, Frame),
    /// As groups, up to the key's end.
    Repeat(&'t [FieldType]),
    /// As another system stores them.
    Foreign(&'t ForeignType),
}

/// What ends a text or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The next element, or the key's end.
    Open,
    Terminated,
    /// The width; shorter values are padded with the byte, if there is one.
    Width(u16, Option<u8>),
}

impl FieldType {
    /// The types' words, in the order in which messages list them.
    pub(crate) fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(word, _)| *word)
    }

    /// Returns the type for a word that needs no parameters.
    pub(crate) fn named(word: &str) -> Option<&'static Self> {
        let (_, named) = WORDS.iter().find(|(known, _)| *known == word)?;
        named.as_ref()
    }

    /// The word for a type without parameters.
    pub(super) fn word(&self) -> Option<&'static str> {
        let named = WORDS.iter().find(|(_, named)| named.as_ref() == Some(self));
        named.map(|(word, _)| *word)
    }

    /// Returns where the type's values are stored.
    pub(crate) fn layout(&self) -> Layout<'_> {
        let text = |frame| Layout::Sequence(Content::Text, Arrangement::AsGiven, frame);
        let sequence = |content, frame| Layout::Sequence(content, Arrangement::AsGiven, frame);
        let unsigned = |bytes| Shape::Binary { bytes, signed: false };
        let signed = |bytes| Shape::Binary { bytes, signed: true };
        match self {
            Self::Text => text(Frame::Open),
            Self::PaddedText { width, pad } => text(Frame::Width(*width, Some(*pad))),
            Self::String => text(Frame::Terminated),
            Self::Blob => sequence(Content::Raw, Frame::Terminated),
            Self::Domain => Layout::Sequence(Content::Text, Arrangement::Labels, Frame::Open),
            Self::ShortestDigits => Layout::Shortest,
            Self::Unsigned { bytes } => {
                Layout::Number(OrdinalDomain::up_to((1 << (8 * bytes)) - 1), unsigned(*bytes))
            }
            Self::Signed { bytes } => {
                let half = 1 << (8 * bytes - 1);
                Layout::Number(OrdinalDomain::integers(-half, half - 1), signed(*bytes))
            }
            Self::Float { bytes } => {
                Layout::Number(OrdinalDomain::floats(*bytes), unsigned(*bytes))
            }
            Self::Bool => Layout::Number(OrdinalDomain::bools(), unsigned(1)),
            Self::Enum(labels) => {
                Layout::Number(OrdinalDomain::of_labels(labels.clone()), unsigned(1))
            }
            Self::Uuid => sequence(Content::Uuid, Frame::Width(16, None)),
            Self::Ipv4 => Layout::Number(OrdinalDomain::ipv4(), unsigned(4)),
            Self::Bytes { width } => sequence(Content::Raw, Frame::Width(*width, None)),
            Self::Hex { width, upper } => {
                sequence(Content::Hex { upper: *upper }, Frame::Width(*width, None))
            }
            Self::Digits { width } => {
                let max = 10_i128.pow((*width).into()) - 1;
                Layout::Number(OrdinalDomain::up_to(max), Shape::Digits { width: *width })
            }
            Self::Time { unit, bytes } => {
                let max = if *bytes == 4 { u32::MAX.into() } else { i64::MAX.into() };
                Layout::Number(OrdinalDomain::times(*unit, 0, max), unsigned(*bytes))
            }
            Self::Date => Layout::Number(OrdinalDomain::days(), signed(4)),
            Self::Calendar(calendar) => {
                let width = calendar.digits();
                Layout::Number(OrdinalDomain::calendar(*calendar), Shape::Digits { width })
            }
            Self::Repeat(types) => Layout::Repeat(types),
            Self::Foreign(foreign) => Layout::Foreign(foreign),
        }
    }

    /// The domain, if values are numbers in one.
    pub(crate) fn domain(&self) -> Option<OrdinalDomain> {
        match self.layout() {
            Layout::Number(domain, _) => Some(domain),
            Layout::Shortest => Some(OrdinalDomain::up_to(super::shortest::MAX)),
            Layout::Foreign(foreign) => foreign.domain(),
            Layout::Sequence(..) | Layout::Repeat(_) => None,
        }
    }

    /// Returns true if value bytes can be written as hex digits.
    pub(crate) fn has_hex(&self) -> bool {
        match self.layout() {
            Layout::Number(_, shape) => matches!(shape, Shape::Binary { .. }),
            Layout::Sequence(content, _, Frame::Width(..)) => {
                matches!(content, Content::Raw | Content::Uuid)
            }
            Layout::Sequence(..) | Layout::Shortest | Layout::Repeat(_) | Layout::Foreign(_) => {
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::key::KeySchema;
    use crate::plan::Predicate;

    use super::*;

    #[test]
    fn each_word_is_read_as_its_type_which_prints_the_word() {
        for (word, named) in WORDS {
            let Some(named) = named else { continue };
            let schema = KeySchema::parse(&format!("[x {word}]")).unwrap();
            assert_eq!(schema.fields()[0].field_type(), named);
            assert_eq!(named.to_string(), *word);
        }
    }

    #[test]
    fn a_network_of_addresses_is_one_range_of_keys() {
        let schema = KeySchema::parse("[ip ipv4][n u8]").unwrap();
        for query in
            ["ip between 10.0.0.0 and 10.255.255.255", "ip >= '10.0.0.0' and ip < '11.0.0.0'"]
        {
            let plan = schema.plan(&Predicate::parse(query).unwrap()).unwrap();
            assert!(plan.to_string().starts_with("ranges: 1\n"), "{plan}");
            for (key, is_in) in [
                ([9, 255, 255, 255], false),
                ([10, 0, 0, 0], true),
                ([10, 255, 255, 255], true),
                ([11, 0, 0, 0], false),
            ] {
                let key = [&key[..], &[7]].concat();
                assert_eq!(plan.ranges()[0].contains(&key), is_in, "{query}: {key:?}");
            }
        }
    }
}
