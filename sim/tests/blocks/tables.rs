//! The tables of flows, segments, regions and owners, against one model.

mod faults;
mod lists;
mod model;
mod order;
mod random;
mod rate;
mod statuses;
