//! All modules of a design: each distinct block once, named after its type.

use std::collections::BTreeMap;

use rust_hdl_core::prelude::{Block, Verilog};

use crate::error::{EmitError, Reason};
use crate::explain::{self, UnknownName};
use crate::header;
use crate::module::{self, Body};
use crate::module_names::{differing, shared, ModuleNames};
use crate::names::snake_case;
use crate::source::{self, BlockSource};
use crate::table::register_initial;
use crate::text;
use crate::tree::Node;

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name; the file is called the same.
    pub name: String,
    /// Header and definition.
    pub text: String,
}

/// Where a signal comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The module that holds it.
    pub module: String,
    /// Instances below the top that lead there, joined by `/`.
    pub path: String,
    /// The Rust type of the block, if its source is known.
    pub block: Option<&'static str>,
    /// The block's source file, from the root of the repository.
    pub file: Option<&'static str>,
    /// Line of the struct in that file.
    pub line: Option<usize>,
    /// Path of the field in the block, parts joined by `.`; None for the block itself.
    pub field: Option<String>,
    /// The bit of the field, if the name selects one.
    pub bit: Option<usize>,
}

/// Modules, the ones below before the ones above, the top last.
#[derive(Clone, Debug)]
pub struct Design {
    /// The modules.
    pub modules: Vec<Module>,
    /// Declarations of what comes from elsewhere: vendor cores.
    pub externals: Vec<String>,
    top: usize,
    definitions: Vec<Definition>,
}

#[derive(Clone, Debug)]
struct Definition {
    source: Option<&'static BlockSource>,
    /// Name of a vendor core, which needs no text of ours.
    fixed_name: Option<String>,
    /// The instance that came first, its field name.
    first_instance: String,
    /// Header and body with marks for module names.
    text: String,
    /// The module without comments, with marks for module names.
    code: String,
    /// Digest of the code, in which the digests of the children replace the marks.
    digest: u64,
    /// Widths of the ports.
    widths: Vec<usize>,
    fields: BTreeMap<String, String>,
    scopes: Vec<String>,
    instances: BTreeMap<String, usize>,
}

/// Stands for the module's own name.
const OWN: &str = "\u{1}";

fn mark(definition: usize) -> String {
    format!("\u{2}{definition}\u{3}")
}

pub(crate) fn build(block: &dyn Block, called: ModuleNames<'_>) -> Result<Design, EmitError> {
    let mut builder = Builder::default();
    let empty = || EmitError {
        block: called.top.to_owned(),
        place: called.top.to_owned(),
        reason: Reason::UnknownName,
    };
    let root = Node::of(block, called.top).ok_or_else(empty)?;
    let top = builder.definition(&root, called.top)?;
    Ok(builder.finish(top, called))
}

#[derive(Default)]
struct Builder {
    definitions: Vec<Definition>,
    by_code: BTreeMap<(String, String, String), usize>,
    externals: Vec<String>,
}

impl Builder {
    fn definition(&mut self, node: &Node, path: &str) -> Result<usize, EmitError> {
        let mut children = Vec::new();
        for child in &node.children {
            let is_register = register_initial(child).is_some();
            let is_text = matches!(node.code, Verilog::Custom(_) | Verilog::Wrapper(_));
            children.push(if is_register || is_text {
                0
            } else {
                self.definition(child, &format!("{path}/{}", child.name.replace('$', "_")))?
            });
        }
        if let Verilog::Blackbox(core) = &node.code {
            self.external(&core.code);
            return Ok(self.add(Definition::fixed(&core.name, &node.name)));
        }
        if let Verilog::Wrapper(wrapper) = &node.code {
            self.external(&wrapper.cores);
        }
        let marks: Vec<String> = children.iter().map(|child| mark(*child)).collect();
        let source = source::find(node);
        let kept = source.map_or(&[][..], |source| source.kept);
        let body = match &node.code {
            Verilog::Custom(_) | Verilog::Wrapper(_) => text::body(node),
            _ => module::body(node, &marks, kept),
        };
        let body =
            body.map_err(|(place, reason)| EmitError { block: path.to_owned(), place, reason })?;
        Ok(self.add(self.of(node, source, &body, &children)))
    }

    fn external(&mut self, text: &str) {
        let text = text.trim().to_owned();
        if !text.is_empty() && !self.externals.contains(&text) {
            self.externals.push(text);
        }
    }

    /// The module of a node.
    fn of(
        &self,
        node: &Node,
        source: Option<&'static BlockSource>,
        body: &Body,
        children: &[usize],
    ) -> Definition {
        let module = header::module(OWN, source, body);
        let code = code(&module);
        let instances = body.instances.iter();
        let instances: BTreeMap<String, usize> =
            instances.map(|(name, child)| (name.clone(), children[*child])).collect();
        let mut digested = source.map_or("", |source| source.file).to_owned() + &code;
        for child in instances.values() {
            let digest = self.definitions[*child].digest;
            digested = digested.replace(&mark(*child), &format!("{digest:016x}"));
        }
        let mut lines = header::comment(source, body);
        lines.extend(module);
        Definition {
            source,
            fixed_name: None,
            first_instance: node.name.clone(),
            text: lines.join("\n") + "\n",
            code,
            digest: digest(&digested),
            widths: body.ports.iter().map(|port| port.width).collect(),
            fields: body.fields.clone(),
            scopes: body.scopes.clone(),
            instances,
        }
    }

    fn add(&mut self, definition: Definition) -> usize {
        let next = self.definitions.len();
        let index = *self.by_code.entry(definition.key()).or_insert(next);
        if index == next {
            self.definitions.push(definition);
        }
        index
    }

    fn finish(self, top: usize, called: ModuleNames<'_>) -> Design {
        let names = self.names(top, called);
        let with_names = |index: usize, text: &str| {
            let mut text = text.replace(OWN, &names[index]);
            for child in self.definitions[index].instances.values() {
                text = text.replace(&mark(*child), &names[*child]);
            }
            text
        };
        let modules = self.definitions.iter().enumerate();
        let modules = modules
            .filter(|(_, definition)| definition.fixed_name.is_none())
            .map(|(index, definition)| Module {
                name: names[index].clone(),
                text: with_names(index, &definition.text),
            })
            .collect();
        let mut definitions = self.definitions.clone();
        for (definition, name) in definitions.iter_mut().zip(&names) {
            definition.fixed_name = Some(name.clone());
        }
        Design { modules, externals: self.externals, top, definitions }
    }

    /// The type's name; where several definitions share it, with the widths in which they differ;
    /// then with the first instance's name; then with a digest of the code.
    fn names(&self, top: usize, called: ModuleNames<'_>) -> Vec<String> {
        let definitions = self.definitions.iter().enumerate();
        let fixed = definitions.map(|(index, definition)| match index == top {
            true => Some(called.top.to_owned()),
            false => definition.own_name(called.own),
        });
        let fixed: Vec<Option<String>> = fixed.collect();
        let stems = self.definitions.iter().zip(&fixed);
        let stems = stems.map(|(definition, fixed)| match fixed {
            Some(name) => name.clone(),
            None => called.prefix.to_owned() + &definition.stem(),
        });
        let mut names: Vec<String> = stems.collect();
        let is_fixed = |index: usize| fixed[index].is_some();
        let more: [fn(&Definition, &[usize]) -> String; 3] = [
            |definition, columns| {
                let widths = columns.iter().map(|column| definition.widths[*column]);
                widths.map(|width| format!("_{width}")).collect()
            },
            |definition, _| format!("_{}", definition.first_instance.replace('$', "_")),
            |definition, _| format!("_{:06x}", definition.digest & 0xff_ffff),
        ];
        for suffix in more {
            for owners in shared(&names) {
                let widths: Vec<&[usize]> =
                    owners.iter().map(|owner| self.definitions[*owner].widths.as_slice()).collect();
                let columns = differing(&widths);
                for owner in owners.into_iter().filter(|owner| !is_fixed(*owner)) {
                    let suffix = suffix(&self.definitions[owner], &columns);
                    names[owner].push_str(&suffix);
                }
            }
        }
        names
    }
}

/// FNV-1a: short, stable, no dependency.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// The lines without comments and blanks at their ends, and without blank lines.
fn code(lines: &[String]) -> String {
    let lines = lines.iter().flat_map(|line| line.lines());
    let lines = lines.map(|line| without_comment(line).trim_end());
    let lines = lines.filter(|line| !line.is_empty());
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The line up to its `//`, if one stands outside of quotation marks.
fn without_comment(line: &str) -> &str {
    let is_comment = |at: &usize| line[..*at].matches('"').count().is_multiple_of(2);
    let mut places = line.match_indices("//").map(|(at, _)| at);
    places.find(is_comment).map_or(line, |at| &line[..at])
}

impl Definition {
    fn fixed(name: &str, instance: &str) -> Definition {
        Definition {
            source: None,
            fixed_name: Some(name.to_owned()),
            first_instance: instance.to_owned(),
            text: String::new(),
            code: String::new(),
            digest: digest(name),
            widths: Vec::new(),
            fields: BTreeMap::new(),
            scopes: Vec::new(),
            instances: BTreeMap::new(),
        }
    }

    /// Equal for definitions that are one module: the same code of the same block, whatever its
    /// comments.
    fn key(&self) -> (String, String, String) {
        let file = self.source.map_or("", |source| source.file);
        (self.stem_of_type(), file.to_owned(), self.code.clone())
    }

    fn stem_of_type(&self) -> String {
        match (&self.fixed_name, self.source) {
            (Some(name), _) => name.clone(),
            (None, Some(source)) => snake_case(source.name),
            (None, None) => String::new(),
        }
    }

    fn stem(&self) -> String {
        match (&self.fixed_name, self.source) {
            (None, None) => self.first_instance.replace('$', "_"),
            _ => self.stem_of_type(),
        }
    }

    /// The name that does not follow from the type: a vendor core's, or one of `own`.
    fn own_name(&self, own: &[(&str, &str)]) -> Option<String> {
        let of_type = |source: &BlockSource| {
            let found = own.iter().find(|(kind, _)| *kind == source.name);
            found.map(|(_, module)| (*module).to_owned())
        };
        self.fixed_name.clone().or_else(|| self.source.and_then(of_type))
    }

    fn module(&self) -> String {
        self.fixed_name.clone().unwrap_or_default()
    }
}

const OPENING: &str = "`default_nettype none\n";
const CLOSING: &str = "`default_nettype wire\n";

impl Design {
    /// Name of the top module.
    pub fn top_name(&self) -> String {
        self.definitions[self.top].module()
    }

    /// Names and texts of all modules, those below a module before it.
    pub fn texts(&self) -> Vec<(String, String)> {
        let modules = self.modules.iter();
        modules.map(|m| (m.name.clone(), m.text.clone())).collect()
    }

    /// All modules in one text.
    pub fn single_file(&self) -> String {
        let modules: Vec<&str> = self.modules.iter().map(|m| m.text.as_str()).collect();
        let mut text = format!("{OPENING}\n{}\n{CLOSING}", modules.join("\n"));
        for external in &self.externals {
            text.push_str(&format!("\n{external}\n"));
        }
        text
    }

    /// Name and text of each file: one per module, `externals.v` if there are any, and `files.f`,
    /// which lists them in the order in which tools read them.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        if !self.externals.is_empty() {
            let text = self.externals.join("\n\n") + "\n";
            files.push(("externals.v".to_owned(), text));
        }
        for module in &self.modules {
            let text = format!("{OPENING}\n{}\n{CLOSING}", module.text);
            files.push((format!("{}.v", module.name), text));
        }
        let names = files.iter().map(|(name, _)| format!("{name}\n"));
        let list = names.collect();
        files.push(("files.f".to_owned(), list));
        files
    }

    /// Which block, file and field a hierarchical name comes from.
    ///
    /// Takes names as tools print them: parts joined by `/` or `.`, the card at the top or inside a
    /// larger design, with a bit, a pin, and what a tool adds (see [`UnknownName`]'s module).
    pub fn explain(&self, path: &str) -> Result<Origin, UnknownName> {
        let parts = explain::parts(path);
        let mut best = self.follow(&parts);
        for above in 1..parts.len() {
            if best.is_ok() {
                break;
            }
            // What is above the card in a larger design is not ours to know. The start that leads
            // furthest explains best what is wrong.
            let next = self.follow(&parts[above..]);
            let depth = |found: &Result<Origin, UnknownName>| match found {
                Ok(_) => usize::MAX,
                Err(error) => error.path.len(),
            };
            if depth(&next) > depth(&best) {
                best = next;
            }
        }
        best
    }

    fn follow(&self, parts: &[&str]) -> Result<Origin, UnknownName> {
        let mut at = self.top;
        let mut path = Vec::new();
        let mut parts = match parts {
            [first, rest @ ..] if *first == self.top_name() => rest,
            all => all,
        };
        while let [part, rest @ ..] = parts {
            let Some(definition) = self.definitions[at].instances.get(*part) else {
                break;
            };
            (at, parts) = (*definition, rest);
            path.push(*part);
        }
        let definition = &self.definitions[at];
        if let [scope, rest @ ..] = parts {
            if definition.has_scope(scope) {
                parts = rest;
            }
        }
        let unknown = |part: &str| {
            let known = definition.instances.keys().chain(definition.fields.keys());
            UnknownName {
                module: definition.module(),
                path: path.join("/"),
                part: part.to_owned(),
                near: explain::near(part, known),
            }
        };
        let (field, bit) = match parts {
            [] => (None, None),
            [signal, pin @ ..] => {
                let field = definition.field(signal).ok_or_else(|| unknown(signal))?;
                match pin {
                    [] => {}
                    [pin] if explain::is_pin(pin) => {}
                    [other, ..] => return Err(unknown(other)),
                }
                (Some(field), explain::bit(signal))
            }
        };
        Ok(Origin {
            module: definition.module(),
            path: path.join("/"),
            block: definition.source.map(|source| source.name),
            file: definition.source.map(|source| source.file),
            line: definition.source.map(|source| source.line),
            field,
            bit,
        })
    }
}

impl Definition {
    /// `label[3]`: an iteration of one of its `generate` loops.
    fn has_scope(&self, part: &str) -> bool {
        let iteration = part.split_once('[');
        iteration.is_some_and(|(label, _)| self.scopes.iter().any(|scope| scope == label))
    }

    fn field(&self, signal: &str) -> Option<String> {
        let stems = explain::stems(signal);
        let mut found = stems.iter().filter_map(|stem| self.fields.get(stem));
        found.next().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of a top and of two modules that only a digest tells apart.
    fn names(texts: [&str; 2]) -> Vec<String> {
        let definition = |text: &str| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let code = code(&lines);
            Definition {
                digest: digest(&code),
                code,
                fixed_name: None,
                ..Definition::fixed("", "lane")
            }
        };
        let mut builder = Builder::default();
        let top = builder.add(Definition::fixed("card", "card"));
        for text in texts {
            builder.add(definition(text));
        }
        builder.names(top, ModuleNames::plain("card"))
    }

    #[test]
    fn comments_and_blanks_change_no_name() {
        let plain = names(["reg a;\ninitial a = \"//\";\n", "reg b;\n"]);
        assert_eq!(plain.len(), 3);
        assert!(plain[1].starts_with("lane_") && plain[2].starts_with("lane_"));
        assert_ne!(plain[1], plain[2]);
        let commented = "// Lane: lane.rs:7\n\nreg a; // kept\ninitial a = \"//\"; // \"\n\n";
        assert_eq!(names([commented, "//\nreg b;\n// The end."]), plain);
        assert_ne!(names(["reg a;\ninitial a = \"/\";\n", "reg b;\n"]), plain);
    }

    #[test]
    fn prefix_precedes_all_but_tops_and_cores() {
        let mut builder = Builder::default();
        let top = builder.add(Definition::fixed("card", "card"));
        for core in ["CORE", "lane"] {
            builder.add(Definition::fixed(core, "inside"));
        }
        builder.definitions[2].fixed_name = None;
        let called = ModuleNames { prefix: "our_", ..ModuleNames::plain("our_inside") };
        let names = builder.names(top, called);
        // The block that would be called as the top is told from it.
        assert_eq!(names, ["our_inside", "CORE", "our_inside_inside"]);
    }

    #[test]
    fn comment_differences_share_one_module() {
        assert_eq!(names(["reg a; // first\n", "// second\n\nreg a;\n"]).len(), 2);
    }
}
