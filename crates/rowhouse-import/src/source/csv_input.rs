//! The bytes that the CSV reader takes from a file.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::lines::{BYTE_ORDER_MARK, ROW_LEN_MAX};
use super::quotes::Quotes;
use super::reading::Reading;
use super::text::TextInput;

/// A text that is read up to a limit, which moves with the rows. After a seek, reading starts at a
/// row's beginning. The current row's bytes are held, so that a rejected row can be written as it
/// stands in the file.
pub(super) struct CsvInput {
    text: TextInput,
    comment: Option<u8>,
    quotes: Quotes,
    /// Bytes that were read, from the offset `held_from` on.
    held: Vec<u8>,
    held_from: u64,
    /// The offset at which the current row is too long.
    limit: u64,
    is_at_end: bool,
}

impl CsvInput {
    pub(super) fn new(text: TextInput, delimiter: u8, reading: &Reading) -> Self {
        let Reading { quote, escape, comment, .. } = *reading;
        Self {
            text,
            comment,
            quotes: Quotes::new(delimiter, quote, escape, comment),
            held: Vec::new(),
            held_from: 0,
            limit: ROW_LEN_MAX,
            is_at_end: false,
        }
    }

    pub(super) fn text(&self) -> &TextInput {
        &self.text
    }

    /// Begins a row at this offset; bytes before it are no longer needed.
    pub(super) fn begin_row(&mut self, byte: u64) {
        self.limit = byte + ROW_LEN_MAX;
        let passed = usize::try_from(byte.saturating_sub(self.held_from)).unwrap_or(usize::MAX);
        let passed = passed.min(self.held.len());
        // Moving the others for every row would cost more than many rows.
        if passed > HELD_PASSED_MAX {
            self.held.drain(..passed);
            self.held_from += passed as u64;
        }
    }

    /// Returns the bytes between two offsets in the current row.
    pub(super) fn row(&self, row: Range<u64>) -> &[u8] {
        let place = |byte: u64| usize::try_from(byte.saturating_sub(self.held_from)).ok();
        match (place(row.start), place(row.end)) {
            (Some(start), Some(end)) => self.held.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Returns the byte count and line count before the row in these bytes: a byte order mark, line
    /// ends and comments.
    pub(super) fn skipped(&self, bytes: Range<u64>) -> (u64, u64) {
        let is_first = bytes.start == 0;
        let all = self.row(bytes);
        let mut rest = match all.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if is_first => rest,
            _ => all,
        };
        let mut lines = 0;
        while let Some(first) = rest.first() {
            let len = match first {
                b'\n' | b'\r' => 1,
                first if Some(*first) == self.comment => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    end.map_or(rest.len(), |end| end + 1)
                }
                _ => break,
            };
            lines += u64::from(rest[len - 1] == b'\n');
            rest = &rest[len..];
        }
        ((all.len() - rest.len()) as u64, lines)
    }

    /// Returns true if a value in the row in these bytes continues after the closing quote. The
    /// caller passes rows in order.
    pub(super) fn is_wrong(&mut self, row: Range<u64>) -> bool {
        self.quotes.is_wrong(row)
    }

    /// Returns true if the text has ended within a value's quotes.
    pub(super) fn is_open_at_end(&self) -> bool {
        self.is_at_end && self.quotes.is_open()
    }
}

impl Read for CsvInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.held_from + self.held.len() as u64 >= self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.text.read(buffer)?;
        self.is_at_end = read == 0;
        self.quotes.push(&buffer[..read]);
        self.held.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

impl Seek for CsvInput {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let byte = self.text.seek(to)?;
        self.quotes.seek(byte);
        self.held.clear();
        (self.held_from, self.is_at_end) = (byte, false);
        Ok(byte)
    }
}

const HELD_PASSED_MAX: usize = 64 << 10;
