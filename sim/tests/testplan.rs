//! `docs/testplan.md` against the tests that there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use abi::reason::{Disposition, DropReason, SendError};
use sources::Source;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Words between backquotes in a table cell.
fn quoted_words(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Names of the functions marked `#[test]`.
fn tests_of(path: &Path) -> BTreeSet<String> {
    let source = Source::new(&read(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    source.tests().into_iter().collect()
}

/// Rows of the plan: what is proven, file, test.
fn rows(plan: &str) -> Vec<(&str, &str, &str)> {
    plan.lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .filter_map(|line| {
            let cells: Vec<&str> = line.split(" | ").collect();
            match (cells[..].first(), cells.last().map(|cell| quoted_words(cell))) {
                (Some(point), Some(words)) if words.len() == 2 && cells.len() == 3 => {
                    Some((*point, words[0], words[1]))
                }
                _ => None,
            }
        })
        .collect()
}

#[test]
fn every_test_in_the_plan_exists() {
    let root = Path::new(ROOT);
    let plan = read(&root.join("docs/testplan.md"));
    let rows = rows(&plan);
    let lines = plan.lines().filter(|line| line.contains(".rs`")).count();
    // The head names the file of this test, which is no row.
    assert_eq!(rows.len() + 1, lines, "a row that is not `file` `test`");
    for (_, file, test) in rows {
        assert!(tests_of(&root.join(file)).contains(test), "{file} has no test {test}");
    }
}

#[test]
fn every_system_test_is_in_plan() {
    let root = Path::new(ROOT);
    let plan = read(&root.join("docs/testplan.md"));
    let planned: BTreeSet<(&str, &str)> = rows(&plan).into_iter().map(|r| (r.1, r.2)).collect();
    for folder in ["sim/tests", "sim/measure/tests"] {
        let tests = root.join(folder);
        for file in sources::files(&tests, ".rs").expect("a folder") {
            let within = file.to_str().expect("a name");
            if !within.starts_with("system/") && !within.starts_with("measure/system_") {
                continue;
            }
            let name = format!("{folder}/{within}");
            for test in tests_of(&tests.join(&file)) {
                assert!(
                    planned.contains(&(&name[..], &test[..])),
                    "{name}: {test} is not in the plan"
                );
            }
        }
    }
}

#[test]
fn disposition_reason_and_decision_have_rows() {
    let plan = read(&Path::new(ROOT).join("docs/testplan.md"));
    let rows = rows(&plan);
    let points: BTreeSet<&str> = rows.iter().flat_map(|row| quoted_words(row.0)).collect();
    let names = Disposition::ALL.iter().map(|code| code.name());
    let names = names.chain(DropReason::ALL.iter().map(|code| code.name()));
    for name in names.chain(SendError::ALL.iter().map(|code| code.name())) {
        assert!(points.contains(name), "{name} has no row");
    }
    for number in 1..=13 {
        let prefix = format!("{number} ");
        let test = format!("decision_{number:02}_");
        let is_it =
            |row: &&(&str, &str, &str)| row.0.starts_with(&prefix) && row.2.starts_with(&test);
        assert!(rows.iter().any(|row| is_it(&row)), "decision {number} has no row");
    }
}
