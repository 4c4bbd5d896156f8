//! Measurements on simulated networks as a user sees them: parts of a run, and what merges them.

use std::path::Path;

use serde_json::Value;

use crate::run::{expect_refusal, folder, zeronic};

/// The shortest measurement.
const INCAST: [&str; 4] = ["bench", "incast", "--seeds", "1"];

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

/// Runs with a JSON file; its exit status is 0 or, where a goal is not reached, 1.
fn run(arguments: &[&str], json: &Path) -> String {
    let output = zeronic(&[arguments, &["--json", text(json)]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn shards_merge_into_one_runs_result() {
    let folder = folder("networks_shards");
    let whole = folder.join("whole.json");
    let said = run(&INCAST, &whole);
    let shards = ["1/3", "2/3", "3/3"].map(|shard| {
        let path = folder.join(format!("{}.jsonl", &shard[..1]));
        run(&[&INCAST[..], &["--shard", shard]].concat(), &path);
        path
    });
    let [one, two, three] = shards.each_ref().map(|path| text(path));
    let merged = folder.join("merged.json");
    // Whatever the order of the files.
    let merged_said = run(&["merge", two, three, one], &merged);
    assert_eq!(said, merged_said);
    let bytes = |path: &Path| std::fs::read(path).expect("a file");
    assert_eq!(bytes(&whole), bytes(&merged));
    let json: Value = serde_json::from_slice(&bytes(&whole)).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row["link_fraction"].as_f64().is_some_and(|it| it > 0.5)));
    assert_eq!(json["parameters"]["bytes"], 256 << 10);

    let again = "zeronic bench incast --seeds 1 --shard 2/3 --json FILE";
    expect_refusal(&["merge", one, three], &["shard 2/3 is missing", again]);
    expect_refusal(&["merge", one, one], &["shard 1/3 as well"]);
    // A shard that died: its last line is not there, or not whole.
    let lines = String::from_utf8(bytes(&shards[1])).expect("text");
    let cut = folder.join("cut.jsonl");
    for end in [lines.rfind("{\"end").expect("an end"), lines.len() / 2] {
        std::fs::write(&cut, &lines[..end]).expect("a file");
        expect_refusal(
            &["merge", one, text(&cut), three],
            &["2/3 is missing", "ends early", again],
        );
    }
    // One that ran again lies beside it.
    run(&["merge", one, text(&cut), two, three], &merged);
    assert_eq!(bytes(&whole), bytes(&merged));
    let other = folder.join("other.jsonl");
    run(&["bench", "incast", "--seeds", "2", "--shard", "2/3"], &other);
    expect_refusal(&["merge", one, text(&other), three], &["other.jsonl", "another measurement"]);
    expect_refusal(&["merge", text(&whole)], &["whole.json", "not a shard's"]);
    // A number of shards that nobody has begun would take for ever to name.
    let head = std::fs::read_to_string(one).expect("a file");
    let many = folder.join("many.jsonl");
    let head = head.replacen("\"shards\":3", "\"shards\":1000000000000000000", 1);
    std::fs::write(&many, head).expect("a file");
    expect_refusal(&["merge", text(&many)], &["many.jsonl", "no shard", "/1000000000000000000"]);
    expect_refusal(&["merge", "/nowhere"], &["/nowhere"]);
}

#[test]
fn wrong_shards_are_refused() {
    for shard in ["0/2", "3/2", "2"] {
        expect_refusal(&["bench", "loss", "--shard", shard], &[shard, "--shard"]);
    }
    expect_refusal(&["bench", "fairness", "--seeds", "0"], &["'0'", "--seeds"]);
    expect_refusal(&["merge"], &["FILES"]);
}

#[test]
fn points_of_loss_are_measured_alone() {
    let json = folder("networks_points").join("p.json");
    run(&["bench", "loss", "--points", "0,4%", "--seeds", "1"], &json);
    let json: Value = serde_json::from_slice(&std::fs::read(&json).expect("a file")).expect("JSON");
    let points = json["points"].as_array().expect("points");
    let losses: Vec<f64> = points.iter().filter_map(|point| point["loss"].as_f64()).collect();
    // Both controllers, and nothing but losses.
    assert_eq!(losses, [0.0, 0.04, 0.0, 0.04]);
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(4));
    expect_refusal(&["bench", "loss", "--rtl"], &["--points"]);
}
