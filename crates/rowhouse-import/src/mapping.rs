//! The mapping from file fields to table fields.

use std::collections::BTreeMap;

use rowhouse::{Error, Result};

use crate::compose::Composed;
use crate::source::{Datum, Record};
use crate::targets::Targets;
use crate::times::TimeForm;

/// The mapping from a file's names to the table's names, where they differ.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping {
    /// A file field, and the field or column that gets the values.
    pub(crate) maps: Vec<(String, String)>,
    /// A field or column, and the text that composes the values.
    pub(crate) sets: Vec<(String, String)>,
    /// File fields that are left out.
    pub(crate) skips: Vec<String>,
    /// Whether file fields that the table does not have are left out.
    pub(crate) skip_unknown: bool,
    /// Time forms for fields and columns.
    pub(crate) times: Vec<(String, TimeForm)>,
}

/// Where a field's or column's values come from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A file field, by index.
    Field(usize),
    /// A text composed from any number of fields.
    Composed(Composed),
}

impl Origin {
    /// Returns the value in a row.
    pub(crate) fn datum<'r>(&self, record: &'r Record) -> Result<Datum<'r>> {
        match self {
            Self::Field(at) => Ok(record.datum(*at)),
            Self::Composed(composed) => composed.datum(record),
        }
    }
}

/// Where the table's fields and columns come from, by name. Names without an entry have no source
/// in the file.
pub(crate) type Origins = BTreeMap<String, Origin>;

impl Mapping {
    /// Returns the table's names that may occur in files without a name list, under their names in
    /// the file.
    pub(crate) fn expected_names(&self, targets: &Targets) -> Result<Vec<String>> {
        let maps = &self.maps;
        let sets = &self.sets;
        let mut names: Vec<String> = maps.iter().map(|(from, _)| from.clone()).collect();
        let mapped = |name: &String| {
            maps.iter().any(|(_, to)| to == name) || sets.iter().any(|(to, _)| to == name)
        };
        names.extend(targets.names().into_iter().filter(|name| !mapped(name)));
        for (_, text) in sets {
            names.extend(names_in(text)?);
        }
        let mut once: Vec<String> = Vec::new();
        for name in names {
            if !once.contains(&name) && !self.skips.contains(&name) {
                once.push(name);
            }
        }
        Ok(once)
    }

    /// Returns each field's declared time form.
    ///
    /// # Errors
    /// `InvalidRequest` for names that the table does not have, and for a name with two forms.
    pub(crate) fn times(&self, targets: &Targets) -> Result<BTreeMap<String, TimeForm>> {
        let mut forms = BTreeMap::new();
        for (name, form) in &self.times {
            targets.check_name(name)?;
            if forms.insert(name.clone(), form.clone()).is_some() {
                return Err(Error::invalid(format!("--times is given twice: field={name}")));
            }
        }
        Ok(forms)
    }

    /// Returns the unknown names to ignore in rows from files with open names; `None` for any.
    pub(crate) fn ignored_names(&self) -> Option<Vec<String>> {
        (!self.skip_unknown).then(|| self.skips.clone())
    }

    /// Matches a file's names with the table's names. `is_open` states that rows may have fields
    /// that are not in `names`.
    ///
    /// # Errors
    /// `InvalidRequest` with all names that occur on one side only; for a field with two origins.
    pub(crate) fn origins(
        &self,
        names: &[String],
        targets: &Targets,
        is_open: bool,
    ) -> Result<Origins> {
        let position = |name: &str| position(names, name);
        let mut origins = Origins::new();
        let mut is_used = vec![false; names.len()];
        for (to, text) in &self.sets {
            targets.check_name(to)?;
            let composed = Composed::parse(text, position)?;
            composed.fields().for_each(|at| is_used[at] = true);
            add(&mut origins, to, Origin::Composed(composed))?;
        }
        for (from, to) in &self.maps {
            targets.check_name(to)?;
            let at = position(from)?;
            is_used[at] = true;
            add(&mut origins, to, Origin::Field(at))?;
        }
        for skip in self.skips.iter().filter(|_| !is_open) {
            is_used[position(skip)?] = true;
        }
        let known = targets.names();
        let mut unknown = Vec::new();
        for (at, name) in names.iter().enumerate() {
            // `--set at={at:.13}` uses the field for itself.
            let is_composed = matches!(origins.get(name), Some(Origin::Composed(composed))
                if composed.fields().any(|field| field == at));
            let is_skipped = self.skips.contains(name) || is_composed;
            let is_mapped = self.maps.iter().any(|(from, _)| from == name);
            if known.contains(name) && !is_skipped && !is_mapped {
                add(&mut origins, name, Origin::Field(position(name)?))?;
            } else if !is_used[at] && !is_skipped {
                unknown.push(name.as_str());
            }
        }
        if !unknown.is_empty() && !self.skip_unknown {
            return Err(no_place(&unknown));
        }
        Ok(origins)
    }
}

fn add(origins: &mut Origins, name: &str, origin: Origin) -> Result<()> {
    match origins.insert(name.to_owned(), origin) {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!(
            "a field of the table is given twice: skip one with --skip: field={name}"
        ))),
    }
}

/// Returns a field's index among a file's names.
fn position(names: &[String], name: &str) -> Result<usize> {
    let mut matches = (0..names.len()).filter(|at| names[*at] == name);
    match (matches.next(), matches.next()) {
        (Some(at), None) => Ok(at),
        (Some(_), Some(_)) => {
            Err(Error::invalid(format!("duplicate field in the file: field={name}")))
        }
        (None, _) => Err(Error::invalid(format!(
            "the file has no field `{name}`; its fields: {}",
            names.join(", ")
        ))),
    }
}

fn no_place(unknown: &[&str]) -> Error {
    let first = unknown.first().copied().unwrap_or_default();
    Error::invalid(format!(
        "the table has no field or column for fields of the file: map them (--map {first}=FIELD), \
         skip them (--skip {first}) or skip all of them (--skip-unknown): fields={}",
        unknown.join(",")
    ))
}

/// Checks a text that composes values, as far as that is possible without a file: that the braces
/// are closed and the formats are valid. [`Import::set`](crate::Import::set) documents such texts.
///
/// # Errors
/// `InvalidRequest`.
pub fn check_set(text: &str) -> Result<()> {
    names_in(text).map(|_| ())
}

/// Returns the field names in a `--set` text.
fn names_in(text: &str) -> Result<Vec<String>> {
    // The parser's lookup cannot change what it captures.
    let names = std::cell::RefCell::new(Vec::new());
    Composed::parse(text, |name| {
        names.borrow_mut().push(name.to_owned());
        Ok(0)
    })?;
    Ok(names.into_inner())
}

#[cfg(test)]
mod tests {
    use rowhouse::key::KeySchema;
    use rowhouse::schema::ColumnSchema;

    use super::*;

    fn targets() -> Targets {
        Targets {
            key: KeySchema::parse("[user string][at millis]").unwrap(),
            columns: ColumnSchema::parse("d:n count u32; f:[who text] follows bool").unwrap(),
        }
    }

    fn args(maps: &[&str], sets: &[&str], skips: &[&str]) -> Mapping {
        let pair = |text: &&str| {
            let (left, right) = text.split_once('=').unwrap();
            (left.to_owned(), right.to_owned())
        };
        Mapping {
            maps: maps.iter().map(pair).collect(),
            sets: sets.iter().map(pair).collect(),
            skips: skips.iter().map(|skip| (*skip).to_owned()).collect(),
            ..Mapping::default()
        }
    }

    /// Returns the names that have an origin, or an error message.
    fn fed(args: &Mapping, names: &[&str]) -> Result<String, String> {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let origins = args.origins(&names, &targets(), false);
        let origins = origins.map_err(|error| error.message().to_owned())?;
        Ok(origins.into_keys().collect::<Vec<_>>().join(","))
    }

    #[test]
    fn names_of_the_table_find_their_places() {
        let all = ["count", "user", "at", "who", "follows"];
        assert_eq!(fed(&args(&[], &[], &[]), &all).unwrap(), "at,count,follows,user,who");
        let mapped = args(&["name=user"], &["at={day}T{hour:02}"], &["junk"]);
        assert_eq!(fed(&mapped, &["name", "day", "hour", "junk"]).unwrap(), "at,user");
        let cut = args(&[], &["at={at:.13}"], &[]);
        assert_eq!(fed(&cut, &["user", "at"]).unwrap(), "at,user");
    }

    #[test]
    fn unmatched_names_are_refused() {
        let refused = |args: Mapping, names: &[&str], want: &str| {
            let message = fed(&args, names).unwrap_err();
            assert!(message.contains(want), "{message}");
        };
        refused(args(&[], &[], &[]), &["user", "year", "day"], "fields=year,day");
        refused(args(&["x=user"], &[], &[]), &["user"], "no field `x`; its fields: user");
        refused(
            args(&["user=x"], &[], &[]),
            &["user"],
            "no field or column `x`; it declares: user, at",
        );
        refused(args(&["name=user"], &[], &[]), &["name", "user"], "twice");
        refused(args(&[], &["at={user}"], &[]), &["user", "at"], "twice");
        refused(args(&[], &[], &["x"]), &["user"], "no field `x`");
        refused(args(&[], &[], &[]), &["user", "user"], "duplicate field");
    }

    #[test]
    fn unknown_names_can_be_left_out_all_at_once() {
        let args = Mapping { skip_unknown: true, ..args(&[], &[], &[]) };
        assert_eq!(fed(&args, &["user", "year"]).unwrap(), "user");
    }
}
