//! Draws of what all objects share: the metric, the prior's cohesion, the field's shares and
//! smoothness.

use super::density::field_of;
use super::{Chain, FIELD, LAW_EVERY};
use crate::marginal::field::pick_ln;
use crate::marginal::matrix::{cholesky, inverse, wishart};
use crate::marginal::shape::Shape;

impl Chain<'_> {
    /// Draws the metric and the prior's cohesion. Returns false if numbers went out of range, which
    /// leaves the metric unchanged.
    pub(in crate::marginal) fn draw_shape(&mut self) -> bool {
        let sizes = self.clusters.iter().map(|c| c.size);
        self.cohesion = self.data.prior.draw(sizes, &mut self.rng);
        self.constants = self.data.prior.constants(self.cohesion);
        if self.data.field.is_open() {
            let members = field_of(&self.labels);
            self.field_shares =
                self.data.field.draw(self.reader.law, self.level, members, &self.field_shares, &mut self.rng);
            self.draw_level();
        }
        let drawn = !self.data.learn || self.draw_metric().is_some();
        let drawn = (!self.steps.is_multiple_of(LAW_EVERY) || self.draw_law().is_some()) && drawn;
        self.rebuild();
        drawn
    }

    /// Draws the smoothness of the field, given its members and the width of the groups.
    fn draw_level(&mut self) {
        let levels = self.data.field.levels();
        let ln_of = |level: usize| {
            let narrow = &levels[level].narrow;
            if self.in_field > 0 && !self.clusters.iter().all(|c| narrow.holds(c.size, &c.scatter)) {
                return f64::NEG_INFINITY;
            }
            let members = (0..).zip(&self.labels).filter(|(_, label)| **label == FIELD);
            let each = members
                .map(|(i, _)| libm::log(self.data.field.sum(self.reader.law, level, i, &self.field_shares)));
            levels[level].ln_prior + each.sum::<f64>()
        };
        let ln: Vec<f64> = (0..levels.len()).map(ln_of).collect();
        self.level = pick_ln(&ln, &mut self.rng);
    }

    /// Draws a metric and cohesion that fit the labels, whatever they were before. For initial
    /// states.
    pub(in crate::marginal) fn fit_shape(&mut self) {
        for _ in 0..5 {
            let sizes = self.clusters.iter().map(|c| c.size);
            self.cohesion = self.data.prior.draw(sizes, &mut self.rng);
            if self.data.learn {
                self.draw_metric();
            }
        }
        self.rebuild();
    }

    /// Draws the similarity of the covariances at fixed mean, with the covariances integrated out.
    fn draw_likeness(&mut self) {
        let likenesses = self.data.likenesses;
        if likenesses.len() > 1 {
            let plural = || self.clusters.iter().filter(|cluster| cluster.size > 1);
            let shapes: Vec<Shape> = likenesses.iter().map(|own| self.shape.as_alike(own)).collect();
            let ln_of = |shape: &Shape| plural().map(|cluster| cluster.ln_density(shape)).sum();
            let ln: Vec<f64> = shapes.iter().map(ln_of).collect();
            if ln.iter().all(|ln: &f64| ln.is_finite()) {
                self.shape = shapes[pick_ln(&ln, &mut self.rng)].clone();
            }
        }
    }

    fn draw_metric(&mut self) -> Option<()> {
        self.draw_likeness();
        let (q, nu) = (self.shape.q, self.shape.nu as f64);
        let mut sum = vec![0.0; q * q];
        for f in 0..q {
            sum[f * q + f] = self.data.metric_df / (self.scale * self.shape.expected_times());
        }
        let mut plural = 0.0;
        for cluster in self.clusters.iter().filter(|cluster| cluster.size > 1) {
            let scale = inverse(&cluster.spread(&self.shape), q)?;
            let precision = wishart(nu + cluster.size as f64 - 1.0, &scale, q, &mut self.rng)?;
            for (s, p) in sum.iter_mut().zip(precision) {
                *s += p;
            }
            plural += 1.0;
        }
        let psi = wishart(plural * nu + self.data.metric_df, &inverse(&sum, q)?, q, &mut self.rng)?;
        cholesky(&psi, q)?;
        self.shape.set_psi(psi);
        self.draw_scale();
        Some(())
    }

    /// Draws the prior expectation of the metric, given the metric, from the Wishart density at
    /// every scale of the grid.
    fn draw_scale(&mut self) {
        let (q, df) = (self.shape.q, self.data.metric_df);
        if self.data.scales.len() > 1 {
            let trace = self.trace_of_expected();
            let scales = &self.data.scales[..self.open_scales(self.in_field)];
            let ln_of = |a: &f64| -0.5 * df * (q as f64 * libm::log(*a) + trace / a);
            let ln: Vec<f64> = scales.iter().map(ln_of).collect();
            self.scale = scales[pick_ln(&ln, &mut self.rng)];
        }
    }

    /// The trace of the expected covariance.
    pub(super) fn trace_of_expected(&self) -> f64 {
        let q = self.shape.q;
        (0..q).map(|f| self.shape.psi[f * q + f]).sum::<f64>() / self.shape.expected_times()
    }

    /// The number of scales allowed with this many objects in the field.
    fn open_scales(&self, in_field: usize) -> usize {
        if in_field == 0 { self.data.scales.len() } else { self.data.narrow_scales }
    }

    /// `ln p` of the scale with this many objects in the field.
    pub(super) fn ln_scale_prior(&self, in_field: usize) -> f64 {
        let open = &self.data.scales[..self.open_scales(in_field)];
        if open.contains(&self.scale) { -libm::log(open.len() as f64) } else { f64::NEG_INFINITY }
    }
}
