use clap::FromArgMatches;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn program() -> clap::Command {
    clap::Command::new("rowhouse").subcommand(ServeArgs::augment_args(clap::Command::new(COMMAND)))
}

/// Parses a line after `rowhouse serve`.
fn parsed(arguments: &[String]) -> std::result::Result<ArgMatches, clap::Error> {
    let line = ["rowhouse", COMMAND].into_iter().map(OsString::from);
    let line: Vec<_> = line.chain(arguments.iter().map(OsString::from)).collect();
    let matches = parse(&program(), &line)?;
    Ok(matches.subcommand_matches(COMMAND).unwrap().clone())
}

/// Returns all fields of the arguments but the file.
fn fields(matches: &ArgMatches) -> String {
    let mut args = ServeArgs::from_arg_matches(matches).unwrap();
    args.config = None;
    format!("{args:?}")
}

/// Parses a file and arguments.
fn with_file(text: &str, arguments: &[&str]) -> std::result::Result<ArgMatches, String> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rowhouse.toml");
    fs::write(&path, text).unwrap();
    let file = format!("--config={}", path.display());
    let line: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).chain([file]).collect();
    parsed(&line).map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"))
}

/// Values for an argument, by its type and value name.
fn values(argument: &Arg) -> BoxedStrategy<String> {
    let possible = argument.get_possible_values();
    let name = argument.get_value_names().unwrap_or_default()[0].as_str();
    if !possible.is_empty() {
        let names: Vec<_> = possible.iter().map(|it| it.get_name().to_owned()).collect();
        return proptest::sample::select(names).boxed();
    }
    if is_number(argument) {
        // Within the bounds of all of them.
        return (16_u64 << 20..1 << 30).prop_map(|number| number.to_string()).boxed();
    }
    match name {
        "HOST:PORT" => "[a-z]{1,9}:[1-9][0-9]{0,3}".boxed(),
        _ => "[^\0-]\\PC{0,6}[\"\\\\\n\t#=]?".boxed(),
    }
}

/// Arguments for each setting, in a line that parses.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let settings = arguments().into_iter().filter_map(|argument| {
        let name = setting_name(&argument)?.to_owned();
        let line = if matches!(argument.get_action(), ArgAction::SetTrue) {
            Just(format!("--{name}")).boxed()
        } else {
            values(&argument).prop_map(move |value| format!("--{name}={value}")).boxed()
        };
        Some(proptest::option::of(line))
    });
    let settings: Vec<_> = settings.collect();
    settings.prop_map(|lines| {
        let mut lines: Vec<String> = lines.into_iter().flatten().collect();
        // Some exclude or require others.
        while let Err(error) = parsed(&lines) {
            assert!(!lines.is_empty(), "{error}");
            let about = error.get(ContextKind::InvalidArg).map(ToString::to_string);
            let name = about.and_then(|it| it.split([' ', '=']).next().map(str::to_owned));
            let before = lines.len();
            lines.retain(|line| Some(line.split('=').next().unwrap()) != name.as_deref());
            if lines.len() == before {
                lines.pop();
            }
        }
        lines
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn printed_settings_are_read_as_they_were(line in lines()) {
        let matches = parsed(&line).unwrap();
        let printed = written_out(&matches).unwrap();
        let read = with_file(&printed, &[]).unwrap();
        prop_assert_eq!(fields(&read), fields(&matches));
        prop_assert_eq!(written_out(&read).unwrap(), printed);
    }
}

#[test]
fn every_argument_is_a_setting_or_about_files() {
    let printed = written_out(&parsed(&[]).unwrap()).unwrap();
    for argument in arguments() {
        let name = argument.get_long().expect("every argument of serve has a long name");
        let is_printed = printed
            .lines()
            .any(|line| line.trim_start_matches("# ").split(" = ").next() == Some(name));
        assert_eq!(is_printed, !NOT_IN_FILES.contains(&name), "{name}");
    }
}

#[test]
fn arguments_take_precedence_over_the_file() {
    let file = "listen = \"db1:1\"\nregion-servers = 4\nno-web = true\nlog = \"json\"\n";
    let read = with_file(file, &["--listen", "db2:2", "--web=db2:3"]).unwrap();
    let args = ServeArgs::from_arg_matches(&read).unwrap();
    assert_eq!((&*args.listen, args.region_servers), ("db2:2", 4));
    assert_eq!((args.web.as_deref(), args.no_web), (Some("db2:3"), false));
}

#[test]
fn arguments_may_require_settings_of_the_file() {
    let read = with_file("tls-certificate = \"c.pem\"\n", &["--tls-key=c.key"]).unwrap();
    assert!(ServeArgs::from_arg_matches(&read).unwrap().tls_certificate.is_some());
    assert!(with_file("tls-certificate = \"c.pem\"\n", &[]).unwrap_err().contains("--tls-key"));
}

#[test]
fn mistakes_are_reported_with_file_and_line() {
    for (text, message) in [
        ("\n# a comment\nlisten_at = 'a:1'\n", "FILE:3: unknown setting: listen_at"),
        ("config = 'other'", "FILE:1: unknown setting: config"),
        (
            "log = 'text'\nlisten = 'here'",
            "FILE:2: invalid value 'here' for '--listen <HOST:PORT>'",
        ),
        ("log = 'xml'", "FILE:1: invalid value 'xml' for '--log <FORM>'"),
        ("mutation-bytes-max = 1", "FILE:1: invalid value '1' for '--mutation-bytes-max <BYTES>'"),
        ("mutation-bytes-max = true", "FILE:1: mutation-bytes-max: expected a whole number"),
        ("listen = 1", "FILE:1: listen: expected a string"),
        ("no-web = 'yes'", "FILE:1: no-web: expected true or false"),
        ("[web]\nlisten = 'a:1'", "FILE:1: web: expected a string"),
        ("log = 'text'\nlog = 'json'", "FILE:2: "),
        ("log = 'text'\nlisten = ", "FILE:2: "),
    ] {
        let error = with_file(text, &[]).unwrap_err();
        assert!(error.starts_with(&format!("error: {message}")), "{text}: {error}");
    }
    let missing = parsed(&["--config=/nowhere/rowhouse.toml".to_owned()]).unwrap_err().to_string();
    assert!(missing.starts_with("error: /nowhere/rowhouse.toml: "), "{missing}");
}
