//! What questions ask for, as far as it matters for a key: fields with one value, fields with a
//! value range, the newest rows.

use rowhouse_model::Result;

use super::question::Question;
use super::workload::Workload;
use crate::plan::{Comparison, Test};

/// A question's conditions, by kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QuestionShape {
    /// Fields and columns that have a value, or one from a list.
    pub(super) equal: Vec<String>,
    /// Fields and columns that have a value in a range.
    pub(super) ranged: Vec<String>,
}

impl QuestionShape {
    pub(super) fn of(workload: &Workload, question: &Question) -> Result<Self> {
        let predicate = workload.ask_predicate(question, 0)?;
        let mut shape = Self { equal: Vec::new(), ranged: Vec::new() };
        for condition in predicate.conditions() {
            let names = match &condition.test {
                Test::Compare(Comparison::Equal, _) | Test::OneOf(_) => &mut shape.equal,
                Test::Compare(..)
                | Test::Between(..)
                | Test::StartsWith(_)
                | Test::During(_)
                | Test::Under(_) => &mut shape.ranged,
                Test::EndsWith(_) | Test::Matches(_) | Test::IsNull | Test::IsNotNull => continue,
            };
            if !names.contains(&condition.field) {
                names.push(condition.field.clone());
            }
        }
        // A field with one value needs no range.
        let Self { equal, ranged } = &mut shape;
        ranged.retain(|name| !equal.contains(name));
        if let Some(time) = workload.time_field().filter(|_| question.newest)
            && !shape.equal.iter().chain(&shape.ranged).any(|name| name == time)
        {
            shape.ranged.push(time.to_owned());
        }
        Ok(shape)
    }

    /// Returns the fields and columns that select rows, those with one value first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.equal.iter().chain(&self.ranged).map(String::as_str)
    }
}
