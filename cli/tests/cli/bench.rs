//! `zeronic bench`: arguments that cannot be measured, and the figures as JSON.

use crate::run::{accepted, folder, refused};

#[test]
fn what_cannot_be_measured_is_refused() {
    refused(&["bench", "rx", "--mtu", "9001"], &["9001"]);
    refused(&["bench", "tx", "--frame", "63"], &["63"]);
    refused(&["bench", "rx", "--flows", "0"], &["0"]);
    refused(
        &["bench", "rx", "--order", "sorted"],
        &["'sorted'", "--order"],
    );
    refused(
        &["bench", "rx", "--frame", "64", "--mtu", "1500"],
        &["--frame", "--mtu"],
    );
    refused(
        &["bench", "rx", "--flows", "300", "--order", "random"],
        &["300"],
    );
    refused(&["bench", "all"], &["--out"]);
    for (option, value) in [
        ("--time", "0"),
        ("--time", "18446744073709552"),
        ("--completion", "100"),
        ("--flows", "65535"),
    ] {
        refused(&["bench", "tx", option, value], &[option, value]);
    }
    for command in [&["latency"][..], &["sim"], &["all", "--out", "x"]] {
        let words = [&["bench"][..], command, &["--time", "9"]].concat();
        refused(&words, &["--time", "9"]);
    }
    let small = ["bench", "duplex", "--config", "small"];
    refused(
        &[&small[..], &["--flows", "33"]].concat(),
        &["66 regions", "64"],
    );
    let pure = ["--frame", "128", "--acks", "pure"];
    refused(&[&small[..], &pure].concat(), &["128", "pure ACKs"]);
    refused(
        &["bench", "tx", "--mtu", "9000", "--burst", "30"],
        &["30 packets", "268440", "262143"],
    );
    let mixed = ["--flows", "2", "--ip", "mixed"];
    refused(
        &[&["bench", "rx", "--frame", "77"][..], &mixed].concat(),
        &["77", "79"],
    );
}

#[test]
fn figures_are_written_as_json() {
    let json = folder("bench_json").join("tx.json");
    let path = json.to_str().expect("a path");
    let words = [
        "bench", "tx", "--mtu", "1500", "--flows", "1", "--config", "small", "--time", "50",
        "--wraps", "0", "--json", path,
    ];
    assert!(accepted(&words).contains("every byte is right"));
    let text = std::fs::read_to_string(&json).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["ok"], true);
    assert_eq!(report["frames_lost"], 0);
    assert!(report["sim_time_ns"].as_u64().expect("a number") >= 50_000);
    let figure = |name: &str| report[name].as_f64().expect("a number");
    let (goodput, limit) = (figure("goodput_gbps"), figure("limit_gbps"));
    assert!(
        goodput > 1.0 && goodput <= limit * 1.02,
        "{goodput} of {limit}"
    );
    assert!(figure("mpps") > 0.1);
}
