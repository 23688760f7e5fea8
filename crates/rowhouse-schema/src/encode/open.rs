//! `text`, `domain`, `decimal`: bytes as they are. The element after the field determines where a
//! value ends.

use rowhouse_model::escape;

use crate::error::KeyMismatch;

/// An open value's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At the key's end.
    Key,
    /// Where this literal first begins.
    Literal(Vec<u8>),
    /// This many bytes before the key's end.
    Before(usize),
}

impl End {
    /// Checks that a value, as stored, ends where it should.
    pub(crate) fn check(&self, stored: &[u8]) -> Result<(), String> {
        match self {
            Self::Literal(literal) if !ends_at_its_end(stored, literal) => Err(format!(
                "a value cannot contain the literal after the field, it would end there: \
                 value='{}', literal={}",
                String::from_utf8_lossy(stored),
                escape(literal)
            )),
            _ => Ok(()),
        }
    }

    /// Returns the value bytes at `at`.
    #[inline]
    pub(crate) fn cut<'k>(&self, key: &'k [u8], at: usize) -> Result<&'k [u8], KeyMismatch> {
        let rest = &key[at..];
        let len = match self {
            Self::Key => rest.len(),
            Self::Literal(literal) => find(rest, literal).ok_or_else(|| {
                KeyMismatch::new(key.len(), format!("the literal `{}` is missing", escape(literal)))
            })?,
            Self::Before(width) => rest.len().checked_sub(*width).ok_or_else(|| {
                let why = format!("{width} bytes must follow, {} are left", rest.len());
                KeyMismatch::new(at, why)
            })?,
        };
        Ok(&rest[..len])
    }
}

/// Returns true if bytes followed by the literal end at their own end: the literal begins nowhere
/// before it, not even across it.
pub(crate) fn ends_at_its_end(bytes: &[u8], literal: &[u8]) -> bool {
    if let [byte] = literal {
        return !bytes.contains(byte);
    }
    (0..bytes.len()).all(|at| {
        let rest = &bytes[at..];
        if rest.len() >= literal.len() {
            !rest.starts_with(literal)
        } else {
            // The literal would overlap the bytes' end and itself.
            let (head, tail) = literal.split_at(rest.len());
            head != rest || !literal.starts_with(tail)
        }
    })
}

fn find(bytes: &[u8], literal: &[u8]) -> Option<usize> {
    match literal {
        [byte] => bytes.iter().position(|candidate| candidate == byte),
        _ => bytes.windows(literal.len()).position(|window| window == literal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_may_begin_inside_the_text_and_end_after_it() {
        assert!(ends_at_its_end(b"xa", b"ab"));
        assert!(!ends_at_its_end(b"xa", b"aa"));
        assert!(!ends_at_its_end(b"xab", b"aba"));
        assert!(ends_at_its_end(b"xa", b"aba"));
        assert!(ends_at_its_end(b"", b"_"));
        assert!(!ends_at_its_end(b"a_b", b"_"));
    }
}
