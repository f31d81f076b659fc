//! Reclaim units of the naive drive: which erase units are cleaned together.

use floatgate_ftl::addr::Unit;

use super::{Naive, State, To};

/// A number that each size of a reclaim unit in these tests divides.
const SIZES: u32 = 12;

/// The erase units that a stream has filled one after the other.
#[derive(Clone, Debug)]
pub(super) struct Group {
    stream: u8,
    pub(super) units: Vec<Unit>,
}

impl Naive {
    fn size(&self, stream: u8) -> usize {
        self.sizes.get(usize::from(stream)).map_or(1, |&size| size as usize)
    }

    /// Enters a unit that is opened for a stream in the stream's last group, or in a new one.
    pub(super) fn join(&mut self, unit: Unit, stream: u8) {
        let size = self.size(stream);
        let last = self.groups.iter().rposition(|group| group.stream == stream);
        let number = match last.filter(|&group| self.groups[group].units.len() < size) {
            Some(group) => group,
            None => {
                self.groups.push(Group { stream, units: vec![] });
                self.groups.len() - 1
            }
        };
        self.groups[number].units.push(unit);
        self.units[unit.index()].group = number;
    }

    /// Gives a whole unit of a victim to the group that its stream's pages are copied to, if all of
    /// them are and the group has a place left. Returns whether it did.
    pub(super) fn relabel(&mut self, unit: Unit, to: To) -> bool {
        let is_whole = self.valid(unit) == self.geometry.pages_per_unit() && !self.is_map(unit);
        let stream = match to {
            To::One(stream) => stream,
            To::Judged if !self.placement.sorts_moved() => self.home(unit),
            To::Judged | To::JudgedAnew => return false,
        };
        let last = self.groups.iter().rfind(|group| group.stream == stream);
        let is_full = |group: &Group| group.units.len() == self.size(stream);
        let waits =
            |group: &Group| group.units.iter().any(|&unit| self.open_unit(stream) == Some(unit));
        let no_place = last.is_some_and(|group| is_full(group) && waits(group));
        if !self.cleaning.relabel || !is_whole || no_place || self.sizes.iter().all(|&one| one == 1)
        {
            return false;
        }
        self.events += 1;
        let block = &mut self.units[unit.index()];
        (block.state, block.stream, block.opened) = (State::Sealed, stream, self.clock);
        (block.sealed, block.changed) = (self.events, self.events);
        self.join(unit, stream);
        self.cleans.relabelled += 1;
        true
    }

    /// Returns the units that are cleaned together with this unit, in the order in which they were
    /// opened.
    pub(super) fn members(&self, unit: Unit) -> &[Unit] {
        &self.groups[self.units[unit.index()].group].units
    }

    /// Returns whether all units of a unit's group are full, and none of them was cleaned.
    pub(super) fn is_complete(&self, unit: &Unit) -> bool {
        let block = &self.units[unit.index()];
        let sealed = |unit: &Unit| {
            let other = &self.units[unit.index()];
            (other.state, other.group) == (State::Sealed, block.group)
        };
        let is_full = |members: &[Unit]| members.len() == self.size(block.stream);
        block.state == State::Sealed
            && is_full(self.members(*unit))
            && self.members(*unit).iter().all(sealed)
    }

    /// Returns whether a unit can be chosen as a victim: it is the first of its group.
    pub(super) fn is_candidate(&self, unit: &Unit) -> bool {
        self.is_complete(unit) && self.members(*unit)[0] == *unit
    }

    pub(super) fn all_valid(&self, unit: Unit) -> u32 {
        self.members(unit).iter().map(|&unit| self.valid(unit)).sum()
    }

    pub(super) fn all_pages(&self, unit: Unit) -> u32 {
        self.members(unit).len() as u32 * self.geometry.pages_per_unit()
    }

    /// Returns the share of valid pages, as a whole number.
    pub(super) fn share(&self, unit: Unit) -> u32 {
        let size = self.members(unit).len() as u32;
        assert_eq!(SIZES % size, 0, "a size of {size}");
        self.all_valid(unit) * (SIZES / size)
    }

    /// Returns the events at which a group was sealed, and at which it was sealed or lost a page.
    pub(super) fn last_events(&self, unit: Unit) -> (u64, u64) {
        let blocks = || self.members(unit).iter().map(|unit| &self.units[unit.index()]);
        let sealed = blocks().map(|block| block.sealed).max();
        (sealed.unwrap(), blocks().map(|block| block.changed).max().unwrap())
    }
}
