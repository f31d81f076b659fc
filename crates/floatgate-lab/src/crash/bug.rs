//! Bugs that an exploration must find.

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag};
use floatgate_ftl::journal::Layout;
use floatgate_ftl::nand::{Tagged, Torn};

use crate::drive::Plan;
use crate::drive::cut::Flash;

/// Bugs that a drive could have, to test whether the exploration finds them. Each variant imitates
/// the effect of its bug on flash, or on the host's view of durability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// The recovery cannot distinguish old pages from new ones.
    NoSequence,
    /// The recovery does not scan for pages programmed since the checkpoint.
    NoScan,
    /// The recovery trusts the out-of-band area of a partly programmed page.
    TornPageBelieved,
    /// The out-of-band area names the next logical page instead of the stored one.
    WrongOwner,
    /// The drive does not record trims.
    ForgottenTrims,
    /// The drive reports writes as durable before it programs them.
    EarlyAcknowledge,
    /// The drive acknowledges a flush and does nothing.
    IgnoredFlush,
}

impl Bug {
    /// Every bug.
    pub const ALL: [Self; 7] = [
        Self::NoSequence,
        Self::NoScan,
        Self::TornPageBelieved,
        Self::WrongOwner,
        Self::ForgottenTrims,
        Self::EarlyAcknowledge,
        Self::IgnoredFlush,
    ];

    /// Applies the effect of this bug to the flash.
    pub(super) fn spoil(self, plan: &Plan, flash: &mut Flash, torn: Option<Torn>) {
        let layout = Layout::new(plan.geometry);
        let before = layout.find(flash).map_or(0, |checkpoint| checkpoint.stamp.serial);
        let pages = (0..plan.geometry.physical_pages()).map(Ppn::new);
        let tags: Vec<_> = pages.filter_map(|ppn| Some((ppn, flash.tag(ppn)?))).collect();
        let oob = flash.inner_mut();
        match self {
            Self::NoSequence => tags.into_iter().for_each(|(ppn, tag)| {
                oob.set_tag(ppn, Some(Tag { sequence: 1, serial: before + 1, ..tag }));
            }),
            Self::NoScan => {
                let new = tags.into_iter().filter(|(_, tag)| tag.serial > before);
                new.for_each(|(ppn, _)| oob.set_tag(ppn, None));
            }
            Self::TornPageBelieved => {
                if let Some(Torn::Program(to, tag)) = torn {
                    oob.set_tag(to, Some(tag));
                }
            }
            Self::WrongOwner => tags.into_iter().for_each(|(ppn, tag)| {
                if let Owner::Data(lpn) = tag.owner {
                    let next = Lpn::new((lpn.get() + 1) % plan.geometry.logical_pages());
                    oob.set_tag(ppn, Some(Tag { owner: Owner::Data(next), ..tag }));
                }
            }),
            Self::ForgottenTrims => layout.trims().for_each(|ppn| oob.lose_payload(ppn)),
            Self::EarlyAcknowledge | Self::IgnoredFlush => {}
        }
    }
}
