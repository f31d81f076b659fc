//! The graph of what is not complete yet: nodes, and who waits for whom.
//!
//! Its memory is that of the work outstanding: nodes and edges are used again.

use alloc::vec::Vec;

use super::lanes::Lane;
use crate::clock::{Blame, Chain, NONE, Part, Server};

/// What a node does when nothing is left that it waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// It is complete.
    Nothing,
    /// It takes its time, of its part.
    Delay,
    /// It waits for its server, and is complete when its time has passed.
    Serve(Server),
    /// It gives back a core, and is complete.
    Release,
    /// It waits for its die.
    Flash(Kind),
}

/// Operations of the flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Read,
    Program,
    Erase,
}

/// Where an operation of the flash is done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Site {
    pub(super) die: u32,
    pub(super) unit: u32,
    pub(super) row: u32,
    /// The page, for who looks for its program.
    pub(super) page: u32,
    /// The number of a unit and one of its dies.
    pub(super) slot: u32,
    /// The plane among those of the die.
    pub(super) plane: u8,
}

/// Something to be done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Grows with every node: what is older goes first where times are equal. 0 for none.
    pub(super) serial: u64,
    /// How long the cells, the delay or the service take.
    pub(super) ns: u64,
    /// When the server takes the next one.
    pub(super) hold: u64,
    /// As its end is to be told, or [`UNWATCHED`].
    pub(super) ticket: u64,
    pub(super) site: Site,
    /// What is to happen before it is ready, and of that ends of chains and work.
    pub(super) pending: u32,
    pub(super) follows: u32,
    /// The next page of a multi-plane operation.
    pub(super) next: u32,
    /// The changes of the same unit on the same die before and after this one.
    pub(super) before: u32,
    pub(super) after: u32,
    /// Those who read the same unit.
    pub(super) readers: u32,
    /// The core that its chain holds.
    pub(super) core: u32,
    /// Who waits for it: the first of them, and those behind.
    first: u32,
    first_edge: Edge,
    edges: u32,
    pub(super) work: Work,
    /// What another is told that waits for this.
    pub(super) part: Part,
    /// Whether a read of the host waits for it.
    pub(super) is_read: bool,
    /// Whether somebody will be told what its time went into.
    pub(super) is_told: bool,
    /// Whether it was held back when its chain had ended.
    pub(super) is_held: bool,
    /// Whether it has come to stand before its die.
    pub(super) has_entered: bool,
}

/// No ticket.
pub(super) const UNWATCHED: u64 = u64::MAX;

/// What the time since a chain began went into. Of a node that is not told, only how long it waited
/// for operations of the host is kept, as [`Part::Die`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    /// While the node waits for something, the account of that is taken off here, to be added when
    /// it waits no more.
    pub(super) blame: Blame,
    /// When the chain before it ended; when it began to wait.
    pub(super) time: u64,
    /// All of the account of its die when it was held back.
    total: u64,
    /// The serial of the node whose blame it has taken over.
    heir_of: u64,
    /// What it waited for last before it was ready, and what that would be if it was held back.
    kept_by: Part,
    held_by: Part,
}

/// Why one node waits for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    /// It goes on in this chain.
    Chain,
    /// It waits for this work as a whole, and is told so as its own part.
    Work,
    /// Its operation must not be done before.
    Hazard,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    to: u32,
    next: u32,
    edge: Edge,
}

impl Account {
    fn new(time: u64, kept_by: Part) -> Self {
        Self { blame: Blame::default(), time, total: 0, heir_of: 0, kept_by, held_by: kept_by }
    }
}

/// Nodes and edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    accounts: Vec<Account>,
    free: Vec<u32>,
    edges: Vec<Link>,
    free_edges: Vec<u32>,
    serial: u64,
}

impl Graph {
    /// A node that follows a chain.
    #[inline(always)]
    pub(super) fn add(&mut self, work: Work, part: Part, ns: u64, chain: Chain, now: u64) -> u32 {
        self.serial += 1;
        let node = Node {
            serial: self.serial,
            ns,
            hold: 0,
            ticket: UNWATCHED,
            site: Site::default(),
            pending: 0,
            follows: 0,
            next: NONE,
            before: NONE,
            after: NONE,
            readers: NONE,
            core: chain.core,
            first: NONE,
            first_edge: Edge::Chain,
            edges: NONE,
            work,
            part,
            is_read: chain.is_read,
            is_told: chain.is_told,
            is_held: false,
            has_entered: false,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.accounts.push(Account::new(now, part));
                self.nodes.len() as u32 - 1
            }
        };
        if chain.is_told {
            self.accounts[at as usize] = Account::new(now, part);
        } else {
            let account = &mut self.accounts[at as usize];
            (account.time, account.heir_of) = (now, 0);
            account.blame.0[Part::Die as usize] = 0;
        }
        self.follow(at, chain, Edge::Chain);
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
        let waiting = &mut self.nodes[node as usize];
        waiting.pending += 1;
        waiting.follows += u32::from(edge != Edge::Hazard);
        let awaited = &mut self.nodes[first as usize];
        if awaited.first == NONE {
            (awaited.first, awaited.first_edge) = (node, edge);
            return;
        }
        let edge = Link { to: node, next: awaited.edges, edge };
        let at = match self.free_edges.pop() {
            Some(at) => {
                self.edges[at as usize] = edge;
                at
            }
            None => {
                self.edges.push(edge);
                self.edges.len() as u32 - 1
            }
        };
        self.nodes[first as usize].edges = at;
    }

    /// Whether what a chain ends with is not complete.
    #[inline(always)]
    pub(super) fn is_live(&self, chain: Chain) -> bool {
        chain.node != NONE && self.nodes[chain.node as usize].serial == chain.serial
    }

    /// The chain that ends with a node.
    #[inline(always)]
    pub(super) fn chain(&self, node: u32, before: Chain) -> Chain {
        Chain { node, serial: self.nodes[node as usize].serial, ..before }
    }

    #[inline(always)]
    pub(super) fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    #[inline(always)]
    pub(super) fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    /// What the time of a node went into, if somebody will be told.
    #[inline(always)]
    pub(super) fn account(&mut self, at: u32) -> Option<&mut Account> {
        self.nodes[at as usize].is_told.then(|| &mut self.accounts[at as usize])
    }

    /// A node begins to wait for what a die or a channel does, of which this is the account.
    #[inline(always)]
    pub(super) fn begin_wait(&mut self, at: u32, now: u64, of: &Lane) {
        let account = &mut self.accounts[at as usize];
        if self.nodes[at as usize].is_told {
            (account.time, account.total) = (now, of.total);
            account.blame.take_all(&of.blame);
        } else {
            let waited = &mut account.blame.0[Part::Die as usize];
            *waited = waited.wrapping_sub(of.blame.0[Part::Die as usize]);
        }
    }

    /// A node has waited for that.
    #[inline(always)]
    pub(super) fn end_wait(&mut self, at: u32, of: &Lane) {
        let account = &mut self.accounts[at as usize];
        if self.nodes[at as usize].is_told {
            account.blame.add_all(&of.blame);
        } else {
            account.blame.add(Part::Die, of.blame.0[Part::Die as usize]);
        }
    }

    /// A node that was held back is held back no more. While its die was idle it waited for what
    /// held it back.
    pub(super) fn was_held(&mut self, at: u32, now: u64, die: &Lane) {
        if let Some(account) = self.account(at) {
            let waited = now - account.time;
            if waited > 0 {
                account.kept_by = account.held_by;
                account.blame.add(account.kept_by, waited - (die.total - account.total));
            }
        }
    }

    /// A node is complete at `now`: it is gone, and those who wait for no chain are `ready`.
    #[inline(always)]
    pub(super) fn complete(&mut self, at: u32, now: u64, ready: &mut Vec<u32>) {
        let &Node { first, first_edge, mut edges, .. } = &self.nodes[at as usize];
        if first != NONE {
            self.pass_on(at, first, first_edge, now, ready);
        }
        while edges != NONE {
            let Link { to, next, edge } = self.edges[edges as usize];
            self.free_edges.push(edges);
            edges = next;
            self.pass_on(at, to, edge, now, ready);
        }
        self.nodes[at as usize].serial = 0;
        self.free.push(at);
    }

    /// One that waits for a node that is complete waits for it no more.
    #[inline(always)]
    fn pass_on(&mut self, at: u32, to: u32, edge: Edge, now: u64, ready: &mut Vec<u32>) {
        match edge {
            Edge::Chain => self.inherit(to, now, at),
            Edge::Work => self.waited_for_work(to, now, at),
            Edge::Hazard => return self.release_held(to, self.kept_by(at), ready),
        }
        let node = &mut self.nodes[to as usize];
        node.pending -= 1;
        node.follows -= 1;
        if node.follows == 0 {
            ready.push(to);
        }
    }

    /// The end of a chain that a node goes on: the last end counts, and of those at one time that
    /// of the youngest.
    #[inline(always)]
    fn inherit(&mut self, to: u32, now: u64, from: u32) {
        let &Node { serial, work, part, is_told, .. } = &self.nodes[from as usize];
        let is_heir_told = self.nodes[to as usize].is_told;
        debug_assert!(is_told || !is_heir_told, "what is told follows what is told");
        let heir = &mut self.accounts[to as usize];
        if now <= heir.time && serial <= heir.heir_of {
            return;
        }
        (heir.time, heir.heir_of) = (now, serial);
        if is_heir_told {
            let Account { blame, kept_by, .. } = self.accounts[from as usize];
            let kept_by = if work == Work::Nothing { kept_by } else { part };
            let heir = &mut self.accounts[to as usize];
            (heir.blame, heir.kept_by) = (blame, kept_by);
        } else if !is_told {
            let waited = self.accounts[from as usize].blame.0[Part::Die as usize];
            self.accounts[to as usize].blame.0[Part::Die as usize] = waited;
        }
    }

    /// Work has ended that a node waits for as a whole. What of that time the work itself waited
    /// for operations of the host is told as such: it would have passed without the work, too.
    fn waited_for_work(&mut self, to: u32, now: u64, work: u32) {
        let Node { is_told, .. } = self.nodes[work as usize];
        let of_host = self.accounts[work as usize].blame.0[Part::Die as usize];
        let part = self.nodes[to as usize].part;
        let Some(account) = self.account(to) else { return };
        if now > account.time {
            let waited = now - account.time;
            let of_host = if is_told { 0 } else { of_host.min(waited) };
            account.blame.add(Part::Die, of_host);
            account.blame.add(part, waited - of_host);
            (account.time, account.kept_by) = (now, part);
        }
    }

    /// What a node waited for last before it was ready, as others are told that wait for that.
    #[inline(always)]
    pub(super) fn kept_by(&self, at: u32) -> Part {
        let node = &self.nodes[at as usize];
        if node.is_told { self.accounts[at as usize].kept_by } else { node.part }
    }

    /// One thing less that holds an operation back; it was kept by `part`. An erase that waits for
    /// more than one thing is told so as the host's.
    #[inline(always)]
    pub(super) fn release_held(&mut self, at: u32, part: Part, ready: &mut Vec<u32>) {
        let node = &mut self.nodes[at as usize];
        node.pending -= 1;
        // If it is not held back yet it will find that it need not be.
        if node.pending > 0 || !node.is_held {
            return;
        }
        ready.push(at);
        let part = if node.work == Work::Flash(Kind::Erase) { Part::Die } else { part };
        if let Some(account) = self.account(at) {
            account.held_by = part;
        }
    }

    /// Nodes that are not complete.
    pub(super) fn outstanding(&self) -> usize {
        self.nodes.len() - self.free.len()
    }
}
