//! Conditions on qualifier fields: the cells to read from columns that a template declares.
//!
//! For example `price.at >= 2022-12-01`, with `f:[at millis desc] price f64` declared. A qualifier
//! is planned like a row key: [`walk`](super::walk) finds the ranges, and the conditions that these
//! leave open are checked on each decoded qualifier.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use rowhouse_model::{Bytes, RowRange};

use super::constant::ConstantReader;
use super::predicate::{Condition, Predicate};
use super::set::FieldConditions;
use super::walk::walk;
use crate::columns::{Column, ColumnAddress, ColumnSchema};
use crate::error::Fault;
use crate::field::Field;
use crate::key::{KeySchema, Values};
use crate::spelling::closest;

/// The cells to read from one column with a template: the cells whose qualifiers are in the ranges,
/// fit the template and pass the residual. It selects no rows, and does not affect other columns.
///
/// ```
/// use rowhouse_schema::{ColumnSchema, KeySchema, Predicate, TimeZone};
///
/// let key = KeySchema::parse("[user string]")?;
/// let columns = ColumnSchema::parse("f:[at seconds 4][id u8] price f64")?;
/// let query = Predicate::parse("user = 'bob' and price.at = 1 and price.id > 7")?;
/// let plan = key.plan_with_columns(&columns, &query, &TimeZone::UTC)?;
///
/// let prices = &plan.qualifiers()[0];
/// let range = prices.ranges().next().unwrap();
/// assert_eq!((&range.start[..], &range.stop[..]), (&b"\0\0\0\x01\x08"[..], &b"\0\0\0\x02"[..]));
/// assert!(prices.residual().is_none());
/// assert!(prices.matches(b"\0\0\0\x01\x08"));
/// assert!(!prices.matches(b"\0\0\0\x01\x07"));
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QualifierPlan {
    pub(super) schema: ColumnSchema,
    /// The column's position in the declarations.
    at: usize,
    /// The qualifiers, as ranges that treat them like row keys.
    pub(super) ranges: Vec<RowRange>,
    /// All conditions, by template field.
    conditions: Vec<FieldConditions>,
    /// The slots for conditions that the ranges leave open.
    residual: Vec<usize>,
}

/// A half-open qualifier range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualifierRange {
    /// The first qualifier.
    pub start: Bytes,
    /// The first qualifier after the range; empty for no end.
    pub stop: Bytes,
}

/// The conditions on each template's fields, by the column's position.
#[derive(Default)]
pub(super) struct QualifierConditions(BTreeMap<usize, Vec<Option<FieldConditions>>>);

impl QualifierPlan {
    /// The column: name, family and template.
    pub fn column(&self) -> &Column {
        &self.schema.columns()[self.at]
    }

    /// The ranges, in order, without overlaps. Empty if no qualifier can match.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = QualifierRange> {
        self.ranges.iter().map(|range| {
            let RowRange { start, stop } = range.clone();
            QualifierRange { start, stop }
        })
    }

    /// The conditions that the ranges leave open, as the query has them; `None` if there are none.
    pub fn residual(&self) -> Option<String> {
        let open =
            self.conditions.iter().filter(|conditions| self.residual.contains(&conditions.slot));
        let open: Vec<_> = open.map(ToString::to_string).collect();
        (!open.is_empty()).then(|| open.join(" and "))
    }

    /// Returns true if a cell in the family with this qualifier is selected.
    pub fn matches(&self, qualifier: &[u8]) -> bool {
        self.holds(qualifier)
            && self.template().decode(qualifier).is_ok_and(|fields| self.passes(&fields))
    }

    /// Returns true if this plan decides about a qualifier in the family: the qualifier begins as
    /// the template does, and has no declaration of its own.
    pub(super) fn holds(&self, qualifier: &[u8]) -> bool {
        qualifier.starts_with(self.column().lead())
            && self.schema.single(self.column().family(), qualifier).is_none()
    }

    /// Returns true if the plan is for this column, and selects only cells in whose qualifiers this
    /// field has a value.
    pub(super) fn needs_value(&self, column: usize, slot: usize) -> bool {
        self.at == column && self.conditions.iter().any(|it| it.slot == slot && !it.nulls)
    }

    fn passes(&self, fields: &Values) -> bool {
        let passes = |conditions: &FieldConditions| {
            let value = &fields.as_slice()[conditions.slot];
            conditions.matches(self.template().codec(conditions.slot), value)
        };
        self.conditions.iter().all(passes)
    }

    fn template(&self) -> &KeySchema {
        self.column().template().expect("only columns with a template are planned")
    }
}

impl QualifierRange {
    /// Returns true if the qualifier is in the range.
    pub fn contains(&self, qualifier: &[u8]) -> bool {
        self.start[..] <= *qualifier && (self.stop.is_empty() || *qualifier < self.stop[..])
    }
}

impl QualifierConditions {
    /// Adds the query's `nth` condition, which is on a qualifier field.
    pub(super) fn add(
        &mut self,
        key: &KeySchema,
        columns: Option<&ColumnSchema>,
        (predicate, nth): (&Predicate, usize),
        zone: &TimeZone,
    ) -> Result<(), Fault> {
        let condition = &predicate.conditions[nth];
        let (at, template, slot) = field_of(key, columns, condition)?;
        let nothing = || vec![None; template.slots()];
        let codec = template.codec(slot);
        let everything = || FieldConditions::everything(slot, codec, predicate);
        let of_field =
            self.0.entry(at).or_insert_with(nothing)[slot].get_or_insert_with(everything);
        of_field.note(nth);
        let name = condition.field.as_str();
        of_field.add(codec, condition, &ConstantReader { of: "field", name, zone })
    }

    /// Returns the plans, in the order in which the columns are declared.
    pub(super) fn plan(self, columns: Option<&ColumnSchema>) -> Vec<QualifierPlan> {
        let Some(schema) = columns else { return Vec::new() };
        let plan = |(at, mut conditions): (usize, Vec<Option<FieldConditions>>)| {
            let template = schema.columns()[at].template()?;
            conditions
                .iter_mut()
                .flatten()
                .for_each(|of_field| of_field.close(template.codec(of_field.slot)));
            let walked = walk(template, &conditions);
            Some(QualifierPlan {
                schema: schema.clone(),
                at,
                ranges: walked.streams.into_iter().flat_map(|stream| stream.ranges).collect(),
                conditions: conditions.into_iter().flatten().collect(),
                residual: walked.residual.into_iter().collect(),
            })
        };
        self.0.into_iter().filter_map(plan).collect()
    }
}

/// Returns the column, its template, and the template field that a condition is on.
fn field_of<'c>(
    key: &KeySchema,
    columns: Option<&'c ColumnSchema>,
    condition: &Condition,
) -> Result<(usize, &'c KeySchema, usize), Fault> {
    let (name, field) = condition.qualifier_field().unwrap_or_default();
    let fault = |message: String| Fault::new(condition.at, message);
    let declared = columns.and_then(|columns| Some((columns, columns.position(name)?)));
    let Some((columns, at)) = declared else {
        if key.slot(name).is_some() {
            let message = format!("`{name}` is a field of the key, and has no fields itself");
            return Err(fault(message));
        }
        let no_column = match columns {
            Some(columns) => columns.no_column_message(name),
            None => format!("no column `{name}` is declared; there are none"),
        };
        return Err(fault(no_column));
    };
    let column = &columns.columns()[at];
    let Some(template) = column.template() else {
        let message =
            format!("column `{name}` has one qualifier, {}, without fields", ColumnAddress(column));
        return Err(fault(message).hint(format!("ask for its value: {name} = …")));
    };
    let Some(slot) = template.slot(field) else {
        let names = || template.fields().iter().map(Field::name);
        let message = format!("the qualifiers of `{name}` have no field `{field}`");
        let fault = Fault::new(condition.at + name.len() + 1, message);
        return Err(match closest(field, names()) {
            Some(close) => fault.hint(format!("did you mean `{close}`?")),
            None => fault.hint(format!("they have: {}", names().collect::<Vec<_>>().join(", "))),
        });
    };
    Ok((at, template, slot))
}
