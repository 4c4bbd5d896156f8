//! Receive: parse, verify, classify, place, split.
