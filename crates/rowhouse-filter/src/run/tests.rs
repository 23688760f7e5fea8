use bytes::Bytes;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use rowhouse_model::*;

use super::*;

/// Feeds cells to a filter as a scan without seeks does, and compares the verdicts with `expected`:
/// one line per row, `row: verdicts of its cells`.
fn check(filter: Filter, reversed: bool, cells: &[&str], expected: Expect) {
    let mut run = FilterRun::new(&filter, reversed).unwrap();
    let cells: Vec<_> = cells.iter().map(|text| cell(text)).collect();
    let mut lines = String::new();
    for row in cells.chunk_by(|a, b| a.row() == b.row()) {
        run.reset();
        lines.push_str(&format!("{}:", row[0].row().escape_ascii()));
        if run.is_done() {
            lines.push_str(" done\n");
            continue;
        }
        if run.filters_row_key(row[0].row()) {
            lines.push_str(" by its key\n");
            continue;
        }
        let mut retained = 0;
        for cell in row {
            let verdict = run.judge(&cell.view());
            lines.push_str(&format!(" {verdict:?}"));
            if verdict.includes() {
                retained += usize::from(run.keeps(&cell.view()));
                match run.value_part(&cell.view()) {
                    ValuePart::Whole => {}
                    value => lines.push_str(&format!("({value:?})")),
                }
            }
            if verdict == FilterVerdict::SeekToHint
                && let Some(hint) = run.hint(&cell.view())
            {
                let at = format!("{}/{}", hint.row.escape_ascii(), hint.qualifier.escape_ascii());
                lines.push_str(&format!("({at})"));
            }
        }
        if retained > 0 && run.filters_row() {
            lines.push_str(" filtered");
        }
        lines.push('\n');
    }
    run.check().unwrap();
    expected.assert_eq(&lines);
}

/// `row/qualifier@timestamp=value`; timestamp and value may be absent.
fn cell(text: &str) -> Cell {
    let (place, value) = text.split_once('=').unwrap_or((text, "v"));
    let (place, millis) = place.split_once('@').unwrap_or((place, "1"));
    let (row, qualifier) = place.split_once('/').unwrap();
    let timestamp = Timestamp::from_millis(millis.parse().unwrap()).unwrap();
    Cell::new(row, "f", qualifier, timestamp, CellKind::Put, value).unwrap()
}

fn equal(value: &'static str) -> Comparison {
    Comparison { operator: CompareOperator::Equal, comparator: Comparator::Binary(value.into()) }
}

fn list(operator: ListOperator, filters: impl Into<Vec<Filter>>) -> Filter {
    Filter::List { operator, filters: filters.into() }
}

#[test]
fn a_prefix_hints_before_its_rows_and_ends_after_them() {
    let cells = ["a/x", "b/x", "ba/x", "c/x", "d/x"];
    check(
        Filter::Prefix("b".into()),
        false,
        &cells,
        expect![[r#"
            a: SeekToHint(b/)
            b: Include
            ba: Include
            c: by its key
            d: done
        "#]],
    );
    check(
        Filter::Prefix("b".into()),
        true,
        &["c/x", "ba/x", "b/x", "a/x"],
        expect![[r#"
            c: SeekToHint(c/)
            ba: Include
            b: Include
            a: by its key
        "#]],
    );
}

#[test]
fn a_list_in_a_reversed_scan_steps_to_a_column_so_that_its_members_count_the_cells_between() {
    let filter = || {
        let page = Filter::ColumnPagination { limit: 2, from: ColumnOffset::Skip(0) };
        let filters = vec![page, Filter::ColumnPrefix("x".into())];
        Filter::List { operator: ListOperator::And, filters }
    };
    let cells = ["a/n", "a/x", "a/xy"];
    check(
        filter(),
        false,
        &cells,
        expect![[r#"
        a: SeekToHint(a/x) IncludeAndNextColumn NextRow
    "#]],
    );
    check(
        filter(),
        true,
        &cells,
        expect![[r#"
        a: SeekToHint IncludeAndNextColumn NextRow
    "#]],
    );
}

#[test]
fn a_list_in_a_reversed_scan_seeks_if_its_members_judge_columns_alone() {
    let comparator = Comparator::Binary("n".into());
    let named = Comparison { operator: CompareOperator::NotEqual, comparator };
    let hints = Filter::List {
        operator: ListOperator::Or,
        filters: vec![Filter::ColumnPrefix("x".into())],
    };
    check(
        Filter::List {
            operator: ListOperator::And,
            filters: vec![Filter::Qualifier(named), hints],
        },
        true,
        &["a/n", "a/o", "a/x", "a/y"],
        expect![[r#"
        a: Skip SeekToHint(a/x) Include NextRow
    "#]],
    );
}

#[test]
fn a_reversed_prefix_that_ends_in_the_greatest_byte_hints_after_its_rows() {
    // HBase hints at "b\x00", and loses rows.
    let mut run = FilterRun::new(&Filter::Prefix(b"b\xFF"[..].into()), true).unwrap();
    let cell = cell("d/x");
    assert!(!run.filters_row_key(b"d"));
    assert_eq!(run.judge(&cell.view()), FilterVerdict::SeekToHint);
    assert_eq!(&run.hint(&cell.view()).unwrap().row[..], b"c");
}

#[test]
fn fuzzy_rows_hint_at_the_next_row_that_may_match() {
    let fuzzy =
        || Filter::FuzzyRow(vec![FuzzyKey { key: "a?c".into(), mask: vec![0, 1, 0].into() }]);
    check(
        fuzzy(),
        false,
        &["Z/x", "abb/x", "abc/x", "abd/x", "b/x", "c/x"],
        expect![[r#"
            Z: SeekToHint(a\x00c/)
            abb: SeekToHint(abc/)
            abc: Include
            abd: SeekToHint(acc/)
            b: SeekToHint
            c: done
        "#]],
    );
    check(
        fuzzy(),
        true,
        &["b/x", "acd/x", "acc9/x", "acb/x", "ac/x", "a/x", "Z/x"],
        expect![[r#"
            b: SeekToHint(a\xffd/)
            acd: SeekToHint(acd/)
            acc9: Include
            acb: SeekToHint(ac/)
            ac: Include
            a: Include
            Z: SeekToHint
        "#]],
    );
}

#[test]
fn ranges_are_sorted_and_merged_and_hinted_at() {
    let range = |start: &'static str, stop: &'static str| FilterRange {
        start: start.into(),
        start_inclusive: true,
        stop: stop.into(),
        stop_inclusive: false,
    };
    let ranges = Filter::MultiRowRange(vec![range("f", "h"), range("b", "c"), range("c", "d")]);
    check(
        ranges.clone(),
        false,
        &["a/x", "b/x", "c/x", "d/x", "g/x", "h/x", "i/x"],
        expect![[r#"
            a: SeekToHint(b/)
            b: Include
            c: Include
            d: SeekToHint(f/)
            g: Include
            h: NextRow
            i: done
        "#]],
    );
    check(
        ranges,
        true,
        &["i/x", "h/x", "g/x", "e/x", "c/x", "a/x"],
        expect![[r#"
            i: SeekToHint(h/)
            h: NextRow
            g: Include
            e: SeekToHint(d/)
            c: Include
            a: NextRow
        "#]],
    );
}

#[test]
fn an_or_does_not_call_a_member_that_seeks_further() {
    check(
        list(
            ListOperator::Or,
            [
                Filter::ColumnPagination { limit: 1, from: ColumnOffset::Skip(0) },
                Filter::Qualifier(equal("z")),
            ],
        ),
        false,
        &["r/a@2", "r/a@1", "r/b", "r/z"],
        expect![[r#"
            r: Include Skip Skip Include
        "#]],
    );
}

#[test]
fn an_and_calls_members_that_hint_though_another_excludes() {
    check(
        list(ListOperator::And, [Filter::Value(equal("w")), Filter::ColumnPrefix("b".into())]),
        false,
        &["r/a=v", "r/b=v", "r/b=w"],
        expect![[r#"
            r: SeekToHint(r/b) Skip Include
        "#]],
    );
}

#[test]
fn values_are_left_out_once_for_each_filter_that_does_so() {
    let key_only = |length_as_value| Filter::KeyOnly { length_as_value };
    let cells = ["r/a=value"];
    for (filters, expected) in [
        (vec![key_only(true)], "Length"),
        (vec![key_only(false), key_only(true)], "Number(0)"),
        (vec![key_only(true), key_only(true)], "Number(4)"),
        (vec![key_only(true), key_only(false)], "Nothing"),
    ] {
        let mut run = FilterRun::new(&list(ListOperator::And, filters), false).unwrap();
        let cell = cell(cells[0]);
        run.judge(&cell.view());
        assert_eq!(format!("{:?}", run.value_part(&cell.view())), expected);
    }
    check(
        list(
            ListOperator::Or,
            [
                list(ListOperator::And, [Filter::Qualifier(equal("a")), key_only(false)]),
                Filter::Qualifier(equal("b")),
            ],
        ),
        false,
        &["r/a", "r/b"],
        expect![[r#"
            r: Include(Nothing) Include
        "#]],
    );
}

#[test]
fn random_rows_come_as_often_as_their_chance() {
    let share = |chance: f32| {
        let mut run = FilterRun::new(&Filter::RandomRow(chance), false).unwrap();
        (0..10_000).filter(|_| !run.filters_row_key(b"r")).count()
    };
    assert_eq!([share(-1.0), share(0.0), share(1.0), share(2.0)], [0, 0, 10_000, 10_000]);
    let half = share(0.5);
    assert!((4_500..5_500).contains(&half), "{half}");
}

#[test]
fn incomparable_value_ends_the_scan_with_an_error() {
    let long = Comparison { operator: CompareOperator::NotEqual, comparator: Comparator::Long(1) };
    let mut run = FilterRun::new(&Filter::Value(long), false).unwrap();
    assert_eq!(run.judge(&cell("r/a=12345678").view()), FilterVerdict::Include);
    assert!(run.check().is_ok());
    assert_eq!(run.judge(&cell("r/b=short").view()), FilterVerdict::NextRow);
    assert!(run.is_done());
    assert_eq!(run.judge(&cell("r/c=12345678").view()), FilterVerdict::NextRow);
    let error = run.check().unwrap_err();
    assert!(error.message().contains("len=5"), "{error}");
}

#[test]
fn filters_that_hbase_refuses_are_refused() {
    let fuzzy = |key: &'static str, mask: &'static [u8]| {
        Filter::FuzzyRow(vec![FuzzyKey { key: key.into(), mask: mask.into() }])
    };
    let range = |start: &'static str, stop: &'static str| FilterRange {
        start: start.into(),
        start_inclusive: true,
        stop: stop.into(),
        stop_inclusive: false,
    };
    let no_op = Comparison { operator: CompareOperator::NoOp, comparator: Comparator::Null };
    let mut deep = Filter::FirstKeyOnly;
    for _ in 0..FILTER_DEPTH_MAX {
        deep = Filter::Skip(Box::new(deep));
    }
    for (filter, about) in [
        (Filter::FuzzyRow(vec![]), "needs a key"),
        (fuzzy("ab", &[0]), "the same length"),
        (fuzzy("a", &[7]), "byte=7"),
        (Filter::MultiRowRange(vec![]), "needs a range"),
        (Filter::MultiRowRange(vec![range("b", "a")]), "start=b, stop=a"),
        (Filter::MultiRowRange(vec![range("a", "a")]), "start=a, stop=a"),
        (Filter::Timestamps { timestamps: [-3].into(), can_hint: true }, "timestamp=-3"),
        (Filter::ColumnCountGet(1 << 31), "too large"),
        (Filter::ColumnPagination { limit: 1, from: ColumnOffset::Skip(1 << 31) }, "too large"),
        (Filter::Page(1 << 63), "too large"),
        (
            Filter::SingleColumnValue {
                family: "f".into(),
                qualifier: "q".into(),
                value: no_op,
                filter_if_missing: false,
                latest_version_only: true,
                exclude: false,
            },
            "NO_OP",
        ),
        (deep, "too deep"),
    ] {
        let error = FilterRun::new(&filter, false).unwrap_err();
        assert!(error.message().contains(about), "{error}");
    }
}

/// Returns the rows from a scan that follows the hints, in which the filter sees every row that the
/// scan reaches.
fn scanned(filter: &Filter, reversed: bool, rows: &[Bytes]) -> Vec<Bytes> {
    let mut run = FilterRun::new(filter, reversed).unwrap();
    let mut included = Vec::new();
    let mut next: Option<Bytes> = None;
    let is_ahead = |row: &Bytes, hint: &Bytes| if reversed { row > hint } else { row < hint };
    for row in rows {
        if next.as_ref().is_some_and(|hint| is_ahead(row, hint)) {
            continue;
        }
        next = None;
        run.reset();
        if run.is_done() || run.filters_row_key(row) {
            continue;
        }
        let cell = Cell::new(row, "f", "q", Timestamp::MIN, CellKind::Put, "").unwrap();
        match run.judge(&cell.view()) {
            FilterVerdict::Include => included.push(row.clone()),
            FilterVerdict::SeekToHint => next = run.hint(&cell.view()).map(|hint| hint.row),
            _ => {}
        }
    }
    included
}

fn row() -> impl Strategy<Value = Bytes> {
    let byte = prop::sample::select(vec![0, 1, b'a', b'b', 0x7F, 0xFE, 0xFF]);
    prop::collection::vec(byte, 1..5).prop_map(Bytes::from)
}

proptest! {
    #[test]
    fn a_reversed_scan_returns_the_rows_that_match(
        rows in prop::collection::btree_set(row(), 1..60),
        prefix in row(),
        fuzzy in prop::collection::vec((row(), any::<[bool; 4]>()), 1..3),
        ends in prop::collection::btree_set(row(), 4),
        flags: [bool; 4],
    ) {
        let rows: Vec<_> = rows.into_iter().rev().collect();
        let rows_where = |matches: &dyn Fn(&Bytes) -> bool| -> Vec<_> {
            rows.iter().filter(|row| matches(row)).cloned().collect()
        };
        let begins = rows_where(&|row| row.starts_with(&prefix));
        prop_assert_eq!(scanned(&Filter::Prefix(prefix.clone()), true, &rows), begins);

        let not_before = rows_where(&|row| *row >= prefix);
        prop_assert_eq!(scanned(&Filter::InclusiveStop(prefix), true, &rows), not_before);

        let keys: Vec<_> = fuzzy.iter().map(|(key, free)| {
            let mask: Vec<u8> = free[..key.len()].iter().map(|&free| u8::from(free)).collect();
            FuzzyKey { key: key.clone(), mask: mask.into() }
        }).collect();
        let like = rows_where(&|row| keys.iter().any(|FuzzyKey { key, mask }| {
            row.iter().zip(key).zip(mask).all(|((a, b), &free)| free == 1 || a == b)
        }));
        prop_assert_eq!(scanned(&Filter::FuzzyRow(keys), true, &rows), like);

        let ends: Vec<_> = ends.into_iter().collect();
        let range = |at: usize| FilterRange {
            start: ends[at].clone(),
            start_inclusive: flags[at],
            stop: ends[at + 1].clone(),
            stop_inclusive: flags[at + 1],
        };
        let ranges = [range(2), range(0)];
        let within = rows_where(&|row| ranges.iter().any(|range| {
            (*row > range.start || range.start_inclusive && *row == range.start)
                && (*row < range.stop || range.stop_inclusive && *row == range.stop)
        }));
        let ranges = Filter::MultiRowRange(ranges.into());
        prop_assert_eq!(scanned(&ranges, true, &rows), &within[..]);
        let rows: Vec<_> = rows.iter().rev().cloned().collect();
        let within: Vec<_> = within.into_iter().rev().collect();
        prop_assert_eq!(scanned(&ranges, false, &rows), within);
    }
}

#[test]
fn the_regular_expressions_of_a_filter_share_the_room_there_is() {
    // Several MiB each: one fits the limit, a thousand do not.
    let large = || {
        let pattern = RegexPattern {
            pattern: "[a-z]{20000}".into(),
            flags: RegexPattern::DOTALL,
            charset: "UTF-8".into(),
            engine: RegexEngine::Java,
        };
        let comparator = Comparator::Regex(pattern);
        Filter::Value(Comparison { operator: CompareOperator::Equal, comparator })
    };
    let all_of = |filters| Filter::List { operator: ListOperator::And, filters };
    FilterRun::new(&large(), false).unwrap();
    let error = FilterRun::new(&all_of(vec![large(); 1000]), false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("bytes_max=67108"), "{error}");
    // A thousand ordinary expressions fit.
    let small = Filter::parse("RowFilter(=, 'regexstring:^user[0-9]+.*(a|b)$')").unwrap();
    FilterRun::new(&all_of(vec![small; 1000]), false).unwrap();
}
