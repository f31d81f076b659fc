//! A growing map from page numbers to one number each, iterated in no particular order.

/// The key of an unused cell; no page has this number.
const VACANT: u32 = u32::MAX;
/// Cells in an empty table.
const CELLS: usize = 1 << 10;

/// Hash table with open addressing and linear probing, at most half full: 16 to 32 bytes per page,
/// and one memory access for most lookups.
#[derive(Debug)]
pub(super) struct Table {
    cells: Vec<(u32, u32)>,
    len: usize,
}

impl Table {
    /// Initial number of a page that [`Table::entry`] inserts.
    pub const NEW: u32 = u32::MAX;

    pub fn new() -> Self {
        Self { cells: vec![(VACANT, 0); CELLS], len: 0 }
    }

    /// Pages in the table.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of `page`. A page that is not in the table is inserted with
    /// [`Table::NEW`].
    #[inline]
    pub fn entry(&mut self, page: u32) -> &mut u32 {
        let mut at = self.find(page);
        if self.cells[at].0 == VACANT {
            assert_ne!(page, VACANT);
            if 2 * self.len >= self.cells.len() {
                self.grow();
                at = self.find(page);
            }
            self.cells[at] = (page, Self::NEW);
            self.len += 1;
        }
        &mut self.cells[at].1
    }

    /// The numbers of all pages.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        self.cells.iter_mut().filter(|cell| cell.0 != VACANT).map(|cell| &mut cell.1)
    }

    /// Returns the cell of `page`, or the unused cell where it would go.
    #[inline(always)]
    fn find(&self, page: u32) -> usize {
        let mask = self.cells.len() - 1;
        // Fibonacci hashing: the upper bits of the product are the well mixed ones.
        let mixed = u64::from(page).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut at = (mixed >> 32) as usize & mask;
        while self.cells[at].0 != page && self.cells[at].0 != VACANT {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let larger = vec![(VACANT, 0); 2 * self.cells.len()];
        for cell in std::mem::replace(&mut self.cells, larger) {
            if cell.0 != VACANT {
                let at = self.find(cell.0);
                self.cells[at] = cell;
            }
        }
    }
}
