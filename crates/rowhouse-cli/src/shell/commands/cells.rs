//! The cells in the columns that a read names, where one name may mean many qualifiers: the family
//! is read, which may have other cells too.

use rowhouse::filter::{Comparator, CompareOperator, Comparison, Filter, ListOperator};
use rowhouse::schema::{Column, ColumnSchema};
use rowhouse::{Bytes, Table};

/// The cells that a read shows. All, unless a column has many qualifiers.
#[derive(Default)]
pub(super) struct SelectedCells<'t> {
    schema: Option<&'t ColumnSchema>,
    parts: Vec<SelectedColumn<'t>>,
}

/// The cells in one column in a command.
pub(super) enum SelectedColumn<'t> {
    Family(Bytes),
    Column(Bytes, Bytes),
    /// The cells whose qualifiers are values that fit the column's template.
    Template(&'t Column),
}

impl<'t> SelectedCells<'t> {
    pub(super) fn new(table: &'t Table, parts: Vec<SelectedColumn<'t>>) -> Self {
        let has_template = parts.iter().any(|part| matches!(part, SelectedColumn::Template(_)));
        if has_template {
            Self { schema: table.column_schema().ok(), parts }
        } else {
            Self::default()
        }
    }

    /// Returns true if a cell is shown.
    pub(super) fn show(&self, family: &[u8], qualifier: &[u8]) -> bool {
        let Some(schema) = self.schema else { return true };
        self.parts.iter().any(|part| match part {
            SelectedColumn::Family(name) => name == family,
            SelectedColumn::Column(name, own) => name == family && own == qualifier,
            SelectedColumn::Template(column) => schema
                .find(family, qualifier)
                .is_some_and(|declared| declared.name() == column.name()),
        })
    }

    /// Adds the filter that leaves these cells to the read's filter, so that a row without them is
    /// not returned. It also leaves cells that begin as a template's qualifiers do.
    pub(super) fn narrow(&self, filter: &mut Option<Box<Filter>>) {
        let Some(schema) = self.schema else { return };
        let parts = self.parts.iter().map(|part| all(filters_of(part, schema)));
        let own = Filter::List { operator: ListOperator::Or, filters: parts.collect() };
        *filter = Some(Box::new(match filter.take() {
            None => own,
            Some(filter) => all(vec![own, *filter]),
        }));
    }
}

fn filters_of(part: &SelectedColumn<'_>, schema: &ColumnSchema) -> Vec<Filter> {
    let family = |name: &[u8]| Filter::Family(compared(CompareOperator::Equal, name));
    match part {
        SelectedColumn::Family(name) => vec![family(name)],
        SelectedColumn::Column(name, qualifier) => {
            vec![family(name), Filter::Qualifier(compared(CompareOperator::Equal, qualifier))]
        }
        SelectedColumn::Template(column) => {
            let lead = Filter::ColumnPrefix(Bytes::copy_from_slice(column.lead()));
            let others = schema.columns().iter().filter_map(|other| {
                let qualifier = other.qualifier()?;
                let is_inside =
                    other.family() == column.family() && qualifier.starts_with(column.lead());
                is_inside.then(|| Filter::Qualifier(compared(CompareOperator::NotEqual, qualifier)))
            });
            [family(column.family()), lead].into_iter().chain(others).collect()
        }
    }
}

fn all(filters: Vec<Filter>) -> Filter {
    Filter::List { operator: ListOperator::And, filters }
}

fn compared(operator: CompareOperator, bytes: &[u8]) -> Comparison {
    Comparison { operator, comparator: Comparator::Binary(Bytes::copy_from_slice(bytes)) }
}
