//! What is returned for a query's rows, and the reads that this takes.

use rowhouse_model::{Bytes, Columns, Filter, Row};
use rowhouse_schema::{ColumnFilter, Plan, PlanPart};

/// What is returned for a query's rows.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// The requested columns. A row without a cell in them is not returned.
    pub columns: Columns,
    /// True if only the keys are required: rows may come with any cells.
    pub keys_only: bool,
}

impl Projection {
    /// Returns the reads for a row, in a table with these families at one read point. Without
    /// families, a general read may read families that have a separate read too.
    pub(crate) fn parts(&self, plan: &Plan, families: &[Bytes]) -> Vec<PlanPart> {
        if self.keys_only && plan.qualifiers().is_empty() {
            let Some(filter) = plan.column_filter() else { return vec![self.first_key()] };
            let deciding = PlanPart { columns: filter.reads(), filter: None };
            if self.is_shown_by(filter) {
                return vec![deciding];
            }
            // Without a read point, the two could be from different times.
            if !families.is_empty() {
                return vec![deciding, self.first_key()];
            }
        }
        let mut columns = self.columns.clone();
        add_condition_columns(&mut columns, plan);
        if !plan.qualifiers().is_empty() && columns.is_all() {
            // Name the families, so that the general scan excludes the families with their own
            // scan.
            families.iter().for_each(|family| columns.add_family(family.clone()));
        }
        plan.parts(&columns)
    }

    /// Returns true if a plan has reads that belong together: they need one read point.
    pub fn needs_point(&self, plan: &Plan) -> bool {
        let by_keys = |filter| self.keys_only && !self.is_shown_by(filter);
        !plan.qualifiers().is_empty() || plan.column_filter().is_some_and(by_keys)
    }

    /// Returns true if a row that the filter lets through has a cell that the filter has read.
    fn is_shown_by(&self, filter: &ColumnFilter) -> bool {
        self.columns.is_all() && !filter.matches(&Row::default()).unwrap_or(true)
    }

    /// Returns the read that shows that a row is there.
    pub(crate) fn first_key(&self) -> PlanPart {
        PlanPart { columns: self.columns.clone(), filter: Some(Filter::FirstKeyOnly) }
    }
}

/// Adds the columns that conditions need; returns the requested columns if more are read.
pub fn add_condition_columns(columns: &mut Columns, plan: &Plan) -> Option<Columns> {
    let requested = columns.clone();
    if let Some(filter) = plan.column_filter() {
        columns.include(&filter.reads());
    }
    (requested != *columns || !plan.qualifiers().is_empty()).then_some(requested)
}
