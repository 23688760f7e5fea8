//! A query's tree, and the printed form.

use std::fmt;

use super::lexer::{begins_word, continues_word, is_operator, is_space};
use crate::words::fmt_quoted;

/// A query, or a part of a query.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Part {
    /// Clauses: some must match, some must not, and of the others one must match if no clause has
    /// to.
    Group(Vec<Clause>),
    Leaf(LuceneLeaf),
    /// The score is multiplied.
    Boosted(Box<Part>, f32),
    /// The score is this number.
    Constant(Box<Part>, f32),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Clause {
    pub(crate) occurs: Occurs,
    pub(crate) part: Part,
}

/// Whether a clause has to match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Occurs {
    Should,
    Must,
    MustNot,
}

/// A condition on one field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LuceneLeaf {
    /// `None` is the default field.
    pub(crate) field: Option<String>,
    pub(crate) form: LuceneForm,
    /// Where it begins in the text.
    pub(crate) at: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum LuceneForm {
    Word(String),
    Phrase(String),
    Prefix(String),
    /// A word, and the most changes.
    Fuzzy(String, u8),
    Range(Bound, Bound),
    /// `field:*`
    Any,
    /// `*:*`
    All,
}

/// One end of a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bound {
    /// `None` for `*`.
    pub(crate) value: Option<String>,
    pub(crate) is_inclusive: bool,
}

impl Part {
    /// Calls `visit` with each condition, in text order.
    pub(crate) fn each_leaf<'p>(&'p self, visit: &mut impl FnMut(&'p LuceneLeaf)) {
        match self {
            Self::Group(clauses) => clauses.iter().for_each(|it| it.part.each_leaf(visit)),
            Self::Leaf(leaf) => visit(leaf),
            Self::Boosted(part, _) | Self::Constant(part, _) => part.each_leaf(visit),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(clauses) => {
                for (nth, clause) in clauses.iter().enumerate() {
                    f.write_str(if nth == 0 { "" } else { " " })?;
                    f.write_str(match clause.occurs {
                        Occurs::Should => "",
                        Occurs::Must => "+",
                        Occurs::MustNot => "-",
                    })?;
                    clause.part.fmt_operand(f)?;
                }
                Ok(())
            }
            Self::Leaf(leaf) => write!(f, "{leaf}"),
            Self::Boosted(part, boost) => {
                part.fmt_weighted(f)?;
                write!(f, "^{boost}")
            }
            Self::Constant(part, score) => {
                part.fmt_weighted(f)?;
                write!(f, "^={score}")
            }
        }
    }
}

impl Part {
    fn fmt_operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(_) => write!(f, "({self})"),
            Self::Boosted(..) | Self::Constant(..) | Self::Leaf(_) => write!(f, "{self}"),
        }
    }

    fn fmt_weighted(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(_) => write!(f, "{self}"),
            Self::Group(_) | Self::Boosted(..) | Self::Constant(..) => write!(f, "({self})"),
        }
    }
}

impl fmt::Display for LuceneLeaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            fmt_word(field, f)?;
            f.write_str(":")?;
        }
        match &self.form {
            LuceneForm::Word(word) => fmt_word(word, f),
            LuceneForm::Phrase(text) => fmt_quoted(text, f),
            LuceneForm::Prefix(word) => {
                fmt_word(word, f)?;
                f.write_str("*")
            }
            LuceneForm::Fuzzy(word, distance) => {
                fmt_word(word, f)?;
                write!(f, "~{distance}")
            }
            LuceneForm::Range(low, high) => {
                f.write_str(if low.is_inclusive { "[" } else { "{" })?;
                write!(f, "{low} TO {high}")?;
                f.write_str(if high.is_inclusive { "]" } else { "}" })
            }
            LuceneForm::Any => f.write_str("*"),
            LuceneForm::All => f.write_str("*:*"),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = &self.value else { return f.write_str("*") };
        let is_plain = !matches!(&value[..], "*" | "TO")
            && !value.starts_with('!')
            && !value.contains(|c: char| is_space(c) || matches!(c, ']' | '}' | '"' | '\\'));
        if is_plain {
            return f.write_str(value);
        }
        f.write_str("\"")?;
        for c in value.chars() {
            match c {
                // A backslash before a quotation mark has two meanings there.
                '"' | '\\' => write!(f, "\\u{:04x}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

fn fmt_word(word: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut is_escaped = is_operator(word);
    for (nth, c) in word.chars().enumerate() {
        let is_plain = match nth {
            0 => begins_word(c),
            _ => continues_word(c),
        };
        if is_escaped || !is_plain {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
        is_escaped = false;
    }
    Ok(())
}
