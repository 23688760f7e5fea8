//! Detects misplaced quotes in a CSV file. The CSV reader takes `"x"y` for `xy`, and accepts a
//! value whose quotes are closed only by the file's end.

use std::collections::VecDeque;
use std::ops::Range;

use super::lines::BYTE_ORDER_MARK;

/// Parses a file's bytes as the CSV reader does.
pub(super) struct Quotes {
    delimiter: u8,
    quote: u8,
    escape: Option<u8>,
    comment: Option<u8>,
    at: At,
    /// The next byte's offset in the file.
    byte: u64,
    /// Whether an offset in this row is recorded: one is enough.
    is_noted: bool,
    /// Offsets after a closing quote at which a value continues.
    wrong: VecDeque<u64>,
}

/// The next byte's context.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// A row's first byte, or the first byte in skipped lines before one.
    Row,
    Comment,
    /// A value's first byte.
    Value,
    Plain,
    Quoted,
    /// After an escape: the next byte is part of the value.
    Escaped,
    /// After a quote that closes the value, unless another follows.
    Closing,
}

impl Quotes {
    pub(super) fn new(delimiter: u8, quote: u8, escape: Option<u8>, comment: Option<u8>) -> Self {
        Self {
            delimiter,
            quote,
            escape,
            comment,
            at: At::Row,
            byte: 0,
            is_noted: false,
            wrong: VecDeque::new(),
        }
    }

    /// Continues at a row's beginning.
    pub(super) fn seek(&mut self, byte: u64) {
        let Self { delimiter, quote, escape, comment, .. } = *self;
        *self = Self { byte, ..Self::new(delimiter, quote, escape, comment) };
    }

    /// Consumes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.at = self.next(byte);
            self.byte += 1;
        }
    }

    /// Returns true if the bytes end within a value's quotes.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.at, At::Quoted | At::Escaped)
    }

    /// Returns true if a value in the row in these bytes continues after the closing quote. The
    /// caller passes rows in order.
    pub(super) fn is_wrong(&mut self, row: Range<u64>) -> bool {
        while self.wrong.front().is_some_and(|place| *place < row.start) {
            self.wrong.pop_front();
        }
        self.wrong.front().is_some_and(|place| *place < row.end)
    }

    fn next(&mut self, byte: u8) -> At {
        let is_end = byte == b'\n' || byte == b'\r';
        match self.at {
            At::Comment if byte == b'\n' => At::Row,
            At::Comment => At::Comment,
            At::Quoted if byte == self.quote => At::Closing,
            At::Quoted if Some(byte) == self.escape => At::Escaped,
            At::Quoted | At::Escaped => At::Quoted,
            At::Row if is_end => At::Row,
            At::Row if Some(byte) == self.comment => At::Comment,
            At::Row | At::Value | At::Closing if byte == self.quote => At::Quoted,
            _ if byte == self.delimiter => At::Value,
            _ if is_end => {
                self.is_noted = false;
                At::Row
            }
            At::Closing => {
                if !self.is_noted {
                    self.wrong.push_back(self.byte);
                    self.is_noted = true;
                }
                At::Plain
            }
            // The byte order mark precedes the first row.
            At::Row if self.byte < BYTE_ORDER_MARK.len() as u64 && self.is_mark(byte) => At::Row,
            At::Row | At::Value | At::Plain => At::Plain,
        }
    }

    fn is_mark(&self, byte: u8) -> bool {
        BYTE_ORDER_MARK.get(self.byte as usize) == Some(&byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the offsets at which values continue after a closing quote, and true if the last one
    /// is open.
    fn check(text: &str) -> (Vec<u64>, bool) {
        let mut quotes = Quotes::new(b',', b'"', Some(b'\\'), Some(b'#'));
        // Feeding byte by byte and all at once are the same.
        for byte in text.as_bytes() {
            quotes.push(&[*byte]);
        }
        (quotes.wrong.iter().copied().collect(), quotes.is_open())
    }

    #[test]
    fn a_value_ends_with_its_closing_quote() {
        assert_eq!(check("\"a\",\"b\"\r\n\"c\"\n"), (vec![], false));
        assert_eq!(check("\"a\"\"b\",\"\"\"\",\"\"\n"), (vec![], false));
        assert_eq!(check("a\"b\",c\"\n"), (vec![], false));
        assert_eq!(check("\"a\"b,\"c\"d\n\"e\"f\n"), (vec![3, 13], false));
        assert_eq!(check("\"a\" ,1\n"), (vec![3], false));
        assert_eq!(check("1,\"a"), (vec![], true));
        assert_eq!(check("1,\"a\"\"\n"), (vec![], true));
    }

    #[test]
    fn an_escape_within_quotes_makes_a_quote_part_of_the_value() {
        assert_eq!(check("\"a\\\"b\",\"\\\\\"\n"), (vec![], false));
        assert_eq!(check("\"a\\\"\n"), (vec![], true));
        assert_eq!(check("\"a\\"), (vec![], true));
        // Outside quotes it is a character like others.
        assert_eq!(check("a\\,\"b\"c\n"), (vec![6], false));
    }

    #[test]
    fn comments_and_the_byte_order_mark_are_in_no_row() {
        assert_eq!(check("# a \"\n\"b\"\n\n# \"c\"d\n1\n"), (vec![], false));
        assert_eq!(check("\u{feff}\"a\"b\n"), (vec![6], false));
        assert_eq!(check("\u{feff}# \"a\"b\n"), (vec![], false));
    }

    #[test]
    fn invalid_quotes_are_reported_by_byte_range() {
        let mut quotes = Quotes::new(b',', b'"', None, None);
        quotes.push(b"1\n\"a\"b\n2\n");
        assert!(!quotes.is_wrong(0..2));
        assert!(quotes.is_wrong(2..7));
        assert!(!quotes.is_wrong(7..9));
        quotes.seek(2);
        quotes.push(b"\"a\"b\n");
        assert!(quotes.is_wrong(2..7));
    }
}
