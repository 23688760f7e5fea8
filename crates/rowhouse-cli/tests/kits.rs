//! The kits for tests and their pages name the version of the program.

use std::fs;
use std::path::Path;

use regex::Regex;

/// Files, with how many versions each names.
const FILES: &[(&str, usize)] = &[
    ("kits/java/pom.xml", 1),
    ("kits/python/pyproject.toml", 1),
    ("kits/README.md", 1),
    ("kits/java/README.md", 4),
    ("kits/python/README.md", 0),
    ("kits/go/README.md", 0),
    ("docs/in-tests.md", 3),
];

/// The forms in which a file names the version.
const FORMS: &str = concat!(
    r#"<revision>([^<]+)<|(?m:^version = "([^"]+)")|"version":"([^"]+)"|coordinates, version (\S+)"#,
    r"|<artifactId>rowhouse-test</artifactId>\s*<version>([^<$]+)<",
    r#"|rowhouse-test:([0-9][^:"]*)|rowhouse = \{ version = "([^"]+)""#,
);

#[test]
fn kits_and_their_pages_name_the_version_of_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let forms = Regex::new(FORMS).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    // Cargo takes the patches of a version, too.
    let (minor, _) = version.rsplit_once('.').unwrap();
    for (file, count) in FILES {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let named: Vec<&str> = forms
            .captures_iter(&text)
            .map(|form| form.iter().skip(1).flatten().next().unwrap().as_str())
            .collect();
        assert_eq!(named.len(), *count, "{file}: {named:?}");
        for named in named {
            assert!(named == version || named == minor, "{file}: {named}, not {version}");
        }
    }
}
