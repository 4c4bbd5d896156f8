//! A Rust file seen as lines, each with and without its comments and literals.
//!
//! ```text
//!   let x = "fn {"; // {     text
//!   let x =       ;          code     same columns, comments and literals blanked
//! ```
//!
//! Not a parser: enough of a scanner to count braces and find words in code.

use std::ops::Range;

/// A file ready to be judged.
pub struct Source {
    /// Lines as written.
    pub text: Vec<String>,
    /// The same lines with comments, strings and characters blanked.
    pub code: Vec<String>,
}

/// A function: its name and the lines from `fn` to its closing brace.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line indices.
    pub lines: Range<usize>,
}

impl Source {
    /// Scans a file.
    pub fn new(text: &str) -> Source {
        let blanked = blank(text);
        Source {
            text: text.lines().map(str::to_owned).collect(),
            code: blanked.lines().map(str::to_owned).collect(),
        }
    }

    /// Every function with a body.
    pub fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for (index, line) in self.code.iter().enumerate() {
            let Some(name) = function_name(line) else {
                continue;
            };
            if let Some(end) = self.body_end(index) {
                functions.push(Function { name: name.to_owned(), lines: index..end });
            }
        }
        functions
    }

    /// For each line, whether it belongs to an item under `#[cfg(test)]`.
    pub fn test_lines(&self) -> Vec<bool> {
        let mut is_test = vec![false; self.code.len()];
        for (index, line) in self.code.iter().enumerate() {
            if line.trim_start().starts_with("#[cfg(test)]") {
                let end = self.body_end(index).unwrap_or(index + 2).min(is_test.len());
                is_test[index..end].fill(true);
            }
        }
        is_test
    }

    /// The line after the one that closes the first brace opened at or after line `start`; none
    /// if a semicolon outside brackets ends the item first.
    fn body_end(&self, start: usize) -> Option<usize> {
        let (mut braces, mut brackets) = (0_usize, 0_usize);
        for (index, line) in self.code.iter().enumerate().skip(start) {
            for character in line.chars() {
                match character {
                    '(' | '[' => brackets += 1,
                    ')' | ']' => brackets = brackets.saturating_sub(1),
                    '{' => braces += 1,
                    '}' => {
                        braces = braces.saturating_sub(1);
                        if braces == 0 {
                            return Some(index + 1);
                        }
                    }
                    ';' if braces == 0 && brackets == 0 => return None,
                    _ => {}
                }
            }
        }
        None
    }
}

fn function_name(line: &str) -> Option<&str> {
    let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.find(|word| *word == "fn")?;
    words.next().filter(|name| !name.is_empty())
}

/// Replaces comments and literals by blanks, line ends kept.
fn blank(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut position = 0;
    while position < characters.len() {
        let end = skip_end(&characters, position);
        if end == position {
            out.push(characters[position]);
            position += 1;
            continue;
        }
        for character in &characters[position..end] {
            out.push(if *character == '\n' { '\n' } else { ' ' });
        }
        position = end;
    }
    out
}

/// Where the comment or literal that begins at `at` ends; `at` itself if none does.
fn skip_end(text: &[char], at: usize) -> usize {
    let next = text.get(at + 1).copied();
    let after_word = at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_');
    match text[at] {
        '/' if next == Some('/') => find(text, at, |c| c == '\n'),
        '/' if next == Some('*') => block_comment_end(text, at),
        '"' => quoted_end(text, at, '"'),
        '\'' if is_character(text, at) => quoted_end(text, at, '\''),
        'r' if !after_word => raw_end(text, at + 1).unwrap_or(at),
        'b' if !after_word && next == Some('r') => raw_end(text, at + 2).unwrap_or(at),
        _ => at,
    }
}

fn find(text: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..text.len()).find(|index| wanted(text[*index])).unwrap_or(text.len())
}

fn block_comment_end(text: &[char], at: usize) -> usize {
    let (mut depth, mut index) = (0, at);
    while index + 1 < text.len() {
        match (text[index], text[index + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                index += 1;
                continue;
            }
        }
        index += 2;
        if depth == 0 {
            return index;
        }
    }
    text.len()
}

fn quoted_end(text: &[char], at: usize, quote: char) -> usize {
    let mut index = at + 1;
    while index < text.len() {
        match text[index] {
            '\\' => index += 2,
            c if c == quote => return index + 1,
            _ => index += 1,
        }
    }
    text.len()
}

/// Tells a character literal from a lifetime.
fn is_character(text: &[char], at: usize) -> bool {
    text.get(at + 1) == Some(&'\\') || text.get(at + 2) == Some(&'\'')
}

/// The end of the raw string whose first `#` or quote is at `at`, if one is.
fn raw_end(text: &[char], at: usize) -> Option<usize> {
    let quote = find(text, at, |c| c != '#');
    if text.get(quote) != Some(&'"') {
        return None;
    }
    let hashes = quote - at;
    let mut index = quote + 1;
    while index < text.len() {
        let rest = &text[index + 1..];
        if text[index] == '"' && rest.len() >= hashes && rest[..hashes].iter().all(|c| *c == '#') {
            return Some(index + 1 + hashes);
        }
        index += 1;
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        let code = |text: &str| Source::new(text).code.join("\n");
        assert_eq!(code("a // b {"), "a       ");
        assert_eq!(code("a /* { /* } */ x */ b"), "a                   b");
        assert_eq!(code(r#"f("}\"{", '{', b'\'') + 1"#), "f(      ,    , b    ) + 1");
        assert_eq!(code("r##\"{\"#}\"## + break_r"), "            + break_r");
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
    }

    #[test]
    fn functions_span_to_their_closing_brace() {
        let source =
            Source::new("trait T {\n    fn a();\n}\nfn b(\n    x: [u8; 2],\n) {\n    {}\n}\n");
        let functions = source.functions();
        assert_eq!(functions, [Function { name: "b".into(), lines: 3..8 }]);
    }

    #[test]
    fn test_modules_are_marked() {
        let source =
            Source::new("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}");
        assert_eq!(source.test_lines(), [false, true, true, true, true, false]);
        let outside = Source::new("#[cfg(test)]\nmod tests;\nfn c() {}");
        assert_eq!(outside.test_lines(), [true, true, false]);
    }
}
