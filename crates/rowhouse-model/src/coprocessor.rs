//! HBase's coprocessors that a table can declare: what they do is part of the store and the server.

use crate::TableDescriptor;

/// A coprocessor of HBase's that a table can name among its attributes (`coprocessor$1` =>
/// `|CLASS|PRIORITY|`), so that its endpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coprocessor {
    /// MultiRowMutationEndpoint: mutations of several rows of a region as one.
    MultiRowMutation,
    /// AggregateImplementation: row count, minimum, maximum, sum, average, deviation and median of a
    /// column.
    Aggregate,
}

impl Coprocessor {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::MultiRowMutation, Self::Aggregate];

    /// The name of HBase's class.
    pub const fn class_name(self) -> &'static str {
        match self {
            Self::MultiRowMutation => {
                "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint"
            }
            Self::Aggregate => "org.apache.hadoop.hbase.coprocessor.AggregateImplementation",
        }
    }

    /// The one of that class.
    pub fn from_class_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.class_name().as_bytes() == name)
    }
}

impl TableDescriptor {
    /// The attributes by which the table declares coprocessors: the attribute's name, and the class it
    /// names.
    pub(crate) fn coprocessor_classes(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let is_one = |name: &[u8]| name.to_ascii_lowercase().starts_with(b"coprocessor");
        self.attributes.iter().filter(move |(name, _)| is_one(name)).map(|(name, value)| {
            // PATH|CLASS|PRIORITY|ARGUMENTS, of which the class alone has to be there.
            let class = value.split(|&byte| byte == b'|').nth(1).unwrap_or_default();
            (&name[..], class.trim_ascii())
        })
    }

    /// Whether the table declares `coprocessor`.
    pub fn has_coprocessor(&self, coprocessor: Coprocessor) -> bool {
        let class = coprocessor.class_name().as_bytes();
        self.coprocessor_classes().any(|(_, named)| named == class)
    }
}
