//! A search text's tree, and the canonical form.

use std::fmt;

/// A condition on a text's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Node {
    /// All parts. At least two, none of which is an `And`; at least one is not a `Not`.
    And(Vec<Node>),
    /// At least one part. At least two, none of which is an `Or` or a `Not`.
    Or(Vec<Node>),
    /// Stands only inside an `And`.
    Not(Box<Node>),
    Leaf(Leaf),
}

/// A word or a phrase.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) form: Form,
    /// Where it begins in the search text.
    pub(crate) at: usize,
}

/// Leaves are equal if they look for the same, wherever they stand.
impl PartialEq for Leaf {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

impl Eq for Leaf {}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// The text may have several words for an analyser; they are then a phrase.
    Word(String),
    Phrase(String),
    Prefix(String),
    Fuzzy(String, u8),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::And(parts) => join(parts, " ", f),
            Node::Or(parts) => join(parts, " OR ", f),
            Node::Not(part) => {
                f.write_str("NOT ")?;
                part.fmt_operand(f)
            }
            Node::Leaf(leaf) => write!(f, "{}", leaf.form),
        }
    }
}

fn join(parts: &[Node], operator: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            f.write_str(operator)?;
        }
        part.fmt_operand(f)?;
    }
    Ok(())
}

impl Node {
    /// The words and phrases outside `NOT`, in text order.
    pub(crate) fn positive_leaves(&self) -> Vec<&Leaf> {
        match self {
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().flat_map(Node::positive_leaves).collect()
            }
            Node::Not(_) => Vec::new(),
            Node::Leaf(leaf) => vec![leaf],
        }
    }

    fn fmt_operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::And(_) | Node::Or(_) => write!(f, "({self})"),
            Node::Not(_) | Node::Leaf(_) => write!(f, "{self}"),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Word(word) => fmt_word(word, f),
            Form::Phrase(text) => fmt_quoted(text, f),
            Form::Prefix(word) => {
                fmt_word(word, f)?;
                f.write_str("*")
            }
            Form::Fuzzy(word, distance) => {
                fmt_word(word, f)?;
                write!(f, "~{distance}")
            }
        }
    }
}

/// Writes a text in quotes, with a backslash before `"` and `\`.
pub(crate) fn fmt_quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
    }
    f.write_str("\"")
}

fn fmt_word(word: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut is_escaped = super::parse::is_reserved(word);
    for c in word.chars() {
        if is_escaped || super::parse::is_special(c) {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
        is_escaped = false;
    }
    Ok(())
}
