//! The mapping from fields of a file to those of the table.

use std::collections::BTreeMap;

use rowhouse::{Error, Result};

use super::compose::Composed;
use super::source::{Datum, Record};
use super::targets::Targets;
use super::times::TimeForm;
use crate::command::argument;

/// Arguments for fields whose names differ from the table's.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct MappingArgs {
    /// Write a field of the file to the field or column of that name
    #[arg(long = "map", value_name = "NAME=FIELD", value_parser = argument::pair)]
    maps: Vec<String>,
    /// Compose a field or column from fields of the file, {NAME:02} with leading zeros, {NAME:.14}
    /// cut after that many characters: --set 'at={day}T{hour:02}:{minute:02}'
    #[arg(long = "set", value_name = "FIELD=TEXT", value_parser = set)]
    sets: Vec<String>,
    /// Leave out a field of the file
    #[arg(long = "skip", value_name = "NAME")]
    skips: Vec<String>,
    /// Leave out all fields of the file that the table does not have
    #[arg(long)]
    skip_unknown: bool,
    /// The form of a field's or column's times: iso (2022-12-01T08:00), ymd (20221201), ymdhm,
    /// ymdhms, a count of its own units, or of seconds, millis, micros or nanos [default:
    /// recognized from all values of a file]
    #[arg(long = "times", value_name = "NAME=FORM", value_parser = times)]
    times: Vec<String>,
}

/// The source of the values of a field or column.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// A field of the file, by its index.
    Field(usize),
    /// A text composed from any number of fields.
    Composed(Composed),
}

impl Origin {
    /// Returns the value in a row.
    pub(super) fn datum<'r>(&self, record: &'r Record) -> Result<Datum<'r>> {
        match self {
            Self::Field(at) => Ok(record.datum(*at)),
            Self::Composed(composed) => composed.datum(record),
        }
    }
}

/// The origins of the table's fields and columns, by name. Names without an entry have no source in
/// the file.
pub(super) type Origins = BTreeMap<String, Origin>;

impl MappingArgs {
    /// Returns the table's names that may occur in files without a list of names, under their names
    /// in the file.
    pub(super) fn wanted(&self, targets: &Targets) -> Result<Vec<String>> {
        let maps = pairs(&self.maps, "map")?;
        let mut wanted: Vec<String> = maps.iter().map(|(from, _)| (*from).to_owned()).collect();
        let sets = pairs(&self.sets, "set")?;
        let mapped = |name: &String| {
            maps.iter().any(|(_, to)| to == name) || sets.iter().any(|(to, _)| to == name)
        };
        wanted.extend(targets.names().into_iter().filter(|name| !mapped(name)));
        for (_, text) in &sets {
            wanted.extend(names_in(text)?);
        }
        let mut once: Vec<String> = Vec::new();
        for name in wanted {
            if !once.contains(&name) && !self.skips.contains(&name) {
                once.push(name);
            }
        }
        Ok(once)
    }

    /// Returns the declared form of the times of each field.
    ///
    /// # Errors
    /// `InvalidRequest` for names that the table does not have, and for a name with two forms.
    pub(super) fn times(&self, targets: &Targets) -> Result<BTreeMap<String, TimeForm>> {
        let mut forms = BTreeMap::new();
        for (name, form) in pairs(&self.times, "times")? {
            targets.check_name(name)?;
            if forms.insert(name.to_owned(), TimeForm::parse(form)?).is_some() {
                return Err(Error::invalid(format!("--times is given twice: field={name}")));
            }
        }
        Ok(forms)
    }

    /// Returns the unknown names to ignore in rows of files with open names; `None` for any.
    pub(super) fn ignored_names(&self) -> Option<Vec<String>> {
        (!self.skip_unknown).then(|| self.skips.clone())
    }

    /// Matches the names of a file with those of the table.
    ///
    /// # Errors
    /// `InvalidRequest` with all names that occur on one side only; for a field with two origins.
    pub(super) fn origins(
        &self,
        names: &[String],
        targets: &Targets,
        is_open: bool,
    ) -> Result<Origins> {
        let position = |name: &str| position(names, name);
        let mut origins = Origins::new();
        let mut is_used = vec![false; names.len()];
        for (to, text) in pairs(&self.sets, "set")? {
            targets.check_name(to)?;
            let composed = Composed::parse(text, position)?;
            composed.fields().for_each(|at| is_used[at] = true);
            add(&mut origins, to, Origin::Composed(composed))?;
        }
        for (from, to) in pairs(&self.maps, "map")? {
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
            let is_skipped = self.skips.contains(name);
            let is_mapped = self
                .maps
                .iter()
                .any(|map| map.split_once('=').is_some_and(|(from, _)| from == name));
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
            "a field of the table is given twice: leave one out by --skip: field={name}"
        ))),
    }
}

/// Returns the index of a field among those of a file.
fn position(names: &[String], name: &str) -> Result<usize> {
    let mut found = (0..names.len()).filter(|at| names[*at] == name);
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(at),
        (Some(_), Some(_)) => {
            Err(Error::invalid(format!("the file has two fields of one name: field={name}")))
        }
        (None, _) => Err(Error::invalid(format!(
            "the file has no field `{name}`; there are: {}",
            names.join(", ")
        ))),
    }
}

fn no_place(unknown: &[&str]) -> Error {
    let first = unknown.first().copied().unwrap_or_default();
    Error::invalid(format!(
        "the table has no place for fields of the file: name their places (--map {first}=FIELD), leave them out \
         (--skip {first}) or all of them (--skip-unknown): fields={}",
        unknown.join(",")
    ))
}

/// Splits arguments of the form `LEFT=RIGHT`.
fn pairs<'a>(args: &'a [String], option: &str) -> Result<Vec<(&'a str, &'a str)>> {
    let pair = |arg: &'a String| {
        let pair = arg.split_once('=').filter(|(left, _)| !left.is_empty());
        pair.ok_or_else(|| Error::invalid(format!("expected LEFT=RIGHT: {option}={arg}")))
    };
    args.iter().map(pair).collect()
}

/// Checks a FIELD=TEXT whose text is a valid composition.
fn set(text: &str) -> Result<String> {
    let text = argument::pair(text)?;
    names_in(text.split_once('=').map_or("", |(_, made)| made))?;
    Ok(text)
}

/// Checks a NAME=FORM.
fn times(text: &str) -> Result<String> {
    let text = argument::pair(text)?;
    TimeForm::parse(text.split_once('=').map_or("", |(_, form)| form))?;
    Ok(text)
}

/// Returns the names of fields in a text of `--set`.
fn names_in(text: &str) -> Result<Vec<String>> {
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

    fn args(maps: &[&str], sets: &[&str], skips: &[&str]) -> MappingArgs {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        MappingArgs {
            maps: owned(maps),
            sets: owned(sets),
            skips: owned(skips),
            ..MappingArgs::default()
        }
    }

    /// Returns the names that have an origin, or an error message.
    fn fed(args: &MappingArgs, names: &[&str]) -> Result<String, String> {
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
    }

    #[test]
    fn names_that_are_on_one_side_only_are_told_before_anything_is_done() {
        let refused = |args: MappingArgs, names: &[&str], want: &str| {
            let message = fed(&args, names).unwrap_err();
            assert!(message.contains(want), "{message}");
        };
        refused(args(&[], &[], &[]), &["user", "year", "day"], "fields=year,day");
        refused(args(&["x=user"], &[], &[]), &["user"], "no field `x`; there are: user");
        refused(
            args(&["user=x"], &[], &[]),
            &["user"],
            "no field or column `x`; there are: user, at",
        );
        refused(args(&["name=user"], &[], &[]), &["name", "user"], "twice");
        refused(args(&[], &["at={user}"], &[]), &["user", "at"], "twice");
        refused(args(&[], &[], &["x"]), &["user"], "no field `x`");
        refused(args(&[], &[], &[]), &["user", "user"], "two fields of one name");
        refused(args(&["user"], &[], &[]), &["user"], "map=user");
    }

    #[test]
    fn unknown_names_can_be_left_out_all_at_once() {
        let args = MappingArgs { skip_unknown: true, ..args(&[], &[], &[]) };
        assert_eq!(fed(&args, &["user", "year"]).unwrap(), "user");
    }
}
