//! The words in a search.

use rowhouse_model::Result;
use rowhouse_schema::SearchPlan;
use rowhouse_search::{Highlighter, Words};

/// The words in a search, by the field in which each is looked for.
#[derive(Debug)]
pub(in crate::query) struct SearchTexts {
    pub(super) fields: Vec<(String, Highlighter)>,
}

impl SearchTexts {
    pub(super) fn of(plan: &SearchPlan) -> Result<Self> {
        let Some(search) = plan.index().search() else { return Ok(Self { fields: Vec::new() }) };
        let mut fields = Vec::new();
        for (at, text) in plan.texts() {
            let field = &search.fields()[*at];
            let highlighter = Highlighter::new(&Words::parse(text)?, field.analysers())?;
            fields.push((field.name().to_owned(), highlighter));
        }
        Ok(Self { fields })
    }
}
