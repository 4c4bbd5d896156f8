//! Two hosts that take no time, on a wire with a queue at its end or without one.
//!
//! ```text
//!   client ── 400 Gb/s ──► switch: buffer, marks ── rate, delay, faults ──► server
//!          ◄────────────── and the same the other way, with a switch of its own ──
//! ```
//! Without a switch the client's card is the queue: it holds back what the wire does not take.

use network::flow::FlowParameters;
use network::host::{HostCosts, HostParameters};
use network::link::LinkParameters;
use network::switch::SwitchParameters;
use network::topology::{HostId, Node};
use network::units::{MS_PS, US_PS};
use network::{Network, Topology};
use tcp::config::Config;

/// One way of the wire.
pub const DELAY_PS: u64 = 25 * US_PS;
/// What the wire carries of payload, with 1,448 bytes in a frame.
pub const LINE_GBPS: f64 = 94.15;

/// What a run is made of.
#[derive(Clone, Debug)]
pub struct Pair {
    pub seed: u64,
    pub configs: [Config; 2],
    pub links: [LinkParameters; 2],
    /// The queue at the end of each direction that is no card.
    pub switch: Option<SwitchParameters>,
    /// What each end sends before its FIN; `None` for a stream without end.
    pub bytes: [Option<u64>; 2],
    pub window_bytes: u64,
    pub poll_interval_ps: u64,
    /// Connections, all from the client to the server, of the same streams.
    pub flows: usize,
}

impl Pair {
    /// 100 Gb/s without faults, a stream without end from the client.
    pub fn new(seed: u64, config: Config) -> Self {
        Self {
            seed,
            configs: [config.clone(), config],
            links: [LinkParameters::clean(DELAY_PS); 2],
            switch: None,
            bytes: [None, Some(0)],
            window_bytes: 8 << 20,
            poll_interval_ps: 0,
            flows: 1,
        }
    }

    /// A switch that drops beyond a buffer and marks beyond a queue.
    pub fn behind(self, buffer_bytes: u64, mark_packets: u64) -> Self {
        Self { switch: Some(SwitchParameters { buffer_bytes, mark_packets }), ..self }
    }

    /// The network, with its flows.
    pub fn network(&self) -> Network {
        let mut topology = Topology::default();
        let hosts = self.configs.clone().map(|config| {
            topology.host(HostParameters {
                costs: HostCosts::none(),
                poll_interval_ps: self.poll_interval_ps,
                header_queue_entries: usize::MAX,
                ..HostParameters::measured(config)
            })
        });
        let [there, back] = self.links;
        match self.switch {
            None => drop(topology.join(hosts.map(Into::into), there, back)),
            Some(parameters) => {
                let switches = [(); 2].map(|()| topology.switch(parameters));
                let short = LinkParameters { ps_per_byte: 20, ..LinkParameters::clean(0) };
                let nodes: [Node; 4] =
                    [hosts[0].into(), switches[0].into(), switches[1].into(), hosts[1].into()];
                topology.join([nodes[0], nodes[1]], short, short);
                topology.join([nodes[1], nodes[2]], there, back);
                topology.join([nodes[2], nodes[3]], short, short);
            }
        }
        let mut network = Network::new(&topology, self.seed).expect("a network");
        for _ in 0..self.flows {
            network.add_flow(self.flow(hosts));
        }
        network
    }

    fn flow(&self, [client, server]: [HostId; 2]) -> FlowParameters {
        FlowParameters {
            client,
            server,
            open_ps: 0,
            send_ps: 0,
            bytes: self.bytes,
            window_bytes: self.window_bytes,
            is_repeated: false,
        }
    }
}

/// Bytes that a flow's server has accepted.
pub fn accepted(network: &Network, flow: usize) -> u64 {
    network.flows()[flow].sides[1].memory.accepted
}

/// Runs until data flows, however often the SYN is lost.
pub fn run_to_first_byte(network: &mut Network) {
    while network.accepted_bytes() == 0 {
        let until_ps = network.now_ps() + MS_PS / 10;
        assert!(network.run(until_ps), "it has ended before it began");
    }
}

/// Goodput of everything that is accepted, Gb/s, for a time after another one that is not counted.
pub fn goodput_gbps(network: &mut Network, warm_ps: u64, measured_ps: u64) -> f64 {
    network.run(network.now_ps() + warm_ps);
    let before_bytes = network.accepted_bytes();
    network.run(network.now_ps() + measured_ps);
    (network.accepted_bytes() - before_bytes) as f64 * 8_000.0 / measured_ps as f64
}
