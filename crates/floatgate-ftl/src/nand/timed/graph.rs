//! The graph of what is not complete yet: nodes, and who waits for whom.
//!
//! Its memory is that of the work outstanding: nodes and edges are used again.

use alloc::vec::Vec;

use super::account::Account;
use super::node::{
    Edge, HAS_CORE, HAS_ENTERED, IS_HELD, IS_READ, IS_TOLD, Kind, Node, Operation, Work,
};
use super::pool::Pool;
use crate::clock::{Blame, Chain, Ended, NO_CORE, NONE, Part};

#[derive(Clone, Copy, Debug)]
struct Link {
    to: u32,
    next: u32,
    edge: Edge,
}

/// Nodes and edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Pool<Node>,
    edges: Pool<Link>,
    accounts: Pool<Account>,
    tickets: Pool<u64>,
    /// By node: the core that its chain holds, if it does.
    cores: Vec<u32>,
    serial: u64,
}

impl Graph {
    /// A node that follows a chain.
    #[inline(always)]
    pub(super) fn add(&mut self, work: Work, part: Part, chain: Chain, now: u64) -> u32 {
        self.serial += 1;
        let is_live = self.is_live(chain);
        let mut flags = if chain.is_read { IS_READ } else { 0 };
        let mut account = NONE;
        if chain.is_told {
            flags |= IS_TOLD;
            if !is_live {
                account = self.accounts.put(|| Account::new(now, part));
            }
        }
        if chain.core != NO_CORE {
            flags |= HAS_CORE;
        }
        let serial = self.serial;
        let at = self.nodes.put(|| Node {
            serial,
            waited: 0,
            work,
            account,
            watched: NONE,
            follows: u32::from(is_live),
            first: NONE,
            edges: NONE,
            first_edge: Edge::Chain,
            hazards: 0,
            part,
            flags,
        });
        if chain.core != NO_CORE {
            self.cores.resize(self.cores.len().max(at as usize + 1), NO_CORE);
            self.cores[at as usize] = chain.core;
        }
        if is_live {
            self.put_edge(chain.node, at, Edge::Chain);
        }
        at
    }

    /// `node` waits for a chain.
    #[inline(always)]
    pub(super) fn follow(&mut self, node: u32, chain: Chain, edge: Edge) {
        if self.is_live(chain) {
            self.link(chain.node, node, edge);
        }
    }

    /// `node` waits for `first`, which is not complete.
    #[inline(always)]
    pub(super) fn link(&mut self, first: u32, node: u32, edge: Edge) {
        let waiting = &mut self.nodes[node];
        match edge {
            Edge::Hazard => waiting.hazards += 1,
            Edge::Chain | Edge::Work => waiting.follows += 1,
        }
        self.put_edge(first, node, edge);
    }

    /// `node` is one of those that wait for `first`.
    #[inline(always)]
    fn put_edge(&mut self, first: u32, node: u32, edge: Edge) {
        let awaited = &mut self.nodes[first];
        if awaited.first == NONE {
            (awaited.first, awaited.first_edge) = (node, edge);
        } else {
            let next = awaited.edges;
            awaited.edges = self.edges.put(|| Link { to: node, next, edge });
        }
    }

    /// Whether what a chain ends with is not complete.
    #[inline(always)]
    pub(super) fn is_live(&self, chain: Chain) -> bool {
        chain.node != NONE && self.nodes[chain.node].serial == chain.serial
    }

    /// The chain that ends with a node.
    #[inline(always)]
    pub(super) fn chain(&self, node: u32, before: Chain) -> Chain {
        Chain { node, serial: self.nodes[node].serial, ..before }
    }

    /// A node will be looked at soon.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: u32) {
        self.nodes.prefetch(at);
    }

    #[inline(always)]
    pub(super) fn node(&self, at: u32) -> &Node {
        &self.nodes[at]
    }

    #[inline(always)]
    pub(super) fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at]
    }

    /// The operation of a node that is one of the flash.
    #[inline(always)]
    pub(super) fn operation(&self, at: u32) -> &Operation {
        self.nodes[at].operation()
    }

    #[inline(always)]
    pub(super) fn operation_mut(&mut self, at: u32) -> &mut Operation {
        match &mut self.nodes[at].work {
            Work::Flash(operation) => operation,
            other => unreachable!("{other:?} is no operation of the flash"),
        }
    }

    /// The core that the chain of a node holds, or [`NO_CORE`].
    #[inline(always)]
    pub(super) fn core(&self, at: u32) -> u32 {
        if self.nodes[at].flags & HAS_CORE == 0 { NO_CORE } else { self.cores[at as usize] }
    }

    /// The end of a node will be told.
    pub(super) fn watch(&mut self, at: u32, ticket: u64) {
        assert_eq!(self.nodes[at].watched, NONE, "a chain is watched once");
        self.nodes[at].watched = self.tickets.put(|| ticket);
    }

    /// What the time of a node went into that its chain has come to, if somebody will be told.
    #[inline(always)]
    pub(super) fn account(&mut self, at: u32) -> Option<&mut Account> {
        let Node { account, .. } = self.nodes[at];
        if account == NONE { None } else { Some(&mut self.accounts[account]) }
    }

    /// A node begins to wait for what a die or a channel does, of which this is the account.
    #[inline(always)]
    pub(super) fn begin_wait(&mut self, at: u32, now: u64, of: &Blame) -> &Node {
        let node = &mut self.nodes[at];
        if node.account == NONE {
            node.waited = node.waited.wrapping_sub(of.0[Part::Die as usize]);
        } else {
            self.accounts[node.account].begin_wait(now, of);
        }
        node
    }

    /// A node has waited for that.
    #[inline(always)]
    pub(super) fn end_wait(&mut self, at: u32, of: &Blame) -> &Node {
        let node = &mut self.nodes[at];
        if node.account == NONE {
            node.waited = node.waited.wrapping_add(of.0[Part::Die as usize]);
        } else {
            self.accounts[node.account].blame.add_all(of);
        }
        node
    }

    /// A node begins an operation that takes `command_ns` to be told the die, for which it waited.
    #[inline(always)]
    pub(super) fn begin(&mut self, at: u32, command_ns: u64, of: &Blame) -> &Node {
        let node = &mut self.nodes[at];
        if node.account == NONE {
            node.waited = node.waited.wrapping_add(of.0[Part::Die as usize]);
        } else {
            let blame = &mut self.accounts[node.account].blame;
            blame.add_all(of);
            blame.add(Part::Bus, command_ns);
        }
        node
    }

    /// A node comes to stand before its die.
    #[inline(always)]
    pub(super) fn enter(&mut self, at: u32, now: u64, of: &Blame) -> &Node {
        let node = &mut self.nodes[at];
        node.flags |= HAS_ENTERED;
        let is_held = node.flags & IS_HELD != 0;
        if node.account != NONE {
            let account = &mut self.accounts[node.account];
            match is_held {
                true => account.was_held(now, of),
                false => account.begin_wait(now, of),
            }
        } else if !is_held {
            node.waited = node.waited.wrapping_sub(of.0[Part::Die as usize]);
        }
        node
    }

    /// A node is complete at `now`: it is gone, and those who wait for no chain are `ready`. The
    /// answer is what is told of it, if anything is.
    #[inline(always)]
    pub(super) fn complete(&mut self, at: u32, now: u64, ready: &mut Vec<u32>) -> Option<Ended> {
        let node = &mut self.nodes[at];
        let &mut Node { serial, first, first_edge, mut edges, watched, .. } = node;
        let (account, waited, kept_by) = (node.account, node.waited, node.part);
        let is_join = matches!(node.work, Work::Join { .. });
        node.serial = 0;
        let mut end = End { now, serial, account, is_taken: false, waited, kept_by };
        let mut ended = None;
        if account != NONE {
            self.close(&mut end, is_join);
        }
        if watched != NONE {
            ended = Some(self.told(watched, &end));
        }
        if first != NONE {
            self.pass_on(&mut end, first, first_edge, ready);
        }
        while edges != NONE {
            let Link { to, next, edge } = self.edges[edges];
            self.edges.give_back(edges);
            edges = next;
            self.pass_on(&mut end, to, edge, ready);
        }
        if account != NONE && !end.is_taken {
            self.accounts.give_back(account);
        }
        self.nodes.give_back(at);
        ended
    }

    /// The account of a node that is complete is made ready for who goes on.
    #[inline(always)]
    fn close(&mut self, end: &mut End, is_join: bool) {
        let account = &mut self.accounts[end.account];
        let part = end.kept_by;
        (end.waited, end.kept_by) = (0, account.kept_by);
        account.time = end.now;
        if !is_join {
            account.kept_by = part;
        }
    }

    /// What is told of a node that is complete.
    fn told(&mut self, watched: u32, end: &End) -> Ended {
        self.tickets.give_back(watched);
        let is_told = end.account != NONE;
        let blame = if is_told { self.accounts[end.account].blame } else { Blame::default() };
        Ended { ticket: self.tickets[watched], at_ns: end.now, blame }
    }

    /// One that waits for a node that is complete waits for it no more.
    #[inline(always)]
    fn pass_on(&mut self, end: &mut End, to: u32, edge: Edge, ready: &mut Vec<u32>) {
        match edge {
            Edge::Chain => self.go_on(end, to),
            Edge::Work => {
                let part = self.nodes[to].part;
                if let Some(account) = self.account(to) {
                    account.waited_for_work(end.now, part, end.waited);
                }
            }
            Edge::Hazard => return self.release_held(to, end.kept_by, ready),
        }
        let node = &mut self.nodes[to];
        node.follows -= 1;
        if node.follows == 0 {
            ready.push(to);
        }
    }

    /// A chain goes on with a node. Of several that are joined the last end counts, and of those at
    /// one time that of the youngest.
    #[inline(always)]
    fn go_on(&mut self, end: &mut End, to: u32) {
        let node = &mut self.nodes[to];
        if let Work::Join { ended, last } = &mut node.work {
            if end.now <= *ended && end.serial <= *last {
                return;
            }
            (*ended, *last) = (end.now, end.serial);
        }
        if node.flags & IS_TOLD == 0 {
            node.waited = end.waited;
            return;
        }
        debug_assert!(end.account != NONE, "what is told follows what is told");
        let before = node.account;
        node.account = if end.is_taken {
            let account = self.accounts[end.account];
            self.accounts.put(|| account)
        } else {
            end.is_taken = true;
            end.account
        };
        if before != NONE {
            self.accounts.give_back(before);
        }
    }

    /// What a node waited for last before it was ready, as others are told that wait for that.
    #[inline(always)]
    pub(super) fn kept_by(&mut self, at: u32) -> Part {
        let part = self.nodes[at].part;
        self.account(at).map_or(part, |account| account.kept_by)
    }

    /// One thing less that holds an operation back; it was kept by `part`. An erase that waits for
    /// more than one thing is told so as the host's.
    #[inline(always)]
    pub(super) fn release_held(&mut self, at: u32, part: Part, ready: &mut Vec<u32>) {
        let node = &mut self.nodes[at];
        node.hazards -= 1;
        // If it is not held back yet it will find that it need not be.
        if node.hazards > 0 || node.flags & IS_HELD == 0 {
            return;
        }
        ready.push(at);
        let is_erase = matches!(node.work, Work::Flash(Operation { kind: Kind::Erase, .. }));
        if let Some(account) = self.account(at) {
            account.held_by = if is_erase { Part::Die } else { part };
        }
    }

    /// Nodes that are not complete.
    pub(super) fn outstanding(&self) -> usize {
        self.nodes.len()
    }
}

/// What those learn of a node that is complete who wait for it.
struct End {
    now: u64,
    serial: u64,
    account: u32,
    /// Whether a chain went on with the account: the next ones get copies.
    is_taken: bool,
    waited: u64,
    kept_by: Part,
}
