//! The engine: controllers by their formulas, properties over random events, scripts of packets.

mod controllers;
mod property;
mod script;
