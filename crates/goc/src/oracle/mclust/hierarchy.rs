//! Model-based agglomerative clustering, unconstrained covariances (Fraley 1998).
//!
//! Beginning with every distinct point a group of its own, the two groups are merged whose union raises
//! the classification criterion least, until one group is left. For Gaussian groups with free
//! covariances the criterion is `sum_k n_k log |W_k / n_k|`, `W_k` the scatter matrix of group `k`. A group
//! of no more than `p` points has determinant 0, so Fraley adds the trace of the group and a share of the
//! trace of all data:
//!
//! ```text
//! sum_k w_k,   w_k = n_k log( |W_k / n_k| + ( tr W_k + tr W / (n p) ) / n_k )
//! ```
//!
//! The cost of a merge, `w_(a+b) - w_a - w_b`, depends on the two groups alone, so a merge changes only the
//! costs that involve the new group. The costs of all pairs are kept (`n^2 / 2` numbers: 36 MB for
//! 3000 points) with the cheapest partner of each row; a merge then costs `O(n)` determinants of
//! `p x p` (none for groups of at most `p` points), and the tree about `n^2` of them. Of equal costs
//! the lower pair wins.

use crate::elementary::ln;

/// The merges from single distinct points to one group.
pub(super) struct Tree {
    /// Pairs `(a, b)`, `a < b`: the group that contains `b` joins the one that contains `a`; both
    /// are named by their lowest member.
    merges: Vec<(u32, u32)>,
}

impl Tree {
    /// Grows the tree of `distinct` points; `group` says which rows of `columns` are equal.
    pub(super) fn grow(columns: &[Vec<f64>], group: &[u32], distinct: usize) -> Self {
        let mut groups = Groups::singles(columns, group, distinct);
        let mut costs = Costs::of(&mut groups);
        let mut merges = Vec::with_capacity(distinct.saturating_sub(1));
        for _ in 1..distinct {
            let Some((a, b)) = costs.cheapest() else { break };
            merges.push((a as u32, b as u32));
            groups.merge(a, b);
            costs.merged(&mut groups, a, b);
        }
        Self { merges }
    }

    /// The distinct points in the order of the leaves: the members of every group of every cut side by side.
    pub(super) fn leaves(&self) -> Vec<u32> {
        let distinct = self.merges.len() + 1;
        let mut last: Vec<u32> = (0..distinct as u32).collect();
        let mut next = last.clone();
        for &(a, b) in &self.merges {
            next[last[a as usize] as usize] = b;
            last[a as usize] = last[b as usize];
        }
        let mut leaves = Vec::with_capacity(distinct);
        let mut leaf = 0;
        for _ in 0..distinct {
            leaves.push(leaf);
            leaf = next[leaf as usize];
        }
        leaves
    }

    /// The label of each distinct point when `groups` groups are left; numbered by lowest member.
    pub(super) fn cut(&self, groups: usize) -> Vec<u32> {
        let distinct = self.merges.len() + 1;
        let mut label: Vec<u32> = (0..distinct as u32).collect();
        for &(a, b) in &self.merges[..distinct.saturating_sub(groups)] {
            label[b as usize] = a;
        }
        // A parent is always lower than its child, so one pass upwards resolves all chains.
        let mut next = 0;
        for i in 0..distinct {
            let parent = label[i] as usize;
            if parent == i {
                label[i] = next;
                next += 1;
            } else {
                label[i] = label[parent];
            }
        }
        label
    }
}

/// Size, mean and scatter of every group, and its term of the criterion.
struct Groups {
    features: usize,
    share: f64,
    alive: Vec<bool>,
    size: Vec<f64>,
    mean: Vec<f64>,
    /// Lower triangles, row after row.
    scatter: Vec<f64>,
    trace: Vec<f64>,
    term: Vec<f64>,
    triangle: Vec<f64>,
}

impl Groups {
    fn singles(columns: &[Vec<f64>], group: &[u32], distinct: usize) -> Self {
        let (n, p) = (group.len(), columns.len());
        let mut size = vec![0.0; distinct];
        let mut mean = vec![0.0; distinct * p];
        let mut total = 0.0;
        for (i, &g) in group.iter().enumerate() {
            size[g as usize] += 1.0;
            for (j, column) in columns.iter().enumerate() {
                mean[g as usize * p + j] = column[i];
                // The columns are centred, so this is the trace of the scatter of all data.
                total += column[i] * column[i];
            }
        }
        let mut groups = Self {
            features: p,
            // Without any width (p = 0) no cost means anything; 1 keeps the logarithm finite.
            share: if total > 0.0 { total / (n * p) as f64 } else { 1.0 },
            alive: vec![true; distinct],
            term: vec![0.0; distinct],
            scatter: vec![0.0; distinct * p * (p + 1) / 2],
            trace: vec![0.0; distinct],
            triangle: vec![0.0; p * (p + 1) / 2],
            size,
            mean,
        };
        for g in 0..distinct {
            groups.term[g] = groups.size[g] * ln(groups.share / groups.size[g]);
        }
        groups
    }

    /// `w` of the union of two groups.
    #[inline]
    fn joint_term(&mut self, a: usize, b: usize) -> f64 {
        // The number of features known at compile time makes the small determinants several times faster.
        match self.features {
            2 => self.joint_term_of(a, b, 2),
            3 => self.joint_term_of(a, b, 3),
            4 => self.joint_term_of(a, b, 4),
            p => self.joint_term_of(a, b, p),
        }
    }

    #[inline(always)]
    fn joint_term_of(&mut self, a: usize, b: usize, p: usize) -> f64 {
        let cells = p * (p + 1) / 2;
        let (size_a, size_b) = (self.size[a], self.size[b]);
        let size = size_a + size_b;
        let weight = size_a * size_b / size;
        let (mean_a, mean_b) = (&self.mean[a * p..][..p], &self.mean[b * p..][..p]);
        let mut between = 0.0;
        for j in 0..p {
            let d = mean_a[j] - mean_b[j];
            between += d * d;
        }
        let trace = self.trace[a] + self.trace[b] + weight * between;
        let mut determinant = 0.0;
        if size > p as f64 {
            let (scatter_a, scatter_b) =
                (&self.scatter[a * cells..][..cells], &self.scatter[b * cells..][..cells]);
            let triangle = &mut self.triangle[..cells];
            let mut at = 0;
            for i in 0..p {
                let d = weight * (mean_a[i] - mean_b[i]);
                for j in 0..=i {
                    let cross = d * (mean_a[j] - mean_b[j]);
                    triangle[at] = (scatter_a[at] + scatter_b[at] + cross) / size;
                    at += 1;
                }
            }
            determinant = determinant_of(triangle, p);
        }
        size * ln(determinant + (trace + self.share) / size)
    }

    /// Moves group `b` into group `a`.
    fn merge(&mut self, a: usize, b: usize) {
        let term = self.joint_term(a, b);
        let p = self.features;
        let cells = p * (p + 1) / 2;
        let (size_a, size_b) = (self.size[a], self.size[b]);
        let size = size_a + size_b;
        let weight = size_a * size_b / size;
        let mut at = 0;
        let mut trace = 0.0;
        for i in 0..p {
            let d = self.mean[a * p + i] - self.mean[b * p + i];
            for j in 0..=i {
                let e = self.mean[a * p + j] - self.mean[b * p + j];
                self.scatter[a * cells + at] += self.scatter[b * cells + at] + weight * d * e;
                at += 1;
            }
            trace += self.scatter[a * cells + at - 1];
        }
        for j in 0..p {
            let mean_b = self.mean[b * p + j];
            let mean_a = &mut self.mean[a * p + j];
            *mean_a = (size_a * *mean_a + size_b * mean_b) / size;
        }
        self.trace[a] = trace;
        self.size[a] = size;
        self.term[a] = term;
        self.alive[b] = false;
    }

    fn cost(&mut self, a: usize, b: usize) -> f64 {
        self.joint_term(a, b) - self.term[a] - self.term[b]
    }
}

/// Determinant of a positive semidefinite matrix given as lower triangle (overwritten): the product of
/// the pivots of Gaussian elimination. A pivot that rounding makes negative is 0.
#[inline(always)]
fn determinant_of(triangle: &mut [f64], p: usize) -> f64 {
    let mut determinant = 1.0;
    for k in 0..p {
        let pivot = triangle[k * (k + 1) / 2 + k];
        if pivot.is_nan() || pivot <= 0.0 {
            return 0.0;
        }
        determinant *= pivot;
        for i in k + 1..p {
            let row = i * (i + 1) / 2;
            let factor = triangle[row + k] / pivot;
            for j in k + 1..=i {
                triangle[row + j] -= factor * triangle[j * (j + 1) / 2 + k];
            }
        }
    }
    determinant
}

/// Merge costs of all pairs, and for each row its cheapest lower partner.
struct Costs {
    /// Row `i` holds the costs of `(i, j)`, `j < i`; infinite when `j` is gone.
    rows: Vec<f64>,
    best: Vec<f64>,
    partner: Vec<usize>,
}

impl Costs {
    fn of(groups: &mut Groups) -> Self {
        let n = groups.alive.len();
        let mut costs = Self {
            rows: Vec::with_capacity(n * n.saturating_sub(1) / 2),
            best: vec![f64::INFINITY; n],
            partner: vec![0; n],
        };
        for i in 0..n {
            for j in 0..i {
                costs.rows.push(groups.cost(i, j));
            }
            costs.find_partner(i);
        }
        costs
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * i.saturating_sub(1) / 2..][..i]
    }

    fn find_partner(&mut self, i: usize) {
        let mut best = f64::INFINITY;
        let mut partner = 0;
        for (j, &cost) in self.row(i).iter().enumerate() {
            if cost < best {
                (best, partner) = (cost, j);
            }
        }
        self.best[i] = best;
        self.partner[i] = partner;
    }

    /// The cheapest pair, lower group first.
    fn cheapest(&self) -> Option<(usize, usize)> {
        let mut found = None;
        let mut best = f64::INFINITY;
        for (i, &cost) in self.best.iter().enumerate() {
            if cost < best {
                best = cost;
                found = Some((self.partner[i], i));
            }
        }
        found
    }

    /// Brings the costs up to date after `b` has joined `a`.
    fn merged(&mut self, groups: &mut Groups, a: usize, b: usize) {
        let n = groups.alive.len();
        self.best[b] = f64::INFINITY;
        for i in b + 1..n {
            self.rows[i * (i - 1) / 2 + b] = f64::INFINITY;
        }
        for j in 0..a {
            if groups.alive[j] {
                self.rows[a * (a - 1) / 2 + j] = groups.cost(a, j);
            }
        }
        self.find_partner(a);
        for i in a + 1..n {
            if !groups.alive[i] {
                continue;
            }
            let cost = groups.cost(i, a);
            self.rows[i * (i - 1) / 2 + a] = cost;
            let lost = self.partner[i] == a || self.partner[i] == b;
            if cost < self.best[i] || (cost == self.best[i] && a < self.partner[i]) {
                self.best[i] = cost;
                self.partner[i] = a;
            } else if lost {
                self.find_partner(i);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use rand::RngExt;

    fn columns(seed: u64, n: usize, p: usize) -> Vec<Vec<f64>> {
        let mut rng = stream(seed, 0);
        let mut columns: Vec<Vec<f64>> =
            (0..p).map(|_| (0..n).map(|i| rng.random::<f64>() + 0.7 * (i % 3) as f64).collect()).collect();
        for column in &mut columns {
            let mean = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|v| *v -= mean);
        }
        columns
    }

    /// The term of a group from its members alone, the determinant by expansion along the first row.
    fn term(columns: &[Vec<f64>], members: &[usize]) -> f64 {
        let (n, p, size) = (columns[0].len() as f64, columns.len(), members.len() as f64);
        let mean = |c: &Vec<f64>| members.iter().map(|&i| c[i]).sum::<f64>() / size;
        let scatter: Vec<Vec<f64>> = columns
            .iter()
            .map(|a| {
                let product = |b: &Vec<f64>, &i: &usize| (a[i] - mean(a)) * (b[i] - mean(b));
                columns.iter().map(|b| members.iter().map(|i| product(b, i)).sum::<f64>() / size).collect()
            })
            .collect();
        let total: f64 = columns.iter().flatten().map(|v| v * v).sum();
        let trace: f64 = (0..p).map(|j| scatter[j][j]).sum();
        let determinant = if members.len() > p { expansion(&scatter) } else { 0.0 };
        size * (determinant + trace + total / (n * p as f64) / size).ln()
    }

    fn expansion(m: &[Vec<f64>]) -> f64 {
        if m.is_empty() {
            return 1.0;
        }
        (0..m.len())
            .map(|j| {
                let minor: Vec<Vec<f64>> = m[1..].iter().map(|r| [&r[..j], &r[j + 1..]].concat()).collect();
                (if j % 2 == 0 { 1.0 } else { -1.0 }) * m[0][j] * expansion(&minor)
            })
            .sum()
    }

    fn greedy(columns: &[Vec<f64>], mut groups: Vec<Vec<usize>>) -> Vec<(u32, u32)> {
        let names: Vec<usize> = groups.iter().map(|g| g[0]).collect();
        let name = |g: &[usize]| names.iter().position(|&n| n == g[0]).unwrap() as u32;
        let mut merges = Vec::new();
        while groups.len() > 1 {
            let mut best = (f64::INFINITY, 0, 0);
            for a in 0..groups.len() {
                for b in a + 1..groups.len() {
                    let union = [&groups[a][..], &groups[b][..]].concat();
                    let cost = term(columns, &union) - term(columns, &groups[a]) - term(columns, &groups[b]);
                    if cost < best.0 {
                        best = (cost, a, b);
                    }
                }
            }
            let (_, a, b) = best;
            merges.push((name(&groups[a]), name(&groups[b])));
            let moved = groups.remove(b);
            groups[a].extend(moved);
        }
        merges
    }

    #[test]
    fn merges_are_the_greedy_minimum_of_the_criterion() {
        for p in 1..=5 {
            for seed in 0..4 {
                let columns = columns(seed, 24, p);
                let group: Vec<u32> = (0..24).collect();
                let tree = Tree::grow(&columns, &group, 24);
                assert_eq!(tree.merges, greedy(&columns, (0..24).map(|i| vec![i]).collect()), "p = {p}");
            }
        }
    }

    #[test]
    fn equal_points_start_as_one_group_with_all_their_weight() {
        let mut columns = columns(7, 12, 2);
        for column in &mut columns {
            column.extend_from_within(..6);
            column.extend_from_within(..3);
            let mean = column.iter().sum::<f64>() / 21.0;
            column.iter_mut().for_each(|v| *v -= mean);
        }
        let group: Vec<u32> = (0..12).chain(0..6).chain(0..3).collect();
        let members =
            (0..12).map(|g| (0..21).filter(|&i| group[i] == g).collect::<Vec<usize>>()).collect::<Vec<_>>();
        assert_eq!(Tree::grow(&columns, &group, 12).merges, greedy(&columns, members));
    }

    #[test]
    fn cuts_are_nested_and_leaves_keep_every_group_together() {
        let columns = columns(3, 40, 3);
        let tree = Tree::grow(&columns, &(0..40).collect::<Vec<u32>>(), 40);
        let leaves = tree.leaves();
        for groups in 1..=40 {
            let (cut, finer) = (tree.cut(groups), tree.cut((groups + 1).min(40)));
            assert_eq!(cut.iter().max(), Some(&(groups as u32 - 1)));
            let mut parent = [u32::MAX; 41];
            for (&coarse, &fine) in cut.iter().zip(&finer) {
                assert!(parent[fine as usize] == u32::MAX || parent[fine as usize] == coarse);
                parent[fine as usize] = coarse;
            }
            let changes = leaves.windows(2).filter(|w| cut[w[0] as usize] != cut[w[1] as usize]).count();
            assert_eq!(changes, groups - 1);
        }
    }
}
