//! Parsing the struct: the template, and matching the struct fields with the template's.

use proc_macro2::Span;
use rowhouse_schema::{Field, KeySchema};
use syn::ext::IdentExt;
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, GenericParam, Generics, Ident, LitStr, Type,
};

/// A struct and the template.
pub(crate) struct KeyStruct {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) schema: KeySchema,
    /// The members, in template order.
    pub(crate) members: Vec<Member>,
}

/// A struct field.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) ident: Ident,
    pub(crate) rust_type: Type,
}

impl KeyStruct {
    /// Parses a struct, or returns all errors in the fields.
    pub(crate) fn read(input: &DeriveInput) -> syn::Result<Self> {
        let template = template(&input.attrs, input.ident.span())?;
        let schema = KeySchema::parse(&template.value())
            .map_err(|error| Error::new(template.span(), error))?;
        check_generics(&input.generics)?;
        let members = matched(&schema, members(input)?, template.span())?;
        let ident = input.ident.clone();
        let generics = input.generics.clone();
        Ok(Self { ident, generics, schema, members })
    }

    /// The template's fields, each with the struct's field.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&Field, &Member)> {
        self.schema.fields().iter().zip(&self.members)
    }
}

/// The text in `#[key("…")]`.
fn template(attributes: &[Attribute], ident: Span) -> syn::Result<LitStr> {
    let mut keys = attributes.iter().filter(|attribute| attribute.path().is_ident("key"));
    match (keys.next(), keys.next()) {
        (Some(key), None) => key.parse_args(),
        (None, _) => Err(Error::new(
            ident,
            "a row key has a template: write #[key(\"[user string][at millis desc]\")] above the struct",
        )),
        (Some(_), Some(second)) => {
            Err(Error::new_spanned(second, "duplicate template: a row key has one"))
        }
    }
}

fn check_generics(generics: &Generics) -> syn::Result<()> {
    let parameter = generics.params.iter().find(|parameter| match parameter {
        GenericParam::Lifetime(_) => false,
        GenericParam::Type(_) | GenericParam::Const(_) => true,
    });
    match parameter {
        None => Ok(()),
        Some(parameter) => {
            Err(Error::new_spanned(parameter, "a row key can have lifetime parameters only"))
        }
    }
}

fn members(input: &DeriveInput) -> syn::Result<Vec<Member>> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Some(&fields.named),
            Fields::Unnamed(_) | Fields::Unit => None,
        },
        Data::Enum(_) | Data::Union(_) => None,
    };
    let fields = fields.ok_or_else(|| {
        Error::new(input.ident.span(), "a row key is a struct whose fields have names")
    })?;
    let member = |field: &syn::Field| {
        if let Some(key) = field.attrs.iter().find(|attribute| attribute.path().is_ident("key")) {
            return Err(Error::new_spanned(
                key,
                "write #[key(…)] above the struct; its fields have the names of the template's",
            ));
        }
        let ident = field.ident.clone();
        let ident = ident.ok_or_else(|| Error::new_spanned(field, "a field without a name"))?;
        Ok(Member { ident, rust_type: field.ty.clone() })
    };
    fields.iter().map(member).collect()
}

/// Returns the struct's fields in template order.
fn matched(schema: &KeySchema, members: Vec<Member>, template: Span) -> syn::Result<Vec<Member>> {
    let mut errors = Vec::new();
    let named = |name: &str| members.iter().find(|member| member.ident.unraw() == name);
    for member in &members {
        let name = member.ident.unraw().to_string();
        if schema.field(&name).is_none() {
            let names: Vec<_> = schema.fields().iter().map(Field::name).collect();
            let message =
                format!("the template has no field `{name}`; it has: {}", names.join(", "));
            errors.push(Error::new(member.ident.span(), message));
        }
    }
    let mut matched = Vec::new();
    for field in schema.fields() {
        match named(field.name()) {
            Some(member) if field.needs().is_empty() => {
                let message =
                    format!("`{field}` has no Rust type here, use KeySchema for this template");
                errors.push(Error::new(member.ident.span(), message));
            }
            Some(member) => matched.push(member.clone()),
            None => errors.push(Error::new(
                template,
                format!(
                    "the struct has no field `{}`, which the template stores: [{field}]",
                    field.name()
                ),
            )),
        }
    }
    let error = errors.into_iter().reduce(|mut all, next| {
        all.combine(next);
        all
    });
    error.map_or(Ok(matched), Err)
}
