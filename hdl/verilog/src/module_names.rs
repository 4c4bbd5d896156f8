//! How the modules of a design are called, and which names clash.

use std::collections::BTreeMap;

/// How the modules of a design are called. All are in one name space with whatever else a tool
/// reads: a prefix keeps them apart from the modules of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleNames<'a> {
    /// Name of the top module, as it is.
    pub top: &'a str,
    /// Stands before the name of every other module, except a vendor core's.
    pub prefix: &'a str,
    /// Blocks below the top whose module has a name of its own, without the prefix: Rust type and
    /// module. There must be one module of the type.
    pub own: &'a [(&'a str, &'a str)],
}

impl<'a> ModuleNames<'a> {
    /// The top as given, every other module by its type alone.
    pub fn plain(top: &'a str) -> ModuleNames<'a> {
        ModuleNames { top, ..ModuleNames::default() }
    }
}

/// The groups of definitions that would have one name.
pub(crate) fn shared(names: &[String]) -> Vec<Vec<usize>> {
    let mut owners: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        owners.entry(name).or_default().push(index);
    }
    owners.into_values().filter(|o| o.len() > 1).collect()
}

/// The columns in which the rows differ, without those that repeat an earlier one; none if the
/// rows are of different lengths.
pub(crate) fn differing(rows: &[&[usize]]) -> Vec<usize> {
    let columns = rows.first().map_or(0, |row| row.len());
    if rows.iter().any(|row| row.len() != columns) {
        return Vec::new();
    }
    let mut seen: Vec<Vec<usize>> = Vec::new();
    let mut found = Vec::new();
    for column in 0..columns {
        let values: Vec<usize> = rows.iter().map(|row| row[column]).collect();
        let differs = values.iter().any(|value| *value != values[0]);
        if differs && !seen.contains(&values) {
            seen.push(values);
            found.push(column);
        }
    }
    found
}
