//! The golden model: pure functions on whole packets and tables, no clock.
