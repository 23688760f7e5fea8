//! Encodes and decodes a manifest file: a header, and records with one edit each. Drawn in
//! `docs/formats/manifest.md`.

use bytes::{Buf, BufMut, Bytes};
use prost::Message;
use rowhouse_model::{Error, Result};

use super::Edit;
use super::read::PATH;

const MAGIC: [u8; 8] = *b"ROWHMANI";
const VERSION: u32 = 3;
/// The oldest version that this code reads. Edits in that version do not record how far the log was
/// synced.
const VERSION_OLDEST: u32 = 2;
pub(super) const FILE_HEADER_LEN: usize = 48;
const RECORD_HEADER_LEN: usize = 12;
/// In place of a record length: nothing was written after this position.
pub(super) const LEN_END: u32 = 0;
/// In place of a record length: as [`LEN_END`], and everything before this position is on disk.
pub(super) const LEN_SYNCED: u32 = u32::MAX;

/// A manifest file's header.
#[derive(Clone, Copy)]
pub(super) struct FileHeader {
    /// Which copy the file is, for messages.
    path: &'static str,
    /// A random number that the checksum on every record header covers; `None` when the file header
    /// is unreadable.
    epoch: Option<u64>,
    pub(super) boot_id: [u8; 16],
    /// How many times the manifest has been rewritten; 0 in files from versions that kept only one
    /// copy.
    pub(super) generation: u32,
}

/// The result of reading one position in the file.
pub(super) enum EditRead {
    /// An edit, and the offset where it ends.
    Edit(Edit, usize),
    /// The written records end here.
    End,
    /// No valid record, with the reason.
    Nothing(&'static str),
}

impl FileHeader {
    /// Returns the header for a new file.
    pub(super) fn new(boot_id: [u8; 16], generation: u32) -> Self {
        let epoch = Some(uuid::Uuid::new_v4().as_u64_pair().1);
        Self { path: PATH, epoch, boot_id, generation }
    }

    /// Returns a stand-in for an unreadable header. Records are then recognized by the edit
    /// checksums.
    pub(super) fn unreadable(path: &'static str) -> Self {
        Self { path, epoch: None, boot_id: [0; 16], generation: 0 }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4096);
        bytes.put_slice(&MAGIC);
        bytes.put_u32_le(VERSION);
        bytes.put_u32_le(0);
        bytes.put_u64_le(self.epoch.unwrap_or_default());
        bytes.put_slice(&self.boot_id);
        bytes.put_u32_le(self.generation);
        bytes.put_u32_le(crc32c::crc32c(&bytes));
        bytes
    }

    /// Decodes the header of a whole file.
    ///
    /// # Errors
    /// `Corruption` for a damaged header; `Unsupported` for a file with another version.
    pub(super) fn decode(path: &'static str, bytes: &[u8]) -> Result<Self> {
        let Some(header) = bytes.first_chunk::<FILE_HEADER_LEN>() else {
            return Err(damaged(path, 0, "it is shorter than its header"));
        };
        if header[..8] != MAGIC {
            return Err(damaged(path, 0, "it does not begin as a manifest"));
        }
        let mut rest = &header[8..];
        let version = rest.get_u32_le();
        let _reserved = rest.get_u32_le();
        let epoch = rest.get_u64_le();
        let mut boot_id = [0; 16];
        rest.copy_to_slice(&mut boot_id);
        let generation = rest.get_u32_le();
        let crc = crc32c::crc32c(&header[..FILE_HEADER_LEN - 4]);
        if header[FILE_HEADER_LEN - 4..] != crc.to_le_bytes() {
            return Err(damaged(path, 0, "its header fails its checksum"));
        }
        if !(VERSION_OLDEST..=VERSION).contains(&version) {
            return Err(Error::unsupported(format!(
                "{path} is of another version: version={version}, known={VERSION}"
            )));
        }
        Ok(Self { path, epoch: Some(epoch), boot_id, generation })
    }

    /// Appends the record for `edit`, which will be at offset `at` in the file.
    pub(super) fn put_edit(&self, bytes: &mut Vec<u8>, at: u64, edit: &Edit) {
        self.put_payload(bytes, at, &edit.encode_to_vec());
    }

    /// Appends the record for an encoded edit. No edit is empty: length 0 would be an end mark.
    pub(super) fn put_payload(&self, bytes: &mut Vec<u8>, at: u64, payload: &[u8]) {
        self.put_record_header(bytes, at, payload.len() as u32, crc32c::crc32c(payload));
        bytes.put_slice(payload);
    }

    /// Appends an end mark; `len` is [`LEN_END`] or [`LEN_SYNCED`].
    pub(super) fn put_end(&self, bytes: &mut Vec<u8>, at: u64, len: u32) {
        self.put_record_header(bytes, at, len, 0);
    }

    fn put_record_header(&self, bytes: &mut Vec<u8>, at: u64, len: u32, crc: u32) {
        bytes.put_u32_le(len);
        bytes.put_u32_le(crc);
        bytes.put_u32_le(self.record_crc(at, len, crc));
    }

    /// Reads the record or end mark at offset `at` in the file.
    ///
    /// # Errors
    /// `Corruption` for a record whose checksums match but whose edit cannot be decoded;
    /// `Unsupported` for an unknown edit kind.
    pub(super) fn at(&self, whole: &Bytes, at: usize) -> Result<EditRead> {
        let (len, crc) = match self.record_at(whole, at) {
            None => return Ok(EditRead::Nothing("a record header fails its checksum")),
            Some((LEN_END | LEN_SYNCED, _)) => return Ok(EditRead::End),
            Some(header) => header,
        };
        let begin = at + RECORD_HEADER_LEN;
        let end = begin.saturating_add(len as usize);
        let Some(payload) = whole.get(begin..end) else {
            return Ok(EditRead::Nothing("it ends inside an edit"));
        };
        if crc32c::crc32c(payload) != crc {
            return Ok(EditRead::Nothing("an edit fails its checksum"));
        }
        Ok(EditRead::Edit(self.edit(whole.slice(begin..end), at)?, end))
    }

    /// Returns the length and checksum in the record header at `at`; `None` when it is invalid.
    pub(super) fn record_at(&self, whole: &[u8], at: usize) -> Option<(u32, u32)> {
        let mut header: &[u8] = whole.get(at..at + RECORD_HEADER_LEN)?;
        let len = header.get_u32_le();
        let crc = header.get_u32_le();
        let header_crc = header.get_u32_le();
        let is_right = match self.epoch {
            Some(_) => header_crc == self.record_crc(at as u64, len, crc),
            None if matches!(len, LEN_END | LEN_SYNCED) => crc == 0,
            None => {
                let begin = at + RECORD_HEADER_LEN;
                let payload = whole.get(begin..begin.saturating_add(len as usize));
                payload.is_some_and(|payload| crc32c::crc32c(payload) == crc)
            }
        };
        is_right.then_some((len, crc))
    }

    pub(super) fn damaged(&self, at: usize, what: &str) -> Error {
        damaged(self.path, at, what)
    }

    fn edit(&self, payload: Bytes, at: usize) -> Result<Edit> {
        let edit = Edit::decode(payload)
            .map_err(|error| self.damaged(at, "an edit cannot be decoded").with_source(error))?;
        if edit.kind.is_none() {
            return Err(Error::unsupported(format!(
                "{} holds an edit of a kind unknown to this version: offset={at}",
                self.path
            )));
        }
        Ok(edit)
    }

    /// Computes a record header's checksum. It also covers the record's offset and the file's
    /// epoch, so that a record that was moved or is left from an earlier file does not match.
    fn record_crc(&self, at: u64, len: u32, crc: u32) -> u32 {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.epoch.unwrap_or_default().to_le_bytes());
        bytes[8..16].copy_from_slice(&at.to_le_bytes());
        bytes[16..20].copy_from_slice(&len.to_le_bytes());
        bytes[20..].copy_from_slice(&crc.to_le_bytes());
        crc32c::crc32c(&bytes)
    }
}

fn damaged(path: &str, at: usize, what: &str) -> Error {
    Error::corruption(format!("{path} is damaged at offset {at}: {what}; nothing was changed"))
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use rowhouse_model::ErrorKind;

    use super::*;
    use crate::manifest::EditKind;

    /// Returns a file with one record that has this payload, and an end mark.
    fn file(payload: &[u8]) -> (FileHeader, Vec<u8>) {
        let header = FileHeader::new([7; 16], 1);
        let mut bytes = header.encode();
        header.put_payload(&mut bytes, FILE_HEADER_LEN as u64, payload);
        let end = bytes.len() as u64;
        header.put_end(&mut bytes, end, LEN_END);
        (header, bytes)
    }

    fn edit() -> Edit {
        Edit::new(EditKind::NamespaceDropped(Bytes::from_static(b"ns")))
    }

    #[test]
    fn a_header_and_an_edit_are_read_back() {
        let written = FileHeader::new([7; 16], 1);
        let mut bytes = written.encode();
        written.put_edit(&mut bytes, FILE_HEADER_LEN as u64, &edit());
        let end = bytes.len();
        written.put_end(&mut bytes, end as u64, LEN_SYNCED);
        let bytes = Bytes::from(bytes);
        let header = FileHeader::decode(PATH, &bytes).unwrap();
        assert_eq!((header.epoch, header.boot_id), (written.epoch, written.boot_id));
        let read = header.at(&bytes, FILE_HEADER_LEN).unwrap();
        assert!(matches!(read, EditRead::Edit(edited, at) if edited == edit() && at == end));
        assert!(matches!(header.at(&bytes, end), Ok(EditRead::End)));
    }

    #[test]
    fn a_flipped_bit_or_a_cut_leaves_no_record() {
        let (header, whole) = file(&edit().encode_to_vec());
        for at in FILE_HEADER_LEN..whole.len() - RECORD_HEADER_LEN {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            for broken in [flipped, whole[..at].to_vec()] {
                let read = header.at(&broken.into(), FILE_HEADER_LEN);
                assert!(matches!(read, Ok(EditRead::Nothing(_))), "at={at}");
            }
        }
    }

    #[test]
    fn an_edit_of_another_version_is_distinguished_from_a_damaged_one() {
        let error = |payload: &[u8]| {
            let (header, bytes) = file(payload);
            header.at(&bytes.into(), FILE_HEADER_LEN).err().expect("it is no edit")
        };
        // Field 100 in an edit, and a field whose bytes are missing.
        assert_eq!(error(&[0xA2, 0x06, 0x00]).kind(), ErrorKind::Unsupported);
        let damaged = error(&[0x1A, 0x05, 0x00]);
        assert_eq!(damaged.kind(), ErrorKind::Corruption);
        assert!(damaged.source().is_some(), "it says what is wrong with the message");
    }
}
