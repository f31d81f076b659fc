//! Two-level LRU lists (Chang and Kuo, "An Adaptive Striping Architecture for Flash Memory Storage
//! Systems of Embedded Systems", RTAS 2002).
//!
//! There are a hot list and a candidate list of pages, both of fixed size and in order of the last
//! write. A written page that is in neither list becomes a candidate. A written candidate becomes
//! hot, and a written hot page moves to the front. A page that falls off the hot list becomes the
//! first candidate again. A page that falls off the candidate list is forgotten.
//!
//! Decided here: the sizes (512 and 1024 pages), because our sources give none. A page is judged
//! after its write, so that its second write is hot. The cost per page is a probe of a hash table
//! and at most four list moves. The memory is 16 bytes per page of the lists, and the hash table.

use alloc::vec::Vec;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, Relocation};
use crate::addr::Lpn;
use crate::intmap::IntMap;
use crate::lru::{Links, List};
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of the two lists.
    pub struct LruListsConfig {
        /// Most pages in the hot list.
        hot: u32 = 512, from 1 to 16_777_216;
        /// Most pages in the candidate list.
        candidates: u32 = 1024, from 1 to 16_777_216;
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: u32,
    hot: bool,
}

crate::state!(blank Entry { lpn, hot });

/// The two lists. The front of each is its most recently written page.
#[derive(Clone, Debug)]
pub struct LruLists {
    config: LruListsConfig,
    slots: IntMap,
    entries: Vec<Entry>,
    links: Links,
    hot: List,
    candidates: List,
}

crate::state!(LruLists { slots, entries, links, hot, candidates } fixed { config });

impl LruLists {
    /// Starts with empty lists.
    pub fn new(config: &PlacementConfig) -> Self {
        let config = config.lru_lists;
        assert!(config.hot > 0 && config.candidates > 0, "{config:?}");
        let slots = config.hot as usize + config.candidates as usize;
        Self {
            config,
            slots: IntMap::new(slots),
            entries: Vec::with_capacity(slots),
            links: Links::new(slots),
            hot: List::EMPTY,
            candidates: List::EMPTY,
        }
    }

    /// Makes a candidate hot.
    fn promote(&mut self, slot: u32) {
        self.links.remove(&mut self.candidates, slot);
        if self.hot.len() == self.config.hot {
            let coldest = self.hot.back().expect("a list of at least one");
            self.links.remove(&mut self.hot, coldest);
            self.links.push_front(&mut self.candidates, coldest);
            self.entries[coldest as usize].hot = false;
        }
        self.links.push_front(&mut self.hot, slot);
        self.entries[slot as usize].hot = true;
    }

    /// Makes a page a candidate.
    fn admit(&mut self, lpn: Lpn) {
        let entry = Entry { lpn: lpn.get(), hot: false };
        let slot = if self.candidates.len() == self.config.candidates {
            let slot = self.candidates.back().expect("a list of at least one");
            self.links.remove(&mut self.candidates, slot);
            self.slots.remove(self.entries[slot as usize].lpn);
            self.entries[slot as usize] = entry;
            slot
        } else {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        };
        self.slots.insert(entry.lpn, slot);
        self.links.push_front(&mut self.candidates, slot);
    }

    fn is_hot(&self, lpn: Lpn) -> bool {
        self.slots.get(lpn.get()).is_some_and(|slot| self.entries[slot as usize].hot)
    }
}

impl Placement for LruLists {
    fn demands(_: &PlacementConfig) -> PlacementDemands {
        PlacementDemands::streams(2)
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        match self.slots.get(write.lpn.get()) {
            Some(slot) if self.entries[slot as usize].hot => {
                self.links.to_front(&mut self.hot, slot);
                1
            }
            Some(slot) => {
                self.promote(slot);
                1
            }
            None => {
                self.admit(write.lpn);
                0
            }
        }
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        u8::from(self.is_hot(relocation.lpn))
    }
}

impl Policy for LruLists {
    fn memory_bytes(&self) -> u64 {
        let entries = u64::from(self.config.hot) + u64::from(self.config.candidates);
        entries * (size_of::<Entry>() + size_of::<[u32; 2]>()) as u64 + self.slots.bytes()
    }

    fn check(&self) {
        for (list, hot, most) in
            [(&self.hot, true, self.config.hot), (&self.candidates, false, self.config.candidates)]
        {
            assert!(list.len() <= most);
            let is_right = |slot: u32| {
                let entry = self.entries[slot as usize];
                self.slots.get(entry.lpn) == Some(slot) && entry.hot == hot
            };
            assert!(self.links.iter(list).all(is_right));
            assert_eq!(self.links.iter(list).count(), list.len() as usize);
        }
        assert_eq!(self.slots.len(), (self.hot.len() + self.candidates.len()) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::*;
    use crate::rng::Rng;
    use alloc::vec;

    fn lists(hot: u32, candidates: u32) -> LruLists {
        let lru_lists = LruListsConfig { hot, candidates };
        LruLists::new(&PlacementConfig { lru_lists, ..config(10_000) })
    }

    /// Both lists, most recent first.
    fn content(lists: &LruLists) -> [Vec<u32>; 2] {
        [&lists.hot, &lists.candidates].map(|list| {
            lists.links.iter(list).map(|slot| lists.entries[slot as usize].lpn).collect()
        })
    }

    #[test]
    fn the_second_write_is_hot_if_the_first_is_remembered() {
        let mut lists = lists(2, 3);
        let streams = [1, 2, 3, 1, 2].map(|lpn| lists.stream(write(lpn)));
        assert_eq!(streams, [0, 0, 0, 1, 1]);
        assert_eq!(content(&lists), [vec![2, 1], vec![3]]);
        // The hot list is full, so 1 becomes the first candidate again.
        assert_eq!(lists.stream(write(3)), 1);
        assert_eq!(content(&lists), [vec![3, 2], vec![1]]);
        assert_eq!([1, 2, 3, 9].map(|lpn| lists.classify(relocation(lpn, 0))), [0, 1, 1, 0]);
        // The candidate list overflows, so 1 is forgotten.
        assert_eq!([4, 5, 6, 2].map(|lpn| lists.stream(write(lpn))), [0, 0, 0, 1]);
        assert_eq!(content(&lists), [vec![2, 3], vec![6, 5, 4]]);
        assert_eq!(lists.stream(write(1)), 0);
        lists.check();
    }

    #[test]
    fn they_are_two_lists() {
        for (hot, candidates) in [(1, 1), (1, 5), (7, 2), (8, 16)] {
            let mut lists = lists(hot, candidates);
            let [mut warm, mut cool] = [vec![], vec![]];
            let mut rng = Rng::new(1);
            for _ in 0..50_000 {
                let lpn = (rng.below(8) * rng.below(8)) as u32;
                let place = [&warm, &cool].map(|list| list.iter().position(|&l| l == lpn));
                match place {
                    [Some(at), _] => drop(warm.remove(at)),
                    [_, Some(at)] => drop(cool.remove(at)),
                    _ => {}
                }
                let remembered = place != [None, None];
                if remembered { &mut warm } else { &mut cool }.insert(0, lpn);
                if warm.len() > hot as usize {
                    cool.insert(0, warm.pop().unwrap());
                }
                cool.truncate(candidates as usize);
                assert_eq!(lists.stream(write(lpn)), u8::from(remembered));
                assert_eq!(content(&lists), [warm.clone(), cool.clone()]);
                lists.check();
            }
        }
    }

    #[test]
    fn it_takes_sixteen_bytes_a_page_and_the_table() {
        let lists = lists(512, 1024);
        assert_eq!(
            (LruLists::demands(&config(9)).streams, lists.memory_bytes()),
            (2, 1536 * 16 + 4096 * 8)
        );
    }
}
