//! A file's text, as UTF-8.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rowhouse::{Error, Result};

use super::compression::{Compression, skip};
use super::lines::unreadable;
use super::reading::Encoding;
use super::utf16::Utf16Reader;

/// A file's text: decompressed, and converted to UTF-8 if the file is in UTF-16. Offsets count
/// bytes in this text.
pub(super) struct TextInput {
    path: PathBuf,
    encoding: Option<Encoding>,
    bytes: Decoded,
    /// The next byte's offset.
    at: u64,
}

enum Decoded {
    /// The file itself.
    Plain(File),
    /// A text that is decoded from its beginning on, and how many file bytes have been read for it.
    Stream(Box<dyn Read>, Rc<Cell<u64>>),
}

impl TextInput {
    /// Opens a file. A text without a byte order mark has this encoding, or is in UTF-8.
    ///
    /// # Errors
    /// `Io`; `Corruption` for a compressed file; `Unsupported` for other compressions; and
    /// `InvalidRequest` for a text that looks like UTF-16 but is not declared as such.
    pub(super) fn open(path: &Path, encoding: Option<Encoding>) -> Result<Self> {
        let failed = |source| unreadable(path, 1, source);
        let mut file = File::open(path).map_err(failed)?;
        let head = head_of(&mut file).map_err(failed)?;
        file.rewind().map_err(failed)?;
        let compression = Compression::of(&head).map_err(|what| {
            Error::unsupported(format!("the file is {what}: file={}", path.display()))
        })?;
        let bytes = match compression {
            None if encoding_of(path, &head, encoding)? == Encoding::Utf8 => Decoded::Plain(file),
            _ => {
                let bytes_read = Rc::new(Cell::new(0));
                let counted = Counted { file, bytes_read: Rc::clone(&bytes_read) };
                let buffered = BufReader::with_capacity(BUFFER_LEN, counted);
                let mut stream: Box<dyn Read> = match compression {
                    Some(compression) => compression.reader(buffered),
                    None => Box::new(buffered),
                };
                let head = head_of(&mut stream).map_err(decoder_error).map_err(failed)?;
                let actual = encoding_of(path, &head, encoding)?;
                let stream = Cursor::new(head).chain(stream);
                Decoded::Stream(decoded(stream, actual), bytes_read)
            }
        };
        Ok(Self { path: path.to_owned(), encoding, bytes, at: 0 })
    }

    /// Returns true if reading can continue anywhere without reading the bytes before.
    pub(super) fn is_seekable(&self) -> bool {
        matches!(self.bytes, Decoded::Plain(_))
    }

    /// Returns how many file bytes have been read.
    pub(super) fn bytes_read(&self) -> u64 {
        match &self.bytes {
            Decoded::Plain(_) => self.at,
            Decoded::Stream(_, bytes_read) => bytes_read.get(),
        }
    }
}

impl Read for TextInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.bytes {
            Decoded::Plain(file) => file.read(buffer)?,
            Decoded::Stream(stream, _) => stream.read(buffer).map_err(decoder_error)?,
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for TextInput {
    /// Moves to an offset. A text that is not [seekable](Self::is_seekable) is decoded up to it.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(to) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        if let Decoded::Plain(file) = &mut self.bytes {
            self.at = file.seek(SeekFrom::Start(to))?;
            return Ok(self.at);
        }
        if to < self.at {
            *self = Self::open(&self.path, self.encoding).map_err(io::Error::other)?;
        }
        let ahead = to - self.at;
        skip(self, ahead)?;
        Ok(self.at)
    }
}

/// Counts the bytes that are read from a file.
struct Counted {
    file: File,
    bytes_read: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.bytes_read.set(self.bytes_read.get() + read as u64);
        Ok(read)
    }
}

/// Returns the encoding for a text with these first bytes.
fn encoding_of(path: &Path, head: &[u8], declared: Option<Encoding>) -> Result<Encoding> {
    Encoding::of(head, declared).ok_or_else(|| {
        Error::invalid(format!(
            "the text looks like UTF-16 and has no byte order mark: give --encoding utf-16le or \
             utf-16be: file={}",
            path.display()
        ))
    })
}

/// Returns a text in UTF-8.
fn decoded(stream: impl Read + 'static, encoding: Encoding) -> Box<dyn Read> {
    match encoding {
        Encoding::Utf8 => Box::new(stream),
        Encoding::Utf16Le => Box::new(Utf16Reader::new(stream, false)),
        Encoding::Utf16Be => Box::new(Utf16Reader::new(stream, true)),
    }
}

/// Returns the first bytes, or all if there are fewer.
pub(super) fn head_of(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes.take(HEAD_LEN).read_to_end(&mut head)?;
    Ok(head)
}

/// Marks a decoder error, which the file system did not report, as an error in the data.
fn decoder_error(error: io::Error) -> io::Error {
    let kind = error.kind();
    match error.raw_os_error() {
        None if !matches!(kind, io::ErrorKind::Interrupted | io::ErrorKind::Unsupported) => {
            io::Error::new(io::ErrorKind::InvalidData, error)
        }
        _ => error,
    }
}

/// The longest magic, for bzip2, has ten bytes.
const HEAD_LEN: u64 = 16;
const BUFFER_LEN: usize = 64 << 10;
