//! What the user of a design may choose when it is built.

/// What a build may choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Compile in the recording of waveforms; slower to build and to run.
    pub trace: bool,
}
