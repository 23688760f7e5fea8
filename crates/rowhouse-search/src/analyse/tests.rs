use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::dictionary::{Word, cover, find_words};
use super::*;

/// Prints each term as `position:term`, and the text bytes in brackets if they differ.
fn terms(analyser: Analyser, text: &str) -> String {
    let mut printed = Vec::new();
    analyser.each_token(text, |token| {
        let source = &text[token.offset_from..token.offset_to];
        let term = format!("{}:{}", token.position, token.text);
        printed.push(if source == token.text { term } else { format!("{term}[{source}]") });
    });
    printed.join(" ")
}

fn check(analyser: Analyser, text: &str, expected: Expect) {
    expected.assert_eq(&terms(analyser, text));
}

#[test]
fn keyword_is_the_whole_text() {
    check(Analyser::Keyword, "Alice Smith <a@b.c>", expect!["0:Alice Smith <a@b.c>"]);
    check(Analyser::Keyword, "", expect![""]);
}

#[test]
fn simple_is_runs_of_letters_and_digits_in_lower_case() {
    check(Analyser::Simple, "Row-Keys, 2nd ed.", expect!["0:row[Row] 1:keys[Keys] 2:2nd 3:ed"]);
    check(Analyser::Simple, "中国abc, 行键", expect!["0:中国abc 1:行键"]);
    check(Analyser::Simple, "don't C++ a_b", expect!["0:don 1:t 2:c[C] 3:a 4:b"]);
    check(Analyser::Simple, " .,;\n", expect![""]);
}

#[test]
fn case_and_width_are_folded_and_marks_are_retained() {
    check(Analyser::Simple, "ÉCOLE ΣΊΣΥΦΟΣ", expect!["0:école[ÉCOLE] 1:σίσυφοσ[ΣΊΣΥΦΟΣ]"]);
    check(Analyser::Simple, "ＨＢａｓｅ２", expect!["0:hbase2[ＨＢａｓｅ２]"]);
    check(Analyser::Simple, "e\u{301}te\u{301} x", expect!["0:été 1:x"]);
    check(Analyser::Simple, "हिन्दी में", expect!["0:हिन्दी 1:में"]);
}

#[test]
fn invisible_characters_do_not_end_words() {
    check(Analyser::Simple, "data\u{ad}base\u{200b}x", expect!["0:database[data\u{ad}base] 1:x"]);
    check(Analyser::Chinese, "葛\u{e0100}城", expect!["0:葛 1:城"]);
    check(Analyser::Chinese, "中\u{fe00}国", expect!["0:中 0:中国[中\u{fe00}国] 1:国"]);
}

#[test]
fn english_leaves_places_of_stop_words_and_stems_the_others() {
    check(
        Analyser::English,
        "The designs of row keys were computed",
        expect!["1:design[designs] 3:row 4:key[keys] 5:were 6:comput[computed]"],
    );
}

#[test]
fn chinese_has_every_character_and_every_dictionary_word() {
    check(
        Analyser::Chinese,
        "研究生命起源",
        expect!["0:研 0:研究 0:研究生 1:究 2:生 2:生命 3:命 4:起 4:起源 5:源"],
    );
    check(
        Analyser::Chinese,
        "HBase的RowKey行键设计 v2。",
        expect!["0:hbase[HBase] 1:的 2:rowkey[RowKey] 3:行 4:键 5:设 5:设计 6:计 7:v2"],
    );
    check(Analyser::Chinese, "𠮷野家々", expect!["0:𠮷 1:野 2:家 3:々"]);
}

#[test]
fn chinese_leaves_a_place_between_runs_of_chinese() {
    check(Analyser::Chinese, "中。国", expect!["0:中 2:国"]);
    check(Analyser::Chinese, "中x国", expect!["0:中 1:x 2:国"]);
}

#[test]
fn few_parts_cover_a_run() {
    let covered = |run: &str| {
        let mut words = Vec::new();
        find_words(run, &mut words);
        let chars: Vec<char> = run.chars().collect();
        let parts = cover(chars.len(), &words);
        let part = |part: Word| chars[part.start..part.end].iter().collect::<String>();
        parts.into_iter().map(part).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(covered("中华人民共和国"), "中华人民共和国");
    assert_eq!(covered("研究生命起源"), "研究生 生命 起源");
    assert_eq!(covered("鑫垚"), "鑫 垚");
    assert_eq!(covered("行键"), "行 键");
}

#[test]
fn words_above_the_limit_keep_their_place_and_are_counted() {
    let long = "Ⱥ".repeat(TERM_BYTES_MAX / 3);
    for (repeats, is_long) in [(0, false), (1, true)] {
        // Each letter is three bytes in lower case, and two in the text.
        let text = format!("a {long}{} b", "é".repeat(repeats));
        for analyser in [Analyser::Simple, Analyser::English, Analyser::Chinese] {
            assert_eq!(analyser.words_too_long(&text), u64::from(is_long), "{analyser}");
            let mut positions = Vec::new();
            analyser.each_token(&text, |token| positions.push(token.position));
            let expected = [0, 1, 2].into_iter().filter(|&at| at != 1 || !is_long);
            let expected = expected.filter(|&at| at != 0 || analyser != Analyser::English);
            assert_eq!(positions, expected.collect::<Vec<_>>(), "{analyser}");
        }
    }
    let keyword = "a".repeat(TERM_BYTES_MAX + 1);
    assert_eq!(Analyser::Keyword.words_too_long(&keyword), 1);
    assert_eq!(terms(Analyser::Keyword, &keyword), "");
    assert_eq!(Analyser::Keyword.words_too_long(&keyword[1..]), 0);
    assert_eq!(terms(Analyser::Keyword, &keyword[1..]).len(), TERM_BYTES_MAX + 2);
}

#[test]
fn bytes_that_are_not_utf_8_separate_words() {
    assert_eq!(terms(Analyser::Simple, &text_of(b"one\xff\xfetwo")), "0:one 1:two");
    assert_eq!(terms(Analyser::Chinese, &text_of("中\u{0}国".as_bytes())), "0:中 2:国");
}

/// All terms in a Chinese run, from one look at the whole run.
fn terms_of_run(run: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    find_words(run, &mut words);
    let chars: Vec<char> = run.chars().collect();
    let singles = (0..chars.len()).map(|start| Word { start, end: start + 1 });
    let mut parts: Vec<Word> = singles.chain(words).collect();
    parts.sort_by_key(|part| (part.start, part.end));
    parts
        .into_iter()
        .map(|part| (part.start, chars[part.start..part.end].iter().collect()))
        .collect()
}

#[test]
fn a_long_run_is_analysed_in_windows_as_in_one_piece() {
    // The period has no common divisor with the window, so that all words lie across the window
    // border.
    let run: String = "中华人民共和国研究生命起源的数据库设计".chars().cycle().take(7001).collect();
    let mut tokens = Vec::new();
    Analyser::Chinese.each_token(&run, |token| tokens.push((token.position, token.text.clone())));
    assert_eq!(tokens, terms_of_run(&run));
}

#[test]
fn positions_of_dictionary_words_are_right_where_others_begin_with_them() {
    let mut words = Vec::new();
    find_words("人民人民", &mut words);
    let starts: Vec<_> = words.iter().map(|word| (word.start, word.end)).collect();
    assert_eq!(starts, [(0, 2), (2, 4)]);
}

proptest! {
    #[test]
    fn terms_come_in_order_and_name_parts_of_the_text(text in any::<String>()) {
        for analyser in Analyser::ALL {
            let mut last = 0;
            analyser.each_token(&text, |token| {
                assert!(token.position >= last);
                last = token.position;
                assert!(!text[token.offset_from..token.offset_to].is_empty());
                assert!(!token.text.is_empty());
            });
        }
    }

    #[test]
    fn lower_case_has_at_most_one_and_a_half_times_the_bytes(c in any::<char>()) {
        let lower: usize = c.to_lowercase().map(char::len_utf8).sum();
        prop_assert!(2 * lower <= 3 * c.len_utf8());
    }

    #[test]
    fn arbitrary_bytes_are_analysed(value in any::<Vec<u8>>()) {
        for analyser in Analyser::ALL {
            analyser.each_token(&text_of(&value), |_| ());
        }
    }
}
