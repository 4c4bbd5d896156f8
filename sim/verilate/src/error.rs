//! Why a model could not be made from Verilog.

use std::path::PathBuf;

use crate::toolchain::ToolError;

/// Why a design could not be built or loaded.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No Verilator.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The cache cannot be read or written.
    #[error("{path}: {reason}")]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// Verilator refused the text.
    #[error("Verilator refused {top} (kept in {path}):\n{message}")]
    Translate {
        /// Top module.
        top: String,
        /// The text as given to Verilator.
        path: PathBuf,
        /// Its error lines.
        message: String,
    },
    /// The text lacks a port of the table.
    #[error("Verilator's class for {top} has no port {port}")]
    Port {
        /// Top module.
        top: String,
        /// The port's Verilog name.
        port: String,
    },
    /// The C++ compiler or linker failed.
    #[error("compiling {file} failed:\n{message}")]
    Compile {
        /// The file.
        file: String,
        /// What the compiler printed.
        message: String,
    },
    /// The library does not load.
    #[error("loading {path}: {reason}")]
    Load {
        /// The library.
        path: PathBuf,
        /// The loader's reason.
        reason: String,
    },
}
