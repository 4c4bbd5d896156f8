//! `zeronic merge`: the files of all shards of a measurement into its report.
//!
//! ```text
//!   files ─► shards ─┬─ all there ─► outcomes in order ─► the report that one run would have given
//!                    └─ some not ──► named, each with the command that runs it alone
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use network::measure::{fairness, incast, loss, Measurement};

use crate::bench::networks::{finish, Show};
use crate::shard::{Shard, ShardFile};
use crate::shared::failure::STATUSES;
use crate::shared::options::UsageError;
use crate::shared::output::{json_file, keep, ResultFile};
use crate::soak;

/// Arguments of `zeronic merge`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct MergeArguments {
    /// What `bench loss`, `fairness`, `incast` or `soak` has written with `--shard`, all shards
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write the figures as JSON: the same bytes whatever the number of shards
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Merges. True when everything is right, and every goal reached.
pub fn run(arguments: &MergeArguments) -> Result<bool> {
    arguments.files.iter().for_each(|file| keep("an input file", file));
    let json = json_file(arguments.json.as_deref())?;
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for path in &arguments.files {
        let text = fs::read_to_string(path).map_err(anyhow::Error::from);
        match text.and_then(|text| ShardFile::read(path, &text)) {
            Ok(file) => files.push(file),
            Err(error) => unread.push(format!("file {}: {error:#}", path.display())),
        }
    }
    let shards = choose(files, unread)?;
    match shards[0].head.measurement.as_str() {
        loss::Parameters::NAME => merge::<loss::Parameters>(&shards, json),
        fairness::Parameters::NAME => merge::<fairness::Parameters>(&shards, json),
        incast::Parameters::NAME => merge::<incast::Parameters>(&shards, json),
        soak::NAME => soak::merge(&shards, json),
        other => Err(UsageError(format!("there is no measurement '{other}'")).into()),
    }
}

/// The complete file of each shard.
fn choose(files: Vec<ShardFile>, unread: Vec<String>) -> Result<Vec<ShardFile>, UsageError> {
    let Some(first) = files.first().map(|file| file.head.clone()) else {
        return Err(UsageError(unread.join("; ")));
    };
    let mut shards: BTreeMap<u64, ShardFile> = BTreeMap::new();
    let mut cut = BTreeMap::new();
    for file in files {
        let head = &file.head;
        let is_same = (&head.measurement, head.shards, head.cases, &head.parameters)
            == (&first.measurement, first.shards, first.cases, &first.parameters);
        let path = file.path.display().to_string();
        if !is_same {
            return Err(UsageError(format!("file {path}: it is of another measurement")));
        }
        match (file.is_complete, shards.get(&head.shard)) {
            (true, Some(other)) => {
                let (shard, other) = (file.shard, other.path.display());
                return Err(UsageError(format!("file {path}: {other} has shard {shard} as well")));
            }
            (true, None) => {
                shards.insert(head.shard, file);
            }
            (false, _) => {
                cut.insert(head.shard, path);
            }
        }
    }
    let missing = (1..=first.shards).filter(|number| !shards.contains_key(number));
    let missing = missing.filter_map(|number| Shard::new(number, first.shards)).map(|shard| {
        let cut = cut.get(&shard.number()).map(|path| format!(", for {path} ends early"));
        let (cut, command) = (cut.unwrap_or_default(), &first.command);
        format!("shard {shard} is missing{cut}: {command} --shard {shard} --json FILE")
    });
    let missing = Vec::from_iter(missing.chain(unread));
    match shards.len() as u64 == first.shards {
        true => Ok(shards.into_values().collect()),
        false => Err(UsageError(missing.join("; "))),
    }
}

fn merge<M: Show>(shards: &[ShardFile], json: Option<ResultFile>) -> Result<bool> {
    let parameters: M = serde_json::from_value(shards[0].head.parameters.clone())
        .map_err(|error| UsageError(format!("parameters of {}: {error}", M::NAME)))?;
    let mut outcomes = BTreeMap::new();
    for shard in shards {
        outcomes.extend(shard.read_outcomes::<M::Outcome>()?);
    }
    if outcomes.len() != parameters.cases().len() {
        let (has, wants) = (outcomes.len(), parameters.cases().len());
        return Err(UsageError(format!("{has} runs of {wants}: of another version?")).into());
    }
    finish(&parameters, &Vec::from_iter(outcomes.into_values()), json)
}
