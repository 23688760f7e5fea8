//! Value converters for output: given by `cf:title:toInt`, as in HBase's shell, or for all columns
//! with FORMATTER.

use rowhouse::Bytes;
use rowhouse::cell::KeyValue;
use rowhouse::key::escape;
use rowhouse_model::escape_line;

use crate::shell::failure::{Result, usage_error};
use crate::shell::options::{OptionText, Options};
use crate::shell::print::ruby_float;

pub(super) const FORMATTER: OptionText =
    ("FORMATTER", "how values are shown, as in 'family:qualifier:toInt': toLong, toString, …");
pub(super) const FORMATTER_CLASS: OptionText =
    ("FORMATTER_CLASS", "the class of FORMATTER: only HBase's Bytes, the default");
pub(super) const MAXLENGTH: OptionText =
    ("MAXLENGTH", "most characters of each cell, 'timestamp=…, value=…'");

/// HBase's class that contains the converters.
const BYTES: &str = "org.apache.hadoop.hbase.util.Bytes";

/// A method from HBase's `Bytes` that converts bytes for output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Converter {
    Boolean,
    Double,
    Float,
    Hex,
    Int,
    Long,
    Short,
    Text,
    /// The default.
    Escaped,
}

/// Their names.
const NAMES: [(&str, Converter); 9] = [
    ("toBoolean", Converter::Boolean),
    ("toDouble", Converter::Double),
    ("toFloat", Converter::Float),
    ("toHex", Converter::Hex),
    ("toInt", Converter::Int),
    ("toLong", Converter::Long),
    ("toShort", Converter::Short),
    ("toString", Converter::Text),
    ("toStringBinary", Converter::Escaped),
];

impl Converter {
    fn parse(text: &str) -> Result<Self> {
        match NAMES.iter().find(|(name, _)| *name == text) {
            Some((_, converter)) => Ok(*converter),
            None => {
                let known = NAMES.map(|(name, _)| name).join(", ");
                usage_error(format!("a converter is one of {known}: {text}"))
            }
        }
    }

    /// Splits `title:toInt`, or `title:c(CLASS).toInt`, after a family. Text that does not look
    /// like a converter belongs to the qualifier.
    pub(super) fn split(qualifier: &Bytes) -> Result<(Bytes, Option<Self>)> {
        let Some(at) = qualifier.iter().rposition(|&byte| byte == b':') else {
            return Ok((qualifier.clone(), None));
        };
        let written = escape(&qualifier[at + 1..]);
        let is_method =
            written.strip_prefix("to").is_some_and(|name| name.starts_with(char::is_uppercase));
        let name = match written.strip_prefix("c(").and_then(|rest| rest.split_once(").")) {
            Some((BYTES, name)) => name,
            Some((class, _)) => {
                return usage_error(format!(
                    "converters are methods of {BYTES}, others are not supported: {class}"
                ));
            }
            None if is_method => &written,
            None => return Ok((qualifier.clone(), None)),
        };
        Ok((qualifier.slice(..at), Some(Self::parse(name)?)))
    }

    /// Returns the converted value. A value whose length does not fit the converter is shown as
    /// bytes, with a remark.
    fn show(self, value: &[u8]) -> String {
        let shown = match self {
            Self::Boolean => value.try_into().ok().map(|[byte]: [u8; 1]| (byte != 0).to_string()),
            Self::Double => {
                value.try_into().ok().map(|bytes| ruby_float(f64::from_be_bytes(bytes)))
            }
            Self::Float => {
                value.try_into().ok().map(|bytes| ruby_float(f32::from_be_bytes(bytes).into()))
            }
            Self::Int => value.try_into().ok().map(|bytes| i32::from_be_bytes(bytes).to_string()),
            Self::Long => value.try_into().ok().map(|bytes| i64::from_be_bytes(bytes).to_string()),
            Self::Short => value.try_into().ok().map(|bytes| i16::from_be_bytes(bytes).to_string()),
            Self::Hex => Some(value.iter().map(|byte| format!("{byte:02x}")).collect()),
            Self::Text => Some(escape_line(&String::from_utf8_lossy(value))),
            Self::Escaped => Some(escape(value)),
        };
        shown.unwrap_or_else(|| {
            let name =
                NAMES.iter().find(|(_, converter)| *converter == self).map_or("", |(name, _)| name);
            format!("{} (not for {name}: {} bytes)", escape(value), value.len())
        })
    }
}

/// Column converters.
#[derive(Debug, Default)]
pub(super) struct Converters {
    columns: Vec<(Bytes, Bytes, Converter)>,
    others: Option<Converter>,
    /// How many characters are shown for a cell at most.
    len_max: Option<u32>,
}

impl Converters {
    /// Takes FORMATTER, for the columns that have no separate one, FORMATTER_CLASS, and MAXLENGTH.
    pub(super) fn take(options: &mut Options) -> Result<Self> {
        if let Some(class) = options.take_text("FORMATTER_CLASS")?.filter(|class| class != BYTES) {
            return usage_error(format!(
                "FORMATTER_CLASS is {BYTES}, others are not supported: {class}"
            ));
        }
        let others = options.take_text("FORMATTER")?.map(|name| Converter::parse(&name));
        let others = others.transpose()?;
        let len_max = options.take_count("MAXLENGTH")?;
        Ok(Self { columns: Vec::new(), others, len_max })
    }

    /// Adds a converter for a column.
    pub(super) fn add(&mut self, family: Bytes, qualifier: Bytes, converter: Converter) {
        self.columns.push((family, qualifier, converter));
    }

    /// Returns how many characters are shown for a cell at most, if limited.
    pub(super) fn len_max(&self) -> Option<u32> {
        self.len_max
    }

    /// Returns a cell's formatted value.
    pub(super) fn value(&self, cell: KeyValue<'_>) -> String {
        let own = self.columns.iter().find(|(family, qualifier, _)| {
            family == cell.family() && qualifier == cell.qualifier()
        });
        let converter = own.map(|(_, _, converter)| *converter).or(self.others);
        converter.unwrap_or(Converter::Escaped).show(cell.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::failure::Failure;

    fn split(text: &'static str) -> std::result::Result<(String, Option<Converter>), String> {
        match Converter::split(&Bytes::from_static(text.as_bytes())) {
            Ok((qualifier, converter)) => Ok((escape(&qualifier), converter)),
            Err(Failure::Usage(text)) => Err(text),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_converter_is_split_from_a_qualifier_that_may_have_colons() {
        assert_eq!(split("n:toInt"), Ok(("n".to_owned(), Some(Converter::Int))));
        assert_eq!(split("a:b:toLong"), Ok(("a:b".to_owned(), Some(Converter::Long))));
        assert_eq!(
            split("n:c(org.apache.hadoop.hbase.util.Bytes).toLong"),
            Ok(("n".to_owned(), Some(Converter::Long)))
        );
        for whole in ["n", "a:b", "a:total", "a:to", "", "a:c(x"] {
            assert_eq!(split(whole), Ok((whole.to_owned(), None)));
        }
        assert!(split("n:toInteger").unwrap_err().starts_with("a converter is one of toBoolean, "));
        assert!(split("n:c(a.B).f").unwrap_err().ends_with("others are not supported: a.B"));
    }

    #[test]
    fn values_are_shown_as_in_the_shell_of_hbase() {
        let shown = |converter: Converter, value: &[u8]| converter.show(value);
        assert_eq!(shown(Converter::Int, &[0xFF, 0xFF, 0xFF, 0xFE]), "-2");
        assert_eq!(shown(Converter::Long, &[0; 4]), r"\x00\x00\x00\x00 (not for toLong: 4 bytes)");
        assert_eq!(shown(Converter::Short, &[1, 0]), "256");
        assert_eq!(shown(Converter::Boolean, &[1]), "true");
        assert_eq!(shown(Converter::Hex, b"a\xFF"), "61ff");
        assert_eq!(shown(Converter::Text, "für\n2".as_bytes()), "für\\x0A2");
        assert_eq!(shown(Converter::Escaped, b"\x00"), r"\x00");
        assert_eq!(shown(Converter::Float, &1.1f32.to_be_bytes()), "1.100000023841858");
        for (number, text) in [
            (1.0, "1.0"),
            (-0.5, "-0.5"),
            (1e15, "1000000000000000.0"),
            (1e16, "1.0e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1.0e-05"),
            (-0.0, "-0.0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(ruby_float(number), text);
        }
    }
}
