//! Reads one emitted Verilog statement as far as the width rules need.
//!
//! ```text
//!   t = ((a) & 16'hffff) + b[(n)+:(8)];   ──>   Plain  +  Plain
//! ```
//!
//! Invariants
//! 1. `Plain` stands for a signal, a literal, a slice at a plain offset, a cast of these: things
//!    whose value does not depend on the width of what surrounds them.

/// What a plain token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signal,
    Literal,
    Cast,
}

/// A piece of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// See the head.
    Plain(Kind),
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
    let can_carry = tokens.iter().any(
        |token| matches!(token, Token::Operator(o) if ["+", "-", "*", "~", "<<"].contains(&&o[..])),
    );
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
                    "&" => {
                        let is_mask = next == Some(&Token::Plain(Kind::Literal));
                        let is_cast = is_mask && can_carry;
                        !wants_operand && !is_cast
                    }
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

/// True if the line compares, and only plain things, one of each pair a literal or a cast.
pub(crate) fn compares_plain_values(line: &str) -> bool {
    let tokens = reduce(tokens(line));
    let mut seen = false;
    for triple in tokens.windows(3) {
        let [left, Token::Operator(operator), right] = triple else {
            continue;
        };
        if is_comparison(operator) {
            seen = true;
            let (Token::Plain(left), Token::Plain(right)) = (left, right) else {
                return false;
            };
            if (*left, *right) == (Kind::Signal, Kind::Signal) {
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
            [Token::Open, Token::Plain(kind), Token::Close, ..] => Some((at, 3, *kind)),
            [Token::Open, Token::Plain(kind), middle, Token::Plain(Kind::Literal), Token::Close, ..]
                if *middle == and =>
            {
                Some((
                    at,
                    5,
                    if *kind == Kind::Signal {
                        Kind::Cast
                    } else {
                        *kind
                    },
                ))
            }
            _ => None,
        });
        let Some((at, length, kind)) = found else {
            return tokens;
        };
        tokens.splice(at..at + length, [Token::Plain(kind)]);
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
    let is_literal = name.starts_with(|c: char| c.is_ascii_digit());
    let mut token = Token::Plain(if is_literal {
        Kind::Literal
    } else {
        Kind::Signal
    });
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
            "x = (a | b) & 32'hf;",
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
            "t = ((~a) & 16'hffff);",
            "t = x[(a + 32'h1)+:(8)];",
            "t = a << (b + 32'h1);",
            "count = (a | ((32'h2) & 7'h7f)) >> b;",
            "if (a + 32'h1) begin",
        ] {
            assert!(!is_modular_assignment(line), "{line}");
        }
    }

    #[test]
    fn comparisons_of_plain_values() {
        for line in [
            "if ((a == 32'h3) & (b < (32'h4))) begin",
            "hit = (a == ((wide) & 8'hff));",
            "hit = (a == ((32'h3) & 8'hff));",
        ] {
            assert!(compares_plain_values(line), "{line}");
        }
        for line in [
            "if ((a == 32'h3) & (b < c)) begin",
            "hit = (a + b) == 32'h3;",
            "t = a;",
        ] {
            assert!(!compares_plain_values(line), "{line}");
        }
    }
}
