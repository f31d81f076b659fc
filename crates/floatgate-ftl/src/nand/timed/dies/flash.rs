//! How dies and channels carry out an operation, from its beginning to its end.

use super::context::DieContext;
use super::die::{CHANGES, DieOp, ERASE, Next, READS, URGENT, node_of};
use crate::clock::{Component, NONE};
use crate::nand::timed::events::{Event, FixedDelay, NEVER};
use crate::nand::timed::graph::{IS_ATTRIBUTED, IS_READ, Kind, Operation, planes};
use crate::nand::timed::wait_queue::Waiting;

impl DieContext<'_> {
    /// Enters an operation without hazards into the queue of the die.
    #[inline(always)]
    pub fn enter(&mut self, at: u32) {
        self.account();
        let node = self.nodes.enter(at, self.now, self.die.account());
        let &Operation { kind, after, .. } = node.operation();
        let (queue, entry) = match kind {
            Kind::Read if self.shared.schedule.order.is_urgent(node.has(IS_READ)) => (URGENT, at),
            Kind::Read => (READS, at),
            Kind::Program => (CHANGES, at),
            Kind::Erase => (CHANGES, at | ERASE),
        };
        self.die.queues[queue].push(Waiting { since: self.now, serial: node.serial, entry });
        self.set_dirty_if_free();
        if after != NONE {
            self.nodes.release_next(at, after);
        }
    }

    /// Begins the wait of an operation that a hazard blocks.
    pub fn block(&mut self, at: u32) {
        self.account();
        self.nodes.block(at, self.now, self.die.account());
    }

    /// Begins all operations that the die can begin.
    #[inline(always)]
    pub fn begin_all(&mut self) {
        self.die.is_dirty = false;
        loop {
            match self.die.next(self.now, &self.shared.schedule) {
                Next::Nothing => return self.wake_when_starved(),
                Next::Begin(queue) => self.begin(queue),
                Next::Load => self.load(),
                Next::Suspend => self.suspend(),
                Next::Resume => self.resume(),
            }
            if !self.die.may_begin(&self.shared.schedule) {
                return;
            }
        }
    }

    /// Wakes the die when a program has waited long enough behind urgent reads. The program may
    /// then be transferred while the cells work.
    #[inline(always)]
    fn wake_when_starved(&mut self) {
        if let Some(time) = self.die.starves_at(&self.shared.schedule)
            && time > self.now
        {
            self.events.push(time, Event::Wake(self.die.number));
        }
    }

    /// Begins the first operation of a queue, together with the operations behind it that other
    /// planes can do at the same time.
    #[inline(always)]
    fn begin(&mut self, queue: usize) {
        self.account();
        let Some((mut op, first)) = self.pop(queue) else { unreachable!("an operation is next") };
        if self.shared.planes > 1 && op.kind != Kind::Erase {
            self.join_planes(queue, &mut op, first);
        }
        let began = self.now + self.shared.timing.command_ns;
        match op.kind {
            Kind::Read => self.work(op, began),
            Kind::Erase => {
                self.work(op, began);
                self.work_from(began);
            }
            Kind::Program => {
                self.die.register = Some(op);
                self.die.left = op.pages;
                if began > self.now {
                    self.die.is_commanded = true;
                    let event = Event::Commanded(self.die.number);
                    self.events.push_fixed(FixedDelay::COMMAND, began, event);
                } else {
                    self.transfer();
                }
            }
        }
        self.update_activity();
    }

    /// Lets the cells work on an operation, from `began` on.
    #[inline(always)]
    fn work(&mut self, op: DieOp, began: u64) {
        let ends = began + op.ends;
        self.die.array = Some(DieOp { began, ends, ..op });
        self.die.due = ends;
        self.events.push_fixed(op.delay, ends, Event::Cells(self.die.number));
    }

    /// Adds operations from the head of a queue to an operation, while they are of the same unit
    /// and row and of other planes.
    fn join_planes(&mut self, queue: usize, op: &mut DieOp, first: Operation) {
        let mut last = op.head;
        let mut taken = planes(first.plane, self.nodes.node(last).pages);
        while let Some(&Waiting { since, entry, .. }) = self.die.queues[queue].first()
            && entry == node_of(entry)
        {
            let node = self.nodes.node(entry);
            let (operation, pages) = (node.operation(), node.pages);
            let (slot, row, plane) = (operation.slot, operation.row, operation.plane);
            let free = (taken >> plane).trailing_zeros().min(pages.into()) as u8;
            if (slot, row) != (first.slot, first.row) || free == 0 {
                break;
            }
            let rest = (free < pages).then(|| self.split(entry, free, since));
            op.is_attributed |= self.pop(queue).is_some_and(|(page, _)| page.is_attributed);
            rest.into_iter().for_each(|rest| self.die.queues[queue].put_back(rest));
            self.nodes.operation_mut(last).next = entry;
            (last, taken) = (entry, taken | planes(plane, free));
            op.pages += 1;
        }
    }

    /// Splits a read that has waited since `since`: returns the pages behind the first `pages`.
    #[cold]
    fn split(&mut self, at: u32, pages: u8, since: u64) -> Waiting {
        let rest = self.nodes.split(at, pages);
        Waiting { since, serial: self.nodes.node(rest).serial, entry: rest }
    }

    /// Takes the first operation out of a queue. Its wait for the die ends.
    #[inline(always)]
    fn pop(&mut self, queue: usize) -> Option<(DieOp, Operation)> {
        let entry = self.die.queues[queue].pop()?.entry;
        let head = node_of(entry);
        if let Some(next) = self.die.queues[queue].first() {
            self.nodes.prefetch(node_of(next.entry));
        }
        let node = self.nodes.begin(head, self.shared.timing.command_ns, self.die.account());
        let (component, is_attributed, first) =
            (node.component, node.has(IS_ATTRIBUTED), *node.operation());
        let Operation { kind, row, .. } = first;
        let (delay, ends) = self.shared.cells(kind, row);
        let (began, pages, suspensions) = (0, self.shared.transfers(kind, row), 0);
        Some((
            DieOp { began, ends, head, pages, suspensions, kind, component, delay, is_attributed },
            first,
        ))
    }

    /// Programs the transferred pages.
    #[inline(always)]
    fn load(&mut self) {
        self.account();
        if let Some(op) = self.die.register.take() {
            self.waited_for_die(op.head);
            self.work(op, self.now);
        }
        self.update_activity();
    }

    /// Ends the operation in the cells, or completes its interruption.
    #[inline(always)]
    pub fn end_cells(&mut self) {
        if self.die.due != self.now {
            return;
        }
        self.die.due = NEVER;
        self.account();
        let Some(op) = self.die.array.take() else { return };
        if self.die.is_suspending {
            self.die.is_suspending = false;
            self.die.suspended = Some(op);
        } else {
            self.charge(&op, op.component, self.now - op.began);
            match op.kind {
                Kind::Read if self.die.register.is_none() => self.read_out(op),
                Kind::Read => self.die.array = Some(op),
                Kind::Program | Kind::Erase => {
                    self.pages(op.head, |context, at| context.shared.complete(at, context.now));
                }
            }
        }
        self.update_activity();
        self.set_dirty_if_free();
    }

    /// Moves the pages that the cells have read to the register, and on to the channel.
    #[inline(always)]
    fn read_out(&mut self, op: DieOp) {
        self.charge(&op, Component::Bus, self.now - op.ends);
        self.die.register = Some(op);
        self.die.left = op.pages;
        self.transfer();
    }

    /// Moves a read that the cells kept, because the register was occupied, to the free register.
    fn read_out_next(&mut self) {
        let is_read = |op: &mut DieOp| op.kind == Kind::Read && self.die.due == NEVER;
        if let Some(op) = self.die.array.take_if(is_read) {
            self.read_out(op);
        }
    }

    /// Ends a command, and begins to transfer the pages of its operation.
    pub fn commanded(&mut self) {
        self.account();
        self.die.is_commanded = false;
        self.transfer();
        self.update_activity();
        self.die.set_dirty(self.shared);
    }

    /// Transfers the pages in the register.
    #[inline(always)]
    fn transfer(&mut self) {
        let Some(DieOp { head, is_attributed, .. }) = self.die.register else { return };
        if self.shared.timing.transfer_ns == 0 {
            return self.pages(head, |context, at| context.transferred(at));
        }
        self.channel.account_for(self.now);
        self.pages(head, |context, at| {
            if is_attributed {
                context.nodes.begin_wait(at, context.now, context.channel.account());
            }
            context.queue_for_channel(at);
        });
    }

    /// Queues a page, or a piece of a program unit, for the channel.
    #[inline(always)]
    fn queue_for_channel(&mut self, at: u32) {
        let (since, serial) = (self.now, self.nodes.node(at).serial);
        self.channel.push(Waiting { since, serial, entry: at }, &mut self.shared.dirty_channels);
    }

    /// Lets the channel take a page of the die. A page without an account only counts waits of
    /// [`Component::Die`]. No wait for a channel is of this component, so the page records none.
    #[inline(always)]
    pub fn begin_transfer(&mut self, at: u32) {
        let node = self.nodes.node(at);
        let (component, is_attributed) = (node.component, node.has(IS_ATTRIBUTED));
        let pages = self.shared.pages_of_transfer(node.operation().kind, node);
        let saved_ns = self.nodes.saved_ns(at);
        self.channel.account_for(self.now);
        if is_attributed {
            self.nodes.end_wait(at, self.channel.account());
        }
        self.account();
        let ns = self.shared.timing.transfer_ns * u64::from(pages) - saved_ns;
        self.channel.begin(at, component, ns);
        self.die.is_transferring = true;
        self.update_activity();
        let (end, event) = (self.now + ns, Event::Transfer(self.die.number));
        match self.shared.delay_of_transfer(pages, saved_ns) {
            Some(delay) => self.events.push_fixed(delay, end, event),
            None => self.events.push(end, event),
        }
    }

    /// Ends the transfer of a page.
    #[inline(always)]
    pub fn end_transfer(&mut self) {
        self.account();
        let at = self.channel.current;
        let ns = self.channel.end(self.now, &mut self.shared.dirty_channels);
        self.die.is_transferring = false;
        if self.die.register.is_some_and(|op| op.is_attributed) {
            self.nodes.charge(at, Component::Bus, ns);
        }
        self.transferred(at);
        self.update_activity();
        self.set_dirty_if_free();
    }

    /// Notes that a page has arrived. A read is complete; a program waits for the other pages of
    /// its operation, and for the cells.
    #[inline(always)]
    fn transferred(&mut self, at: u32) {
        let Some(DieOp { kind, is_attributed, .. }) = self.die.register else { return };
        self.die.left -= 1;
        if kind == Kind::Read {
            self.shared.complete(at, self.now);
            if self.die.left == 0 {
                self.die.register = None;
                self.read_out_next();
            }
            return;
        }
        if is_attributed && let Some(account) = self.nodes.account(at) {
            account.time = self.now;
        }
        if self.die.left == 0 {
            self.wait_for_cells();
        } else if self.shared.has_program_units() {
            self.queue_for_channel(at);
        }
    }

    /// Passes on a program whose pages are all in the register. Idle cells take it at once, but a
    /// program that takes no time has to wait for its turn.
    #[inline(always)]
    fn wait_for_cells(&mut self) {
        let Some(op) = self.die.register else { return };
        if op.is_attributed {
            self.pages(op.head, |context, at| {
                if let Some(account) = context.nodes.account(at) {
                    account.blame.add(Component::Bus, context.now - account.time);
                }
            });
        }
        if self.die.array.is_none() && self.die.suspended.is_none() && op.ends > 0 {
            self.die.register = None;
            self.work(op, self.now);
        } else {
            self.wait_for_die(op.head);
        }
    }
}
