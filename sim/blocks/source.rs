//! Rust sources, read as far as the registry needs: items at the left margin with derived traits.

/// What an item is.
#[derive(Debug)]
pub enum Kind {
    /// `LogicBlock`, with its fields.
    Block(Vec<Field>),
    /// `LogicStruct` or `LogicInterface`, with its fields.
    Struct(Vec<Field>),
    /// `LogicState`, with its variants.
    Enum(Vec<String>),
}

/// A field.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Seen from other crates.
    pub is_public: bool,
}

/// An item that others can name.
#[derive(Debug)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// Text between the angle brackets after the name.
    pub generics: String,
    /// Line of its name.
    pub line: usize,
    /// Has `Default`: derived, also by `BlockDefault` of a block without arguments, or written.
    pub has_default: bool,
    /// What it is.
    pub kind: Kind,
}

/// A parameter of an item.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// A number, not a type.
    pub is_const: bool,
}

/// The parameters between angle brackets.
pub fn parameters(generics: &str) -> Vec<Parameter> {
    let parts = generics.split(',').map(str::trim).filter(|p| !p.is_empty());
    parts
        .map(|part| {
            let name = part.split(':').next().unwrap_or(part).trim();
            Parameter {
                name: name.trim_start_matches("const ").to_owned(),
                is_const: name.starts_with("const "),
            }
        })
        .collect()
}

/// The public items of a file that derive one of rust-hdl's traits.
pub fn items(text: &str) -> Vec<Item> {
    let lines: Vec<&str> = lines(text).collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let word =
            ["pub struct ", "pub enum "].into_iter().find_map(|word| line.strip_prefix(word));
        let Some(rest) = word else { continue };
        let above = attributes(&lines, index);
        let derives = |name: &str| above.iter().any(|line| line.contains(name));
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        let whole = lines[index..].join("\n");
        let (front, body) = whole.split_once('{').unwrap_or((&whole, ""));
        let body = body.split("\n}").next().unwrap_or(body);
        let generics = match (front.find('<'), front.rfind('>')) {
            (Some(open), Some(close)) => &front[open + 1..close],
            _ => "",
        };
        let kind = if derives("LogicBlock") {
            Kind::Block(fields(body))
        } else if derives("LogicStruct") || derives("LogicInterface") {
            Kind::Struct(fields(body))
        } else if derives("LogicState") {
            Kind::Enum(variants(body))
        } else {
            continue;
        };
        found.push(Item {
            name: name.to_owned(),
            generics: generics.to_owned(),
            line: index + 1,
            has_default: derives("Default") && !derives("#[new(") || writes_default(text, name),
            kind,
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

fn writes_default(text: &str, name: &str) -> bool {
    let is_name = |rest: &str| {
        let after = rest.strip_prefix(name);
        after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    flat.split("Default for ").skip(1).any(is_name)
}

fn attributes<'a>(lines: &[&'a str], index: usize) -> Vec<&'a str> {
    let above = lines[..index].iter().rev();
    above.take_while(|line| line.starts_with("///") || line.starts_with('#')).copied().collect()
}

/// The parts of a body at its own depth, without comments and attributes.
fn parts(body: &str) -> Vec<String> {
    let is_code = |line: &&str| !line.starts_with("//") && !line.starts_with('#');
    let lines: Vec<&str> = body.lines().map(str::trim).filter(is_code).collect();
    let mut parts = vec![String::new()];
    let mut depth = 0i32;
    for character in lines.join(" ").chars() {
        match character {
            '<' | '[' | '(' | '{' => depth += 1,
            '>' | ']' | ')' | '}' => depth -= 1,
            _ => {}
        }
        match (character, parts.last_mut()) {
            (',', _) if depth == 0 => parts.push(String::new()),
            (character, Some(last)) => last.push(character),
            (_, None) => {}
        }
    }
    let trimmed = parts.iter().map(|part| part.trim().to_owned());
    trimmed.filter(|part| !part.is_empty()).collect()
}

fn fields(body: &str) -> Vec<Field> {
    let fields = parts(body).into_iter().filter_map(|part| {
        let (name, _) = part.split_once(':')?;
        let is_public = name.starts_with("pub ");
        Some(Field { name: name.trim_start_matches("pub ").trim().to_owned(), is_public })
    });
    fields.collect()
}

fn variants(body: &str) -> Vec<String> {
    parts(body)
}
