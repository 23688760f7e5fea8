//! A design's wide form: the last key fields are in the cell qualifiers, so that rows which differ
//! only in these fields become one.
//!
//! ```text
//!  tall:  row: user | at             d:b = body          a row for each mail
//!  wide:  row: user                  d:at = body         a cell for each mail
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use rowhouse_model::Result;

use super::growth::Growth;
use super::shape::QuestionShape;
use super::spread::TableSpread;
use super::table_design::{Design, Literal, encode};
use super::workload::Workload;
use crate::columns::ColumnSchema;
use crate::key::KeySchema;
use crate::template::Element;

/// A design's wide form, and how it differs from the tall one.
///
/// Questions read as many cells as they read rows in the tall form, once for each column: each
/// column is a separate qualifier range.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WideForm {
    /// The key template.
    pub key: KeySchema,
    /// The columns, whose qualifiers have the other fields.
    pub columns: ColumnSchema,
    /// The rows in a table at the real size: an estimate.
    pub rows: f64,
    /// The tall rows that the largest row stands for, in a table at the real size: an estimate.
    pub largest: f64,
    /// The tall rows that a region has when it divides, in a table at the real size. A row never
    /// divides.
    pub region: f64,
    /// The share of the writes, from 0 to 1, that the busiest region takes in the median interval.
    pub share: f64,
}

impl Design {
    /// Returns a design's wide form. The rows are fixed by the fields to which every question gives
    /// one value, among the questions that fix the key's beginning at all.
    ///
    /// `None` if no question fixes only a beginning of the key; if the design has indexes, which
    /// need a row for each entry; or if the key's rest cannot be a qualifier: a bucket by one of
    /// its fields stands before it, or one qualifier could belong to two columns.
    ///
    /// ```
    /// use rowhouse_schema::{Design, Workload};
    ///
    /// let text = "\
    /// field user string: 100 values
    /// field at millis: now
    /// column d:b body string: 20 bytes
    /// ask user = ? newest 20 : 10/s
    /// rows 5000";
    /// let workload = Workload::parse(text)?;
    /// let design = Design::new(&workload, "[user string][at millis desc]", "")?;
    /// let wide = design.wide(&workload)?.unwrap();
    /// assert_eq!(wide.key.to_string(), "[user string]");
    /// assert_eq!(wide.columns.to_string(), "d:[at millis desc] body string");
    /// assert_eq!(wide.rows, 100.0);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Workload::record`], and `InvalidRequest` for a value that the key cannot hold.
    pub fn wide(&self, workload: &Workload) -> Result<Option<WideForm>> {
        if !self.indexes().is_empty() {
            return Ok(None);
        }
        let Some(fields) = self.fields_of_rows(workload)? else { return Ok(None) };
        let Some((key, columns)) = self.split_at_field(fields) else { return Ok(None) };
        let places = &self.places()[..fields];

        let rows = workload.rows();
        let hasher = RandomState::new();
        let mut cells: HashMap<u64, u64> = HashMap::new();
        let mut largest = 0;
        let mut earlier = [0.0; 2];
        let spread = TableSpread::of_cells(workload, &key, |record, number| {
            if number == rows / 2 {
                earlier = [cells.len() as f64, largest as f64];
            }
            let row = encode(&key, places, record, number)?;
            // 64 bits from each row are enough to count a million rows.
            let cells = cells.entry(hasher.hash_one(&row)).or_default();
            *cells += 1;
            largest = largest.max(*cells);
            Ok(row)
        })?;
        let rows_real = workload.rows_real().max(rows) as f64;
        let at_real_size = |earlier: f64, all: f64| {
            let sizes = [(rows / 2) as f64, rows as f64];
            Growth::between(sizes, [&[earlier], &[all]]).at(all, rows_real)
        };
        let values = places.iter().map(|at| workload.fields()[*at].values());
        let values = values.map(|count| count.map_or(f64::INFINITY, |count| count as f64));
        let rows_wide = at_real_size(earlier[0], cells.len() as f64).min(values.product());
        Ok(Some(WideForm {
            key,
            columns,
            rows: rows_wide,
            largest: at_real_size(earlier[1], largest as f64).max(rows_real / rows_wide),
            region: rows_real / workload.regions() as f64,
            share: spread.median(),
        }))
    }

    /// Returns how many fields at the key's beginning every question fixes that fixes any.
    fn fields_of_rows(&self, workload: &Workload) -> Result<Option<usize>> {
        let mut least = None;
        for question in workload.questions() {
            let shape = QuestionShape::of(workload, question)?;
            let fields = self.key().fields().iter();
            let fixed = fields.take_while(|field| shape.equal.iter().any(|it| it == field.name()));
            let fixed = fixed.count();
            if fixed > 0 {
                least = Some(least.map_or(fixed, |least: usize| least.min(fixed)));
            }
        }
        Ok(least.filter(|fields| *fields < self.key().fields().len()))
    }

    /// Returns a key with so many fields, and columns with the others in their qualifiers.
    fn split_at_field(&self, fields: usize) -> Option<(KeySchema, ColumnSchema)> {
        let elements = self.key().elements();
        let at =
            elements.iter().position(|it| matches!(it, Element::Field(at) if *at == fields))?;
        let (row, qualifier) = elements.split_at(at);
        if qualifier.iter().any(|element| matches!(element, Element::Computed(_))) {
            return None;
        }
        let text = |elements: &[Element]| -> String {
            let texts = elements.iter().map(|element| match element {
                Element::Literal(bytes) => Literal(bytes).to_string(),
                Element::Field(at) => format!("[{}]", self.key().fields()[*at]),
                Element::Computed(at) => format!("[{}]", self.key().computed()[*at]),
            });
            texts.collect()
        };
        let key = text(row);
        let qualifier = text(qualifier);
        let columns = match self.columns() {
            None => format!("{}:{qualifier} x blob", self.families().first()?),
            Some(columns) => {
                let columns = columns.columns();
                let declared = columns.iter().map(|column| {
                    let family = Literal(column.family()).to_string();
                    // Several templates in one family each need their own beginning.
                    let own = match (columns.len(), column.qualifier()) {
                        (2.., Some(qualifier)) => Literal(qualifier).to_string(),
                        _ => String::new(),
                    };
                    format!("{family}:{own}{qualifier} {}", column.field())
                });
                declared.collect::<Vec<_>>().join("; ")
            }
        };
        let key = KeySchema::parse(&key).ok()?;
        let columns = ColumnSchema::parse(&columns).ok()?;
        columns.check_key(&key).ok()?;
        Some((key, columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::spread::Spread;

    fn wide(text: &str, key: &str, indexes: &str) -> Option<WideForm> {
        let workload = Workload::parse(text).unwrap();
        Design::new(&workload, key, indexes).unwrap().wide(&workload).unwrap()
    }

    const MAIL: &str = "\
field user string: 50 values, zipf 1
field at millis: now
column d:s sender string: 5 values
column d:b body string: 20 bytes
ask user = ? newest 20 : 10/s
ask user = ? and at >= now - 1h : 1/s
ask at >= now - 1h : 1/m
write 1/s
rows 4000
";

    #[test]
    fn rows_have_the_fields_that_questions_fix_and_each_column_its_own_qualifiers() {
        let wide = wide(MAIL, "[bucket 4 of user][user string]/[at millis desc]", "").unwrap();
        assert_eq!(wide.key.to_string(), "[bucket 4 of user][user string]/");
        assert_eq!(
            wide.columns.to_string(),
            "d:s[at millis desc] sender string; d:b[at millis desc] body string"
        );
    }

    #[test]
    fn rows_and_cells_are_those_of_the_workload_counted_one_by_one() {
        let wide = wide(MAIL, "[user string][at millis desc]", "").unwrap();
        let workload = Workload::parse(MAIL).unwrap();
        let mut cells = std::collections::BTreeMap::<String, f64>::new();
        for number in 0..workload.rows() {
            let user = workload.record(number).unwrap().values[0].to_string();
            *cells.entry(user).or_default() += 1.0;
        }
        assert_eq!(wide.rows, cells.len() as f64);
        // 4,000 rows stand for 86,400; a user has the same part.
        let largest = cells.values().copied().fold(0.0, f64::max) * 21.6;
        assert!((wide.largest / largest - 1.0).abs() < 0.1, "{} {largest}", wide.largest);
    }

    #[test]
    fn a_region_is_not_divided_inside_a_row() {
        // A few users make half the writes.
        let text = MAIL.replace("zipf 1", "zipf 2");
        let key = "[user string][at millis desc]";
        let workload = Workload::parse(&text).unwrap();
        let design = Design::new(&workload, key, "").unwrap();
        let tall = Spread::of(&workload, &design).unwrap().median();
        let wide = design.wide(&workload).unwrap().unwrap();
        assert!(wide.share > tall + 0.1, "{} {tall}", wide.share);
        assert!(wide.largest > wide.region, "{wide:?}");
    }

    #[test]
    fn designs_without_a_wide_form_have_none() {
        let key = "[user string][at millis desc]";
        assert_eq!(wide(MAIL, key, "by_sender [sender]"), None, "indexes need rows");
        assert_eq!(wide(MAIL, "[at millis][user string]", ""), None, "no question fixes `at`");
        let bucket = "[bucket 4 of user,at][user string][at millis desc]";
        assert_eq!(wide(MAIL, bucket, ""), None, "the row alone does not determine its bucket");
        let single = MAIL.replace("newest 20", "and at = ?").replace("and at >= now - 1h ", "");
        let single = single.replace("ask user = ? : 1/s\n", "");
        assert_eq!(wide(&single, key, ""), None, "every question fixes the whole key");
    }
}
