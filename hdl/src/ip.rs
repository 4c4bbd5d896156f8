//! Blocks that serve several owners.

