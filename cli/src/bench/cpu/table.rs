//! The tables of `bench cpu`, and what is said below them.

use measure::cpu::{KernelRow, Rate, Report, Row, RunsRow};

use crate::shared::table::table as new_table;

/// Head of the table.
pub const HEAD: [&str; 9] = [
    "stack",
    "MTU",
    "received bytes",
    "CPU s/GB",
    "spread",
    "kernel / ours",
    "to reach",
    "congestion control",
    "Gb/s",
];
/// Head of the table of rates.
pub const RATES_HEAD: [&str; 11] = [
    "stack",
    "arrives, Gb/s",
    "MTU",
    "received bytes",
    "found Gb/s",
    "batch",
    "empty polls",
    "CPU s/GB",
    "polling cores, s/GB",
    "doorbells a GB",
    "doorbells at 100 ns, s/GB",
];
/// What the comparison leaves out.
pub const BIAS: &str =
    "veth has no driver, DMA or interrupts, and passes up to 64 KiB in one piece \
    whatever the MTU, which flatters the kernel; the null card has no IOMMU and no slow registers, \
    its packets come in batches of 64 but where a rate is given, and there is no TCP on it, which \
    flatters us. Our own TCP runs on the golden card, in batches of up to 64. The kernel is \
    compared with CUBIC, which nothing paces; BBR paces itself, which costs it more. With Linux \
    TCP behind a TAP device ours costs more than the kernel alone.";
/// Head of the table of runs.
pub const RUNS_HEAD: [&str; 9] = [
    "receiving host",
    "MTU",
    "runs",
    "packets an entry",
    "CPU s/GB",
    "spread",
    "times less",
    "both hosts, s/GB",
    "kernel / both",
];

fn word(touched: bool) -> &'static str {
    match touched {
        true => "read once",
        false => "not read",
    }
}

fn row_cells(row: &Row, more: &str, has_goal: bool) -> [String; 9] {
    let goal = row.goal().filter(|_| has_goal).map(|(goal, is_reached)| {
        let verdict = if is_reached { "yes" } else { "no" };
        format!("{goal:.0}: {verdict}")
    });
    [
        format!("ours, {}{more}", row.transport),
        row.mtu.to_string(),
        word(row.touched).to_owned(),
        format!("{:.4}", row.seconds_per_gb),
        format!("{:.1} %", 100.0 * row.spread),
        format!("{:.1}, threads alone {:.1}", row.ratio, row.ratio_threads),
        goal.unwrap_or_default(),
        match row.transport {
            "linux" => "cubic".to_owned(),
            "tcp" => "model".to_owned(),
            _ => "none".to_owned(),
        },
        String::new(),
    ]
}

fn cells_of_rate(rate: &Rate) -> [String; 11] {
    let doorbells = match rate.doorbells {
        Some(of) => {
            [format!("{:.0}", of.doorbells_per_gb), format!("{:.4}", of.doorbell_seconds_per_gb)]
        }
        None => ["not counted", ""].map(str::to_owned),
    };
    let [count, seconds] = doorbells;
    [
        format!("ours, {}", rate.transport),
        format!("{:.0}", rate.gbps_asked),
        rate.mtu.to_string(),
        word(rate.touched).to_owned(),
        format!("{:.1}", rate.gbps),
        format!("{:.1}", rate.batch),
        format!("{:.1} %", 100.0 * rate.empty_polls),
        format!("{:.4}", rate.seconds_per_gb),
        format!("{:.4}", rate.polling_seconds_per_gb),
        count,
        seconds,
    ]
}

fn kernel_cells(row: &KernelRow) -> [String; 9] {
    [
        row.name(),
        row.mtu.to_string(),
        word(row.touched).to_owned(),
        format!("{:.4}", row.seconds_per_gb),
        format!("{:.1} %", 100.0 * row.spread),
        format!("threads alone {:.4}", row.threads_seconds_per_gb),
        String::new(),
        row.congestion_control.to_owned(),
        format!("{:.1}", row.gbps),
    ]
}

fn runs_cells(row: &RunsRow) -> [String; 9] {
    let cell = |value: Option<f64>, places| {
        value.map_or_else(String::new, |value| format!("{value:.places$}"))
    };
    [
        row.transport.to_owned(),
        row.mtu.to_string(),
        if row.coalesce { "on" } else { "off" }.to_owned(),
        format!("{:.1}", row.packets_per_entry),
        format!("{:.4}", row.seconds_per_gb),
        format!("{:.1} %", 100.0 * row.spread),
        cell(row.times_less, 1),
        cell(row.both_seconds_per_gb, 4),
        cell(row.kernel_ratio, 1),
    ]
}

/// Rows of the table.
pub fn cells(report: &Report) -> Vec<[String; 9]> {
    let kernel = report.kernel.iter().map(kernel_cells);
    let ours = report.rows.iter().map(|row| row_cells(row, "", row.transport == "null"));
    let others = report.one_ack_for_two.iter();
    let others = others.map(|row| row_cells(row, ", one ACK for two", false));
    kernel.chain(ours).chain(others).collect()
}

/// Rows of the table of rates.
pub fn rate_cells(report: &Report) -> Vec<[String; 11]> {
    report.rates.iter().map(cells_of_rate).collect()
}

/// Rows of the table of runs.
pub fn coalescing_cells(report: &Report) -> Vec<[String; 9]> {
    report.coalescing.iter().map(runs_cells).collect()
}

/// Names and CPU ms for a GB: each row of the kernel and those of ours beside it.
pub fn bars(report: &Report) -> Vec<(String, f64)> {
    let mut bars = Vec::new();
    for kernel in report.kernel.iter().filter(|kernel| kernel.is_baseline()) {
        let what = format!("MTU {}, {}", kernel.mtu, word(kernel.touched));
        bars.push((format!("kernel, {what}"), kernel.seconds_per_gb.max(0.0) * 1000.0));
        let ours = report.rows.iter();
        for row in ours.filter(|row| (row.mtu, row.touched) == (kernel.mtu, kernel.touched)) {
            bars.push((format!("{}, {what}", row.transport), row.seconds_per_gb * 1000.0));
        }
    }
    bars
}

/// What was left out, and what the kernel refused.
pub fn idle(report: &Report) -> String {
    let offload = match report.receive_offload {
        true => "",
        false => " The kernel has refused to switch receive offload on.",
    };
    format!(
        "Without us {:.2} of {} cores were busy at most, {} runs were repeated; {} polls of \
         ours found nothing, {:.3} s, left out.{offload}",
        report.idle_cores,
        report.cores,
        report.repeated_runs,
        report.idle_polls,
        report.idle_seconds
    )
}

/// The table and what is said below it.
pub fn text(report: &Report, judged: bool) -> String {
    let mut table = new_table(&HEAD);
    table.add_rows(cells(report));
    let verdict = match (report.ok, judged) {
        (true, true) => "every descriptor and byte is right".to_owned(),
        (true, false) => "every descriptor and byte is right; times are not judged".to_owned(),
        (false, _) => report.noise(),
    };
    let mut rates = new_table(&RATES_HEAD);
    rates.add_rows(rate_cells(report));
    let mut runs = new_table(&RUNS_HEAD);
    runs.add_rows(coalescing_cells(report));
    let runs = if report.coalescing.is_empty() { String::new() } else { format!("{runs}\n") };
    format!("{table}\n{}\n{BIAS}\n{rates}\n{runs}{verdict}\n", idle(report))
}
