//! The tree as a tantivy query.

use std::ops::Bound;

use rowhouse_schema::{Analyser, Fault};
use tantivy::Term;
use tantivy::query::{
    BooleanQuery, FuzzyTermQuery, InvertedIndexRangeQuery, Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::TERMS_MAX;
use super::all_of::{AllOf, AnyOf, Sequence};
use super::excluded::Excluded;
use super::lookup::Lookup;
use super::node::{Leaf, Node};

/// Makes the query for a tree.
pub(super) struct Compiler<'a> {
    fields: &'a [(Analyser, Field)],
    terms: usize,
}

/// A tree's query.
struct Compiled {
    query: Box<dyn Query>,
    /// The same as parts that must all be there; `None` if it is more than words and phrases.
    parts: Option<Vec<AnyOf>>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(fields: &'a [(Analyser, Field)]) -> Self {
        Self { fields, terms: 0 }
    }

    /// Returns none if no analyser has a term for any word: such words are left out.
    pub(super) fn query(&mut self, root: &Node) -> Result<Option<Box<dyn Query>>, Fault> {
        Ok(self.node(root)?.map(|compiled| match compiled.parts {
            Some(parts) => AllOf::over(compiled.query, parts),
            None => compiled.query,
        }))
    }

    fn node(&mut self, node: &Node) -> Result<Option<Compiled>, Fault> {
        match node {
            Node::And(parts) => self.and(parts),
            Node::Or(parts) => {
                let mut queries = Vec::with_capacity(parts.len());
                for part in parts {
                    queries.extend(self.node(part)?.map(|compiled| compiled.query));
                }
                Ok(any_of(queries).map(Compiled::other))
            }
            Node::Not(part) => Ok(self.node(part)?.map(|Compiled { query, .. }| {
                if query.is::<TermQuery>() {
                    Compiled::other(query)
                } else {
                    Compiled::other(Box::new(Excluded(query)))
                }
            })),
            Node::Leaf(leaf) => self.leaf(leaf),
        }
    }

    fn and(&mut self, parts: &[Node]) -> Result<Option<Compiled>, Fault> {
        let mut clauses = Vec::with_capacity(parts.len());
        let mut all_of = Some(Vec::with_capacity(parts.len()));
        for part in parts {
            let occur = match part {
                Node::Not(_) => Occur::MustNot,
                Node::And(_) | Node::Or(_) | Node::Leaf(_) => Occur::Must,
            };
            let Some(compiled) = self.node(part)? else { continue };
            match (&mut all_of, compiled.parts) {
                (Some(all_of), Some(parts)) => all_of.extend(parts),
                _ => all_of = None,
            }
            clauses.push((occur, compiled.query));
        }
        let required = clauses.iter().filter(|(occur, _)| *occur == Occur::Must).count();
        match clauses.len() {
            0 => Ok(None),
            _ if required == 0 => {
                let at = parts.iter().find_map(first_leaf).map_or(0, |leaf| leaf.at);
                let message = "only words after `NOT` are left, without the stop words";
                Err(Fault::new(at, message))
            }
            1 => Ok(clauses.pop().map(|(_, query)| Compiled { query, parts: all_of })),
            _ => {
                let query = Box::new(BooleanQuery::new(clauses));
                Ok(Some(Compiled { query, parts: all_of }))
            }
        }
    }

    fn leaf(&mut self, leaf: &Leaf) -> Result<Option<Compiled>, Fault> {
        let mut queries = Vec::with_capacity(self.fields.len());
        let mut any_sequence = Some(Vec::with_capacity(self.fields.len()));
        for &(analyser, field) in self.fields {
            let Some(lookup) = Lookup::of(leaf, analyser)? else { continue };
            self.terms += lookup.terms();
            if self.terms > TERMS_MAX {
                return Err(Fault::new(leaf.at, format!("too many terms: max={TERMS_MAX}")));
            }
            match (&mut any_sequence, sequence(&lookup, field)) {
                (Some(sequences), Some(sequence)) => sequences.push(sequence),
                _ => any_sequence = None,
            }
            queries.push(query(lookup, field));
        }
        let parts = any_sequence.map(|sequences| vec![sequences]);
        Ok(any_of(queries).map(|query| Compiled { query, parts }))
    }
}

impl Compiled {
    /// A query that is more than words and phrases which must all be there.
    fn other(query: Box<dyn Query>) -> Self {
        Self { query, parts: None }
    }
}

/// Returns the terms that a lookup finds side by side; `None` for a prefix and for `~`.
fn sequence(lookup: &Lookup, field: Field) -> Option<Sequence> {
    let Lookup::Terms(terms) = lookup else { return None };
    let term = |text: &str| Term::from_field_text(field, text);
    let terms = terms.iter().map(|(offset, text)| (*offset, term(text))).collect();
    Some(Sequence { field, terms })
}

fn first_leaf(node: &Node) -> Option<&Leaf> {
    match node {
        Node::And(parts) | Node::Or(parts) => parts.iter().find_map(first_leaf),
        Node::Not(part) => first_leaf(part),
        Node::Leaf(leaf) => Some(leaf),
    }
}

/// Returns the query for documents that one of the queries finds; `None` for no queries.
pub(crate) fn any_of(mut queries: Vec<Box<dyn Query>>) -> Option<Box<dyn Query>> {
    match queries.len() {
        0 | 1 => queries.pop(),
        _ => Some(Box::new(BooleanQuery::union(queries))),
    }
}

/// Returns the query for what an analyser looks for, in the analyser's field.
pub(crate) fn query(lookup: Lookup, field: Field) -> Box<dyn Query> {
    let term = |text: &str| Term::from_field_text(field, text);
    let one = |text: &str| -> Box<dyn Query> {
        Box::new(TermQuery::new(term(text), IndexRecordOption::WithFreqs))
    };
    match lookup {
        Lookup::Terms(terms) => match &terms[..] {
            [(_, text)] => one(text),
            _ => {
                let terms = terms.iter().map(|(offset, text)| (*offset, term(text))).collect();
                Box::new(PhraseQuery::new_with_offset(terms))
            }
        },
        Lookup::Prefix { prefix, or_term } => {
            let end =
                after_prefix(&prefix).map_or(Bound::Unbounded, |end| Bound::Excluded(term(&end)));
            let start = Bound::Included(term(&prefix));
            let mut queries: Vec<Box<dyn Query>> =
                vec![Box::new(InvertedIndexRangeQuery::new(start, end))];
            queries.extend(or_term.map(|stem| one(&stem)));
            any_of(queries).expect("there is one")
        }
        Lookup::Fuzzy { word, distance } => {
            Box::new(FuzzyTermQuery::new(term(&word), distance, true))
        }
    }
}

/// Returns the first text after all that begin with `prefix`. Texts in UTF-8 are in the order of
/// their characters.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        // The `char` range knows the surrogate gap.
        if let Some(next) = (last..=char::MAX).nth(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}
