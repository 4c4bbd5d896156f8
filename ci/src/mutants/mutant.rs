//! A mutant: one place in one file, and the text that stands there instead.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// A one-line fault. See the head of this file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The file, relative to the workspace.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column of the first byte that is replaced, from 1.
    pub column: usize,
    /// The bytes of the file that are replaced.
    pub bytes: Range<usize>,
    /// What stands there instead.
    pub replacement: String,
    /// The line as it is, without the blanks around it.
    pub before: String,
    /// The line with the fault, without the blanks around it.
    pub after: String,
    /// Where a switch for it can stand.
    pub place: Place,
}

/// Where a switch can stand that turns a mutant on, in a program that is built once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Instead of the expression at these bytes: it chooses between that and this text.
    Expression(Range<usize>, String),
    /// Around a statement, the bytes of the mutant.
    Statement,
    /// Before the kernel whose `impl` has these bytes: it chooses between two whole kernels.
    Kernel(Range<usize>),
    /// Nowhere: constants, types and what the compiler must know. It is built alone.
    Nowhere,
}

impl Mutant {
    /// The mutant of `text`, the content of `file`, in which `bytes` are replaced; `None` where
    /// they are more than one line, or where nothing changes.
    pub fn new(
        file: PathBuf,
        text: &str,
        bytes: Range<usize>,
        replacement: String,
    ) -> Option<Self> {
        let original = text.get(bytes.clone())?;
        if original.contains('\n') || original == replacement {
            return None;
        }
        let start = text[..bytes.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[bytes.end..].find('\n');
        let end = end.map_or(text.len(), |at| bytes.end + at);
        let (head, tail) = (&text[start..bytes.start], &text[bytes.end..end]);
        Some(Self {
            file,
            line: text[..start].matches('\n').count() + 1,
            column: head.chars().count() + 1,
            before: text[start..end].trim().to_owned(),
            after: format!("{head}{replacement}{tail}").trim().to_owned(),
            bytes,
            replacement,
            place: Place::Nowhere,
        })
    }

    /// The same with the place of its switch.
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// The content of the file with the fault.
    pub fn apply(&self, text: &str) -> String {
        let (head, tail) = (&text[..self.bytes.start], &text[self.bytes.end..]);
        format!("{head}{}{tail}", self.replacement)
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}\n    - {}\n    + {}",
            self.file.display(),
            self.line,
            self.column,
            self.before,
            self.after
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutant_knows_line_before_and_after() {
        let text = "fn f() {\n    a < b\n}\n";
        let at = text.find('<').expect("it is there");
        let mutant = Mutant::new("a.rs".into(), text, at..at + 1, "<=".into()).expect("a line");
        assert_eq!((mutant.line, mutant.column), (2, 7));
        assert_eq!((&*mutant.before, &*mutant.after), ("a < b", "a <= b"));
        assert_eq!(mutant.apply(text), "fn f() {\n    a <= b\n}\n");
    }

    #[test]
    fn multiline_or_unchanged_text_is_no_mutant() {
        let new = |bytes, replacement: &str| {
            Mutant::new("a.rs".into(), "a\nb", bytes, replacement.into())
        };
        assert_eq!(new(0..3, ""), None);
        assert_eq!(new(0..1, "a"), None);
        assert!(new(2..3, "").is_some());
    }
}
