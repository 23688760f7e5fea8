use proptest::prelude::*;

use crate::Filter;
use crate::filter::*;

#[test]
fn each_name_of_the_language_is_read_and_stands_once() {
    let names = Filter::language_names();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for name in names {
        if let Err(error) = Filter::parse(format!("{name}(1, 2, 3)")) {
            assert!(!error.message().contains("unknown filter"), "{error}");
        }
    }
}

#[test]
fn errors_name_the_fault_and_the_place() {
    for (text, what, at) in [
        ("", "the name of a filter is missing", 0),
        ("PrefixFilter('a') PageFilter(1)", "AND, OR or the end must follow", 18),
        ("PrefixFilter('a'))", "closing parenthesis without an opening one", 17),
        ("(PrefixFilter('a')", "closing parenthesis is missing", 18),
        ("PrefixFilter('a", "closing quote is missing", 13),
        ("PrefixFilter('a'b)", "must follow text in quotes", 16),
        ("PrefixFilter(a)", "PrefixFilter takes text in single quotes here, not a", 13),
        ("PageFilter(1, 2)", "PageFilter takes 1 arguments, not 2", 0),
        ("PageFilter(99999999999999999999)", "a whole number of 64 bits", 11),
        ("ColumnCountGetFilter(2147483648)", "from 0 to 2147483647", 21),
        ("KeyOnlyFilter(yes)", "true or false", 14),
        ("RowFilter(==, 'binary:a')", "one of <, <=, =, !=, >=, >", 10),
        ("RowFilter(=, 'long:5')", "'binary:…'", 13),
        ("RowFilter(<, 'substring:a')", "= or != with", 10),
        ("FuzzyRowFilter('a')", "unknown filter: FuzzyRowFilter", 0),
        ("SKIP", "'(' must follow the name", 4),
        ("PrefixFilter（'a'）", "; `（` is a full-width character, write `(`", 12),
    ] {
        let error = Filter::parse(text).unwrap_err();
        assert!(error.message().contains(what), "{text}: {error}");
        assert!(error.message().contains(&format!("at={at},")), "{text}: {error}");
    }
}

#[test]
fn filters_too_deep_in_each_other_are_refused() {
    let deep = format!("{}FirstKeyOnlyFilter()", "SKIP ".repeat(FILTER_DEPTH_MAX));
    assert!(Filter::parse(deep).unwrap_err().message().contains("too deep"));
    let open = "(".repeat(1_000_000);
    assert!(Filter::parse(open).unwrap_err().message().contains("too deep"));
}

#[test]
fn a_filter_without_notation_is_printed_by_its_parts() {
    let range = FilterRange {
        start: "a".into(),
        start_inclusive: true,
        stop: b"b\xFF"[..].into(),
        stop_inclusive: false,
    };
    let key = FuzzyKey { key: "a?c".into(), mask: vec![0, 1, 0].into() };
    let long = Comparison { operator: CompareOperator::Less, comparator: Comparator::Long(-5) };
    for (filter, printed) in [
        (Filter::FuzzyRow(vec![key]), r#"FuzzyRowFilter("a?c" like 0.0)"#),
        (Filter::MultiRowRange(vec![range]), r#"MultiRowRangeFilter(["a", "b\xFF"))"#),
        (Filter::Prefix(b"\xFF"[..].into()), r#"PrefixFilter("\xFF")"#),
        (Filter::RandomRow(0.5), "RandomRowFilter(0.5)"),
        (Filter::Value(long), "ValueFilter(<, LongComparator(-5))"),
        (
            Filter::List { operator: ListOperator::Or, filters: vec![Filter::FirstKeyOnly] },
            "FilterList(OR, FirstKeyOnlyFilter())",
        ),
        (
            Filter::Timestamps { timestamps: [1, 2].into(), can_hint: true },
            "TimestampsFilter(1, 2, can hint)",
        ),
    ] {
        assert_eq!(filter.to_string(), printed);
        assert!(Filter::parse(printed).is_err());
    }
}

/// Generates filters that the language can express.
fn filters() -> impl Strategy<Value = Filter> {
    let simple = prop_oneof![
        comparisons().prop_map(Filter::Row),
        comparisons().prop_map(Filter::Value),
        texts().prop_map(Filter::Prefix),
        texts().prop_map(Filter::InclusiveStop),
        prop::collection::btree_set(texts(), 0..4).prop_map(Filter::MultipleColumnPrefix),
        (0u64..1 << 63).prop_map(Filter::Page),
        (0u32..1 << 31, 0u32..1 << 31).prop_map(|(limit, columns)| {
            Filter::ColumnPagination { limit, from: ColumnOffset::Skip(columns) }
        }),
        any::<bool>().prop_map(|length_as_value| Filter::KeyOnly { length_as_value }),
        (texts(), any::<bool>(), texts(), any::<bool>()).prop_map(|(min, a, max, b)| {
            let bound = |bound: Bytes| Some(bound).filter(|bound| !bound.is_empty());
            let min = bound(min);
            let max = bound(max);
            Filter::ColumnRange { min, min_inclusive: a, max, max_inclusive: b }
        }),
        (texts(), texts(), comparisons(), any::<[bool; 3]>()).prop_map(
            |(family, qualifier, value, [filter_if_missing, latest_version_only, exclude])| {
                Filter::SingleColumnValue {
                    family,
                    qualifier,
                    value,
                    filter_if_missing,
                    latest_version_only,
                    exclude,
                }
            }
        ),
        (texts(), texts(), any::<bool>(), prop::option::of(comparisons())).prop_map(
            |(family, qualifier, drop_dependent_column, value)| {
                Filter::DependentColumn { family, qualifier, drop_dependent_column, value }
            }
        ),
        prop::collection::btree_set(0..=i64::MAX, 0..4)
            .prop_map(|timestamps| Filter::Timestamps { timestamps, can_hint: false }),
    ];
    simple.prop_recursive(4, 20, 4, |inner| {
        let operator = prop::sample::select(vec![ListOperator::And, ListOperator::Or]);
        prop_oneof![
            inner.clone().prop_map(|inner| Filter::Skip(Box::new(inner))),
            inner.clone().prop_map(|inner| Filter::WhileMatch(Box::new(inner))),
            (operator, prop::collection::vec(inner, 2..4))
                .prop_map(|(operator, filters)| Filter::List { operator, filters }),
        ]
    })
}

fn texts() -> impl Strategy<Value = Bytes> {
    prop::sample::select(vec!["", "a", "'", "''", "a'b", ") AND (", "ü, '", "SKIP ", "\n\0"])
        .prop_map(Bytes::from)
}

fn comparisons() -> impl Strategy<Value = Comparison> {
    let binary = (0usize..6, texts(), any::<bool>()).prop_map(|(operator, value, prefix)| {
        let comparator =
            if prefix { Comparator::BinaryPrefix(value) } else { Comparator::Binary(value) };
        use CompareOperator::*;
        let operator = [Less, LessOrEqual, Equal, NotEqual, GreaterOrEqual, Greater][operator];
        Comparison { operator, comparator }
    });
    let text = prop::sample::select(vec!["a", "", "(?i)b'", "c$"]);
    let regex = (text, any::<bool>()).prop_map(|(text, no_case)| {
        let flags = RegexPattern::DOTALL | if no_case { RegexPattern::CASE_INSENSITIVE } else { 0 };
        let comparator = Comparator::Regex(RegexPattern::new(text, flags));
        Comparison { operator: CompareOperator::NotEqual, comparator }
    });
    prop_oneof![binary, regex]
}

proptest! {
    #[test]
    fn a_printed_filter_parses_to_the_same_filter(filter in filters()) {
        let printed = filter.to_string();
        prop_assert_eq!(Filter::parse(&printed).unwrap(), filter, "{}", printed);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[A-Za-z(),'= :]{0,40}") {
        let _ = Filter::parse(&text);
        let _ = Filter::parse(format!("PrefixFilter({text}) AND RowFilter(=, '{text}')"));
    }
}
