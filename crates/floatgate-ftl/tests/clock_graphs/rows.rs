//! docs/time.md, "Program units", as a program: pages that join rows in the controller's memory,
//! parity, and the memory that acknowledges writes.

use super::brute::{Brute, Kind, Location, Step};
use super::medium::component;
use floatgate_ftl::addr::{Ppn, Unit};
use floatgate_ftl::geometry::Mode;
use floatgate_ftl::nand::{Cause, Chain, Clock, Component, Fork, Move, ReadSource};
use std::collections::{BTreeMap, VecDeque};

/// Pages that wait in the controller's memory, and the last reads.
#[derive(Default)]
pub struct Memory {
    /// Open rows and parity rows of stripes, by unit and first page.
    rows: BTreeMap<(u32, u32), Row>,
    parity: BTreeMap<(u32, u32), usize>,
    /// By cause: the read that the next page of the same flash page joins.
    last_read: BTreeMap<usize, Chain>,
    slc: Vec<u32>,
    /// Memory pages in use for the host, and the programs that free them.
    used: u64,
    programs: VecDeque<(Chain, u64)>,
    /// The programs that the writes so far have waited for, as one chain.
    line: Option<Chain>,
    /// Pages read from memory, by cause, and cell reads that were saved.
    pub reads: BTreeMap<usize, u64>,
    pub senses_saved: u64,
}

impl Memory {
    /// Removes the content of the memory. Units keep their modes.
    pub fn erased(self) -> Self {
        Self { slc: self.slc, ..Self::default() }
    }
}

struct Row {
    program: usize,
    host_pages: u64,
    is_flushed: bool,
}

/// Position of a page in its unit: its row on its die, and its location in the row.
struct Spot {
    unit: u32,
    page: u32,
    /// Pages of a row, and data pages of a stripe; 0 without parity.
    pages: u32,
    stripe: u32,
    /// Row on its die; its die and the die of its parity, numbered within the unit.
    row: u32,
    die: u32,
    parity_die: u32,
    level: u32,
}

impl Brute {
    pub fn has_rows(&self) -> bool {
        self.geometry.shape().program_unit.is_some()
    }

    pub fn set_unit_mode(&mut self, unit: Unit, mode: Mode) {
        self.memory.slc.retain(|&other| other != unit.0);
        self.memory.slc.extend((mode == Mode::Slc).then_some(unit.0));
    }

    fn is_slc(&self, unit: u32) -> bool {
        self.memory.slc.contains(&unit)
    }

    fn spot(&self, ppn: Ppn) -> Spot {
        let (shape, (Unit(unit), page)) = (self.geometry.shape(), self.geometry.place(ppn));
        let rows = shape.program_unit.unwrap();
        let levels = if self.is_slc(unit) { 1 } else { rows.levels };
        let pages = rows.pages / (rows.levels / levels);
        let dies = shape.superblock / shape.planes;
        let stripe = rows.stripe.unwrap_or(0);
        let columns = dies - dies.checked_div(stripe).unwrap_or(0);
        let (row, column) = (page / pages / columns, page / pages % columns);
        let (mut die, mut parity_die) = (column, 0);
        if stripe > 0 {
            let data = stripe - 1;
            let (of, at, parity) = (column / data, column % data, data - row % stripe);
            parity_die = of * stripe + parity;
            die = of * stripe + if at < parity { at } else { at + 1 };
        }
        let level = page % pages * levels * shape.planes / pages / shape.planes;
        let stripe = pages * stripe.saturating_sub(1);
        Spot { unit, page, pages, stripe, row, die, parity_die, level }
    }

    /// Returns the location of a level of a row on a die of a unit. Rows visit the dies like pages
    /// on dies with one plane.
    fn row_location(&self, unit: u32, die: u32, row: u32, level: u32) -> Location {
        let mut dies: Vec<usize> = vec![];
        for plane in self.planes(Unit(unit)) {
            let die = (plane / self.geometry.shape().planes) as usize;
            if !dies.contains(&die) {
                dies.push(die);
            }
        }
        let levels = self.geometry.shape().program_unit.unwrap().levels;
        Location { die: dies[die as usize], unit, row: row * levels + level, plane: 0 }
    }

    pub fn row_cells_ns(&self, kind: Kind, location: Location) -> Option<u64> {
        let slc = self.schedule.slc.filter(|_| self.is_slc(location.unit))?;
        match kind {
            Kind::Read => Some(slc.read_ns),
            Kind::Program => Some(slc.program_ns),
            _ => None,
        }
    }

    /// Begins a program whose data has not arrived.
    fn open(&mut self, location: Location, cause: Cause) -> usize {
        let mut chain = Chain::START.work();
        let pages = self.spot(self.geometry.page(Unit(location.unit), 0)).pages;
        self.begin(Kind::Program, &[location], cause, &mut chain);
        let at = chain.node().unwrap().0 as usize;
        // Each transfer moves one flash page, or one map unit if that is larger.
        let shape = self.geometry.shape();
        let levels = shape.program_unit.unwrap().levels;
        let flash_pages = shape.planes * if self.is_slc(location.unit) { 1 } else { levels };
        let transfers = flash_pages.min(pages);
        let step = &mut self.steps[at];
        (step.is_open, step.is_row) = (true, true);
        step.transfers = transfers;
        step.moves_ns *= u64::from(pages / transfers);
        at
    }

    /// Makes an open program wait for a chain.
    fn feed(&mut self, program: usize, chain: Chain) {
        if self.is_live(chain) {
            self.steps[program].follows.push(chain.node().unwrap().0 as usize);
        }
    }

    /// Adds pages to their row and their stripe.
    pub fn fill(&mut self, to: Ppn, pages: u32, cause: Cause, chain: &mut Chain) {
        let spot = self.spot(to);
        self.fill_stripe(&spot, pages, *chain);
        let first = (spot.unit, spot.page / spot.pages);
        if !self.memory.rows.contains_key(&first) {
            let program = self.open(self.row_location(spot.unit, spot.die, spot.row, 0), cause);
            self.memory.rows.insert(first, Row { program, host_pages: 0, is_flushed: false });
        }
        let row = self.memory.rows.get_mut(&first).unwrap();
        row.host_pages += u64::from(cause == Cause::Host);
        row.is_flushed |= [Cause::Host, Cause::Journal, Cause::Pad, Cause::Retire].contains(&cause);
        let program = row.program;
        self.feed(program, *chain);
        if !(spot.page + pages).is_multiple_of(spot.pages) {
            return;
        }
        let Row { host_pages, is_flushed, .. } = self.memory.rows.remove(&first).unwrap();
        self.steps[program].is_open = false;
        let end = Chain::START.work().at_node(program as u32, program as u64);
        if is_flushed {
            self.frees(end, host_pages);
        }
        if *chain == chain.work() {
            self.give_back_early(*chain);
            *chain = self.follow(*chain, program as u32, program as u64);
        }
    }

    fn fill_stripe(&mut self, spot: &Spot, pages: u32, chain: Chain) {
        if spot.stripe == 0 {
            return;
        }
        let first = (spot.unit, spot.page / spot.stripe);
        if !self.memory.parity.contains_key(&first) {
            let location = self.row_location(spot.unit, spot.parity_die, spot.row, 0);
            let program = self.open(location, Cause::Parity);
            self.memory.parity.insert(first, program);
        }
        let program = self.memory.parity[&first];
        self.feed(program, chain);
        if (spot.page + pages).is_multiple_of(spot.stripe) {
            self.memory.parity.remove(&first);
            self.steps[program].is_open = false;
        }
    }

    /// Drops the pages of an erased unit that were not programmed.
    pub fn drop_rows(&mut self, unit: Unit) {
        let rows = std::mem::take(&mut self.memory.rows).into_iter();
        let (dropped, rows) = rows.partition(|&((of, _), _)| of == unit.0);
        self.memory.rows = rows;
        let parity = std::mem::take(&mut self.memory.parity).into_iter();
        let (stripes, parity): (BTreeMap<_, _>, _) = parity.partition(|&((of, _), _)| of == unit.0);
        self.memory.parity = parity;
        let dropped: BTreeMap<_, Row> = dropped;
        for program in dropped.into_values().map(|row| row.program).chain(stripes.into_values()) {
            self.see("a row that is dropped");
            (self.steps[program].kind, self.steps[program].is_open) = (Kind::Join, false);
        }
    }

    /// Gives back the core of a chain that waits for a row or for separate work: other chains may
    /// need the core to fill rows.
    pub fn give_back_early(&mut self, chain: Chain) {
        if self.has_rows() && self.core(chain).is_some() {
            self.issue(&mut chain.work(), Kind::GiveBack, Component::Controller, 0);
        }
    }

    /// Reads a page: from memory until its row is programmed, then from flash.
    pub fn read_row(&mut self, at: Ppn, source: ReadSource, cause: Cause, chain: &mut Chain) {
        if source == ReadSource::Memory {
            return;
        }
        let Spot { unit, row, die, level, .. } = self.spot(at);
        let location = self.row_location(unit, die, row, level);
        let levels = self.geometry.shape().program_unit.unwrap().levels;
        let is_it = |step: &Step| {
            let other = step.location;
            let is_row = (other.die, other.unit, other.row / levels)
                == (location.die, location.unit, location.row / levels);
            step.kind == Kind::Program && is_row
        };
        if !self.live(|step| step.is_live() && is_it(step)).is_empty() {
            self.see("a page in memory");
            *self.memory.reads.entry(cause as usize).or_default() += 1;
            self.memory.senses_saved += u64::from(source == ReadSource::Cells);
            self.memory.last_read.remove(&(cause as usize));
            return;
        }
        match self.memory.last_read.get(&(cause as usize)).copied() {
            Some(read) if source == ReadSource::Register => self.join_read(read, cause, chain),
            _ => {
                self.begin(Kind::Read, &[location], cause, chain);
                self.memory.last_read.insert(cause as usize, *chain);
            }
        }
    }

    /// Continues a chain behind a step of another chain. The chain keeps the core that it holds.
    fn follow(&mut self, chain: Chain, node: u32, serial: u64) -> Chain {
        let (core, mut end) = (self.core(chain), chain.at_node(node, serial));
        if self.core(end) != core {
            self.issue(&mut end, Kind::Join, Component::Queue, 0).core = core;
        }
        end
    }

    /// Transfers one more page together with a read that has not begun.
    fn join_read(&mut self, read: Chain, cause: Cause, chain: &mut Chain) {
        self.see("a page read with another");
        let (node, serial) = read.node().unwrap();
        let more_ns = self.transfer_ns(Kind::Read);
        self.steps[node as usize].moves_ns += more_ns;
        if *chain != chain.work() && read == read.work() {
            return self.wait(chain, read, component(cause));
        }
        let with = self.follow(*chain, node, serial);
        *chain = match self.is_live(*chain) && chain.node() != read.node() {
            true => self.join(with, *chain),
            false => with,
        };
    }

    pub fn copy_rows(&mut self, moves: &[Move], cause: Cause, chain: &mut Chain) {
        let mut fork = Fork::new(*chain);
        for group in moves.chunk_by(|_, next| next.joins_read) {
            let mut end = fork.branch();
            for (at, step) in group.iter().enumerate() {
                let source = if at == 0 { ReadSource::Cells } else { ReadSource::Register };
                self.read_row(step.from, source, cause, &mut end);
            }
            fork.join(end, self);
        }
        let mut fork = Fork::new(fork.end());
        for step in moves {
            let mut end = fork.branch();
            self.fill(step.to, 1, cause, &mut end);
            fork.join(end, self);
        }
        *chain = fork.end();
    }

    // The memory that acknowledges writes.

    pub fn frees(&mut self, program: Chain, pages: u64) {
        if self.schedule.controller.write_pages.is_some() {
            self.memory.programs.push_back((program, pages));
        }
    }

    pub fn take_room(&mut self, chain: &mut Chain, pages: u64) -> bool {
        let Some(most) = self.schedule.controller.write_pages else { return false };
        let in_order = self.schedule.controller.in_order;
        while self.memory.used + pages > most
            && let Some(program) = self.first_program()
        {
            if !in_order {
                self.wait(chain, program, Component::Buffer);
            }
        }
        self.memory.used += pages;
        if let Some(line) = self.memory.line {
            self.wait(chain, line, Component::Buffer);
        }
        true
    }

    /// Makes a read wait for all programs that earlier writes wait for.
    pub fn stand_in_line(&mut self, chain: &mut Chain) {
        if let Some(line) = self.memory.line.filter(|_| self.schedule.controller.head_of_line)
            && self.is_live(line)
        {
            self.see("a read behind writes");
            self.wait(chain, line, Component::Queue);
        }
    }

    /// Takes the program that was begun first from the memory. If writes get room in order, all
    /// later writes wait for the program.
    pub fn first_program(&mut self) -> Option<Chain> {
        let (program, freed) = self.memory.programs.pop_front()?;
        self.memory.used -= freed;
        if self.is_live(program) {
            self.see("a wait for memory");
            if self.schedule.controller.in_order {
                let line = self.memory.line.filter(|&line| self.is_live(line));
                let program = program.work();
                self.memory.line = Some(line.map_or(program, |line| self.join(line, program)));
            }
        }
        Some(program)
    }
}
