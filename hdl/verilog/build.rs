//! Gathers the documentation of each block from the Rust sources, for headers and `explain`.
//!
//! ```text
//!   hdl/**/src/*.rs ──► struct, file, line, doc, fields, kernel targets ──► OUT_DIR/blocks.rs
//! ```

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sources::item::{Body, Field, File, Item};

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by Cargo")).join("..");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut out = String::from("pub(crate) const BLOCKS: &[BlockSource] = &[\n");
    for file in sources::files(&root, ".rs").expect("the sources are readable") {
        let is_source = file.components().any(|part| part.as_os_str() == "src");
        if !is_source || file.starts_with("verilog") {
            continue;
        }
        let text = fs::read_to_string(root.join(&file)).expect("a source is readable");
        // What is no Rust is the compiler's to refuse.
        let Ok(source) = File::new(&text) else { continue };
        let name = format!("hdl/{}", file.display());
        for item in source.items() {
            let is_one = |derived: &String| derived == "LogicBlock" || derived == "LogicInterface";
            if let (Body::Fields(fields), true) = (&item.body, item.derives.iter().any(is_one)) {
                print(&mut out, &name, &source, &item, fields);
            }
        }
    }
    out.push_str("];\n");
    let target = PathBuf::from(env::var("OUT_DIR").expect("set by Cargo")).join("blocks.rs");
    fs::write(target, out).expect("the build folder is writable");
}

fn print(out: &mut String, file: &str, source: &File, item: &Item, fields: &[Field]) {
    let fields: Vec<&Field> = fields.iter().filter(|field| !field.name.starts_with('_')).collect();
    let kept = fields.iter().filter(|field| field.attributes.iter().any(|name| name == "keep"));
    let kept: Vec<&str> = kept.map(|field| field.name.as_str()).collect();
    let fields: Vec<String> =
        fields.iter().map(|f| format!("({:?}, {:?}, {:?})", f.name, f.kind, f.doc)).collect();
    writeln!(
        out,
        "BlockSource {{ name: {:?}, file: {file:?}, line: {}, head: {:?}, doc: {:?}, \
         keeps_hierarchy: {}, kept: &{kept:?}, fields: &[{}], body: {:?} }},",
        item.name,
        item.line,
        source.head(),
        item.doc,
        item.attributes.iter().any(|name| name == "keep_hierarchy"),
        fields.join(", "),
        implementation(source, &item.name)
    )
    .expect("a String takes all text");
}

/// The body of `impl Logic for NAME`, without spaces.
fn implementation(source: &File, name: &str) -> String {
    let mut body = String::new();
    for line in source.implementation("Logic", name).unwrap_or_default() {
        let line = line.replace("\\\"", "\"");
        body.extend(line.chars().filter(|c| !c.is_whitespace()));
        body.push('\n');
    }
    body
}
