//! The operations and reads on a table, drawn from small alphabets so that they collide.

use std::fmt;

use proptest::prelude::*;
use rowhouse_model::{
    CellKind, ColumnOffset, Comparator, CompareOperator, Comparison, FamilyDescriptor, Filter,
    FilterRange, FuzzyKey, ListOperator, RowRange, Scan, TimeRange, Timestamp,
};

/// The names of every table's two families.
pub(crate) const FAMILIES: [&str; 2] = ["f", "g"];
/// Rows that are prefixes of each other, around the boundary between two regions.
pub(crate) const ROWS: [&str; 5] = ["a", "a\0", "ab", "b", "ba"];
/// The second region's first row.
pub(crate) const SPLIT: &str = "b";
/// The column with an empty name sorts together with the family's markers.
pub(crate) const QUALIFIERS: [&str; 4] = ["", "n", "x", "xy"];

/// A history; prints one step per line.
#[derive(Clone)]
pub(crate) struct Steps(pub(crate) Vec<Step>);

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| write!(f, "\n{step:?},"))
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Put {
        row: usize,
        cells: Vec<(Place, u8)>,
    },
    Delete {
        place: Place,
        row: usize,
        kind: CellKind,
    },
    DeleteRow {
        row: usize,
    },
    Increment {
        row: usize,
        family: usize,
        amount: i64,
    },
    /// Moves the clock forward by this many seconds.
    Wait(u8),
    Flush,
    MinorCompact,
    MajorCompact,
    Reopen,
    Read(Box<Read>),
}

/// A column, and a timestamp unless the clock's is used.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) family: usize,
    pub(crate) qualifier: usize,
    pub(crate) at: Option<u8>,
}

/// A scan, or a get with the same options for one row.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) scan: Scan,
    pub(crate) get: Option<usize>,
}

/// Family declarations. With a TTL, timestamps in steps expire as the clock moves.
pub(crate) fn families() -> impl Strategy<Value = [FamilyDescriptor; 2]> {
    let one = |name: &'static str| {
        let versions = prop::sample::select(vec!["1", "2", "3", "50"]);
        let ttl = prop::sample::select(vec!["", "", "3", "1000"]);
        let least = prop::sample::select(vec!["0", "0", "1", "2"]);
        let keep_deleted = prop::sample::select(vec!["FALSE", "FALSE", "TRUE", "TTL"]);
        let bloom = prop::sample::select(vec!["ROW", "ROWCOL", "NONE"]);
        (versions, ttl, least, keep_deleted, bloom, prop::bool::weighted(0.2)).prop_map(
            move |(versions, ttl, least, keep_deleted, bloom, by_sequence)| {
                let mut family = FamilyDescriptor::new(name)
                    .unwrap_or_else(|error| panic!("{error}"))
                    .attribute("VERSIONS", versions)
                    .attribute("BLOOMFILTER", bloom);
                // The model has no files, so it does not know which versions a flush or a minor
                // compaction would drop.
                let keeping = ("rowhouse.compaction.minor.drops.versions".into(), "false".into());
                family.configuration.extend([keeping]);
                if by_sequence {
                    return family.attribute("NEW_VERSION_BEHAVIOR", "TRUE");
                }
                if !ttl.is_empty() {
                    family = family.attribute("TTL", ttl);
                    if least <= versions {
                        family = family.attribute("MIN_VERSIONS", least);
                    }
                }
                family.attribute("KEEP_DELETED_CELLS", keep_deleted)
            },
        )
    };
    [one("f"), one("g")]
}

pub(crate) fn steps() -> impl Strategy<Value = Steps> {
    let row = || 0..ROWS.len();
    let kinds = prop::sample::select(vec![
        CellKind::DeleteVersion,
        CellKind::DeleteColumn,
        CellKind::DeleteFamily,
        CellKind::DeleteFamilyVersion,
    ]);
    let step = prop_oneof![
        16 => (row(), prop::collection::vec((place(), any::<u8>()), 1..4))
            .prop_map(|(row, cells)| Step::Put { row, cells }),
        8 => (place(), row(), kinds).prop_map(|(place, row, kind)| Step::Delete { place, row, kind }),
        1 => row().prop_map(|row| Step::DeleteRow { row }),
        3 => (row(), 0..2usize, -3i64..9)
            .prop_map(|(row, family, amount)| Step::Increment { row, family, amount }),
        1 => (1u8..4).prop_map(Step::Wait),
        3 => Just(Step::Flush),
        1 => Just(Step::MinorCompact),
        1 => Just(Step::MajorCompact),
        1 => Just(Step::Reopen),
        12 => read().prop_map(|read| Step::Read(Box::new(read))),
    ];
    prop::collection::vec(step, 1..60).prop_map(Steps)
}

fn place() -> impl Strategy<Value = Place> {
    (0..2usize, 0..QUALIFIERS.len(), prop::option::weighted(0.85, 0u8..7))
        .prop_map(|(family, qualifier, at)| Place { family, qualifier, at })
}

fn range() -> impl Strategy<Value = TimeRange> {
    (0i64..7, 1i64..4).prop_map(|(from, len)| {
        let at = |millis| Timestamp::from_millis(millis).unwrap_or_else(|e| panic!("{e}"));
        TimeRange::new(at(from), at(from + len)).unwrap_or_else(|e| panic!("{e}"))
    })
}

fn read() -> impl Strategy<Value = Read> {
    let rows = (prop::option::of(0..ROWS.len()), prop::option::of(0..ROWS.len()));
    let columns = prop::collection::vec((0..2usize, prop::option::of(0..QUALIFIERS.len())), 0..4);
    let columns = prop_oneof![2 => Just(Vec::new()), 1 => columns];
    let times =
        (prop::option::weighted(0.25, range()), prop::option::weighted(0.2, (0..2usize, range())));
    let limits = (
        prop::option::weighted(0.2, 1u32..4),
        prop_oneof![4 => Just(0u32), 1 => 1u32..3],
        prop::option::weighted(0.2, 1u32..4),
        prop::option::weighted(0.2, 1u64..4),
    );
    let kinds =
        (any::<bool>(), prop::bool::weighted(0.15), prop::option::weighted(0.3, 0..ROWS.len()));
    let versions = prop::sample::select(vec![1u32, 2, 9]);
    let filter = prop::option::weighted(0.3, filter());
    (rows, columns, times, limits, kinds, versions, filter).prop_map(
        |(rows, columns, times, limits, (reversed, raw, get), versions, filter)| {
            let bound = |at: Option<usize>| at.map_or("", |at| ROWS[at]);
            let mut scan =
                Scan::new(RowRange::new(bound(rows.0), bound(rows.1))).versions(versions);
            for (family, qualifier) in columns.into_iter().filter(|_| !raw) {
                scan = match qualifier {
                    None => scan.family(FAMILIES[family]),
                    Some(at) => scan.column(FAMILIES[family], QUALIFIERS[at]),
                };
            }
            scan.time_range = times.0.unwrap_or(TimeRange::ALL);
            if let Some((family, range)) = times.1 {
                scan.family_time_ranges.insert(FAMILIES[family].into(), range);
            }
            (scan.family_limit, scan.family_offset, scan.batch, scan.limit) = limits;
            (scan.reversed, scan.raw) = (reversed, raw);
            scan.filter = filter.map(Box::new);
            if scan.filter.is_some() {
                // A batch is refused with filters that must see whole rows.
                scan.batch = None;
            }
            if scan.batch.is_some() {
                scan.limit = None;
            }
            if scan.filter.as_deref().is_some_and(is_fuzzy_in_a_list) {
                // HBase never answers this in reverse; how other filters in the list handle the
                // rows between is our own.
                scan.reversed = false;
            }
            if scan.filter.as_deref().is_some_and(ends_at_a_row) {
                scan.time_range = TimeRange::ALL;
                scan.family_time_ranges.clear();
            }
            Read { scan, get: get.filter(|_| !raw) }
        },
    )
}

fn is_fuzzy_in_a_list(filter: &Filter) -> bool {
    let has_fuzzy = |filters: &[Filter]| {
        filters.iter().any(|it| matches!(it, Filter::FuzzyRow(_)) || is_fuzzy_in_a_list(it))
    };
    match filter {
        Filter::Skip(inner) | Filter::WhileMatch(inner) => is_fuzzy_in_a_list(inner),
        Filter::List { filters, .. } => has_fuzzy(filters),
        _ => false,
    }
}

/// Returns true if a row without visible cells may end the scan, or one family for the rest of it.
/// Whether such a row is visited depends on whether the row's file is opened, and so on the
/// requested times and on expiry, in HBase too.
pub(crate) fn ends_at_a_row(filter: &Filter) -> bool {
    match filter {
        Filter::WhileMatch(_) | Filter::ColumnCountGet(_) => true,
        Filter::Skip(inner) => ends_at_a_row(inner),
        Filter::List { filters, .. } => filters.iter().any(ends_at_a_row),
        _ => false,
    }
}

/// Filters with every kind of match code. The tests in `rowhouse-format` compare each filter's
/// decisions with HBase.
fn filter() -> impl Strategy<Value = Filter> {
    let binary = |operator, value: &'static str| Comparison {
        operator,
        comparator: Comparator::Binary(value.into()),
    };
    let operators = || {
        prop::sample::select(vec![
            CompareOperator::Less,
            CompareOperator::Equal,
            CompareOperator::NotEqual,
        ])
    };
    let rows = || prop::sample::select(ROWS.to_vec());
    let qualifiers = || prop::sample::select(QUALIFIERS.to_vec());
    let leaf = prop_oneof![
        (operators(), rows()).prop_map(move |(o, row)| Filter::Row(binary(o, row))),
        (operators(), qualifiers()).prop_map(move |(o, name)| Filter::Qualifier(binary(o, name))),
        operators().prop_map(move |o| Filter::Value(binary(o, "\u{40}"))),
        operators().prop_map(move |o| Filter::Family(binary(o, "g"))),
        rows().prop_map(|row| Filter::Prefix(row.into())),
        Just(Filter::ColumnPrefix("x".into())),
        (1u32..4).prop_map(Filter::ColumnCountGet),
        (1u32..3, 0u32..3).prop_map(|(limit, skip)| Filter::ColumnPagination {
            limit,
            from: ColumnOffset::Skip(skip)
        }),
        (1u64..3).prop_map(Filter::Page),
        any::<bool>().prop_map(|length_as_value| Filter::KeyOnly { length_as_value }),
        Just(Filter::FirstKeyOnly),
        rows().prop_map(|row| Filter::InclusiveStop(row.into())),
        any::<bool>()
            .prop_map(|can_hint| Filter::Timestamps { timestamps: [1, 3, 5].into(), can_hint }),
        rows().prop_map(|start| Filter::MultiRowRange(vec![FilterRange {
            start: start.into(),
            start_inclusive: true,
            stop: "z".into(),
            stop_inclusive: false,
        }])),
        Just(Filter::FuzzyRow(vec![FuzzyKey { key: "?b".into(), mask: vec![1, 0].into() }])),
        (operators(), any::<bool>(), any::<bool>()).prop_map(move |(o, missing, latest)| {
            Filter::SingleColumnValue {
                family: "f".into(),
                qualifier: "x".into(),
                value: binary(o, "\u{40}"),
                filter_if_missing: missing,
                latest_version_only: latest,
                exclude: false,
            }
        }),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        let lists = (any::<bool>(), prop::collection::vec(inner.clone(), 1..4));
        prop_oneof![
            inner.clone().prop_map(|filter| Filter::Skip(Box::new(filter))),
            inner.prop_map(|filter| Filter::WhileMatch(Box::new(filter))),
            lists.prop_map(|(all, filters)| Filter::List {
                operator: if all { ListOperator::And } else { ListOperator::Or },
                filters,
            }),
        ]
    })
}
