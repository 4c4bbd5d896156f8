//! Where the workspace lies.

use std::path::Path;

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("this package lies in a folder of the workspace")
}
