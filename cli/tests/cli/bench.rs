//! `zeronic bench`: arguments that cannot be measured, and the figures as JSON.

use host::transport::{LinkConfig, LinuxTransport, Tuning, VethPair};
use skip::{skip, Need};

use crate::run::{expect_refusal, expect_success, folder};

#[test]
fn what_cannot_be_measured_is_refused() {
    expect_refusal(&["bench", "rx", "--mtu", "9001"], &["9001"]);
    expect_refusal(&["bench", "tx", "--frame", "63"], &["63"]);
    expect_refusal(&["bench", "rx", "--flows", "0"], &["0"]);
    expect_refusal(&["bench", "rx", "--order", "sorted"], &["'sorted'", "--order"]);
    expect_refusal(&["bench", "rx", "--frame", "64-63"], &["64-63"]);
    expect_refusal(&["bench", "rx", "--frame", "64-x"], &["64-x", "64-9216"]);
    expect_refusal(&["bench", "tx", "--frame", "64-128"], &["received"]);
    expect_refusal(&["bench", "rx", "--flows", "300", "--order", "random"], &["300"]);
    for (option, value) in [
        ("--time", "0"),
        ("--time", "18446744073709552"),
        ("--completion", "100"),
        ("--flows", "65535"),
    ] {
        expect_refusal(&["bench", "tx", option, value], &[option, value]);
    }
    for command in [&["latency"][..], &["sim"], &["all", "--out", "x"]] {
        let words = [&["bench"][..], command, &["--time", "9"]].concat();
        expect_refusal(&words, &["--time", "9"]);
    }
    let small = ["bench", "duplex", "--config", "small"];
    expect_refusal(&[&small[..], &["--flows", "33"]].concat(), &["66 regions", "64"]);
    let pure = ["--frame", "128", "--acks", "pure"];
    expect_refusal(&[&small[..], &pure].concat(), &["128", "pure ACKs"]);
    expect_refusal(
        &["bench", "tx", "--mtu", "9000", "--burst", "30"],
        &["30 packets", "268440", "262143"],
    );
    let mixed = ["--flows", "2", "--ip", "mixed"];
    expect_refusal(&[&["bench", "rx", "--frame", "77"][..], &mixed].concat(), &["77", "79"]);
}

#[test]
fn figures_are_written_as_json() {
    let json = folder("bench_json").join("tx.json");
    let path = json.to_str().expect("a path");
    let words = [
        "bench", "tx", "--mtu", "1500", "--flows", "1", "--config", "small", "--time", "50",
        "--wraps", "0", "--json", path,
    ];
    assert!(expect_success(&words).contains("every byte is right"));
    let text = std::fs::read_to_string(&json).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["ok"], true);
    assert_eq!(report["frames_lost"], 0);
    assert!(report["sim_time_ns"].as_u64().expect("a number") >= 50_000);
    let figure = |name: &str| report[name].as_f64().expect("a number");
    let (goodput, limit) = (figure("goodput_gbps"), figure("limit_gbps"));
    assert!(goodput > 1.0 && goodput <= limit * 1.02, "{goodput} of {limit}");
    assert!(figure("mpps") > 0.1);
}

fn report(name: &str, words: &[&str]) -> serde_json::Value {
    let json = folder(name).join("figures.json");
    let path = json.to_str().expect("a path");
    let said = expect_success(&[words, &["--json", path]].concat());
    assert!(said.contains("every byte is right"), "{said}");
    let text = std::fs::read_to_string(&json).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

/// `--frame` goes before `--mtu`.
#[test]
fn frames_may_stand_beside_an_mtu() {
    let words = [
        "bench", "rx", "--mtu", "1500", "--frame", "256-260", "--config", "small", "--time", "20",
        "--wraps", "0",
    ];
    let report = report("bench_frame", &words);
    assert_eq!(report["ok"], true);
    let payload = report["goodput_gbps"].as_f64().expect("a number") * 1000.0
        / report["mpps"].as_f64().expect("a number")
        / 8.0;
    // 258 bytes on the mean, of which 58 are around the payload.
    assert!((190.0..210.0).contains(&payload), "{payload} bytes");
}

#[test]
fn latencies_are_written_as_json() {
    let report =
        report("bench_latency", &["bench", "latency", "--config", "small", "--time", "10"]);
    assert_eq!(report["ok"], true);
    for name in ["rx_ns", "tx_ns"] {
        let of = |part: &str| report[name][part].as_f64().expect("a number");
        assert!(of("min") > 100.0 && of("min") <= of("p50") && of("p50") <= of("max"));
    }
}

#[test]
fn dma_engine_rates_are_written_as_json() {
    let report = report("bench_dma", &["bench", "dma", "--time", "10"]);
    assert_eq!(report["ok"], true);
    let rows = report["rows"].as_array().expect("rows");
    let engines: Vec<&str> = rows.iter().filter_map(|row| row["engine"].as_str()).collect();
    assert!(engines.contains(&"read") && engines.contains(&"write"));
    assert!(rows.iter().all(|row| row["ratio"].as_f64().expect("a number") < 1.1));
}

/// Times are not judged: the machine may be busy.
#[test]
fn host_costs_are_written_as_json() {
    let json = folder("bench_host").join("figures.json");
    let path = json.to_str().expect("a path");
    let said = expect_success(&["bench", "host", "--quick", "--thread", "--json", path]);
    assert!(said.contains("every descriptor is right"), "{said}");
    let text = std::fs::read_to_string(&json).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["ok"], true);
    for part in ["receive", "receive_one_ack_for_two", "send", "send_64k"] {
        assert!(report[part]["ns"].as_f64() > Some(0.0), "{part}");
        // None where nothing has to grow.
        let allocations = report[part]["allocations"].as_f64();
        assert!(allocations >= Some(0.0), "{part}");
        assert!(report[part].get("instructions").is_some(), "{part}");
    }
    for figure in ["ns", "written_ns"] {
        assert!(report["ack"][figure].as_f64().expect("a number") > 0.0);
    }
    assert!(report["ack"]["allocations"].as_f64() >= Some(0.0));
    for way in ["flows", "flows_packet_by_packet"] {
        let rows = report[way].as_array().expect("rows");
        let counts = rows.iter().filter_map(|row| row["flows"].as_u64());
        assert_eq!(counts.collect::<Vec<_>>(), [1, 16, 64, 256], "{way}");
        for figure in ["receive_ns", "send_ns", "receive_ratio", "send_ratio"] {
            let of_row = |row: &serde_json::Value| row[figure].as_f64();
            assert!(rows.iter().all(|row| of_row(row) > Some(0.0)), "{figure}");
        }
        let one = [&rows[0]["receive_ratio"], &rows[0]["send_ratio"]];
        assert_eq!(one, [1.0, 1.0], "{way}");
    }
    for figure in ["idle_poll_ns", "receive_beside_thread_ns"] {
        assert!(report[figure].as_f64() > Some(0.0), "{figure}");
    }
    assert!(report["spread"].is_number());
}

/// A page of its own: plots in it, and nothing that it would have to load.
#[test]
fn the_page_has_tables_and_plots() {
    let out = folder("bench_page");
    let path = out.to_str().expect("a path");
    let sections = "one,flows,order,latency,sim,host,cpu,connections,networks";
    let words = [
        "bench", "all", "--config", "small", "--time", "10", "--quick", "--only", sections,
        "--jobs", "2", "--out", path,
    ];
    expect_success(&words);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).expect(name);
    let (html, markdown) = (read("benchmarks.html"), read("benchmarks.md"));
    for title in [
        "Over flows",
        "Over order",
        "Receive latency",
        "Send latency",
        "Host: a received packet over flows",
        "Our own TCP: goodput over loss",
        "Our own TCP: a long flow beside short ones",
        "Our own TCP: many senders at once",
    ] {
        let plot = format!("class=\"title\">{title}");
        assert!(html.contains(&plot), "{title}");
    }
    for reference in ["<script", "<link", "<img", " src=", " href=", "url("] {
        assert!(!html.contains(reference), "{reference}");
    }
    assert!(markdown.contains("| `bench duplex --mtu 1500 --flows 16 "), "{markdown}");
    assert!(markdown.contains("Acknowledgements: ACKs ride in data"));
    let report: serde_json::Value = serde_json::from_str(&read("benchmarks.json")).expect("JSON");
    for table in ["goodput over loss (`bench loss`)", "many senders at once (`bench incast`)"] {
        assert!(markdown.contains(&format!("## Our own TCP: {table}")), "{table}");
    }
    for part in ["loss", "fairness", "incast"] {
        assert!(report[part]["rows"].as_array().is_some_and(|rows| rows.len() > 5), "{part}");
    }
    for part in ["latency", "host", "connections"] {
        assert_eq!(report[part]["ok"], true, "{part}");
    }
    // Without TAP devices those of the null protocol alone.
    let has_cpu = report["cpu"].is_object();
    assert_eq!(html.contains("class=\"title\">Host: CPU time for a GB"), has_cpu);
    match VethPair::open(1500) {
        Ok(_) => assert!(has_cpu, "{markdown}"),
        Err(refusal) => skip(Need::Namespaces, &refusal),
    }
}

#[test]
fn unreadable_area_figures_leave_the_page() {
    let out = folder("bench_area");
    std::fs::write(out.join("benchmarks.md"), "kept").expect("a page");
    let path = out.to_str().expect("a path");
    let words = ["bench", "all", "--out", path, "--area", "no.json"];
    expect_refusal(&words, &["--area", "no.json"]);
    let page = std::fs::read_to_string(out.join("benchmarks.md")).expect("a page");
    assert_eq!(page, "kept");
}

/// The figures of `bench cpu`, or nothing where this machine forbids namespaces: then it is
/// refused. Times are not judged: the machine may be busy.
fn cpu_report(transport: &str) -> Option<serde_json::Value> {
    let json = folder(&format!("bench_cpu_{transport}")).join("figures.json");
    let path = json.to_str().expect("a path");
    let words = ["bench", "cpu", "--quick", "--transport", transport, "--json", path];
    let link = LinkConfig::lab(1, 1500, Tuning::REAL_TIME);
    let opened = VethPair::open(1500).and_then(|_| LinuxTransport::open(&link));
    if let Err(refusal) = opened {
        assert!(refusal.is_refusal(), "{refusal}");
        skip(Need::Namespaces, &refusal);
        // Without a TAP device the null protocol is still measured.
        if transport == "linux" || VethPair::open(1500).is_err() {
            expect_refusal(&words, &["namespaces"]);
        }
        return None;
    }
    let said = expect_success(&words);
    assert!(said.contains("every descriptor and byte is right"), "{said}");
    let text = std::fs::read_to_string(&json).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["ok"], true);
    let rows = |part: &str| report[part].as_array().expect("rows").clone();
    let named = |row: &serde_json::Value| (row["mtu"].as_u64(), row["touched"].as_bool());
    let all = [(1500, false), (1500, true), (9000, false), (9000, true)];
    let all = all.map(|(mtu, touched)| (Some(mtu), Some(touched)));
    assert_eq!(rows("rows").iter().map(named).collect::<Vec<_>>(), all);
    // CUBIC is compared with, and every row says what it has.
    let kernel = rows("kernel");
    let is_baseline = |row: &&serde_json::Value| {
        row["congestion_control"] == "cubic" && row["by_reference"] == false
    };
    let baseline: Vec<_> = kernel.iter().take_while(is_baseline).map(named).collect();
    assert_eq!(baseline, all);
    for row in &kernel {
        assert!(row["congestion_control"].is_string(), "{row}");
        assert!(row["gbps"].as_f64() > Some(0.0), "{row}");
    }
    for row in kernel.iter().filter(|row| row["by_reference"] == true) {
        assert!(row["copied"].is_number(), "the kernel has not said whether it copied: {row}");
    }
    for row in rows("rows").iter().chain(&rows("one_ack_for_two")) {
        assert_eq!(row["transport"], transport);
        assert!(row["seconds_per_gb"].as_f64() > Some(0.0), "{row}");
        assert!(row["ratio"].is_number() && row["ratio_threads"].as_f64() > Some(0.0));
    }
    for row in rows("kernel") {
        assert!(row["threads_seconds_per_gb"].as_f64() > Some(0.0), "{row}");
    }
    Some(report)
}

#[test]
fn cpu_time_is_written_as_json() {
    let Some(report) = cpu_report("null") else { return };
    assert_eq!(report["one_ack_for_two"].as_array().map(Vec::len), Some(2));
    assert_rates(&report);
}

/// Rows of three rates, two MTUs, read and not read.
fn assert_rates(report: &serde_json::Value) {
    let rates = report["rates"].as_array().expect("rates");
    assert_eq!(rates.len(), 3 * 2 * 2);
    for rate in rates {
        for figure in ["gbps", "seconds_per_gb", "polling_seconds_per_gb"] {
            assert!(rate[figure].as_f64() > Some(0.0), "{figure}: {rate}");
        }
        // Where the host is far behind, a poll may find nothing, or none be empty.
        for count in ["batch", "empty_polls"] {
            assert!(rate[count].as_f64() >= Some(0.0), "{count}: {rate}");
        }
    }
}

/// Kernel TCP at both ends of two joined cards: every byte is judged.
#[test]
fn linux_tcp_on_joined_cards_is_json() {
    let Some(report) = cpu_report("linux") else { return };
    assert_eq!(report["one_ack_for_two"].as_array().map(Vec::len), Some(0));
}

/// Our own TCP there, beside the kernel's CUBIC of the same run.
#[test]
fn own_tcp_on_joined_cards_is_json() {
    let Some(report) = cpu_report("tcp") else { return };
    assert_rates(&report);
    let rows = report["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["seconds_per_gb"].as_f64() > Some(0.0)), "{rows:?}");
    assert_eq!(report["one_ack_for_two"].as_array().map(Vec::len), Some(0));
}

#[test]
fn connections_are_measured_as_json() {
    let json = folder("bench_connections").join("figures.json");
    let path = json.to_str().expect("a path");
    expect_success(&["bench", "connections", "--connections", "100", "--json", path]);
    let text = std::fs::read_to_string(&json).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&report["ok"], &report["connections"]), (&true.into(), &100.into()));
    assert!(report["seconds"].as_f64() > Some(0.0));
    assert!(report["bytes_per_connection"].as_f64() > Some(0.0));
    assert!(report.get("resident_bytes_per_connection").is_some());
    expect_refusal(&["bench", "connections", "--connections", "16385"], &["16385"]);
}
