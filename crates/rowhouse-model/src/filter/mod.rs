//! HBase's filters on rows and cells.
//!
//! A [`Filter`] is a value that can be sent, printed, parsed and compared. `rowhouse-filter`
//! executes it.

mod comparator;
mod language;

use std::collections::BTreeSet;

use bytes::Bytes;

pub use comparator::{
    BitOperator, Comparator, CompareOperator, Comparison, RegexEngine, RegexPattern,
};

/// A filter: one variant for each HBase class.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// RowFilter: rows whose key satisfies the comparison.
    Row(Comparison),
    /// FamilyFilter: cells whose family satisfies the comparison.
    Family(Comparison),
    /// QualifierFilter: cells whose qualifier satisfies the comparison.
    Qualifier(Comparison),
    /// ValueFilter: cells whose value satisfies the comparison.
    Value(Comparison),
    /// DependentColumnFilter: cells that share a timestamp with a cell in a column.
    DependentColumn {
        /// The column's family.
        family: Bytes,
        /// The column's qualifier.
        qualifier: Bytes,
        /// Whether to exclude the column itself.
        drop_dependent_column: bool,
        /// The comparison that the column's value must satisfy for the cell to count; `None` for
        /// any value.
        value: Option<Comparison>,
    },
    /// SingleColumnValueFilter and, with `exclude`, SingleColumnValueExcludeFilter: rows whose
    /// column has a value that satisfies the comparison.
    SingleColumnValue {
        /// The column's family.
        family: Bytes,
        /// The column's qualifier.
        qualifier: Bytes,
        /// The comparison.
        value: Comparison,
        /// Whether to exclude rows without the column.
        filter_if_missing: bool,
        /// Whether only the newest version counts.
        latest_version_only: bool,
        /// Whether to exclude the column itself.
        exclude: bool,
    },
    /// ColumnValueFilter: only cells in one column whose value satisfies the comparison.
    ColumnValue {
        /// The column's family.
        family: Bytes,
        /// The column's qualifier.
        qualifier: Bytes,
        /// The comparison.
        value: Comparison,
    },
    /// PrefixFilter: rows whose key begins with this.
    Prefix(Bytes),
    /// ColumnPrefixFilter: qualifiers that begin with this.
    ColumnPrefix(Bytes),
    /// MultipleColumnPrefixFilter: qualifiers that begin with any prefix in the set.
    MultipleColumnPrefix(BTreeSet<Bytes>),
    /// ColumnRangeFilter: qualifiers in a range.
    ColumnRange {
        /// The lower bound; `None` for no bound.
        min: Option<Bytes>,
        /// Whether the lower bound is inclusive.
        min_inclusive: bool,
        /// The upper bound; `None` for no bound.
        max: Option<Bytes>,
        /// Whether the upper bound is inclusive.
        max_inclusive: bool,
    },
    /// ColumnCountGetFilter: this many first cells in a row.
    ColumnCountGet(u32),
    /// ColumnPaginationFilter: one page from a row's columns.
    ColumnPagination {
        /// The column count.
        limit: u32,
        /// The page start.
        from: ColumnOffset,
    },
    /// PageFilter: this many first rows in each region.
    Page(u64),
    /// KeyOnlyFilter: cells without their values or, with `length_as_value`, with the value
    /// replaced by the four-byte value length.
    KeyOnly {
        /// Whether the length replaces the value.
        length_as_value: bool,
    },
    /// FirstKeyOnlyFilter: the first cell in each row.
    FirstKeyOnly,
    /// FirstKeyValueMatchingQualifiersFilter: a row's cells up to the first qualifier in the set.
    FirstKeyValueMatchingQualifiers(BTreeSet<Bytes>),
    /// InclusiveStopFilter: rows up to and including this one.
    InclusiveStop(Bytes),
    /// MultiRowRangeFilter: rows in any range in the list.
    MultiRowRange(Vec<FilterRange>),
    /// FuzzyRowFilter: rows that match any pattern in the list.
    FuzzyRow(Vec<FuzzyKey>),
    /// RandomRowFilter: each row with this probability, from 0 (none) to 1 (all).
    RandomRow(f32),
    /// SkipFilter: rows in which the inner filter excludes no cell.
    Skip(Box<Filter>),
    /// WhileMatchFilter: everything before the first cell that the inner filter excludes.
    WhileMatch(Box<Filter>),
    /// TimestampsFilter: cells with a timestamp in the list.
    Timestamps {
        /// The timestamps.
        timestamps: BTreeSet<i64>,
        /// Whether the scan may seek to the next timestamp.
        can_hint: bool,
    },
    /// FilterList: cells that all filters in the list include, or that any includes.
    List {
        /// All or any.
        operator: ListOperator,
        /// The filters, in order.
        filters: Vec<Filter>,
    },
}

/// Maximum nesting depth for filters that can be parsed and executed.
pub const FILTER_DEPTH_MAX: usize = 100;

impl Filter {
    /// Returns the filter's own comparison, if it has one.
    pub fn comparison(&self) -> Option<&Comparison> {
        match self {
            Self::Row(value)
            | Self::Family(value)
            | Self::Qualifier(value)
            | Self::Value(value)
            | Self::SingleColumnValue { value, .. }
            | Self::ColumnValue { value, .. } => Some(value),
            Self::DependentColumn { value, .. } => value.as_ref(),
            _ => None,
        }
    }

    /// As [`Filter::comparison`], to be changed.
    pub fn comparison_mut(&mut self) -> Option<&mut Comparison> {
        match self {
            Self::Row(value)
            | Self::Family(value)
            | Self::Qualifier(value)
            | Self::Value(value)
            | Self::SingleColumnValue { value, .. }
            | Self::ColumnValue { value, .. } => Some(value),
            Self::DependentColumn { value, .. } => value.as_mut(),
            _ => None,
        }
    }

    /// Returns the filters directly inside this one.
    pub fn children(&self) -> &[Self] {
        match self {
            Self::Skip(inner) | Self::WhileMatch(inner) => std::slice::from_ref(inner),
            Self::List { filters, .. } => filters,
            _ => &[],
        }
    }

    /// As [`Filter::children`], to be changed.
    pub fn children_mut(&mut self) -> &mut [Self] {
        match self {
            Self::Skip(inner) | Self::WhileMatch(inner) => std::slice::from_mut(inner),
            Self::List { filters, .. } => filters,
            _ => &mut [],
        }
    }
}

/// The operator that combines the filters in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOperator {
    /// MUST_PASS_ALL.
    And,
    /// MUST_PASS_ONE.
    Or,
}

/// Where [`Filter::ColumnPagination`] starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnOffset {
    /// After this many columns.
    Skip(u32),
    /// At this qualifier.
    Qualifier(Bytes),
}

/// A row range in [`Filter::MultiRowRange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterRange {
    /// The first row; empty for no bound.
    pub start: Bytes,
    /// Whether `start` is inclusive.
    pub start_inclusive: bool,
    /// The last row; empty for no bound.
    pub stop: Bytes,
    /// Whether `stop` is inclusive.
    pub stop_inclusive: bool,
}

/// A pattern in [`Filter::FuzzyRow`]: fixed bytes and wildcard bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuzzyKey {
    /// The bytes.
    pub key: Bytes,
    /// As long as `key`: 0 for a fixed byte, 1 for a wildcard.
    pub mask: Bytes,
}
