//! An observer of a fit that shows progress, receives remarks and may stop it.

/// Watches a long computation. Every method may be called from any thread; to stop the work, a
/// watch unwinds from [`Watch::tick`].
pub trait Watch: Sync {
    /// A stage of the work begins; `steps` names its steps, and `total` is their number if known.
    fn begin(&self, steps: &str, total: Option<u64>) {
        let _ = (steps, total);
    }

    /// A step is done.
    fn tick(&self) {}

    /// A chance to stop the work without completing a step.
    fn check(&self) {}

    /// Whether the work should end now with what it has; only the marginal mixture can. Once true,
    /// it stays true.
    fn enough(&self) -> bool {
        false
    }

    /// The stage is over.
    fn end(&self) {}

    /// A remark worth reading: what was assumed, what was dropped.
    fn note(&self, remark: &str) {
        let _ = remark;
    }

    /// A warning about something the user should look into.
    fn warn(&self, warning: &str) {
        self.note(warning);
    }
}

/// A watch that ignores everything.
pub struct Unwatched;

impl Watch for Unwatched {}

/// Passes on only the request to stop, no steps or remarks. Used for repeats of a fit, which run in
/// parallel.
pub(crate) struct Quiet<'w>(pub &'w dyn Watch);

impl Watch for Quiet<'_> {
    fn tick(&self) {
        self.0.check();
    }

    fn check(&self) {
        self.0.check();
    }
}
