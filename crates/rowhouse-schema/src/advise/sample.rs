//! The rules that need sampled keys from the table.

use std::collections::HashSet;

use super::{Finding, Rule};
use crate::encode::FieldType;
use crate::key::KeySchema;
use crate::template::Element;
use crate::value::Value;

/// The smallest sample from which a finding is reported.
const SAMPLE_MIN: usize = 100;
/// So few values cannot be spread over a growing table's regions.
const VALUES_FEW: usize = 8;

pub(super) fn few_leading_values<K: AsRef<[u8]>>(
    schema: &KeySchema,
    sample: &[K],
) -> Option<Finding> {
    let first = schema.elements().iter().find(|element| !matches!(element, Element::Literal(_)))?;
    let Element::Field(at) = first else { return None };
    let field = &schema.fields()[*at];
    let decoded = sample.iter().filter_map(|key| schema.decode(key.as_ref()).ok());
    let leading: Vec<Value> = decoded.map(|values| values.as_slice()[*at].clone()).collect();
    if leading.len() < SAMPLE_MIN {
        return None;
    }
    let keys = leading.len();
    let name = field.name();
    let distinct = leading.iter().collect::<HashSet<_>>().len();
    if distinct <= VALUES_FEW {
        let message = format!(
            "{keys} keys of the sample begin with {} of `{name}`: if what follows grows, the \
             writes of a moment go to no more regions; put a bucket or another field before it",
            counted(distinct, "different value"),
        );
        return Some(Finding { rule: Rule::FewLeadingValues, message });
    }
    if *field.field_type() != FieldType::Domain || field.is_hashed() {
        return None;
    }
    let domains =
        leading.iter().filter_map(Value::as_str).map(domain).collect::<HashSet<_>>().len();
    (domains <= VALUES_FEW).then(|| {
        let message = format!(
            "{keys} keys of the sample begin with {distinct} hosts of {}, by the last two parts \
             of `{name}`, and the hosts of a domain are adjacent; put a bucket before it: \
             domains={domains}, min={}",
            counted(domains, "domain"),
            VALUES_FEW + 1
        );
        Finding { rule: Rule::FewLeadingDomains, message }
    })
}

/// Returns a host name's last two parts: `example.com`.
fn domain(host: &str) -> &str {
    match host.rmatch_indices('.').nth(1) {
        Some((dot, _)) => &host[dot + 1..],
        None => host,
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
