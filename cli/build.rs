//! Tells the program by which compiler and in which profile it was built: counts of instructions
//! hold for those alone.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let output = Command::new(variable("RUSTC")).arg("--version").output();
    // "rustc 1.95.0 (59807616e 2026-04-14)"
    let said =
        output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = said.split_whitespace().nth(1).unwrap_or("unknown");
    println!("cargo:rustc-env=ZERONIC_RUSTC={version}");
    println!("cargo:rustc-env=ZERONIC_PROFILE={}", variable("PROFILE"));
}
