//! The filter language. A filter is parsed as it was printed; a filter from a message is decoded as
//! it was encoded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rowhouse_format::convert;
use rowhouse_model::Filter;

fuzz_target!(|text: &[u8]| {
    let Ok(filter) = Filter::parse(text) else { return };
    let printed = filter.to_string();
    // Bytes that are not UTF-8 have a special form, which is not part of the language.
    if std::str::from_utf8(text).is_ok() {
        let again = Filter::parse(&printed).expect("a printed filter is valid");
        assert_eq!(again, filter, "{printed}");
    }
    // A message has the lowercase texts that HBase's comparators keep.
    let sent = through_message(&filter);
    assert_eq!(through_message(&sent), sent, "{printed}");
});

fn through_message(filter: &Filter) -> Filter {
    convert::filter::from_proto(convert::filter::to_proto(filter)).expect("the message is valid")
}
