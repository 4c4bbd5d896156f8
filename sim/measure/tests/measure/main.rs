//! What the measures of the card and of the host find, beside their limits.

mod connections;
mod dma_rate;
mod goodput;
mod null_card;
mod rates;
mod system_isolation;
mod system_starved;
