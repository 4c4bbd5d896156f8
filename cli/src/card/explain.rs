//! Which block, file and field a hierarchical name of a timing report comes from.

use ::verilog::Design;

use crate::shared::options::UsageError;

/// Says what a hierarchical name is.
pub fn explain(design: &Design, signal: &str) -> Result<String, UsageError> {
    let origin =
        design.explain(signal).map_err(|error| UsageError(format!("{signal}: {error}")))?;
    let mut text = format!("{signal}\n");
    let mut row = |what: &str, value: String| text.push_str(&format!("  {what:8}  {value}\n"));
    let place = match (origin.file, origin.line) {
        (Some(file), Some(line)) => format!(", {file}:{line}"),
        _ => String::new(),
    };
    row("block", origin.block.unwrap_or("unknown").to_owned() + &place);
    if let Some(field) = origin.field {
        let bit = origin.bit.map_or(String::new(), |bit| format!(", bit {bit}"));
        row("field", field + &bit);
    }
    let instance = match origin.path.as_str() {
        "" => "the top",
        path => path,
    };
    row("instance", instance.to_owned());
    row("module", format!("{0}, {0}.v", origin.module));
    Ok(text)
}
