//! How dies and channels carry out an operation, from its beginning to its end.

use super::events::{Event, FixedDelay, NEVER};
use super::lanes::{Channel, Die, DieOp, Next, node_of};
use super::node::{Kind, Operation, is_slc};
use super::scheduler::Scheduler;
use super::state::SchedulerState;
use super::wait_queue::Waiting;
use crate::clock::{Component, NONE};

/// A die, its channel, and the state that they share.
pub(super) struct DieContext<'a> {
    pub(super) die: &'a mut Die,
    pub(super) channel: &'a mut Channel,
    pub(super) state: &'a mut SchedulerState,
}

impl Scheduler {
    /// Borrows a die, its channel, and the state that they share.
    #[inline(always)]
    pub(super) fn context(&mut self, die: usize) -> DieContext<'_> {
        self.record_die(die);
        let die = &mut self.dies[die];
        DieContext { channel: &mut self.channels[die.channel], die, state: &mut self.state }
    }

    /// Lets a die begin all operations that it can.
    #[inline(always)]
    pub(super) fn begin_die(&mut self, die: usize) {
        self.context(die).begin_all();
    }

    /// Ends the operation in a die's cells, or completes its interruption.
    #[inline(always)]
    pub(super) fn end_cells(&mut self, die: usize) {
        let mut context = self.context(die);
        if context.die.due == context.state.now {
            context.end_cells();
            context.die.set_dirty_if_free(context.state);
            self.complete_all();
        }
    }

    /// Ends a command: the pages of the operation follow.
    pub(super) fn commanded(&mut self, die: usize) {
        self.context(die).commanded();
        self.set_die_dirty(die);
    }

    /// Lets a channel take the page that was ready first.
    #[inline(always)]
    pub(super) fn begin_transfer(&mut self, channel: usize) {
        let next = &mut self.channels[channel];
        next.clear_dirty();
        let Some(Waiting { entry: at, .. }) = next.queue.pop() else { return };
        let die = self.state.graph.operation(at).die;
        self.context(usize::from(die)).begin_transfer(at);
        self.record_transfer(channel);
    }

    /// Ends the transfer of a page.
    #[inline(always)]
    pub(super) fn end_transfer(&mut self, channel: usize) {
        let at = self.channels[channel].current;
        let die = usize::from(self.state.graph.operation(at).die);
        let mut context = self.context(die);
        context.end_transfer(at);
        context.die.set_dirty_if_free(context.state);
        self.complete_all();
    }

    #[inline(always)]
    fn complete_all(&mut self) {
        while let Some(at) = self.state.completed.pop() {
            self.complete_flash(at);
        }
    }
}

impl DieContext<'_> {
    /// Brings the account of the die up to date. Call it before the die changes.
    #[inline(always)]
    pub(super) fn account(&mut self) {
        self.die.account_for(self.state.now, self.channel);
    }

    /// Updates the activity of the die. Call it after the die has changed.
    #[inline(always)]
    pub(super) fn update_activity(&mut self) {
        self.die.update_activity(self.state.now, self.channel);
    }

    #[inline(always)]
    fn begin_all(&mut self) {
        self.die.clear_dirty();
        loop {
            match self.die.next(self.state.now, &self.state.schedule) {
                Next::Nothing => return self.wake_when_starved(),
                Next::Begin(queue) => self.begin(queue),
                Next::Load => self.load(),
                Next::Suspend => self.suspend(),
                Next::Resume => self.resume(),
            }
            if !self.die.may_begin(&self.state.schedule) {
                return;
            }
        }
    }

    /// Wakes the die when a program has waited long enough behind urgent reads. The program may
    /// then be transferred while the cells work.
    #[inline(always)]
    fn wake_when_starved(&mut self) {
        if let Some(time) = self.die.starves_at(&self.state.schedule)
            && time > self.state.now
        {
            self.state.events.push(time, Event::Wake(self.die.number));
        }
    }

    /// Begins the first operation of a queue, together with the operations behind it that other
    /// planes can do at the same time.
    #[inline(always)]
    fn begin(&mut self, queue: usize) {
        self.account();
        let Some((mut op, first)) = self.pop(queue) else { unreachable!("an operation is next") };
        if self.state.planes > 1 && op.kind != Kind::Erase {
            self.join_planes(queue, &mut op, first);
        }
        let began = self.state.now + self.state.timing.command_ns;
        match op.kind {
            Kind::Read => self.work(op, began),
            Kind::Erase => {
                self.work(op, began);
                self.work_from(began);
            }
            Kind::Program => {
                self.die.register = Some(op);
                self.die.left = op.pages;
                if began > self.state.now {
                    self.die.is_commanded = true;
                    let event = Event::Commanded(self.die.number);
                    self.state.events.push_fixed(FixedDelay::COMMAND, began, event);
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
        self.state.events.push_fixed(op.delay, ends, Event::Cells(self.die.number));
    }

    /// Returns the delay of an operation, and the time that the cells take.
    #[inline(always)]
    pub(super) fn cells(&self, kind: Kind, row: u32) -> (FixedDelay, u64) {
        if let Some(slc) = self.state.schedule.slc.filter(|_| is_slc(row)) {
            match kind {
                Kind::Read => return (FixedDelay::read(FixedDelay::SLC), slc.read_ns),
                Kind::Program => return (FixedDelay::program(FixedDelay::SLC), slc.program_ns),
                Kind::Erase => {}
            }
        }
        let pages = self.state.schedule.pages.as_ref();
        let of = pages.map_or(0, |pages| row % pages.types);
        match kind {
            Kind::Erase => (FixedDelay::ERASE, self.state.timing.erase_ns),
            Kind::Read => {
                let ns =
                    pages.map_or(self.state.timing.read_ns, |pages| pages.read_ns[of as usize]);
                (FixedDelay::read(of), ns)
            }
            Kind::Program => {
                let ns = pages
                    .map_or(self.state.timing.program_ns, |pages| pages.program_ns[of as usize]);
                (FixedDelay::program(of), ns)
            }
        }
    }

    /// Adds operations from the head of a queue to an operation, while they are of the same unit
    /// and row and of other planes.
    fn join_planes(&mut self, queue: usize, op: &mut DieOp, first: Operation) {
        let (mut last, mut planes) = (op.head, 1_u64 << first.plane());
        while let Some(&Waiting { entry, .. }) = self.die.queues[queue].first()
            && entry == node_of(entry)
        {
            let operation = self.state.graph.operation(entry);
            let (slot, row, plane) = (operation.slot, operation.row, operation.plane());
            if (slot, row) != (first.slot, first.row) || planes & 1 << plane != 0 {
                break;
            }
            op.is_attributed |= self.pop(queue).is_some_and(|(page, _)| page.is_attributed);
            self.state.graph.operation_mut(last).next = entry;
            (last, planes) = (entry, planes | 1 << plane);
            op.pages += 1;
        }
    }

    /// Takes the first operation out of a queue. Its wait for the die ends.
    #[inline(always)]
    fn pop(&mut self, queue: usize) -> Option<(DieOp, Operation)> {
        let entry = self.die.queues[queue].pop()?.entry;
        let head = node_of(entry);
        if let Some(next) = self.die.queues[queue].first() {
            self.state.graph.prefetch(node_of(next.entry));
        }
        let node = self.state.graph.begin(head, self.state.timing.command_ns, self.die.account());
        let (component, is_attributed, first) =
            (node.component, node.is_attributed(), *node.operation());
        let Operation { kind, row, .. } = first;
        let (delay, ends) = self.cells(kind, row);
        let (began, pages, suspensions) = (0, self.state.transfers(kind, row), 0);
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
            self.work(op, self.state.now);
        }
        self.update_activity();
    }

    /// Ends the operation in the cells, or completes its interruption.
    #[inline(always)]
    fn end_cells(&mut self) {
        self.die.due = NEVER;
        self.account();
        let Some(op) = self.die.array.take() else { return };
        if self.die.is_suspending {
            self.die.is_suspending = false;
            self.die.suspended = Some(op);
        } else {
            self.charge(&op, op.component, self.state.now - op.began);
            match op.kind {
                Kind::Read if self.die.register.is_none() => self.read_out(op),
                Kind::Read => self.die.array = Some(op),
                Kind::Program | Kind::Erase => self.complete_pages(op.head),
            }
        }
        self.update_activity();
    }

    /// Visits the pages of an operation, one after the other.
    #[inline(always)]
    fn pages(&mut self, head: u32, mut each: impl FnMut(&mut Self, u32)) {
        let mut at = head;
        while at != NONE {
            let next = self.state.graph.operation(at).next;
            each(self, at);
            at = next;
        }
    }

    /// Adds time to the accounts of all pages of an operation.
    #[inline(always)]
    pub(super) fn charge(&mut self, op: &DieOp, component: Component, ns: u64) {
        if op.is_attributed {
            self.pages(op.head, |context, at| {
                if let Some(account) = context.state.graph.account(at) {
                    account.blame.add(component, ns);
                }
            });
        }
    }

    /// Begins the wait of an operation's pages for their die.
    #[inline(always)]
    pub(super) fn wait_for_die(&mut self, head: u32) {
        self.pages(head, |context, at| {
            context.state.graph.begin_wait(at, context.state.now, context.die.account());
        });
    }

    /// Ends the wait of an operation's pages for their die.
    #[inline(always)]
    pub(super) fn waited_for_die(&mut self, head: u32) {
        self.pages(head, |context, at| {
            context.state.graph.end_wait(at, context.die.account());
        });
    }

    #[inline(always)]
    fn complete_pages(&mut self, head: u32) {
        self.pages(head, |context, at| context.state.completed.push(at));
    }

    /// Moves the pages that the cells have read to the register, and on to the channel.
    #[inline(always)]
    fn read_out(&mut self, op: DieOp) {
        self.charge(&op, Component::Bus, self.state.now - op.ends);
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

    fn commanded(&mut self) {
        self.account();
        self.die.is_commanded = false;
        self.transfer();
        self.update_activity();
    }

    /// Transfers the pages in the register.
    #[inline(always)]
    fn transfer(&mut self) {
        let Some(DieOp { head, is_attributed, .. }) = self.die.register else { return };
        if self.state.timing.transfer_ns == 0 {
            return self.pages(head, |context, at| context.transferred(at));
        }
        self.channel.account_for(self.state.now);
        self.pages(head, |context, at| {
            if is_attributed {
                context.state.graph.begin_wait(at, context.state.now, context.channel.account());
            }
            context.queue_for_channel(at);
        });
    }

    /// Queues a page, or a piece of a program unit, for the channel.
    #[inline(always)]
    fn queue_for_channel(&mut self, at: u32) {
        let (since, serial) = (self.state.now, self.state.graph.node(at).serial);
        self.channel.queue.push(Waiting { since, serial, entry: at });
        self.channel.set_dirty_if_free(&mut self.state.dirty_channels);
    }

    /// Lets the channel take a page of the die. A page without an account skips the record of its
    /// wait. Such a page only counts waits for host operations in the cells, and a wait for a
    /// channel is none.
    #[inline(always)]
    fn begin_transfer(&mut self, at: u32) {
        let node = self.state.graph.node(at);
        let (component, is_attributed) = (node.component, node.is_attributed());
        let pages = self.state.pages_of_transfer(node.operation());
        let saved_ns = self.state.saved_ns(at);
        self.channel.account_for(self.state.now);
        if is_attributed {
            self.state.graph.end_wait(at, self.channel.account());
        }
        self.account();
        self.channel.current = at;
        self.channel.component = Channel::component_of_wait(component);
        self.channel.transfer_ns = self.state.timing.transfer_ns * u64::from(pages) - saved_ns;
        self.die.is_transferring = true;
        self.update_activity();
        let end = self.state.now + self.channel.transfer_ns;
        let event = Event::Transfer(self.channel.number);
        match self.state.delay_of_transfer(pages, saved_ns) {
            Some(delay) => self.state.events.push_fixed(delay, end, event),
            None => self.state.events.push(end, event),
        }
    }

    /// Ends the transfer of a page.
    #[inline(always)]
    fn end_transfer(&mut self, at: u32) {
        self.account();
        self.channel.account_for(self.state.now);
        self.channel.current = NONE;
        self.channel.set_dirty_if_free(&mut self.state.dirty_channels);
        self.die.is_transferring = false;
        let is_attributed = self.die.register.is_some_and(|op| op.is_attributed);
        if is_attributed && let Some(account) = self.state.graph.account(at) {
            account.blame.add(Component::Bus, self.channel.transfer_ns);
        }
        self.transferred(at);
        self.update_activity();
    }

    /// Notes that a page has arrived. A read is complete; a program waits for the other pages of
    /// its operation, and for the cells.
    #[inline(always)]
    fn transferred(&mut self, at: u32) {
        let Some(DieOp { kind, is_attributed, .. }) = self.die.register else { return };
        self.die.left -= 1;
        if kind == Kind::Read {
            self.state.completed.push(at);
            if self.die.left == 0 {
                self.die.register = None;
                self.read_out_next();
            }
            return;
        }
        if is_attributed && let Some(account) = self.state.graph.account(at) {
            account.time = self.state.now;
        }
        if self.die.left == 0 {
            self.wait_for_cells();
        } else if self.state.has_program_units() {
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
                if let Some(account) = context.state.graph.account(at) {
                    account.blame.add(Component::Bus, context.state.now - account.time);
                }
            });
        }
        if self.die.array.is_none() && self.die.suspended.is_none() && op.ends > 0 {
            self.die.register = None;
            self.work(op, self.state.now);
        } else {
            self.wait_for_die(op.head);
        }
    }
}
