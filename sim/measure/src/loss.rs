//! Goodput of one flow over loss, through the emitted Verilog beside the simulated network.
//!
//! ```text
//!   points ─┬─► discrete events (crate `network`) ────────────────┐
//!           └─► loss/goodput.rs: real bytes through the card ─────┴─► share of what can arrive
//! ```

pub mod goodput;

use abi::config::DEFAULT;
use network::measure::loss::{Case, Fault, Parameters};
use network::measure::{Controller, Measurement, LINE_GBPS};
use network::topology::TopologyError;
use pcie_sim::PcieConfig;
use serde::Serialize;
use sim::card::{CardError, SimulatedCard};
use thiserror::Error;
use verilate::options::Options;

use self::goodput::{Goodput, GoodputError};

/// How far the card may be from the simulated network, of its goodput.
const DIFFERENCE_MAX: f64 = 0.03;
const PS_PER_US: u64 = 1_000_000;

/// Why there is no point.
#[derive(Debug, Error)]
pub enum LossError {
    /// The card does not build.
    #[error("the card does not build")]
    Build(#[source] CardError),
    /// The run through the card failed.
    #[error(transparent)]
    Goodput(#[from] GoodputError),
    /// The simulated network cannot be built.
    #[error(transparent)]
    Network(#[from] TopologyError),
    /// The case disturbs packets in another way.
    #[error("only losses are measured through the card")]
    NoLoss,
    /// The card broke rules.
    #[error("{0} rules of PCIe or MAC were broken")]
    RulesBroken(usize),
}

/// One point, both ways.
#[derive(Debug, Serialize)]
pub struct Point {
    /// The controller.
    pub controller: Controller,
    /// Share of the packets that the wire loses, each way.
    pub loss: f64,
    /// Through the card: goodput over what can arrive.
    pub goodput_fraction: f64,
    /// On the simulated network.
    pub network_fraction: f64,
    /// Seed of both.
    pub seed: u64,
}

/// All points.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Every byte is right, no rule was broken, and each point is near the simulated network.
    pub ok: bool,
    /// The points.
    pub points: Vec<Point>,
    /// Parameters of the simulated network.
    pub parameters: Parameters,
}

impl Point {
    /// How far the card is from the network, of the network's goodput.
    pub fn difference(&self) -> f64 {
        self.goodput_fraction / self.network_fraction - 1.0
    }

    /// Whether it is near enough to count as the same.
    pub fn is_near(&self) -> bool {
        self.difference().abs() <= DIFFERENCE_MAX
    }
}

/// Cases that are measured through the card: those of the model-based controller.
pub fn cases(parameters: &Parameters) -> Vec<Case> {
    parameters.cases().into_iter().filter(|it| it.controller == Controller::Model).collect()
}

/// Measures each of the cases on both. `progress` hears how many are done.
pub fn measure(
    parameters: Parameters,
    cases: &[Case],
    progress: &mut dyn FnMut(u64),
) -> Result<Report, LossError> {
    let mut points = Vec::new();
    for (done, case) in (0..).zip(cases) {
        progress(done);
        points.push(measure_point(&parameters, case)?);
    }
    let ok = points.iter().all(Point::is_near);
    Ok(Report { ok, points, parameters })
}

/// One point on both.
fn measure_point(parameters: &Parameters, case: &Case) -> Result<Point, LossError> {
    let Fault::Loss(loss) = case.fault else {
        return Err(LossError::NoLoss);
    };
    let common = parameters.common;
    let goodput = Goodput {
        config: case.controller.config(),
        mtu_bytes: common.mtu_bytes as u16,
        window_bytes: case.window_bytes as u32,
        round_trip_ps: common.round_trip_us * PS_PER_US,
        loss,
        warm_ms: common.warm_ms,
        measured_ms: common.measured_ms,
        seed: case.seed,
    };
    let pcie = PcieConfig { seed: case.seed, ..PcieConfig::default() };
    let card = SimulatedCard::new(DEFAULT.name, pcie.clone(), Options::default());
    let measured = goodput.measure(card.map_err(LossError::Build)?, &pcie)?;
    if measured.violations > 0 {
        return Err(LossError::RulesBroken(measured.violations));
    }
    Ok(Point {
        controller: case.controller,
        loss,
        goodput_fraction: measured.gbps() / (LINE_GBPS * (1.0 - loss)),
        network_fraction: parameters.measure(case)?.goodput_fraction,
        seed: case.seed,
    })
}
