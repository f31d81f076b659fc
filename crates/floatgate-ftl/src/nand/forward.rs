//! Forwarding of a wrapper's methods to the medium in its field `inner`, written once.
//!
//! Each implementation of [`Nand`](super::Nand) for a wrapper denies
//! `clippy::missing_trait_methods`. A wrapper that does not decide about a new method of the trait
//! therefore fails the lint.

/// Writes the named methods of [`Nand`](crate::nand::Nand), [`Tagged`](crate::nand::Tagged) or
/// [`Tear`](crate::nand::Tear) as calls of `self.inner`. `alone` stands for the methods that a
/// wrapper implements by its other methods: `copy_rows`, which copies once, `takes_rows`,
/// `counters` and `state`.
#[macro_export]
macro_rules! forward_nand {
    () => {};
    (clock $($rest:ident)*) => {
        #[inline(always)]
        fn clock(&self) -> &Self::Clock {
            self.inner.clock()
        }

        #[inline(always)]
        fn clock_mut(&mut self) -> &mut Self::Clock {
            self.inner.clock_mut()
        }

        $crate::forward_nand!($($rest)*);
    };
    (read $($rest:ident)*) => {
        fn read(
            &mut self,
            from: $crate::addr::Ppn,
            owner: $crate::addr::Owner,
            source: $crate::nand::ReadSource,
            cause: $crate::nand::Cause,
            chain: &mut $crate::nand::Chain,
        ) -> Result<(), Self::Error> {
            self.inner.read(from, owner, source, cause, chain)
        }

        $crate::forward_nand!($($rest)*);
    };
    (pad $($rest:ident)*) => {
        fn pad(
            &mut self,
            from: $crate::addr::Ppn,
            pages: u32,
            chain: &mut $crate::nand::Chain,
        ) -> Result<(), Self::Error> {
            self.inner.pad(from, pages, chain)
        }

        $crate::forward_nand!($($rest)*);
    };
    (set_mode $($rest:ident)*) => {
        fn set_mode(&mut self, unit: $crate::addr::Unit, mode: $crate::geometry::Mode) {
            self.inner.set_mode(unit, mode);
        }

        $crate::forward_nand!($($rest)*);
    };
    (takes_rows $($rest:ident)*) => {
        #[inline(always)]
        fn takes_rows(&self) -> bool {
            self.inner.takes_rows()
        }

        $crate::forward_nand!($($rest)*);
    };
    (load_payload $($rest:ident)*) => {
        fn load_payload(&mut self, bytes: &[u8]) {
            self.inner.load_payload(bytes);
        }

        $crate::forward_nand!($($rest)*);
    };
    (close_stripe $($rest:ident)*) => {
        fn close_stripe(&mut self, last: $crate::addr::Ppn) {
            self.inner.close_stripe(last);
        }

        $crate::forward_nand!($($rest)*);
    };
    (erase $($rest:ident)*) => {
        fn erase(
            &mut self,
            unit: $crate::addr::Unit,
            cause: $crate::nand::Cause,
            chain: &mut $crate::nand::Chain,
        ) -> Result<(), Self::Error> {
            self.inner.erase(unit, cause, chain)
        }

        $crate::forward_nand!($($rest)*);
    };
    (report $($rest:ident)*) => {
        fn report(&self, counters: &mut $crate::counters::Counters) {
            self.inner.report(counters);
        }

        $crate::forward_nand!($($rest)*);
    };
    (reset_counters $($rest:ident)*) => {
        fn reset_counters(&mut self) {
            self.inner.reset_counters();
        }

        $crate::forward_nand!($($rest)*);
    };
    (read_failed $($rest:ident)*) => {
        fn read_failed(&self) -> bool {
            self.inner.read_failed()
        }

        $crate::forward_nand!($($rest)*);
    };
    (is_read_only $($rest:ident)*) => {
        fn is_read_only(&self) -> bool {
            self.inner.is_read_only()
        }

        $crate::forward_nand!($($rest)*);
    };
    (counters $($rest:ident)*) => {
        fn counters(&self) -> $crate::counters::Counters {
            let mut counters = $crate::counters::Counters::default();
            self.report(&mut counters);
            counters
        }

        $crate::forward_nand!($($rest)*);
    };
    (alone $($rest:ident)*) => {
        #[inline(always)]
        fn copy_rows(
            &mut self,
            moves: impl $crate::nand::Moves,
            cause: $crate::nand::Cause,
            chain: &mut $crate::nand::Chain,
        ) -> Result<(), Self::Error> {
            self.copy(moves, cause, chain)
        }

        #[inline(always)]
        fn takes_rows(&self) -> bool {
            false
        }

        fn state(&mut self) -> Option<&mut dyn $crate::saved::State> {
            None
        }

        $crate::forward_nand!(counters $($rest)*);
    };
    (tags $($rest:ident)*) => {
        fn tag(&self, ppn: $crate::addr::Ppn) -> Option<$crate::addr::Tag> {
            self.inner.tag(ppn)
        }

        fn programmed(&self, unit: $crate::addr::Unit) -> u32 {
            self.inner.programmed(unit)
        }

        fn mode(&self, unit: $crate::addr::Unit) -> $crate::geometry::Mode {
            self.inner.mode(unit)
        }

        fn payload(&self, ppn: $crate::addr::Ppn) -> Option<Vec<u8>> {
            self.inner.payload(ppn)
        }

        $crate::forward_nand!($($rest)*);
    };
    (tear $($rest:ident)*) => {
        fn tear_program(&mut self, to: $crate::addr::Ppn) {
            self.inner.tear_program(to);
        }

        fn lose_memory(&mut self) {
            self.inner.lose_memory();
        }

        fn tear_erase(&mut self, unit: $crate::addr::Unit, survives: fn(u32) -> bool) {
            self.inner.tear_erase(unit, survives);
        }

        $crate::forward_nand!($($rest)*);
    };
}
