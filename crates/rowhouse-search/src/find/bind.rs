//! Binds parsed queries to the fields that an index and the key have.

use std::sync::Arc;

use rowhouse_model::{Bytes, Error, Result, RowRange, unescape};
use rowhouse_schema::{
    Analyser, Fault, Field, KeySchema, Plan, Predicate, Search, SearchField, TimeZone,
};

use super::documents::{
    Alone, FieldLeaf, ROW_NAME, RowRest, RowTest, Test, declared_name, document_name,
};
use crate::lucene::{Bound, Clause, LuceneForm, LuceneLeaf, LuceneQuery, Occurs, Part};
use crate::words::{Form, Leaf, Lookup, TERMS_MAX};

/// Binds the queries in one search.
pub(super) struct Binder<'a> {
    search: &'a Search,
    key: Option<&'a KeySchema>,
    default_field: Option<&'a str>,
    terms: usize,
    words: Vec<FieldLeaf>,
}

/// What a clause is on.
enum Target<'a> {
    /// The whole key.
    Row,
    Key(&'a KeySchema, &'a Field),
    Indexed(usize, &'a SearchField),
}

impl<'a> Binder<'a> {
    pub(super) fn new(
        search: &'a Search,
        key: Option<&'a KeySchema>,
        default_field: Option<&'a str>,
    ) -> Self {
        Self { search, key, default_field, terms: 0, words: Vec::new() }
    }

    /// Binds a query. As in Solr, a query with only clauses that must not match finds all others,
    /// and one without a word finds nothing.
    pub(super) fn query(&mut self, query: &LuceneQuery) -> Result<Test> {
        let Some(root) = query.root() else { return Ok(Test::Nothing) };
        let test = self.part(root, true).map_err(|mistake| match mistake {
            Mistake::Fault(fault) => fault.in_text(query.text()),
            Mistake::Error(error) => error,
        })?;
        Ok(match test {
            None => Test::Nothing,
            Some(Test::Group(mut clauses)) if all_excluded(&clauses) => {
                clauses.push((Occurs::Must, Test::all()));
                Test::Group(clauses)
            }
            Some(test) => test,
        })
    }

    /// Returns the words that texts may have, from the queries bound so far.
    pub(super) fn take_words(&mut self) -> Vec<FieldLeaf> {
        std::mem::take(&mut self.words)
    }

    /// Returns `None` if there is no word to look for: such clauses are left out. `is_positive` is
    /// false inside clauses that must not match.
    fn part(&mut self, part: &Part, is_positive: bool) -> Result<Option<Test>, Mistake> {
        match part {
            Part::Leaf(leaf) => self.leaf(leaf, is_positive),
            Part::Boosted(part, boost) => {
                let test = self.part(part, is_positive)?;
                Ok(test.map(|test| Test::Boosted(Box::new(test), *boost)))
            }
            Part::Constant(part, score) => {
                let test = self.part(part, is_positive)?;
                Ok(test.map(|test| Test::Constant(Box::new(test), *score)))
            }
            Part::Group(clauses) => {
                let mut tests = Vec::with_capacity(clauses.len());
                for Clause { occurs, part } in clauses {
                    let is_positive = is_positive && *occurs != Occurs::MustNot;
                    let test = self.part(part, is_positive)?;
                    tests.extend(test.map(|test| (*occurs, inner(test))));
                }
                Ok(if tests.is_empty() { None } else { Some(Test::Group(tests)) })
            }
        }
    }

    fn leaf(&mut self, leaf: &LuceneLeaf, is_positive: bool) -> Result<Option<Test>, Mistake> {
        if leaf.form == LuceneForm::All {
            return Ok(Some(Test::all()));
        }
        match self.target(leaf)? {
            Target::Row => of_row(leaf).map(|ranges| Some(rows(ranges, None))),
            Target::Key(key, field) => of_key(leaf, key, field).map(Some),
            Target::Indexed(at, field) if field.is_text() => {
                self.of_text(leaf, at, field, is_positive)
            }
            Target::Indexed(at, field) => of_value(leaf, at, field).map(Some),
        }
    }

    fn target(&self, leaf: &LuceneLeaf) -> Result<Target<'a>, Mistake> {
        let named = leaf.field.as_deref().or(self.default_field);
        let name = named.ok_or_else(|| {
            Fault::new(
                leaf.at,
                "no field name specified in query and no default specified via 'df' param",
            )
        })?;
        if name == ROW_NAME {
            return Ok(Target::Row);
        }
        let name = declared_name(name, |name| {
            self.search.field(name).is_some()
                || self.key.is_some_and(|key| key.field(name).is_some())
        });
        if let Some(key) = self.key
            && let Some(field) = key.field(name)
        {
            return Ok(Target::Key(key, field));
        }
        match self.search.field(name) {
            Some((at, field)) => Ok(Target::Indexed(at, field)),
            None => Err(self.undefined(name).into()),
        }
    }

    fn undefined(&self, name: &str) -> Error {
        let of_key = self.key.iter().flat_map(|key| key.fields()).map(Field::name);
        let of_index = self.search.fields().iter().map(SearchField::name);
        let fields: Vec<_> = of_key.chain(of_index).map(document_name).collect();
        let fields = fields.join(", ");
        Error::invalid(format!("undefined field {name}: fields={ROW_NAME}, {fields}"))
    }

    fn of_text(
        &mut self,
        leaf: &LuceneLeaf,
        at: usize,
        field: &SearchField,
        is_positive: bool,
    ) -> Result<Option<Test>, Mistake> {
        let form = match &leaf.form {
            // No analyser has a term for an empty text, and a `keyword` may be one.
            LuceneForm::Phrase(text) if text.is_empty() && has_values(field) => {
                return Ok(Some(Test::Alone(Alone::Values(at, vec![RowRange::row(b"")]))));
            }
            LuceneForm::Word(text) => Form::Word(text.clone()),
            LuceneForm::Phrase(text) => Form::Phrase(text.clone()),
            LuceneForm::Prefix(text) => Form::Prefix(text.clone()),
            LuceneForm::Fuzzy(text, changes) => Form::Fuzzy(text.clone(), *changes),
            LuceneForm::Any | LuceneForm::All => return Ok(Some(Test::Alone(Alone::Has(at)))),
            LuceneForm::Range(low, high) => {
                if !has_values(field) {
                    let message = format!(
                        "a range needs a value, a `keyword` or a field of the key: field={}",
                        field.name()
                    );
                    return Err(Fault::new(leaf.at, message).into());
                }
                let end = |bound: &Bound| bound.value.as_ref().map(|it| it.as_bytes().to_vec());
                let ranges = vec![range(low, high, end(low), end(high))];
                return Ok(Some(Test::Alone(Alone::Values(at, ranges))));
            }
        };
        let words = Leaf { form, at: leaf.at };
        let mut lookups = Vec::with_capacity(field.analysers().len());
        for &analyser in field.analysers() {
            let Some(lookup) = Lookup::of(&words, analyser)? else { continue };
            self.terms += lookup.terms();
            if self.terms > TERMS_MAX {
                return Err(Fault::new(leaf.at, format!("too many terms: max={TERMS_MAX}")).into());
            }
            lookups.push((analyser, lookup));
        }
        if lookups.is_empty() {
            return Ok(None);
        }
        if is_positive {
            self.words.push(FieldLeaf { field: at, leaf: words });
        }
        Ok(Some(Test::Words(at, lookups)))
    }
}

/// A mistake at a place in the text, or another one.
enum Mistake {
    Fault(Fault),
    Error(Error),
}

impl From<Fault> for Mistake {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Error> for Mistake {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Returns true if the index has a field's whole texts.
fn has_values(field: &SearchField) -> bool {
    field.analysers().contains(&Analyser::Keyword)
}

fn all_excluded(clauses: &[(Occurs, Test)]) -> bool {
    clauses.iter().all(|(occurs, _)| *occurs == Occurs::MustNot)
}

/// Returns a clause inside a group. As in Lucene, one that only excludes finds nothing there.
fn inner(test: Test) -> Test {
    match test {
        Test::Group(clauses) if all_excluded(&clauses) => Test::Nothing,
        test => test,
    }
}

fn rows(ranges: Vec<RowRange>, rest: Option<Arc<RowRest>>) -> Test {
    Test::Alone(Alone::Rows(RowTest { ranges, rest }))
}

/// Returns the keys that a clause on the whole key finds.
fn of_row(leaf: &LuceneLeaf) -> Result<Vec<RowRange>, Mistake> {
    let key = |text: &str| {
        unescape(text).map_err(|error| Fault::new(leaf.at, error.message().to_owned()))
    };
    let ranges = match &leaf.form {
        LuceneForm::Word(text) | LuceneForm::Phrase(text) => match &key(text)?[..] {
            [] => Vec::new(),
            row => vec![RowRange::row(row)],
        },
        LuceneForm::Prefix(text) => vec![RowRange::prefix(&key(text)?)],
        LuceneForm::Range(low, high) => {
            let end = |bound: &Bound| bound.value.as_deref().map(key).transpose();
            vec![range(low, high, end(low)?, end(high)?)]
        }
        LuceneForm::Any | LuceneForm::All => vec![RowRange::all()],
        LuceneForm::Fuzzy(..) => return Err(no_words(leaf, ROW_NAME)),
    };
    Ok(ranges.into_iter().filter(|range| !range.is_empty()).collect())
}

fn of_key(leaf: &LuceneLeaf, key: &KeySchema, field: &Field) -> Result<Test, Mistake> {
    let plan = key.plan_in(&predicate(leaf, field, field.name())?, &TimeZone::UTC);
    let plan = plan.map_err(|error| in_clause(leaf, &error))?;
    check_decided(leaf, &plan, "the key holds", field.name())?;
    let ranges = plan.ranges().to_vec();
    let rest = (!plan.is_exact()).then(|| Arc::new(RowRest { key: key.clone(), plan }));
    Ok(rows(ranges, rest))
}

fn of_value(leaf: &LuceneLeaf, at: usize, field: &SearchField) -> Result<Test, Mistake> {
    if leaf.form == LuceneForm::Any {
        return Ok(Test::Alone(Alone::Has(at)));
    }
    let order = field.order().and_then(|order| Some((order, order.fields().first()?)));
    let (order, of_order) = order.ok_or_else(|| no_words(leaf, field.name()))?;
    let plan = order.plan_in(&predicate(leaf, of_order, field.name())?, &TimeZone::UTC);
    let plan = plan.map_err(|error| in_clause(leaf, &error))?;
    check_decided(leaf, &plan, "the index holds", field.name())?;
    if !plan.is_exact() {
        let message = format!("the index does not decide `{leaf}`");
        return Err(Fault::new(leaf.at, message).into());
    }
    Ok(Test::Alone(Alone::Values(at, plan.ranges().to_vec())))
}

/// Refuses conditions that a value's stored form does not decide.
fn check_decided(leaf: &LuceneLeaf, plan: &Plan, holds: &str, name: &str) -> Result<(), Mistake> {
    match plan.candidates().next() {
        None => Ok(()),
        Some(_) => {
            let message = format!("{holds} only a hash or a part of the value: field={name}");
            Err(Fault::new(leaf.at, message).into())
        }
    }
}

/// Returns the condition for a clause on a key field or a value.
fn predicate(leaf: &LuceneLeaf, field: &Field, shown: &str) -> Result<Predicate, Mistake> {
    let name = field.name();
    let parse_error = |text: &str, error: &Error| {
        if is_date_math(field, text) {
            Fault::new(
                leaf.at,
                format!("times relative to others (`NOW-1DAY`) are not supported: {shown}={text}"),
            )
            .into()
        } else {
            in_clause(leaf, error)
        }
    };
    let value = |text: &str| field.parse_value(text).map_err(|error| parse_error(text, &error));
    let all = Predicate::all();
    Ok(match &leaf.form {
        LuceneForm::Word(text) | LuceneForm::Phrase(text) => all.eq(name, value(text)?),
        LuceneForm::Prefix(text) => all.starts_with(name, &text[..]),
        LuceneForm::Range(low, high) => {
            let mut predicate = all;
            if let Some(text) = &low.value {
                let low_value = value(text)?;
                predicate = if low.is_inclusive {
                    predicate.ge(name, low_value)
                } else {
                    predicate.gt(name, low_value)
                };
            }
            if let Some(text) = &high.value {
                let high_value = value(text)?;
                predicate = if high.is_inclusive {
                    predicate.le(name, high_value)
                } else {
                    predicate.lt(name, high_value)
                };
            }
            if low.value.is_none() && high.value.is_none() && field.is_nullable() {
                not_null(name)?
            } else {
                predicate
            }
        }
        LuceneForm::Any | LuceneForm::All => {
            if field.is_nullable() {
                not_null(name)?
            } else {
                all
            }
        }
        LuceneForm::Fuzzy(..) => return Err(no_words(leaf, shown)),
    })
}

fn not_null(name: &str) -> Result<Predicate> {
    Predicate::parse(&format!("{name} is not null"))
}

fn no_words(leaf: &LuceneLeaf, name: &str) -> Mistake {
    let message = format!("`~` is for words of texts, and `{name}` is no text");
    Fault::new(leaf.at, message).into()
}

/// Returns true if Solr computes a time from a text: `NOW`, or a time in UTC, with steps.
fn is_date_math(field: &Field, text: &str) -> bool {
    let steps = match text.strip_prefix("NOW") {
        Some("") => return field.field_type().is_time(),
        Some(steps) => steps,
        None => text.split_once('Z').map_or("", |(_, steps)| steps),
    };
    field.field_type().is_time() && steps.starts_with(['+', '-', '/'])
}

/// Says in which clause a value does not fit.
fn in_clause(leaf: &LuceneLeaf, error: &Error) -> Mistake {
    let reason = error.message().lines().next().unwrap_or_default();
    Error::invalid(format!("invalid clause `{leaf}`: {reason}")).into()
}

/// Returns the byte range between two ends.
fn range(low: &Bound, high: &Bound, from: Option<Vec<u8>>, to: Option<Vec<u8>>) -> RowRange {
    let after = |mut bytes: Vec<u8>| {
        bytes.push(0);
        Bytes::from(bytes)
    };
    let start = match from {
        None => Bytes::new(),
        Some(bytes) if low.is_inclusive => bytes.into(),
        Some(bytes) => after(bytes),
    };
    let stop = match to {
        None => Bytes::new(),
        Some(bytes) if high.is_inclusive => after(bytes),
        // Nothing is less than the empty text, and an empty end is an open one.
        Some(bytes) if bytes.is_empty() => return RowRange::new(vec![1], vec![0]),
        Some(bytes) => bytes.into(),
    };
    RowRange::new(start, stop)
}
