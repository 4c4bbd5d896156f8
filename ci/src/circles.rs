//! Circles of `use` between the files of a crate, and between its folders.
//!
//! ```text
//!   a.rs ── use crate::b::X ──► b.rs ── use crate::a::Y ──► a.rs      a finding
//!   a.rs ── mod b; pub use b::X ──► a/b.rs                            none
//! ```
//! A file points to another when its code outside tests names an item of it by a path, in a `use`
//! or in place. A parent's `mod`, and its re-export of its children, do not count. What two files
//! of a circle both need belongs in a file of its own.
//!
//! All files below a folder count as one beside what stands next to it: two folders may not use
//! each other, even by files that make no circle. The head of a folder, `a.rs` beside `a/`, is a
//! file of its own there: it may join its parts with others, which may know the parts; and what it
//! shares with its parts is no circle of folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use syn::visit::{self, Visit};

/// The files or folders of a circle, sorted.
pub type Circle = Vec<PathBuf>;

type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// All circles in the crates that `files` are the sources of; paths are relative to `root`.
pub fn find(root: &Path, files: &[PathBuf]) -> anyhow::Result<Vec<Circle>> {
    let mut crates: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in files {
        let source = file.ancestors().find(|folder| folder.ends_with("src"));
        let is_tests = file.file_name().is_some_and(|name| name == "tests.rs");
        if let (Some(source), false) = (source, is_tests) {
            let sources = crates.entry(source.to_path_buf()).or_default();
            sources.push(file.clone());
        }
    }
    let mut graph = Graph::new();
    for (source, files) in &crates {
        let modules = Modules::of(source, files);
        for file in files {
            let text = fs::read_to_string(root.join(file))
                .with_context(|| format!("cannot read {}", file.display()))?;
            let syntax = syn::parse_file(&text)
                .with_context(|| format!("cannot parse {}", file.display()))?;
            graph.insert(file.clone(), modules.named_by(file, &syntax));
        }
    }
    let mut found = circles(&graph);
    for source in crates.keys() {
        found.extend(folder_circles(&graph, source));
    }
    Ok(found)
}

/// Circles between what stands in one folder, for `source` and every folder below it. Those of
/// files alone are left out: they are circles of files.
fn folder_circles(graph: &Graph, source: &Path) -> Vec<Circle> {
    let files = || graph.keys().filter(|file| file.starts_with(source));
    let parents = files().flat_map(|file| file.ancestors().skip(1));
    let folders: BTreeSet<&Path> = parents.filter(|it| it.starts_with(source)).collect();
    let is_folder = |it: &PathBuf| folders.contains(it.as_path());
    let of_folder = |folder: &&Path| circles(&contract(graph, folder));
    let all = folders.iter().flat_map(of_folder);
    all.filter(|circle| circle.iter().any(is_folder)).collect()
}

/// The files and folders in a folder, and who uses whom there. The crate's root joins all others,
/// and is left out.
fn contract(graph: &Graph, folder: &Path) -> Graph {
    let place = |file: &Path| {
        let first = file.strip_prefix(folder).ok()?.components().next()?;
        let is_root = matches!(first.as_os_str().to_str(), Some("lib.rs" | "main.rs"));
        (!is_root).then(|| folder.join(first))
    };
    let mut contracted = Graph::new();
    for (file, others) in graph {
        let Some(own) = place(file) else { continue };
        let module = own.with_extension("");
        let is_other = |other: &PathBuf| other.with_extension("") != module;
        let used = others.iter().filter_map(|other| place(other)).filter(is_other);
        contracted.entry(own.clone()).or_default().extend(used.collect::<Vec<_>>());
    }
    contracted
}

/// The modules of a crate and the files they are in.
struct Modules {
    files: BTreeMap<Vec<String>, PathBuf>,
}

impl Modules {
    fn of(source: &Path, files: &[PathBuf]) -> Self {
        let module = |file: &PathBuf| (module_of(source, file), file.clone());
        Self { files: files.iter().map(module).collect() }
    }

    /// The files that `syntax`, the content of `file`, names.
    fn named_by(&self, file: &Path, syntax: &syn::File) -> BTreeSet<PathBuf> {
        let own = self.files.iter().find(|(_, path)| *path == file);
        let mut names = Names {
            modules: self,
            module: own.map(|(module, _)| module.clone()).unwrap_or_default(),
            file: file.to_path_buf(),
            named: BTreeSet::new(),
        };
        names.visit_file(syntax);
        names.named
    }

    /// The file of the innermost module on a path from the crate's root.
    fn file(&self, path: &[String]) -> Option<&PathBuf> {
        (0..=path.len()).rev().find_map(|count| self.files.get(&path[..count]))
    }
}

/// The path of a file's module from the crate's root.
fn module_of(source: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(source).unwrap_or(file).with_extension("");
    let parts = inside.components().map(|part| part.as_os_str().to_string_lossy());
    let mut module: Vec<String> = parts.map(|part| part.into_owned()).collect();
    if matches!(module.last().map(String::as_str), Some("lib" | "main" | "mod")) {
        module.pop();
    }
    module
}

/// Collects what a file names.
struct Names<'a> {
    modules: &'a Modules,
    module: Vec<String>,
    file: PathBuf,
    named: BTreeSet<PathBuf>,
}

impl Names<'_> {
    /// The path from the crate's root; `None` for a path into another crate.
    fn resolve(&self, path: &[String]) -> Option<Vec<String>> {
        let first = path.first()?;
        let supers = path.iter().take_while(|part| *part == "super").count();
        let (mut from, rest) = match first.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (self.module.clone(), &path[1..]),
            "super" => {
                let kept = self.module.len().saturating_sub(supers);
                (self.module[..kept].to_vec(), &path[supers..])
            }
            child => {
                let mut module = self.module.clone();
                module.push(child.to_owned());
                self.modules.files.get(&module)?;
                (self.module.clone(), path)
            }
        };
        from.extend_from_slice(rest);
        Some(from)
    }

    fn name(&mut self, path: &[String]) {
        let Some(resolved) = self.resolve(path) else { return };
        if let Some(file) = self.modules.file(&resolved) {
            if *file != self.file {
                self.named.insert(file.clone());
            }
        }
    }

    /// Names the leaves of a `use`; those below the own module are left out of a re-export.
    fn leaves(&mut self, tree: &syn::UseTree, before: &mut Vec<String>, is_exported: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.leaves(&path.tree, before, is_exported);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.leaves(tree, before, is_exported);
                }
            }
            syn::UseTree::Name(name) => self.leaf(&name.ident, before, is_exported),
            syn::UseTree::Rename(name) => self.leaf(&name.ident, before, is_exported),
            syn::UseTree::Glob(_) => self.add_exports(&before.clone(), is_exported),
        }
    }

    fn leaf(&mut self, ident: &syn::Ident, before: &[String], is_exported: bool) {
        let mut path = before.to_vec();
        path.push(ident.to_string());
        self.add_exports(&path, is_exported);
    }

    fn add_exports(&mut self, path: &[String], is_exported: bool) {
        let resolved = self.resolve(path).unwrap_or_default();
        let is_child = resolved.len() > self.module.len() && resolved.starts_with(&self.module);
        if !(is_exported && is_child) {
            self.name(path);
        }
    }
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_exported = !matches!(item.vis, syn::Visibility::Inherited);
        self.leaves(&item.tree, &mut Vec::new(), is_exported);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_none() || is_test(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if parts.len() > 1 && path.leading_colon.is_none() {
            self.name(&parts);
        }
        visit::visit_path(self, path);
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let is_test = |attribute: &syn::Attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        is_cfg && attribute.parse_args::<syn::Ident>().is_ok_and(|it| it == "test")
    };
    attributes.iter().any(is_test)
}

/// Groups of files each of which leads to all others of its group.
fn circles(graph: &Graph) -> Vec<Circle> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        graph.keys().map(|file| (file, reached_from(graph, file))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in &reached {
        if !others.contains(file) {
            continue;
        }
        let meets = |other: &&&PathBuf| reached.get(**other).is_some_and(|it| it.contains(file));
        let circle: Circle = others.iter().filter(meets).map(|it| (*it).clone()).collect();
        circles.insert(circle);
    }
    circles.into_iter().collect()
}

fn reached_from<'a>(graph: &'a Graph, file: &PathBuf) -> BTreeSet<&'a PathBuf> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&PathBuf> = graph.get(file).into_iter().flatten().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(graph.get(next).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who uses whom in a crate `a` whose files have this content.
    fn graph_of(files: &[(&str, &str)]) -> Graph {
        let paths: Vec<PathBuf> =
            files.iter().map(|(name, _)| Path::new("a/src").join(name)).collect();
        let modules = Modules::of(Path::new("a/src"), &paths);
        let mut graph = Graph::new();
        for (path, (_, text)) in paths.iter().zip(files) {
            let syntax = syn::parse_file(text).expect("Rust");
            graph.insert(path.clone(), modules.named_by(path, &syntax));
        }
        graph
    }

    fn names(circles: &[Circle]) -> Vec<String> {
        let line = |circle: &Circle| {
            let names = circle.iter().filter_map(|file| file.strip_prefix("a/src").ok());
            names.map(|name| name.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        circles.iter().map(line).collect()
    }

    /// Its circles of files.
    fn find_circles(files: &[(&str, &str)]) -> Vec<String> {
        names(&circles(&graph_of(files)))
    }

    /// Its circles of folders.
    fn found_folders(files: &[(&str, &str)]) -> Vec<String> {
        names(&folder_circles(&graph_of(files), Path::new("a/src")))
    }

    #[test]
    fn workspace_has_no_circle() {
        let root = crate::walk::workspace();
        let files = sources::files(root, ".rs").expect("the workspace is readable");
        assert_eq!(find(root, &files).expect("all files are Rust"), Vec::<Circle>::new());
    }

    #[test]
    fn two_files_in_mutual_use_are_circle() {
        let files = [("b.rs", "use crate::c::{C, D};"), ("c.rs", "fn f() -> crate::b::B {}")];
        assert_eq!(find_circles(&files), ["b.rs c.rs"]);
        assert!(find_circles(&[files[0], ("c.rs", "")]).is_empty());
    }

    #[test]
    fn three_files_in_ring_are_circle() {
        let files =
            [("b.rs", "use crate::c::C;"), ("c.rs", "use super::d::D;"), ("d.rs", "use crate::b;")];
        assert_eq!(find_circles(&files), ["b.rs c.rs d.rs"]);
    }

    #[test]
    fn parent_may_export_its_child() {
        let parent = ("b.rs", "pub mod c; pub use c::C; pub struct B;");
        assert!(find_circles(&[parent, ("b/c.rs", "use super::B;")]).is_empty());
    }

    #[test]
    fn mutual_use_with_child_is_circle() {
        let child = ("b/c.rs", "use super::B;");
        for parent in ["mod c; use c::C;", "mod c; fn f() { c::g() }", "use crate::b::c::C;"] {
            assert_eq!(find_circles(&[("b.rs", parent), child]), ["b/c.rs b.rs"], "{parent}");
        }
    }

    #[test]
    fn tests_and_other_crates_are_ignored() {
        let test = "#[cfg(test)] mod tests { use crate::c::C; }";
        assert!(find_circles(&[("b.rs", test), ("c.rs", "use crate::b::B;")]).is_empty());
        let other = [("b.rs", "use c::C; use std::fmt;"), ("c.rs", "use crate::b::B;")];
        assert!(find_circles(&other).is_empty());
    }

    #[test]
    fn folder_circle_through_other_files_is_found() {
        let files = [
            ("lib.rs", "mod b; mod c;"),
            ("b.rs", "mod d; mod e;"),
            ("b/d.rs", "use crate::c::g::G;"),
            ("b/e.rs", ""),
            ("c.rs", "mod f; mod g;"),
            ("c/f.rs", "use crate::b::e::E;"),
            ("c/g.rs", ""),
        ];
        assert!(find_circles(&files).is_empty());
        assert_eq!(found_folders(&files), ["b c"]);
        let mut one_way = files;
        one_way[5].1 = "";
        assert!(found_folders(&one_way).is_empty());
    }

    #[test]
    fn nested_folders_may_not_form_circle() {
        let files = [
            ("b/c/d.rs", "use crate::b::e::f::F;"),
            ("b/e/f.rs", ""),
            ("b/e/g.rs", "use crate::b::c::h::H;"),
            ("b/c/h.rs", ""),
        ];
        assert_eq!(found_folders(&files), ["b/c b/e"]);
    }

    /// A head joins its parts with another module, which knows the parts: nobody uses the head.
    #[test]
    fn head_of_folder_is_file_beside_it() {
        let head = ("b.rs", "use crate::b::c::C; use crate::d::D;");
        let other = ("d.rs", "use crate::b::c::C;");
        assert!(found_folders(&[head, ("b/c.rs", ""), other]).is_empty());
        let part = ("b/e.rs", "use crate::d::D;");
        assert_eq!(found_folders(&[head, ("b/c.rs", ""), part, other]), ["b d.rs"]);
    }

    #[test]
    fn head_and_own_folder_are_no_circle() {
        let head = ("b.rs", "use crate::b::c::C;");
        let parts = [("b/c.rs", ""), ("b/d.rs", "use super::B;")];
        assert!(found_folders(&[head, parts[0], parts[1]]).is_empty());
    }

    #[test]
    fn files_alone_form_no_folder_circle() {
        let files = [("b.rs", "use crate::c::C;"), ("c.rs", "use crate::b::B;")];
        assert!(found_folders(&files).is_empty());
    }
}
