//! The reads that a plan makes for each row: one for whole families, and one for each family where
//! only qualifier ranges are needed. The latter has a filter that lets the store seek past the
//! rest.

use std::collections::BTreeMap;

use rowhouse_model::{
    Bytes, Columns, Comparator, CompareOperator, Comparison, Filter, ListOperator, RowRange,
};

use super::cover::cover;
use super::qualifiers::QualifierPlan;
use super::query_plan::Plan;
use super::ranges::{normalize, subtract};

/// A read for some columns in each row in a plan's ranges. All parts together make up the row.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanPart {
    /// The columns to read.
    pub columns: Columns,
    /// Selects the cells to return, and lets the store seek past the others.
    pub filter: Option<Filter>,
}

impl Plan {
    /// Returns the reads for each row that cover these columns and the cells selected by conditions
    /// on qualifiers. There is one part unless there are such conditions; none if nothing can
    /// match.
    ///
    /// The filters pass a few cells too many: [`Plan::shows`] decides.
    ///
    /// ```
    /// use rowhouse_model::Columns;
    /// use rowhouse_schema::{ColumnSchema, KeySchema, Predicate, TimeZone};
    ///
    /// let key = KeySchema::parse("[user string]")?;
    /// let columns = ColumnSchema::parse("d:n count u64; f:[at ymd] price f64")?;
    /// let query = Predicate::parse("price.at during 2022-12")?;
    /// let plan = key.plan_with_columns(&columns, &query, &TimeZone::UTC)?;
    ///
    /// let mut requested = Columns::all();
    /// requested.add_column("d", "n");
    /// let parts = plan.parts(&requested);
    /// assert_eq!((&parts[0].columns, &parts[0].filter), (&requested, &None));
    /// assert_eq!(
    ///     parts[1].filter.as_ref().unwrap().to_string(),
    ///     "QualifierFilter(!=, 'binary:') AND \
    ///      FilterList(OR, ColumnRangeFilter('20221201', true, '20230101', false))",
    /// );
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn parts(&self, columns: &Columns) -> Vec<PlanPart> {
        let mut families: BTreeMap<&[u8], Vec<&QualifierPlan>> = BTreeMap::new();
        for plan in &self.qualifiers {
            families.entry(plan.column().family()).or_default().push(plan);
        }
        let mut parts: Vec<_> = beside(columns, families.keys().copied()).into_iter().collect();
        for (family, plans) in families {
            let ranges = qualifiers_read(family, columns, &plans);
            if ranges.is_empty() {
                continue;
            }
            let mut columns = Columns::all();
            columns.add_family(Bytes::copy_from_slice(family));
            parts.push(PlanPart { columns, filter: filter(&ranges) });
        }
        parts
    }

    /// Returns true if a cell that was read belongs to the answer: it is in `columns`, or its
    /// column has conditions on the qualifiers and it matches them.
    pub fn shows(&self, columns: &Columns, family: &[u8], qualifier: &[u8]) -> bool {
        let of = |plan: &&QualifierPlan| plan.column().family() == family && plan.holds(qualifier);
        match self.qualifiers.iter().find(of) {
            Some(plan) => plan.matches(qualifier),
            None => columns.has_column(family, qualifier),
        }
    }
}

/// Returns the read for all other families, if some are requested.
fn beside<'f>(columns: &Columns, families: impl Iterator<Item = &'f [u8]>) -> Option<PlanPart> {
    let families: Vec<_> = families.collect();
    if columns.is_all() {
        // The families to read are known only to the table, when it is read.
        let others = families.into_iter().map(is_not_family);
        return Some(PlanPart { columns: Columns::all(), filter: all_of(others.collect()) });
    }
    let mut others = Columns::all();
    for (family, qualifiers) in columns.families() {
        if families.contains(&&family[..]) {
            continue;
        }
        if qualifiers.is_all() {
            others.add_family(family.clone());
        }
        qualifiers.named().for_each(|named| others.add_column(family.clone(), named.clone()));
    }
    (!others.is_all()).then_some(PlanPart { columns: others, filter: None })
}

/// Returns the qualifiers to read from a family: the requested ones that no plan decides, and the
/// ones that the plans select.
fn qualifiers_read(family: &[u8], columns: &Columns, plans: &[&QualifierPlan]) -> Vec<RowRange> {
    let mut ranges: Vec<RowRange> = plans.iter().flat_map(|plan| plan.ranges.clone()).collect();
    let decided = |qualifier: &[u8]| plans.iter().any(|plan| plan.holds(qualifier));
    let is_requested =
        |qualifier: &&[u8]| columns.has_column(family, qualifier) && !decided(qualifier);
    let declared = plans.iter().flat_map(|plan| plan.schema.columns());
    let declared = declared.filter(|column| column.family() == family);
    let declared = declared.filter_map(|column| column.qualifier());
    match columns.qualifiers(family) {
        Some(qualifiers) => {
            let named = qualifiers.named().map(|named| &named[..]);
            ranges.extend(named.filter(is_requested).map(RowRange::row));
        }
        None if columns.selects_family(family) => {
            let leads = plans.iter().map(|plan| RowRange::prefix(plan.column().lead()));
            ranges.extend(subtract(RowRange::all(), leads.collect()));
            ranges.extend(declared.filter(is_requested).map(RowRange::row));
        }
        None => {}
    }
    normalize(ranges)
}

/// Returns a filter that passes the qualifiers in the ranges, and few others.
///
/// One range is a ColumnRangeFilter. Several ranges in a MUST_PASS_ONE list would not seek from one
/// to the next (HBase seeks only if all members ask for it). So prefixes describe them: a
/// MultipleColumnPrefixFilter seeks to the next prefix.
fn filter(ranges: &[RowRange]) -> Option<Filter> {
    let first = ranges.first()?;
    let last = ranges.last()?;
    let hull = RowRange { start: first.start.clone(), stop: last.stop.clone() };
    let prefixes = (ranges.len() > 1).then(|| Filter::MultipleColumnPrefix(cover(ranges)));
    let filter = all_of(column_range(&hull).into_iter().chain(prefixes).collect())?;
    // Such a filter does not hint at the first qualifier.
    let starts_empty = first.start.is_empty();
    Some(if starts_empty { filter } else { after_empty_qualifier(filter) })
}

/// Returns a filter that skips the cells without a qualifier, and applies `filter` to all others.
///
/// A family's delete markers have no qualifier and lie among these cells. A store that follows a
/// hint from such a cell, as HBase does, does not read the markers after it, and returns cells in
/// other columns that they cover.
///
/// A conjunction asks members that hint even for a cell that another member has excluded, but not
/// lists: hence the list with one member.
fn after_empty_qualifier(filter: Filter) -> Filter {
    let comparator = Comparator::Binary(Bytes::new());
    let named = Filter::Qualifier(Comparison { operator: CompareOperator::NotEqual, comparator });
    let hints = Filter::List { operator: ListOperator::Or, filters: vec![filter] };
    Filter::List { operator: ListOperator::And, filters: vec![named, hints] }
}

fn column_range(range: &RowRange) -> Option<Filter> {
    let bound = |bound: &Bytes| Some(bound.clone()).filter(|bound| !bound.is_empty());
    let min = bound(&range.start);
    let max = bound(&range.stop);
    (min.is_some() || max.is_some()).then_some(Filter::ColumnRange {
        min,
        min_inclusive: true,
        max,
        max_inclusive: false,
    })
}

fn is_not_family(family: &[u8]) -> Filter {
    let comparator = Comparator::Binary(Bytes::copy_from_slice(family));
    Filter::Family(Comparison { operator: CompareOperator::NotEqual, comparator })
}

fn all_of(mut filters: Vec<Filter>) -> Option<Filter> {
    match filters.len() {
        0 | 1 => filters.pop(),
        _ => Some(Filter::List { operator: ListOperator::And, filters }),
    }
}
