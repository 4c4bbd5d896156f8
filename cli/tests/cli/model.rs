//! `zeronic model`: table, JSON, page, validation, refusals.

use serde_json::Value;

use crate::run::{expect_refusal, folder, zeronic};

fn text(arguments: &[&str]) -> String {
    let output = zeronic(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn model_prints_paths_and_json() {
    let all = text(&["model"]);
    for path in ["kernel-copy", "zcrx", "roce", "zeronic-user-gpu"] {
        assert!(all.contains(path), "{all}");
    }
    let one = text(&["model", "--path", "zcrx", "--rate", "400", "--mtu", "4096"]);
    assert!(one.contains("receiver's thread binds") && one.contains("zcrx-cover"), "{one}");
    let line = ["model", "--path", "zcrx", "--rate", "400", "--mtu", "4096", "--json"];
    let json: Value = serde_json::from_str(&text(&line)).expect("JSON");
    assert_eq!(json["rate_gbps"], 400.0);
    let cost = &json["paths"][0]["cost"];
    assert!(cost["goodput_gbps"].as_f64().is_some_and(|gbps| gbps > 50.0 && gbps < 400.0));
    assert_eq!(
        json["limits"].as_array().map(Vec::len),
        cost["limits_gbps"].as_array().map(Vec::len)
    );
}

#[test]
fn model_writes_its_page() {
    let page = folder("model_page").join("page.html");
    let name = page.to_str().expect("a name");
    let said = text(&["model", "--out", name, "--core", "0.5"]);
    assert!(said.contains("no request"), "{said}");
    let page = std::fs::read_to_string(&page).expect("a page");
    assert!(page.contains("\"core\":0.5") && page.ends_with("</html>\n"));
}

#[test]
fn model_validation_is_within_limits() {
    let said = text(&["model", "--validate"]);
    assert!(said.contains("held back, without our own") && said.contains("within the limits"));
    let json: Value =
        serde_json::from_str(&text(&["model", "--validate", "--json"])).expect("JSON");
    assert_eq!(json["ok"], true);
    assert!(json["points"].as_array().is_some_and(|points| points.len() >= 40));
}

#[test]
fn wrong_model_inputs_are_refused() {
    expect_refusal(&["model", "--rate", "0"], &["the rate is 0", "25 to 800 Gb/s"]);
    expect_refusal(&["model", "--rate", "NaN"], &["the rate is NaN"]);
    expect_refusal(&["model", "--loss", "100%"], &["the loss is 1", "0 to 0.1"]);
    expect_refusal(&["model", "--message", "1GiB"], &["the message is 1073741824"]);
    expect_refusal(&["model", "--path", "pigeon"], &["no path \"pigeon\"", "zcrx"]);
    expect_refusal(&["model", "--load", "pigeon"], &["no load \"pigeon\"", "redis"]);
    expect_refusal(&["model", "--lanes", "3"], &["no width \"3\""]);
    expect_refusal(&["model", "--pcie", "9"], &["PCIe generation is 9"]);
    expect_refusal(&["model", "--out", "/nowhere/page.html"], &["page /nowhere/page.html"]);
}
