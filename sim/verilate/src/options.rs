//! What the user of a design may choose when it is built.

/// What a build may choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Compile in the recording of waveforms; slower to build and to run.
    pub trace: bool,
    /// Compile without optimisation: built several times faster, and as much slower to run. For
    /// runs that end before an optimised model would be built.
    pub quick: bool,
}

impl Options {
    /// With waveforms.
    pub const TRACED: Options = Options { trace: true, quick: false };
    /// For few cycles.
    pub const QUICK: Options = Options { trace: false, quick: true };
}
