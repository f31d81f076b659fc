//! Waits of nodes for dies and channels.

use super::node::{HAS_ENTERED, IS_BLOCKED, Node};
use super::nodes::Nodes;
use crate::clock::{Blame, Component, NONE};

impl Nodes {
    /// Begins a node's wait for a die or a channel, whose account is `of`.
    #[inline(always)]
    pub fn begin_wait(&mut self, at: u32, now: u64, of: &Blame) {
        let node = &mut self.nodes[at];
        if node.account == NONE {
            node.waited = node.waited.wrapping_sub(of.0[Component::Die as usize]);
        } else {
            self.accounts[node.account].begin_wait(now, of);
        }
    }

    /// Ends a node's wait for a die or a channel, whose account is `of`.
    #[inline(always)]
    pub fn end_wait(&mut self, at: u32, of: &Blame) {
        let node = &mut self.nodes[at];
        if node.account == NONE {
            node.waited = node.waited.wrapping_add(of.0[Component::Die as usize]);
        } else {
            self.accounts[node.account].blame.add_all(of);
        }
    }

    /// Begins an operation, whose command takes `command_ns`. Its wait for the die ends.
    #[inline(always)]
    pub fn begin(&mut self, at: u32, command_ns: u64, of: &Blame) -> &Node {
        let node = &mut self.nodes[at];
        if node.account == NONE {
            node.waited = node.waited.wrapping_add(of.0[Component::Die as usize]);
        } else {
            let blame = &mut self.accounts[node.account].blame;
            blame.add_all(of);
            blame.add(Component::Bus, command_ns);
        }
        node
    }

    /// Blocks an operation whose chain has ended, because a hazard remains. Its wait for the die,
    /// whose account is `of`, begins.
    pub fn block(&mut self, at: u32, now: u64, of: &Blame) {
        self.begin_wait(at, now, of);
        self.nodes[at].flags |= IS_BLOCKED;
    }

    /// Enters a node into the queue of its die, whose account is `of`.
    #[inline(always)]
    pub fn enter(&mut self, at: u32, now: u64, of: &Blame) -> &Node {
        let node = &mut self.nodes[at];
        node.flags |= HAS_ENTERED;
        let is_blocked = node.has(IS_BLOCKED);
        if node.account != NONE {
            let account = &mut self.accounts[node.account];
            match is_blocked {
                true => account.was_blocked(now, of),
                false => account.begin_wait(now, of),
            }
        } else if !is_blocked {
            node.waited = node.waited.wrapping_sub(of.0[Component::Die as usize]);
        }
        node
    }
}
