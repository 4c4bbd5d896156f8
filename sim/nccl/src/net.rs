//! A plugin behind one interface, whatever the version of NCCL's.

mod calls;
mod loaded;
mod log;
mod tables;

pub use self::calls::{Buffer, Code, Net, Pointer, Properties};
pub use self::loaded::{load, Loaded};
pub use self::log::lines;
use self::tables::Table;

/// The plugin that this program is linked with, in a version of 8 to 12.
pub fn linked(version: u32) -> Option<Box<dyn Net>> {
    use nccl::versions as v;
    Some(match version {
        8 => Box::new(Table::of(&v::ncclNetPlugin_v8)),
        9 => Box::new(Table::of(&v::ncclNetPlugin_v9)),
        10 => Box::new(Table::of(&v::ncclNetPlugin_v10)),
        11 => Box::new(Table::of(&v::ncclNetPlugin_v11)),
        12 => Box::new(Table::of(&v::ncclNetPlugin_v12)),
        _ => return None,
    })
}
