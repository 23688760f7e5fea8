//! Every example runs, and what it asserts holds.

/// The examples: each is a module here, and its `main` a test.
macro_rules! examples {
    ($($name:ident)*) => {
        #[path = "../examples"]
        mod examples {
            $(pub(crate) mod $name;)*
        }

        $(#[test]
        fn $name() -> rowhouse::Result<()> {
            examples::$name::main()
        })*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! {
    blog
    bytes_and_text
    domains
    followers
    mail_store
    mentions
    metrics
    operation_log
    salted_and_hashed
}

#[test]
fn every_example_is_run_here_and_stands_in_the_list_of_examples() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = std::fs::read_to_string(here.join("../../docs/examples.md")).unwrap();
    let files = std::fs::read_dir(here.join("examples")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, NAMES);
    for name in names {
        assert!(list.contains(&format!("`{name}`")), "{name}");
    }
}
