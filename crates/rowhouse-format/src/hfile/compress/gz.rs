//! GZ: one gzip member (RFC 1952) per payload, as Java's `GZIPOutputStream` writes it.

use flate2::{Compress, Crc, Decompress, FlushCompress, FlushDecompress, Status};

use super::Malformed;

/// Magic, method deflate, no flags, no time, no operating system: the header that HBase writes on
/// Java up to 15. Later versions write 255, "unknown", in the last byte.
const HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0];
/// The payload's CRC-32 and length, little-endian.
const TRAILER_LEN: usize = 8;

/// A deflater that is reused across payloads.
pub(super) struct Deflater(Compress);

impl Deflater {
    /// Creates a deflater with level 6, HBase's level.
    pub(super) fn new() -> Self {
        Self(Compress::new(flate2::Compression::default(), false))
    }

    /// Appends `payload` as a gzip member.
    pub(super) fn append(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        self.0.reset();
        out.extend_from_slice(&HEADER);
        let mut status = Status::Ok;
        while status != Status::StreamEnd {
            out.reserve(payload.len() / 2 + 256);
            let rest = &payload[self.0.total_in() as usize..];
            let finished = self.0.compress_vec(rest, out, FlushCompress::Finish);
            status = finished.expect("a deflater takes any bytes");
        }
        let mut crc = Crc::new();
        crc.update(payload);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    }
}

/// Fills `payload` from `bytes`, which must be exactly one gzip member.
pub(super) fn read(bytes: &[u8], payload: &mut [u8]) -> Result<(), Malformed> {
    let Some(body_len) = bytes.len().checked_sub(HEADER.len() + TRAILER_LEN) else {
        return Err(Malformed::Cut { at: bytes.len() });
    };
    let (header, rest) = bytes.split_at(HEADER.len());
    // Neither Java nor zlib writes a name, a comment or other optional fields after the header.
    if header[..4] != HEADER[..4] {
        let value = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
        return Err(Malformed::Gzip { what: "not HBase's header", value });
    }
    let (body, trailer) = rest.split_at(body_len);
    let mut inflater = Decompress::new(false);
    let status = inflater.decompress(body, payload, FlushDecompress::Finish);
    let status = status.map_err(Malformed::codec)?;
    let filled = inflater.total_out();
    if filled < payload.len() as u64 {
        return Err(Malformed::Short { want: payload.len() as u64, have: filled });
    }
    if status != Status::StreamEnd {
        return Err(if inflater.total_in() < body.len() as u64 {
            Malformed::Long { want: payload.len() as u64 }
        } else {
            Malformed::Cut { at: bytes.len() }
        });
    }
    if inflater.total_in() < body.len() as u64 {
        return Err(Malformed::Trailing { left: body.len() - inflater.total_in() as usize });
    }
    let mut crc = Crc::new();
    crc.update(payload);
    let number = |at: usize| {
        u32::from_le_bytes([trailer[at], trailer[at + 1], trailer[at + 2], trailer[at + 3]])
    };
    if number(0) != crc.sum() {
        return Err(Malformed::Gzip { what: "checksum mismatch", value: number(0) });
    }
    if number(4) != payload.len() as u32 {
        return Err(Malformed::Gzip { what: "length mismatch", value: number(4) });
    }
    Ok(())
}
