//! Measures card and host, with every byte judged: the door of all measurements.
//!
//! ```text
//!                        what is measured                      in which time
//!   throughput ─┐   Peer ── frames ──► MAC ──► card ══ PCIe ══► Host
//!   latency ────┼──   ▲ judges entries and memory                 │         simulated
//!   speed ──────┘     └──────── frames, judged by Sender ◄────────┘
//!   dma ────────── read and write engine ══ PCIe                            simulated
//!   loss ───────── our own TCP ── card ── wire that loses ── our own TCP    simulated
//!   networks ───── our own TCP on simulated networks, no card               simulated
//!   host ───────── null protocol ── Provider ── null card                   wall clock
//!   cpu ────────── the same, a TCP, or the kernel's TCP                     CPU time
//!   connections ── null protocol ── Provider ── golden card ── Echo         wall clock
//!   doorbell ───── driver ── bus ── a card of another process               wall clock
//!   area ───────── card ── Verilog ── Yosys                                 none
//! ```
//! Each is a module with a `measure` that returns a report or an error of its own. A report has
//! figures and goals, and serialises; options, tables, plots and pages are the program's
//! (`cli/src/bench/`). So is what only a program has: its allocator, its command line, the opening
//! of a card by name. A `measure` takes these as functions.
//!
//! | below the door | what |
//! |---|---|
//! | `scenario.rs`, `check.rs` | what is measured of a card; what can be |
//! | `limits.rs`, `load.rs` | physical limits; what the packets of a scenario cost |
//! | `packets/`, `parties/` | bytes of a flow; peer, host and sender, each with its judge |
//! | `run.rs` | warm-up, measurement, drain, verdict |
//! | `null_card.rs`, `null_protocol.rs` | the contract alone, under a host that is measured |
//! | `joined.rs` | two hosts and their cards on a wire |
//! | `timing/` | cores, clocks, a loop of known work, medians and quantiles |
//!
//! The null card has a second door, for who serves it to another process: [`null_card`].
//!
//! Invariants
//! 1. No figure without a verdict: bytes, order, guards, counters and the rules of link and MAC are
//!    judged in every run; one wrong byte makes the run fail, however fast it was.
//! 2. In simulated time the host's work takes none; everything that it does over the bus does.
//! 3. Traffic is a function of the scenario, seed included.

pub mod area;
mod check;
pub mod connections;
pub mod cpu;
pub mod dma;
pub mod doorbell;
pub mod error;
pub mod host;
mod joined;
pub mod latency;
pub mod limits;
mod load;
pub mod loss;
pub mod networks;
pub mod null_card;
mod null_protocol;
pub mod packets;
mod parties;
pub mod run;
pub mod scenario;
pub mod speed;
pub mod throughput;
pub mod timing;
