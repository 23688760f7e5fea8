//! The file info block: a file's name-value metadata.

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, Result, escape};

use super::varint::{read_varint, write_varint};

/// The prefix that HBase writes before protobuf where the bytes could also be another format.
pub(super) const PROTOBUF_MAGIC: &[u8; 4] = b"PBUF";
/// Prefix for the names reserved for the writer.
const RESERVED: &[u8] = b"hfile.";

/// The names that this crate reads and writes: HBase's, and rowhouse's own one, which HBase
/// ignores.
pub(super) mod name {
    pub(crate) const LAST_KEY: &str = "hfile.LASTKEY";
    pub(crate) const AVG_KEY_LEN: &str = "hfile.AVG_KEY_LEN";
    pub(crate) const AVG_VALUE_LEN: &str = "hfile.AVG_VALUE_LEN";
    pub(crate) const CREATE_TIME_TS: &str = "hfile.CREATE_TIME_TS";
    pub(crate) const KEY_OF_BIGGEST_CELL: &str = "hfile.KEY_OF_BIGGEST_CELL";
    pub(crate) const LEN_OF_BIGGEST_CELL: &str = "hfile.LEN_OF_BIGGEST_CELL";
    pub(crate) const MAX_TAGS_LEN: &str = "hfile.MAX_TAGS_LEN";
    pub(crate) const TAGS_COMPRESSED: &str = "hfile.TAGS_COMPRESSED";
    /// Has the reserved prefix, so HBase does not copy it into a file with other cells.
    pub(crate) const MARKER_RUNS: &str = "hfile.ROWHOUSE_MARKER_RUNS";
    pub(crate) const KEY_VALUE_VERSION: &str = "KEY_VALUE_VERSION";
    pub(crate) const MAX_MEMSTORE_TS: &str = "MAX_MEMSTORE_TS_KEY";
    pub(crate) const DATA_BLOCK_ENCODING: &str = "DATA_BLOCK_ENCODING";
    pub(crate) const INDEX_BLOCK_ENCODING: &str = "INDEX_BLOCK_ENCODING";
    pub(crate) const MAX_SEQ_ID: &str = "MAX_SEQ_ID_KEY";
    pub(crate) const MAJOR_COMPACTION: &str = "MAJOR_COMPACTION_KEY";
    pub(crate) const COMPACTION_EVENT: &str = "COMPACTION_EVENT_KEY";
    pub(crate) const EXCLUDE_FROM_MINOR_COMPACTION: &str = "EXCLUDE_FROM_MINOR_COMPACTION";
    pub(crate) const TIME_RANGE: &str = "TIMERANGE";
    pub(crate) const EARLIEST_PUT_TS: &str = "EARLIEST_PUT_TS";
    pub(crate) const DELETE_FAMILY_COUNT: &str = "DELETE_FAMILY_COUNT";
    pub(crate) const BLOOM_FILTER_TYPE: &str = "BLOOM_FILTER_TYPE";
    pub(crate) const BLOOM_FILTER_PARAM: &str = "BLOOM_FILTER_PARAM";
    pub(crate) const LAST_BLOOM_KEY: &str = "LAST_BLOOM_KEY";
    pub(crate) const HISTORICAL: &str = "HISTORICAL";
}

/// A file's metadata: name-value pairs, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileInfo {
    entries: BTreeMap<Bytes, Bytes>,
}

/// `FileInfoProto` in HFile.proto.
#[derive(Clone, PartialEq, Message)]
struct FileInfoMessage {
    #[prost(message, repeated, tag = "1")]
    map_entry: Vec<PairMessage>,
}

/// `BytesBytesPair` in HBase.proto.
#[derive(Clone, PartialEq, Message)]
struct PairMessage {
    #[prost(bytes = "bytes", required, tag = "1")]
    first: Bytes,
    #[prost(bytes = "bytes", required, tag = "2")]
    second: Bytes,
}

impl FileInfo {
    /// Parses a file info block's payload.
    pub(super) fn parse(payload: &Bytes) -> Result<Self> {
        let malformed = |what: &str| {
            Error::corruption(format!("malformed hfile file info: {what}, len={}", payload.len()))
        };
        let body = payload
            .strip_prefix(PROTOBUF_MAGIC)
            .ok_or_else(|| malformed("no protobuf (written before HBase 0.96)"))?;
        let (len, start) = read_varint(body).ok_or_else(|| malformed("no message length"))?;
        if len != (body.len() - start) as u64 {
            return Err(malformed(&format!("message={len}")));
        }
        let message = payload.slice(PROTOBUF_MAGIC.len() + start..);
        let message = FileInfoMessage::decode(message)
            .map_err(|error| malformed("not a message").with_source(error))?;
        let entries = message.map_entry.into_iter().map(|pair| (pair.first, pair.second));
        Ok(Self { entries: entries.collect() })
    }

    /// Appends a file info block's payload to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let pairs = self.entries.iter();
        let message = FileInfoMessage {
            map_entry: pairs
                .map(|(first, second)| PairMessage { first: first.clone(), second: second.clone() })
                .collect(),
        };
        out.extend_from_slice(PROTOBUF_MAGIC);
        write_varint(out, message.encoded_len() as u64);
        out.extend_from_slice(&message.encode_to_vec());
    }

    /// Returns the value under `name`.
    pub fn get(&self, name: &str) -> Option<&Bytes> {
        self.entries.get(name.as_bytes())
    }

    /// Iterates over the names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        self.entries.iter()
    }

    /// Returns the value under `name`, decoded as a big-endian 8-byte number.
    ///
    /// # Errors
    /// `Corruption` if the value has another length.
    pub fn long(&self, name: &str) -> Result<Option<i64>> {
        self.fixed(name).map(|value| value.map(i64::from_be_bytes))
    }

    /// Returns the value under `name`, decoded as a big-endian 4-byte number.
    pub(super) fn int(&self, name: &str) -> Result<Option<i32>> {
        self.fixed(name).map(|value| value.map(i32::from_be_bytes))
    }

    /// Returns the value under `name` as a boolean; false if absent.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        self.fixed::<1>(name).map(|value| value.is_some_and(|[byte]| byte != 0))
    }

    /// Returns the value under `name`, which must have `N` bytes.
    pub(super) fn fixed<const N: usize>(&self, name: &str) -> Result<Option<[u8; N]>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let value = value[..].try_into().map_err(|_| {
            Error::corruption(format!(
                "malformed hfile file info: {name} has {} bytes, want={N}",
                value.len()
            ))
        })?;
        Ok(Some(value))
    }

    /// Returns the value under `name` as escaped text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| escape(value))
    }

    /// Sets a value.
    pub(super) fn set(&mut self, name: &'static str, value: impl AsRef<[u8]>) {
        self.entries.insert(Bytes::from_static(name.as_bytes()), copy(value.as_ref()));
    }

    /// Sets a boolean, encoded as HBase's `Bytes.toBytes(boolean)` does.
    pub(super) fn set_flag(&mut self, name: &'static str, value: bool) {
        self.set(name, [if value { 0xFF } else { 0 }]);
    }

    /// Sets a value under a name that the caller supplies.
    ///
    /// # Errors
    /// `InvalidRequest` if the name is reserved, as in HBase.
    pub(super) fn set_free(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        if name.starts_with(RESERVED) {
            return Err(Error::invalid(format!(
                "hfile info name is reserved: name={}",
                escape(name)
            )));
        }
        self.entries.insert(copy(name), copy(value));
        Ok(())
    }
}

fn copy(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}
