//! Nodes, and which node waits for which.
//!
//! Their memory is proportional to the outstanding work, because slots of nodes and edges are
//! reused.

use alloc::vec::Vec;

use super::account::Account;
use super::node::{
    Edge, Follower, HAS_CORE, IS_ATTRIBUTED, IS_BLOCKED, IS_PARTIAL, IS_READ, Kind, Node,
    Operation, Work,
};
use crate::clock::{Blame, Chain, Component, Ended, NO_CORE, NONE};
use crate::nand::timed::pool::Pool;

#[derive(Clone, Copy, Debug)]
struct Link {
    to: Follower,
    next: u32,
}

/// Nodes and edges, with the accounts and the tickets of nodes.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    pub(super) nodes: Pool<Node>,
    edges: Pool<Link>,
    pub(super) accounts: Pool<Account>,
    tickets: Pool<u64>,
    /// By node: the core that the node's chain holds, for nodes with the flag [`HAS_CORE`].
    cores: Vec<u32>,
    /// By node: nanoseconds that a read saves, because it transfers only a share of its pages. For
    /// nodes with the flag [`IS_PARTIAL`].
    saved_ns: Vec<u64>,
    serial: u64,
    /// Nodes that wait for nothing any more.
    ready: Vec<u32>,
}

impl Nodes {
    /// Adds a node that follows a chain.
    #[inline(always)]
    pub fn add(&mut self, work: Work, component: Component, chain: Chain, now: u64) -> u32 {
        self.serial += 1;
        let is_live = self.is_live(chain);
        let mut flags = if chain.is_read { IS_READ } else { 0 };
        let mut account = NONE;
        if chain.is_attributed {
            flags |= IS_ATTRIBUTED;
            if !is_live {
                account = self.accounts.put(|| Account::new(now, component));
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
            first: Follower::NONE,
            edges: NONE,
            pages: 1,
            hazards: 0,
            component,
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

    /// Adds a join that also waits until [`Nodes::followed`] is called for it.
    pub(super) fn add_held(&mut self, component: Component, now: u64) -> u32 {
        let at = self.add(Work::join(now), component, Chain::START.work(), now);
        self.nodes[at].follows = 1;
        at
    }

    /// Extends a chain by a node.
    #[inline(always)]
    pub fn extend(&mut self, chain: &mut Chain, work: Work, component: Component, now: u64) -> u32 {
        let at = self.add(work, component, *chain, now);
        *chain = self.chain(at, *chain);
        at
    }

    /// Makes `node` wait for a chain.
    #[inline(always)]
    pub fn follow(&mut self, node: u32, chain: Chain, edge: Edge) {
        if self.is_live(chain) {
            self.link(chain.node, node, edge);
        }
    }

    /// Makes `node` wait for `first`, which is not complete.
    #[inline(always)]
    pub(super) fn link(&mut self, first: u32, node: u32, edge: Edge) {
        let waiting = &mut self.nodes[node];
        match edge {
            Edge::Hazard => waiting.hazards += 1,
            Edge::Chain | Edge::Work => waiting.follows += 1,
        }
        self.put_edge(first, node, edge);
    }

    /// Adds `node` to the nodes that wait for `first`.
    #[inline(always)]
    fn put_edge(&mut self, first: u32, node: u32, edge: Edge) {
        let (awaited, to) = (&mut self.nodes[first], Follower::new(node, edge));
        if awaited.first == Follower::NONE {
            awaited.first = to;
        } else {
            let next = awaited.edges;
            awaited.edges = self.edges.put(|| Link { to, next });
        }
    }

    /// Returns whether the node that a chain ends with is not complete.
    #[inline(always)]
    pub fn is_live(&self, chain: Chain) -> bool {
        chain.node != NONE && self.nodes[chain.node].serial == chain.serial
    }

    /// Returns the chain that ends with a node.
    #[inline(always)]
    pub fn chain(&self, node: u32, before: Chain) -> Chain {
        Chain { node, serial: self.nodes[node].serial, ..before }
    }

    /// Prefetches a node that is needed soon.
    #[inline(always)]
    pub fn prefetch(&self, at: u32) {
        self.nodes.prefetch(at);
    }

    #[inline(always)]
    pub fn node(&self, at: u32) -> &Node {
        &self.nodes[at]
    }

    #[inline(always)]
    pub(super) fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at]
    }

    /// Returns the operation of a node that is a flash operation.
    #[inline(always)]
    pub fn operation(&self, at: u32) -> &Operation {
        self.nodes[at].operation()
    }

    #[inline(always)]
    pub fn operation_mut(&mut self, at: u32) -> &mut Operation {
        match &mut self.nodes[at].work {
            Work::Flash(operation) => operation,
            other => unreachable!("{other:?} is no operation of the flash"),
        }
    }

    /// Returns the core that the chain of a node holds, or [`NO_CORE`].
    #[inline(always)]
    pub fn core(&self, at: u32) -> u32 {
        if self.nodes[at].has(HAS_CORE) { self.cores[at as usize] } else { NO_CORE }
    }

    /// Watches a node: its end will be reported with the ticket.
    pub fn watch(&mut self, at: u32, ticket: u64) {
        assert_eq!(self.nodes[at].watched, NONE, "a chain is watched once");
        self.nodes[at].watched = self.tickets.put(|| ticket);
    }

    /// Adds a page to an operation. On the serial numbers: see [`Nodes::split`].
    #[inline(always)]
    pub fn widen(&mut self, at: u32) {
        self.nodes[at].pages += 1;
        self.serial += 1;
    }

    /// Splits a read: the node keeps its first `pages` pages, and the others get a node of their
    /// own, which the same nodes wait for. Each page has a serial number, so the new node has the
    /// place that the nodes of its pages would have had.
    pub fn split(&mut self, at: u32, pages: u8) -> u32 {
        let mut rest = self.nodes[at];
        let (first, mut edges) = (rest.first, rest.edges);
        self.nodes[at].pages = pages;
        if let Work::Flash(operation) = &mut rest.work {
            operation.plane += pages;
        }
        rest.serial += u64::from(pages);
        rest.pages -= pages;
        (rest.first, rest.edges) = (Follower::NONE, NONE);
        let rest = self.nodes.put(|| rest);
        if first != Follower::NONE {
            self.link(rest, first.node(), first.edge());
        }
        while edges != NONE {
            let Link { to, next } = self.edges[edges];
            self.link(rest, to.node(), to.edge());
            edges = next;
        }
        rest
    }

    /// Shortens the transfer of a read by `ns`.
    pub fn shorten(&mut self, at: u32, ns: u64) {
        let (node, at) = (&mut self.nodes[at], at as usize);
        if !node.has(IS_PARTIAL) {
            node.flags |= IS_PARTIAL;
            self.saved_ns.resize(self.saved_ns.len().max(at + 1), 0);
            self.saved_ns[at] = 0;
        }
        self.saved_ns[at] += ns;
    }

    /// Returns the nanoseconds by which the transfer of an operation is shorter than usual.
    #[inline(always)]
    pub fn saved_ns(&self, at: u32) -> u64 {
        if self.nodes[at].has(IS_PARTIAL) { self.saved_ns[at as usize] } else { 0 }
    }

    /// Adds time to the account of a node.
    #[inline(always)]
    pub fn charge(&mut self, at: u32, component: Component, ns: u64) {
        if let Some(account) = self.account(at) {
            account.blame.add(component, ns);
        }
    }

    /// Returns the account of a node, if its chain is reported and has come to the node.
    #[inline(always)]
    pub fn account(&mut self, at: u32) -> Option<&mut Account> {
        let Node { account, .. } = self.nodes[at];
        if account == NONE { None } else { Some(&mut self.accounts[account]) }
    }

    /// Releases the next program or erase of a unit: the one before it has entered the queue of its
    /// die.
    #[inline(always)]
    pub fn release_next(&mut self, at: u32, next: u32) {
        let last_blocker = self.last_blocker(at);
        self.release_blocked(next, last_blocker);
    }

    /// Completes a node at `now`: frees its slot, and adds the nodes that wait for no chain any
    /// more to the ready nodes. Returns the report of a watched node.
    #[inline(always)]
    pub fn complete(&mut self, at: u32, now: u64) -> Option<Ended> {
        let node = &mut self.nodes[at];
        let &mut Node { serial, first, mut edges, watched, .. } = node;
        let (account, waited, last_blocker) = (node.account, node.waited, node.component);
        let is_join = matches!(node.work, Work::Join { .. });
        node.serial = 0;
        let mut end = End { now, serial, account, is_taken: false, waited, last_blocker };
        let mut ended = None;
        if account != NONE {
            self.close(&mut end, is_join);
        }
        if watched != NONE {
            ended = Some(self.report(watched, &end));
        }
        if first != Follower::NONE {
            self.pass_on(&mut end, first);
        }
        while edges != NONE {
            let Link { to, next } = self.edges[edges];
            self.edges.give_back(edges);
            edges = next;
            self.pass_on(&mut end, to);
        }
        if account != NONE && !end.is_taken {
            self.accounts.give_back(account);
        }
        self.nodes.give_back(at);
        ended
    }

    /// Prepares the account of a complete node for the chains that continue.
    #[inline(always)]
    fn close(&mut self, end: &mut End, is_join: bool) {
        let account = &mut self.accounts[end.account];
        let component = end.last_blocker;
        (end.waited, end.last_blocker) = (0, account.last_blocker);
        account.time = end.now;
        if !is_join {
            account.last_blocker = component;
        }
    }

    /// Creates the report of a complete node.
    fn report(&mut self, watched: u32, end: &End) -> Ended {
        self.tickets.give_back(watched);
        let is_attributed = end.account != NONE;
        let blame = if is_attributed { self.accounts[end.account].blame } else { Blame::default() };
        Ended { ticket: self.tickets[watched], at_ns: end.now, blame }
    }

    /// Ends the wait of a node for a complete node.
    #[inline(always)]
    fn pass_on(&mut self, end: &mut End, follower: Follower) {
        let to = follower.node();
        match follower.edge() {
            Edge::Chain => self.continue_chain(end, to),
            Edge::Work => {
                let component = self.nodes[to].component;
                if let Some(account) = self.account(to) {
                    account.waited_for_work(end.now, component, end.waited);
                }
            }
            Edge::Hazard => return self.release_blocked(to, end.last_blocker),
        }
        self.followed(to);
    }

    /// Notes the end of a chain, or of work as a whole, that a node waits for.
    #[inline(always)]
    pub fn followed(&mut self, at: u32) {
        let node = &mut self.nodes[at];
        node.follows -= 1;
        if node.follows == 0 {
            self.ready.push(at);
        }
    }

    /// Continues a chain with a node. Of chains that are joined, the one that ends last counts; of
    /// chains that end at the same time, the youngest.
    #[inline(always)]
    fn continue_chain(&mut self, end: &mut End, to: u32) {
        let node = &mut self.nodes[to];
        if let Work::Join { ended, last } = &mut node.work {
            if end.now <= *ended && end.serial <= *last {
                return;
            }
            (*ended, *last) = (end.now, end.serial);
        }
        if !node.has(IS_ATTRIBUTED) {
            node.waited = end.waited;
            return;
        }
        debug_assert!(end.account != NONE, "an attributed chain follows an attributed chain");
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

    /// Returns the component that a node waited for last before it was ready. The waits of
    /// operations that the node blocked count as this component.
    #[inline(always)]
    fn last_blocker(&mut self, at: u32) -> Component {
        let component = self.nodes[at].component;
        self.account(at).map_or(component, |account| account.last_blocker)
    }

    /// Removes one hazard of an operation. The operation's wait counts as `component`. An erase can
    /// have several hazards: its wait counts as [`Component::Die`].
    #[inline(always)]
    fn release_blocked(&mut self, at: u32, component: Component) {
        let node = &mut self.nodes[at];
        node.hazards -= 1;
        // Another hazard remains, or the chain has not ended: then its end releases the operation.
        if node.hazards > 0 || !node.has(IS_BLOCKED) {
            return;
        }
        self.ready.push(at);
        let is_erase = matches!(node.work, Work::Flash(Operation { kind: Kind::Erase, .. }));
        if let Some(account) = self.account(at) {
            account.blocked_by = if is_erase { Component::Die } else { component };
        }
    }

    /// Removes and returns a ready node.
    #[inline(always)]
    pub fn pop_ready(&mut self) -> Option<u32> {
        self.ready.pop()
    }

    /// Returns the number of nodes that are not complete.
    pub fn outstanding(&self) -> usize {
        self.nodes.len()
    }
}

/// Data that a complete node passes to the nodes that wait for it.
struct End {
    now: u64,
    serial: u64,
    account: u32,
    /// Whether a chain has taken over the account: further chains get copies.
    is_taken: bool,
    waited: u64,
    last_blocker: Component,
}
