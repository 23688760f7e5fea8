//! HBase's coprocessors that a table can declare. The store and the server implement them.

use crate::{Error, Result, TableDescriptor, escape};

/// An HBase coprocessor that a table can declare in an attribute (`coprocessor$1` =>
/// `|CLASS|PRIORITY|`), which enables the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coprocessor {
    /// MultiRowMutationEndpoint: atomic mutations to several rows in a region.
    MultiRowMutation,
    /// AggregateImplementation: row count, minimum, maximum, sum, average, standard deviation and
    /// median for a column.
    Aggregate,
    /// BulkDeleteEndpoint, from HBase's examples: deletes what a scan of a region returns.
    BulkDelete,
}

impl Coprocessor {
    /// All coprocessors.
    pub const ALL: [Self; 3] = [Self::MultiRowMutation, Self::Aggregate, Self::BulkDelete];

    /// Returns HBase's class name.
    pub const fn class_name(self) -> &'static str {
        match self {
            Self::MultiRowMutation => {
                "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint"
            }
            Self::Aggregate => "org.apache.hadoop.hbase.coprocessor.AggregateImplementation",
            Self::BulkDelete => "org.apache.hadoop.hbase.coprocessor.example.BulkDeleteEndpoint",
        }
    }

    /// Returns the coprocessor with this class name.
    pub fn from_class_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.class_name().as_bytes() == name)
    }
}

impl TableDescriptor {
    /// Iterates over the attributes that declare coprocessors: the attribute's name and the class
    /// it names.
    pub(crate) fn coprocessor_classes(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let is_one = |name: &[u8]| name.to_ascii_lowercase().starts_with(b"coprocessor");
        self.attributes
            .iter()
            .filter(move |(name, _)| is_one(name))
            .map(|(name, value)| (&name[..], class_of(value)))
    }

    /// Declares a coprocessor under the next number (`coprocessor$1`, …). `spec` has the form
    /// `PATH|CLASS|PRIORITY`, optionally followed by `|ARGUMENTS`. Path and priority may be empty.
    ///
    /// # Errors
    /// `InvalidRequest` for another form, or for a class that the table already declares.
    pub fn coprocessor(self, spec: &str) -> Result<Self> {
        let class = class_of(spec.as_bytes());
        let mut parts = spec.split('|');
        let priority = parts.nth(2).map(str::trim);
        if class.is_empty() || !priority.is_some_and(|p| p.bytes().all(|c| c.is_ascii_digit())) {
            return Err(Error::invalid(format!(
                "a coprocessor is declared as PATH|CLASS|PRIORITY|ARGUMENTS: {spec}"
            )));
        }
        if self.coprocessor_classes().any(|(_, has)| has == class) {
            let class = escape(class);
            return Err(Error::invalid(format!("Coprocessor {class} already exists.")));
        }
        let number_of = |name: &[u8]| -> Option<u32> {
            let (word, number) = std::str::from_utf8(name).ok()?.split_once('$')?;
            word.eq_ignore_ascii_case("coprocessor").then(|| number.parse().ok())?
        };
        let last = self.attributes.keys().filter_map(|name| number_of(name)).max().unwrap_or(0);
        let name = format!("coprocessor${}", u64::from(last) + 1);
        Ok(self.attribute(name, spec.to_owned()))
    }

    /// Removes a coprocessor class declaration.
    ///
    /// # Errors
    /// `InvalidRequest` if the table does not declare the class.
    pub fn without_coprocessor(mut self, class: &str) -> Result<Self> {
        let target = class.trim().as_bytes();
        let declared = self.coprocessor_classes().find(|(_, has)| *has == target);
        let Some(name) = declared.map(|(name, _)| name.to_vec()) else {
            return Err(Error::invalid(format!("the table declares no coprocessor {class}")));
        };
        self.attributes.remove(&name[..]);
        Ok(self)
    }

    /// Returns true if the table declares `coprocessor`.
    pub fn has_coprocessor(&self, coprocessor: Coprocessor) -> bool {
        let class = coprocessor.class_name().as_bytes();
        self.coprocessor_classes().any(|(_, named)| named == class)
    }
}

/// Returns the class in PATH|CLASS|PRIORITY|ARGUMENTS. Only the class is mandatory.
fn class_of(spec: &[u8]) -> &[u8] {
    spec.split(|&byte| byte == b'|').nth(1).unwrap_or_default().trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableName;

    #[test]
    fn coprocessors_come_under_the_next_number_and_go_by_their_class() {
        let table = || TableDescriptor::new(TableName::parse("t").unwrap());
        let aggregate = format!("|{}|1001|", Coprocessor::Aggregate.class_name());
        let rows = format!("| {} ||a=1", Coprocessor::MultiRowMutation.class_name());
        let one = table().attribute("Coprocessor$7", aggregate.clone());
        assert!(one.clone().coprocessor(&aggregate).is_err(), "it is there");
        let two = one.coprocessor(&rows).unwrap();
        assert_eq!(two.attributes[&b"coprocessor$8"[..]], rows);
        assert!(two.has_coprocessor(Coprocessor::MultiRowMutation));
        let class = Coprocessor::Aggregate.class_name();
        let one = two.without_coprocessor(class).unwrap();
        assert!(!one.has_coprocessor(Coprocessor::Aggregate));
        assert!(one.without_coprocessor(class).is_err());
        for spec in ["", "|a.B", "||1|", "|a.B|high|"] {
            assert!(table().coprocessor(spec).is_err(), "{spec}");
        }
    }
}
