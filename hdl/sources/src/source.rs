//! A Rust file seen as lines, each with and without its comments and literals.
//!
//! ```text
//!   let x = "fn {"; // {     text
//!   let x =       ;          code     same columns, comments, strings and characters blanked
//! ```

use std::ops::Range;

use proc_macro2::{Delimiter, LexError, LineColumn, Span, TokenStream, TokenTree};

/// A file ready to be judged.
pub struct Source {
    /// Lines as written.
    pub text: Vec<String>,
    /// The same lines with comments, strings and characters blanked.
    pub code: Vec<String>,
    tokens: TokenStream,
}

/// A function: its name and the lines from `fn` to its closing brace.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line indices.
    pub lines: Range<usize>,
    /// Marked `#[test]`.
    pub is_test: bool,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// The text is no Rust: a brace is not closed, or a literal does not end.
    pub fn new(text: &str) -> Result<Source, LexError> {
        let tokens: TokenStream = text.parse()?;
        let text: Vec<String> = text.lines().map(str::to_owned).collect();
        let lines: Vec<Vec<char>> = text.iter().map(|line| line.chars().collect()).collect();
        let mut code: Vec<Vec<char>> = lines.iter().map(|line| vec![' '; line.len()]).collect();
        paint(&tokens, &lines, &mut code);
        let code = code.into_iter().map(String::from_iter).collect();
        Ok(Source { text, code, tokens })
    }

    /// Every function with a body, by first line; also those in a macro's braces.
    pub fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        each_level(&self.tokens, &mut |level| functions.extend(functions_of(level)));
        functions.sort_by_key(|function| function.lines.start);
        functions
    }

    /// For each line, whether it belongs to an item under `#[cfg(test)]`.
    pub fn test_lines(&self) -> Vec<bool> {
        let mut is_test = vec![false; self.text.len()];
        each_level(&self.tokens, &mut |level| {
            for at in 0..level.len() {
                let is_marked = is_attribute(&level[at..], |name| name == "cfg(test)");
                if let (true, Some(end)) = (is_marked, item_end(&level[at..])) {
                    is_test[line(level[at].span().start())..=line(end)].fill(true);
                }
            }
        });
        is_test
    }

    /// Names of the functions marked `#[test]`.
    pub fn tests(&self) -> Vec<String> {
        let tests = self.functions().into_iter().filter(|function| function.is_test);
        tests.map(|function| function.name).collect()
    }
}

fn line(place: LineColumn) -> usize {
    place.line - 1
}

/// Copies what is code to its place.
fn paint(tokens: &TokenStream, lines: &[Vec<char>], code: &mut [Vec<char>]) {
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => {
                let open = group.span_open().start();
                let is_comment = lines[line(open)].get(open.column) == Some(&'/');
                if group.delimiter() != Delimiter::None && !is_comment {
                    copy(group.span_open(), 1, lines, code);
                    copy(group.span_close(), 1, lines, code);
                }
                paint(&group.stream(), lines, code);
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.starts_with(|c: char| c.is_ascii_digit()) {
                    copy(literal.span(), text.chars().count(), lines, code);
                }
            }
            token => copy(token.span(), token.to_string().chars().count(), lines, code),
        }
    }
}

/// Copies a token of so many characters. The tokens of a documentation comment have the place of
/// the comment: they are not copied.
fn copy(span: Span, chars: usize, lines: &[Vec<char>], code: &mut [Vec<char>]) {
    let (start, end) = (span.start(), span.end());
    let row = &lines[line(start)];
    let rest = &row[start.column..];
    let is_comment = rest.starts_with(&['/', '/']) || rest.starts_with(&['/', '*']);
    if start.line == end.line && end.column - start.column == chars && !is_comment {
        code[line(start)][start.column..end.column].copy_from_slice(&row[start.column..end.column]);
    }
}

/// Calls back with the tokens of each level: those of the file, and those in each pair of braces,
/// brackets or parentheses.
fn each_level(tokens: &TokenStream, call: &mut impl FnMut(&[TokenTree])) {
    let level: Vec<TokenTree> = tokens.clone().into_iter().collect();
    call(&level);
    for token in &level {
        if let TokenTree::Group(group) = token {
            each_level(&group.stream(), call);
        }
    }
}

fn functions_of(level: &[TokenTree]) -> Vec<Function> {
    let mut found = Vec::new();
    let mut is_test = false;
    for at in 0..level.len() {
        is_test |= is_attribute(&level[at..], |name| name == "test");
        let [TokenTree::Ident(word), TokenTree::Ident(name), ..] = &level[at..] else { continue };
        if word != "fn" {
            continue;
        }
        if let (Some(end), true) = (item_end(&level[at..]), ends_in_braces(&level[at..])) {
            let lines = line(word.span().start())..line(end) + 1;
            found.push(Function { name: name.to_string(), lines, is_test });
        }
        is_test = false;
    }
    found
}

/// Whether the tokens begin with an attribute whose text without spaces is wanted.
fn is_attribute(tokens: &[TokenTree], is_wanted: impl Fn(&str) -> bool) -> bool {
    let [TokenTree::Punct(hash), TokenTree::Group(group), ..] = tokens else { return false };
    let text: String = group.stream().to_string().split_whitespace().collect();
    hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket && is_wanted(&text)
}

/// What ends the item at the start of the tokens: a group in braces, or a semicolon.
fn last_token(tokens: &[TokenTree]) -> Option<&TokenTree> {
    tokens.iter().find(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    })
}

fn item_end(tokens: &[TokenTree]) -> Option<LineColumn> {
    Some(last_token(tokens)?.span().end())
}

fn ends_in_braces(tokens: &[TokenTree]) -> bool {
    matches!(last_token(tokens), Some(TokenTree::Group(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new(text).expect("Rust")
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        let code = |text: &str| source(text).code.join("\n");
        assert_eq!(code("a // b {"), "a       ");
        assert_eq!(code("a /* { /* } */ x */ b"), "a                   b");
        assert_eq!(
            code(r#"f("}\"{", '{', b'\'') + 1"#),
            "f(      ,    , b    ) + 1".replace('b', " ")
        );
        assert_eq!(code("r##\"{\"#}\"## + break_r"), "            + break_r");
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(code("/// doc {\nstruct A;"), "         \nstruct A;");
    }

    #[test]
    fn non_rust_text_is_an_error() {
        assert!(Source::new("fn a() {").is_err());
        assert!(Source::new("let a = \"").is_err());
    }

    #[test]
    fn functions_span_to_their_closing_brace() {
        let source = source("trait T {\n    fn a();\n}\nfn b(\n    x: [u8; 2],\n) {\n    {}\n}\n");
        let lines = 3..8;
        assert_eq!(source.functions(), [Function { name: "b".into(), lines, is_test: false }]);
    }

    #[test]
    fn tests_in_macro_are_found() {
        let source =
            source("#[test]\n#[should_panic]\nfn a() {}\nfn b() {}\nm! { #[test] fn c() {} }");
        assert_eq!(source.tests(), ["a", "c"]);
    }

    #[test]
    fn test_modules_are_marked() {
        let inside = source("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}");
        assert_eq!(inside.test_lines(), [false, true, true, true, true, false]);
        let outside = source("#[cfg(test)]\nmod tests;\nfn c() {}");
        assert_eq!(outside.test_lines(), [true, true, false]);
    }
}
