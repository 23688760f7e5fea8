//! How a question is read under a design.

use std::fmt;

use rowhouse_model::{Columns, Result};

use super::question::Question;
use super::table_design::Design;
use super::workload::Workload;
use crate::order::FieldOrder;
use crate::plan::{Comparison, Direction, Plan, Predicate, RowSequence, Test};
use crate::time::TimeZone;

/// How a question with certain values is read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QuestionReading {
    /// The query.
    pub predicate: Predicate,
    /// The rows to read before the reading ends; all if it is `None`.
    pub limit: Option<u64>,
    /// The read order.
    pub direction: Direction,
    /// The way; `None` leaves the choice to the database.
    pub way: Option<Way>,
    /// True if the newest rows are requested and no way has their order, so that all rows are read
    /// and sorted.
    pub sorts: bool,
}

/// A way to read a query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// By the key.
    Key,
    /// By the index with this name.
    Index(String),
}

impl fmt::Display for Way {
    /// Writes `by the key` or `by index NAME`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key => f.write_str("by the key"),
            Self::Index(name) => write!(f, "by index {name}"),
        }
    }
}

impl Design {
    /// Returns how a question can be read when it is asked for the nth time; at least one way.
    ///
    /// The newest rows are read by a way that has their order, in one direction or the other: all
    /// such ways, the key first. Without one, all rows are read. Other questions leave the choice
    /// to the database.
    ///
    /// ```
    /// use rowhouse_schema::{Design, Direction, Way, Workload};
    ///
    /// let text = "\
    /// field user string: 3 values
    /// field at millis: now
    /// ask user = ? newest 20 : 1/s";
    /// let workload = Workload::parse(text)?;
    /// let read = |key| {
    ///     let design = Design::new(&workload, key, "")?;
    ///     Ok::<_, rowhouse_model::Error>(
    ///         design.readings(&workload, &workload.questions()[0], 0)?.remove(0),
    ///     )
    /// };
    /// let ordered = read("[user string][at millis]")?;
    /// assert_eq!((ordered.way, ordered.limit), (Some(Way::Key), Some(20)));
    /// assert_eq!(ordered.direction, Direction::Reverse);
    /// assert!(read("[user string][at millis reverse]")?.sorts);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Workload::ask`].
    pub fn readings(
        &self,
        workload: &Workload,
        question: &Question,
        nth: u64,
    ) -> Result<Vec<QuestionReading>> {
        let predicate = workload.ask_predicate(question, nth)?;
        let any = QuestionReading {
            predicate,
            limit: question.limit,
            direction: Direction::Forward,
            way: None,
            sorts: false,
        };
        let Some(time) = workload.time_field().filter(|_| question.newest) else {
            return Ok(vec![any]);
        };
        let by_key = self.plan_by_key(&any.predicate)?;
        let by_key = newest_direction(&by_key, time).map(|direction| (Way::Key, direction));
        let by_indexes = self.indexes().iter().filter_map(|index| {
            let columns = self.columns();
            let zone = &TimeZone::UTC;
            let plan = index.plan(self.key(), columns, &any.predicate, zone, &Columns::all());
            let direction = newest_direction(plan.ok()?.plan(), time)?;
            Some((Way::Index(index.name().to_owned()), direction))
        });
        let ordered: Vec<QuestionReading> = by_key
            .into_iter()
            .chain(by_indexes)
            .map(|(way, direction)| QuestionReading { way: Some(way), direction, ..any.clone() })
            .collect();
        if ordered.is_empty() {
            return Ok(vec![QuestionReading { limit: None, sorts: true, ..any }]);
        }
        Ok(ordered)
    }

    /// Plans a query by the key.
    pub(super) fn plan_by_key(&self, predicate: &Predicate) -> Result<Plan> {
        Plan::new(self.key(), self.columns(), predicate, &TimeZone::UTC)
    }
}

/// Returns the direction in which a plan has the newest rows first, if either has: the time is the
/// first field in the plan's order that has several values.
pub(super) fn newest_direction(plan: &Plan, time: &str) -> Option<Direction> {
    if plan.order().sequence() == RowSequence::Physical {
        return None;
    }
    let conditions = plan.predicate().conditions();
    let is_single = |name: &str| {
        let of = |test: &Test| match test {
            Test::Compare(Comparison::Equal, _) => true,
            Test::OneOf(constants) => constants.len() == 1,
            _ => false,
        };
        conditions.iter().any(|condition| condition.field == name && of(&condition.test))
    };
    let first = plan.order().fields().iter().find(|field| !is_single(&field.name))?;
    let is_in_order = first.name == time && first.order == FieldOrder::Ordered;
    is_in_order.then_some(if first.desc { Direction::Forward } else { Direction::Reverse })
}
