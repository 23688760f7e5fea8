//! The enumeration of filter states, and the dispatch of calls to them.

use rowhouse_model::{CellRef, Filter, Key, KeyBuf, ListOperator, Result};

use super::columns::{
    ColumnCount, ColumnPage, ColumnPrefix, ColumnPrefixes, ColumnRange, Timestamps,
};
use super::fuzzy::Fuzzy;
use super::list::{AllOf, AnyOf};
use super::ranges::Ranges;
use super::rows::{Compared, InclusiveStop, Page, Prefix, RandomRow};
use super::values::{ColumnValue, Dependent, FirstKey, KeyOnly, Part, PartCompared, SingleColumn};
use super::wrap::{Skip, WhileMatch};
use super::{FilterVerdict, KeptValue};
use crate::regex::RegexMemoryLimit;

/// Execution state of a filter; the names follow [`Filter`].
#[derive(Debug)]
pub(super) enum State {
    Row(Compared),
    Part(PartCompared),
    Dependent(Dependent),
    SingleColumn(SingleColumn),
    ColumnValue(ColumnValue),
    Prefix(Prefix),
    ColumnPrefix(ColumnPrefix),
    ColumnPrefixes(ColumnPrefixes),
    ColumnRange(ColumnRange),
    ColumnCount(ColumnCount),
    ColumnPage(ColumnPage),
    Page(Page),
    KeyOnly(KeyOnly),
    FirstKey(FirstKey),
    InclusiveStop(InclusiveStop),
    Ranges(Ranges),
    Fuzzy(Fuzzy),
    RandomRow(RandomRow),
    Timestamps(Timestamps),
    Skip(Skip),
    WhileMatch(WhileMatch),
    AllOf(AllOf),
    AnyOf(AnyOf),
}

impl State {
    /// Prepares a filter. As in HBase, the outermost filter and the members of lists know that the
    /// scan is reversed, but the filters inside SkipFilter and WhileMatchFilter do not.
    pub(super) fn start(filter: &Filter, reversed: bool, room: RegexMemoryLimit) -> Result<Self> {
        Ok(match filter {
            Filter::Row(comparison) => Self::Row(Compared::start(comparison, room)?),
            Filter::Family(comparison) => {
                Self::Part(PartCompared::start(Part::Family, comparison, room)?)
            }
            Filter::Qualifier(comparison) => {
                Self::Part(PartCompared::start(Part::Qualifier, comparison, room)?)
            }
            Filter::Value(comparison) => {
                Self::Part(PartCompared::start(Part::Value, comparison, room)?)
            }
            Filter::DependentColumn { family, qualifier, drop_dependent_column, value } => {
                let column = (family.clone(), qualifier.clone());
                Self::Dependent(Dependent::start(
                    column,
                    *drop_dependent_column,
                    value.as_ref(),
                    room,
                )?)
            }
            Filter::SingleColumnValue { .. } => {
                Self::SingleColumn(SingleColumn::start(filter, room)?)
            }
            Filter::ColumnValue { family, qualifier, value } => Self::ColumnValue(
                ColumnValue::start(family.clone(), qualifier.clone(), value, room)?,
            ),
            Filter::Prefix(prefix) => Self::Prefix(Prefix::new(prefix.clone(), reversed)),
            Filter::ColumnPrefix(prefix) => Self::ColumnPrefix(ColumnPrefix::new(prefix.clone())),
            Filter::MultipleColumnPrefix(prefixes) => {
                Self::ColumnPrefixes(ColumnPrefixes::new(prefixes))
            }
            Filter::ColumnRange { min, min_inclusive, max, max_inclusive } => {
                let (min, max) = ((min.clone(), *min_inclusive), (max.clone(), *max_inclusive));
                Self::ColumnRange(ColumnRange::new(min, max))
            }
            Filter::ColumnCountGet(limit) => Self::ColumnCount(ColumnCount::start(*limit)?),
            Filter::ColumnPagination { limit, from } => {
                Self::ColumnPage(ColumnPage::start(*limit, from)?)
            }
            Filter::Page(rows) => Self::Page(Page::start(*rows)?),
            Filter::KeyOnly { length_as_value } => Self::KeyOnly(KeyOnly::new(*length_as_value)),
            Filter::FirstKeyOnly => Self::FirstKey(FirstKey::of_any_column()),
            Filter::FirstKeyValueMatchingQualifiers(qualifiers) => {
                Self::FirstKey(FirstKey::of(qualifiers.clone()))
            }
            Filter::InclusiveStop(row) => {
                Self::InclusiveStop(InclusiveStop::new(row.clone(), reversed))
            }
            Filter::MultiRowRange(ranges) => Self::Ranges(Ranges::start(ranges, reversed)?),
            Filter::FuzzyRow(keys) => Self::Fuzzy(Fuzzy::start(keys, reversed)?),
            Filter::RandomRow(chance) => Self::RandomRow(RandomRow::new(*chance)),
            Filter::Skip(inner) => Self::Skip(Skip::new(Self::start(inner, false, room)?)),
            Filter::WhileMatch(inner) => {
                Self::WhileMatch(WhileMatch::new(Self::start(inner, false, room)?))
            }
            Filter::Timestamps { timestamps, can_hint } => {
                Self::Timestamps(Timestamps::start(timestamps, *can_hint)?)
            }
            Filter::List { operator, filters } => {
                let members = filters.iter().map(|filter| Self::start(filter, reversed, room));
                let members = members.collect::<Result<Vec<_>>>()?;
                match operator {
                    ListOperator::And => Self::AllOf(AllOf::new(members, reversed)),
                    ListOperator::Or => Self::AnyOf(AnyOf::new(members, reversed)),
                }
            }
        })
    }

    /// Resets the state at the end of a row.
    pub(super) fn reset(&mut self) {
        match self {
            Self::Row(state) => state.reset(),
            Self::Dependent(state) => state.reset(),
            Self::SingleColumn(state) => state.reset(),
            Self::ColumnValue(state) => state.reset(),
            Self::Prefix(state) => state.reset(),
            Self::ColumnCount(state) => state.reset(),
            Self::ColumnPage(state) => state.reset(),
            Self::FirstKey(state) => state.reset(),
            Self::Fuzzy(state) => state.reset(),
            Self::RandomRow(state) => state.reset(),
            Self::Skip(state) => state.reset(),
            Self::WhileMatch(state) => state.reset(),
            Self::AllOf(state) => state.reset(),
            Self::AnyOf(state) => state.reset(),
            Self::Part(_)
            | Self::ColumnPrefix(_)
            | Self::ColumnPrefixes(_)
            | Self::ColumnRange(_)
            | Self::Page(_)
            | Self::KeyOnly(_)
            | Self::InclusiveStop(_)
            | Self::Ranges(_)
            | Self::Timestamps(_) => {}
        }
    }

    /// HBase's filterAllRemaining.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Prefix(state) => state.is_done(),
            Self::ColumnCount(state) => state.is_done(),
            Self::Page(state) => state.is_done(),
            Self::InclusiveStop(state) => state.is_done(),
            Self::Ranges(state) => state.is_done(),
            Self::Fuzzy(state) => state.is_done(),
            Self::WhileMatch(state) => state.is_done(),
            Self::AllOf(state) => state.is_done(),
            Self::AnyOf(state) => state.is_done(),
            Self::Row(_)
            | Self::Part(_)
            | Self::Dependent(_)
            | Self::SingleColumn(_)
            | Self::ColumnValue(_)
            | Self::ColumnPrefix(_)
            | Self::ColumnPrefixes(_)
            | Self::ColumnRange(_)
            | Self::ColumnPage(_)
            | Self::KeyOnly(_)
            | Self::FirstKey(_)
            | Self::RandomRow(_)
            | Self::Timestamps(_)
            | Self::Skip(_) => false,
        }
    }

    /// HBase's filterRowKey. SkipFilter does not call its inner filter.
    pub(super) fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        Ok(match self {
            Self::Row(state) => return state.filters_row_key(row),
            Self::Prefix(state) => state.filters_row_key(row),
            Self::InclusiveStop(state) => state.filters_row_key(row),
            Self::Ranges(state) => state.filters_row_key(row),
            Self::RandomRow(state) => state.filters_row_key(),
            Self::WhileMatch(state) => return state.filters_row_key(row),
            Self::AllOf(state) => return state.filters_row_key(row),
            Self::AnyOf(state) => return state.filters_row_key(row),
            Self::ColumnCount(state) => state.is_done(),
            Self::Page(state) => state.is_done(),
            Self::Fuzzy(state) => state.is_done(),
            Self::Part(_)
            | Self::Dependent(_)
            | Self::SingleColumn(_)
            | Self::ColumnValue(_)
            | Self::ColumnPrefix(_)
            | Self::ColumnPrefixes(_)
            | Self::ColumnRange(_)
            | Self::ColumnPage(_)
            | Self::KeyOnly(_)
            | Self::FirstKey(_)
            | Self::Timestamps(_)
            | Self::Skip(_) => false,
        })
    }

    /// HBase's filterCell.
    pub(super) fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        Ok(match self {
            Self::Row(state) => state.judge(),
            Self::Part(state) => return state.judge(cell),
            Self::Dependent(state) => return state.judge(cell),
            Self::SingleColumn(state) => return state.judge(cell),
            Self::ColumnValue(state) => return state.judge(cell),
            Self::Prefix(state) => state.judge(),
            Self::ColumnPrefix(state) => state.judge(cell.key.qualifier),
            Self::ColumnPrefixes(state) => state.judge(cell.key.qualifier),
            Self::ColumnRange(state) => state.judge(cell.key.qualifier),
            Self::ColumnCount(state) => state.judge(),
            Self::ColumnPage(state) => state.judge(cell.key.qualifier),
            Self::FirstKey(state) => state.judge(cell.key.qualifier),
            Self::InclusiveStop(state) => state.judge(),
            Self::Ranges(state) => state.judge(),
            Self::Fuzzy(state) => state.judge(cell.key.row),
            Self::RandomRow(state) => state.judge(),
            Self::Timestamps(state) => state.judge(cell.key.timestamp),
            Self::Skip(state) => return state.judge(cell),
            Self::WhileMatch(state) => return state.judge(cell),
            Self::AllOf(state) => return state.judge(cell),
            Self::AnyOf(state) => return state.judge(cell),
            Self::Page(_) | Self::KeyOnly(_) => FilterVerdict::Include,
        })
    }

    /// HBase's getNextCellHint. SkipFilter and WhileMatchFilter do not forward the hint of their
    /// inner filter.
    pub(super) fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        match self {
            Self::Prefix(state) => state.hint(),
            Self::ColumnPrefix(state) => Some(state.hint(key)),
            Self::ColumnPrefixes(state) => state.hint(key),
            Self::ColumnRange(state) => state.hint(key),
            Self::ColumnPage(state) => state.hint(key),
            Self::Ranges(state) => Some(state.hint()),
            Self::Fuzzy(state) => state.hint(key.row),
            Self::Timestamps(state) => state.hint(key),
            Self::AllOf(state) => state.hint(key),
            Self::AnyOf(state) => state.hint(key),
            Self::Row(_)
            | Self::Part(_)
            | Self::Dependent(_)
            | Self::SingleColumn(_)
            | Self::ColumnValue(_)
            | Self::ColumnCount(_)
            | Self::Page(_)
            | Self::KeyOnly(_)
            | Self::FirstKey(_)
            | Self::InclusiveStop(_)
            | Self::RandomRow(_)
            | Self::Skip(_)
            | Self::WhileMatch(_) => None,
        }
    }

    /// Returns whether HBase's class is a HintingFilter: an AND list requests its hint even after
    /// another member has excluded the cell.
    pub(super) fn is_hinting(&self) -> bool {
        matches!(
            self,
            Self::Prefix(_)
                | Self::ColumnPrefix(_)
                | Self::ColumnPrefixes(_)
                | Self::ColumnRange(_)
                | Self::Ranges(_)
                | Self::Fuzzy(_)
                | Self::Timestamps(_)
        )
    }

    /// HBase's transformCell, applied to the part of the value that earlier filters `left`.
    pub(super) fn kept_value(&self, left: KeptValue) -> KeptValue {
        match self {
            Self::KeyOnly(state) => state.kept_value(left),
            Self::Skip(state) => state.inner().kept_value(left),
            Self::WhileMatch(state) => state.inner().kept_value(left),
            Self::AllOf(state) => state.kept_value(left),
            Self::AnyOf(state) => state.kept_value(left),
            _ => left,
        }
    }

    /// HBase's hasFilterRow.
    pub(super) fn needs_whole_row(&self) -> bool {
        match self {
            Self::AllOf(state) => state.needs_whole_row(),
            Self::AnyOf(state) => state.needs_whole_row(),
            Self::Dependent(_)
            | Self::SingleColumn(_)
            | Self::Page(_)
            | Self::RandomRow(_)
            | Self::Skip(_)
            | Self::WhileMatch(_) => true,
            _ => false,
        }
    }

    /// HBase's filterRowCells. SkipFilter and WhileMatchFilter do not call their inner filter.
    pub(super) fn keeps(&self, cell: &CellRef<'_>) -> bool {
        match self {
            Self::Dependent(state) => state.keeps(cell.key.timestamp),
            Self::SingleColumn(state) => state.keeps(cell),
            Self::AllOf(state) => state.keeps(cell),
            Self::AnyOf(state) => state.keeps(cell),
            _ => true,
        }
    }

    /// HBase's filterRow.
    pub(super) fn filters_row(&mut self) -> bool {
        match self {
            Self::Row(state) => state.filters_row(),
            Self::SingleColumn(state) => state.filters_row(),
            Self::Prefix(state) => state.filters_row(),
            Self::Page(state) => state.filters_row(),
            Self::Fuzzy(state) => state.filters_row(),
            Self::RandomRow(state) => state.filters_row(),
            Self::Skip(state) => state.filters_row(),
            Self::WhileMatch(state) => state.filters_row(),
            Self::AllOf(state) => state.filters_row(),
            Self::AnyOf(state) => state.filters_row(),
            _ => false,
        }
    }

    /// HBase's isFamilyEssential.
    pub(super) fn needs_family(&self, family: &[u8]) -> bool {
        match self {
            Self::SingleColumn(state) => state.needs_family(family),
            Self::ColumnValue(state) => state.needs_family(family),
            Self::Skip(state) => state.inner().needs_family(family),
            Self::WhileMatch(state) => state.inner().needs_family(family),
            Self::AllOf(state) => state.needs_family(family),
            Self::AnyOf(state) => state.needs_family(family),
            _ => true,
        }
    }
}
