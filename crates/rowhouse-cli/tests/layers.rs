//! Enforces the layers of the crates (docs/ARCHITECTURE.md): the allowed dependencies.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Each crate and the workspace crates that it may depend on. A crate that is missing here is
/// refused.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("rowhouse-model", &[]),
    ("rowhouse-schema", &["rowhouse-model"]),
    ("rowhouse-filter", &["rowhouse-model"]),
    ("rowhouse-derive", &["rowhouse-schema"]),
    ("rowhouse-format", &["rowhouse-model"]),
    (
        "rowhouse-store",
        &["rowhouse-model", "rowhouse-schema", "rowhouse-filter", "rowhouse-format"],
    ),
    ("rowhouse-search", &["rowhouse-model", "rowhouse-schema", "rowhouse-store"]),
    ("rowhouse-query", &["rowhouse-model", "rowhouse-schema", "rowhouse-store", "rowhouse-search"]),
    ("rowhouse-client", &["rowhouse-model", "rowhouse-schema", "rowhouse-format"]),
    (
        "rowhouse-server",
        &[
            "rowhouse-model",
            "rowhouse-schema",
            "rowhouse-filter",
            "rowhouse-format",
            "rowhouse-store",
            "rowhouse-search",
            "rowhouse-query",
        ],
    ),
    (
        "rowhouse",
        &[
            "rowhouse-model",
            "rowhouse-schema",
            "rowhouse-derive",
            "rowhouse-format",
            "rowhouse-store",
            "rowhouse-search",
            "rowhouse-query",
            "rowhouse-client",
        ],
    ),
    ("rowhouse-import", &["rowhouse-model", "rowhouse-store", "rowhouse"]),
    (
        "rowhouse-cli",
        &[
            "rowhouse-model",
            "rowhouse-schema",
            "rowhouse-filter",
            "rowhouse-format",
            "rowhouse-store",
            "rowhouse-client",
            "rowhouse-server",
            "rowhouse",
            "rowhouse-import",
        ],
    ),
];

/// Crates with clocks, sockets and runtimes, which crates in the ground layer must not use.
const NOT_ON_THE_GROUND: &[&str] = &["tokio", "tracing", "parking_lot"];
const GROUND: &[&str] =
    &["rowhouse-model", "rowhouse-schema", "rowhouse-filter", "rowhouse-format"];

#[test]
fn crates_depend_on_each_other_only_as_the_floors_allow() {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(known, _)| *known == name) else {
            problems.push(format!("{name} is not in the table"));
            continue;
        };
        let normal = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal)
            .map(|dependency| dependency.name.as_str());
        for dependency in normal.collect::<BTreeSet<_>>() {
            let ours = dependency == "rowhouse" || dependency.starts_with("rowhouse-");
            if ours && !allowed.contains(&dependency) {
                problems.push(format!("{name} must not depend on {dependency}"));
            }
            if GROUND.contains(&name) && NOT_ON_THE_GROUND.contains(&dependency) {
                problems.push(format!("{name} is pure and must not depend on {dependency}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
