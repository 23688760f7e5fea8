//! `text`: the UTF-8 bytes as they are. Where a value ends is said by what stands behind the field.

use rowhouse_model::escape;

use crate::error::NotFitting;
use crate::value::Value;

/// The codec of `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) end: TextEnd,
}

/// Where a text ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextEnd {
    /// At the end of the key.
    KeyEnd,
    /// Where this literal begins first.
    Literal(Vec<u8>),
    /// So many bytes before the end of the key.
    Before(usize),
}

impl Text {
    pub(crate) fn encode(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        if let TextEnd::Literal(literal) = &self.end
            && !ends_at_its_end(text.as_bytes(), literal)
        {
            return Err(format!(
                "a value cannot hold the literal behind the field, it would end there: \
                 value='{text}', literal={}",
                escape(literal)
            ));
        }
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    pub(crate) fn decode(&self, key: &[u8], at: usize) -> Result<(Value, usize), NotFitting> {
        let rest = &key[at..];
        let len = match &self.end {
            TextEnd::KeyEnd => rest.len(),
            TextEnd::Literal(literal) => find(rest, literal).ok_or_else(|| {
                NotFitting::new(key.len(), format!("the literal `{}` is missing", escape(literal)))
            })?,
            TextEnd::Before(width) => rest.len().checked_sub(*width).ok_or_else(|| {
                let why = format!("{width} bytes must follow, {} are left", rest.len());
                NotFitting::new(at, why)
            })?,
        };
        Ok((super::utf8(rest[..len].to_vec(), at)?, at + len))
    }
}

/// Whether a text with the literal behind it ends where it should, that is whether the literal
/// begins nowhere before the end of the text, not even across it.
pub(crate) fn ends_at_its_end(text: &[u8], literal: &[u8]) -> bool {
    (0..text.len()).all(|at| {
        let rest = &text[at..];
        match rest.len() >= literal.len() {
            true => !rest.starts_with(literal),
            // The rest of the literal would have to come from the literal itself.
            false => {
                let (head, tail) = literal.split_at(rest.len());
                head != rest || !literal.starts_with(tail)
            }
        }
    })
}

fn find(bytes: &[u8], literal: &[u8]) -> Option<usize> {
    bytes.windows(literal.len()).position(|window| window == literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_may_begin_inside_the_text_and_end_behind_it() {
        assert!(ends_at_its_end(b"xa", b"ab"));
        assert!(!ends_at_its_end(b"xa", b"aa"));
        assert!(!ends_at_its_end(b"xab", b"aba"));
        assert!(ends_at_its_end(b"xa", b"aba"));
        assert!(ends_at_its_end(b"", b"_"));
        assert!(!ends_at_its_end(b"a_b", b"_"));
    }
}
