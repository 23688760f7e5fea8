//! Queries by an index: the entry ranges that lead to every answer row.
//!
//! An index serves a query only if every row that the query can return has an entry. The entries
//! may lead to other rows too: conditions that they do not decide remain for the row.

use std::fmt;

use rowhouse_model::{Columns, Error, Row, RowRange};

use super::declaration::{Declaration, Index};
use super::entries::Entry;
use super::names::Source;
use crate::columns::{CellMismatch, Column, ColumnSchema};
use crate::encode::Body;
use crate::field::Field;
use crate::key::KeySchema;
use crate::order::FieldOrder;
use crate::plan::{Condition, Direction, Plan, Predicate, RowConditions, RowSequence, Test};
use crate::template::Element;
use crate::time::TimeZone;

/// The plan for a query by an index.
///
/// # Example: how is a query answered by an index?
///
/// Read the entries in the ranges, find each entry's row, and judge it:
///
/// ```
/// use rowhouse_model::{Cell, CellKind, Columns, Row, Timestamp};
/// use rowhouse_schema::{ColumnSchema, Direction, IndexSchema, KeySchema, Predicate, TimeZone};
///
/// let key = KeySchema::parse("[user string][n u8]")?;
/// let columns = ColumnSchema::parse("d:s sender string; d:z size u64")?;
/// let indexes = IndexSchema::parse("by_sender [sender]", Some(&key), Some(&columns))?;
/// let index = indexes.index("by_sender")?;
///
/// let query = Predicate::parse("sender = 'eve' and size > 5")?;
/// let plan = index.plan(&key, &columns, &query, &TimeZone::UTC, &Columns::all())?;
/// assert_eq!(plan.to_string(), "\
/// index: by_sender [sender string][user string][n u8]
/// ranges: 1
///   [eve\\x00\\x01, eve\\x00\\x02)
/// residual: none, the ranges are exact
/// order: sender ascending, user ascending, n ascending
/// rows: in key order, judged by size > 5
/// ");
///
/// let row = key.encode(&[("user", "bob".into()), ("n", 7.into())])?;
/// let cells = [columns.encode("sender", "eve")?, columns.encode("size", 6)?].map(|cell| {
///     let at = Timestamp::from_millis(1)?;
///     Cell::new(row.clone(), cell.family, cell.qualifier, at, CellKind::Put, cell.value)
/// });
/// let cells = Row::new(cells.into_iter().collect::<Result<_, _>>()?);
/// let entries = index.entries(&row, &cells)?;
/// assert!(plan.holds(&entries[0].key));
/// assert_eq!(plan.first_matching(&entries, Direction::Forward), Some(&entries[0]));
/// assert!(plan.matches_row(&row, &cells)?);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IndexPlan {
    index: Index,
    plan: Plan,
    /// The plan for the query by the key, which judges rows.
    rows: Plan,
    /// The conditions that entries do not decide.
    undecided: Predicate,
    in_key_order: bool,
}

/// Why an index cannot serve a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyNot {
    why: String,
}

impl Index {
    /// Plans a query by this index, for the columns `selected` of each row. `key` and `columns` are
    /// the table's key and columns; a table may declare no columns.
    ///
    /// # Errors
    /// Says why the index cannot serve the query: a row that the query returns could be without an
    /// entry, or the query itself is invalid.
    pub fn plan<'c>(
        &self,
        key: &KeySchema,
        columns: impl Into<Option<&'c ColumnSchema>>,
        predicate: &Predicate,
        zone: &TimeZone,
        selected: &Columns,
    ) -> Result<IndexPlan, WhyNot> {
        let index = &*self.declaration;
        let columns = columns.into();
        if index.search.is_some() {
            return Err(WhyNot::new("it is a full-text index".to_owned()));
        }
        if index.key.as_ref() != Some(key) || index.columns.as_ref() != columns {
            return Err(WhyNot::new("it is declared for another key or other columns".to_owned()));
        }
        let query = RowConditions::new(key, columns, predicate, zone)?;
        if let Some(condition) = index.rows.as_ref().and_then(|rows| query.first_not_implied(rows))
        {
            return Err(WhyNot::new(format!(
                "its condition {condition} does not follow from the query"
            )));
        }
        index.check_values(key, columns, predicate, &query, selected)?;
        let of_entries = predicate.filtered(|condition| index.narrows(condition));
        let undecided = predicate.filtered(|condition| !index.decides(key, condition));
        let plan = index.full.plan_in(&of_entries, zone)?;
        let bound = RowConditions::new(&index.full, None, &of_entries, zone)?;
        let in_key_order =
            plan.order().sequence() == RowSequence::AsRead && index.is_in_key_order(key, &bound);
        let rows = Plan::new(key, columns, predicate, zone)?;
        Ok(IndexPlan { index: self.clone(), plan, rows, undecided, in_key_order })
    }
}

impl IndexPlan {
    /// The index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The entry plan, by the full form.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan for the query by the key. It judges rows: see [`IndexPlan::matches_row`].
    pub fn row_plan(&self) -> &Plan {
        &self.rows
    }

    /// Returns true if the entries, read in the plan's order, come in row key order. Conservative.
    pub fn is_in_key_order(&self) -> bool {
        self.in_key_order
    }

    /// Returns true if entries decide all conditions, so that an entry that is certain needs no
    /// look at the row.
    pub fn is_decided(&self) -> bool {
        self.undecided.is_empty()
    }

    /// Returns true if an entry that is certain answers the query for these columns without the
    /// row: the entry decides all conditions, and the index covers the columns. A copy's row
    /// answers the query under any conditions, except on qualifier fields.
    pub fn is_covered(&self, selected: &Columns) -> bool {
        if self.index.is_copy() {
            // Qualifier fields have separate reads.
            return self.rows.qualifiers().is_empty();
        }
        let covers = &self.index.declaration.covers;
        let is_covered =
            |(family, named): (&rowhouse_model::Bytes, &rowhouse_model::Qualifiers)| {
                let covered = |qualifier: &rowhouse_model::Bytes| {
                    covers.iter().any(|column| {
                        column.family() == family && column.qualifier() == Some(&qualifier[..])
                    })
                };
                !named.is_all() && named.named().all(covered)
            };
        self.is_decided() && !selected.is_all() && selected.families().all(is_covered)
    }

    /// Returns true if an entry is in the ranges and passes the residual.
    pub fn holds(&self, entry: &[u8]) -> bool {
        RowRange::one_contains(self.plan.ranges(), entry)
            && self.index.template().decode(entry).is_ok_and(|values| self.plan.matches(&values))
    }

    /// Returns, from all entries that a row has, the first that the plan reads in this direction.
    /// Only this one returns the row, so that a row with several entries is returned once.
    pub fn first_matching<'e>(
        &self,
        entries: &'e [Entry],
        direction: Direction,
    ) -> Option<&'e Entry> {
        let matching = entries.iter().filter(|entry| self.holds(&entry.key));
        match direction {
            Direction::Forward => matching.min_by(|a, b| a.key.cmp(&b.key)),
            Direction::Reverse => matching.max_by(|a, b| a.key.cmp(&b.key)),
        }
    }

    /// Returns true if a row with these cells matches the query.
    ///
    /// # Errors
    /// As [`ColumnFilter::matches`](crate::ColumnFilter::matches).
    pub fn matches_row(&self, row: &[u8], cells: &Row) -> Result<bool, CellMismatch> {
        if !self.rows.matches_key(row) {
            return Ok(false);
        }
        self.rows.column_filter().map_or(Ok(true), |filter| filter.matches(cells))
    }
}

impl Declaration {
    /// Checks that every row the query can return has an entry, apart from the index's condition.
    fn check_values(
        &self,
        key: &KeySchema,
        columns: Option<&ColumnSchema>,
        predicate: &Predicate,
        query: &RowConditions,
        selected: &Columns,
    ) -> Result<(), WhyNot> {
        for (slot, source) in self.sources.iter().enumerate() {
            if let (Source::Qualifier { column, .. }, Some(columns)) = (source, columns) {
                check_cells(&columns.columns()[*column], columns, query, selected)?;
            }
            let field = &self.full.fields()[slot];
            let has_value = match source {
                _ if field.is_nullable() => true,
                Source::Row => true,
                Source::Key(at) => !key.fields()[*at].is_nullable() || query.needs_value(*at),
                Source::Column(at) => query.needs_value_of_column(*at),
                Source::Qualifier { column, slot } => {
                    let template =
                        columns.and_then(|columns| columns.columns()[*column].template());
                    let is_null = template.is_some_and(|of| of.fields()[*slot].is_nullable());
                    !is_null || query.needs_value_of_qualifier(*column, *slot)
                }
            };
            if !has_value {
                return Err(WhyNot::new(no_value(field, predicate)));
            }
        }
        Ok(())
    }

    /// The stored slots in the full form with this name that a query can ask for.
    fn slots<'d>(&'d self, name: &'d str) -> impl DoubleEndedIterator<Item = usize> + 'd {
        let fields = self.full.fields();
        let is_queryable = move |slot: &usize| {
            fields[*slot].name() == name && !matches!(self.sources[*slot], Source::Row)
        };
        (0..fields.len()).filter(is_queryable)
    }

    /// Returns true if a condition narrows the entry ranges without losing an entry.
    fn narrows(&self, condition: &Condition) -> bool {
        let Some(slot) = self.slots(&condition.field).next_back() else { return false };
        let is_column = matches!(self.sources[slot], Source::Column(_));
        match &condition.test {
            test if test.is_of_hashes() => false,
            test if matches!(self.full.codec(slot).body, Body::Hashed(_)) => {
                test.is_of_whole_values()
            }
            // A domain stands as a string.
            Test::Under(_) => false,
            // A cell whose value does not fit the type is there, and null to the index.
            Test::IsNotNull => !is_column,
            Test::IsNull => self.full.codec(slot).is_nullable(),
            _ => true,
        }
    }

    /// Returns true if entries that pass a condition belong to rows that pass it.
    fn decides(&self, key: &KeySchema, condition: &Condition) -> bool {
        let name = &condition.field;
        let Some(slot) = self.slots(name).next_back() else { return false };
        let leaves_open = match self.sources[slot] {
            // A cell that does not fit is null to the index. The key and a column with the same
            // name decide together.
            Source::Column(_) => condition.test.is_of_presence() || key.field(name).is_some(),
            Source::Row | Source::Key(_) | Source::Qualifier { .. } => false,
        };
        self.narrows(condition) && !self.full.codec(slot).is_lossy() && !leaves_open
    }

    /// Returns true if entries with these conditions come in row key order: apart from fields with
    /// a single value, the entry and the key have the same fields in the same order.
    fn is_in_key_order(&self, key: &KeySchema, entries: &RowConditions) -> bool {
        let is_fixed = |at: usize| {
            let is_single = |slot: &usize| entries.is_single(*slot);
            self.full.follows(at) || self.full.computed()[at].depends_only_on(is_single)
        };
        if !(0..key.computed().len()).all(|at| key.follows(at))
            || !(0..self.full.computed().len()).all(is_fixed)
        {
            return false;
        }
        let is_single = |field: usize| {
            let whole = |slot: &usize| {
                matches!(self.sources[*slot], Source::Key(at) if at == field)
                    && !self.full.codec(*slot).is_lossy()
            };
            (0..self.sources.len()).filter(whole).any(|slot| entries.is_single(slot))
        };
        let mut rest = (0..key.fields().len()).filter(|field| !is_single(*field));
        for element in self.full.elements() {
            let Element::Field(slot) = element else { continue };
            match self.sources[*slot] {
                _ if entries.is_single(*slot) => {}
                Source::Row => return !self.full.fields()[*slot].is_desc(),
                Source::Key(at) if rest.next() == Some(at) => {
                    let own = &self.full.fields()[*slot];
                    let field = &key.fields()[at];
                    let is_ordered = FieldOrder::of(&own.codec) == FieldOrder::Ordered
                        && FieldOrder::of(&field.codec) == FieldOrder::Ordered;
                    let is_same = (own.modifiers.desc, own.modifiers.null)
                        == (field.modifiers.desc, field.modifiers.null);
                    if !is_ordered || !is_same {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        rest.next().is_none()
    }
}

/// Returns why rows without a value in a field, which have no entry, can be in the answer.
fn no_value(field: &Field, predicate: &Predicate) -> String {
    let name = field.name();
    let is_presence = |condition: &Condition| {
        condition.field == name && matches!(condition.test, Test::IsNotNull)
    };
    if !predicate.conditions().iter().any(is_presence) {
        return format!("`{name}` may be null, and the query has no condition on its value");
    }
    let all = match &field.codec.body {
        Body::Sequence(sequence) if sequence.content.is_text() => format!(": `{name} >= ''`"),
        Body::Number(number) if number.domain.tick().is_none() && number.domain.min == 0 => {
            format!(": `{name} >= 0`")
        }
        _ => String::new(),
    };
    format!(
        "`{name} is not null` is also true of cells that are not values of the type, which have no \
         entries; compare the value instead{all}"
    )
}

/// Checks that a query returns only rows with a cell in this column, which has a qualifier
/// template: the query's conditions on qualifiers select the column's cells, and no other cell is
/// requested.
fn check_cells(
    column: &Column,
    columns: &ColumnSchema,
    query: &RowConditions,
    selected: &Columns,
) -> Result<(), WhyNot> {
    let name = column.name();
    let is_queried = match query.qualifiers() {
        [plan] => plan.column().name() == name,
        _ => false,
    };
    let is_own = |qualifier: &[u8]| {
        qualifier.starts_with(column.lead()) && columns.single(column.family(), qualifier).is_none()
    };
    let is_alone = || {
        let mut others = columns.columns().iter().filter(|other| other.name() != name);
        column.lead().is_empty() && others.all(|other| other.family() != column.family())
    };
    let mut families = selected.families().peekable();
    let are_own = families.peek().is_some()
        && families.all(|(family, named)| {
            let all_own = || {
                if named.is_all() {
                    is_alone()
                } else {
                    named.named().all(|qualifier| is_own(qualifier))
                }
            };
            family == column.family() && all_own()
        });
    if is_queried && are_own {
        Ok(())
    } else {
        Err(WhyNot::new(format!(
            "a row without a cell of `{name}` has no entry: the query must ask for fields of its \
             qualifiers, and for no other cells"
        )))
    }
}

impl fmt::Display for IndexPlan {
    /// Explains the plan: the index, the entry plan, and how rows are judged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "index: {} {}", self.index.name(), self.index.template())?;
        write!(f, "{}", self.plan)?;
        let order = if self.in_key_order { "in key order" } else { "in the order of the index" };
        if self.is_decided() {
            writeln!(f, "rows: {order}, decided by their entries")
        } else {
            writeln!(f, "rows: {order}, judged by {}", self.undecided)
        }
    }
}

impl WhyNot {
    fn new(why: String) -> Self {
        Self { why }
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for WhyNot {}

impl From<Error> for WhyNot {
    fn from(error: Error) -> Self {
        Self::new(error.message().to_owned())
    }
}

impl From<WhyNot> for Error {
    fn from(why: WhyNot) -> Self {
        Self::invalid(why.why)
    }
}
