//! Manifest edits. The shortest edit list that leads to the same state as others leads to a state
//! with the same list.
//!
//! Input: edits, each with the length as protobuf writes lengths.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rowhouse_store::fuzzing::rewrite_manifest;

fuzz_target!(|edits: &[u8]| {
    if let Ok(rewritten) = rewrite_manifest(edits) {
        let again = rewrite_manifest(&rewritten).expect("the edits lead to a valid state");
        assert_eq!(again, rewritten);
    }
});
