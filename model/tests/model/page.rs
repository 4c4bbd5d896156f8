//! The page: what it holds, and how it behaves in a real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde_json::{json, Value};
use skip::{skip, Need};
use zeronic_model::cost::evaluate;
use zeronic_model::page::render;
use zeronic_model::pcie::WIDTHS;
use zeronic_model::published::points;
use zeronic_model::setup::Setup;
use zeronic_model::table::Table;
use zeronic_model::validate::compare;

/// Largest page, bytes.
const PAGE_BYTES_MAX: usize = 200_000;
/// Random inputs that Rust and the browser are compared on.
const COMPARED: usize = 10_000;
/// Most that they may differ, relatively.
const DIFFERENCE_MAX: f64 = 1e-9;

fn page() -> String {
    let table = Table::read().unwrap();
    let compared = compare(&table, &points().unwrap()).unwrap();
    render(&table, &compared, 1.0).unwrap()
}

#[test]
fn page_is_small_asks_for_nothing() {
    let page = page();
    println!("{} bytes", page.len());
    assert!(page.len() <= PAGE_BYTES_MAX, "{}", page.len());
    for word in [" src=", "@import", "url(", "fetch(", "XMLHttpRequest", "<link rel=\"style"] {
        assert!(!page.contains(word), "{word}");
    }
    for comment in ["/* style */", "/* arithmetic */", "/* drawing */", "/* data */"] {
        assert!(!page.contains(comment), "{comment} was not replaced");
    }
}

/// Inputs, and what Rust has for them.
fn vectors() -> Value {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let table = Table::read().unwrap();
    let draw = |_| {
        let path = &table.paths[random.random_range(0..table.paths.len())].id;
        let load = &table.loads[random.random_range(0..table.loads.len())].id;
        let setup = Setup {
            rate_gbps: random.random_range(25.0..800.0),
            mtu_bytes: f64::from(random.random_range(576..=9216)),
            message_bytes: 2f64.powf(random.random_range(6.0..26.0)).floor(),
            loss: if random.random_bool(0.3) { 0.0 } else { random.random_range(0.0..0.1) },
            generation: random.random_range(3..=6),
            lanes: WIDTHS[random.random_range(0..WIDTHS.len())],
            core_factor: random.random_range(0.2..5.0),
            load: load.clone(),
            ..Setup::default()
        };
        let cost = evaluate(&table, path, &setup).unwrap();
        json!({
            "path": path, "numbers": cost.vector(), "binds": cost.binds,
            "setup": {
                "rate": setup.rate_gbps, "mtu": setup.mtu_bytes, "message": setup.message_bytes,
                "loss": setup.loss, "generation": setup.generation, "lanes": setup.lanes,
                "core": setup.core_factor, "load": setup.load,
                "memory": setup.memory_gbytes_per_s, "round_trip": setup.round_trip_us,
            },
        })
    };
    Value::Array((0..COMPARED).map(draw).collect())
}

/// Node's modules and a Chromium, where `ci/page.sh` or somebody else has put them.
fn browser() -> Result<(PathBuf, PathBuf), String> {
    let modules = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../page/node_modules");
    for name in ["playwright-core", "axe-core"] {
        if !modules.join(name).exists() {
            return Err(format!("no Node package {name}; ci/page.sh fetches it"));
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let chromium = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
    let chromium = chromium.into_iter().find(|program| program.exists());
    let chromium = chromium.ok_or("no Chromium; ci/page.sh fetches it")?;
    Ok((modules, chromium))
}

fn observe(modules: &Path, chromium: &Path) -> Value {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (page_file, vectors_file) = (folder.join("page.html"), folder.join("vectors.json"));
    std::fs::write(&page_file, page()).unwrap();
    std::fs::write(&vectors_file, vectors().to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/check.mjs");
    let output = Command::new("node")
        .arg(script)
        .args([modules, chromium, &page_file, &vectors_file, folder])
        .output()
        .expect("node starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Sliders moved, numbers compared, no request, axe, the keyboard alone, 360 pixels, two pictures.
#[test]
fn page_works_in_real_browser() {
    let (modules, chromium) = match browser() {
        Ok(found) => found,
        Err(why) => return skip(Need::Browser, why),
    };
    let found = observe(&modules, &chromium);
    println!("{found:#}");
    assert_eq!(found["compared"], COMPARED);
    let difference = found["difference"]["size"].as_f64();
    assert!(difference.is_some_and(|size| size <= DIFFERENCE_MAX), "{}", found["difference"]);
    for list in ["requests", "errors", "axe"] {
        assert_eq!(found[list], json!([]), "{list}");
    }
    assert_eq!(found["sweep"]["bad"], json!([]));
    assert!(found["sweep"]["seen"].as_u64() >= Some(100));
    assert_eq!(found["first_focus"], "rate");
    for right in ["slider_moves", "path_moves", "sources_open", "focus_returns", "link_shows_same"]
    {
        assert_eq!(found[right], true, "{right}");
    }
    let told = found["wrong_address"].as_str().unwrap();
    assert!(told.contains("of 100; ") && !told.contains("NaN"), "{told}");
    assert!(found["widths"]["narrow"].as_u64() <= Some(360), "{}", found["widths"]);
    for name in ["light", "dark", "narrow"] {
        let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{name}.png"));
        assert!(std::fs::metadata(picture).is_ok_and(|file| file.len() > 20_000), "{name}");
    }
}
