//! In which order a plan's rows come.

use std::fmt;

use super::set::FieldConditions;
use crate::field::Field;
use crate::key::KeySchema;
use crate::order::FieldOrder;

/// The order of a plan's rows: by the first field, then by the second, and so on.
///
/// Rows come in key order. A time with `desc` comes newest first.
///
/// ```
/// use rowhouse_schema::{KeySchema, Predicate};
///
/// let schema = KeySchema::parse("[user text][at millis desc]")?;
/// let one = schema.plan(&Predicate::parse("user = 'bob'")?)?;
/// assert_eq!(one.order().to_string(), "user ascending, at descending (newest first)");
///
/// // Several users, which end by length, have no such order.
/// let all = schema.plan(&Predicate::all())?;
/// assert_eq!(all.order().to_string(), "by the bytes of the key");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOrder {
    fields: Vec<OrderedField>,
    complete: bool,
    sequence: RowSequence,
}

/// How the rows in a plan's ranges come into order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowSequence {
    /// By reading the ranges from first to last.
    AsRead,
    /// By merging the plan's streams by logical key: the rows are spread over buckets.
    Merged,
    /// Not at all: rows come in the keys' byte order, computed fields included.
    Physical,
}

/// One field by which rows are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedField {
    /// The field's name.
    pub name: String,
    /// True if the greatest (newest) value comes first.
    pub desc: bool,
    /// By value or as stored; never [`FieldOrder::Unordered`].
    pub order: FieldOrder,
    time: bool,
}

impl PlanOrder {
    pub(super) fn new(
        schema: &KeySchema,
        conditions: &[Option<FieldConditions>],
        sequence: RowSequence,
    ) -> Self {
        let mut fields = Vec::new();
        if sequence == RowSequence::Physical {
            return Self { fields, complete: false, sequence };
        }
        for (field, of_field) in schema.fields().iter().zip(conditions) {
            // A single value is in order.
            let order = if of_field.as_ref().is_some_and(FieldConditions::is_single) {
                FieldOrder::Ordered
            } else {
                FieldOrder::of(&field.codec)
            };
            if order == FieldOrder::Unordered {
                return Self { fields, complete: false, sequence };
            }
            fields.push(OrderedField::new(field, order));
        }
        Self { fields, complete: true, sequence }
    }

    /// The fields by which rows are ordered, most significant first.
    pub fn fields(&self) -> &[OrderedField] {
        &self.fields
    }

    /// Returns true if rows are ordered by all template fields. Otherwise rows that agree in
    /// [`PlanOrder::fields`] come in the keys' byte order.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// How rows come into this order.
    pub fn sequence(&self) -> RowSequence {
        self.sequence
    }
}

impl OrderedField {
    fn new(field: &Field, order: FieldOrder) -> Self {
        let time = field.field_type().is_time();
        Self { name: field.name().to_owned(), desc: field.is_desc(), order, time }
    }
}

impl fmt::Display for PlanOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sequence == RowSequence::Physical {
            return f.write_str("physical, by the bytes of the key");
        }
        for (nth, field) in self.fields.iter().enumerate() {
            write!(f, "{}{field}", if nth == 0 { "" } else { ", " })?;
        }
        match (self.complete, self.fields.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => f.write_str("by the bytes of the key"),
            (false, false) => f.write_str(", then by the bytes of the key"),
        }?;
        match self.sequence {
            RowSequence::Merged => f.write_str("; merged from the buckets"),
            RowSequence::AsRead | RowSequence::Physical => Ok(()),
        }
    }
}

impl fmt::Display for OrderedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, if self.desc { "descending" } else { "ascending" })?;
        if self.order == FieldOrder::AsStored {
            f.write_str(" as stored")?;
        }
        if self.desc && self.time { f.write_str(" (newest first)") } else { Ok(()) }
    }
}
