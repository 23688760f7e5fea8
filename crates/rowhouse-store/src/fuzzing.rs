//! Parsers for the log and the manifest, for the fuzz targets in `fuzz/` (feature `fuzzing`).
//!
//! Both parsers are private. A fuzzer also cannot get past the record checksums, so it could not
//! reach them through files: these functions take the bytes below the checksums. The tests on the
//! simulated disk damage whole files.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, Result};

use crate::manifest::{Edit, ManifestState};
use crate::wal;

/// Decodes a log record's body and encodes the record again.
///
/// # Errors
/// `Corruption` for a malformed body; `Unsupported` for an unknown record kind.
pub fn reencode_log_record(body: &[u8]) -> Result<Vec<u8>> {
    wal::reencode(Bytes::copy_from_slice(body))
}

/// Applies manifest edits to an empty state, and returns the shortest edit list that leads to the
/// same state. Each edit has its length before it, as protobuf writes lengths.
///
/// # Errors
/// `Corruption` for a malformed edit or one that contradicts the state.
pub fn rewrite_manifest(edits: &[u8]) -> Result<Vec<u8>> {
    let mut rest = Bytes::copy_from_slice(edits);
    let mut state = ManifestState::default();
    while !rest.is_empty() {
        let edit = Edit::decode_length_delimited(&mut rest)
            .map_err(|error| Error::corruption("malformed edit").with_source(error))?;
        let _ = state.files_gone(&edit);
        state.apply(&edit)?;
    }
    let rewritten = state.to_edits();
    Ok(rewritten.iter().flat_map(Message::encode_length_delimited_to_vec).collect())
}
