//! The soak as a user sees it: a line and a command for each demo, exit status, JSON.

use serde_json::Value;

use crate::run::{expect_refusal, expect_success, folder, zeronic};

/// Its first demo has both ends in one process, the small card, and no loss.
const SEED: &str = "1601";

/// Runs a soak; its exit status, what it prints, and its JSON.
fn soak(name: &str, options: &[&str]) -> (Option<i32>, String, Value) {
    let json = folder(&format!("soak_{name}")).join("s.json");
    let path = json.to_str().expect("a path");
    let output = zeronic(&[&["soak", "--json", path][..], options].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let json = std::fs::read(&json).expect("the results");
    let json = serde_json::from_slice(&json).expect("JSON");
    (output.status.code(), text, json)
}

#[test]
fn soak_prints_each_demos_repetition() {
    let options = ["--runs", "1", "--seed", SEED, "--bytes", "2000"];
    let (status, text, json) = soak("exact", &options);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(json["ok"], true, "{json}");
    assert_eq!(json["seed"].to_string(), SEED);
    let runs = json["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!((&run["ok"], &run["reason"]), (&true.into(), &Value::Null));
    assert!(run["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    let command = run["command"].as_str().expect("a command");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("run 1 of 1: exact in "), "{text}");
    assert!(lines[0].ends_with(command), "{text}");
    assert_eq!(lines[1..], ["all 1 runs are exact"]);
    // What it says repeats it, and the same seed says the same.
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(zeronic(&words).status.code(), Some(0), "{command}");
    let again = soak("again", &options).2;
    assert_eq!(again["runs"][0]["command"], command);
}

/// Trials that soaks have found, each with its fault.
#[test]
fn trials_that_failed_in_a_soak_are_exact() {
    for (fault, options) in [
        (
            "smoltcp takes the window of a late segment, and does not probe",
            "demo --model golden --bytes 203 --peer smoltcp --transport tcp --mtu 2421 \
             --loss 4.4% --reorder 6.7% --seed 1530370230 --ipv6",
        ),
        (
            "smoltcp has forgotten a connection whose last ACK was lost",
            "demo --model golden --bytes 16 --peer smoltcp --transport smoltcp --memory gpu \
             --config small --mtu 1280 --loss 5.3% --reorder 9.0% --corrupt 9.2% --seed 3508945634",
        ),
        (
            "the same, with our own TCP at the other end",
            "demo --model golden --bytes 6 --peer smoltcp --transport tcp --controller dctcp \
             --mtu 1280 --loss 6.5% --reorder 3.4% --duplicate 9.7% --corrupt 7.4% \
             --seed 3367782468 --ipv6",
        ),
        (
            "smoltcp sends the same without end",
            "demo --model golden --bytes 1 --peer smoltcp --transport smoltcp --config small \
             --mtu 6580 --loss 4.2% --corrupt 7.0% --seed 1328305285",
        ),
        (
            "a repetition of the last bytes counted as foreign, by a clock of microseconds",
            "scenario --connections 8 --bytes 51380 --buffer 4096 --close-at 22696 --reorder 9.8% \
             --corrupt 1.5% --forged 6.1% --harm full --config small --mtu 1724 --seed 3871914735",
        ),
    ] {
        let output = zeronic(&Vec::from_iter(options.split_whitespace()));
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{fault}: {error}");
    }
}

#[test]
fn golden_demos_of_a_drawn_seed_are_exact() {
    let seed = seed::seed().to_string();
    let options = ["soak", "--model", "golden", "--runs", "300", "--seed", &seed];
    let text = expect_success(&options);
    assert!(text.ends_with("all 300 runs are exact\n"), "{text}");
}

/// On the golden model a soak follows from its seed: the same bytes twice, and of two shards.
#[test]
fn soak_gives_same_bytes_in_shards() {
    let out = folder("soak_golden");
    let path = |name: &str| out.join(name).to_str().expect("a path").to_owned();
    let options = ["soak", "--model", "golden", "--runs", "12", "--seed", "7", "--bytes", "50000"];
    let (whole, again) = (path("whole.json"), path("again.json"));
    let text = expect_success(&[&options[..], &["--json", &whole]].concat());
    assert!(text.ends_with("all 12 runs are exact\n"), "{text}");
    assert_eq!(text, expect_success(&[&options[..], &["--json", &again]].concat()));
    let parts = ["1/2", "2/2"].map(|shard| {
        let part = path(&format!("part{}.jsonl", &shard[..1]));
        expect_success(&[&options[..], &["--shard", shard, "--json", &part]].concat());
        part
    });
    let merged = path("merged.json");
    let text = expect_success(&["merge", &parts[1], &parts[0], "--json", &merged]);
    assert_eq!(text, "all 12 runs are exact\n");
    let read = |path: &str| std::fs::read(path).expect("the results");
    let whole = read(&whole);
    assert_eq!(whole, read(&again));
    assert_eq!(whole, read(&merged));
    let json: Value = serde_json::from_slice(&whole).expect("JSON");
    let runs = json["runs"].as_array().expect("runs");
    assert!(runs.iter().all(|run| run.get("seconds").is_none()), "{json}");
    let missing = zeronic(&["merge", &parts[0]]);
    assert_eq!(missing.status.code(), Some(2));
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    let command = "zeronic soak --model golden --runs 12 --seed 7 --bytes 50000 --shard 2/2";
    assert!(said.contains(command), "{said}");
}

/// A demo that takes minutes on every machine, with a limit of a second.
#[test]
fn endless_demo_fails_its_soak() {
    let options = ["--runs", "1", "--seed", SEED, "--bytes", "1024GiB"];
    let (status, text, json) = soak("hung", &[&options[..], &["--limit", "1"]].concat());
    assert_eq!(status, Some(1), "{text}");
    assert_eq!(json["ok"], false, "{json}");
    assert_eq!(json["runs"][0]["reason"], "no end within 1 s", "{json}");
    assert!(text.contains("(no end within 1 s): zeronic demo "), "{text}");
    assert!(text.ends_with("1 of 1 runs FAILED\n"), "{text}");
}

#[test]
fn wrong_options_are_refused() {
    expect_refusal(&["soak", "--runs", "0"], &["'0'", "--runs"]);
    expect_refusal(&["soak", "--limit", "0"], &["'0'", "--limit"]);
    expect_refusal(&["soak", "--bytes", "0"], &["'0'", "--bytes"]);
    expect_refusal(&["soak", "--seed", "x"], &["'x'", "--seed"]);
    expect_refusal(&["soak", "--shard", "1/2"], &["--shard", "--model golden"]);
}
