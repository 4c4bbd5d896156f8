//! A plugin of a file.

use std::path::Path;

use anyhow::{bail, Context, Result};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use nccl::abi::{NetV10, NetV11, NetV12, NetV8, NetV9};

use super::calls::Net;
use super::tables::Table;

/// A plugin, and the library that it is in.
pub struct Loaded {
    /// Its calls.
    pub net: Box<dyn Net>,
}

/// Loads the version of a plugin of a file.
pub fn load(path: &Path, version: u32) -> Result<Loaded> {
    // SAFETY: what is loaded runs its constructors: who names the file trusts it.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.with_context(|| format!("{} cannot be loaded", path.display()))?;
    // Its threads may outlive every call: it stays.
    let library: &'static Library = Box::leak(Box::new(library));
    let name = format!("ncclNetPlugin_v{version}");
    let net: Box<dyn Net> = match version {
        8 => Box::new(Table::of(table::<NetV8>(library, &name)?)),
        9 => Box::new(Table::of(table::<NetV9>(library, &name)?)),
        10 => Box::new(Table::of(table::<NetV10>(library, &name)?)),
        11 => Box::new(Table::of(table::<NetV11>(library, &name)?)),
        12 => Box::new(Table::of(table::<NetV12>(library, &name)?)),
        _ => bail!("version {version} is not known; 8 to 12 are"),
    };
    Ok(Loaded { net })
}

fn table<T>(library: &'static Library, name: &str) -> Result<&'static T> {
    // SAFETY: a symbol of this name is a table of this version, by NCCL's own rule.
    let found = unsafe { library.get::<*const T>(name.as_bytes()) };
    let found = found.with_context(|| format!("there is no {name}"))?;
    // SAFETY: the symbol's address is that of the table, which lives as long as the library.
    Ok(unsafe { &*found.into_raw().cast::<T>() })
}
