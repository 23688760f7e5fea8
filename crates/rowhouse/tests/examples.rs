//! Every example runs, and the assertions in it hold.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

/// Declares each example as a module with `main` as a test.
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
    cookbook
    copy_to_another
    domains
    flights
    follow_index
    follow_lists
    followers
    hot_article
    inbox
    mail_by_sender
    mail_store
    mentions
    metrics
    move_layout
    operation_log
    running_sums
    salted_and_hashed
    search_posts
    server_triggers
    tags
    triggers
    unique_email
    what_is_read
}

#[test]
fn every_example_is_run_here_and_is_in_the_list() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(here.join("examples")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, NAMES);
    for name in names {
        assert!(list_of_examples().contains(&format!("`{name}`")), "{name}");
    }
}

fn list_of_examples() -> String {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(here.join("examples/README.md")).unwrap()
}

#[tokio::test]
async fn the_cookbook_example_prints_the_output_of_the_other_programs() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let expected = std::fs::read_to_string(here.join("../../docs/cookbook/printed.txt")).unwrap();

    let dir = tempfile::tempdir().unwrap();
    let printed = examples::cookbook::five_tasks(&dir.path().to_string_lossy()).await.unwrap();
    assert_eq!(printed, expected.trim_end());
}

#[tokio::test]
async fn the_costs_of_the_flights_are_those_that_their_page_shows() {
    let flights = examples::flights::csv::of_three_days().unwrap();
    assert_eq!(flights.len(), 2_699);
    let lines = examples::flights::costs(&flights).await.unwrap();
    let page = include_str!("../examples/flights/README.md");
    assert!(page.contains(&lines.join("\n")), "{}", lines.join("\n"));
}

#[test]
fn flights_are_read_from_a_file_or_the_error_names_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("flights.csv");
    let header = "year,hour,minute,dep_delay,carrier,flight,tailnum,origin,dest,time_hour";
    let read = |line: &str| {
        std::fs::write(&path, format!("{header}\n{line}\n")).unwrap();
        examples::flights::csv::read(&path)
    };
    let flights = read("2013,5,15,2,UA,7,N1,EWR,IAH,2013-01-01T10:00:00Z").unwrap();
    assert_eq!(flights.len(), 1);
    assert_eq!((flights[0].carrier.as_str(), flights[0].number), ("UA", 7));
    let missing = examples::flights::csv::read(&dir.path().join("none.csv")).map(|_| ());
    assert!(missing.unwrap_err().to_string().contains("none.csv"));
    for (line, expected) in [
        ("2013,5,15,2,UA,7,N1,EWR,IAH,2013-01-01 05:00:00", "time_hour is not in UTC"),
        (
            "2013,5,15,2,UA,70000,N1,EWR,IAH,2013-01-01T10:00:00Z",
            "flight is no number of the type u16: 70000",
        ),
        ("2013,5,15,2,UA,7,N1", "no time_hour in the line"),
        ("2013,5,15,2,UA,7,N1,EWR,IAH,yesterdayZ", "yesterdayZ"),
    ] {
        let error = read(line).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
