//! The commands of boards as a user sees them: folders, images, flash, the card as a device.

mod boards;
mod build;
mod device;
mod flash;
