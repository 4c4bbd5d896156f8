//! Gathers the documentation of each block from the Rust sources, for headers and `explain`.
//!
//! ```text
//!   hdl/**/src/*.rs ──► struct, file, line, doc, fields, kernel targets ──► OUT_DIR/blocks.rs
//! ```

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

struct Field {
    name: String,
    kind: String,
    doc: String,
    is_kept: bool,
}

struct Struct {
    name: String,
    line: usize,
    doc: String,
    keeps_hierarchy: bool,
    fields: Vec<Field>,
}

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by Cargo")).join("..");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    gather(&root, &mut files);
    files.sort();
    let mut out = String::from("pub(crate) const BLOCKS: &[BlockSource] = &[\n");
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let name = file.strip_prefix(&root).unwrap_or(&file);
        let name = format!("hdl/{}", name.display());
        let head = paragraph(text.lines().map_while(|line| line.strip_prefix("//!")));
        for block in structs(&text) {
            print(&mut out, &name, &head, &block, &implementation(&text, &block.name));
        }
    }
    out.push_str("];\n");
    let target = PathBuf::from(env::var("OUT_DIR").expect("set by Cargo")).join("blocks.rs");
    fs::write(target, out).expect("the build folder is writable");
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_source = path.components().any(|part| part.as_os_str() == "src");
        if path.is_dir() && !path.ends_with("verilog") {
            gather(&path, files);
        } else if is_source && path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

fn print(out: &mut String, file: &str, head: &str, block: &Struct, body: &str) {
    let fields: Vec<String> =
        block.fields.iter().map(|f| format!("({:?}, {:?}, {:?})", f.name, f.kind, f.doc)).collect();
    let kept = block.fields.iter().filter(|field| field.is_kept);
    let kept: Vec<&str> = kept.map(|field| field.name.as_str()).collect();
    writeln!(
        out,
        "BlockSource {{ name: {:?}, file: {file:?}, line: {}, head: {head:?}, doc: {:?}, \
         keeps_hierarchy: {}, kept: &{kept:?}, fields: &[{}], body: {body:?} }},",
        block.name,
        block.line,
        block.doc,
        block.keeps_hierarchy,
        fields.join(", ")
    )
    .expect("a String takes all text");
}

/// The first paragraph as one line.
fn paragraph<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    lines.join(" ")
}

/// The structs with named fields that derive a block or a bundle.
fn structs(text: &str) -> Vec<Struct> {
    let lines: Vec<&str> = lines(text).collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line
            .trim_start()
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub ")
            .strip_prefix("struct ")
        else {
            continue;
        };
        let above = above(&lines, index);
        let derives =
            above.iter().any(|line| line.contains("LogicBlock") || line.contains("LogicInterface"));
        if !derives {
            continue;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        found.push(Struct {
            name: rest[..end.unwrap_or(rest.len())].to_owned(),
            line: index + 1,
            doc: doc(&above),
            keeps_hierarchy: above.contains(&"#[keep_hierarchy]"),
            fields: fields(&lines[index + 1..]),
        });
    }
    found
}

/// The lines of a text; an attribute is on its first line, and `#` stands for its further ones.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.lines().map(move |line| {
        let goes_on = depth > 0;
        if goes_on || line.trim_start().starts_with("#[") {
            depth += line.matches(['[', '(', '{']).count() as i32;
            depth -= line.matches([']', ')', '}']).count() as i32;
        }
        match goes_on {
            true => "#",
            false => line,
        }
    })
}

/// Attributes and documentation directly above a line.
fn above<'a>(lines: &[&'a str], index: usize) -> Vec<&'a str> {
    let mut above: Vec<&str> = lines[..index]
        .iter()
        .rev()
        .map(|line| line.trim())
        .take_while(|line| line.starts_with("///") || line.starts_with('#'))
        .collect();
    above.reverse();
    above
}

fn doc(above: &[&str]) -> String {
    paragraph(above.iter().filter_map(|line| line.strip_prefix("///")))
}

fn fields(lines: &[&str]) -> Vec<Field> {
    let mut fields = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim();
        if line.starts_with('}') {
            break;
        }
        let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        let Some((name, kind)) = line.split_once(':') else {
            continue;
        };
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && !name.starts_with('_') {
            let above = above(lines, index);
            fields.push(Field {
                name: name.to_owned(),
                kind: kind.trim().trim_end_matches(',').to_owned(),
                doc: doc(&above),
                is_kept: above.contains(&"#[keep]"),
            });
        }
    }
    fields
}

/// The body of `impl Logic for NAME`, without spaces.
fn implementation(text: &str, name: &str) -> String {
    let mut body = String::new();
    let mut inside = false;
    for line in text.lines() {
        let after = line.split_once("Logic for ").map(|(_, after)| after);
        let starts = line.trim_start().starts_with("impl")
            && after.is_some_and(|after| {
                let end = after.find(|c: char| !c.is_alphanumeric() && c != '_');
                &after[..end.unwrap_or(after.len())] == name
            });
        inside |= starts;
        if inside {
            let line = line.replace("\\\"", "\"");
            body.extend(line.chars().filter(|c| !c.is_whitespace()));
            body.push('\n');
            if line.starts_with('}') {
                break;
            }
        }
    }
    body
}
