//! Designs for a workload: field orders, prefixes that spread writes, and indexes.
//!
//! Keys have the fields in all orders; many fields, in those that the questions suggest. Each order
//! is tried with buckets, a salt, a hash and reversed digits in front. Indexes begin with the
//! fields to which a question gives one value. The search combines keys and indexes.

use std::collections::BTreeSet;

use rowhouse_model::Result;

use super::estimate::{DesignEstimate, Estimator};
use super::rank::two_digits;
use super::search::{self, Search};
use super::shape::QuestionShape;
use super::table_design::Design;
use super::workload::{Variable, Workload};
use crate::encode::FieldType;

/// Up to so many fields are tried in all orders.
const PERMUTED_MAX: usize = 3;
/// Texts up to this length are stored without a terminator if all have the same length.
const FIXED_MAX: u32 = 64;

/// How a design spreads the writes, in the terms that the literature on row keys uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DesignKind {
    /// A field that grows comes first: new rows are adjacent.
    Sequential,
    /// A bucket or salt before a field that grows.
    Salted,
    /// A field that does not grow comes first.
    Promoted,
    /// A bucket before a field that does not grow.
    Bucketed,
    /// A number that grows comes first, with digits or bytes reversed.
    Reversed,
    /// A hash comes first: rows are in no order.
    Random,
}

impl DesignKind {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Salted => "salted",
            Self::Promoted => "promoted",
            Self::Bucketed => "bucketed",
            Self::Reversed => "reversed",
            Self::Random => "random",
        }
    }
}

/// A design that may suit a workload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proposal {
    /// The design.
    pub design: Design,
    /// How it spreads the writes.
    pub kind: DesignKind,
    /// True if it is the one that the workload names as present.
    pub is_present: bool,
    /// The estimated costs.
    pub estimate: DesignEstimate,
}

impl Proposal {
    /// Proposes designs: the present one, keys, and keys with indexes, the best first. Each is a
    /// valid design for the workload, and no two are equal.
    ///
    /// ```
    /// use rowhouse_schema::{Estimator, Proposal, Workload};
    ///
    /// let text = "\
    /// field user string: 500 values
    /// field at millis: now
    /// rows 2000
    /// ask user = ? newest 20 : 10/s";
    /// let workload = Workload::parse(text)?;
    /// let proposals = Proposal::all(&workload, &Estimator::new(&workload)?)?;
    /// let best = proposals[0].design.key().to_string();
    /// assert_eq!(best, "[user text 8][at millis desc]");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Estimator::estimate`].
    pub fn all(workload: &Workload, estimator: &Estimator) -> Result<Vec<Self>> {
        Self::all_while(workload, estimator, &|| true)
    }

    /// As [`Proposal::all`], as long as `goes_on` returns true, which is called before each table
    /// and each combination of tables is estimated: every few milliseconds with few thousand rows.
    ///
    /// # Errors
    /// As [`Proposal::all`]; `Timeout` when `goes_on` returns false.
    ///
    /// ```
    /// use rowhouse_schema::{Estimator, Proposal, Workload};
    ///
    /// let workload = Workload::parse("field user string: 50 values\nrows 100")?;
    /// let stopped = Proposal::all_while(&workload, &Estimator::new(&workload)?, &|| false);
    /// assert_eq!(stopped.unwrap_err().kind(), rowhouse_model::ErrorKind::Timeout);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn all_while(
        workload: &Workload,
        estimator: &Estimator,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Vec<Self>> {
        let shapes = workload.questions().iter().map(|it| QuestionShape::of(workload, it));
        let shapes = shapes.collect::<Result<Vec<_>>>()?;
        let present = Design::present(workload)?;
        let mut seen: BTreeSet<String> = present.iter().map(ToString::to_string).collect();
        let mut proposals = Vec::new();
        let mut designs = Vec::new();
        if let Some(design) = present {
            // The present key may be better with other indexes.
            let key = design.key().to_string();
            let alone = Design::new(workload, &key, "")?;
            designs.extend(seen.insert(alone.to_string()).then_some(alone));
            let kind = kind_of(workload, &design);
            search::check(goes_on)?;
            let estimate = estimator.estimate(&design)?;
            proposals.push(Self { design, kind, is_present: true, estimate });
        }
        for key in keys(workload, &shapes) {
            // Not every field can stand everywhere.
            let Ok(design) = Design::new(workload, &key, "") else { continue };
            designs.extend(seen.insert(design.to_string()).then_some(design));
        }
        let indexes = index_texts(workload, &shapes);
        let search = Search::new(workload, estimator, designs, indexes, goes_on)?;
        for (design, estimate) in search.designs()? {
            let is_present = proposals
                .iter()
                .any(|it: &Self| it.is_present && it.design.to_string() == design.to_string());
            if !is_present {
                let kind = kind_of(workload, &design);
                proposals.push(Self { design, kind, is_present, estimate });
            }
        }
        sort(workload, &mut proposals);
        Ok(proposals)
    }

    /// The score by the estimate; the least is the best.
    pub fn score(&self) -> f64 {
        self.estimate.score()
    }
}

/// Sorts by score, rounded to two digits, those that break a limit last; among equal ones, the
/// simpler ones first: fewer indexes, fewer computed fields, shorter keys.
fn sort(workload: &Workload, proposals: &mut [Proposal]) {
    proposals.sort_by(|one, other| {
        let rank = |proposal: &Proposal| {
            let design = &proposal.design;
            let tables = &proposal.estimate.spread.tables;
            let bytes: u64 = tables.iter().map(|table| table.key_bytes).sum();
            let computed = design.key().computed().len();
            (design.indexes().len(), computed, bytes, design.to_string())
        };
        let is_refused =
            |proposal: &Proposal| !proposal.estimate.broken_limits(workload).is_empty();
        let score = |proposal: &Proposal| two_digits(proposal.score());
        is_refused(one)
            .cmp(&is_refused(other))
            .then_with(|| score(one).total_cmp(&score(other)))
            .then_with(|| rank(one).cmp(&rank(other)))
    });
}

/// Returns a design's kind.
fn kind_of(workload: &Workload, design: &Design) -> DesignKind {
    let key = design.key();
    let text = key.to_string();
    let first = key.fields().first();
    let grows = first.is_some_and(|first| workload.grows(first.name()));
    let is_computed_first = text.trim_start_matches(|c| c != '[').starts_with("[bucket ")
        || text.trim_start_matches(|c| c != '[').starts_with("[salt ");
    match first {
        _ if text.starts_with("[hash ") => DesignKind::Random,
        Some(first) if first.is_hashed() => DesignKind::Random,
        _ if is_computed_first && grows => DesignKind::Salted,
        _ if is_computed_first => DesignKind::Bucketed,
        Some(first) if grows && first.modifiers.reverse => DesignKind::Reversed,
        _ if grows => DesignKind::Sequential,
        _ => DesignKind::Promoted,
    }
}

/// Returns templates without indexes.
fn keys(workload: &Workload, shapes: &[QuestionShape]) -> Vec<String> {
    let mut keys = Vec::new();
    for order in orders(workload, shapes) {
        let last = order.len() - 1;
        let fields = order.iter().enumerate();
        let fields: Vec<String> =
            fields.map(|(place, at)| field_text(workload, *at, place == last)).collect();
        let plain = fields.concat();
        keys.push(plain.clone());
        let names: Vec<&str> = order.iter().map(|at| workload.fields()[*at].field.name()).collect();
        let is_equal = |name: &str| shapes.iter().any(|it| it.equal.iter().any(|of| of == name));
        for count in bucket_counts(workload) {
            // A bucket of a field without one value in any question spreads as that of all does.
            let of = names.iter().enumerate().filter(|(at, name)| *at == 0 || is_equal(name));
            let of = of.map(|(_, name)| (*name).to_owned()).chain([names.join(",")]);
            keys.extend(of.map(|of| format!("[bucket {count} of {of}]{plain}")));
            keys.push(format!("[salt {count}]{plain}"));
        }
        keys.push(format!("[hash 2 of {}]{plain}", names[0]));
        keys.push(format!("[hash 8 of {}]{plain}", names.join(",")));
        if let Some(reversed) = reversed(workload, &workload.fields()[order[0]]) {
            keys.push(reversed + &fields[1..].concat());
        }
    }
    keys
}

/// The bucket counts that are tried: one for each server, and one for each region.
fn bucket_counts(workload: &Workload) -> BTreeSet<usize> {
    [workload.servers(), workload.regions()].into_iter().filter(|count| *count > 1).collect()
}

/// Returns field orders, as positions, each once.
fn orders(workload: &Workload, shapes: &[QuestionShape]) -> Vec<Vec<usize>> {
    let fields = workload.fields();
    let place = |name: &str| fields.iter().position(|it| it.field.name() == name);
    let mut firsts: Vec<Vec<usize>> =
        shapes.iter().map(|shape| shape.names().filter_map(place).collect()).collect();
    // A field alone: the others follow in workload order.
    firsts.extend((0..fields.len()).map(|at| vec![at]));
    if let Some(key) = workload.key() {
        firsts.push(key.fields().iter().filter_map(|field| place(field.name())).collect());
    }
    if fields.len() <= PERMUTED_MAX {
        firsts.extend(permutations(&(0..fields.len()).collect::<Vec<_>>()));
    }
    let mut orders: Vec<Vec<usize>> = Vec::new();
    for first in firsts {
        // Fields that do not grow keep rows with one value together.
        let (grow, stay): (Vec<usize>, Vec<usize>) = (0..fields.len())
            .filter(|at| !first.contains(at))
            .partition(|at| workload.grows(fields[*at].field.name()));
        let order = [first, stay, grow].concat();
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}

/// Returns a field as a template has it: with the type that it has in the present key, or without a
/// terminator if the values have one length. A domain is one in the last place only, and a string
/// before other fields.
fn field_text(workload: &Workload, at: usize, is_last: bool) -> String {
    let variable = &workload.fields()[at];
    let name = variable.field.name();
    let needs_newest = workload.questions().iter().any(|question| question.newest);
    let desc = if needs_newest && workload.time_field() == Some(name) { " desc" } else { "" };
    format!("[{name} {}{desc}]", type_text(workload, variable, is_last))
}

fn type_text(workload: &Workload, variable: &Variable, is_last: bool) -> String {
    let is_text = matches!(variable.field.field_type(), FieldType::Text | FieldType::String);
    let fixed = variable.fixed_length().filter(|length| *length <= FIXED_MAX);
    match (workload.key().is_some(), fixed) {
        // The only type without an end whose order differs from that of a string.
        _ if is_last && matches!(variable.field.field_type(), FieldType::Domain) => {
            "domain".to_owned()
        }
        (false, Some(length)) if is_text => format!("text {length}"),
        _ => variable.closed_type(),
    }
}

/// Returns a number that grows, with the digits or bytes reversed.
fn reversed(workload: &Workload, variable: &Variable) -> Option<String> {
    let is_number = matches!(
        variable.field.field_type(),
        FieldType::Unsigned { .. } | FieldType::Digits { .. }
    );
    let name = variable.field.name();
    let field_type = variable.field.field_type();
    (is_number && workload.grows(name)).then(|| format!("[{name} {field_type} reverse]"))
}

/// Returns all orders of some things.
fn permutations<T: Clone>(things: &[T]) -> Vec<Vec<T>> {
    if things.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |at: usize| {
        let mut rest = things.to_vec();
        let first = rest.remove(at);
        permutations(&rest).into_iter().map(move |order| [vec![first.clone()], order].concat())
    };
    (0..things.len()).flat_map(with_first).collect()
}

/// Returns index declarations, each once: for each question the fields with one value, each alone
/// and all in each order, before a field with a range.
fn index_texts(workload: &Workload, shapes: &[QuestionShape]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for shape in shapes {
        let mut firsts: Vec<Vec<&str>> =
            shape.equal.iter().map(|name| vec![name.as_str()]).collect();
        let equal: Vec<&str> = shape.equal.iter().map(String::as_str).collect();
        if equal.len() <= PERMUTED_MAX {
            firsts.extend(permutations(&equal));
        } else {
            firsts.push(equal);
        }
        let lasts = shape.ranged.iter().map(|name| Some(name.as_str()));
        let lasts: Vec<Option<&str>> =
            if shape.ranged.is_empty() { vec![None] } else { lasts.collect() };
        for last in lasts {
            for first in &firsts {
                for text in index_of(workload, first, last) {
                    if !texts.contains(&text) {
                        texts.push(text);
                    }
                }
            }
        }
    }
    texts
}

/// Returns declarations for an index: plain, or with buckets if it begins with a field that grows.
fn index_of(workload: &Workload, equal: &[&str], last: Option<&str>) -> Vec<String> {
    let names: Vec<&str> = equal.iter().copied().chain(last).collect();
    let Some(first) = names.first() else { return Vec::new() };
    let name = if equal.is_empty() { (*first).to_owned() } else { equal.join("_") };
    let fields = names.iter().map(|field| {
        let desc = if workload.time_field() == Some(*field) { " desc" } else { "" };
        let is_column = !workload.field_names().any(|other| other == *field);
        // A row without the time has an entry, too.
        let null = if is_column && last == Some(*field) { " null last" } else { "" };
        format!("[{field}{desc}{null}]")
    });
    let fields: String = fields.collect();
    let buckets = bucket_counts(workload).into_iter().filter(|_| workload.grows(first));
    let buckets = buckets.map(|count| format!("[bucket {count} of {first}]"));
    let prefixes = [String::new()].into_iter().chain(buckets);
    prefixes.map(|prefix| format!("by_{name} {prefix}{fields}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// The first proposals for a workload with few rows.
    fn proposals(text: &str) -> Vec<Proposal> {
        let workload = Workload::parse(text).unwrap();
        Proposal::all(&workload, &Estimator::new(&workload).unwrap()).unwrap()
    }

    #[test]
    fn a_number_that_counts_up_gets_a_bucket_or_its_digits_reversed() {
        let proposed = proposals("field n u64: sequence\nask n = ? : 1/s\nrows 2000");
        assert!(proposed[0].kind != DesignKind::Sequential, "{}", proposed[0].design);
        let texts: Vec<String> = proposed.iter().map(|it| it.design.to_string()).collect();
        for expected in ["[bucket 16 of n][n u64]", "[n u64 reverse]", "[hash 2 of n][n u64]"] {
            assert!(texts.contains(&expected.to_owned()), "{expected}: {texts:?}");
        }
    }

    #[test]
    fn a_question_about_a_column_gets_an_index_if_it_is_worth_its_writes() {
        let text = |rate: &str| {
            format!(
                "field user string: 100 values\nfield at millis: now\nrows 4000\nwrite 10/s\n\
                 column d:s sender string: 500 values\nask sender = ? : {rate}"
            )
        };
        assert_eq!(
            proposals(&text("1/s"))[0].design.indexes()[0].to_string(),
            "by_sender [sender]"
        );
        assert!(proposals(&text("0.000001/s"))[0].design.indexes().is_empty());
    }

    #[test]
    fn a_domain_in_the_last_place_stays_one() {
        let proposed = proposals("field host domain: 50 values\nfield n u32: sequence\nrows 300");
        let texts: Vec<String> = proposed.iter().map(|it| it.design.to_string()).collect();
        assert!(texts.contains(&"[n u32][host domain]".to_owned()), "{texts:?}");
        assert!(!texts.iter().any(|text| text.ends_with("[host string]")), "{texts:?}");
    }

    #[test]
    fn the_present_design_is_among_them_once() {
        let proposed = proposals(
            "key [at millis][user string]\nfield user string: 9 values\nfield at millis: now\n\
             rows 500",
        );
        assert_eq!(proposed.iter().filter(|it| it.is_present).count(), 1);
        let key = |it: &&Proposal| it.design.to_string() == "[at millis][user string]";
        assert_eq!(proposed.iter().filter(key).count(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn every_proposal_is_a_valid_design_and_no_two_are_equal(
            first in select(vec![
                "string: 30 values", "text: 9 values, 3 to 7 bytes", "u64: sequence", "uuid: random",
                "enum(a,b): 2 values", "digits 6: sequence", "hex 8: 40 values", "domain: 20 values",
                "bool: 2 values", "i32: 5 values", "decimal: 90 values",
            ]),
            second in select(vec!["millis: now", "seconds 4: now", "ymd: now", "u32: sequence"]),
            question in select(vec!["a = ?", "b >= ?", "a = ? and b >= ?", "c = ?", "b = ?", ""]),
            limit in select(vec!["", " limit 3"]),
            seed: u64,
        ) {
            let text = format!(
                "field a {first}\nfield b {second}\ncolumn d:c c u16: 50 values\n\
                 ask {question}{limit} : 3/s\nrows 150\nseed {seed}"
            );
            let workload = Workload::parse(&text).unwrap();
            let proposed = proposals(&text);
            let mut seen = BTreeSet::new();
            for proposal in &proposed {
                let key = proposal.design.key().to_string();
                let indexes: Vec<String> =
                    proposal.design.indexes().iter().map(ToString::to_string).collect();
                prop_assert!(Design::new(&workload, &key, &indexes.join("; ")).is_ok(), "{key}");
                prop_assert!(seen.insert(proposal.design.to_string()));
                prop_assert!((0.0..=1.0).contains(&proposal.estimate.share()));
                prop_assert!(proposal.score() >= 0.0);
            }
            prop_assert!(proposed.len() > 3);
        }
    }
}
