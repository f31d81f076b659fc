//! Saving a drive's mutable state as bytes. A drive that was filled once can be restored in the
//! time that it takes to read these bytes.
//!
//! The caller builds a drive from its config and then loads the state into it. Each type names its
//! fields once, in [`state!`](crate::state), for saving and loading; a forgotten field is a compile
//! error. The bytes belong to one build: another build need not be able to read them.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;

/// Maximum bytes of a chunk.
const CHUNK: usize = 1 << 16;

/// Destination or source of the bytes.
pub trait Chunks {
    /// Takes a chunk when saving, or replaces it by the next chunk when loading. An empty chunk
    /// marks the end.
    fn pass(&mut self, chunk: &mut Vec<u8>);
}

/// Saves the values that pass through it, or replaces them by saved values.
pub struct Carrier<'a> {
    chunks: &'a mut dyn Chunks,
    chunk: Vec<u8>,
    /// Bytes of the chunk that were read; `None` when saving.
    read: Option<usize>,
    is_short: bool,
}

impl<'a> Carrier<'a> {
    /// Creates a carrier that saves.
    pub fn saving(chunks: &'a mut dyn Chunks) -> Self {
        Self { chunks, chunk: Vec::with_capacity(CHUNK), read: None, is_short: false }
    }

    /// Creates a carrier that loads, in the order of saving.
    pub fn loading(chunks: &'a mut dyn Chunks) -> Self {
        Self { chunks, chunk: Vec::new(), read: Some(0), is_short: false }
    }

    /// Ends saving or loading. Returns whether loading used exactly the saved bytes. If not, the
    /// loaded state is useless.
    pub fn finish(mut self) -> bool {
        match self.read {
            None if self.chunk.is_empty() => true,
            None => {
                self.chunks.pass(&mut self.chunk);
                true
            }
            Some(read) => {
                let rest = self.chunk.len() - read;
                self.chunks.pass(&mut self.chunk);
                !self.is_short && rest == 0 && self.chunk.is_empty()
            }
        }
    }

    fn is_loading(&self) -> bool {
        self.read.is_some()
    }

    #[inline(always)]
    fn pass<const N: usize>(&mut self, bytes: &mut [u8; N]) {
        match &mut self.read {
            None => {
                if self.chunk.len() + N > CHUNK {
                    self.chunks.pass(&mut self.chunk);
                    self.chunk.clear();
                }
                self.chunk.extend_from_slice(bytes);
            }
            Some(read) => {
                if *read == self.chunk.len() {
                    self.chunks.pass(&mut self.chunk);
                    *read = 0;
                }
                match self.chunk.get(*read..*read + N) {
                    Some(found) => {
                        bytes.copy_from_slice(found);
                        *read += N;
                    }
                    // Missing bytes are zeros: they make the length of every further table zero, so
                    // loading ends soon.
                    None => {
                        bytes.fill(0);
                        self.is_short = true;
                    }
                }
            }
        }
    }
}

/// Mutable state that can be saved and loaded.
pub trait State {
    /// Passes all mutable fields through the carrier.
    fn carry(&mut self, by: &mut Carrier<'_>);

    /// Returns whether the carrier gets the whole state. If not, nothing that contains this type is
    /// saved.
    fn can_be_saved(&self) -> bool {
        true
    }
}

/// Type with a placeholder value, which loading replaces.
pub trait Blank: State {
    /// Any value.
    const BLANK: Self;
}

/// Declares the mutable fields of a type, for saving and loading.
///
/// - `state!(Type { changes, changes } fixed { decided, by, the, config })` names every field.
///   Fixed fields keep the values with which the type was built: the config decides them, or they
///   are counters at zero.
/// - `state!(blank Type { .. })` is for elements of tables; all fields are mutable.
/// - `state!(Type(_))` is for a wrapper of another type.
/// - `state!(Type = A | B)` is for an enum with these variants.
/// - `state!(Type)` is for a policy without mutable state.
/// - `state!(Type unsaved)` is for a policy that cannot be saved.
#[macro_export]
macro_rules! state {
    ($Type:ident $(<$($of:ident $(: $Bound:path)?),+>)? { $($field:ident),* $(,)? }
        $(fixed { $($fixed:ident),+ $(,)? })?
    ) => {
        impl $(<$($of $(: $Bound)?),+>)? $crate::saved::State for $Type $(<$($of),+>)? {
            fn carry(&mut self, by: &mut $crate::saved::Carrier<'_>) {
                let Self { $($field,)* $($($fixed: _),+)? } = self;
                $($crate::saved::State::carry($field, by);)*
            }
        }
    };
    (blank $Type:ident $(<$of:ident: $Bound:path>)? { $($field:ident),* $(,)? }) => {
        $crate::state!($Type $(<$of: $Bound>)? { $($field),* });

        impl $(<$of: $Bound>)? $crate::saved::Blank for $Type $(<$of>)? {
            const BLANK: Self = Self { $($field: $crate::saved::Blank::BLANK),* };
        }
    };
    ($Type:ident $(<$of:ident: $Bound:path>)? (_)) => {
        impl $(<$of: $Bound>)? $crate::saved::State for $Type $(<$of>)? {
            #[inline(always)]
            fn carry(&mut self, by: &mut $crate::saved::Carrier<'_>) {
                $crate::saved::State::carry(&mut self.0, by);
            }
        }
    };
    (blank $Type:ident $(<$of:ident: $Bound:path>)? (_)) => {
        $crate::state!($Type $(<$of: $Bound>)? (_));

        impl $(<$of: $Bound>)? $crate::saved::Blank for $Type $(<$of>)? {
            const BLANK: Self = Self($crate::saved::Blank::BLANK);
        }
    };
    ($Type:ident) => {
        impl $crate::saved::State for $Type {
            fn carry(&mut self, _: &mut $crate::saved::Carrier<'_>) {}
        }
    };
    ($Type:ident unsaved) => {
        impl $crate::saved::State for $Type {
            fn carry(&mut self, _: &mut $crate::saved::Carrier<'_>) {
                unreachable!("the caller knows that this state cannot be saved");
            }

            fn can_be_saved(&self) -> bool {
                false
            }
        }
    };
    ($Type:ident = $First:ident $(| $Other:ident)*) => {
        impl $crate::saved::State for $Type {
            fn carry(&mut self, by: &mut $crate::saved::Carrier<'_>) {
                const ALL: &[$Type] = &[$Type::$First $(, $Type::$Other)*];
                let mut at = ALL.iter().position(|each| each == self).unwrap_or(0);
                $crate::saved::State::carry(&mut at, by);
                *self = ALL.get(at).copied().unwrap_or($Type::$First);
            }
        }

        impl $crate::saved::Blank for $Type {
            const BLANK: Self = Self::$First;
        }
    };
}

/// Passes a component through the carrier. The caller must know that the component can be saved.
pub(crate) fn carry(part: Option<&mut dyn State>, by: &mut Carrier<'_>) {
    part.expect("the whole was asked whether all its parts can be saved").carry(by);
}

macro_rules! numbers {
    ($($Number:ty)*) => {$(
        impl State for $Number {
            #[inline(always)]
            fn carry(&mut self, by: &mut Carrier<'_>) {
                let mut bytes = self.to_le_bytes();
                by.pass(&mut bytes);
                *self = Self::from_le_bytes(bytes);
            }
        }

        impl Blank for $Number {
            const BLANK: Self = 0 as $Number;
        }
    )*};
}

numbers!(u8 u16 u32 u64 u128 i64 usize f64);

impl State for bool {
    #[inline(always)]
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let mut byte = u8::from(*self);
        byte.carry(by);
        *self = byte != 0;
    }
}

impl Blank for bool {
    const BLANK: Self = false;
}

impl<T: State> State for Reverse<T> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        self.0.carry(by);
    }
}

impl<T: Blank> Blank for Reverse<T> {
    const BLANK: Self = Self(T::BLANK);
}

impl<T: Blank> State for Option<T> {
    #[inline(always)]
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let mut is_some = self.is_some();
        is_some.carry(by);
        if by.is_loading() {
            *self = is_some.then_some(T::BLANK);
        }
        self.iter_mut().for_each(|value| value.carry(by));
    }
}

impl<T: Blank> Blank for Option<T> {
    const BLANK: Self = None;
}

impl<T: State, const N: usize> State for [T; N] {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        self.iter_mut().for_each(|value| value.carry(by));
    }
}

impl<T: Blank, const N: usize> Blank for [T; N] {
    const BLANK: Self = [T::BLANK; N];
}

impl<T: Blank> State for Vec<T> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let mut count = self.len();
        count.carry(by);
        if by.is_loading() {
            self.resize_with(count, || T::BLANK);
        }
        self.iter_mut().for_each(|value| value.carry(by));
    }
}

impl<T: Blank> Blank for Vec<T> {
    const BLANK: Self = Self::new();
}

impl<T: Blank> State for VecDeque<T> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let mut all = Vec::from(mem::take(self));
        all.carry(by);
        *self = all.into();
    }
}

impl<T: Blank> Blank for VecDeque<T> {
    const BLANK: Self = Self::new();
}

impl<T: Blank + Ord> State for BTreeSet<T> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let mut all: Vec<T> = mem::take(self).into_iter().collect();
        all.carry(by);
        *self = all.into_iter().collect();
    }
}

impl<K: Blank + Ord, V: Blank> State for BTreeMap<K, V> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let mut all: Vec<(K, V)> = mem::take(self).into_iter().collect();
        all.carry(by);
        *self = all.into_iter().collect();
    }
}

macro_rules! tuples {
    ($(($($T:ident $at:tt),+))*) => {$(
        impl<$($T: State),+> State for ($($T,)+) {
            #[inline(always)]
            fn carry(&mut self, by: &mut Carrier<'_>) {
                $(self.$at.carry(by);)+
            }
        }

        impl<$($T: Blank),+> Blank for ($($T,)+) {
            const BLANK: Self = ($($T::BLANK,)+);
        }
    )*};
}

tuples!((A 0, B 1) (A 0, B 1, C 2));

#[cfg(test)]
mod tests;
