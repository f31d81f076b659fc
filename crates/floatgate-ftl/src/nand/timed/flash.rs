//! What dies and channels do with an operation, from its beginning to its end.

use super::events::{Event, NEVER};
use super::graph::{Kind, Site, Work};
use super::lanes::{Batch, Next, URGENT, enqueue, node_of};
use super::scheduler::Scheduler;
use crate::clock::{NONE, Part};

impl Scheduler {
    /// A die begins what it can.
    pub(super) fn begin_die(&mut self, die: usize) {
        loop {
            match self.dies[die].next(self.now, &self.schedule) {
                Next::Nothing => return self.wake_when_starved(die),
                Next::Begin(queue) => self.begin(die, queue),
                Next::Load => self.load(die),
                Next::Suspend => self.suspend(die),
                Next::Resume => self.resume(die),
            }
        }
    }

    /// A program that is behind urgent reads may be transferred while the cells work as soon as it
    /// has stood there for long enough.
    #[inline(always)]
    fn wake_when_starved(&mut self, die: usize) {
        if let Some(time) = self.dies[die].starves_at(&self.schedule)
            && time > self.now
        {
            self.events.push(time, Event::Wake(die as u32));
        }
    }

    /// The first operation of a queue begins, and with it those behind it that can be done by the
    /// other planes at the same time.
    #[inline(always)]
    fn begin(&mut self, die: usize, queue: usize) {
        self.settle_die(die);
        let (head, planes, ns) = self.take(die, queue);
        let node = self.graph.node(head);
        let Work::Flash(kind) = node.work else { unreachable!("a die works") };
        let part = node.part;
        let command = self.timing.command_ns;
        let began = self.now + command;
        let batch = Batch {
            head,
            kind,
            part,
            left: planes,
            began,
            ends: began + ns,
            suspensions: 0,
            is_suspending: false,
            suspended: 0,
        };
        if kind != Kind::Program {
            self.dies[die].array = Some(batch);
            self.end_cells_at(die, began + ns);
            if kind == Kind::Erase {
                self.work_from(die, began);
            }
        } else {
            self.dies[die].register = Some(batch);
            if command > 0 {
                self.dies[die].is_commanded = true;
                self.events.push(began, Event::Commanded(die as u32));
            } else {
                self.transfer(die);
            }
        }
        self.die_changed(die);
    }

    /// Takes the pages of an operation out of a queue: the first of them, how many they are, and
    /// how long the cells take.
    #[inline(always)]
    fn take(&mut self, die: usize, queue: usize) -> (u32, u32, u64) {
        let (mut head, mut first) = (NONE, Site::default());
        let (mut last, mut planes, mut count, mut ns) = (NONE, 0, 0, 0);
        let command = self.timing.command_ns;
        while let Some(&(_, _, entry)) = self.dies[die].queues[queue].front() {
            let at = node_of(entry);
            let node = self.graph.node(at);
            let site = node.site;
            let plane = 1_u64 << site.plane;
            let joins = (site.unit, site.row) == (first.unit, first.row)
                && plane & planes == 0
                && at == entry;
            if head != NONE && !joins {
                break;
            }
            ns = node.ns;
            self.graph.end_wait(at, self.dies[die].account());
            if let Some(account) = self.graph.account(at) {
                account.blame.add(Part::Bus, command);
            }
            self.dies[die].queues[queue].pop_front();
            if head == NONE {
                (head, first) = (at, site);
            } else {
                self.graph.node_mut(last).next = at;
            }
            (last, planes, count) = (at, planes | plane, count + 1);
            if at != entry {
                break;
            }
        }
        (head, count, ns)
    }

    /// What was transferred is programmed.
    fn load(&mut self, die: usize) {
        self.settle_die(die);
        let Some(mut batch) = self.dies[die].register.take() else { return };
        let (now, ns) = (self.now, self.graph.node(batch.head).ns);
        self.waited_for_die(die, batch.head);
        (batch.began, batch.ends) = (now, now + ns);
        self.dies[die].array = Some(batch);
        self.end_cells_at(die, batch.ends);
        self.die_changed(die);
    }

    /// The cells will be done, or interrupted, at `time`; not when it was thought before.
    fn end_cells_at(&mut self, die: usize, time: u64) {
        self.dies[die].due = time;
        self.events.push(time, Event::Cells(die as u32));
    }

    /// The cells are done, or interrupted.
    pub(super) fn end_cells(&mut self, die: usize) {
        if self.dies[die].due != self.now {
            return;
        }
        self.dies[die].due = NEVER;
        self.settle_die(die);
        let Some(mut batch) = self.dies[die].array.take() else { return };
        if batch.is_suspending {
            batch.is_suspending = false;
            self.dies[die].suspended = Some(batch);
            return self.die_changed(die);
        }
        self.charge(batch.head, batch.part, self.now - batch.began);
        match batch.kind {
            Kind::Read => {
                self.dies[die].array = Some(batch);
                self.read_out(die);
            }
            Kind::Program | Kind::Erase => self.complete_batch(batch.head),
        }
        self.die_changed(die);
    }

    /// Time of all pages of an operation.
    fn charge(&mut self, head: u32, part: Part, ns: u64) {
        let mut at = head;
        while at != NONE {
            if let Some(account) = self.graph.account(at) {
                account.blame.add(part, ns);
            }
            at = self.graph.node(at).next;
        }
    }

    /// The pages of an operation wait for what their die does.
    fn wait_for_die(&mut self, die: usize, head: u32) {
        let mut at = head;
        while at != NONE {
            self.graph.begin_wait(at, self.now, self.dies[die].account());
            at = self.graph.node(at).next;
        }
    }

    /// The pages of an operation have waited for what their die did.
    fn waited_for_die(&mut self, die: usize, head: u32) {
        let mut at = head;
        while at != NONE {
            self.graph.end_wait(at, self.dies[die].account());
            at = self.graph.node(at).next;
        }
    }

    fn complete_batch(&mut self, head: u32) {
        let mut at = head;
        while at != NONE {
            let next = self.graph.node(at).next;
            self.complete_flash(at);
            at = next;
        }
    }

    /// What the cells have read goes to the register, if that is free, and from there over the
    /// channel.
    fn read_out(&mut self, die: usize) {
        let is_read = |batch: &Batch| batch.kind == Kind::Read && batch.ends <= self.now;
        if self.dies[die].register.is_some() || !self.dies[die].array.as_ref().is_some_and(is_read)
        {
            return;
        }
        let Some(batch) = self.dies[die].array.take() else { return };
        self.charge(batch.head, Part::Bus, self.now - batch.ends);
        self.dies[die].register = Some(batch);
        self.transfer(die);
    }

    /// A command has been sent: the pages follow.
    pub(super) fn commanded(&mut self, die: usize) {
        self.settle_die(die);
        self.dies[die].is_commanded = false;
        self.transfer(die);
        self.die_changed(die);
    }

    /// The pages in the register are to be transferred.
    fn transfer(&mut self, die: usize) {
        let Some(batch) = self.dies[die].register else { return };
        let channel = self.dies[die].channel;
        self.channels[channel].account_for(self.now);
        let mut at = batch.head;
        while at != NONE {
            let next = self.graph.node(at).next;
            if self.timing.transfer_ns == 0 {
                self.transferred(at, die);
            } else {
                self.graph.begin_wait(at, self.now, self.channels[channel].account());
                let waiting = (self.now, self.graph.node(at).serial, at);
                enqueue(&mut self.channels[channel].queue, waiting);
            }
            at = next;
        }
        self.mark_channel(channel);
    }

    /// A channel takes the page that was ready first.
    pub(super) fn begin_transfer(&mut self, channel: usize) {
        if self.channels[channel].current != NONE {
            return;
        }
        let Some((_, _, at)) = self.channels[channel].queue.pop_front() else { return };
        self.channels[channel].account_for(self.now);
        self.graph.end_wait(at, self.channels[channel].account());
        let node = self.graph.node(at);
        let (die, part) = (node.site.die as usize, node.part);
        self.settle_die(die);
        self.channels[channel].current = at;
        self.channels[channel].part = if part == Part::Die { Part::Bus } else { part };
        self.dies[die].is_transferring = true;
        self.record_transfer(channel);
        let end = self.now + self.timing.transfer_ns;
        self.events.push(end, Event::Transfer(channel as u32));
    }

    /// A page has gone over a channel.
    pub(super) fn end_transfer(&mut self, channel: usize) {
        let at = self.channels[channel].current;
        let die = self.graph.node(at).site.die as usize;
        self.settle_die(die);
        self.channels[channel].current = NONE;
        self.mark_channel(channel);
        self.dies[die].is_transferring = false;
        if let Some(account) = self.graph.account(at) {
            account.blame.add(Part::Bus, self.timing.transfer_ns);
        }
        self.transferred(at, die);
        self.die_changed(die);
    }

    /// A page is where it was to be: a read is complete, a program waits for the other pages of its
    /// operation, and for the cells.
    fn transferred(&mut self, at: u32, die: usize) {
        let now = self.now;
        let Some(batch) = &mut self.dies[die].register else { return };
        batch.left -= 1;
        let (left, kind, head) = (batch.left, batch.kind, batch.head);
        match kind {
            Kind::Read => {
                if left == 0 {
                    self.dies[die].register = None;
                    self.complete_flash(at);
                    self.read_out(die);
                } else {
                    self.complete_flash(at);
                }
            }
            Kind::Program | Kind::Erase => {
                if let Some(account) = self.graph.account(at) {
                    account.time = now;
                }
                if left == 0 {
                    self.wait_for_cells(die, head);
                }
            }
        }
    }

    /// All pages of a program are in the register.
    fn wait_for_cells(&mut self, die: usize, head: u32) {
        let (mut at, now) = (head, self.now);
        while at != NONE {
            if let Some(account) = self.graph.account(at) {
                account.blame.add(Part::Bus, now - account.time);
            }
            at = self.graph.node(at).next;
        }
        self.wait_for_die(die, head);
    }

    /// What the cells do is interrupted for reads.
    fn suspend(&mut self, die: usize) {
        self.settle_die(die);
        let Some(suspend) = self.schedule.suspend else { return };
        let now = self.now;
        let Some(batch) = &mut self.dies[die].array else { return };
        let (head, part, ran) = (batch.head, batch.part, now - batch.began);
        batch.suspensions += 1;
        batch.is_suspending = true;
        batch.suspended = now;
        // What is left of it.
        batch.ends -= now;
        self.charge(head, part, ran);
        self.wait_for_die(die, head);
        self.end_cells_at(die, now + suspend.suspend_ns);
        self.die_changed(die);
    }

    /// The cells go on where they were interrupted.
    fn resume(&mut self, die: usize) {
        self.settle_die(die);
        let now = self.now;
        let Some(mut batch) = self.dies[die].suspended.take() else { return };
        let resume_ns = self.schedule.suspend.map_or(0, |suspend| suspend.resume_ns);
        // What has been held up for so long that it goes before reads is not interrupted again.
        if !self.dies[die].queues[URGENT].is_empty() {
            batch.suspensions = u32::MAX;
        }
        batch.began = now + resume_ns;
        batch.ends += batch.began;
        self.waited_for_die(die, batch.head);
        self.charge(batch.head, batch.part, resume_ns);
        self.dies[die].array = Some(batch);
        self.end_cells_at(die, batch.ends);
        self.work_from(die, batch.began);
        self.die_changed(die);
    }

    /// The cells program or erase from then on: reads that stand before the die may interrupt them.
    #[inline(always)]
    fn work_from(&mut self, die: usize, began: u64) {
        if self.schedule.suspend.is_some() && began > self.now {
            self.events.push(began, Event::Wake(die as u32));
        }
    }
}
