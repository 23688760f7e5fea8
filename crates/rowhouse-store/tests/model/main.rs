//! Random histories on one table, applied to the store and to a minimal HBase model (`plain.rs`,
//! `sift.rs`), with flushes, compactions and reopens in between; every read must return the same.
//!
//! ```text
//! PROPTEST_CASES=20000 cargo test -p rowhouse-store --release --test model
//! ```

#![expect(clippy::unwrap_used, reason = "a test may")]

mod plain;
mod run;
mod sift;
mod steps;

use proptest::prelude::*;
use run::Run;
use steps::{families, steps};

/// A fifth of the usual number of cases: each one syncs real files many times.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let cases = (usual.cases / 5).max(1);
    ProptestConfig { cases, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_history_reads_as_the_plain_rules_say(families in families(), steps in steps()) {
        let mut run = Run::new(&families);
        for step in &steps.0 {
            run.step(step);
        }
        run.end();
    }
}

/// Histories that once failed, in the model or in the store.
mod once {
    use rowhouse_model::{CellKind, Comparator, CompareOperator, Comparison};
    use rowhouse_model::{FamilyDescriptor, Filter, FilterRange, FuzzyKey, ListOperator, Scan};

    use super::run::Run;
    use super::steps::{Place, Read, Step};

    fn family(name: &'static str) -> FamilyDescriptor {
        FamilyDescriptor::new(name).unwrap()
    }

    fn place(family: usize, qualifier: usize, at: Option<u8>) -> Place {
        Place { family, qualifier, at }
    }

    fn check(families: [FamilyDescriptor; 2], steps: &[Step]) {
        let mut run = Run::new(&families);
        steps.iter().for_each(|step| run.step(step));
        run.end();
    }

    #[test]
    fn a_marker_of_the_family_stays_after_surplus_versions_of_the_nameless_column() {
        let steps = [
            Step::Put { row: 2, cells: vec![(place(1, 0, None), 0), (place(1, 0, Some(3)), 0)] },
            Step::Delete { place: place(1, 0, Some(0)), row: 2, kind: CellKind::DeleteFamily },
            Step::Put { row: 0, cells: vec![(place(1, 0, Some(0)), 0)] },
            Step::MajorCompact,
        ];
        check([family("f"), family("g").attribute("KEEP_DELETED_CELLS", "TRUE")], &steps);
    }

    fn scan(filter: Filter) -> Step {
        Step::Read(Box::new(Read { scan: Scan::all().filter(filter), get: None }))
    }

    #[test]
    fn a_filter_that_is_done_within_a_row_ends_all_but_later_families() {
        let row = |row| Step::Put {
            row,
            cells: vec![
                (place(0, 0, None), 0),
                (place(0, 1, None), 0),
                (place(0, 2, None), 0),
                (place(1, 0, None), 0),
            ],
        };
        let steps = [row(0), row(1), scan(Filter::ColumnCountGet(1)), Step::Flush];
        check(
            [family("f"), family("g")],
            &[&steps[..], &[scan(Filter::ColumnCountGet(2))]].concat(),
        );
    }

    #[test]
    fn a_filter_that_is_done_before_any_row_ends_the_scan_of_all_regions() {
        let row = |row| Step::Put { row, cells: vec![(place(0, 2, None), 0)] };
        // The filter rejects all of the first region and would accept all of the second.
        let comparator = Comparator::Binary("b".into());
        let from_b = Comparison { operator: CompareOperator::GreaterOrEqual, comparator };
        let filter = Filter::WhileMatch(Box::new(Filter::Row(from_b)));
        check([family("f"), family("g")], &[row(0), row(3), scan(filter)]);
    }

    #[test]
    fn a_delete_of_the_newest_version_uncovers_the_one_before_over_files() {
        let put = |at| Step::Put { row: 1, cells: vec![(place(0, 2, Some(at)), at)] };
        let delete =
            Step::Delete { place: place(0, 2, None), row: 1, kind: CellKind::DeleteVersion };
        let steps = [put(1), Step::Flush, put(2), Step::Flush, delete, Step::MinorCompact];
        check([family("f"), family("g")], &steps);
    }

    #[test]
    fn a_hint_back_to_another_row_ends_the_row_before_other_filters_have_counted_its_cells() {
        let put = |row, qualifiers: &[usize]| Step::Put {
            row,
            cells: qualifiers.iter().map(|&at| (place(0, at, Some(4)), 0)).collect(),
        };
        let fuzzy = FuzzyKey { key: "?b".into(), mask: (&[1u8, 0][..]).into() };
        let filters = vec![Filter::ColumnCountGet(1), Filter::FuzzyRow(vec![fuzzy])];
        let mut scan = Scan::all().filter(Filter::List { operator: ListOperator::And, filters });
        scan.reversed = true;
        let read = Step::Read(Box::new(Read { scan, get: None }));
        check([family("f"), family("g")], &[put(4, &[0, 1, 2, 3]), put(3, &[0]), read]);
    }

    #[test]
    fn cells_deleted_by_a_family_version_marker_count_until_a_later_older_family_marker() {
        let put = |at| Step::Put { row: 1, cells: vec![(place(0, 2, at), 0)] };
        let delete = |at, kind| Step::Delete { place: place(0, 0, Some(at)), row: 1, kind };
        let steps = [
            put(Some(5)),
            delete(5, CellKind::DeleteFamilyVersion),
            put(Some(3)),
            put(None),
            delete(0, CellKind::DeleteFamily),
        ];
        let by_sequence = family("f").attribute("NEW_VERSION_BEHAVIOR", "TRUE");
        check([by_sequence.attribute("VERSIONS", "2"), family("g")], &steps);
    }

    #[test]
    fn a_hint_to_a_later_row_leads_only_the_family_there_in_which_it_was_given() {
        let put = |row, cells: &[(usize, usize)]| Step::Put {
            row,
            cells: cells.iter().map(|&(family, at)| (place(family, at, None), 0)).collect(),
        };
        let from_ab = FilterRange {
            start: "ab".into(),
            start_inclusive: true,
            stop: "z".into(),
            stop_inclusive: false,
        };
        // The column count is reached in the first family. In the second, only the range decides,
        // and its hint leads on.
        let filters = vec![Filter::ColumnCountGet(1), Filter::MultiRowRange(vec![from_ab])];
        let filter = Filter::List { operator: ListOperator::Or, filters };
        let first = put(0, &[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]);
        check([family("f"), family("g")], &[put(1, &[(1, 0)]), first, scan(filter)]);
    }
}
