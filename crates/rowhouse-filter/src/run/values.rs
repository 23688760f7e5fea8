//! Filters on cell parts, and on the first cells in rows.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use rowhouse_model::{CellRef, CompareOperator, Comparison, Error, Filter, Result};

use super::base::FilterBase;
use super::verdict::{FilterVerdict, ValuePart};
use crate::comparison::ComparisonRun;
use crate::regex::RegexMemoryLimit;

/// FamilyFilter, QualifierFilter and ValueFilter.
#[derive(Debug)]
pub(super) struct PartCompared {
    part: Part,
    comparison: ComparisonRun,
}

/// The part of a cell that is compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Family,
    Qualifier,
    Value,
}

impl PartCompared {
    pub(super) fn start(
        part: Part,
        comparison: &Comparison,
        room: RegexMemoryLimit,
    ) -> Result<Self> {
        Ok(Self { part, comparison: ComparisonRun::start(comparison, room)? })
    }
}

impl FilterBase for PartCompared {
    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let (bytes, otherwise) = match self.part {
            // No stored cell lacks a family; HBase includes such a cell.
            Part::Family if cell.key.family.is_empty() => return Ok(FilterVerdict::Include),
            Part::Family => (cell.key.family, FilterVerdict::NextRow),
            Part::Qualifier => (cell.key.qualifier, FilterVerdict::Skip),
            Part::Value => (cell.value, FilterVerdict::Skip),
        };
        let matches = self.comparison.try_matches(bytes)?;
        Ok(if matches { FilterVerdict::Include } else { otherwise })
    }

    fn judges_column_alone(&self) -> bool {
        matches!(self.part, Part::Family | Part::Qualifier)
    }
}

/// DependentColumnFilter.
#[derive(Debug)]
pub(super) struct Dependent {
    column: Column,
    drops_column: bool,
    value: Option<ComparisonRun>,
    timestamps: HashSet<i64>,
}

impl Dependent {
    pub(super) fn start(
        (family, qualifier): (Bytes, Bytes),
        drops_column: bool,
        value: Option<&Comparison>,
        room: RegexMemoryLimit,
    ) -> Result<Self> {
        let value = value.map(|value| ComparisonRun::start(value, room)).transpose()?;
        let column = Column { family, qualifier };
        Ok(Self { column, drops_column, value, timestamps: HashSet::new() })
    }
}

impl FilterBase for Dependent {
    fn reset(&mut self) {
        self.timestamps.clear();
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        if !self.column.holds(cell) {
            return Ok(FilterVerdict::Include);
        }
        if let Some(value) = &self.value
            && !value.try_matches(cell.value)?
        {
            return Ok(FilterVerdict::Skip);
        }
        self.timestamps.insert(cell.key.timestamp);
        Ok(if self.drops_column { FilterVerdict::Skip } else { FilterVerdict::Include })
    }

    fn needs_whole_row(&self) -> bool {
        true
    }

    fn keeps(&self, cell: &CellRef<'_>) -> bool {
        self.timestamps.contains(&cell.key.timestamp)
    }
}

/// SingleColumnValueFilter and SingleColumnValueExcludeFilter.
#[derive(Debug)]
pub(super) struct SingleColumn {
    column: Column,
    value: ComparisonRun,
    filter_if_missing: bool,
    latest_version_only: bool,
    excludes_column: bool,
    is_seen: bool,
    is_matched: bool,
}

impl SingleColumn {
    /// Creates the state from [`Filter::SingleColumnValue`].
    pub(super) fn start(filter: &Filter, room: RegexMemoryLimit) -> Result<Self> {
        let Filter::SingleColumnValue {
            family,
            qualifier,
            value,
            filter_if_missing,
            latest_version_only,
            exclude,
        } = filter
        else {
            unreachable!("only made of filters for a single column's value");
        };
        if value.operator == CompareOperator::NoOp {
            return Err(Error::invalid(
                "SingleColumnValueFilter does not support the operator: operator=NO_OP",
            ));
        }
        Ok(Self {
            column: Column { family: family.clone(), qualifier: qualifier.clone() },
            value: ComparisonRun::start(value, room)?,
            filter_if_missing: *filter_if_missing,
            latest_version_only: *latest_version_only,
            excludes_column: *exclude,
            is_seen: false,
            is_matched: false,
        })
    }
}

impl FilterBase for SingleColumn {
    fn reset(&mut self) {
        self.is_seen = false;
        self.is_matched = false;
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        if self.is_matched {
            return Ok(FilterVerdict::Include);
        }
        if self.latest_version_only && self.is_seen {
            return Ok(FilterVerdict::NextRow);
        }
        if !self.column.holds(cell) {
            return Ok(FilterVerdict::Include);
        }
        self.is_seen = true;
        self.is_matched = self.value.try_matches(cell.value)?;
        Ok(if !self.is_matched && self.latest_version_only {
            FilterVerdict::NextRow
        } else {
            FilterVerdict::Include
        })
    }

    fn needs_whole_row(&self) -> bool {
        true
    }

    fn keeps(&self, cell: &CellRef<'_>) -> bool {
        !(self.excludes_column && self.column.holds(cell))
    }

    fn filters_row(&mut self) -> bool {
        if self.is_seen { !self.is_matched } else { self.filter_if_missing }
    }

    fn needs_family(&self, family: &[u8]) -> bool {
        !self.filter_if_missing || self.column.family == family
    }
}

/// ColumnValueFilter.
#[derive(Debug)]
pub(super) struct ColumnValue {
    column: Column,
    value: ComparisonRun,
    is_seen: bool,
}

impl ColumnValue {
    pub(super) fn start(
        family: Bytes,
        qualifier: Bytes,
        value: &Comparison,
        room: RegexMemoryLimit,
    ) -> Result<Self> {
        let value = ComparisonRun::start(value, room)?;
        Ok(Self { column: Column { family, qualifier }, value, is_seen: false })
    }
}

impl FilterBase for ColumnValue {
    fn reset(&mut self) {
        self.is_seen = false;
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        if !self.column.holds(cell) {
            return Ok(if self.is_seen {
                FilterVerdict::NextRow
            } else {
                FilterVerdict::NextColumn
            });
        }
        self.is_seen = true;
        let matches = self.value.try_matches(cell.value)?;
        Ok(if matches { FilterVerdict::Include } else { FilterVerdict::Skip })
    }

    fn needs_family(&self, family: &[u8]) -> bool {
        self.column.family == family
    }
}

/// FirstKeyOnlyFilter and FirstKeyValueMatchingQualifiersFilter.
#[derive(Debug)]
pub(super) struct FirstKey {
    /// `None` for any qualifier.
    qualifiers: Option<BTreeSet<Bytes>>,
    is_seen: bool,
}

impl FirstKey {
    pub(super) fn of_any_column() -> Self {
        Self { qualifiers: None, is_seen: false }
    }

    pub(super) fn of(qualifiers: BTreeSet<Bytes>) -> Self {
        Self { qualifiers: Some(qualifiers), is_seen: false }
    }
}

impl FilterBase for FirstKey {
    fn reset(&mut self) {
        self.is_seen = false;
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let qualifier = cell.key.qualifier;
        if self.is_seen {
            return Ok(FilterVerdict::NextRow);
        }
        self.is_seen =
            self.qualifiers.as_ref().is_none_or(|qualifiers| qualifiers.contains(qualifier));
        Ok(FilterVerdict::Include)
    }
}

/// KeyOnlyFilter.
#[derive(Debug)]
pub(super) struct KeyOnly {
    length_as_value: bool,
}

impl KeyOnly {
    pub(super) fn new(length_as_value: bool) -> Self {
        Self { length_as_value }
    }
}

impl FilterBase for KeyOnly {
    fn value_part(&self, left: ValuePart) -> ValuePart {
        if !self.length_as_value {
            return ValuePart::Nothing;
        }
        match left {
            ValuePart::Whole => ValuePart::Length,
            ValuePart::Nothing => ValuePart::Number(0),
            ValuePart::Length | ValuePart::Number(_) => ValuePart::Number(4),
        }
    }
}

/// A column by name.
#[derive(Debug)]
struct Column {
    family: Bytes,
    qualifier: Bytes,
}

impl Column {
    fn holds(&self, cell: &CellRef<'_>) -> bool {
        self.qualifier == cell.key.qualifier && self.family == cell.key.family
    }
}
