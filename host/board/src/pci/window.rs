//! Has a card load an image, by the configuration port of its board window.

use std::io;
use std::path::Path;

use abi::window::PortOperation;

use crate::port::boot;
use crate::resource::Resource;

/// Has the card in a folder of sysfs load an image: it leaves the bus.
pub fn load(device: &Path, operation: PortOperation) -> io::Result<()> {
    let mut window = Resource::of_device(device).map_err(io::Error::other)?;
    boot(&mut window, operation).map_err(io::Error::other)
}
