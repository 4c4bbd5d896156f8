//! The MAC's core over the board window: what its registers say, how its link comes up, and what
//! stands in the way.
//!
//! ```text
//!   registers: places and bits of the core (PG203) and of its neighbours in the window
//!   state:     clock, module, lanes, FEC, faults ─► MacState ─► obstacle, the first that holds
//!   bring_up:  settings, resets, receive, "I hear nothing" until aligned, send ─► up, or why not
//! ```
//! Source: PG203 (CMAC UltraScale+), register space and bring-up with the AXI4-Lite interface;
//! IEEE 802.3, 45.2.1.110 for the bits of the RS-FEC's status, 81.3.4 for faults.

pub mod bring_up;
pub mod registers;
pub mod state;

pub use bring_up::{bring_down, bring_up, LinkError, LinkPlan};
pub use state::{mac_state, MacState, Obstacle};
