//! Forwarding of a wrapper's methods to the medium in its field `inner`, written once.
//!
//! Each implementation of [`Nand`](super::Nand) for a wrapper denies
//! `clippy::missing_trait_methods`. A wrapper that does not decide about a new method of the trait
//! therefore fails the lint.

/// Writes the named methods of [`Nand`](super::Nand), [`Tagged`](super::Tagged) or
/// [`Tear`](super::Tear) as calls of `self.inner`. `alone` stands for the methods that a wrapper
/// implements by its other methods: `copy_rows`, which copies once, `takes_rows`, `counters` and
/// `state`.
macro_rules! forward {
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

        forward!($($rest)*);
    };
    (read $($rest:ident)*) => {
        fn read(
            &mut self,
            from: Ppn,
            owner: Owner,
            source: ReadSource,
            cause: Cause,
            chain: &mut Chain,
        ) -> Result<(), Self::Error> {
            self.inner.read(from, owner, source, cause, chain)
        }

        forward!($($rest)*);
    };
    (pad $($rest:ident)*) => {
        fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), Self::Error> {
            self.inner.pad(from, pages, chain)
        }

        forward!($($rest)*);
    };
    (set_mode $($rest:ident)*) => {
        fn set_mode(&mut self, unit: Unit, mode: Mode) {
            self.inner.set_mode(unit, mode);
        }

        forward!($($rest)*);
    };
    (takes_rows $($rest:ident)*) => {
        #[inline(always)]
        fn takes_rows(&self) -> bool {
            self.inner.takes_rows()
        }

        forward!($($rest)*);
    };
    (load_payload $($rest:ident)*) => {
        fn load_payload(&mut self, bytes: &[u8]) {
            self.inner.load_payload(bytes);
        }

        forward!($($rest)*);
    };
    (close_stripe $($rest:ident)*) => {
        fn close_stripe(&mut self, last: Ppn) {
            self.inner.close_stripe(last);
        }

        forward!($($rest)*);
    };
    (erase $($rest:ident)*) => {
        fn erase(
            &mut self,
            unit: Unit,
            cause: Cause,
            chain: &mut Chain,
        ) -> Result<(), Self::Error> {
            self.inner.erase(unit, cause, chain)
        }

        forward!($($rest)*);
    };
    (report $($rest:ident)*) => {
        fn report(&self, counters: &mut Counters) {
            self.inner.report(counters);
        }

        forward!($($rest)*);
    };
    (reset_counters $($rest:ident)*) => {
        fn reset_counters(&mut self) {
            self.inner.reset_counters();
        }

        forward!($($rest)*);
    };
    (read_failed $($rest:ident)*) => {
        fn read_failed(&self) -> bool {
            self.inner.read_failed()
        }

        forward!($($rest)*);
    };
    (is_read_only $($rest:ident)*) => {
        fn is_read_only(&self) -> bool {
            self.inner.is_read_only()
        }

        forward!($($rest)*);
    };
    (counters $($rest:ident)*) => {
        fn counters(&self) -> Counters {
            let mut counters = Counters::default();
            self.report(&mut counters);
            counters
        }

        forward!($($rest)*);
    };
    (alone $($rest:ident)*) => {
        #[inline(always)]
        fn copy_rows(
            &mut self,
            moves: impl Moves,
            cause: Cause,
            chain: &mut Chain,
        ) -> Result<(), Self::Error> {
            self.copy(moves, cause, chain)
        }

        #[inline(always)]
        fn takes_rows(&self) -> bool {
            false
        }

        fn state(&mut self) -> Option<&mut dyn crate::saved::State> {
            None
        }

        forward!(counters $($rest)*);
    };
    (tags $($rest:ident)*) => {
        fn tag(&self, ppn: Ppn) -> Option<Tag> {
            self.inner.tag(ppn)
        }

        fn programmed(&self, unit: Unit) -> u32 {
            self.inner.programmed(unit)
        }

        fn mode(&self, unit: Unit) -> Mode {
            self.inner.mode(unit)
        }

        fn payload(&self, ppn: Ppn) -> Option<Vec<u8>> {
            self.inner.payload(ppn)
        }

        forward!($($rest)*);
    };
    (tear $($rest:ident)*) => {
        fn tear_program(&mut self, to: Ppn) {
            self.inner.tear_program(to);
        }

        fn lose_memory(&mut self) {
            self.inner.lose_memory();
        }

        fn tear_erase(&mut self, unit: Unit, survives: fn(u32) -> bool) {
            self.inner.tear_erase(unit, survives);
        }

        forward!($($rest)*);
    };
}

pub(super) use forward;
