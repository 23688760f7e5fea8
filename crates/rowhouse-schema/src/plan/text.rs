//! Which keys hold the texts that a condition asks for.
//!
//! The hard case is a text before a literal D (`[user text]_…`). Keys come in the order of v·D, not of
//! v: `ab_…` stands behind `ab!c_…`, though `ab` is less than `ab!c`. The texts that come out of order with a
//! constant x are proper prefixes of x, and each of them has one range of keys, which is added to what is
//! less than x and taken from what is not.

use rowhouse_model::RowRange;

use super::bind::TextTest;
use super::predicate::Comparison;
use super::ranges::{normalize, subtract};
use crate::encode::{Terminated, Text, TextEnd, ends_at_its_end};

/// Keys that hold the texts asked for, and perhaps others.
pub(super) struct Found {
    pub(super) ranges: Vec<RowRange>,
    /// Whether there are no others.
    pub(super) exact: bool,
}

impl Found {
    fn exact(ranges: Vec<RowRange>) -> Self {
        Self { ranges: normalize(ranges), exact: true }
    }

    fn candidates(range: RowRange) -> Self {
        Self { ranges: normalize(vec![range]), exact: false }
    }
}

/// The keys that begin with `prefix` and hold, behind it, a string that passes the test.
pub(super) fn string_keys(string: Terminated, prefix: &[u8], test: &TextTest) -> Found {
    let mut bytes = prefix.to_vec();
    let (comparison, text) = match test {
        TextTest::Compare(comparison, text) => (*comparison, text),
        TextTest::StartsWith(start) => {
            string.start(start, &mut bytes);
            return Found::exact(vec![RowRange::prefix(&bytes)]);
        }
        TextTest::Never => return Found::exact(vec![]),
    };
    string.put(text, &mut bytes);
    let all = RowRange::prefix(prefix);
    // No string's bytes are all FF, so there is always a first row behind them.
    let this = RowRange::prefix(&bytes);
    let range = match if string.desc { mirrored(comparison) } else { comparison } {
        Comparison::Equal => this,
        Comparison::Less => RowRange { start: all.start, stop: this.start },
        Comparison::LessOrEqual => RowRange { start: all.start, stop: this.stop },
        Comparison::Greater => RowRange { start: this.stop, stop: all.stop },
        Comparison::GreaterOrEqual => RowRange { start: this.start, stop: all.stop },
    };
    Found::exact(vec![range])
}

fn mirrored(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Equal => Comparison::Equal,
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
    }
}

/// The keys that begin with `prefix` and hold, behind it, a text that passes the test; in about
/// `limit` ranges at most.
pub(super) fn text_keys(text: &Text, prefix: &[u8], test: &TextTest, limit: usize) -> Found {
    match (&text.end, test) {
        (_, TextTest::Never) => Found::exact(vec![]),
        (TextEnd::KeyEnd, TextTest::StartsWith(start)) => {
            Found::exact(vec![RowRange::prefix(&join(prefix, start, b""))])
        }
        (TextEnd::KeyEnd, TextTest::Compare(comparison, constant)) => {
            Found::exact(last_text_keys(prefix, *comparison, constant).into_iter().collect())
        }
        (TextEnd::Literal(literal), TextTest::StartsWith(start)) => {
            starting_keys(prefix, literal, start)
        }
        (TextEnd::Literal(literal), TextTest::Compare(comparison, constant)) => {
            Delimited { prefix, literal, constant, limit }.compare(*comparison)
        }
        (TextEnd::Before(_), TextTest::StartsWith(start)) => {
            Found::candidates(RowRange::prefix(&join(prefix, start, b"")))
        }
        (TextEnd::Before(_), TextTest::Compare(comparison, constant)) => {
            let all = RowRange::prefix(prefix);
            let start = join(prefix, constant, b"");
            Found::candidates(match comparison {
                Comparison::Equal => RowRange::prefix(&start),
                // A text that begins the constant may be followed by anything.
                Comparison::Less | Comparison::LessOrEqual => all,
                Comparison::Greater | Comparison::GreaterOrEqual => {
                    RowRange { start: start.into(), stop: all.stop }
                }
            })
        }
    }
}

/// A text that ends with its key is its own order.
fn last_text_keys(prefix: &[u8], comparison: Comparison, constant: &str) -> Option<RowRange> {
    let all = RowRange::prefix(prefix);
    let this = RowRange::row(&join(prefix, constant, b""));
    Some(match comparison {
        Comparison::Equal => this,
        Comparison::Less => return below(prefix, constant),
        Comparison::LessOrEqual => RowRange { start: all.start, stop: this.stop },
        Comparison::Greater => RowRange { start: this.stop, stop: all.stop },
        Comparison::GreaterOrEqual => RowRange { start: this.start, stop: all.stop },
    })
}

/// The keys that begin with `prefix` and are less than it and the constant. Nothing if these have no
/// bytes: as the end of a range that would stand for no end.
fn below(prefix: &[u8], constant: &str) -> Option<RowRange> {
    let stop = join(prefix, constant, b"");
    (!stop.is_empty()).then(|| RowRange::new(prefix.to_vec(), stop))
}

/// The keys of the texts before a literal that begin with `start`: those that begin with its bytes,
/// without the shorter texts whose literal makes up the rest of these bytes.
fn starting_keys(prefix: &[u8], literal: &[u8], start: &str) -> Found {
    let mut holes = Vec::new();
    for len in (0..start.len()).filter(|&len| start.is_char_boundary(len)) {
        let (text, rest) = start.split_at(len);
        if !ends_at_its_end(text.as_bytes(), literal) {
            continue;
        }
        if rest.as_bytes().starts_with(literal) {
            // Whatever begins so ends there.
            return Found::exact(vec![]);
        }
        if literal.starts_with(rest.as_bytes()) {
            holes.push(RowRange::prefix(&join(prefix, text, literal)));
        }
    }
    let all = RowRange::prefix(&join(prefix, start, b""));
    Found { ranges: subtract(all, holes), exact: true }
}

/// Comparing texts before a literal with a constant.
struct Delimited<'a> {
    prefix: &'a [u8],
    literal: &'a [u8],
    constant: &'a str,
    limit: usize,
}

impl Delimited<'_> {
    fn compare(&self, comparison: Comparison) -> Found {
        let equal = || RowRange::prefix(&join(self.prefix, self.constant, self.literal));
        let Some(mut strays) = self.strays() else { return self.candidates(comparison) };
        match comparison {
            Comparison::Equal if self.is_value() => Found::exact(vec![equal()]),
            Comparison::Equal => Found::exact(vec![]),
            Comparison::Less | Comparison::LessOrEqual => {
                strays.extend(below(self.prefix, self.constant));
                if comparison == Comparison::LessOrEqual && self.is_value() {
                    strays.push(equal());
                }
                Found::exact(strays)
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                if comparison == Comparison::Greater && self.is_value() {
                    strays.push(equal());
                }
                Found { ranges: subtract(self.above(), strays), exact: true }
            }
        }
    }

    /// The ranges of the texts that are less than the constant and whose keys are not all below it;
    /// nothing if there are too many.
    fn strays(&self) -> Option<Vec<RowRange>> {
        let constant = self.constant.as_bytes();
        let lens = (0..constant.len()).filter(|&len| {
            let rest = &constant[len..];
            self.constant.is_char_boundary(len)
                && (self.literal > rest || rest.starts_with(self.literal))
                && ends_at_its_end(&constant[..len], self.literal)
        });
        let lens: Vec<_> = lens.take(self.limit + 1).collect();
        if lens.len() > self.limit {
            return None;
        }
        let texts = lens.into_iter().map(|len| &self.constant[..len]);
        Some(texts.map(|text| RowRange::prefix(&join(self.prefix, text, self.literal))).collect())
    }

    /// One range that holds all keys asked for, and others.
    fn candidates(&self, comparison: Comparison) -> Found {
        Found::candidates(match comparison {
            Comparison::Equal => RowRange::prefix(&join(self.prefix, self.constant, self.literal)),
            Comparison::Less | Comparison::LessOrEqual => RowRange::prefix(self.prefix),
            Comparison::Greater | Comparison::GreaterOrEqual => self.above(),
        })
    }

    fn above(&self) -> RowRange {
        let stop = RowRange::prefix(self.prefix).stop;
        RowRange { start: join(self.prefix, self.constant, b"").into(), stop }
    }

    /// Whether the constant can be a value of the field.
    fn is_value(&self) -> bool {
        ends_at_its_end(self.constant.as_bytes(), self.literal)
    }
}

fn join(prefix: &[u8], text: &str, literal: &[u8]) -> Vec<u8> {
    [prefix, text.as_bytes(), literal].concat()
}
