//! How dies and channels carry out an operation, from its beginning to its end.

use super::core::Core;
use super::events::{Event, NEVER, Run};
use super::lanes::{Batch, Channel, Die, Next, node_of};
use super::line::Waiting;
use super::node::{Kind, Operation, is_slc};
use super::scheduler::Scheduler;
use crate::clock::{NONE, Part};

/// A die, its channel, and the state that they share.
pub(super) struct Post<'a> {
    pub(super) die: &'a mut Die,
    pub(super) channel: &'a mut Channel,
    pub(super) core: &'a mut Core,
}

impl Scheduler {
    /// Borrows a die, its channel, and the state that they share.
    #[inline(always)]
    pub(super) fn post(&mut self, die: usize) -> Post<'_> {
        self.record_die(die);
        let die = &mut self.dies[die];
        Post { channel: &mut self.channels[die.channel], die, core: &mut self.core }
    }

    /// Lets a die begin all operations that it can.
    #[inline(always)]
    pub(super) fn begin_die(&mut self, die: usize) {
        self.post(die).begin_all();
    }

    /// Ends the operation in a die's cells, or completes its interruption.
    #[inline(always)]
    pub(super) fn end_cells(&mut self, die: usize) {
        let mut post = self.post(die);
        if post.die.due == post.core.now {
            post.end_cells();
            post.die.mark_if_free(post.core);
            self.complete_all();
        }
    }

    /// Ends a command: the pages of the operation follow.
    pub(super) fn commanded(&mut self, die: usize) {
        self.post(die).commanded();
        self.mark_die(die);
    }

    /// Lets a channel take the page that was ready first.
    #[inline(always)]
    pub(super) fn begin_transfer(&mut self, channel: usize) {
        let next = &mut self.channels[channel];
        next.unmark();
        let Some(Waiting { entry: at, .. }) = next.queue.pop() else { return };
        let die = self.core.graph.operation(at).die;
        self.post(usize::from(die)).begin_transfer(at);
        self.record_transfer(channel);
    }

    /// Ends the transfer of a page.
    #[inline(always)]
    pub(super) fn end_transfer(&mut self, channel: usize) {
        let at = self.channels[channel].current;
        let die = usize::from(self.core.graph.operation(at).die);
        let mut post = self.post(die);
        post.end_transfer(at);
        post.die.mark_if_free(post.core);
        self.complete_all();
    }

    #[inline(always)]
    fn complete_all(&mut self) {
        while let Some(at) = self.core.completed.pop() {
            self.complete_flash(at);
        }
    }
}

impl Post<'_> {
    /// Brings the account of the die up to date. Call it before the die changes.
    #[inline(always)]
    pub(super) fn account(&mut self) {
        self.die.account_for(self.core.now, self.channel);
    }

    /// Updates the activity of the die. Call it after the die has changed.
    #[inline(always)]
    pub(super) fn turn(&mut self) {
        self.die.turn(self.core.now, self.channel);
    }

    #[inline(always)]
    fn begin_all(&mut self) {
        self.die.unmark();
        loop {
            match self.die.next(self.core.now, &self.core.schedule) {
                Next::Nothing => return self.wake_when_starved(),
                Next::Begin(queue) => self.begin(queue),
                Next::Load => self.load(),
                Next::Suspend => self.suspend(),
                Next::Resume => self.resume(),
            }
            if !self.die.may_begin(&self.core.schedule) {
                return;
            }
        }
    }

    /// Wakes the die when a program has waited long enough behind urgent reads. The program may
    /// then be transferred while the cells work.
    #[inline(always)]
    fn wake_when_starved(&mut self) {
        if let Some(time) = self.die.starves_at(&self.core.schedule)
            && time > self.core.now
        {
            self.core.events.push(time, Event::Wake(self.die.number));
        }
    }

    /// Begins the first operation of a queue, together with the operations behind it that other
    /// planes can do at the same time.
    #[inline(always)]
    fn begin(&mut self, queue: usize) {
        self.account();
        let Some((mut batch, first)) = self.pop(queue) else {
            unreachable!("an operation is next")
        };
        if self.core.planes > 1 && batch.kind != Kind::Erase {
            self.join_planes(queue, &mut batch, first);
        }
        let began = self.core.now + self.core.timing.command_ns;
        match batch.kind {
            Kind::Read => self.work(batch, began),
            Kind::Erase => {
                self.work(batch, began);
                self.work_from(began);
            }
            Kind::Program => {
                self.die.register = Some(batch);
                self.die.left = batch.pages;
                if began > self.core.now {
                    self.die.is_commanded = true;
                    let event = Event::Commanded(self.die.number);
                    self.core.events.push_run(Run::COMMAND, began, event);
                } else {
                    self.transfer();
                }
            }
        }
        self.turn();
    }

    /// Lets the cells work on an operation, from `began` on.
    #[inline(always)]
    fn work(&mut self, batch: Batch, began: u64) {
        let ends = began + batch.ends;
        self.die.array = Some(Batch { began, ends, ..batch });
        self.die.due = ends;
        self.core.events.push_run(batch.run, ends, Event::Cells(self.die.number));
    }

    /// Returns the run of an operation, and the time that the cells take.
    #[inline(always)]
    pub(super) fn cells(&self, kind: Kind, row: u32) -> (Run, u64) {
        if let Some(slc) = self.core.schedule.slc.filter(|_| is_slc(row)) {
            match kind {
                Kind::Read => return (Run::read(Run::SLC), slc.read_ns),
                Kind::Program => return (Run::program(Run::SLC), slc.program_ns),
                Kind::Erase => {}
            }
        }
        let pages = self.core.schedule.pages.as_ref();
        let of = pages.map_or(0, |pages| row % pages.types);
        match kind {
            Kind::Erase => (Run::ERASE, self.core.timing.erase_ns),
            Kind::Read => {
                let ns = pages.map_or(self.core.timing.read_ns, |pages| pages.read_ns[of as usize]);
                (Run::read(of), ns)
            }
            Kind::Program => {
                let ns = pages
                    .map_or(self.core.timing.program_ns, |pages| pages.program_ns[of as usize]);
                (Run::program(of), ns)
            }
        }
    }

    /// Adds operations from the head of a queue to an operation, while they are of the same unit
    /// and row and of other planes.
    fn join_planes(&mut self, queue: usize, batch: &mut Batch, first: Operation) {
        let (mut last, mut planes) = (batch.head, 1_u64 << first.plane());
        while let Some(&Waiting { entry, .. }) = self.die.queues[queue].first()
            && entry == node_of(entry)
        {
            let operation = self.core.graph.operation(entry);
            let (slot, row, plane) = (operation.slot, operation.row, operation.plane());
            if (slot, row) != (first.slot, first.row) || planes & 1 << plane != 0 {
                break;
            }
            batch.is_told |= self.pop(queue).is_some_and(|(page, _)| page.is_told);
            self.core.graph.operation_mut(last).next = entry;
            (last, planes) = (entry, planes | 1 << plane);
            batch.pages += 1;
        }
    }

    /// Takes the first operation out of a queue. Its wait for the die ends.
    #[inline(always)]
    fn pop(&mut self, queue: usize) -> Option<(Batch, Operation)> {
        let entry = self.die.queues[queue].pop()?.entry;
        let head = node_of(entry);
        if let Some(next) = self.die.queues[queue].first() {
            self.core.graph.prefetch(node_of(next.entry));
        }
        let node = self.core.graph.begin(head, self.core.timing.command_ns, self.die.account());
        let (part, is_told, first) = (node.part, node.is_told(), *node.operation());
        let Operation { kind, row, .. } = first;
        let (run, ends) = self.cells(kind, row);
        let (began, pages, suspensions) = (0, self.core.transfers(kind, row), 0);
        Some((Batch { began, ends, head, pages, suspensions, kind, part, run, is_told }, first))
    }

    /// Programs the transferred pages.
    #[inline(always)]
    fn load(&mut self) {
        self.account();
        if let Some(batch) = self.die.register.take() {
            self.waited_for_die(batch.head);
            self.work(batch, self.core.now);
        }
        self.turn();
    }

    /// Ends the operation in the cells, or completes its interruption.
    #[inline(always)]
    fn end_cells(&mut self) {
        self.die.due = NEVER;
        self.account();
        let Some(batch) = self.die.array.take() else { return };
        if self.die.is_suspending {
            self.die.is_suspending = false;
            self.die.suspended = Some(batch);
        } else {
            self.charge(&batch, batch.part, self.core.now - batch.began);
            match batch.kind {
                Kind::Read if self.die.register.is_none() => self.read_out(batch),
                Kind::Read => self.die.array = Some(batch),
                Kind::Program | Kind::Erase => self.complete_batch(batch.head),
            }
        }
        self.turn();
    }

    /// Visits the pages of an operation, one after the other.
    #[inline(always)]
    fn pages(&mut self, head: u32, mut each: impl FnMut(&mut Self, u32)) {
        let mut at = head;
        while at != NONE {
            let next = self.core.graph.operation(at).next;
            each(self, at);
            at = next;
        }
    }

    /// Adds time to the accounts of all pages of an operation.
    #[inline(always)]
    pub(super) fn charge(&mut self, batch: &Batch, part: Part, ns: u64) {
        if batch.is_told {
            self.pages(batch.head, |post, at| {
                if let Some(account) = post.core.graph.account(at) {
                    account.blame.add(part, ns);
                }
            });
        }
    }

    /// Begins the wait of an operation's pages for their die.
    #[inline(always)]
    pub(super) fn wait_for_die(&mut self, head: u32) {
        self.pages(head, |post, at| {
            post.core.graph.begin_wait(at, post.core.now, post.die.account());
        });
    }

    /// Ends the wait of an operation's pages for their die.
    #[inline(always)]
    pub(super) fn waited_for_die(&mut self, head: u32) {
        self.pages(head, |post, at| {
            post.core.graph.end_wait(at, post.die.account());
        });
    }

    #[inline(always)]
    fn complete_batch(&mut self, head: u32) {
        self.pages(head, |post, at| post.core.completed.push(at));
    }

    /// Moves the pages that the cells have read to the register, and on to the channel.
    #[inline(always)]
    fn read_out(&mut self, batch: Batch) {
        self.charge(&batch, Part::Bus, self.core.now - batch.ends);
        self.die.register = Some(batch);
        self.die.left = batch.pages;
        self.transfer();
    }

    /// Moves a read that the cells kept, because the register was occupied, to the free register.
    fn read_out_next(&mut self) {
        let is_read = |batch: &mut Batch| batch.kind == Kind::Read && self.die.due == NEVER;
        if let Some(batch) = self.die.array.take_if(is_read) {
            self.read_out(batch);
        }
    }

    fn commanded(&mut self) {
        self.account();
        self.die.is_commanded = false;
        self.transfer();
        self.turn();
    }

    /// Transfers the pages in the register.
    #[inline(always)]
    fn transfer(&mut self) {
        let Some(Batch { head, is_told, .. }) = self.die.register else { return };
        if self.core.timing.transfer_ns == 0 {
            return self.pages(head, |post, at| post.transferred(at));
        }
        self.channel.account_for(self.core.now);
        self.pages(head, |post, at| {
            if is_told {
                post.core.graph.begin_wait(at, post.core.now, post.channel.account());
            }
            post.queue_for_channel(at);
        });
    }

    /// Queues a page, or a piece of a program unit, for the channel.
    #[inline(always)]
    fn queue_for_channel(&mut self, at: u32) {
        let (since, serial) = (self.core.now, self.core.graph.node(at).serial);
        self.channel.queue.push(Waiting { since, serial, entry: at });
        self.channel.mark_if_free(&mut self.core.dirty_channels);
    }

    /// Lets the channel take a page of the die. A page without an account skips the record of its
    /// wait. Such a page only counts waits for host operations in the cells, and a wait for a
    /// channel is none.
    #[inline(always)]
    fn begin_transfer(&mut self, at: u32) {
        let node = self.core.graph.node(at);
        let (part, is_told) = (node.part, node.is_told());
        let pages = self.core.pages_of_transfer(node.operation());
        let spared_ns = self.core.spared_ns(at);
        self.channel.account_for(self.core.now);
        if is_told {
            self.core.graph.end_wait(at, self.channel.account());
        }
        self.account();
        self.channel.current = at;
        self.channel.part = Channel::part_of(part);
        self.channel.transfer_ns = self.core.timing.transfer_ns * u64::from(pages) - spared_ns;
        self.die.is_transferring = true;
        self.turn();
        let end = self.core.now + self.channel.transfer_ns;
        let event = Event::Transfer(self.channel.number);
        match self.core.run_of_transfer(pages, spared_ns) {
            Some(run) => self.core.events.push_run(run, end, event),
            None => self.core.events.push(end, event),
        }
    }

    /// Ends the transfer of a page.
    #[inline(always)]
    fn end_transfer(&mut self, at: u32) {
        self.account();
        self.channel.account_for(self.core.now);
        self.channel.current = NONE;
        self.channel.mark_if_free(&mut self.core.dirty_channels);
        self.die.is_transferring = false;
        let is_told = self.die.register.is_some_and(|batch| batch.is_told);
        if is_told && let Some(account) = self.core.graph.account(at) {
            account.blame.add(Part::Bus, self.channel.transfer_ns);
        }
        self.transferred(at);
        self.turn();
    }

    /// Notes that a page has arrived. A read is complete; a program waits for the other pages of
    /// its operation, and for the cells.
    #[inline(always)]
    fn transferred(&mut self, at: u32) {
        let Some(Batch { kind, is_told, .. }) = self.die.register else { return };
        self.die.left -= 1;
        if kind == Kind::Read {
            self.core.completed.push(at);
            if self.die.left == 0 {
                self.die.register = None;
                self.read_out_next();
            }
            return;
        }
        if is_told && let Some(account) = self.core.graph.account(at) {
            account.time = self.core.now;
        }
        if self.die.left == 0 {
            self.wait_for_cells();
        } else if self.core.has_program_units() {
            self.queue_for_channel(at);
        }
    }

    /// Passes on a program whose pages are all in the register. Idle cells take it at once, but a
    /// program that takes no time has to wait for its turn.
    #[inline(always)]
    fn wait_for_cells(&mut self) {
        let Some(batch) = self.die.register else { return };
        if batch.is_told {
            self.pages(batch.head, |post, at| {
                if let Some(account) = post.core.graph.account(at) {
                    account.blame.add(Part::Bus, post.core.now - account.time);
                }
            });
        }
        if self.die.array.is_none() && self.die.suspended.is_none() && batch.ends > 0 {
            self.die.register = None;
            self.work(batch, self.core.now);
        } else {
            self.wait_for_die(batch.head);
        }
    }
}
