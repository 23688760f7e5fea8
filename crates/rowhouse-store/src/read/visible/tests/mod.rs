mod golden;

use std::borrow::Cow;

use proptest::prelude::*;
use rowhouse_model::{Cell, FamilyDescriptor, TimeRange, Timestamp};

use super::*;
use crate::compaction_policy::CompactionKind;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

/// Returns the cells that a read with all versions sees, in the notation for `cells`: `q@5` is a
/// put, `q@5x` deletes a version, `q@5c` a column, `@5f` a family, `@5v` a family at a version;
/// `#7` is a sequence, `~9` the cell's own TTL.
fn read(family: &FamilyDescriptor, rules: impl FnOnce(&mut Rules<'_>), cells: &str) -> String {
    let mut cells: Vec<Cell> = cells.split_whitespace().map(parse).collect();
    cells.sort_by(|a, b| rowhouse_model::compare(&a.view(), &b.view()));
    let mut read_rules = Rules::read(family, None, TimeRange::ALL, u32::MAX, 1000);
    rules(&mut read_rules);
    let seen = shown(read_rules, &cells).into_iter().map(|at| print(&cells[at]));
    seen.collect::<Vec<_>>().join(" ")
}

/// Returns the indexes of the included cells among a row's cells.
fn shown(rules: Rules<'_>, cells: &[Cell]) -> Vec<usize> {
    let mut visible = Visible::new(rules);
    let mut seen = Vec::new();
    let mut done: Option<&[u8]> = None;
    for (at, cell) in cells.iter().enumerate() {
        if done == Some(cell.qualifier()) {
            continue;
        }
        let verdict = visible.judge(&cell.view());
        if matches!(verdict, Verdict::Include | Verdict::IncludeLast) {
            seen.push(at);
        }
        if matches!(verdict, Verdict::NextColumn | Verdict::IncludeLast) {
            done = Some(cell.qualifier());
        }
    }
    seen
}

fn parse(text: &str) -> Cell {
    let (text, ttl) = text.split_once('~').map_or((text, None), |(text, ttl)| (text, Some(ttl)));
    let (text, sequence) = text.split_once('#').unwrap_or((text, "0"));
    let (qualifier, rest) = text.split_once('@').unwrap();
    let digits = rest.trim_end_matches(|c: char| !c.is_ascii_digit());
    let kind = match &rest[digits.len()..] {
        "" => CellKind::Put,
        "x" => CellKind::DeleteVersion,
        "c" => CellKind::DeleteColumn,
        "f" => CellKind::DeleteFamily,
        "v" => CellKind::DeleteFamilyVersion,
        other => panic!("{other}"),
    };
    let millis = at(digits.parse().unwrap());
    let cell = Cell::new("r", "f", qualifier, millis, kind, "").unwrap();
    let tags = ttl.map_or_else(Vec::new, |ttl| {
        [&[0, 9, 8][..], &ttl.parse::<i64>().unwrap().to_be_bytes()].concat()
    });
    let cell = Cell::from_parts(cell.key(), b"", &tags).unwrap();
    cell.with_sequence(sequence.parse().unwrap())
}

fn print(cell: &Cell) -> String {
    let suffix = match cell.kind() {
        CellKind::Put => "",
        CellKind::DeleteVersion => "x",
        CellKind::DeleteColumn => "c",
        CellKind::DeleteFamily => "f",
        CellKind::DeleteFamilyVersion => "v",
    };
    let qualifier = String::from_utf8_lossy(cell.qualifier()).into_owned();
    format!("{qualifier}@{}{suffix}", cell.timestamp())
}

fn family(versions: u32) -> FamilyDescriptor {
    FamilyDescriptor::new("f").unwrap().versions(versions)
}

#[test]
fn a_read_sees_the_newest_versions_up_to_the_family_limit() {
    let cells = "a@1 a@2 a@3 b@1";
    assert_eq!(read(&family(1), |_| {}, cells), "a@3 b@1");
    assert_eq!(read(&family(2), |_| {}, cells), "a@3 a@2 b@1");
    assert_eq!(read(&family(9), |rules| rules.versions = 1, cells), "a@3 b@1");
}

#[test]
fn each_delete_covers_the_cells_of_its_kind() {
    let cells = "a@1 a@2 a@3 b@2 b@3";
    let see = |marker: &str| read(&family(9), |_| {}, &format!("{cells} {marker}"));
    assert_eq!(see("a@2x"), "a@3 a@1 b@3 b@2");
    assert_eq!(see("a@2c"), "a@3 b@3 b@2");
    assert_eq!(see("@2f"), "a@3 b@3");
    assert_eq!(see("@2v"), "a@3 a@1 b@3");
}

#[test]
fn a_delete_wins_over_a_put_at_its_timestamp_in_either_order() {
    assert_eq!(read(&family(9), |_| {}, "a@2x#1 a@2#2 a@1#1"), "a@1");
    assert_eq!(read(&family(9), |_| {}, "a@2c#1 a@2#2 a@1#3"), "");
}

#[test]
fn deleted_and_overwritten_cells_do_not_count_as_versions() {
    assert_eq!(read(&family(2), |_| {}, "a@3x a@3 a@2#1 a@2#2 a@1"), "a@2 a@1");
}

#[test]
fn a_time_range_uncovers_overwritten_versions() {
    let range = |rules: &mut Rules<'_>| rules.time_range = TimeRange::new(at(1), at(3)).unwrap();
    assert_eq!(read(&family(1), range, "a@1 a@2 a@3"), "a@2");
    assert_eq!(read(&family(1), range, "a@1 a@2 a@3 a@5c"), "");
}

#[test]
fn expired_cells_are_gone_but_for_the_least_versions() {
    // The time is 1000 ms; a one-second TTL keeps cells at 0 or later.
    let ttl = |versions: u32| family(versions).attribute("TTL", "1");
    let read_at = |family: &FamilyDescriptor, millis: i64, cells| {
        let rules = Rules::read(family, None, TimeRange::ALL, u32::MAX, millis);
        read(family, |read_rules| *read_rules = rules, cells)
    };
    assert_eq!(read_at(&ttl(9), 1002, "a@1 a@2 a@3 b@1"), "a@3 a@2");
    let keeping_one = ttl(9).attribute("MIN_VERSIONS", "1");
    assert_eq!(read_at(&keeping_one, 1003, "a@1 a@2 a@3 b@1 b@2"), "a@3 b@2");
}

#[test]
fn named_columns_are_seen_through_deletes_of_their_family() {
    let only_b = |rules: &mut Rules<'_>| {
        rules.qualifiers = Some(Cow::Owned(["b"].into_iter().collect()));
    };
    assert_eq!(read(&family(9), only_b, "a@1 b@1 b@3 c@1 @2f"), "b@3");
}

#[test]
fn markers_of_the_family_are_seen_after_a_column_without_qualifier() {
    assert_eq!(read(&family(1), |_| {}, "@5 @3f a@2 b@4"), "@5 b@4");
}

fn compact(kind: CompactionKind, family: &FamilyDescriptor, cells: &str) -> String {
    read(family, |rules| *rules = Rules::compact(kind, family, i64::MIN, 1000), cells)
}

#[test]
fn a_major_merge_drops_markers_and_invisible_cells() {
    let major = |cells| compact(CompactionKind::Major, &family(1), cells);
    assert_eq!(major("a@1 a@2 b@1 b@1x c@3c c@2 c@4"), "a@2 c@4");
    assert_eq!(major("a@1#1 a@1#2 @5f"), "");
    assert_eq!(major("@5 @3f a@2 b@4 b@5x"), "@5 b@4");
}

#[test]
fn a_minor_merge_keeps_markers_and_surplus_versions() {
    let minor = |cells| compact(CompactionKind::Minor, &family(1), cells);
    assert_eq!(minor("a@1 a@2 a@3"), "a@3 a@2 a@1");
    assert_eq!(minor("a@9c b@9x @9f @9v"), "@9f @9v a@9c b@9x");
}

#[test]
fn a_minor_merge_drops_puts_under_markers_that_it_keeps() {
    let minor = |cells| compact(CompactionKind::Minor, &family(9), cells);
    assert_eq!(minor("a@1 a@2 a@3 a@2x"), "a@3 a@2x a@1");
    assert_eq!(minor("a@1 a@2 a@3 a@2c"), "a@3 a@2c");
    assert_eq!(minor("@2f a@1 a@2 a@3 b@2"), "@2f a@3");
    assert_eq!(minor("@2v a@1 a@2 a@3 b@2"), "@2v a@3 a@1");
}

#[test]
fn a_minor_merge_drops_cells_rewritten_at_the_same_timestamp() {
    let minor = |cells| compact(CompactionKind::Minor, &family(9), cells);
    assert_eq!(minor("a@2#1 a@2#2 a@1#3"), "a@2 a@1");
    assert_eq!(minor("a@2x#1 a@2x#2 a@2c#3 a@2c#4 @1v#1 @1v#2"), "@1v a@2c a@2x");
}

#[test]
fn merges_drop_expired_cells_and_markers_unless_some_versions_outlive_them() {
    let ttl = family(9).attribute("TTL", "1");
    for kind in [CompactionKind::Minor, CompactionKind::Major] {
        let at = |family: &FamilyDescriptor, cells| {
            read(family, |rules| *rules = Rules::compact(kind, family, i64::MIN, 1003), cells)
        };
        assert_eq!(at(&ttl, "a@2 a@3 a@4 b@2c @2f"), "a@4 a@3", "{kind:?}");
    }
    let keeping_one = ttl.attribute("MIN_VERSIONS", "1");
    let at = |kind| {
        read(
            &keeping_one,
            |rules| *rules = Rules::compact(kind, &keeping_one, i64::MIN, 1003),
            "a@1 a@2 b@1 b@2c c@1",
        )
    };
    assert_eq!(at(CompactionKind::Major), "a@2 c@1");
    assert_eq!(at(CompactionKind::Minor), "a@2 a@1 b@2c c@1");
}

fn keeping(what: &'static str) -> FamilyDescriptor {
    family(9).attribute("KEEP_DELETED_CELLS", what)
}

/// Restricts a read to timestamps below `max`.
fn before(max: i64) -> impl FnOnce(&mut Rules<'_>) {
    move |rules| rules.time_range = TimeRange::new(at(0), at(max)).unwrap()
}

#[test]
fn a_cell_is_seen_as_long_as_it_says_itself_and_as_its_family_says() {
    // The time is 1000 ms.
    assert_eq!(read(&family(9), |_| {}, "a@5~995 b@5~994 c@5"), "a@5 c@5");
    assert_eq!(read(&family(1), |_| {}, "a@5~994 a@3"), "a@3", "it does not count as a version");
    assert_eq!(read(&family(1), |_| {}, "a@5#2~994 a@5#1"), "a@5", "nor does it overwrite");
    assert_eq!(read(&family(1), |_| {}, "a@5~9223372036854775807"), "a@5", "without end");
    let ttl = family(9).attribute("TTL", "1");
    let late = |rules: &mut Rules<'_>| {
        *rules = Rules::read(&ttl, None, TimeRange::ALL, u32::MAX, 1006);
    };
    assert_eq!(read(&ttl, late, "a@5~5000 b@6~5000"), "b@6");
}

#[test]
fn merges_drop_cells_past_their_own_ttl_unless_that_uncovers_others() {
    let cells = "a@5#2~994 a@5#1 b@5#2~2000 b@5#1 c@5x#2~2000 c@5#1";
    let minor = compact(CompactionKind::Minor, &family(1), cells);
    assert_eq!(minor, "a@5 b@5 b@5 c@5x c@5");
    assert_eq!(compact(CompactionKind::Major, &family(1), cells), "a@5 b@5");
}

#[test]
fn a_read_of_a_time_before_a_delete_sees_retained_deleted_cells() {
    let cells = "a@1 a@2 a@5c b@3 b@3x @4v c@4";
    for what in ["TRUE", "TTL"] {
        assert_eq!(read(&keeping(what), |_| {}, cells), "");
        assert_eq!(read(&keeping(what), before(5), cells), "a@2 a@1");
        assert_eq!(read(&keeping(what), before(3), cells), "a@2 a@1");
    }
    assert_eq!(read(&keeping("FALSE"), before(5), cells), "");
}

#[test]
fn a_major_merge_keeps_deleted_cells_as_versions_with_the_markers_that_puts_may_lie_under() {
    let major = |family: &FamilyDescriptor, cells: &str| {
        let earliest = |rules: &mut Rules<'_>| {
            *rules = Rules::compact(CompactionKind::Major, family, 2, 1003);
        };
        read(family, earliest, cells)
    };
    assert_eq!(major(&keeping("TRUE"), "a@2 a@3 a@5c b@1x"), "a@5c a@3 a@2");
    let two = keeping("TRUE").versions(2);
    assert_eq!(major(&two, "a@2 a@3 a@4x a@4 a@5"), "a@5 a@4x a@4");
    assert_eq!(major(&two, "a@2x a@2 a@4 a@5"), "a@5 a@4 a@2x");
    // At 1003 ms cells below 3 have expired.
    let ttl = keeping("TTL").attribute("TTL", "1").attribute("MIN_VERSIONS", "1");
    assert_eq!(major(&ttl, "a@2 a@3c b@2 b@2c"), "a@3c a@2");
}

fn by_sequence(versions: u32) -> FamilyDescriptor {
    family(versions).attribute("NEW_VERSION_BEHAVIOR", "true")
}

#[test]
fn a_delete_by_sequence_covers_earlier_writes() {
    assert_eq!(read(&by_sequence(9), |_| {}, "a@2x#1 a@2#2 a@1#1"), "a@2 a@1");
    assert_eq!(read(&by_sequence(9), |_| {}, "a@5c#2 a@4#1 a@3#3"), "a@3");
    assert_eq!(read(&by_sequence(9), |_| {}, "@5f#2 a@4#1 a@3#3 b@5#2"), "a@3");
    assert_eq!(read(&by_sequence(9), |_| {}, "@4v#2 a@4#1 b@4#3"), "b@4");
    assert_eq!(read(&by_sequence(9), |_| {}, "@5f#2 @4#1 @3#3"), "@3", "without a qualifier");
}

#[test]
fn surplus_versions_before_a_delete_by_sequence_stay_hidden() {
    assert_eq!(read(&by_sequence(1), |_| {}, "a@1#1 a@2#2 a@2x#3"), "");
    assert_eq!(read(&by_sequence(1), |_| {}, "a@2#1 a@2x#2 a@1#3"), "a@1");
    assert_eq!(read(&by_sequence(2), |_| {}, "a@1#1 a@2#2 a@3#3 a@3x#4"), "a@2");
}

#[test]
fn among_cells_without_sequences_a_delete_covers_by_time() {
    assert_eq!(read(&by_sequence(9), |_| {}, "a@5c a@4 a@6 b@3x b@3 b@2"), "a@6 b@2");
}

#[test]
fn a_raw_read_shows_markers_and_covered_cells_of_any_age() {
    let ttl = family(1).attribute("TTL", "1");
    let raw = |versions: u32| {
        let family = ttl.clone();
        move |rules: &mut Rules<'_>| *rules = Rules::raw(&family, TimeRange::ALL, versions, 9000)
    };
    let cells = "@9f @9f a@1 a@2 a@3#2 a@3#1 a@2x a@4c b@5 b@5~1";
    assert_eq!(read(&ttl, raw(9), cells), "@9f a@4c a@3 a@2x a@2 a@1 b@5");
    assert_eq!(read(&ttl, raw(1), cells), "@9f a@4c a@3 a@2x b@5", "a marker is no version");
    let late = |rules: &mut Rules<'_>| {
        *rules = Rules::raw(&ttl, TimeRange::new(at(2), at(4)).unwrap(), 9, 9000);
    };
    assert_eq!(read(&ttl, late, cells), "a@3 a@2x a@2");
}

#[test]
fn before_a_filter_the_version_limit_of_the_family_counts() {
    let read = |family: &FamilyDescriptor| {
        let rules = Rules::read(family, None, TimeRange::ALL, 1, 1000).before_filter();
        (rules.0.versions, rules.1)
    };
    assert_eq!(read(&family(3)), (3, 1));
    assert_eq!(read(&by_sequence(3)), (1, 1));
    let (raw, left) = Rules::raw(&family(3), TimeRange::ALL, 7, 1000).before_filter();
    assert_eq!((raw.versions, left), (u32::MAX, 7));
}

proptest! {
    /// Asking for the fate of every cell in a column gives the same result as a read.
    #[test]
    fn nothing_is_included_after_the_end_of_a_column(case in 0..golden::GOLDEN.lines().count()) {
        let line = golden::GOLDEN.lines().nth(case).unwrap();
        let case = golden::Case::parse(line);
        prop_assume!(case.is_read());
        let rules = case.rules();
        let mut visible = Visible::new(rules.clone());
        let mut included = Vec::new();
        for (at, cell) in case.cells.iter().enumerate() {
            if !visible.is_in_column(&cell.view()) {
                visible.enter_column(cell.qualifier());
            }
            if matches!(visible.fate(&cell.view()), Fate::Included { .. }) {
                included.push(at);
            }
        }
        prop_assert_eq!(included, shown(rules, &case.cells));
    }
}
