use alloc::vec;

use proptest::collection::{btree_map, btree_set, vec as many, vec_deque};
use proptest::prelude::*;

use super::*;
use crate::addr::{Lpn, Owner, OwnerSlot, PAGE_MAX, Ppn, Tpn, Unit};
use crate::geometry::Mode;
use crate::nand::Cause;

/// Chunks in memory.
#[derive(Default)]
struct SavedChunks {
    chunks: VecDeque<Vec<u8>>,
    is_loading: bool,
}

impl Chunks for SavedChunks {
    fn pass(&mut self, chunk: &mut Vec<u8>) {
        match self.is_loading {
            false => self.chunks.push_back(chunk.clone()),
            true => *chunk = self.chunks.pop_front().unwrap_or_default(),
        }
    }
}

fn saved(state: &mut dyn State) -> SavedChunks {
    let mut chunks = SavedChunks::default();
    let mut carrier = Carrier::saving(&mut chunks);
    state.carry(&mut carrier);
    assert!(carrier.finish());
    assert!(chunks.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
    SavedChunks { is_loading: true, ..chunks }
}

/// Loads a state. Returns whether the state took exactly the saved bytes.
fn load(state: &mut dyn State, from: &mut SavedChunks) -> bool {
    let mut carrier = Carrier::loading(from);
    state.carry(&mut carrier);
    carrier.finish()
}

/// A value of every type that can be saved.
type All = (
    (Vec<u64>, Vec<(u32, Option<bool>)>, VecDeque<[u32; 2]>),
    (BTreeSet<(u32, Reverse<u8>)>, BTreeMap<u32, Vec<i64>>, f64),
);

fn all() -> impl Strategy<Value = All> {
    let tables = (
        many(any::<u64>(), 0..40),
        many(any::<(u32, Option<bool>)>(), 0..30_000),
        vec_deque(any::<[u32; 2]>(), 0..40),
    );
    let trees = (
        btree_set((any::<u32>(), any::<u8>().prop_map(Reverse)), 0..40),
        btree_map(any::<u32>(), many(any::<i64>(), 0..4), 0..40),
        -1e9..1e9,
    );
    (tables, trees)
}

proptest! {
    #[test]
    fn loaded_state_equals_saved_state(mut state in all(), mut other in all()) {
        let mut chunks = saved(&mut state);
        prop_assert!(load(&mut other, &mut chunks));
        prop_assert_eq!(state, other);
    }

    #[test]
    fn too_few_or_too_many_bytes_are_reported(mut state in all(), cut in any::<bool>()) {
        let mut chunks = saved(&mut state);
        match cut {
            true => chunks.chunks.back_mut().map(|last| { last.pop(); }),
            false => chunks.chunks.back_mut().map(|last| last.push(0)),
        };
        prop_assert!(!load(&mut state, &mut chunks));
        let mut chunks = saved(&mut state);
        chunks.chunks.push_back(vec![0]);
        prop_assert!(!load(&mut state, &mut chunks));
    }
}

#[test]
fn addresses_and_choices_are_carried() {
    let ends = [0, 77, PAGE_MAX];
    let data = ends.map(|n| Owner::Data(Lpn::new(n)));
    let map = ends.map(|n| Owner::Translation(Tpn::new(n)));
    let owners: Vec<_> = data.into_iter().chain(map).collect();
    comes_back(
        owners.iter().map(|&owner| OwnerSlot::from_owner(owner)).chain([OwnerSlot::NONE]).collect(),
    );
    comes_back(owners);
    comes_back(ends.map(|n| Some(Ppn::new(n))).into_iter().chain([None]).collect());
    comes_back(Cause::ALL.iter().map(|row| row.0).collect());
    comes_back(vec![Mode::Slc, Mode::Native]);
    comes_back(vec![Unit(0), Unit(u32::MAX)]);
}

fn comes_back<T: Blank + Clone + PartialEq + core::fmt::Debug>(mut table: Vec<T>) {
    let before = table.clone();
    let mut chunks = saved(&mut table);
    table.clear();
    assert!(load(&mut table, &mut chunks));
    assert_eq!(table, before);
}
