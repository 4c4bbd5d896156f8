//! Finds every block in the sources and writes how to make and to drive each.
//!
//! ```text
//!   hdl/**/src/*.rs ──> structs that derive LogicBlock, LogicStruct, LogicState ──> OUT_DIR
//!                        block   ──> an entry: how to make it; each `pub` field is driven
//!                        struct  ──> a random value of each field
//!                        enum    ──> a random variant
//! ```
//! Blocks with parameters, and those that `new` makes, are in `sizes.rs`; one that is not there is
//! listed as missing, and a test fails with its name. The vendor's blocks, and those around them,
//! are left out: `sizes.rs` names them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

mod sizes;

use sources::item::{Body, Field, File, Item, Parameter};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("set by Cargo");
    let root = Path::new(&manifest).join("../..");
    println!("cargo:rerun-if-changed={}", root.join("hdl").display());
    println!("cargo:rerun-if-changed={}", root.join("Cargo.toml").display());
    for file in ["build.rs", "sizes.rs"] {
        println!("cargo:rerun-if-changed={file}");
    }
    let mut found = Vec::new();
    for folder in hardware_crates(&root) {
        let name = package(&root.join(&folder));
        let source = root.join(&folder).join("src");
        for inside in sources::files(&source, ".rs").expect("the sources are readable") {
            let text = fs::read_to_string(source.join(&inside)).expect("a source is readable");
            // What is no Rust is the compiler's to refuse.
            let Ok(file) = File::new(&text) else { continue };
            let place = format!("{folder}/src/{}", inside.display());
            let module = module(&source, &name, &inside);
            for item in file.items().into_iter().filter(|item| item.is_public) {
                found.push((module.clone(), place.clone(), item));
            }
        }
    }
    let target = PathBuf::from(env::var("OUT_DIR").expect("set by Cargo")).join("blocks.rs");
    fs::write(target, generate(&found)).expect("the build folder is writable");
}

/// Folders of the workspace's members below `hdl`, in its order. A block in a crate that this
/// package does not depend on fails its build: none is left out silently.
fn hardware_crates(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("Cargo.toml")).expect("the workspace is readable");
    let members = text.split("members = [").nth(1).expect("a list of members");
    let members = members.split(']').next().unwrap_or(members);
    let names = members.split('"').skip(1).step_by(2).map(str::to_owned);
    let found: Vec<String> =
        names.filter(|name| name == "hdl" || name.starts_with("hdl/")).collect();
    assert!(!found.is_empty(), "the workspace has members below hdl");
    found
}

/// Name of the package in a folder.
fn package(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a package is readable");
    let name = text.lines().find_map(|line| line.strip_prefix("name = "));
    name.expect("a package has a name").trim_matches('"').to_owned()
}

/// The module of a file as others name it; a private module's blocks are named by the crate.
fn module(source: &Path, name: &str, file: &Path) -> String {
    let mut module = name.to_owned();
    let mut folder = source.to_owned();
    for part in file.with_extension("").components() {
        let part = part.as_os_str().to_string_lossy().into_owned();
        if part == "lib" {
            break;
        }
        let above = match folder == source {
            true => folder.join("lib.rs"),
            false => folder.with_extension("rs"),
        };
        let text = fs::read_to_string(above).unwrap_or_default();
        if !text.contains(&format!("pub mod {part};")) {
            break;
        }
        module.push_str("::");
        module.push_str(&part);
        folder.push(part);
    }
    module
}

fn generate(found: &[(String, String, Item)]) -> String {
    let mut entries = String::new();
    let mut drivers = String::new();
    let mut missing = String::new();
    let is_inside = |item: &Item| !sizes::OUTSIDE.contains(&item.name.as_str());
    for (module, file, item) in found.iter().filter(|(_, _, item)| is_inside(item)) {
        let path = format!("{module}::{}", item.name);
        let derives = |name: &str| item.derives.iter().any(|derived| derived == name);
        let mut implement =
            |body: &str| implement(&mut drivers, &item.parameters, "Drive", &path, body);
        match &item.body {
            Body::Fields(fields) if derives("LogicBlock") => {
                implement(&drive(fields.iter().filter(|field| field.is_public)));
                match sizes::make_call(&item.name, &item.parameters, has_default(item)) {
                    Some((arguments, call)) => put(
                        &mut entries,
                        &format!(
                            "Entry {{ name: {path:?}, sizes: {arguments:?}, file: {file:?}, \
                             line: {}, make: || Box::new({path}{arguments}::{call}) }},\n",
                            item.line
                        ),
                    ),
                    None => put(&mut missing, &format!("{path:?},\n")),
                }
            }
            Body::Fields(fields) if derives("LogicStruct") || derives("LogicInterface") => {
                implement(&drive(fields.iter()));
            }
            Body::Variants(variants) if derives("LogicState") => {
                let choices: Vec<String> =
                    variants.iter().map(|v| format!("{path}::{v}")).collect();
                implement(&format!("*self = stimulus.choose(&[{}]);", choices.join(", ")));
            }
            _ => {}
        }
    }
    format!(
        "/// Every block that can be made.\n\
         pub static BLOCKS: &[Entry] = &[\n{entries}];\n\
         /// Blocks for which `sizes.rs` has no entry.\n\
         pub const MISSING: &[&str] = &[\n{missing}];\n{drivers}"
    )
}

/// Derived, also by `BlockDefault` of a block without arguments, or written.
fn has_default(item: &Item) -> bool {
    let is_derived = item.derives.iter().any(|name| name == "Default" || name == "BlockDefault");
    let has_arguments = item.attributes.iter().any(|name| name == "new");
    is_derived && !has_arguments || item.writes_default
}

/// Statements that drive fields; a reset is mostly kept low.
fn drive<'a>(fields: impl Iterator<Item = &'a Field>) -> String {
    let statements = fields.map(|Field { name, .. }| {
        let method = if name.ends_with("reset") { "drive_rarely" } else { "drive" };
        format!("self.{name}.{method}(stimulus);")
    });
    statements.collect()
}

fn implement(out: &mut String, parameters: &[Parameter], what: &str, path: &str, body: &str) {
    let bounds: Vec<String> = parameters
        .iter()
        .map(|parameter| match parameter.is_const {
            true => format!("const {}: usize", parameter.name),
            false => format!("{}: Synth + Drive", parameter.name),
        })
        .collect();
    let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    let angle = |parts: String| match parts.is_empty() {
        true => parts,
        false => format!("<{parts}>"),
    };
    put(
        out,
        &format!(
            "impl{} {what} for {path}{} {{\n\
             fn drive(&mut self, stimulus: &mut Stimulus) {{ {body} }}\n}}\n",
            angle(bounds.join(", ")),
            angle(names.join(", ")),
        ),
    );
}

fn put(out: &mut String, text: &str) {
    out.write_str(text).expect("a String takes all text");
}
