use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const BOTH: &[Analyser] = &[Analyser::English, Analyser::Chinese];

/// Prints a part of a text with the matches in brackets.
fn marked(text: &str, bytes: Range<usize>, matches: &[Range<usize>]) -> String {
    let mut printed = String::new();
    let mut at = bytes.start;
    for hit in matches {
        printed += &format!("{}[{}]", &text[at..hit.start], &text[hit.clone()]);
        at = hit.end;
    }
    printed + &text[at..bytes.end]
}

fn highlighter(words: &str) -> Highlighter {
    Highlighter::new(&Words::parse(words).unwrap(), BOTH).unwrap()
}

fn check(words: &str, text: &str, expected: Expect) {
    let matches = highlighter(words).matches(text);
    expected.assert_eq(&marked(text, 0..text.len(), &matches));
}

fn check_snippet(words: &str, text: &str, chars: usize, expected: Expect) {
    let Snippet { bytes, matches } = highlighter(words).snippet(text, chars);
    expected.assert_eq(&marked(text, bytes, &matches));
}

#[test]
fn words_are_marked_in_each_form() {
    check(
        "design",
        "Designs of a designer, designing.",
        expect!["[Designs] of a [designer], [designing]."],
    );
    check("desi* kye~1", "a key designer", expect!["a [key] [designer]"]);
    check(
        "\"key of the row\" row",
        "The keys of a row; a row.",
        expect!["The [keys of a row]; a [row]."],
    );
    check("row NOT key", "row key", expect!["[row] key"]);
    check("研究生命", "研究生命起源, 研究, 生命", expect!["[研究生命]起源, 研究, 生命"]);
    check("中国", "中国中国、中\u{fe00}国", expect!["[中国中国]、[中︀国]"]);
    check("人民人", "人民人民人民", expect!["[人民人民人]民"]);
    check("nothing", "else", expect!["else"]);
}

#[test]
fn snippets_are_cut_between_words() {
    let text = "A wide row has many cells. The key of a row decides where the row lies.";
    check_snippet("row key", text, 24, expect!["The [key] of a [row]"]);
    check_snippet("lies", text, 24, expect!["where the row [lies]."]);
    check_snippet("wide", text, 24, expect!["A [wide] row has many"]);
    check_snippet("absent", text, 24, expect!["A wide row has many"]);
    check_snippet("decides", text, 3, expect!["[dec]"]);
    check_snippet(
        "row",
        text,
        1000,
        expect!["A wide [row] has many cells. The key of a [row] decides where the [row] lies."],
    );
    check_snippet("设计", "宽表的行键设计决定数据的位置和热点", 8, expect!["的行键[设计]决定数"]);
    check_snippet("absent", "antidisestablishmentarianism", 5, expect!["antid"]);
    check_snippet("absent", "", 5, expect![[r#""#]]);
}

#[test]
fn many_matches_are_limited() {
    let text = "row ".repeat(MATCHES_MAX + 5);
    assert_eq!(highlighter("row").matches(&text).len(), MATCHES_MAX);
}

proptest! {
    #[test]
    fn snippets_are_short_and_show_a_match(
        text in "[a-c 中国\u{301}\u{fe00}，😀]{0,60}",
        words in prop::sample::select(vec!["a", "ab", "中", "中国", "\"a b\"", "a*", "ab~1"]),
        chars in 0usize..20,
    ) {
        let highlighter = highlighter(words);
        let snippet = highlighter.snippet(&text, chars);
        prop_assert!(text[snippet.bytes.clone()].chars().count() <= chars);
        for hit in &snippet.matches {
            prop_assert!(!text[hit.clone()].is_empty());
            prop_assert!(snippet.bytes.start <= hit.start && hit.end <= snippet.bytes.end);
        }
        let has_match = !highlighter.matches(&text).is_empty();
        prop_assert_eq!(has_match && chars > 0, !snippet.matches.is_empty());
    }
}
