//! Identify data structures (Base 2.0, 5.17): byte offsets and bits. Structures have 4,096 bytes.

/// Bytes of every Identify data structure.
pub const IDENTIFY_BYTES: usize = 4096;

/// Controller or Namespace Structure values (CNS).
pub mod cns {
    /// Identify Namespace (NVM Command Set 1.0, 4.1.5.1).
    pub const NAMESPACE: u8 = 0x00;
    /// Identify Controller.
    pub const CONTROLLER: u8 = 0x01;
    /// Active namespace list.
    pub const NAMESPACES: u8 = 0x02;
    /// Namespace identification descriptors.
    pub const DESCRIPTORS: u8 = 0x03;
    /// Namespace, specific to an I/O command set.
    pub const SET_NAMESPACE: u8 = 0x05;
    /// Controller, specific to an I/O command set.
    pub const SET_CONTROLLER: u8 = 0x06;
    /// Active namespace list of an I/O command set.
    pub const SET_NAMESPACES: u8 = 0x07;
    /// Namespace, independent of I/O command sets.
    pub const INDEPENDENT_NAMESPACE: u8 = 0x08;
    /// Endurance group list.
    pub const ENDURANCE_GROUPS: u8 = 0x19;
    /// I/O command set combinations.
    pub const COMMAND_SETS: u8 = 0x1c;
}

/// I/O command set identifiers (CSI).
pub mod csi {
    /// NVM command set.
    pub const NVM: u8 = 0;
    /// Zoned namespace command set.
    pub const ZONED: u8 = 2;
}

/// Identify Controller (CNS 01h): byte offsets.
pub mod controller {
    /// Serial number: 20 characters.
    pub const SN: usize = 4;
    /// Model number: 40 characters.
    pub const MN: usize = 24;
    /// Firmware revision: 8 characters.
    pub const FR: usize = 64;
    /// Multi-path I/O and namespace sharing; bit 1: the subsystem may have several controllers.
    pub const CMIC: usize = 76;
    /// Maximum data transfer size: a power of two, in pages of the smallest size.
    pub const MDTS: usize = 77;
    /// Controller identifier.
    pub const CNTLID: usize = 78;
    /// Version.
    pub const VER: usize = 80;
    /// Optional asynchronous events.
    pub const OAES: usize = 92;
    /// Controller attributes.
    pub const CTRATT: usize = 96;
    /// Controller type: 1 I/O, 2 discovery.
    pub const CNTRLTYPE: usize = 111;
    /// Optional admin commands.
    pub const OACS: usize = 256;
    /// Abort command limit, 0-based.
    pub const ACL: usize = 258;
    /// Asynchronous event request limit, 0-based.
    pub const AERL: usize = 259;
    /// Firmware updates; bit 0: slot 1 is read-only; 3:1: number of slots.
    pub const FRMW: usize = 260;
    /// Log page attributes.
    pub const LPA: usize = 261;
    /// Error log page entries, 0-based.
    pub const ELPE: usize = 262;
    /// Total capacity in bytes (16 bytes).
    pub const TNVMCAP: usize = 280;
    /// Keep alive support: granularity in 100 ms.
    pub const KAS: usize = 320;
    /// Highest endurance group identifier.
    pub const ENDGIDMAX: usize = 340;
    /// Submission queue entry size: 3:0 required, 7:4 maximum, as powers of two.
    pub const SQES: usize = 512;
    /// Completion queue entry size, likewise.
    pub const CQES: usize = 513;
    /// Maximum outstanding commands of a queue.
    pub const MAXCMD: usize = 514;
    /// Number of namespaces.
    pub const NN: usize = 516;
    /// Optional NVM commands.
    pub const ONCS: usize = 520;
    /// Volatile write cache.
    pub const VWC: usize = 525;
    /// SGL support.
    pub const SGLS: usize = 536;
    /// NVM subsystem qualified name: 256 bytes, padded with zeros.
    pub const SUBNQN: usize = 768;
    /// I/O queue command capsule size, in 16 bytes.
    pub const IOCCSZ: usize = 1792;
    /// I/O queue response capsule size, in 16 bytes.
    pub const IORCSZ: usize = 1796;
    /// Maximum SGL data block descriptors.
    pub const MSDBD: usize = 1803;

    /// OAES: notice of a changed namespace attribute.
    pub const OAES_NAMESPACE: u32 = 1 << 8;
    /// CTRATT: host identifiers of 128 bits.
    pub const CTRATT_HOST_ID: u32 = 1 << 0;
    /// CTRATT: endurance groups.
    pub const CTRATT_ENDURANCE_GROUPS: u32 = 1 << 4;
    /// CTRATT: traffic keeps the controller alive.
    pub const CTRATT_TRAFFIC_KEEP_ALIVE: u32 = 1 << 6;
    /// CTRATT: flexible data placement (TP4146).
    pub const CTRATT_FDP: u32 = 1 << 19;
    /// OACS: Format NVM.
    pub const OACS_FORMAT: u16 = 1 << 1;
    /// OACS: directives.
    pub const OACS_DIRECTIVES: u16 = 1 << 5;
    /// LPA: SMART log by namespace.
    pub const LPA_SMART: u8 = 1 << 0;
    /// LPA: command effects log.
    pub const LPA_EFFECTS: u8 = 1 << 1;
    /// LPA: offsets and long lengths of log pages.
    pub const LPA_EXTENDED: u8 = 1 << 2;
    /// LPA: logs 00h, 12h and 13h.
    pub const LPA_SUPPORTED: u8 = 1 << 5;
    /// ONCS: Compare.
    pub const ONCS_COMPARE: u16 = 1 << 0;
    /// ONCS: Dataset Management.
    pub const ONCS_DATASET: u16 = 1 << 2;
    /// ONCS: Write Zeroes.
    pub const ONCS_ZEROES: u16 = 1 << 3;
    /// ONCS: the Select field of Get Features.
    pub const ONCS_SELECT: u16 = 1 << 4;
    /// ONCS: the timestamp feature.
    pub const ONCS_TIMESTAMP: u16 = 1 << 6;
    /// ONCS: Verify.
    pub const ONCS_VERIFY: u16 = 1 << 7;
    /// VWC: a volatile write cache is present.
    pub const VWC_PRESENT: u8 = 1 << 0;
    /// VWC: Flush may name all namespaces.
    pub const VWC_FLUSH_ALL: u8 = 3 << 1;
    /// SGLS: SGLs without alignment.
    pub const SGLS_SUPPORTED: u32 = 1;
    /// SGLS: an SGL may be longer than the data.
    pub const SGLS_LONGER: u32 = 1 << 18;
    /// SGLS: an address may be an offset.
    pub const SGLS_OFFSET: u32 = 1 << 20;
    /// SGLS: transport data blocks.
    pub const SGLS_TRANSPORT: u32 = 1 << 21;
}

/// Identify Namespace of the NVM command set (CNS 00h; NVM Command Set 1.0, 4.1.5.1): byte
/// offsets.
pub mod namespace {
    /// Namespace size in blocks.
    pub const NSZE: usize = 0;
    /// Namespace capacity in blocks.
    pub const NCAP: usize = 8;
    /// Namespace utilization in blocks.
    pub const NUSE: usize = 16;
    /// Namespace features.
    pub const NSFEAT: usize = 24;
    /// Number of LBA formats, 0-based.
    pub const NLBAF: usize = 25;
    /// The LBA format in use, in bits 3:0.
    pub const FLBAS: usize = 26;
    /// Multi-path I/O; bit 0: controllers may share the namespace.
    pub const NMIC: usize = 30;
    /// Deallocate features; 2:0: bytes read from deallocated blocks, 1 zeros; bit 3: Write Zeroes
    /// may deallocate.
    pub const DLFEAT: usize = 33;
    /// Atomic write unit, normal; 0-based.
    pub const NAWUN: usize = 34;
    /// Atomic write unit when power fails; 0-based.
    pub const NAWUPF: usize = 36;
    /// Atomic boundary, normal; 0-based.
    pub const NABSN: usize = 40;
    /// Atomic boundary when power fails; 0-based.
    pub const NABSPF: usize = 44;
    /// NVM capacity in bytes (16 bytes).
    pub const NVMCAP: usize = 48;
    /// Preferred write granularity; 0-based.
    pub const NPWG: usize = 64;
    /// Preferred write alignment; 0-based.
    pub const NPWA: usize = 66;
    /// Preferred deallocate granularity; 0-based.
    pub const NPDG: usize = 68;
    /// Preferred deallocate alignment; 0-based.
    pub const NPDA: usize = 70;
    /// Optimal write size; 0-based.
    pub const NOWS: usize = 72;
    /// Endurance group.
    pub const ENDGID: usize = 102;
    /// LBA formats of 4 bytes each; 15:0 metadata bytes, 23:16 block size as a power of two, 25:24
    /// relative performance, 0 best.
    pub const LBAF: usize = 128;

    /// NSFEAT: the namespace has atomic write units of its own.
    pub const NSFEAT_ATOMIC: u8 = 1 << 1;
    /// NSFEAT: the preferred granularities are valid.
    pub const NSFEAT_PREFERRED: u8 = 1 << 4;
}

/// I/O command set independent Identify Namespace (CNS 08h): byte offsets.
pub mod independent {
    /// Common namespace features.
    pub const NSFEAT: usize = 0;
    /// Multi-path I/O.
    pub const NMIC: usize = 1;
    /// Endurance group.
    pub const ENDGID: usize = 12;
    /// Namespace status; bit 0: ready.
    pub const NSTAT: usize = 14;

    /// NSFEAT: no volatile write cache.
    pub const NSFEAT_NO_CACHE: u8 = 1 << 5;
}

/// Namespace identification descriptor types.
pub mod descriptor {
    /// UUID of 16 bytes.
    pub const UUID: u8 = 3;
    /// Command set identifier of 1 byte.
    pub const CSI: u8 = 4;
}
