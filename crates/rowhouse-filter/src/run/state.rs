//! Enumerates filter states, and dispatches calls to them.

use rowhouse_model::{CellRef, Filter, Key, KeyBuf, ListOperator, Result};

use super::base::FilterBase;
use super::columns::{
    ColumnCount, ColumnPage, ColumnPrefix, ColumnPrefixes, ColumnRange, Timestamps,
};
use super::fuzzy::Fuzzy;
use super::list::{AllOf, AnyOf};
use super::ranges::Ranges;
use super::rows::{Compared, InclusiveStop, Page, Prefix, RandomRow};
use super::values::{ColumnValue, Dependent, FirstKey, KeyOnly, Part, PartCompared, SingleColumn};
use super::verdict::{FilterVerdict, ValuePart};
use super::wrap::{Skip, WhileMatch};
use crate::regex::RegexMemoryLimit;

/// A filter's execution state; the names follow [`Filter`].
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

/// Evaluates the same expression for any filter's state.
macro_rules! each {
    ($state:expr, $inner:ident => $call:expr) => {
        match $state {
            State::Row($inner) => $call,
            State::Part($inner) => $call,
            State::Dependent($inner) => $call,
            State::SingleColumn($inner) => $call,
            State::ColumnValue($inner) => $call,
            State::Prefix($inner) => $call,
            State::ColumnPrefix($inner) => $call,
            State::ColumnPrefixes($inner) => $call,
            State::ColumnRange($inner) => $call,
            State::ColumnCount($inner) => $call,
            State::ColumnPage($inner) => $call,
            State::Page($inner) => $call,
            State::KeyOnly($inner) => $call,
            State::FirstKey($inner) => $call,
            State::InclusiveStop($inner) => $call,
            State::Ranges($inner) => $call,
            State::Fuzzy($inner) => $call,
            State::RandomRow($inner) => $call,
            State::Timestamps($inner) => $call,
            State::Skip($inner) => $call,
            State::WhileMatch($inner) => $call,
            State::AllOf($inner) => $call,
            State::AnyOf($inner) => $call,
        }
    };
}

impl State {
    /// Prepares a filter. As in HBase, the outermost filter and list members know that the scan is
    /// reversed, but the filters inside SkipFilter and WhileMatchFilter do not.
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
            Filter::ColumnRange { min, min_inclusive, max, max_inclusive } => Self::ColumnRange(
                ColumnRange::new((min.clone(), *min_inclusive), (max.clone(), *max_inclusive)),
            ),
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

    /// As [`FilterBase::reset`]; each function that follows is the step with this name.
    pub(super) fn reset(&mut self) {
        each!(self, state => state.reset());
    }

    pub(super) fn is_done(&self) -> bool {
        each!(self, state => state.is_done())
    }

    pub(super) fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        each!(self, state => state.filters_row_key(row))
    }

    pub(super) fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        each!(self, state => state.judge(cell))
    }

    pub(super) fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        each!(self, state => state.hint(key))
    }

    pub(super) fn is_hinting(&self) -> bool {
        each!(self, state => state.is_hinting())
    }

    pub(super) fn judges_column_alone(&self) -> bool {
        each!(self, state => state.judges_column_alone())
    }

    pub(super) fn value_part(&self, left: ValuePart) -> ValuePart {
        each!(self, state => state.value_part(left))
    }

    pub(super) fn needs_whole_row(&self) -> bool {
        each!(self, state => state.needs_whole_row())
    }

    pub(super) fn keeps(&self, cell: &CellRef<'_>) -> bool {
        each!(self, state => state.keeps(cell))
    }

    pub(super) fn filters_row(&mut self) -> bool {
        each!(self, state => state.filters_row())
    }

    pub(super) fn needs_family(&self, family: &[u8]) -> bool {
        each!(self, state => state.needs_family(family))
    }
}
