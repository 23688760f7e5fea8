//! The workload for a table that exists: the declarations, a row sample, and the rates from the
//! table's heat.

use rowhouse_model::{Error, Result, Scan};
use rowhouse_schema::{RowSample, Workload};

use crate::database::Database;
use crate::table::Table;

/// Rows that are read, from the beginning of each region.
const SAMPLED: usize = 20_000;

/// Describes a table as a workload: with the key, indexes and declared columns, up to 20,000 rows
/// as a sample, and the rates from the table's heat. `questions` are queries with `?`, as in
/// workloads; questions without a rate share the read rate.
///
/// Rows are read from the beginning of each region, and put into the order in which they were
/// written, by their cell timestamps. Columns whose qualifiers have a template are left out.
///
/// ```
/// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
/// use rowhouse::advise::{advise, workload_of};
///
/// let questions = ["sender = ?", "user = ? newest 20 : 5/s"];
/// let workload = workload_of(&database, "mail", &questions).await?;
/// let mut advice = advise(&workload, std::path::Path::new("/tmp")).await?;
/// advice.fit_to(&database).await?;
/// println!("{}", advice.reasons.join("\n"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `InvalidRequest` if the table has no template, no rows, or a key that holds only a hash or a
/// step of a value, and for a mistake in a question; as [`Table::query`].
pub async fn workload_of<Q: AsRef<str>>(
    database: &Database,
    table: &str,
    questions: &[Q],
) -> Result<Workload> {
    let table = database.table(table).await?;
    // The error says how to declare one.
    table.key_schema()?;
    let name = table.name().to_string();
    let heat = database.admin().heat(&name, i64::MIN, i64::MAX).await?;
    let declared = database.admin().describe(&name).await?;
    let workload = Workload::parse(&Workload::text_of_table(&declared, questions, &heat)?)?;
    let mut sample = RowSample::new(&declared, &workload)?;
    add_rows(&table, &mut sample).await?;
    if sample.is_empty() {
        return Err(Error::invalid(format!("the table has no rows: table={name}")));
    }
    sample.sampled(workload)
}

/// Reads rows from the beginning of each region.
async fn add_rows(table: &Table, sample: &mut RowSample) -> Result<()> {
    let regions = table.regions().await?;
    let of_region = SAMPLED.div_ceil(regions.len().max(1));
    for region in regions {
        let mut rows = table.scan(Scan::new(region.range).limit(of_region as u64)).await?;
        while let Some(row) = rows.next().await? {
            sample.add(&row);
        }
    }
    Ok(())
}
