//! The MAC's signals beside its streams: alignment, faults, resets, pause.
//!
//! ```text
//!   WireState ──> [MacPins] ──> stat_rx_*, usr_*_reset, tx_ovfout, tx_unfout
//!                           <── ctl_tx_pause_req
//! ```
//! Source: PG203 (CMAC UltraScale+), status, reset and pause signals.

use verilate::verilated::{Model, PortId};

/// Bit of the pause ports that stands for all priorities (802.3x).
const PAUSE_ALL: u64 = 1 << 8;

/// What the MAC tells the card beside the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireState {
    /// The receiver is aligned.
    pub aligned: bool,
    /// The receiver decodes nothing.
    pub local_fault: bool,
    /// The other end decodes nothing.
    pub remote_fault: bool,
    /// The receive side is in reset.
    pub rx_reset: bool,
    /// The send side is in reset.
    pub tx_reset: bool,
    /// The send side has lost bytes.
    pub overflow: bool,
    /// The send side was given a gap.
    pub underflow: bool,
    /// The other end asks for a pause.
    pub paused: bool,
}

impl WireState {
    /// A cable between two ends that are well.
    pub const UP: Self = Self {
        aligned: true,
        local_fault: false,
        remote_fault: false,
        rx_reset: false,
        tx_reset: false,
        overflow: false,
        underflow: false,
        paused: false,
    };

    /// No cable.
    pub const DOWN: Self = Self { aligned: false, local_fault: true, ..Self::UP };
}

/// The ports of one MAC.
pub struct MacPins {
    aligned: PortId,
    local_fault: PortId,
    remote_fault: PortId,
    rx_reset: PortId,
    tx_reset: PortId,
    overflow: PortId,
    underflow: PortId,
    pause_asked: PortId,
    pause_given: PortId,
    driven: Option<WireState>,
}

impl MacPins {
    /// The ports of a card.
    ///
    /// # Panics
    /// If the model lacks one of them.
    pub fn new(model: &Model) -> Self {
        Self {
            aligned: model.port("stat_rx_aligned"),
            local_fault: model.port("stat_rx_local_fault"),
            remote_fault: model.port("stat_rx_remote_fault"),
            rx_reset: model.port("usr_rx_reset"),
            tx_reset: model.port("usr_tx_reset"),
            overflow: model.port("tx_ovfout"),
            underflow: model.port("tx_unfout"),
            pause_asked: model.port("stat_rx_pause_req"),
            pause_given: model.port("ctl_tx_pause_req"),
            driven: None,
        }
    }

    /// After the rising edge of the MAC's clock: drives what has changed.
    pub fn drive(&mut self, model: &mut Model, state: &WireState) {
        if self.driven.as_ref() == Some(state) {
            return;
        }
        self.driven = Some(*state);
        for (port, is_high) in [
            (self.aligned, state.aligned),
            (self.local_fault, state.local_fault),
            (self.remote_fault, state.remote_fault),
            (self.rx_reset, state.rx_reset),
            (self.tx_reset, state.tx_reset),
            (self.overflow, state.overflow),
            (self.underflow, state.underflow),
        ] {
            model.set(port, u64::from(is_high));
        }
        let paused = if state.paused { PAUSE_ALL } else { 0 };
        model.set(self.pause_asked, paused);
    }

    /// Whether the card asks the other end to pause.
    pub fn asks_pause(&self, model: &Model) -> bool {
        model.get(self.pause_given) & PAUSE_ALL != 0
    }
}
