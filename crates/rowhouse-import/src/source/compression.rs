//! Compressed files, recognized by their first bytes and decompressed as they are read.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use xxhash_rust::xxh64::Xxh64;

/// A file's compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// Gzip members, one after the other.
    Gzip,
    /// Zstandard frames, one after the other.
    Zstd,
}

impl Compression {
    /// Returns the compression for a file with these first bytes; `None` if it is not compressed.
    ///
    /// # Errors
    /// What the file is, and how it becomes readable, if the form is not supported.
    pub(super) fn of(head: &[u8]) -> Result<Option<Self>, &'static str> {
        if let Some((_, what)) = UNSUPPORTED.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(what);
        }
        if head.starts_with(&GZIP) {
            return Ok(Some(Self::Gzip));
        }
        let is_skippable = head.len() >= 4 && (0x50..0x60).contains(&head[0]);
        if head.starts_with(&ZSTD) || (is_skippable && head[1..4] == ZSTD_SKIPPABLE) {
            Ok(Some(Self::Zstd))
        } else {
            Ok(None)
        }
    }

    /// Returns the decompressed bytes. They are not held: a read decompresses what it returns, and
    /// at most the compression window, 128 MiB for Zstandard, is in memory.
    pub(super) fn reader(self, file: impl BufRead + 'static) -> Box<dyn Read> {
        match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(file)),
            Self::Zstd => Box::new(ZstdReader::new(file)),
        }
    }
}

const GZIP: [u8; 3] = [0x1F, 0x8B, 0x08];
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// The last three bytes with which a frame begins that has no content.
const ZSTD_SKIPPABLE: [u8; 3] = [0x2A, 0x4D, 0x18];

/// The first bytes in files that are not read. None of them begins a text.
const UNSUPPORTED: [(&[u8], &str); 7] = [
    (b"\xFD7zXZ\0", "compressed by xz: decompress it (unxz)"),
    (b"BZh91AY&SY", "compressed by bzip2: decompress it (bunzip2)"),
    (b"\x04\x22\x4D\x18", "compressed by lz4: decompress it (unlz4)"),
    (b"\x1F\x9D", "compressed by compress: decompress it (uncompress)"),
    (b"PK\x03\x04", "a zip archive, or a spreadsheet: unpack it, or save the sheet as CSV"),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a spreadsheet: save the sheet as CSV"),
    (b"\xFF\xFE\0\0", "in UTF-32: convert it to UTF-8 (iconv -f UTF-32 -t UTF-8)"),
];

/// Decompresses Zstandard frames.
struct ZstdReader<R> {
    file: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
    /// The sum over the frame's bytes so far, which the frame's end has to match if it holds one.
    sum: Xxh64,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(file: R) -> Self {
        Self { file, decoder: FrameDecoder::new(), is_in_frame: false, sum: Xxh64::new(0) }
    }

    /// Begins the next frame with content; returns false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.file.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.file) {
                Ok(()) => {
                    self.sum.reset(0);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => skip(&mut self.file, length.into())?,
                Err(FrameDecoderError::WindowSizeTooBig { requested, max }) => {
                    let why = format!(
                        "the window of zstd is too large, compress it without --long: \
                         window={requested}, max={max}"
                    );
                    return Err(io::Error::new(io::ErrorKind::Unsupported, why));
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        // The sum is the hash's low half.
        let sum = self.sum.digest() as u32;
        match self.decoder.get_checksum_from_data() {
            Some(stored) if stored != sum => {
                Err(damaged("its content does not match its checksum"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_in_frame {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.is_in_frame = true;
            }
            if self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.file, one).map_err(damaged)?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                self.sum.update(&buffer[..read]);
                return Ok(read);
            }
            if self.decoder.is_finished() {
                self.end_frame()?;
            }
        }
    }
}

/// Skips bytes, all of which have to be there.
pub(super) fn skip(file: &mut impl Read, len: u64) -> io::Result<()> {
    if io::copy(&mut file.take(len), &mut io::sink())? == len {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn damaged(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
