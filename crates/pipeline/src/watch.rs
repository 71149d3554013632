//! Somebody who watches a fit: shows progress, hears remarks, may stop it.

/// Watches a long computation. Everything is called from any thread; a watch that wants the work to stop
/// unwinds from [`Watch::tick`].
pub trait Watch: Sync {
    /// A stretch of work begins: what its steps are called, and how many there are where that is known.
    fn begin(&self, steps: &str, total: Option<u64>) {
        let _ = (steps, total);
    }

    /// A step is done.
    fn tick(&self) {}

    /// A chance to stop the work, without a step being done.
    fn check(&self) {}

    /// The stretch of work is over.
    fn end(&self) {}

    /// A remark worth reading: what was assumed, what was dropped.
    fn note(&self, remark: &str) {
        let _ = remark;
    }

    /// Something that the user should look into.
    fn warn(&self, warning: &str) {
        self.note(warning);
    }
}

/// Nobody watches.
pub struct Unwatched;

impl Watch for Unwatched {}

/// Neither steps nor words pass, only the wish to stop: for repeats of a fit, which run side by side.
pub(crate) struct Quiet<'w>(pub &'w dyn Watch);

impl Watch for Quiet<'_> {
    fn tick(&self) {
        self.0.check();
    }

    fn check(&self) {
        self.0.check();
    }
}
