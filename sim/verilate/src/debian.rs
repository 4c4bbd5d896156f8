//! Debian's packages, unpacked into the tool folder: what a wheel lacks, without root.
//!
//! ```text
//!   apt-get update, download ──► dpkg-deb -x ──► .tools/NAME/root/usr/lib/x86_64-linux-gnu/...
//!   lists and archives of this folder alone
//! ```
//! The packages are those of the machine's own release, so they fit its C library. Their versions
//! are the release's: what is pinned comes as a wheel.
//!
//! Invariants
//! 1. Nothing of the system changes, and nothing needs root: apt's lists, archives and locks are in
//!    the tool folder; the system's list of sources is read.
//! 2. Installed once, as the wheels (`toolchain.rs`): a lock, and a marker written last.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::{install_step, say, tool_lock, workspace_folder, ToolError};

/// The folder into which these packages are unpacked, as `name` in the tool folder. Dependencies
/// are not followed.
pub(crate) fn ensure_packages(name: &str, packages: &[&str]) -> Result<PathBuf, ToolError> {
    let tools = workspace_folder("ZERONIC_TOOLS", ".tools");
    let folder = tools.join(name);
    let (root, marker) = (folder.join("root"), folder.join("installed"));
    if marker.is_file() {
        return Ok(root);
    }
    let _lock = tool_lock(tools.join(format!("{name}.lock")))?;
    if marker.is_file() {
        return Ok(root);
    }
    let tool = packages.join(", ");
    say(format_args!("unpacking {tool} into {}", folder.display()));
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |reason| ToolError::Folder { path, reason }
    };
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed(&folder))?;
    }
    for part in ["lists/partial", "archives/partial", "root"] {
        let part = folder.join(part);
        fs::create_dir_all(&part).map_err(failed(&part))?;
    }
    let mut update = apt(&folder);
    update.arg("update");
    install_step(&tool, update, "apt-get update")?;
    let mut download = apt(&folder);
    download.arg("download").args(packages).current_dir(folder.join("archives"));
    install_step(&tool, download, "apt-get download")?;
    let archives = folder.join("archives");
    for entry in fs::read_dir(&archives).map_err(failed(&archives))?.flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "deb") {
            let mut unpack = Command::new("dpkg-deb");
            unpack.arg("-x").arg(entry.path()).arg(&root);
            install_step(&tool, unpack, "dpkg-deb -x")?;
        }
    }
    fs::write(&marker, &tool).map_err(failed(&marker))?;
    Ok(root)
}

/// `apt-get` that writes into this folder alone, as whoever calls it.
fn apt(folder: &Path) -> Command {
    let mut command = Command::new("apt-get");
    command.arg("-qq").args(["-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=1"]);
    let folders =
        [("Dir::State::Lists", "lists"), ("Dir::Cache::Archives", "archives"), ("Dir::Cache", ".")];
    for (option, place) in folders {
        command.arg("-o").arg(format!("{option}={}", folder.join(place).display()));
    }
    command
}

/// The folders of `root` in which Debian keeps libraries.
pub(crate) fn library_folders(root: &Path) -> Vec<PathBuf> {
    let triples = ["usr/lib", "lib"].map(|folder| fs::read_dir(root.join(folder)));
    let entries = triples.into_iter().flatten().flatten().flatten();
    let mut found: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use skip::{skip, Need};

    #[test]
    fn packages_are_unpacked_without_root() {
        let packages = ["libusb-1.0-0"];
        let root = match ensure_packages("debian-test", &packages) {
            Ok(root) => root,
            Err(error) => return skip(Need::Packages, error),
        };
        let folders = library_folders(&root);
        let library = |folder: &PathBuf| folder.join("libusb-1.0.so.0").exists();
        assert!(folders.iter().any(library), "{folders:?}");
        // A second call finds the first one's.
        assert_eq!(ensure_packages("debian-test", &packages).expect("is there"), root);
    }

    #[test]
    fn missing_package_is_named() {
        let error = ensure_packages("debian-none", &["zeronic-no-such-package"]).expect_err("none");
        match error {
            ToolError::Start { .. } => skip(Need::Packages, error),
            _ => assert!(error.to_string().contains("zeronic-no-such-package"), "{error}"),
        }
    }
}
