//! The card's state: flow table, memory-segment lists, memory-region table.
