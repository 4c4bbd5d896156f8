//! What is wrong with an application, or with the shard that it is in.

use thiserror::Error;

/// An application or a shard cannot be used, or not be closed.
#[derive(Debug, Error)]
pub enum ApplicationError {
    /// No such application.
    #[error("no application {application}; {open} are open")]
    Unknown {
        /// Number of the application in the call.
        application: u16,
        /// Applications that are open.
        open: usize,
    },
    /// An application was to be closed that still has something.
    #[error(
        "application {application} still has {listeners} listeners, {connections} connections, \
         {regions} regions"
    )]
    Busy {
        /// Number of the application.
        application: u16,
        /// Its listeners.
        listeners: usize,
        /// Its connections, those that are being removed among them.
        connections: usize,
        /// Its regions, those that are being removed among them.
        regions: usize,
    },
    /// A shard was to be closed or restarted that still has something.
    #[error("shard {shard} still has {applications} applications, {connections} connections")]
    ShardBusy {
        /// Number of the shard.
        shard: u8,
        /// Its applications.
        applications: usize,
        /// Its connections, those that are being removed among them.
        connections: usize,
    },
}
