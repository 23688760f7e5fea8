//! The pieces of a template, and which names the fields may have.

/// Which names template fields may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Each name once.
    Key,
    /// In an index template: qualifier fields too, `tagged.tag`, and a name may stand for parts of
    /// a value (a hash, a step) before it stands for the whole.
    Index,
}

/// One template piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Bytes that every key has.
    Literal(Vec<u8>),
    /// A stored field, by position among the fields.
    Field(usize),
    /// A computed field, by position among the computed fields.
    Computed(usize),
}
