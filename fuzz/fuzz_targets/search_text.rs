//! Search texts. They print as they are parsed, and mark their words in any text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rowhouse_search::{Analyse, Analyser, Highlighter, Words, text_of};

fuzz_target!(|input: &[u8]| {
    let text = text_of(input);
    for analyser in Analyser::ALL {
        analyser.each_token(&text, |token| {
            assert!(!text[token.offset_from..token.offset_to].is_empty());
        });
    }
    let Ok(words) = Words::parse(&text) else { return };
    let printed = words.to_string();
    assert_eq!(Words::parse(&printed).expect("a printed search text is valid"), words);
    for analyser in Analyser::ALL {
        let Ok(highlighter) = Highlighter::new(&words, &[analyser]) else { continue };
        let snippet = highlighter.snippet(&text, 20);
        assert!(text[snippet.bytes].chars().count() <= 20);
    }
});
