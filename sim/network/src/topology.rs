//! What a network is made of: nodes, links between them, and the way to each host.
//!
//! Invariants
//! 1. A host has one link; it forwards nothing.
//! 2. A packet takes a shortest way, the first of equals in the order of the links.

use std::collections::VecDeque;

use thiserror::Error;

use crate::host::HostParameters;
use crate::link::LinkParameters;
use crate::switch::SwitchParameters;

/// Names a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// Names a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SwitchId(pub u32);

/// A host or a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Where packets begin and end.
    Host(HostId),
    /// Where they are forwarded.
    Switch(SwitchId),
}

impl From<HostId> for Node {
    fn from(id: HostId) -> Self {
        Self::Host(id)
    }
}

impl From<SwitchId> for Node {
    fn from(id: SwitchId) -> Self {
        Self::Switch(id)
    }
}

/// One direction of a wire.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Where it begins.
    pub from: Node,
    /// Where it ends.
    pub to: Node,
    /// What it is.
    pub parameters: LinkParameters,
}

/// Why nodes do not make a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A host has no link, or more than one.
    #[error("host {0} has {1} links: a host has one")]
    Links(u32, usize),
    /// There is no way to a host.
    #[error("no way from node {from} to host {to}")]
    NoWay {
        /// Index of the node, hosts first.
        from: usize,
        /// The host.
        to: u32,
    },
}

/// Nodes and links.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// The hosts, by [`HostId`].
    pub hosts: Vec<HostParameters>,
    /// The switches, by [`SwitchId`].
    pub switches: Vec<SwitchParameters>,
    /// Each direction of each wire.
    pub edges: Vec<Edge>,
}

impl Topology {
    /// Adds a host.
    pub fn host(&mut self, parameters: HostParameters) -> HostId {
        self.hosts.push(parameters);
        HostId(self.hosts.len() as u32 - 1)
    }

    /// Adds a switch.
    pub fn switch(&mut self, parameters: SwitchParameters) -> SwitchId {
        self.switches.push(parameters);
        SwitchId(self.switches.len() as u32 - 1)
    }

    /// Adds a wire: there and back. Returns the indices of its two links.
    pub fn join(
        &mut self,
        ends: [Node; 2],
        there: LinkParameters,
        back: LinkParameters,
    ) -> [usize; 2] {
        let [from, to] = ends;
        self.edges.push(Edge { from, to, parameters: there });
        self.edges.push(Edge { from: to, to: from, parameters: back });
        [self.edges.len() - 2, self.edges.len() - 1]
    }

    /// Index of a node: hosts first, then switches.
    pub fn index(&self, node: Node) -> usize {
        match node {
            Node::Host(HostId(host)) => host as usize,
            Node::Switch(SwitchId(switch)) => self.hosts.len() + switch as usize,
        }
    }

    /// The link that leads from each node, hosts first, to each host.
    pub fn routes(&self) -> Result<Vec<Vec<u32>>, TopologyError> {
        let nodes = self.hosts.len() + self.switches.len();
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        let mut leaving = vec![0; nodes];
        for (at, edge) in self.edges.iter().enumerate() {
            into[self.index(edge.to)].push(at);
            leaving[self.index(edge.from)] += 1;
        }
        if let Some(host) = (0..self.hosts.len()).find(|host| leaving[*host] != 1) {
            return Err(TopologyError::Links(host as u32, leaving[host]));
        }
        let mut routes = vec![vec![0; self.hosts.len()]; nodes];
        for (to, _) in self.hosts.iter().enumerate() {
            let links = self.links_to(to, &into, nodes);
            for (from, link) in links.iter().enumerate().filter(|(from, _)| *from != to) {
                let no_way = TopologyError::NoWay { from, to: to as u32 };
                routes[from][to] = link.ok_or(no_way)?;
            }
        }
        Ok(routes)
    }

    /// The link of each node on a shortest way to a host, by breadth first search from its end.
    fn links_to(&self, to: usize, into: &[Vec<usize>], nodes: usize) -> Vec<Option<u32>> {
        let mut links = vec![None; nodes];
        let mut reached = VecDeque::from([to]);
        while let Some(node) = reached.pop_front() {
            if node < self.hosts.len() && node != to {
                continue;
            }
            for at in into[node].iter().copied() {
                let from = self.index(self.edges[at].from);
                if from != to && links[from].is_none() {
                    links[from] = Some(at as u32);
                    reached.push_back(from);
                }
            }
        }
        links
    }
}
