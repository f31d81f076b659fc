//! Health of a served drive: a file that has failed, and an image that is gone.

use super::state::State;
use super::{Served, lock};
use crate::drive::live::{Live, LiveError};

/// Returns the reason if a drive reads and writes nothing any more.
pub(super) fn failure(drive: &dyn Live) -> Option<String> {
    let stopped = LiveError::if_stopped(drive.medium().fault()).err()?;
    Some(format!("{stopped}; nothing is read or written any more"))
}

impl Served {
    /// Returns a problem that the server reports at once: a failed drive, or an image that is gone.
    pub fn trouble(&self) -> Option<String> {
        let mut state = lock(&self.state);
        self.look_at_image(&mut state);
        let drive = &state.opened.as_ref()?.drive;
        failure(drive.as_ref()).or_else(|| self.image_gone(&state))
    }

    /// Marks the drive as failed if its file was truncated.
    pub(super) fn look_at_image(&self, state: &mut State) {
        if self.image.is_some()
            && let Ok(drive) = state.drive()
        {
            drive.medium_mut().look_at_length();
        }
    }

    /// Returns a warning if the image's path no longer leads to the open file: somebody removed or
    /// replaced the file, and another server may use the new one.
    pub(super) fn image_gone(&self, state: &State) -> Option<String> {
        let (path, opened) = (self.image.as_ref()?, state.opened.as_ref()?);
        (!opened.drive.medium().is_at(path)).then(|| {
            format!(
                "{} is not the file that was served any more: it was removed, moved or replaced; \
                 unless `floatgate ctl snapshot FILE` copies the drive, what clients write is lost \
                 when the server ends",
                path.display()
            )
        })
    }
}
