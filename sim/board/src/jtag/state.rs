//! The sixteen states of a TAP. Source: IEEE 1149.1.

/// A state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Reset,
    Idle,
    SelectDr,
    CaptureDr,
    ShiftDr,
    Exit1Dr,
    PauseDr,
    Exit2Dr,
    UpdateDr,
    SelectIr,
    CaptureIr,
    ShiftIr,
    Exit1Ir,
    PauseIr,
    Exit2Ir,
    UpdateIr,
}

impl State {
    /// The state behind a clock with TMS.
    pub fn next(self, tms: bool) -> Self {
        use State::*;
        let (low, high) = match self {
            Reset => (Idle, Reset),
            Idle | UpdateDr | UpdateIr => (Idle, SelectDr),
            SelectDr => (CaptureDr, SelectIr),
            CaptureDr | ShiftDr => (ShiftDr, Exit1Dr),
            Exit1Dr => (PauseDr, UpdateDr),
            PauseDr => (PauseDr, Exit2Dr),
            Exit2Dr => (ShiftDr, UpdateDr),
            SelectIr => (CaptureIr, Reset),
            CaptureIr | ShiftIr => (ShiftIr, Exit1Ir),
            Exit1Ir => (PauseIr, UpdateIr),
            PauseIr => (PauseIr, Exit2Ir),
            Exit2Ir => (ShiftIr, UpdateIr),
        };
        if tms {
            high
        } else {
            low
        }
    }
}
