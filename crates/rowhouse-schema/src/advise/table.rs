//! The rules that check a table: the families, and the cell sizes.

use rowhouse_model::{Bytes, TableDescriptor, escape};

use super::{Finding, Rule};

/// How large one family's cells are over all regions, in cell bytes before compression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FamilySize {
    /// The family's name.
    pub name: Bytes,
    /// How many cells.
    pub cells: u64,
    /// Bytes in keys, values and tags.
    pub bytes: u64,
    /// Bytes in row keys, which every cell repeats.
    pub row_bytes: u64,
    /// Name bytes in excess of one letter for the family and two for the qualifier.
    pub name_bytes: u64,
}

/// Checks a table's declaration and, where `sizes` has any, the cell sizes; returns the findings in
/// rule order. [`KeySchema::check`](crate::KeySchema::check) checks the key template.
///
/// ```
/// use rowhouse_model::{FamilyDescriptor, TableDescriptor, TableName};
/// use rowhouse_schema::{FamilySize, Rule, check_table};
///
/// let table = TableDescriptor::new(TableName::parse("mail")?).family(FamilyDescriptor::new("d")?);
/// let name = "d".into();
/// let size =
///     FamilySize { name, cells: 1000, bytes: 150_000, row_bytes: 100_000, name_bytes: 0 };
/// assert_eq!(check_table(&table, &[size])[0].rule, Rule::LongRows);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
pub fn check_table(table: &TableDescriptor, sizes: &[FamilySize]) -> Vec<Finding> {
    let many = many_families(table).map(|message| Finding { rule: Rule::ManyFamilies, message });
    let names = sizes.iter().filter_map(long_names);
    let names = names.map(|message| Finding { rule: Rule::LongNames, message });
    let rows = long_rows(sizes).map(|message| Finding { rule: Rule::LongRows, message });
    many.into_iter().chain(names).chain(rows).collect()
}

/// HBase's reference guide advises two or three, because each flush writes a file for each family.
const FAMILIES_MAX: usize = 3;

fn many_families(table: &TableDescriptor) -> Option<String> {
    let count = table.families().len();
    (count > FAMILIES_MAX).then(|| {
        let names: Vec<_> = table.families().iter().map(|family| escape(family.name())).collect();
        format!(
            "each of {} has a memstore and files of its own in every region; put columns that are \
             read together into one family: families={count}, max={FAMILIES_MAX}",
            names.join(", ")
        )
    })
}

/// Names that take a smaller share of a family are not worth a change.
const NAMES_PERCENT: u64 = 10;

fn long_names(size: &FamilySize) -> Option<String> {
    let FamilySize { cells, bytes, name_bytes, .. } = *size;
    let percent = percent(name_bytes, bytes)?;
    (percent >= NAMES_PERCENT && name_bytes > 0).then(|| {
        format!(
            "the names of `{}` and its qualifiers take {} bytes a cell beyond one letter and two, in {}: \
             {name_bytes} bytes, {percent} % of the family; store short names, and declare readable ones as columns: max={NAMES_PERCENT} %",
            escape(&size.name),
            per_cell(name_bytes, cells),
            counted(cells)
        )
    })
}

/// A finding is reported for row keys with a greater average length.
const ROW_BYTES_MAX: u64 = 64;

fn long_rows(sizes: &[FamilySize]) -> Option<String> {
    let sum = |of: fn(&FamilySize) -> u64| sizes.iter().map(of).sum::<u64>();
    let cells = sum(|size| size.cells);
    let rows = sum(|size| size.row_bytes);
    let percent = percent(rows, sum(|size| size.bytes))?;
    (rows > cells.saturating_mul(ROW_BYTES_MAX)).then(|| {
        format!(
            "row keys take {} bytes a cell, in {}: {rows} bytes, {percent} % of the table; \
             store a hash or a shorter type: max={ROW_BYTES_MAX}",
            per_cell(rows, cells),
            counted(cells)
        )
    })
}

fn percent(part: u64, whole: u64) -> Option<u64> {
    let percent = (u128::from(part) * 100).checked_div(whole.into())?;
    u64::try_from(percent).ok()
}

/// Average bytes per cell, with one decimal.
fn per_cell(bytes: u64, cells: u64) -> String {
    format!("{:.1}", bytes as f64 / cells.max(1) as f64)
}

fn counted(cells: u64) -> String {
    format!("{cells} {}", if cells == 1 { "cell" } else { "cells" })
}
