//! The names in an index template: key fields, columns, and qualifier fields.

use crate::columns::{Column, ColumnSchema};
use crate::encode::FieldType;
use crate::error::Fault;
use crate::field::Field;
use crate::key::KeySchema;
use crate::spelling::closest;
use crate::time::FixedZone;

/// Where the value in an entry's field comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The whole row key.
    Row,
    /// A stored key field.
    Key(usize),
    /// The newest cell in a column with one qualifier, by column position.
    Column(usize),
    /// A qualifier field, for each cell in a column with a template.
    Qualifier { column: usize, slot: usize },
}

/// The table's key and columns.
#[derive(Clone, Copy)]
pub(super) struct Base<'b> {
    pub(super) key: Option<&'b KeySchema>,
    pub(super) columns: Option<&'b ColumnSchema>,
}

/// The whole key's name.
pub(super) const ROW: &str = "row";

/// The type that a name gets.
pub(super) struct Kind<'f> {
    field_type: &'f FieldType,
    zone: Option<FixedZone>,
}

impl<'f> From<&'f Field> for Kind<'f> {
    fn from(field: &'f Field) -> Self {
        Self { field_type: &field.field_type, zone: field.modifiers.zone }
    }
}

impl Kind<'_> {
    /// Returns the type, and the source's zone unless these modifiers name one.
    pub(super) fn with_zone(&self, modifiers: &str) -> String {
        let kind = in_index(self.field_type);
        match self.zone {
            Some(zone) if !modifiers.starts_with(" tz ") => format!(" {kind} tz {zone}"),
            _ => format!(" {kind}"),
        }
    }
}

impl<'b> Base<'b> {
    /// Returns a name's source, and the type.
    pub(super) fn resolve(&self, name: &str, at: usize) -> Result<(Source, Kind<'b>), Fault> {
        let columns = self.columns.map_or(&[][..], ColumnSchema::columns);
        if let Some((column, field)) = name.split_once('.') {
            return self.resolve_qualifier(column, field, at);
        }
        let in_key = self.key.and_then(|key| key.position(name));
        let field = in_key.zip(self.key).map(|(slot, key)| (slot, &key.fields()[slot]));
        let column = columns.iter().position(|column| column.name() == name);
        match (field, column) {
            (Some((slot, field)), _) if !field.codec.is_lossy() => {
                Ok((Source::Key(slot), field.into()))
            }
            (_, Some(column)) if columns[column].template().is_none() => {
                Ok((Source::Column(column), columns[column].field().into()))
            }
            (Some(_), _) => {
                let message = format!("keys hold only a part of `{name}`, a hash or a step");
                Err(Fault::new(at, message).hint("an index needs the value, as a column has it"))
            }
            (None, Some(column)) => {
                let field = columns[column].template().and_then(|of| of.fields().first());
                let field = field.map_or("…", Field::name);
                let message =
                    format!("`{name}` is the name of many columns, and has no single value");
                Err(Fault::new(at, message)
                    .hint(format!("name a field of their qualifiers: [{name}.{field}]")))
            }
            (None, None) if name == ROW && self.key.is_none() => {
                Ok((Source::Row, Kind { field_type: &FieldType::Blob, zone: None }))
            }
            (None, None) => Err(self.unknown(name, at)),
        }
    }

    fn resolve_qualifier(
        &self,
        name: &str,
        field: &str,
        at: usize,
    ) -> Result<(Source, Kind<'b>), Fault> {
        let columns = self.columns.map_or(&[][..], ColumnSchema::columns);
        let Some(column) = columns.iter().position(|column| column.name() == name) else {
            return Err(self.unknown(name, at));
        };
        let Some(template) = columns[column].template() else {
            let message = format!("column `{name}` has one qualifier, without fields");
            return Err(Fault::new(at, message).hint(format!("name its value: [{name}]")));
        };
        let at = at + name.len() + 1;
        let Some(slot) = template.position(field) else {
            let names = || template.fields().iter().map(Field::name);
            let fault =
                Fault::new(at, format!("the qualifiers of `{name}` have no field `{field}`"));
            return Err(match closest(field, names()) {
                Some(close) => fault.hint(format!("did you mean `{close}`?")),
                None => {
                    fault.hint(format!("they have: {}", names().collect::<Vec<_>>().join(", ")))
                }
            });
        };
        let of = &template.fields()[slot];
        if of.codec.is_lossy() {
            let message = format!("the qualifiers of `{name}` hold only a part of `{field}`");
            return Err(Fault::new(at, message));
        }
        Ok((Source::Qualifier { column, slot }, of.into()))
    }

    /// The error for a name that is neither a key field nor a column.
    fn unknown(&self, name: &str, at: usize) -> Fault {
        if name == ROW {
            return Fault::new(at, "`row` is the whole key of a table without a key template")
                .hint("name fields of the key");
        }
        if self.key.is_some_and(|key| key.computed_position(name).is_some()) {
            return Fault::new(at, format!("`{name}` is a computed field of the key"))
                .hint("compute one of fields of the index, for example [bucket 8 of user]");
        }
        let fields: Vec<_> =
            self.key.map_or(&[][..], KeySchema::fields).iter().map(Field::name).collect();
        let columns = self.columns.map_or(&[][..], ColumnSchema::columns);
        let columns: Vec<_> = columns.iter().map(Column::name).collect();
        let fault = Fault::new(at, format!("there is no `{name}`"));
        match closest(name, fields.iter().chain(&columns).copied()) {
            Some(close) => fault.hint(format!("did you mean `{close}`?")),
            None => {
                let listed = |names: Vec<&str>| {
                    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
                };
                fault.hint(format!(
                    "fields of the key: {}; columns: {}",
                    listed(fields),
                    listed(columns)
                ))
            }
        }
    }

    /// Returns the field from which a source gets its value; `None` for the whole key.
    pub(super) fn field(&self, source: &Source) -> Option<&'b Field> {
        let column = |at: usize| self.columns.map(|columns| &columns.columns()[at]);
        match source {
            Source::Row => None,
            Source::Key(at) => self.key.map(|key| &key.fields()[*at]),
            Source::Column(at) => column(*at).map(Column::field),
            Source::Qualifier { column: at, slot } => {
                column(*at).and_then(Column::template).map(|template| &template.fields()[*slot])
            }
        }
    }
}

/// The type that a type's values have in an index: texts have an end there.
pub(super) fn in_index(field_type: &FieldType) -> FieldType {
    match field_type {
        FieldType::Text | FieldType::Domain => FieldType::String,
        other => other.clone(),
    }
}
