//! The clock as the text of [`Clock`] describes it, without waits for servers, dies or channels: a
//! table of the end of each node, and of the blame for the time until then.

use std::collections::VecDeque;

use floatgate_ftl::nand::{Blame, Chain, Clock, Component, Ended, Server};

/// End of some work.
#[derive(Clone, Copy, Debug)]
struct Node {
    end: u64,
    blame: Blame,
    /// For joined nodes: the serial number of the node that ended last; of equals, the newest.
    last: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    now: u64,
    nodes: Vec<Node>,
    /// Watched chains.
    watched: Vec<Ended>,
    ended: VecDeque<Ended>,
}

impl Table {
    /// Returns the begin of the next operation of a chain.
    pub fn end(&self, chain: Chain) -> u64 {
        self.node(chain).end
    }

    /// Returns the node of a chain. A completed chain continues at the current time.
    fn node(&self, chain: Chain) -> Node {
        let gone = Node { end: self.now, blame: Blame::default(), last: 0 };
        let Some((at, serial)) = chain.node() else { return gone };
        let node = self.nodes.get(at as usize).map(|&node| Node { last: serial, ..node });
        node.filter(|node| node.end > self.now).unwrap_or(gone)
    }

    /// Extends a chain by a new node.
    fn add(&mut self, chain: Chain, node: Node) -> Chain {
        self.nodes.push(node);
        chain.at_node(self.nodes.len() as u32 - 1, self.nodes.len() as u64)
    }

    fn extend(&mut self, chain: &mut Chain, ns: u64, component: Component) {
        let mut node = self.node(*chain);
        node.end += ns;
        node.blame.add(component, ns);
        *chain = self.add(*chain, node);
    }
}

fn later(first: Node, second: Node) -> Node {
    if (second.end, second.last) > (first.end, first.last) { second } else { first }
}

impl Clock for Table {
    fn now(&self) -> u64 {
        self.now
    }

    fn is_live(&self, chain: Chain) -> bool {
        self.end(chain) > self.now
    }

    fn join(&mut self, first: Chain, second: Chain) -> Chain {
        let node = later(self.node(first), self.node(second));
        self.add(first, node)
    }

    fn join_more(&mut self, joined: Chain, more: Chain) -> Chain {
        let more = self.node(more);
        let node = &mut self.nodes[joined.node().unwrap().0 as usize];
        *node = later(*node, more);
        joined
    }

    fn wait(&mut self, chain: &mut Chain, work: Chain, component: Component) {
        let waits = self.end(work).saturating_sub(self.end(*chain));
        if waits > 0 {
            self.extend(chain, waits, component);
        }
    }

    fn delay(&mut self, chain: &mut Chain, ns: u64, component: Component) {
        self.extend(chain, ns, component);
    }

    fn serve(&mut self, chain: &mut Chain, server: Server, pass_ns: u64, _: u64) {
        let component = match server {
            Server::Commands => Component::Queue,
            Server::Cores => Component::Controller,
            Server::LinkIn | Server::LinkOut => Component::Link,
        };
        self.extend(chain, pass_ns, component);
    }

    fn watch(&mut self, chain: Chain, ticket: u64) {
        let Node { end: at_ns, blame, .. } = self.node(chain);
        self.watched.push(Ended { ticket, at_ns, blame });
    }

    fn play(&mut self, until: u64) -> bool {
        let next = self.watched.iter().map(|watched| watched.at_ns).min();
        let next = next.filter(|&end| self.ended.is_empty() && end <= until);
        match next {
            Some(end) => self.now = self.now.max(end),
            None if self.ended.is_empty() => {
                let all = self.nodes.iter().map(|node| node.end).max().unwrap_or(0);
                self.now = self.now.max(if until == u64::MAX { all } else { until });
            }
            None => {}
        }
        let now = self.now;
        self.ended.extend(self.watched.extract_if(.., |watched| watched.at_ns <= now));
        !self.ended.is_empty()
    }

    fn play_chain(&mut self, chain: Chain, until: u64) {
        self.now = self.end(chain).min(until).max(self.now);
    }

    fn ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }
}
