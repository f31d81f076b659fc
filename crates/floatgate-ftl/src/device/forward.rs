//! Forwarding of a wrapper's methods to the drive in one of its fields, written once.

/// Writes the named methods of [`Device`](crate::device::Device) and its supertraits as calls of
/// the drive in a field. `clock` stands for all methods of
/// [`DeviceClock`](crate::device::DeviceClock).
#[macro_export]
macro_rules! forward_device {
    ($drive:tt:) => {};
    ($drive:tt: counters $($rest:ident)*) => {
        fn counters(&self) -> $crate::counters::Counters {
            self.$drive.counters()
        }

        $crate::forward_device!($drive: $($rest)*);
    };
    ($drive:tt: units $($rest:ident)*) => {
        fn units(&self) -> &$crate::unit_table::UnitTable {
            self.$drive.units()
        }

        $crate::forward_device!($drive: $($rest)*);
    };
    ($drive:tt: check $($rest:ident)*) => {
        fn check(&self) {
            self.$drive.check();
        }

        $crate::forward_device!($drive: $($rest)*);
    };
    ($drive:tt: sees_ahead $($rest:ident)*) => {
        fn sees_ahead(&self) -> usize {
            self.$drive.sees_ahead()
        }

        $crate::forward_device!($drive: $($rest)*);
    };
    ($drive:tt: write_back $($rest:ident)*) => {
        fn write_back(&mut self) {
            self.$drive.write_back();
        }

        $crate::forward_device!($drive: $($rest)*);
    };
    ($drive:tt: clock $($rest:ident)*) => {
        fn freeze(&mut self) {
            self.$drive.freeze();
        }

        fn thaw(&mut self) {
            self.$drive.thaw();
        }

        fn record(&mut self, recording: $crate::nand::Recording) {
            self.$drive.record(recording);
        }

        fn recorded(&self) -> Option<($crate::nand::Recorded, Option<$crate::request::Request>)> {
            self.$drive.recorded()
        }

        $crate::forward_device!($drive: $($rest)*);
    };
    ($drive:tt: set_future $($rest:ident)*) => {
        fn set_future(&mut self, future: $crate::future::FutureKnowledge) {
            self.$drive.set_future(future);
        }

        $crate::forward_device!($drive: $($rest)*);
    };
    ($drive:tt: room_until_cleaning $($rest:ident)*) => {
        fn room_until_cleaning(&self) -> Option<u64> {
            self.$drive.room_until_cleaning()
        }

        $crate::forward_device!($drive: $($rest)*);
    };
    ($drive:tt: cut_power $($rest:ident)*) => {
        fn cut_power(&mut self) {
            self.$drive.cut_power();
        }

        $crate::forward_device!($drive: $($rest)*);
    };
}
