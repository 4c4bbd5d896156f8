//! Reads one emitted Verilog statement as far as the width rules need.
//!
//! ```text
//!   t = ((a) & 16'hffff) + b[(n)+:(8)];   ──>   Plain  +  Plain
//! ```
//!
//! Invariants
//! 1. `Plain` stands for a signal, a literal, a slice at a plain offset, a cast of these: things
//!    whose value does not depend on the width of what surrounds them.

/// A piece of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// See the head; true for a literal.
    Plain(bool),
    Operator(String),
    Open,
    Close,
    /// A slice or index at an offset that is itself an expression, or text that is no expression.
    Other,
}

/// True if the statement is an assignment whose right side wraps alike at any width of at least
/// that of its target: sums, differences, bitwise operators and left shifts by a plain amount, but
/// nothing that looks at the bits above.
pub(crate) fn is_modular_assignment(line: &str) -> bool {
    let Some((_, right)) = line.split_once(" = ").or_else(|| line.split_once(" <= ")) else {
        return false;
    };
    let right = right.split(';').next().unwrap_or_default();
    let tokens = reduce(tokens(right));
    let mut wants_operand = true;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1);
        match token {
            Token::Other => return false,
            Token::Plain(_) | Token::Close => wants_operand = false,
            Token::Open => wants_operand = true,
            Token::Operator(operator) => {
                let is_fine = match operator.as_str() {
                    "~" | "-" => true,
                    "+" | "*" | "|" | "^" => !wants_operand,
                    // An AND with a literal may be a cast: its other side was not plain.
                    "&" => !wants_operand && next != Some(&Token::Plain(true)),
                    "<<" => matches!(next, Some(Token::Plain(_))),
                    _ => false,
                };
                if !is_fine {
                    return false;
                }
                wants_operand = true;
            }
        }
    }
    true
}

/// True if the line compares and every comparison in it has a literal on its right side.
pub(crate) fn compares_with_literals(line: &str) -> bool {
    let tokens = reduce(tokens(line));
    let mut seen = false;
    for pair in tokens.windows(2) {
        if matches!(&pair[0], Token::Operator(o) if is_comparison(o)) {
            seen = true;
            if pair[1] != Token::Plain(true) {
                return false;
            }
        }
    }
    seen
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=")
}

/// Folds parentheses around, and casts of, plain tokens until none is left.
fn reduce(mut tokens: Vec<Token>) -> Vec<Token> {
    let and = Token::Operator("&".into());
    loop {
        let found = (0..tokens.len()).find_map(|at| match &tokens[at..] {
            [Token::Open, Token::Plain(is_literal), Token::Close, ..] => Some((at, 3, *is_literal)),
            [Token::Open, Token::Plain(_), middle, Token::Plain(true), Token::Close, ..]
                if *middle == and =>
            {
                Some((at, 5, false))
            }
            _ => None,
        });
        let Some((at, length, is_literal)) = found else {
            return tokens;
        };
        tokens.splice(at..at + length, [Token::Plain(is_literal)]);
    }
}

fn tokens(text: &str) -> Vec<Token> {
    const OPERATORS: [&str; 18] = [
        "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">", "&", "|", "^", "~", "+", "-",
        "*", "!",
    ];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let token;
        (token, rest) = if first == '(' {
            (Token::Open, &rest[1..])
        } else if first == ')' {
            (Token::Close, &rest[1..])
        } else if is_name(first) {
            operand(rest)
        } else if let Some(operator) = OPERATORS.iter().find(|o| rest.starts_with(**o)) {
            (Token::Operator((*operator).into()), &rest[operator.len()..])
        } else {
            (Token::Other, &rest[first.len_utf8()..])
        };
        tokens.push(token);
        rest = rest.trim_start();
    }
    tokens
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '\'')
}

/// A signal, with slices and indices behind it, or a literal.
fn operand(text: &str) -> (Token, &str) {
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let mut token = Token::Plain(name.starts_with(|c: char| c.is_ascii_digit()));
    while rest.starts_with('[') {
        let Some(end) = closing_bracket(rest) else {
            return (Token::Other, "");
        };
        let offset = rest[1..end].split("+:").next().unwrap_or_default();
        if !matches!(reduce(tokens(offset))[..], [Token::Plain(_)]) {
            token = Token::Other;
        }
        rest = &rest[end + 1..];
    }
    (token, rest)
}

fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modular_assignments() {
        for line in [
            "t = a + 32'h1;",
            "count = a | ((32'h2) & 7'h7f);",
            "lower = (((d[(32'h2)+:(5)]) & 7'h7f) << 32'h2) | ((lead) & 7'h7f);",
            "kept = (running$q & ~(1 << (owner)) | ((word[32'h0]) << (owner)));",
            "x = -(a) - b[n];",
        ] {
            assert!(is_modular_assignment(line), "{line}");
        }
    }

    #[test]
    fn assignments_that_see_the_bits_above() {
        for line in [
            "w = ((a + 32'h1) & 16'hffff);",
            "t = (a + 32'h1) >> 32'h1;",
            "t = a + 32'h1 == b;",
            "t = |(a + 32'h1);",
            "t = x[(a + 32'h1)+:(8)];",
            "t = a << (b + 32'h1);",
            "count = (a | ((32'h2) & 7'h7f)) >> b;",
            "if (a + 32'h1) begin",
        ] {
            assert!(!is_modular_assignment(line), "{line}");
        }
    }

    #[test]
    fn comparisons_with_literals() {
        assert!(compares_with_literals(
            "if ((a == 32'h3) & (b < (32'h4))) begin"
        ));
        assert!(!compares_with_literals("if ((a == 32'h3) & (b < c)) begin"));
        assert!(!compares_with_literals("t = a + 32'h3;"));
    }
}
