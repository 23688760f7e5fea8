use rowhouse_model::{ErrorKind, RegexEngine};

use super::*;

/// Returns an expression with its own flags, as [`with_java_flags`] makes it.
fn checked(pattern: &str, flags: i32) -> Result<RegexPattern> {
    let mut pattern = RegexPattern::new(pattern, flags);
    pattern.flags = java_flags(&pattern)?;
    Ok(pattern)
}

fn has_match(pattern: &str, flags: i32, text: &str) -> bool {
    let pattern = checked(pattern, flags).unwrap();
    Regex::start(&pattern, RegexMemoryLimit::for_several(1))
        .unwrap()
        .has_match_in(text.as_bytes())
        .unwrap()
}

#[test]
fn classes_and_ends_are_javas() {
    for (pattern, flags, text, expected) in [
        (r"^\d$", 0, "5", true),
        (r"^\d$", 0, "٥", false),
        (r"^\d$", RegexPattern::UNICODE_CHARACTER_CLASS, "٥", true),
        ("a.c", 0, "a\rc", false),
        ("a.c", RegexPattern::DOTALL, "a\rc", true),
        ("a.c", RegexPattern::UNIX_LINES, "a\rc", true),
        ("a$", 0, "a\r\n", true),
        ("a\r$", 0, "a\r\n", false),
        ("^b", 0, "a\nb", false),
        ("^b", RegexPattern::MULTILINE, "a\nb", true),
        ("^", RegexPattern::MULTILINE, "", false),
        ("k", RegexPattern::CASE_INSENSITIVE, "\u{212A}", false),
        ("k", 0x42, "\u{212A}", true),
        ("[a-c&&[^b]]", 0, "b", false),
        ("[a-c&&[^b]]", 0, "c", true),
        ("[]a]", 0, "]", true),
        ("[^a[bc]]", 0, "b", false),
        (r"\Q.*\E+", 0, "x.**", true),
        ("a b #c", RegexPattern::COMMENTS, "ab", true),
        ("a.", RegexPattern::LITERAL, "ab", false),
        ("(a+)b\\1", 0, "aabaa", true),
        ("a++ab", 0, "aaab", false),
        ("(?<=x)y", 0, "xy", true),
        ("(?i)K(?-i)k", 0, "kK", false),
        (r"\bé", 0, "xé", false),
        ("\\1(a)", 0, "aa", false),
        (r"[\w&&[^\d]]", 0, "7", false),
        (r"\p{Punct}", 0, "~", true),
        (r"\p{IsGreek}", 0, "α", true),
    ] {
        assert_eq!(has_match(pattern, flags, text), expected, "{pattern} {flags} {text:?}");
    }
}

#[test]
fn flags_that_an_expression_sets_for_all_of_it_are_retained() {
    let flags = |pattern| checked(pattern, RegexPattern::DOTALL).unwrap().flags;
    assert_eq!(flags("(?i)a"), 0x22);
    assert_eq!(flags("(?i:a)"), 0x20);
    assert_eq!(flags("(?-s)a"), 0);
}

#[test]
fn expressions_inside_other_filters_get_their_own_flags_or_are_refused() {
    let read = |pattern: &str| {
        let text = format!("PageFilter(1) AND SKIP ValueFilter(=, 'regexstring:{pattern}')");
        with_java_flags(Filter::parse(text).unwrap())
    };
    let nocase = "(PageFilter(1) AND SKIP ValueFilter(=, 'regexstringnocase:(?i)a'))";
    assert_eq!(read("(?i)a").unwrap(), Filter::parse(nocase).unwrap());
    assert_eq!(read("(").unwrap_err().kind(), ErrorKind::InvalidRequest);
}

#[test]
fn invalid_java_expressions_are_refused_with_their_place() {
    for (pattern, about) in [
        ("a)", "at=1"),
        ("(a", "unclosed group, at=0"),
        ("*a", "nothing to repeat by '*', at=0"),
        ("a**", "at=2"),
        ("a{", "illegal repetition, at=1"),
        ("a{2,1}", "range"),
        ("[a", "unclosed character class"),
        ("[b-a]", "illegal character range, at=1"),
        (r"\y", r"illegal escape: \y"),
        ("a\\", "backslash"),
        ("(?<n>a)(?<n>b)", "already defined"),
        (r"\k<n>", "does not exist"),
        ("(?z)", "unknown flag"),
    ] {
        let error = checked(pattern, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{pattern}");
        assert!(error.message().contains(about), "{error}");
        assert!(error.message().contains(pattern), "{error}");
    }
}

#[test]
fn unavailable_features_are_refused_as_unsupported() {
    for (pattern, flags) in [
        (r"\X", 0),
        (r"\N{DIGIT ONE}", 0),
        (r"\p{InGreek}", 0),
        (r"\p{IsNowhere}", 0),
        (r"\uD83D", 0),
        ("a", RegexPattern::CANON_EQ),
        (r"(?i)(a)\1", 0),
        ("(((a{1000}){1000}){1000})", 0),
    ] {
        let error = checked(pattern, flags).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{pattern}");
        assert!(error.message().contains(pattern), "{error}");
    }
    let deep = "(".repeat(10_000) + &")".repeat(10_000);
    assert_eq!(checked(&deep, 0).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn joni_accepts_expressions_shared_with_java() {
    let joni = |pattern: &str| RegexPattern {
        pattern: pattern.into(),
        flags: RegexPattern::DOTALL,
        charset: "UTF-8".into(),
        engine: RegexEngine::Joni,
    };
    assert!(
        Regex::start(&joni("^a[b-d]+(x|y)*$"), RegexMemoryLimit::for_several(1))
            .unwrap()
            .has_match_in(b"abcx")
            .unwrap()
    );
    let error = Regex::start(&joni(r"\h"), RegexMemoryLimit::for_several(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

/// Matches recorded from Java by `compat/filters.sh`.
const RECORDED: &str = include_str!("../../tests/golden/filter-regexes.txt");

#[test]
fn expressions_match_where_java_matches_them() {
    let hex = |part: &str| -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&part[at..at + 2], 16).unwrap();
        (0..part.len()).step_by(2).map(byte).collect()
    };
    let texts: Vec<_> =
        RECORDED.lines().filter_map(|line| line.strip_prefix("text ")).map(hex).collect();
    let mut compared = 0;
    let mut unsupported = 0;
    let mut differences = Vec::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with("text ") && !line.starts_with('#'))
    {
        let parts: Vec<_> = line.split(' ').collect();
        let expression = String::from_utf8(hex(parts[0])).unwrap();
        let flags: i32 = parts[1].parse().unwrap();
        let result = match checked(&expression, flags) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                unsupported += 1;
                continue;
            }
            Err(_) => "refused".into(),
            Ok(pattern) => {
                let regex = Regex::start(&pattern, RegexMemoryLimit::for_several(1)).unwrap();
                let find =
                    |text: &Vec<u8>| char::from(b'0' + u8::from(regex.has_match_in(text).unwrap()));
                format!("{} {}", texts.iter().map(find).collect::<String>(), pattern.flags)
            }
        };
        let expected = parts[2..].join(" ");
        if !expected.starts_with(&result) {
            differences.push(format!("{expression:?} {flags}\n  Java {expected}\n  here {result}"));
        }
        compared += 1;
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(
        compared > 1_500 && unsupported < compared / 10,
        "compared={compared}, unsupported={unsupported}"
    );
}

#[test]
fn a_full_match_takes_all_of_a_text_and_nothing_else() {
    let matches = |pattern: &str, text: &str| FullMatch::new(pattern).unwrap().matches(text);
    for (pattern, text, expected) in [
        ("", "", true),
        ("", "t", false),
        ("t", "t", true),
        ("t", "tt", false),
        ("a|ab", "ab", true),
        (r"\Qa.b\E", "a.b", true),
        (r"\Qa.b\E", "axb", false),
        (r"\Qa.b", "a.b", true),
        (r"\Qa|b\E.*", "a|bc", true),
        ("(?i)T", "t", true),
        ("t$", "t\n", false),
        ("(?x)t # a comment", "t", true),
        (r"(a)\1", "aa", true),
    ] {
        assert_eq!(matches(pattern, text).unwrap(), expected, "{pattern:?} on {text:?}");
    }
    assert_eq!(FullMatch::new("(").unwrap_err().kind(), ErrorKind::InvalidRequest);
}
