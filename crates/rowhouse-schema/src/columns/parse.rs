//! Parsing column declarations; each is checked against the previous ones.

use rowhouse_model::{Bytes, FamilyDescriptor, escape};

use super::column::{Column, ColumnAddress, Qualifier};
use crate::error::Fault;
use crate::key::KeySchema;
use crate::template::{Naming, check_name, is_name, is_type, parse_literal, parse_value};

/// Parses declarations.
pub(super) fn parse(text: &str) -> Result<Vec<Column>, Fault> {
    let mut columns: Vec<Column> = Vec::new();
    let mut at = 0;
    loop {
        let rest = text[at..].trim_start_matches(|c: char| c == ';' || c.is_whitespace());
        at = text.len() - rest.len();
        if rest.is_empty() {
            return Ok(columns);
        }
        let written = ParsedDeclaration::read(text, at)?;
        let column = written.column()?;
        check(&column, &columns, &written)?;
        columns.push(column);
        at = written.end;
    }
}

/// A declaration's parts, each with the offset in the text.
struct ParsedDeclaration<'t> {
    family: (usize, &'t str),
    qualifier: (usize, &'t str),
    name: (usize, &'t str),
    value: (usize, &'t str),
    /// The offset where the declaration ends.
    end: usize,
}

impl<'t> ParsedDeclaration<'t> {
    /// Splits a declaration into parts; name and type may be missing.
    fn read(text: &'t str, at: usize) -> Result<Self, Fault> {
        let place_end = at + place_len(&text[at..]);
        let end = place_end + rest_len(&text[place_end..]);
        let place = &text[at..place_end];
        let (family, qualifier) = place.split_once(':').ok_or_else(|| {
            Fault::new(at, format!("expected family:qualifier, not {place}"))
                .hint("for example d:via colour string")
        })?;
        let qualifier = (at + family.len() + 1, qualifier);
        let (name_at, name, rest) = word(place_end, text[place_end..end].trim_end());
        let value = rest.trim_start();
        let value_at = name_at + name.len() + rest.len() - value.len();
        Ok(Self {
            family: (at, family),
            qualifier,
            name: (name_at, name),
            value: (value_at, value),
            end,
        })
    }

    fn column(&self) -> Result<Column, Fault> {
        let family = self.read_family()?;
        let qualifier = self.read_qualifier()?;
        self.check_name()?;
        let (at, value) = self.value;
        let value = parse_value(self.name.1, value).map_err(|fault| fault.shifted(at))?;
        Ok(Column { family, qualifier, value })
    }

    fn read_family(&self) -> Result<Bytes, Fault> {
        let (at, family) = self.family;
        let literal = parse_literal(family).map_err(|fault| fault.shifted(at))?;
        let literal =
            literal.ok_or_else(|| Fault::new(at, "a family has no fields, only its qualifiers"))?;
        match FamilyDescriptor::new(literal) {
            Ok(family) => Ok(Bytes::copy_from_slice(family.name())),
            Err(error) => Err(Fault::new(at, error.message())),
        }
    }

    /// Checks that there is a name, followed by a type.
    fn check_name(&self) -> Result<(), Fault> {
        let ((_, family), (_, qualifier), (at, name)) = (self.family, self.qualifier, self.name);
        let example = |name: &str, field_type: &str| {
            format!("for example {family}:{qualifier} {name} {field_type}")
        };
        // The hint suggests a readable qualifier as the name.
        let calling = if is_name(qualifier) { qualifier } else { "colour" };
        if name.is_empty() {
            let message = format!("expected a name and a type after `{family}:{qualifier}`");
            return Err(Fault::new(at, message).hint(example(calling, "string")));
        }
        if name.contains(':') {
            return Err(Fault::new(at, format!("expected a name, not {name}"))
                .hint("a declaration is family:qualifier, a name and a type"));
        }
        check_name(at, name)?;
        if !self.value.1.is_empty() {
            return Ok(());
        }
        let fault = Fault::new(at + name.len(), format!("expected a type after `{name}`"));
        Err(if is_type(name) {
            fault.hint(format!("the name comes first: {}", example(calling, name)))
        } else {
            fault.hint(example(name, "string"))
        })
    }

    fn read_qualifier(&self) -> Result<Qualifier, Fault> {
        let (at, text) = self.qualifier;
        if let Some(literal) = parse_literal(text).map_err(|fault| fault.shifted(at))? {
            return Ok(Qualifier::Literal(literal.into()));
        }
        let template =
            KeySchema::read_template(text, Naming::Key).map_err(|fault| fault.shifted(at))?;
        if let Some(computed) = template.computed().first() {
            return Err(Fault::new(at, format!("`{computed}` is for keys"))
                .hint("within a row there is nothing to spread"));
        }
        Ok(Qualifier::Template(template))
    }
}

/// How long family and qualifier are: up to the first white space outside brackets.
fn place_len(text: &str) -> usize {
    let mut inside = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' if !inside => escaped = true,
            '[' => inside = true,
            ']' => inside = false,
            c if c.is_whitespace() && !inside => return at,
            _ => {}
        }
    }
    text.len()
}

/// How long name and type are: up to the line's end, or to a `;` outside parentheses.
fn rest_len(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return at,
            ';' if depth == 0 => return at,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// Returns the first word in a text that starts at offset `at`: the offset, the word, and the text
/// after it.
fn word(at: usize, text: &str) -> (usize, &str, &str) {
    let trimmed = text.trim_start();
    let start = at + text.len() - trimmed.len();
    let len = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
    (start, &trimmed[..len], &trimmed[len..])
}

/// Checks a column against those before it: names are unique, and every qualifier belongs to one
/// column.
fn check(
    column: &Column,
    earlier: &[Column],
    written: &ParsedDeclaration<'_>,
) -> Result<(), Fault> {
    if earlier.iter().any(|other| other.name() == column.name()) {
        return Err(Fault::new(
            written.name.0,
            format!("the name `{}` is used twice", column.name()),
        ));
    }
    let at = written.family.0;
    for other in earlier.iter().filter(|other| other.family() == column.family()) {
        let fits = |one: &Column, template: &Column| {
            let qualifier = one.qualifier().zip(template.template());
            qualifier.is_some_and(|(qualifier, template)| template.decode(qualifier).is_ok())
        };
        if column.qualifier().is_some() && column.qualifier() == other.qualifier() {
            let message =
                format!("{} is the column `{}` already", ColumnAddress(other), other.name());
            return Err(Fault::new(at, message));
        }
        if fits(column, other) || fits(other, column) {
            let (one, template) =
                if column.template().is_none() { (column, other) } else { (other, column) };
            let message = format!(
                "the qualifier of `{}` fits the template of `{}` too",
                one.name(),
                template.name()
            );
            return Err(Fault::new(at, message).hint("begin the template with a literal"));
        }
        let lead = column.lead();
        let other_lead = other.lead();
        let both = column.template().is_some() && other.template().is_some();
        if both && (lead.starts_with(other_lead) || other_lead.starts_with(lead)) {
            let message = format!(
                "a qualifier could be one of `{}` or of `{}`: they begin with `{}` and `{}`",
                other.name(),
                column.name(),
                escape(other_lead),
                escape(lead)
            );
            return Err(Fault::new(at, message)
                .hint("begin each template of a family with a literal of its own"));
        }
    }
    Ok(())
}
