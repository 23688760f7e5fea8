//! Workloads: they print as they are parsed, and make their rows and ask their questions without a
//! panic.
//!
//! Input: the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rowhouse_schema::Workload;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    // Values of many megabytes take as long as they are.
    if text.contains("MB") {
        return;
    }
    let Ok(workload) = Workload::parse(text) else { return };
    let printed = workload.to_string();
    let again = Workload::parse(&printed).expect("a printed workload is valid");
    assert_eq!(again.to_string(), printed);
    for number in [0, 1, workload.rows() - 1] {
        assert_eq!(workload.record(number).ok(), again.record(number).ok(), "{printed}");
    }
    for question in workload.questions() {
        let _ = workload.ask_predicate(question, 0);
    }
});
