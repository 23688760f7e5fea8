//! Determines the smallest HBase call that alters a table as requested.

use rowhouse_model::{Bytes, FamilyDescriptor, TableDescriptor};

/// The difference between two table declarations.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Alteration<'a> {
    Nothing,
    /// One family was added.
    Added(&'a FamilyDescriptor),
    /// One family was changed.
    Altered {
        from: &'a FamilyDescriptor,
        to: &'a FamilyDescriptor,
    },
    /// One family was removed.
    Dropped(&'a Bytes),
    /// Several families or the table itself changed.
    Table,
}

impl<'a> Alteration<'a> {
    pub(super) fn between(from: &'a TableDescriptor, to: &'a TableDescriptor) -> Self {
        if from == to {
            return Self::Nothing;
        }
        if from.attributes != to.attributes || from.configuration != to.configuration {
            return Self::Table;
        }
        let changed =
            to.families().iter().filter_map(|family| match from.find_family(family.name()) {
                Ok(had) if had == family => None,
                Ok(had) => Some(Self::Altered { from: had, to: family }),
                Err(_) => Some(Self::Added(family)),
            });
        let is_lost = |family: &&FamilyDescriptor| to.find_family(family.name()).is_err();
        let dropped = from.families().iter().filter(is_lost);
        let dropped = dropped.map(|family| Self::Dropped(family.name()));
        let mut all = changed.chain(dropped);
        match (all.next(), all.next()) {
            (Some(one), None) => one,
            _ => Self::Table,
        }
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::TableName;

    use super::*;

    #[test]
    fn one_family_is_altered_by_itself_and_all_else_with_the_table() {
        let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
        let table = |families: &[&FamilyDescriptor]| {
            let table = TableDescriptor::new(TableName::parse("t").unwrap());
            families.iter().fold(table, |table, family| table.family((*family).clone()))
        };
        let f = family("f");
        let g = family("g");
        let other_f = family("f").versions(5);
        let one = table(&[&f]);
        let check = |to: &TableDescriptor, expected| {
            assert_eq!(Alteration::between(&one, to), expected);
        };
        check(&one, Alteration::Nothing);
        check(&table(&[&f, &g]), Alteration::Added(&g));
        check(&table(&[&other_f]), Alteration::Altered { from: &f, to: &other_f });
        check(&table(&[&other_f, &g]), Alteration::Table);
        check(&table(&[&g]), Alteration::Table);
        check(&one.clone().attribute("OWNER", "me"), Alteration::Table);
        check(&one.clone().attribute("OWNER", "me").family(g.clone()), Alteration::Table);
        let two = table(&[&f, &g]);
        assert_eq!(Alteration::between(&two, &one), Alteration::Dropped(g.name()));
    }
}
