//! Paths, headers and bodies of REST requests. Rows never take more memory than was reserved.
//!
//! Input: the media type and the encoding of keys (1 byte), and the text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&number, input)) = input.split_first() else { return };
    rowhouse_server::fuzzing::rest_request(number, input);
});
