//! Regions: descriptions, references in requests, and locations.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    CompactionState, Error, META_ENCODED_NAME, RegionInfo, Result, RowRange, ServerName, escape,
};

use super::names;
use crate::proto;
use crate::rpc::decode_message;

/// The prefix for protobuf messages in znodes and in `hbase:meta`.
pub const PBUF: &[u8; 4] = b"PBUF";

/// Decodes a region's compaction state.
pub fn compaction_state_from_proto(
    state: proto::get_region_info_response::CompactionState,
) -> CompactionState {
    use proto::get_region_info_response::CompactionState as State;
    match state {
        State::None => CompactionState::None,
        State::Minor => CompactionState::Minor,
        State::Major => CompactionState::Major,
        State::MajorAndMinor => CompactionState::MajorAndMinor,
    }
}

/// Encodes a region's compaction state.
pub fn compaction_state_to_proto(
    state: CompactionState,
) -> proto::get_region_info_response::CompactionState {
    use proto::get_region_info_response::CompactionState as State;
    match state {
        CompactionState::None => State::None,
        CompactionState::Minor => State::Minor,
        CompactionState::Major => State::Major,
        CompactionState::MajorAndMinor => State::MajorAndMinor,
    }
}

/// A reference to a region in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegionRef {
    /// The full name: `table,start,id.md5.`
    Full(Bytes),
    /// The encoded name: 32 hex digits.
    Encoded(Bytes),
}

impl RegionRef {
    /// Creates a reference by encoded name.
    pub fn encoded(name: &str) -> Self {
        Self::Encoded(Bytes::copy_from_slice(name.as_bytes()))
    }

    /// Returns the encoded name, which ends the full name.
    ///
    /// # Errors
    /// `InvalidRequest` if the reference is not a region name.
    pub fn encoded_name(&self) -> Result<&str> {
        let name: &[u8] = match self {
            Self::Encoded(name) => name,
            Self::Full(name) => encoded_part(name)
                .ok_or_else(|| Error::invalid(format!("not a region name: {}", escape(name))))?,
        };
        std::str::from_utf8(name)
            .map_err(|_| Error::invalid(format!("not an encoded region name: {}", escape(name))))
    }

    /// Decodes a region specifier.
    pub fn from_proto(region: proto::RegionSpecifier) -> Self {
        use proto::region_specifier::RegionSpecifierType;
        match region.r#type() {
            RegionSpecifierType::RegionName => Self::Full(region.value),
            RegionSpecifierType::EncodedRegionName => Self::Encoded(region.value),
        }
    }

    /// Encodes a region specifier.
    pub fn to_proto(&self) -> proto::RegionSpecifier {
        use proto::region_specifier::RegionSpecifierType;
        let (kind, value) = match self {
            Self::Full(name) => (RegionSpecifierType::RegionName, name.clone()),
            Self::Encoded(name) => (RegionSpecifierType::EncodedRegionName, name.clone()),
        };
        proto::RegionSpecifier { r#type: kind.into(), value }
    }
}

impl std::fmt::Display for RegionRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Full(name) | Self::Encoded(name)) = self;
        f.write_str(&escape(name))
    }
}

fn encoded_part(name: &[u8]) -> Option<&[u8]> {
    match name.strip_suffix(b".") {
        Some(rest) => {
            let dot = rest.iter().rposition(|&byte| byte == b'.')?;
            Some(&rest[dot + 1..])
        }
        // The name for meta's only region predates hashes in names.
        None => name.starts_with(b"hbase:meta,,").then_some(META_ENCODED_NAME.as_bytes()),
    }
}

/// Encodes a region with all fields set, as Apache does.
pub fn to_proto(region: &RegionInfo) -> proto::RegionInfo {
    proto::RegionInfo {
        region_id: region.id,
        table_name: names::table_to_proto(&region.table),
        start_key: Some(region.range.start.clone()),
        end_key: Some(region.range.stop.clone()),
        offline: Some(region.offline),
        split: Some(region.split),
        replica_id: Some(0),
    }
}

/// Decodes a region.
///
/// # Errors
/// `InvalidRequest` for an invalid table name, `Unsupported` for a replica.
pub fn from_proto(region: proto::RegionInfo) -> Result<RegionInfo> {
    if region.replica_id() != 0 {
        return Err(Error::unsupported(format!(
            "region replicas are not supported: replica={}",
            region.replica_id()
        )));
    }
    let offline = region.offline();
    let split = region.split();
    let range = RowRange {
        start: region.start_key.unwrap_or_default(),
        stop: region.end_key.unwrap_or_default(),
    };
    let mut read =
        RegionInfo::new(names::table_from_proto(region.table_name)?, range, region.region_id);
    read.offline = offline;
    read.split = split;
    Ok(read)
}

/// Encodes a region in the `info:regioninfo` format, with the prefix [`PBUF`].
pub fn to_pbuf(region: &RegionInfo) -> Bytes {
    with_pbuf(&to_proto(region))
}

/// Decodes a region with or without the prefix [`PBUF`].
///
/// # Errors
/// As [`from_proto`]; `Protocol` if the bytes are not a region.
pub fn from_pbuf(bytes: &Bytes) -> Result<RegionInfo> {
    let message = bytes.strip_prefix(PBUF).map_or(bytes.clone(), |rest| bytes.slice_ref(rest));
    from_proto(decode_message(message)?)
}

/// Encodes a message with the prefix [`PBUF`].
pub fn with_pbuf(message: &impl Message) -> Bytes {
    let mut bytes = Vec::with_capacity(PBUF.len() + message.encoded_len());
    bytes.extend_from_slice(PBUF);
    message.encode_raw(&mut bytes);
    bytes.into()
}

/// Encodes a region's location. If the sequence number at which it opened is unknown, it becomes
/// −1.
pub fn location_to_proto(
    region: &RegionInfo,
    server: Option<&ServerName>,
    open_sequence: Option<u64>,
) -> proto::RegionLocation {
    proto::RegionLocation {
        region_info: to_proto(region),
        server_name: server.map(names::server_to_proto),
        seq_num: open_sequence.map_or(-1, |sequence| sequence as i64),
    }
}

/// Decodes a region's location.
///
/// # Errors
/// As [`from_proto`]; also for an invalid port.
pub fn location_from_proto(
    location: proto::RegionLocation,
) -> Result<(RegionInfo, Option<ServerName>)> {
    let server = location.server_name.map(names::server_from_proto).transpose()?;
    Ok((from_proto(location.region_info)?, server))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rowhouse_model::TableName;

    use super::*;

    #[test]
    fn meta_is_written_as_apache_writes_it() {
        let bytes = to_proto(&RegionInfo::meta()).encode_to_vec();
        let expected =
            [&b"\x08\x01\x12\x0d\x0a\x05hbase\x12\x04meta"[..], b"\x1a\0\x22\0\x28\0\x30\0\x38\0"];
        assert_eq!(bytes, expected.concat());
    }

    #[test]
    fn encoded_names_are_read_from_full_ones() {
        let range = RowRange::new("a.b,c.", "");
        let region = RegionInfo::new(TableName::parse("t").unwrap(), range, 7);
        for region in [region, RegionInfo::meta()] {
            let name = region.name();
            assert_eq!(RegionRef::Full(name.full).encoded_name().unwrap(), name.encoded);
            assert_eq!(RegionRef::encoded(&name.encoded).encoded_name().unwrap(), name.encoded);
        }
        for bad in ["", ".", "t,,1", "a."] {
            assert!(RegionRef::Full(bad.into()).encoded_name().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn regions_come_back(
            start: Vec<u8>, stop: Vec<u8>, id: u64, offline: bool, split: bool,
        ) {
            let range = RowRange::new(start, stop);
            let mut region = RegionInfo::new(TableName::parse("ns:t").unwrap(), range, id);
            region.offline = offline;
            region.split = split;
            prop_assert_eq!(from_pbuf(&to_pbuf(&region)).unwrap(), region);
        }

        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>) {
            let bytes = Bytes::from(bytes);
            let _ = from_pbuf(&bytes);
            let _ = RegionRef::Full(bytes).encoded_name();
        }
    }
}
