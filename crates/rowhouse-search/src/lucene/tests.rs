//! What queries mean, checked against what Solr's parser makes of them.

use proptest::prelude::*;

use super::{Bound, LuceneForm, LuceneLeaf, LuceneQuery, Occurs, Operator, Part};

fn or(text: &str) -> String {
    LuceneQuery::parse(text, Operator::Or)
        .map_or_else(|it| it.message().into(), |it| it.to_string())
}

fn and(text: &str) -> String {
    LuceneQuery::parse(text, Operator::And)
        .map_or_else(|it| it.message().into(), |it| it.to_string())
}

/// The error's first line.
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

/// `compat/solr/parse.sh` makes the file with Solr's own parser, and others like it.
#[test]
fn random_queries_are_parsed_as_by_solr() {
    let other = std::env::var("ROWHOUSE_SOLR_QUERIES").ok();
    let other = other.map(|path| std::fs::read_to_string(path).unwrap());
    let text_of = |written: &str| written.replace('␉', "\t").replace('␊', "\n");
    let mut served = 0;
    let lines: Vec<_> = other.as_deref().unwrap_or(include_str!("from_solr.txt")).lines().collect();
    for line in &lines {
        let (requested, expected) = line.split_once('\t').unwrap();
        let (operator, text) = requested.split_once('|').unwrap();
        let operator = if operator == "AND" { Operator::And } else { Operator::Or };
        match LuceneQuery::parse(&text_of(text), operator) {
            Ok(LuceneQuery { root: Some(root), .. }) => {
                assert_eq!(tree(&root), text_of(expected), "{requested}");
                served += 1;
            }
            // It finds nothing; Solr refuses it.
            Ok(_) => assert!(text_of(text).trim().is_empty(), "{requested}"),
            Err(error) => {
                let is_refused = matches!(expected, "error" | "unserved");
                assert!(is_refused, "{requested}: expected={expected}, {}", error.message());
            }
        }
    }
    assert!(served > lines.len() / 2 && lines.len() >= 1_000, "{served} of {}", lines.len());
}

/// Prints a query as `compat/solr/ParseQueries.java` does.
fn tree(part: &Part) -> String {
    match part {
        Part::Boosted(part, boost) => format!("{}^{boost}", tree(part)),
        Part::Constant(part, score) => format!("{}^={score}", tree(part)),
        Part::Leaf(leaf) => leaf_tree(leaf),
        // A group with one clause that may or must match is the clause.
        Part::Group(clauses) if clauses.len() == 1 && clauses[0].occurs != Occurs::MustNot => {
            tree(&clauses[0].part)
        }
        Part::Group(clauses) => {
            let clauses = clauses.iter().map(|clause| {
                let sign = match clause.occurs {
                    Occurs::Should => "",
                    Occurs::Must => "+",
                    Occurs::MustNot => "-",
                };
                format!("{sign}{}", tree(&clause.part))
            });
            format!("({})", clauses.collect::<Vec<_>>().join(" "))
        }
    }
}

fn leaf_tree(leaf: &LuceneLeaf) -> String {
    let end = |bound: &Bound| match &bound.value {
        None => "*".to_owned(),
        Some(value) => format!("'{value}'"),
    };
    let condition = match &leaf.form {
        LuceneForm::Word(word) => format!("'{word}'"),
        LuceneForm::Phrase(text) => format!("\"{text}\""),
        LuceneForm::Prefix(word) => format!("'{word}'*"),
        LuceneForm::Fuzzy(word, changes) => format!("'{word}'~{changes}"),
        LuceneForm::Range(low, high) => {
            let open = if low.is_inclusive { '[' } else { '{' };
            let close = if high.is_inclusive { ']' } else { '}' };
            format!("{open}{} TO {}{close}", end(low), end(high))
        }
        LuceneForm::Any => "*".to_owned(),
        LuceneForm::All => "*:*".to_owned(),
    };
    match &leaf.field {
        Some(field) => format!("'{field}':{condition}"),
        None => condition,
    }
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
        ("*", "*:*"),
        ("f:(*)", "f:*"),
        ("yahoo!mail", "yahoo!mail"),
        ("help! c++ -AC/DC", "help! c++ -AC/DC"),
        ("tag:x/y \\/x\\/", "tag:x/y \\/x/"),
        ("a /* b /* c */ d */ e", "a e"),
        ("/**/a:/* b */c", "a:c"),
        ("caf\\u00e9 \\uD83D\\ude00", "café 😀"),
        ("body : a ~1 ^2", "body:a~1^2"),
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
        text in r#"([ab+!()\[\]{}:^"~*?/&|\\ \-=.01行\t\u{3000}]|AND |OR |NOT | TO |filter\(|a:|/\* |\*/|\\u0041|\["){0,24}"#,
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
fn mistakes_and_unsupported_syntax_are_refused_with_the_place() {
    for (text, message) in [
        ("a AND", "a word is missing: offset=5"),
        ("AND a", "a word is missing before `AND`: offset=0"),
        ("a OR OR b", "a word is missing before `OR`: offset=5"),
        ("+-a", "a word is missing before the second sign: offset=1"),
        ("(a", "`(` without a `)` after it: offset=0"),
        ("a)", "`)` without a `(` before it: offset=1"),
        ("()", "`()` has nothing in it: offset=0"),
        ("body:", "a word is missing: offset=5"),
        ("a:b:c", "a word is missing before `:`: offset=3"),
        ("AND:a", "a word is missing before `AND`: offset=0"),
        ("/* a */", "a word is missing: offset=7"),
        ("\\u00g0", "`\\u` needs four hexadecimal digits after it: offset=0"),
        ("a\\uD83D", "`\\u` with half of a character, without the other half: offset=0"),
        (
            "f:[a TO \"b]\\\"]",
            "`\\` needs a character after it; write \\\\ for a backslash: offset=11",
        ),
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
        ("*:a", "`*:` is followed by `*`: a word is looked for in one field: offset=2"),
    ] {
        assert_eq!(refused(text), message, "{text}");
    }
    let deep = format!("{}a{}", "(".repeat(33), ")".repeat(33));
    assert_eq!(refused(&deep), "too many nested parentheses: max=32: offset=32");
    assert!(refused(&"a ".repeat(1_025)).starts_with("too many clauses: max=1024"));
}
