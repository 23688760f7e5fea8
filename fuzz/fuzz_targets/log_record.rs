//! Write-ahead log record bodies. A record that was read encodes to the same body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rowhouse_store::fuzzing::reencode_log_record;

fuzz_target!(|body: &[u8]| {
    if let Ok(again) = reencode_log_record(body) {
        assert_eq!(again, body);
    }
});
