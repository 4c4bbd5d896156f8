//! What flows between blocks, and the only buffers the rest may use.
