//! The language: what it means, prints and refuses.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::words::{DEPTH_MAX, TEXT_BYTES_MAX, WORDS_MAX, Words};

fn check(text: &str, expected: Expect) {
    let printed = match Words::parse(text) {
        Ok(words) => words.to_string(),
        Err(error) => error.message().to_owned(),
    };
    expected.assert_eq(&printed);
}

#[test]
fn words_side_by_side_must_all_be_there() {
    check("one two", expect!["one two"]);
    check("one AND two", expect!["one two"]);
    check("one OR two three OR four", expect!["one OR (two three) OR four"]);
    check("(one OR two) AND NOT three", expect!["(one OR two) NOT three"]);
    check("NOT one two NOT (three OR four)", expect!["NOT one two NOT (three OR four)"]);
    check("((one) (two (three OR (four OR five))))", expect!["one two (three OR four OR five)"]);
    check("行键\u{3000}设计", expect!["行键 设计"]);
    check("and or not", expect!["and or not"]);
}

#[test]
fn words_have_forms() {
    check("row* desgin~1 x~2", expect!["row* desgin~1 x~2"]);
    check(r#""row key"(one)"#, expect![[r#""row key" one"#]]);
    check(r#""say \"no\"" c:\\tmp"#, expect![[r#""say \"no\"" c:\\tmp"#]]);
    check(r"\AND \(a\) \-5 a\ b \+x*", expect![[r"\AND \(a\) \-5 a\ b \+x*"]]);
    check("c++ a-b http://x.org/?q=1 - what?", expect!["c++ a-b http://x.org/?q=1 - what?"]);
}

#[test]
fn mistakes_are_reported_with_their_place() {
    check(
        "",
        expect!["a word is missing; an empty value is found by = '' without `matches`: offset=0"],
    );
    check(
        "one AND",
        expect![[r#"
        a word is missing: offset=7
          one AND
                 ^"#]],
    );
    check(
        "one AND OR two",
        expect![[r#"
        a word is missing before `OR`: offset=8
          one AND OR two
                  ^"#]],
    );
    check(
        "one (two",
        expect![[r#"
        `(` without a `)` after it: offset=4
          one (two
              ^"#]],
    );
    check(
        "one) two",
        expect![[r#"
        `)` without a `(` before it: offset=3
          one) two
             ^"#]],
    );
    check(
        "one ()",
        expect![[r#"
        a word is missing before `)`: offset=5
          one ()
               ^"#]],
    );
    check(
        "行键 \"设计",
        expect![[r#"
            `"` without a second one after it: offset=3
              行键 "设计
              　　 ^"#]],
    );
    check(
        "one \"\"",
        expect![[r#"
        a phrase is empty; an empty value is found by = '' without `matches`: offset=4
          one ""
              ^"#]],
    );
    check(
        "one\\",
        expect![[r#"
        `\` needs a character after it; write \\ for a backslash: offset=3
          one\
             ^"#]],
    );
}

#[test]
fn conditions_of_absence_alone_are_refused() {
    check(
        "NOT spam",
        expect![[r#"
        `NOT` needs a word beside it that the text must have: offset=0
          NOT spam
          ^"#]],
    );
    check(
        "one OR NOT spam",
        expect![[r#"
        `NOT` needs a word beside it that the text must have: offset=7
          one OR NOT spam
                 ^"#]],
    );
    check(
        "one (NOT spam)",
        expect![[r#"
        `NOT` needs a word beside it that the text must have: offset=5
          one (NOT spam)
               ^"#]],
    );
    check(
        "one NOT NOT spam",
        expect![[r#"
        `NOT` after `NOT`: offset=8
          one NOT NOT spam
                  ^"#]],
    );
}

#[test]
fn forms_of_lucene_that_are_missing_are_refused() {
    check(
        "one -spam",
        expect![[r#"
        `-spam` is not supported; write NOT for a word that must not be there, or put the word in quotes: offset=4
          one -spam
              ^"#]],
    );
    check(
        "+one",
        expect![[r#"
        `+one` is not supported; all words must be there anyway; write \+ for the character: offset=0
          +one
          ^"#]],
    );
    check(
        "one && two",
        expect![[r#"
        `&&` is not supported; write AND: offset=4
          one && two
              ^"#]],
    );
    check(
        "!one",
        expect![[r#"
        `!one` is not supported; write NOT for a word that must not be there, or put the word in quotes: offset=0
          !one
          ^"#]],
    );
    check(
        "one^2",
        expect![[r#"
        `^` is not supported: all words weigh the same; write \^ for the character: offset=3
          one^2
             ^"#]],
    );
    check(
        "\"one two\"~3",
        expect![[r#"
        a phrase has no `~`; only a word has one: offset=9
          "one two"~3
                   ^"#]],
    );
    check(
        "\"one tw\"*",
        expect![[r#"
        a phrase has no `*`; only a word has one: offset=8
          "one tw"*
                  ^"#]],
    );
    check(
        "o*e",
        expect![[r#"
        `*` stands only at the end of a word; write a backslash before the character: offset=1
          o*e
           ^"#]],
    );
    check(
        "one *",
        expect![[r#"
        `*` needs the beginning of a word before it: offset=4
          one *
              ^"#]],
    );
    check(
        "one~",
        expect![[r#"
        `~` needs a number of changes after it: min=1, max=2: offset=3
          one~
             ^"#]],
    );
    check(
        "one~3",
        expect![[r#"
        `~` needs a number of changes after it: min=1, max=2: offset=3
          one~3
             ^"#]],
    );
    check(
        "one~1x",
        expect![[r#"
        `~` needs a number of changes after it: min=1, max=2: offset=3
          one~1x
             ^"#]],
    );
    check(
        "~one",
        expect![[r#"
        `~` needs a word before it; write \~ for the character: offset=0
          ~one
          ^"#]],
    );
}

#[test]
fn limits_are_reported() {
    let message = |text: &str| Words::parse(text).unwrap_err().message().to_owned();
    let long = "a".repeat(TEXT_BYTES_MAX);
    assert!(Words::parse(&long).is_ok());
    assert!(
        message(&format!("{long}a")).starts_with("search text is too long: bytes=16385, max=16384")
    );
    let nested = |depth| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Words::parse(&nested(DEPTH_MAX)).is_ok());
    assert!(
        message(&nested(DEPTH_MAX + 1))
            .starts_with("too many nested parentheses: max=32: offset=32")
    );
    assert!(Words::parse(&"a ".repeat(WORDS_MAX)).is_ok());
    assert!(
        message(&"a ".repeat(WORDS_MAX + 1)).starts_with("too many words and phrases: max=1024")
    );
}

fn holds_round_trip(text: &str) {
    if let Ok(words) = Words::parse(text) {
        let printed = words.to_string();
        let again = Words::parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
        assert_eq!(again, words, "{printed}");
        assert_eq!(again.to_string(), printed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        holds_round_trip(&text);
    }

    #[test]
    fn printed_words_parse_to_the_same_words(
        text in proptest::collection::vec(
            prop::sample::select(vec![
                "a", "行键", "AND", "OR", "NOT", "\"", "\\", "(", ")", "*", "~1", "~2", "~", " ",
                " ", " ", "-", "+", "^", "\u{3000}", "\u{301}", "𠮷", "&&", "b", "c ", "(a ", "b) ",
            ]),
            0..24,
        )
    ) {
        holds_round_trip(&text.concat());
    }
}
