//! The network holds what it says: packets, bytes, formulas, and the same run for the same seed.

mod engine;
mod formulas;
mod measures;
mod pair;

use network::flow::FlowParameters;
use network::host::{HostCosts, HostParameters};
use network::link::{Burst, LinkParameters, Loss};
use network::switch::SwitchParameters;
use network::topology::{HostId, TopologyError};
use network::units::{MS_PS, US_PS};
use network::{Network, Topology};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tcp::config::{Config, Ecn, Law};
use tcp::connection::End;

/// Holds that packets are conserved.
fn check_packets(network: &Network) {
    let counts = network.counts();
    let ended = counts.delivered + counts.lost_packets();
    assert_eq!(counts.sent + counts.doubled, ended + network.under_way(), "{counts:?}");
}

/// A link with faults of every kind.
fn draw_link(random: &mut StdRng) -> LinkParameters {
    let burst = Burst { loss_outside: 0.001, ..Burst::of(0.02, random.random_range(1.0..8.0)) };
    let share = random.random_range(0.0..0.05);
    LinkParameters {
        ps_per_byte: [20, 80, 800][random.random_range(0..3)],
        delay_ps: random.random_range(0..30 * US_PS),
        loss: [Loss::None, Loss::Independent(share), Loss::Bursty(burst)]
            [random.random_range(0..3)],
        late: [0.0, random.random_range(0.0..0.3)][random.random_range(0..2)],
        late_ps_max: random.random_range(0..100 * US_PS),
        doubled: [0.0, random.random_range(0.0..0.1)][random.random_range(0..2)],
        size_bytes_max: u64::MAX,
    }
}

fn draw_host(random: &mut StdRng) -> HostParameters {
    let config = Config {
        law: [Law::Model, Law::Cubic, Law::Dctcp][random.random_range(0..3)],
        ecn: [Ecn::Off, Ecn::Exact, Ecn::Exact][random.random_range(0..3)],
        syn_timeouts_max: 60,
        // A burst ends by the packet, not by the time: one packet a timeout may meet it long.
        timeouts_max: 60,
        rto_max_ns: 100_000_000,
        ..Config::private_wire()
    };
    HostParameters {
        costs: [HostCosts::default(), HostCosts::none()][random.random_range(0..2)],
        poll_interval_ps: [0, 5 * US_PS][random.random_range(0..2)],
        card_queue_bytes: [20_000, 156_250][random.random_range(0..2)],
        header_queue_entries: [64, 4_096][random.random_range(0..2)],
        ..HostParameters::measured(config)
    }
}

/// Hosts around two switches, flows between any two, streams of both directions.
fn draw_network(seed: u64) -> Network {
    let mut random = StdRng::seed_from_u64(seed);
    let mut topology = Topology::default();
    let mut switch = || {
        topology.switch(SwitchParameters {
            buffer_bytes: random.random_range(30_000..1_000_000),
            mark_packets: random.random_range(1..10),
        })
    };
    let switches = [switch(), switch()];
    let links = [draw_link(&mut random), draw_link(&mut random)];
    topology.join(switches.map(Into::into), links[0], links[1]);
    let hosts: Vec<HostId> = (0..random.random_range(2..6))
        .map(|at| {
            let host = topology.host(draw_host(&mut random));
            let links = [draw_link(&mut random), draw_link(&mut random)];
            topology.join([host.into(), switches[at % 2].into()], links[0], links[1]);
            host
        })
        .collect();
    let mut network = Network::new(&topology, seed).expect("a network");
    for _ in 0..random.random_range(1..6) {
        let client = random.random_range(0..hosts.len());
        let server = (client + random.random_range(1..hosts.len())) % hosts.len();
        let open_ps = random.random_range(0..MS_PS);
        network.add_flow(FlowParameters {
            client: hosts[client],
            server: hosts[server],
            open_ps,
            send_ps: open_ps + [0, US_PS, 5 * MS_PS][random.random_range(0..3)],
            bytes: [(); 2].map(|()| Some(random.random_range(0..300_000))),
            window_bytes: [3_000, 1 << 20][random.random_range(0..2)],
            is_repeated: false,
        });
    }
    network
}

#[test]
fn bytes_arrive_once_packets_are_accounted() {
    let first = seed::seed();
    let (mut lost, mut late, mut doubled, mut marked) = (0, 0, 0, 0);
    for seed in first..first + 200 {
        let mut network = draw_network(seed);
        for ms in 1..40 {
            network.run(ms * MS_PS);
            check_packets(&network);
        }
        network.run(1_000_000 * MS_PS);
        check_packets(&network);
        for flow in network.flows() {
            for side in 0..2 {
                let it = &flow.sides[side];
                let wanted = flow.parameters.bytes[1 - side].expect("an end");
                assert_eq!(it.memory.accepted, wanted, "seed {seed}: {:?}", it.end);
                assert!(it.has_end_of_stream, "seed {seed}");
                // The last ACK of all may be lost: then one end gives up what is complete.
                let is_late = matches!(it.end, Some(End::TimedOut(_) | End::Reset));
                assert!(it.end == Some(End::Closed) || is_late, "seed {seed}: {:?}", it.end);
            }
        }
        let counts = network.counts();
        lost += counts.lost_packets();
        late += counts.late;
        doubled += counts.doubled;
        marked += counts.marked;
    }
    seed::enough("packets lost", lost, 3_000);
    seed::enough("packets late", late, 10_000);
    seed::enough("packets doubled", doubled, 3_000);
    seed::enough("packets marked", marked, 20);
}

#[test]
fn same_seed_repeats_the_run() {
    let look = |seed| {
        let mut network = draw_network(seed);
        network.run(20 * MS_PS);
        let accepted = Vec::from_iter(network.flows().iter().map(|it| it.sides[1].memory.accepted));
        format!("{:?} {} {accepted:?}", network.counts(), network.events())
    };
    let seed = seed::seed();
    assert_eq!(look(seed), look(seed));
    assert_ne!(look(seed), look(seed.wrapping_add(1)));
}

fn clean_pair(costs: HostCosts, delay_ps: u64) -> (Topology, [HostId; 2]) {
    let host = HostParameters { costs, ..HostParameters::measured(Config::private_wire()) };
    let mut topology = Topology::default();
    let ends = [topology.host(host.clone()), topology.host(host)];
    let link = LinkParameters::clean(delay_ps);
    topology.join(ends.map(Into::into), link, link);
    (topology, ends)
}

fn flow(ends: [HostId; 2], bytes: u64) -> FlowParameters {
    FlowParameters {
        client: ends[0],
        server: ends[1],
        open_ps: 0,
        send_ps: 0,
        bytes: [Some(bytes), Some(0)],
        window_bytes: 1 << 20,
        is_repeated: false,
    }
}

/// The handshake, the grant that `accept` brings, and the first byte: each is one way of the wire.
#[test]
fn first_byte_takes_five_wire_delays() {
    let (topology, ends) = clean_pair(HostCosts::none(), 10 * US_PS);
    let mut network = Network::new(&topology, 1).expect("a network");
    network.add_flow(flow(ends, 1_000));
    network.run(MS_PS);
    let complete_ps = network.flows()[0].complete_ps.expect("it is complete");
    // Frames of 84 bytes four times, and one of 1,000 bytes with 66 of headers and 24 around it;
    // the engine counts whole nanoseconds.
    let wire_ps = (4 * 98 + 1_090) * 80;
    let range = 50 * US_PS + wire_ps - 4 * 14 * 80..50 * US_PS + wire_ps + 5_000;
    assert!(range.contains(&complete_ps), "{complete_ps}, {range:?}");
}

/// What headers cost is on the way: SYN, answer, ACK, grant and data are written and taken once
/// each.
#[test]
fn costs_of_hosts_are_paid() {
    let time = |costs| {
        let (topology, ends) = clean_pair(costs, 10 * US_PS);
        let mut network = Network::new(&topology, 1).expect("a network");
        network.add_flow(flow(ends, 1_000));
        network.run(MS_PS);
        network.flows()[0].complete_ps.expect("it is complete")
    };
    let costs = HostCosts::default();
    let ways = 5 * (costs.send_latency_ps + costs.receive_latency_ps);
    let written = 4 * costs.reply_ps + costs.descriptor_ps;
    let taken = 4 * costs.acknowledgement_ps + costs.packet_ps;
    let more = time(costs) - time(HostCosts::none());
    let range = ways + written + taken - 6_000..ways + written + taken + 6_000;
    assert!(range.contains(&more), "{more}, {range:?}");
}

#[test]
fn a_closed_loop_goes_on() {
    let (topology, ends) = clean_pair(HostCosts::default(), 10 * US_PS);
    let mut network = Network::new(&topology, 1).expect("a network");
    network.add_flow(FlowParameters { is_repeated: true, ..flow(ends, 10_000) });
    network.run(10 * MS_PS);
    let flows = network.flows();
    assert!(flows.len() > 50, "{}", flows.len());
    let (last, complete) = flows.split_last().expect("flows");
    assert!(complete.iter().all(|it| it.sides[1].memory.accepted == 10_000));
    assert!(complete.windows(2).all(|it| it[0].complete_ps < it[1].complete_ps));
    assert!(last.parameters.open_ps > 9 * MS_PS);
    // All but the last few are closed on both ends. The server's FIN comes first: it keeps the
    // tuples.
    assert!(network.host(ends[0]).endpoint().connections() < 4);
    assert!(network.host(ends[1]).endpoint().time_waits() > 45);
}

/// A switch that holds less than what comes at once loses the rest, with that reason.
#[test]
fn buffer_holds_what_has_room() {
    let mut topology = Topology::default();
    let switch = topology.switch(SwitchParameters { buffer_bytes: 10_000, mark_packets: u64::MAX });
    let host = HostParameters::measured(Config::private_wire());
    let hosts: Vec<HostId> = (0..9).map(|_| topology.host(host.clone())).collect();
    let links = hosts.iter().map(|host| {
        let link = LinkParameters::clean(US_PS);
        topology.join([(*host).into(), switch.into()], link, link)
    });
    let links: Vec<[usize; 2]> = links.collect();
    let mut network = Network::new(&topology, 1).expect("a network");
    for client in &hosts[1..] {
        network.add_flow(flow([*client, hosts[0]], 100_000));
    }
    while network.run(network.now_ps() + US_PS / 10) && network.now_ps() < 100 * MS_PS {
        assert!(network.held_bytes(switch) <= 10_000);
    }
    let counts = network.counts();
    assert!(
        counts.lost_in_buffer > 0 && counts.lost_packets() == counts.lost_in_buffer,
        "{counts:?}"
    );
    assert!(network.take_peak(switch, links[0][1]).bytes > 10_000 - 1_538);
    assert!(network.flows().iter().all(|it| it.sides[1].memory.accepted == 100_000));
}

/// A host that polls rarely and has room for few headers drops the rest, with that reason.
#[test]
fn a_full_header_queue_drops() {
    let mut topology = Topology::default();
    let host = HostParameters::measured(Config::private_wire());
    let slow =
        HostParameters { poll_interval_ps: 50 * US_PS, header_queue_entries: 8, ..host.clone() };
    let ends = [topology.host(host), topology.host(slow)];
    let link = LinkParameters::clean(US_PS);
    topology.join(ends.map(Into::into), link, link);
    let mut network = Network::new(&topology, 1).expect("a network");
    network.add_flow(flow(ends, 300_000));
    network.run(1_000 * MS_PS);
    let counts = network.counts();
    assert!(counts.lost_in_header_queue > 0, "{counts:?}");
    assert_eq!(counts.lost_packets(), counts.lost_in_header_queue);
    assert_eq!(network.flows()[0].sides[1].memory.accepted, 300_000);
}

#[test]
fn nodes_without_a_way_are_refused() {
    let host = HostParameters::measured(Config::private_wire());
    let mut topology = Topology::default();
    let ends = [topology.host(host.clone()), topology.host(host.clone())];
    let refused = |topology: &Topology| Network::new(topology, 1).expect_err("no network");
    assert_eq!(refused(&topology), TopologyError::Links(0, 0));
    let link = LinkParameters::clean(US_PS);
    topology.join(ends.map(Into::into), link, link);
    let lonely = topology.host(host.clone());
    let other = topology.host(host);
    topology.join([lonely.into(), other.into()], link, link);
    assert_eq!(refused(&topology), TopologyError::NoWay { from: 2, to: 0 });
}
