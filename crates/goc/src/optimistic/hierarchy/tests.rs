use super::*;
use crate::candidates::{CandidatesBuilder, Ids};
use crate::optimistic::{KRule, Optimistic};
use crate::oracle::k_means::KMeans;
use crate::{congruential, random};
use rand::RngExt;

/// Eighteen objects around six places, one to three candidates each: Knuth's congruential numbers, as in the
/// script that made the reference values.
fn eighteen() -> CandidatesBuilder {
    let middles = [(0.0, 0.0), (2.5, 0.5), (6.0, 1.0), (1.0, 5.0), (5.0, 5.5), (8.0, 3.0)];
    let mut next = congruential::uniform_53(7);
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..18 {
        let (mut rows, mut penalties) = (Vec::new(), Vec::new());
        for _ in 0..1 + i % 3 {
            rows.push(middles[i % 6].0 + 2.0 * next() - 1.0);
            rows.push(middles[i % 6].1 + 2.0 * next() - 1.0);
            penalties.push(next());
        }
        builder.push(&rows, &penalties).unwrap();
    }
    builder
}

fn by_place() -> Partition {
    Partition::from_labels(&(0..18).map(|i| i % 6).collect::<Vec<_>>())
}

/// The best choice for each of the six clusters, by enumeration in the script.
const CHOSEN: [u32; 18] = [0, 0, 1, 0, 1, 1, 0, 0, 2, 0, 0, 1, 0, 1, 0, 0, 0, 1];

/// Random sets, some far apart.
fn scattered(n: usize, m: usize, seed: u64) -> Candidates {
    let mut rng = random::stream(seed, 3);
    let mut builder = CandidatesBuilder::new(2);
    for _ in 0..n {
        let rows: Vec<f64> = (0..2 * m).map(|_| rng.random_range(-3.0..3.0)).collect();
        let penalties: Vec<f64> = (0..m).map(|_| rng.random_range(0.0..1.0)).collect();
        builder.push(&rows, &penalties).unwrap();
    }
    builder.build().unwrap()
}

fn goc(candidates: &Candidates, k: usize, lambda: f64, seed: u64) -> crate::optimistic::Clustering {
    let goc = Optimistic::new(k).lambda(lambda).k_rule(KRule::Constant);
    goc.check(candidates).unwrap().run(&KMeans::default().starts(5), seed).unwrap()
}

#[test]
fn merges_are_those_of_an_independent_implementation() {
    // The same rules in Python with numpy, costs to 16 digits.
    let want = [
        (2, 5, 3.435603552928902),
        (0, 1, 6.973409528947185),
        (3, 4, 25.24016847153479),
        (6, 8, 79.57145248972199),
        (7, 9, 91.04962785041458),
    ];
    let candidates = eighteen().build().unwrap();
    let tree = Hierarchy::new(&candidates, &by_place(), &CHOSEN, 0.1).unwrap();
    assert_eq!(tree.merges.len(), 5);
    for (join, (a, b, rise)) in tree.merges.iter().zip(want) {
        assert_eq!((join.first, join.second), (a, b));
        assert!((join.rise - rise).abs() < 1e-12 * rise, "{} {rise}", join.rise);
    }
    let root = tree.cut(1).unwrap();
    assert_eq!(root.chosen, [0, 1, 2, 0, 0, 1, 0, 1, 2, 0, 0, 1, 0, 0, 0, 0, 1, 1]);
    assert!((root.objective - 211.78008348307446).abs() < 1e-10);
    assert_eq!(tree.improved(), 0);
}

#[test]
fn without_choice_and_from_single_objects_it_is_scipys_ward() {
    // scipy 1.17 `ward` of the first candidates: parts and dissimilarity, the root of twice the rise.
    let want = [
        (11, 17, 0.15871845521015704),
        (2, 8, 0.29165788324362346),
        (1, 7, 0.40930437622102256),
        (4, 10, 0.4611037624920314),
        (0, 12, 0.7462500911490374),
        (5, 18, 0.7998416299563118),
        (16, 21, 0.9833726921480723),
        (9, 15, 1.0078743508336918),
        (14, 19, 1.478164300718783),
        (13, 20, 1.6103057821609066),
        (6, 22, 1.7936982909630304),
        (3, 25, 1.8121476024682606),
        (27, 28, 3.9881972605601774),
        (23, 26, 4.875697005402195),
        (24, 29, 7.836231147703431),
        (31, 32, 13.274823419977764),
        (30, 33, 15.10191108910448),
    ];
    let points = eighteen().build().unwrap().chosen(&[0; 18]);
    let candidates = Candidates::from_points(&points).unwrap();
    let each = Partition::from_labels(&(0..18).collect::<Vec<_>>());
    let together = Partition::from_labels(&[0; 18]);
    // As a tree over 18 clusters, and as the tree of the objects within one cluster.
    for partition in [&each, &together] {
        let tree = Hierarchy::new(&candidates, partition, &[0; 18], 0.0).unwrap();
        let rows = tree.linkage().unwrap();
        assert_eq!(rows.len(), want.len());
        let mut total = 0.0;
        for (row, (a, b, ward)) in rows.iter().zip(want) {
            assert_eq!((row[0], row[1]), (f64::from(a), f64::from(b)));
            total += 0.5 * ward * ward;
            assert!((row[2] - total).abs() < 1e-12 * total);
        }
    }
}

#[test]
fn scipy_cuts_the_exported_table_as_we_do() {
    // A table that scipy 1.17 calls a valid, monotone linkage, and `fcluster(Z, k, "maxclust")` of it for k =
    // 1 to 6, renumbered by first appearance. Object i belongs with i + 6 and i + 12 in all of them.
    let table = [
        [8.0, 14.0, 0.012850715042228827, 2.0],
        [4.0, 16.0, 0.028657605653181015, 2.0],
        [5.0, 17.0, 0.06894452415935151, 2.0],
        [2.0, 18.0, 0.11713904452181245, 3.0],
        [1.0, 7.0, 0.20090408071865262, 2.0],
        [11.0, 20.0, 0.30965095347231103, 3.0],
        [13.0, 22.0, 0.5131705186351218, 3.0],
        [10.0, 19.0, 0.764707270954587, 3.0],
        [0.0, 12.0, 1.0431518702245604, 2.0],
        [9.0, 15.0, 1.5510572237587783, 2.0],
        [6.0, 26.0, 3.1597340032606263, 3.0],
        [3.0, 27.0, 4.801673469826358, 3.0],
        [21.0, 23.0, 8.23727702275526, 6.0],
        [24.0, 28.0, 15.210686551702445, 6.0],
        [25.0, 29.0, 40.45085502323723, 6.0],
        [30.0, 32.0, 120.02230751295923, 12.0],
        [31.0, 33.0, 211.07193536337383, 18.0],
    ];
    let fcluster = [
        [0, 0, 0, 0, 0, 0],
        [0, 0, 1, 1, 1, 1],
        [0, 0, 1, 2, 2, 1],
        [0, 0, 1, 2, 3, 1],
        [0, 1, 2, 3, 4, 2],
        [0, 1, 2, 3, 4, 5],
    ];
    let candidates = eighteen().build().unwrap();
    let tree = Hierarchy::new(&candidates, &by_place(), &CHOSEN, 0.1).unwrap();
    let rows = tree.linkage().unwrap();
    assert_eq!(rows.len(), table.len());
    for (row, want) in rows.iter().zip(table) {
        assert_eq!((row[0], row[1], row[3]), (want[0], want[1], want[3]));
        assert!((row[2] - want[2]).abs() < 1e-12 * want[2]);
    }
    for (k, want) in (1..).zip(fcluster) {
        let labels = tree.cut(k).unwrap().partition.canonical().labels().to_vec();
        assert_eq!(labels, want.repeat(3), "k = {k}");
    }
}

/// The clusters after the first `leaves - k` rows of a table.
fn cut_rows(rows: &[[f64; 4]], k: usize) -> Partition {
    let leaves = rows.len() + 1;
    let mut root: Vec<usize> = (0..2 * leaves).collect();
    for (i, row) in rows[..leaves - k].iter().enumerate().rev() {
        root[row[0] as usize] = root[leaves + i];
        root[row[1] as usize] = root[leaves + i];
    }
    Partition::from_labels(&root[..leaves])
}

#[test]
fn tables_are_valid_linkages_whose_rows_give_our_cuts() {
    for seed in 0..20 {
        let candidates = scattered(30, 4, seed);
        let run = goc(&candidates, 9, 0.1, seed);
        let tree = Hierarchy::new(&candidates, &run.partition, &run.chosen, 0.1).unwrap();
        let rows = tree.linkage().unwrap();
        assert_eq!(rows.len(), 29);
        let mut sizes = vec![1.0; 30];
        let mut joined = [false; 60];
        for row in &rows {
            for part in [row[0] as usize, row[1] as usize] {
                assert!(part < sizes.len() && !std::mem::replace(&mut joined[part], true));
            }
            sizes.push(sizes[row[0] as usize] + sizes[row[1] as usize]);
            assert!(row[0] < row[1] && row[3] == sizes[sizes.len() - 1]);
        }
        assert_eq!(sizes[sizes.len() - 1], 30.0);
        assert!(rows.windows(2).all(|w| w[0][2] < w[1][2]));
        for k in 1..=tree.leaves() {
            assert!(cut_rows(&rows, k).same_grouping(&tree.cut(k).unwrap().partition));
        }
        // The highest merge of the totals is the whole rise, from objects alone to one cluster.
        let penalties: f64 = (0..30).map(|i| 0.1 * candidates.penalty(i, run.chosen[i] as usize)).sum();
        let top = rows[28][2];
        if tree.improved() == 0 {
            assert!((top + penalties - tree.cut(1).unwrap().objective).abs() < 1e-10);
        }
    }
}

/// The least objective of `members` as one cluster over all their choices.
fn exact(candidates: &Candidates, lambda: f64, members: &[u32]) -> f64 {
    let mut least = f64::INFINITY;
    let mut chosen = vec![0u32; members.len()];
    loop {
        least = least.min(objective(candidates, lambda, members, &chosen).1);
        // Count on, the first member fastest, until all are at their last candidate.
        let counted = (0..members.len()).any(|a| {
            let more = (chosen[a] as usize) + 1 < candidates.count(members[a] as usize);
            chosen[a] = if more { chosen[a] + 1 } else { 0 };
            more
        });
        if !counted {
            return least;
        }
    }
}

/// Six short bent curves of three candidates around two places: more like measured sets than scattered ones.
fn short_curves(seed: u64) -> Candidates {
    let mut rng = random::stream(seed, 4);
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..6 {
        let middle = [f64::from(i % 2) * 2.0 + rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)];
        let turn: f64 = rng.random_range(0.0..6.3);
        let rows: Vec<f64> = [-0.6, 0.0, 0.6]
            .iter()
            .flat_map(|s| [middle[0] + s * turn.cos(), middle[1] + s * turn.sin() + 0.2 * s * s])
            .collect();
        builder.push(&rows, &[0.36, 0.0, 0.36]).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn a_merge_costs_at_least_the_exact_rise_and_at_most_wards() {
    // How many merges of 120 are exact: sets scattered over everything, where the start says little, and
    // curves.
    let mut exact_merges = [0, 0];
    for seed in 0..60 {
        for (kind, candidates) in [scattered(6, 3, seed), short_curves(seed)].iter().enumerate() {
            let run = goc(candidates, 3, 0.1, seed);
            let tree = Hierarchy::new(candidates, &run.partition, &run.chosen, 0.1).unwrap();
            for (at, node) in tree.nodes.iter().enumerate().skip(tree.leaves) {
                let least = exact(candidates, 0.1, &node.members);
                assert!(node.objective >= least - 1e-12, "seed {seed}: {} below {least}", node.objective);
                let join = tree.merges[at - tree.leaves];
                let mut kept = [0; 6];
                for part in [join.first, join.second] {
                    let part = &tree.nodes[part];
                    part.members.iter().zip(&part.chosen).for_each(|(&i, &j)| kept[i as usize] = j);
                }
                let kept: Vec<u32> = node.members.iter().map(|&i| kept[i as usize]).collect();
                let ward = objective(candidates, 0.1, &node.members, &kept).1;
                assert!(node.objective <= ward + 1e-12);
                exact_merges[kind] += usize::from((node.objective - least).abs() < 1e-12);
            }
        }
    }
    println!("exact merges of 120: scattered {}, curves {}", exact_merges[0], exact_merges[1]);
    // 69 and 92 when this was written: alternation is a descent from one start, not an enumeration.
    assert!(exact_merges[0] > 60 && exact_merges[1] > 80, "{exact_merges:?}");
}

#[test]
fn the_cut_at_the_runs_own_k_is_the_run_itself() {
    for seed in 0..10 {
        let candidates = scattered(40, 5, seed);
        let run = goc(&candidates, 8, 0.1, seed);
        let tree = Hierarchy::new(&candidates, &run.partition, &run.chosen, 0.1).unwrap();
        let cut = tree.cut(tree.leaves()).unwrap();
        assert_eq!(cut.partition, run.partition);
        assert_eq!((tree.improved(), &cut.chosen), (0, &run.chosen));
        assert!((cut.objective - run.objective).abs() < 1e-12 * run.objective);
        let off = cut.centres.values().iter().zip(run.centres.values()).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-12);
        assert_eq!(tree.cut(1).unwrap().partition.k(), 1);
    }
}

#[test]
fn cuts_are_nested_and_their_objective_never_falls_as_k_falls() {
    // Also from choices that are far from good: all objects at their first candidate, labels by position.
    for seed in 0..30 {
        let candidates = scattered(30, 4, seed);
        let (partition, chosen) = if seed % 2 == 0 {
            let run = goc(&candidates, 9, 0.1, seed);
            (run.partition, run.chosen)
        } else {
            (Partition::from_labels(&(0..30).map(|i| i % 9).collect::<Vec<_>>()), vec![0; 30])
        };
        let tree = Hierarchy::new(&candidates, &partition, &chosen, 0.1).unwrap();
        let mut before = tree.cut(tree.leaves()).unwrap();
        for k in (1..tree.leaves()).rev() {
            let cut = tree.cut(k).unwrap();
            assert_eq!(cut.partition.k(), k);
            assert!(cut.objective >= before.objective * (1.0 - 1e-12), "seed {seed}, k {k}");
            for i in 0..30 {
                for j in 0..i {
                    let same = |c: &Cut| c.partition.labels()[i] == c.partition.labels()[j];
                    assert!(same(&cut) || !same(&before));
                }
            }
            let labels = cut.partition.labels();
            let points = candidates.chosen(&cut.chosen);
            let sum: f64 = (0..30)
                .map(|i| {
                    squared_distance(points.row(i), cut.centres.row(labels[i] as usize))
                        + 0.1 * candidates.penalty(i, cut.chosen[i] as usize)
                })
                .sum();
            assert!((sum - cut.objective).abs() < 1e-12 * sum);
            before = cut;
        }
    }
}

#[test]
fn better_candidates_found_by_a_merge_are_handed_down_and_counted() {
    // Both objects of the first cluster sit at opposite ends; joined with the third they meet at 5.
    let mut builder = CandidatesBuilder::new(1);
    for set in [&[0.0, 5.0][..], &[10.0, 5.0], &[5.0], &[90.0]] {
        builder.push(set, &[]).unwrap();
    }
    let candidates = builder.build().unwrap();
    let tree =
        Hierarchy::new(&candidates, &Partition::from_labels(&[0, 0, 1, 2]), &[0, 0, 0, 0], 0.0).unwrap();
    assert_eq!(tree.improved(), 1);
    let cuts: Vec<f64> = (1..=3).map(|k| tree.cut(k).unwrap().objective).collect();
    assert_eq!(cuts[1..], [0.0, 0.0]);
    assert_eq!(tree.cut(3).unwrap().chosen, [1, 1, 0, 0]);
}

#[test]
fn names_are_quoted_where_newick_needs_it() {
    let ids = ["plain", "two words", "it's", "a(b)", "x,y;z:[w]", "under_score", "", "Gaia-DR3.7", "Sgr*"];
    let mut builder = CandidatesBuilder::new(1);
    for i in 0..ids.len() {
        builder.push(&[(1 << i) as f64], &[]).unwrap();
    }
    let candidates = builder.build_with(Ids::Text(ids.map(String::from).to_vec())).unwrap();
    let partition = Partition::from_labels(&(0..ids.len()).collect::<Vec<_>>());
    let tree = Hierarchy::new(&candidates, &partition, &[0; 9], 0.0).unwrap();
    // Bio.Phylo reads all nine names back from this.
    let want = "((('x,y;z:[w]':148.80000000000004,('a(b)':28.75,('it''s':4.666666666666666,\
                (plain:0.5,'two words':0.5):4.166666666666666):24.083333333333336):120.05000000000004)\
                :3008.057142857143,('under_score':660.8000000000001,'':660.8000000000001):2496.057142857143)\
                :55210.69841269842,(Gaia-DR3.7:11348.857142857143,Sgr*:11348.857142857143):47018.69841269842);";
    assert_eq!(tree.newick().unwrap(), want);
}

#[test]
fn one_object_one_cluster_equal_objects_and_deep_chains_are_answered() {
    let mut builder = CandidatesBuilder::new(1);
    builder.push(&[1.0, 2.0], &[]).unwrap();
    let one = builder.clone().build().unwrap();
    let tree = Hierarchy::new(&one, &Partition::from_labels(&[0]), &[1], 0.0).unwrap();
    assert_eq!(tree.cut(1).unwrap().chosen, [1]);
    assert_eq!(tree.newick().unwrap(), "0;");
    assert!(tree.linkage().unwrap().is_empty());

    for _ in 0..3 {
        builder.push(&[1.0, 2.0], &[]).unwrap();
    }
    let equal = builder.build().unwrap();
    let tree = Hierarchy::new(&equal, &Partition::from_labels(&[0, 1, 2, 3]), &[0, 1, 0, 1], 0.0).unwrap();
    assert_eq!((tree.cut(1).unwrap().objective, tree.cut(2).unwrap().partition.k()), (0.0, 2));
    assert_eq!(tree.linkage().unwrap()[2][2..], [0.0, 4.0]);

    let rows: Vec<[f64; 4]> = (0..100_000)
        .map(|i| [if i == 0 { 0.0 } else { 100_000.0 + i as f64 }, (i + 1) as f64, i as f64, 2.0 + i as f64])
        .collect();
    let names: Vec<String> = (0..=100_000).map(|i| i.to_string()).collect();
    assert!(newick(&rows, &names).unwrap().ends_with(":99999);"));
}

#[test]
fn threads_do_not_change_the_bytes() {
    let candidates = scattered(60, 5, 1);
    let run = goc(&candidates, 12, 0.1, 1);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let tree = Hierarchy::new(&candidates, &run.partition, &run.chosen, 0.1).unwrap();
            tree.newick().unwrap()
        })
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn wrong_wishes_are_named() {
    let candidates = scattered(3, 2, 1);
    let two = Partition::from_labels(&[0, 0, 1]);
    let refuse = |p: &Partition, chosen: &[u32], lambda| {
        Hierarchy::new(&candidates, p, chosen, lambda).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(refuse(&two, &[0, 0], 0.0), "3 labels and 2 chosen candidates for 3 objects");
    assert_eq!(refuse(&two, &[0, 2, 0], 0.0), "object 1: candidate 2 was chosen, but there are only 2");
    assert_eq!(
        refuse(&two, &[0, 0, 0], f64::INFINITY),
        "lambda is inf; it must be a finite number not below 0"
    );
    let tree = Hierarchy::new(&candidates, &two, &[0, 0, 0], 0.0).unwrap();
    for k in [0, 3] {
        assert_eq!(
            tree.cut(k).unwrap_err().to_string(),
            format!("a cut into {k} clusters was asked for; this tree has cuts from 1 to 2")
        );
    }
    let rows = tree.linkage().unwrap();
    assert_eq!(newick(&rows, &[]).unwrap_err().to_string(), "0 names for a tree of 3 leaves");
    let names = ["a", "b", "c"].map(String::from);
    assert_eq!(
        newick(&[[0.0, 0.0, 1.0, 2.0], [3.0, 2.0, 1.0, 3.0]], &names).unwrap_err().to_string(),
        "row 0 joins 0, which is not made yet or joined before"
    );
    let huge = Candidates::from_points(&Points::new(vec![1e200, -1e200], 1).unwrap()).unwrap();
    let far = Hierarchy::new(&huge, &Partition::from_labels(&[0, 1]), &[0, 0], 0.0);
    assert_eq!(far.map(|_| ()).unwrap_err(), HierarchyError::NotFinite);
}
