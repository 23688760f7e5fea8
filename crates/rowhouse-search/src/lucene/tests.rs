//! The meaning of queries, checked against what Lucene's classic parser makes of them.

use proptest::prelude::*;

use super::{LuceneQuery, Operator};

fn or(text: &str) -> String {
    LuceneQuery::parse(text, Operator::Or)
        .map_or_else(|it| it.message().into(), |it| it.to_string())
}

fn and(text: &str) -> String {
    LuceneQuery::parse(text, Operator::And)
        .map_or_else(|it| it.message().into(), |it| it.to_string())
}

/// The first line of the error.
fn refused(text: &str) -> String {
    let error = LuceneQuery::parse(text, Operator::Or).unwrap_err();
    error.message().lines().next().unwrap().to_owned()
}

#[test]
fn operators_set_flags_of_clauses_as_in_lucene() {
    for (text, by_or, by_and) in [
        ("a b", "a b", "+a +b"),
        ("+a b", "+a b", "+a +b"),
        ("a AND b", "+a +b", "+a +b"),
        ("a OR b", "a b", "a b"),
        ("a AND b OR c", "+a +b c", "+a b c"),
        ("a OR b AND c", "a +b +c", "a +b +c"),
        ("a && b || c", "+a +b c", "+a b c"),
        ("a NOT b", "a -b", "+a -b"),
        ("a -b !c", "a -b -c", "+a -b -c"),
        ("a AND NOT b", "+a -b", "+a -b"),
        ("-a AND b", "-a +b", "-a +b"),
        ("a OR -b", "a -b", "a -b"),
        ("+a OR +b", "+a +b", "a b"),
        ("-a", "-a", "-a"),
        ("(a)", "a", "a"),
        ("(-a)", "-a", "-a"),
        ("a (b c)", "a (b c)", "+a +(+b +c)"),
        ("-(a b)", "-(a b)", "-(+a +b)"),
    ] {
        assert_eq!((or(text), and(text)), (by_or.to_owned(), by_and.to_owned()), "{text}");
    }
}

/// `compat/solr/parse.sh` makes the file with Lucene's own parser.
#[test]
fn random_queries_are_parsed_as_by_lucene() {
    let lines = include_str!("from_lucene.txt").lines();
    let mut errors = 0;
    for line in lines.clone() {
        let (asked, expected) = line.split_once('\t').unwrap();
        let (operator, text) = asked.split_once('|').unwrap();
        let operator = if operator == "AND" { Operator::And } else { Operator::Or };
        match LuceneQuery::parse(text, operator) {
            // Lucene prints words without backslashes.
            Ok(query) => assert_eq!(query.to_string().replace('\\', ""), expected, "{asked}"),
            Err(error) => {
                assert_eq!(expected, "error", "{asked}: {}", error.message());
                errors += 1;
            }
        }
    }
    assert!(lines.count() == 600 && errors > 20);
}

#[test]
fn fields_hold_for_one_operand_or_a_group() {
    assert_eq!(or("body:row key"), "body:row key");
    assert_eq!(or("x body:(row +key sender:eve)"), "x (body:row +body:key sender:eve)");
    assert_eq!(or("body:\"row key\""), "body:\"row key\"");
    assert_eq!(or("body: row"), "body:row");
    assert_eq!(or("tagged.tag:x"), "tagged.tag:x");
}

#[test]
fn words_may_have_suffixes_escapes_and_weights() {
    for (text, same) in [
        ("wor*", "wor*"),
        ("word~", "word~2"),
        ("word~1", "word~1"),
        ("word~0", "word"),
        ("word^2", "word^2"),
        ("\"a b\"^0.5", "\"a b\"^0.5"),
        ("(a b)^=3", "(a b)^=3"),
        ("filter(a b) c", "(a b)^=0 c"),
        ("*:*", "*:*"),
        ("size:*", "size:*"),
        ("*", "*"),
        ("a\\:b", "a\\:b"),
        ("\\AND", "\\AND"),
        ("and or not", "and or not"),
        ("a-b", "a-b"),
        ("a\\ b", "a\\ b"),
        ("x\\*", "x\\*"),
        ("a&&b", "a&&b"),
        ("行键 设计", "行键 设计"),
        ("行键\u{3000}设计", "行键 设计"),
        ("\"\"", "\"\""),
        ("a - b", "a \\- b"),
        ("\"a \\\" b\"", "\"a \\\" b\""),
        ("  ", ""),
    ] {
        assert_eq!(or(text), same, "{text}");
    }
}

#[test]
fn ranges_have_open_closed_and_no_ends() {
    for (text, same) in [
        ("n:[1 TO 5]", "n:[1 TO 5]"),
        ("n:{1 TO 5]", "n:{1 TO 5]"),
        ("n:[* TO 5}", "n:[* TO 5}"),
        ("n:[-5 TO *]", "n:[-5 TO *]"),
        ("n:[\"a b\" TO c]", "n:[\"a b\" TO c]"),
        ("n:[\"*\" TO \\*]", "n:[\"*\" TO \"*\"]"),
        (
            "at:[2022-12-01T00:00:00Z TO 2023-01-01T00:00:00Z}",
            "at:[2022-12-01T00:00:00Z TO 2023-01-01T00:00:00Z}",
        ),
    ] {
        assert_eq!(or(text), same, "{text}");
    }
}

#[test]
fn printed_queries_are_read_as_the_same() {
    for text in [
        "a +(b -c:[1 TO *}) \"x y\"^2",
        "+a\\:b* -\\+c~1 *:*",
        "\\NOT \\!x \\-y",
        "((a^2)^3)^=4 filter(filter(b))",
    ] {
        assert_eq!(or(&or(text)), or(text), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_refused_or_printed_as_it_is_read(
        text in r#"([ab+!()\[\]{}:^"~*?/&|\\ \-=.01行\u{3000}]|AND |OR |NOT | TO |filter\(|a:){0,24}"#,
    ) {
        for operator in [Operator::Or, Operator::And] {
            let Ok(query) = LuceneQuery::parse(&text, operator) else { continue };
            // Every clause that must match has a sign in the printed form.
            let printed = query.to_string();
            prop_assert_eq!(or(&printed), printed, "{}", text);
        }
    }
}

#[test]
fn mistakes_and_what_is_not_served_are_refused_with_the_place() {
    for (text, message) in [
        ("a AND", "a word is missing: offset=5"),
        ("AND a", "a word is missing before `AND`: offset=0"),
        ("a OR OR b", "a word is missing before `OR`: offset=5"),
        ("+-a", "a word is missing before the second sign: offset=1"),
        ("(a", "`(` without a `)` after it: offset=0"),
        ("a)", "`)` without a `(` before it: offset=1"),
        ("()", "`()` has nothing in it: offset=0"),
        ("body:", "a word is missing: offset=5"),
        ("a:b:c", "a word is missing before the second field: offset=2"),
        ("a:)", "a word is missing before `)`: offset=2"),
        ("a ] b", "`]` stands where a word is expected; write \\] for the character: offset=2"),
        ("\"a", "`\"` without a second one after it: offset=0"),
        ("a\\", "`\\` needs a character after it; write \\\\ for a backslash: offset=1"),
        ("\"a b\"~3", "distances of phrases (`\"row key\"~3`) are not supported: offset=5"),
        (
            "w?rd",
            "`w?rd`: `*` stands only at the end of a word; `?` and other places are not supported: offset=0",
        ),
        (
            "*ord",
            "`*ord`: `*` stands only at the end of a word; `?` and other places are not supported: offset=0",
        ),
        ("/x/", "regular expressions are not supported; write \\/ for the character: offset=0"),
        ("{!term f=a}b", "other query parsers (`{!…}`) are not supported: offset=0"),
        ("_query_:\"x\"", "`_query_:`: nested queries and functions are not supported: offset=0"),
        ("a~3", "`~3` is not a number of changes: min=0, max=2: offset=1"),
        ("a~0.8", "`~0.8` is not a number of changes: min=0, max=2: offset=1"),
        ("n:[1 5]", "a range is written `[low TO high]`: offset=2"),
        ("n:[1 TO]", "a range needs two ends; `*` is an open end: offset=2"),
        ("n:[1 TO 2", "a range without a `]` or `}` after it: offset=2"),
        ("a^x", "`^` needs a number after it; write \\^ for the character: offset=1"),
        ("*:a", "`*:` is followed by `*`: a word is looked for in one field: offset=0"),
    ] {
        assert_eq!(refused(text), message, "{text}");
    }
    let deep = format!("{}a{}", "(".repeat(33), ")".repeat(33));
    assert_eq!(refused(&deep), "too many nested parentheses: max=32: offset=32");
    assert!(refused(&"a ".repeat(1_025)).starts_with("too many clauses: max=1024"));
}
