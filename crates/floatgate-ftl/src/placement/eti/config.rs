//! Parameters of ETI: Table 2 of the paper, and decisions that the paper leaves open.

/// Highest value of four bits.
pub(super) const COUNTER_MAX: u8 = 15;

crate::parameters! {
    /// Parameters of ETI.
    pub struct EtiConfig {
        /// Extents at most; each takes 4.5 bytes.
        extents: u32 = 2048, from 1 to 65_536;
        /// Once no more extents can be made, a write counts for an extent if at least this
        /// percentage lies in both: of the extent, or of the write.
        alpha_percent: u32 = 100, from 1 to 100;
        /// Range of pages that `alpha_percent` is a share of.
        alpha_of: AlphaOf = AlphaOf::Extent;
        /// Neighbouring extents whose counters are below this are merged; others only if their
        /// counters are equal.
        beta: u8 = 4, from 0 to 16;
        /// A page is hot if its counter is at least this.
        hot_threshold: u8 = 4, from 1 to 15;
        /// The highest value of a counter.
        counter_max: u8 = COUNTER_MAX, from 1 to 15;
        /// Period after which all counters are halved, in `decay_unit`.
        decay_period: u32 = 4096, from 1 to 1_000_000_000;
        /// The unit of `decay_period`.
        decay_unit: DecayUnit = DecayUnit::Commands;
        /// The counter of an extent merged from cold ones.
        merge_value: MergeValue = MergeValue::Mean;
        /// Whether a write that needs two more extents makes one if there is room for only one.
        partial_split: bool = false;
        /// Whether pages are judged after or before the update of their own command.
        judged: Judged = Judged::After;
    }
}

crate::choice! {
    /// Range of pages that `alpha_percent` is a share of.
    pub enum AlphaOf {
        /// The extent: at least this percentage of it is written.
        Extent = "extent",
        /// The write: at least this percentage of it lies in the extent.
        Write = "write",
    }
}

crate::choice! {
    /// When pages are judged.
    pub enum Judged {
        /// After the update of their own command.
        After = "after",
        /// Before it: by the commands before.
        Before = "before",
    }
}

crate::choice! {
    /// Unit of the ageing period.
    pub enum DecayUnit {
        /// Write commands.
        Commands = "commands",
        /// Page writes, as for `mbf` and `mhf`.
        Pages = "pages",
    }
}

crate::choice! {
    /// Counter of an extent merged from cold ones.
    pub enum MergeValue {
        /// The mean of their counters, weighted by length, rounded down.
        Mean = "mean",
        /// The mean of their counters, each extent once, rounded down.
        PlainMean = "plain_mean",
        /// The highest of their counters.
        Max = "max",
        /// The lowest of their counters.
        Min = "min",
        /// Zero.
        Zero = "zero",
    }
}
