//! What applications call, each kind in a file of its own.
//!
//! ```text
//!   application ─┬─ shards, applications ─► shards        ┬─► checked here, taken at once;
//!                ├─ memory ───────────────► registration  │   what they lead to comes of polls
//!                ├─ connect, listen ──────► connecting    │
//!                ├─ send, receive, close ─► requests      │
//!                └─ other secrets ────────► rekey         ┘
//! ```

mod connecting;
mod registration;
mod rekey;
mod requests;
mod shards;
