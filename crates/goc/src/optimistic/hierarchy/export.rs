//! The tree for other programs: scipy's linkage table and Newick.
//!
//! A linkage table has one row per merge: the two parts, the height, and the number of leaves
//! below. Leaves are numbered from 0, and the i-th merge creates number `leaves + i`
//! (`scipy.cluster.hierarchy`). The leaves are the objects. Those of one cluster are joined first,
//! by Ward's method on their chosen candidates, cheapest merge first over all clusters; then follow
//! the merges of the tree. So all cuts into at most as many clusters as the run had are those of
//! [`Hierarchy::cut`]. The height of a merge is the total cost of all merges so far, in units of
//! the objective (squared scaled features).

use super::{Hierarchy, HierarchyError};
use crate::oracle::linkage::{Linkage, Method};

/// The rows of a table, written from the lowest merge up.
struct Rows {
    rows: Vec<[f64; 4]>,
    sizes: Vec<usize>,
    reached: f64,
}

impl Rows {
    fn new(leaves: usize) -> Self {
        Self { rows: Vec::new(), sizes: vec![1; leaves], reached: 0.0 }
    }

    /// Adds a merge; returns its number.
    fn push(&mut self, a: usize, b: usize, rise: f64) -> usize {
        self.reached += rise;
        let size = self.sizes[a] + self.sizes[b];
        self.rows.push([a.min(b) as f64, a.max(b) as f64, self.reached, size as f64]);
        self.sizes.push(size);
        self.sizes.len() - 1
    }
}

/// A merge within cluster `cluster`, the `step`-th one; parts are numbered within the cluster.
struct Within {
    rise: f64,
    cluster: usize,
    step: usize,
    parts: [usize; 2],
}

impl Hierarchy<'_> {
    /// The linkage table in scipy's format: `[a, b, height, objects below]`, one row fewer than
    /// objects. Requires the distances within a cluster, eight bytes for each pair of its members.
    pub fn linkage(&self) -> Result<Vec<[f64; 4]>, HierarchyError> {
        let (mut rows, mut number) = self.within_clusters()?;
        for join in &self.merges {
            let new = rows.push(number[join.first], number[join.second], join.rise);
            number.push(new);
        }
        Ok(rows.rows)
    }

    /// All merges within clusters, and the final number of each cluster in the table.
    fn within_clusters(&self) -> Result<(Rows, Vec<usize>), HierarchyError> {
        let mut merges: Vec<Within> = Vec::new();
        // For every cluster, the numbers of its members and, as they are created, of its merges.
        let mut numbers: Vec<Vec<usize>> = Vec::with_capacity(self.leaves);
        let places = self.candidates.chosen(&self.cut(self.leaves)?.chosen);
        for (cluster, node) in self.nodes[..self.leaves].iter().enumerate() {
            let members: Vec<usize> = node.members.iter().map(|&i| i as usize).collect();
            let tree = Linkage::new(Method::Ward).fit(&places.subset(&members))?;
            let mut rise = 0.0_f64;
            for (step, merge) in tree.merges().iter().enumerate() {
                // Ward's dissimilarity is the square root of twice the increase; monotone up to
                // rounding.
                rise = rise.max(0.5 * merge.dissimilarity * merge.dissimilarity);
                merges.push(Within { rise, cluster, step, parts: [merge.first, merge.second] });
            }
            numbers.push(members);
        }
        merges.sort_by(|a, b| {
            a.rise.total_cmp(&b.rise).then(a.cluster.cmp(&b.cluster)).then(a.step.cmp(&b.step))
        });
        let mut rows = Rows::new(self.candidates.objects());
        for merge in merges {
            let own = &mut numbers[merge.cluster];
            let new = rows.push(own[merge.parts[0]], own[merge.parts[1]], merge.rise);
            own.push(new);
        }
        // The last number of a cluster is its last merge, or its only member.
        let last = numbers.iter().map(|own| own[own.len() - 1]).collect();
        Ok((rows, last))
    }

    /// The tree in Newick format, with branch lengths. Objects are identified by their ids.
    pub fn newick(&self) -> Result<String, HierarchyError> {
        let names: Vec<String> = (0..self.candidates.objects()).map(|i| self.candidates.name(i)).collect();
        newick(&self.linkage()?, &names)
    }
}

/// A linkage table in Newick format; `names` are those of the leaves.
///
/// The length of a branch is the height of its upper end minus that of its lower end, with leaves
/// at height 0. Names with blanks, quotes, brackets, underscores or other special characters of the
/// format are quoted, with inner quotes doubled.
///
/// ```
/// use goc::optimistic::hierarchy::newick;
/// let rows = [[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 2.0, 3.0]];
/// let names = ["a".into(), "b's (2)".into(), "c".into()];
/// assert_eq!(newick(&rows, &names)?, "(c:2,(a:0.5,'b''s (2)':0.5):1.5);");
/// # Ok::<(), goc::optimistic::hierarchy::HierarchyError>(())
/// ```
pub fn newick(rows: &[[f64; 4]], names: &[String]) -> Result<String, HierarchyError> {
    let leaves = rows.len() + 1;
    let part = |row: usize, side: usize| rows[row][side] as usize;
    if names.len() != leaves {
        return Err(HierarchyError::Names { names: names.len(), leaves });
    }
    let mut joined = vec![false; leaves + rows.len()];
    for row in 0..rows.len() {
        for at in [part(row, 0), part(row, 1)] {
            if at >= leaves + row || joined[at] {
                return Err(HierarchyError::NotATree { row, part: at });
            }
            joined[at] = true;
        }
    }
    let height = |at: usize| if at < leaves { 0.0 } else { rows[at - leaves][2] };
    let mut text = String::new();
    // An explicit stack of what is still to be written, instead of recursion: a chain is as deep as
    // it has leaves.
    enum Write {
        Node { at: usize, above: Option<f64> },
        Mark(char),
        Length(f64),
    }
    let mut todo = vec![Write::Mark(';'), Write::Node { at: leaves + rows.len() - 1, above: None }];
    while let Some(next) = todo.pop() {
        match next {
            Write::Mark(mark) => text.push(mark),
            Write::Length(length) => text.push_str(&format!(":{length}")),
            Write::Node { at, above } => {
                if let Some(above) = above {
                    todo.push(Write::Length(above - height(at)));
                }
                if at < leaves {
                    text.push_str(&quoted(&names[at]));
                    continue;
                }
                let (row, own) = (at - leaves, Some(height(at)));
                text.push('(');
                todo.push(Write::Mark(')'));
                todo.push(Write::Node { at: part(row, 1), above: own });
                todo.push(Write::Mark(','));
                todo.push(Write::Node { at: part(row, 0), above: own });
            }
        }
    }
    Ok(text)
}

/// A name in Newick format: unquoted if it contains harmless characters only.
fn quoted(name: &str) -> String {
    let bare = |c: char| c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '|' | '/' | '#' | '*');
    if !name.is_empty() && name.chars().all(bare) {
        return name.to_string();
    }
    format!("'{}'", name.replace('\'', "''"))
}
