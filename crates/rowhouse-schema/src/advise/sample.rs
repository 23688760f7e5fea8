//! The rule that looks at keys of the table.

use std::collections::HashSet;

use super::{Finding, Rule};
use crate::key::KeySchema;
use crate::template::Element;
use crate::value::Value;

/// With fewer keys nothing is said.
const SAMPLE_MIN: usize = 100;
/// So few values cannot be spread over the regions of a table that grows.
const VALUES_FEW: usize = 8;

pub(super) fn few_leading_values<K: AsRef<[u8]>>(
    schema: &KeySchema,
    sample: &[K],
) -> Option<Finding> {
    let first = schema.elements().iter().find(|element| !matches!(element, Element::Literal(_)))?;
    let Element::Field(at) = first else { return None };
    let decoded = sample.iter().filter_map(|key| schema.decode(key.as_ref()).ok());
    let leading: Vec<Value> = decoded.map(|values| values.as_slice()[*at].clone()).collect();
    let distinct = leading.iter().collect::<HashSet<_>>().len();
    if leading.len() < SAMPLE_MIN || distinct > VALUES_FEW {
        return None;
    }
    let message = format!(
        "{} keys of the sample begin with {distinct} different values of `{}`: that is into how many \
         parts rows are spread; put a bucket in front, or another field first",
        leading.len(),
        schema.fields()[*at].name()
    );
    Some(Finding { rule: Rule::FewLeadingValues, message })
}
