//! Edits of the manifest. The shortest list of edits that leads to the state of others leads to a
//! state with the same list.
//!
//! Input: edits, each with its length as protobuf writes lengths.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rowhouse_store::fuzzing::rewrite_manifest;

fuzz_target!(|edits: &[u8]| {
    if let Ok(rewritten) = rewrite_manifest(edits) {
        let again = rewrite_manifest(&rewritten).expect("the edits lead to a valid state");
        assert_eq!(again, rewritten);
    }
});
