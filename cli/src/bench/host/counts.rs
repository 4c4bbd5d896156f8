//! The file of committed counts: read, compared with what is counted now, written.
//!
//! ```text
//!   docs/host_counts.toml:  profile ─► compiler, work ─► counts ──┬── within 5 %?
//!   this program:           profile,   compiler, work ─► counts ──┘
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use measure::host::counts::{count_all, Comparison, Counted};

use super::program::PROGRAM;
use crate::shared::options::UsageError;
use crate::shared::table::table;

const HEAD: &str = "\
# What the control stack costs a packet, by `zeronic bench host`: instructions as Valgrind counts
# them, and allocations. A test compares those of the profile in which it was built (`dev`) within
# 5 %. After a change: ZERONIC_BLESS=1 cargo test --workspace --test cli counts
# and, for `release`: cargo run --release -- bench host --counts docs/host_counts.toml --bless

";

/// By profile.
type Committed = BTreeMap<String, Counted>;

/// The compiler and the profile of this program.
fn build_identity() -> (&'static str, &'static str) {
    let profile = match env!("ZERONIC_PROFILE") {
        "debug" => "dev",
        other => other,
    };
    (env!("ZERONIC_RUSTC"), profile)
}

/// The table of a comparison.
fn table_of(compared: &Comparison) -> String {
    let mut table = table(&["count", "found", "committed", "verdict"]);
    for row in &compared.rows {
        let shown = |count: Option<f64>| count.map_or("-".to_owned(), |count| count.to_string());
        let verdict = match row.is_near {
            Some(true) => "near enough",
            Some(false) => "DIFFERS",
            None => "not compared",
        };
        let name = row.name.clone();
        table.add_row([name, shown(row.found), shown(row.committed), verdict.to_owned()]);
    }
    table.to_string()
}

fn read(path: &Path) -> Result<Committed, UsageError> {
    let failed = |why: &str| UsageError(format!("--counts {}: {}", path.display(), why.trim()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error.to_string()))?;
    toml::from_str(&text).map_err(|error| failed(error.message()))
}

/// Counts and compares with the file. Returns what is to be said, and whether all is near enough.
pub fn check(path: &Path) -> Result<(String, bool)> {
    let (rustc, profile) = build_identity();
    let committed = read(path)?;
    let committed = committed.get(profile);
    let missing = || UsageError(format!("--counts {}: none of {profile}", path.display()));
    let committed = committed.ok_or_else(missing)?;
    let compared = count_all(PROGRAM, rustc)?.compare(committed);
    let mut text = format!("profile {profile}, rustc {rustc}\n{}\n", table_of(&compared));
    if let Some(why) = &compared.skipped {
        text += &format!("skipped: instructions: {why}\n");
    }
    let ok = compared.is_near();
    text += match ok {
        true => "counts are within 5 % of those committed\n",
        false => "counts are NOT within 5 % of those committed\n",
    };
    Ok((text, ok))
}

/// Counts and writes the file; other profiles in it stay as they are.
pub fn bless(path: &Path) -> Result<String> {
    let (rustc, profile) = build_identity();
    let counted = count_all(PROGRAM, rustc)?;
    let has_valgrind = counted.has_instructions();
    anyhow::ensure!(has_valgrind, "instructions are counted with valgrind: it is not installed");
    let mut all = if path.exists() { read(path)? } else { Committed::new() };
    all.insert(profile.to_owned(), counted);
    let text = HEAD.to_owned() + &toml::to_string(&all)?;
    std::fs::write(path, text).with_context(|| format!("--counts {}", path.display()))?;
    Ok(format!("wrote {}: profile {profile}, rustc {rustc}\n", path.display()))
}

#[cfg(test)]
mod tests {
    use measure::host::counts::Counts;

    use super::*;

    #[test]
    fn file_reads_back_as_written() {
        let counts = Counts { instructions: Some(5.0), allocations: 0.5, commands: None };
        let work = BTreeMap::from([("receive".to_owned(), counts)]);
        let all =
            Committed::from([("dev".to_owned(), Counted { rustc: "1.2.3".to_owned(), work })]);
        let text = HEAD.to_owned() + &toml::to_string(&all).expect("text");
        assert_eq!(toml::from_str::<Committed>(&text).expect("a table"), all);
    }
}
