//! What else a read asks of rows and cells: HBase's filters.
//!
//! A [`Filter`] is a value: it travels, prints and compares. A [`FilterRun`] is one at work on a scan.

mod comparator;
mod language;
mod run;

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::{Error, Result};

pub use comparator::{
    BitOperator, Comparator, CompareOperator, Comparison, ComparisonRun, FullMatch, RegexEngine,
    RegexPattern,
};
pub use run::{FilterRun, FilterVerdict, KeptValue};

/// A filter: one variant for each class of HBase's, under its name there.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// RowFilter: rows whose key compares so.
    Row(Comparison),
    /// FamilyFilter: cells whose family compares so.
    Family(Comparison),
    /// QualifierFilter: cells whose qualifier compares so.
    Qualifier(Comparison),
    /// ValueFilter: cells whose value compares so.
    Value(Comparison),
    /// DependentColumnFilter: cells that share a timestamp with a cell of a column.
    DependentColumn {
        /// The column's family.
        family: Bytes,
        /// The column's qualifier.
        qualifier: Bytes,
        /// Whether the column itself is left out.
        drop_dependent_column: bool,
        /// What the column's value must be for the cell to count; `None` for anything.
        value: Option<Comparison>,
    },
    /// SingleColumnValueFilter and, with `exclude`, SingleColumnValueExcludeFilter: rows whose
    /// column has a value that compares so.
    SingleColumnValue {
        /// The column's family.
        family: Bytes,
        /// The column's qualifier.
        qualifier: Bytes,
        /// What the value must be.
        value: Comparison,
        /// Whether a row without the column is left out.
        filter_if_missing: bool,
        /// Whether only the newest version counts.
        latest_version_only: bool,
        /// Whether the column itself is left out.
        exclude: bool,
    },
    /// ColumnValueFilter: the cells of a column whose value compares so, and no others.
    ColumnValue {
        /// The column's family.
        family: Bytes,
        /// The column's qualifier.
        qualifier: Bytes,
        /// What the value must be.
        value: Comparison,
    },
    /// PrefixFilter: rows whose key begins with this.
    Prefix(Bytes),
    /// ColumnPrefixFilter: qualifiers that begin with this.
    ColumnPrefix(Bytes),
    /// MultipleColumnPrefixFilter: qualifiers that begin with any of these.
    MultipleColumnPrefix(BTreeSet<Bytes>),
    /// ColumnRangeFilter: qualifiers between two.
    ColumnRange {
        /// The lowest; `None` for no bound.
        min: Option<Bytes>,
        /// Whether the lowest is in.
        min_inclusive: bool,
        /// The highest; `None` for no bound.
        max: Option<Bytes>,
        /// Whether the highest is in.
        max_inclusive: bool,
    },
    /// ColumnCountGetFilter: the first so many cells of a row.
    ColumnCountGet(u32),
    /// ColumnPaginationFilter: so many columns of a row, from a place.
    ColumnPagination {
        /// How many.
        limit: u32,
        /// From where.
        from: ColumnOffset,
    },
    /// PageFilter: the first so many rows of each region.
    Page(u64),
    /// KeyOnlyFilter: cells without their values or, with `length_as_value`, with the four-byte
    /// length of the value instead of it.
    KeyOnly {
        /// Whether the length takes the value's place.
        length_as_value: bool,
    },
    /// FirstKeyOnlyFilter: the first cell of each row.
    FirstKeyOnly,
    /// FirstKeyValueMatchingQualifiersFilter: the cells of a row up to the first of these qualifiers.
    FirstKeyValueMatchingQualifiers(BTreeSet<Bytes>),
    /// InclusiveStopFilter: rows up to this one, which is in.
    InclusiveStop(Bytes),
    /// MultiRowRangeFilter: rows in any of these ranges.
    MultiRowRange(Vec<FilterRange>),
    /// FuzzyRowFilter: rows like any of these.
    FuzzyRow(Vec<FuzzyKey>),
    /// RandomRowFilter: each row with this chance, from 0 (none) to 1 (all).
    RandomRow(f32),
    /// SkipFilter: rows of which no cell is filtered out.
    Skip(Box<Filter>),
    /// WhileMatchFilter: everything up to the first that is filtered out.
    WhileMatch(Box<Filter>),
    /// TimestampsFilter: cells at one of these timestamps.
    Timestamps {
        /// The timestamps.
        timestamps: BTreeSet<i64>,
        /// Whether the scan may jump to the next of them.
        can_hint: bool,
    },
    /// FilterList: what all of these let through, or any of them.
    List {
        /// All, or any.
        operator: ListOperator,
        /// The filters, in order.
        filters: Vec<Filter>,
    },
}

/// How deep filters may be in each other.
pub const FILTER_DEPTH_MAX: usize = 100;

impl Filter {
    /// Refuses a filter that is nested too deep to be walked through.
    pub(crate) fn check_depth(&self) -> Result<()> {
        let mut level: Vec<&Self> = vec![self];
        for _ in 0..FILTER_DEPTH_MAX {
            level = level.into_iter().flat_map(Self::inner).collect();
            if level.is_empty() {
                return Ok(());
            }
        }
        Err(Error::invalid(format!("filters too deep in each other: max={FILTER_DEPTH_MAX}")))
    }

    /// How many regular expressions it compares with. Call after [`Filter::check_depth`].
    pub(crate) fn regexes(&self) -> usize {
        let own = match self {
            Self::Row(value)
            | Self::Family(value)
            | Self::Qualifier(value)
            | Self::Value(value)
            | Self::SingleColumnValue { value, .. }
            | Self::ColumnValue { value, .. }
            | Self::DependentColumn { value: Some(value), .. } => {
                usize::from(matches!(value.comparator, Comparator::Regex(_)))
            }
            _ => 0,
        };
        own + self.inner().iter().map(Self::regexes).sum::<usize>()
    }

    /// The filters right below this one.
    fn inner(&self) -> &[Self] {
        match self {
            Self::Skip(inner) | Self::WhileMatch(inner) => std::slice::from_ref(inner),
            Self::List { filters, .. } => filters,
            _ => &[],
        }
    }
}

/// How the filters of a list go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOperator {
    /// MUST_PASS_ALL.
    And,
    /// MUST_PASS_ONE.
    Or,
}

/// Where [`Filter::ColumnPagination`] begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnOffset {
    /// Behind so many columns.
    Skip(u32),
    /// At this qualifier.
    Qualifier(Bytes),
}

/// Rows of [`Filter::MultiRowRange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterRange {
    /// The first row; empty for no bound.
    pub start: Bytes,
    /// Whether `start` itself is in.
    pub start_inclusive: bool,
    /// The last row; empty for no bound.
    pub stop: Bytes,
    /// Whether `stop` itself is in.
    pub stop_inclusive: bool,
}

/// A key of [`Filter::FuzzyRow`]: bytes that must be there, and bytes that may be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuzzyKey {
    /// The bytes.
    pub key: Bytes,
    /// As long as `key`: 0 where the byte must be there, 1 where it may be anything.
    pub mask: Bytes,
}
