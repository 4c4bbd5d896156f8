//! The structs and enums of a file, with what is derived for them and said of them.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Fields, GenericParam, Generics, Meta, Type, Visibility};

/// A struct or an enum at the top of a file.
#[derive(Debug)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// Line of its name, from 1.
    pub line: usize,
    /// Seen from other crates.
    pub is_public: bool,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// First paragraph of its documentation, on one line.
    pub doc: String,
    /// Names of the traits that are derived.
    pub derives: Vec<String>,
    /// Names of the other attributes.
    pub attributes: Vec<String>,
    /// The file implements `Default` for it by hand.
    pub writes_default: bool,
    /// What it is made of.
    pub body: Body,
}

/// What an item is made of.
#[derive(Debug)]
pub enum Body {
    /// A struct with named fields.
    Fields(Vec<Field>),
    /// An enum: the names of its variants.
    Variants(Vec<String>),
}

/// A named field.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type as written, on one line.
    pub kind: String,
    /// First paragraph of its documentation, on one line.
    pub doc: String,
    /// Names of its attributes.
    pub attributes: Vec<String>,
    /// Seen from other crates.
    pub is_public: bool,
}

/// A parameter of an item.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// A number, not a type.
    pub is_const: bool,
}

/// A file whose items can be asked for.
pub struct File {
    lines: Vec<String>,
    syntax: syn::File,
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// The text is no Rust.
    pub fn new(text: &str) -> syn::Result<File> {
        let syntax = syn::parse_file(text)?;
        Ok(File { lines: text.lines().map(str::to_owned).collect(), syntax })
    }

    /// First paragraph of the file's head, on one line.
    pub fn head(&self) -> String {
        doc(&self.syntax.attrs)
    }

    /// Its structs with named fields, and its enums.
    pub fn items(&self) -> Vec<Item> {
        let items = self.syntax.items.iter().filter_map(|item| match item {
            syn::Item::Struct(it) => match &it.fields {
                Fields::Named(_) | Fields::Unit => {
                    let body = Body::Fields(self.fields(&it.fields));
                    Some(self.item(&it.ident, &it.vis, &it.generics, &it.attrs, body))
                }
                Fields::Unnamed(_) => None,
            },
            syn::Item::Enum(it) => {
                let names = it.variants.iter().map(|variant| variant.ident.to_string());
                let body = Body::Variants(names.collect());
                Some(self.item(&it.ident, &it.vis, &it.generics, &it.attrs, body))
            }
            _ => None,
        });
        items.collect()
    }

    /// The lines of `impl TRAIT for NAME`, without its attributes.
    pub fn implementation(&self, of: &str, name: &str) -> Option<&[String]> {
        let found = self
            .implementations()
            .find(|(it, what, whose)| what == of && whose == name && !it.items.is_empty());
        let (it, _, _) = found?;
        let (first, last) = (it.impl_token.span().start().line, it.span().end().line);
        Some(&self.lines[first - 1..last])
    }

    /// Implementations of traits: the trait's name and the type's.
    fn implementations(&self) -> impl Iterator<Item = (&syn::ItemImpl, String, String)> {
        self.syntax.items.iter().filter_map(|item| {
            let syn::Item::Impl(it) = item else { return None };
            let of = it.trait_.as_ref()?.0.segments.last()?.ident.to_string();
            let Type::Path(path) = &*it.self_ty else { return None };
            Some((it, of, path.path.segments.last()?.ident.to_string()))
        })
    }

    fn item(
        &self,
        ident: &syn::Ident,
        visibility: &Visibility,
        generics: &Generics,
        attributes: &[Attribute],
        body: Body,
    ) -> Item {
        let name = ident.to_string();
        let mut writes = self.implementations();
        Item {
            line: ident.span().start().line,
            is_public: is_public(visibility),
            parameters: generics.params.iter().filter_map(parameter).collect(),
            doc: doc(attributes),
            derives: derives(attributes),
            attributes: names(attributes),
            writes_default: writes.any(|(_, what, whose)| what == "Default" && whose == name),
            body,
            name,
        }
    }

    fn fields(&self, fields: &Fields) -> Vec<Field> {
        let named = fields.iter().filter_map(|field| {
            Some(Field {
                name: field.ident.as_ref()?.to_string(),
                kind: self.text(field.ty.span()),
                doc: doc(&field.attrs),
                attributes: names(&field.attrs),
                is_public: is_public(&field.vis),
            })
        });
        named.collect()
    }

    /// The text of a span on one line.
    fn text(&self, span: Span) -> String {
        let (start, end) = (span.start(), span.end());
        let lines = self.lines[start.line - 1..end.line].iter().enumerate();
        let parts = lines.map(|(at, line)| {
            let from = if at == 0 { start.column } else { 0 };
            let to = if at == end.line - start.line { end.column } else { usize::MAX };
            let part: String = line.chars().take(to).skip(from).collect();
            part.trim().to_owned()
        });
        parts.collect::<Vec<_>>().join(" ")
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn parameter(parameter: &GenericParam) -> Option<Parameter> {
    let (ident, is_const) = match parameter {
        GenericParam::Const(it) => (&it.ident, true),
        GenericParam::Type(it) => (&it.ident, false),
        GenericParam::Lifetime(_) => return None,
    };
    Some(Parameter { name: ident.to_string(), is_const })
}

/// The first paragraph of documentation, on one line.
fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else {
            return None;
        };
        pair.path.is_ident("doc").then(|| text.value().trim().to_owned())
    });
    let lines: Vec<String> =
        lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

fn derives(attributes: &[Attribute]) -> Vec<String> {
    let mut names = Vec::new();
    for attribute in attributes.iter().filter(|it| it.path().is_ident("derive")) {
        // An attribute that cannot be read is the compiler's to refuse.
        let _ = attribute.parse_nested_meta(|meta| {
            names.extend(meta.path.segments.last().map(|part| part.ident.to_string()));
            Ok(())
        });
    }
    names
}

fn names(attributes: &[Attribute]) -> Vec<String> {
    let names = attributes.iter().filter_map(|attribute| {
        let name = attribute.path().segments.last()?.ident.to_string();
        (name != "doc" && name != "derive").then_some(name)
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! A file.\n\n/// A thing that\n/// is here.\n///\n/// More.\n\
        #[derive(Debug, crate::Block)]\n#[keep]\npub struct A<'a, T: Copy, const N: usize> {\n    \
        /// First.\n    #[kept]\n    pub one: [u8;\n        2],\n    two: T,\n}\n\
        enum E { X, Y }\nimpl Default for E {\n    fn default() -> E { E::X }\n}\n";

    #[test]
    fn a_struct_is_read_whole() {
        let items = File::new(TEXT).expect("Rust").items();
        let it = &items[0];
        assert_eq!((it.name.as_str(), it.line, it.is_public), ("A", 9, true));
        assert_eq!(it.doc, "A thing that is here.");
        assert_eq!(
            (&it.derives[..], &it.attributes[..]),
            (&["Debug", "Block"].map(String::from)[..], &["keep".to_owned()][..])
        );
        let parameters: Vec<_> =
            it.parameters.iter().map(|p| (p.name.as_str(), p.is_const)).collect();
        assert_eq!(parameters, [("T", false), ("N", true)]);
        let Body::Fields(fields) = &it.body else { panic!("{it:?}") };
        assert_eq!((fields[0].name.as_str(), fields[0].kind.as_str()), ("one", "[u8; 2]"));
        assert_eq!(
            (fields[0].doc.as_str(), &fields[0].attributes[..]),
            ("First.", &["kept".to_owned()][..])
        );
        assert_eq!([fields[0].is_public, fields[1].is_public], [true, false]);
    }

    #[test]
    fn enum_and_implementations_are_found() {
        let file = File::new(TEXT).expect("Rust");
        let items = file.items();
        assert!(matches!(&items[1].body, Body::Variants(names) if names == &["X", "Y"]));
        assert!(items[1].writes_default && !items[0].writes_default);
        assert_eq!(file.implementation("Default", "E").map(<[String]>::len), Some(3));
        assert_eq!(file.head(), "A file.");
    }
}
