//! What is compared: a name and the flags of `goc cluster` that make it.

use clap::ValueEnum;

use crate::choices::{BoxName, MethodName, OracleName, ReadingName, SetDistanceName, typed};

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub flags: String,
    /// Whether the answer depends on the seed.
    pub draws: bool,
}

impl Row {
    fn new(name: String, flags: String, draws: bool) -> Self {
        Self { name, flags, draws }
    }

    /// Whether `name` is this row's or the beginning of it, up to a slash.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The name up to the slash.
    pub fn kind(&self) -> &str {
        self.name.split('/').next().unwrap_or(&self.name)
    }
}

/// Every method, with every oracle and every distance that it can have.
pub fn all() -> Vec<Row> {
    use MethodName::{Affinity, Boxes, Goc, Gpc, Linkage, Medoids, UkMeans};
    let mut rows = Vec::new();
    for &method in MethodName::value_variants() {
        let name = typed(method);
        let flags = format!("--method {name}");
        match method {
            Goc | UkMeans => {
                for &oracle in OracleName::value_variants() {
                    let (name, flags) = with(&name, &flags, "--oracle", &typed(oracle));
                    rows.push(Row::new(name, flags, oracle.draws()));
                }
            }
            Gpc => {
                for &reading in ReadingName::value_variants() {
                    let (name, flags) = with(&name, &flags, "--reading", &typed(reading));
                    rows.push(Row::new(name, flags, true));
                }
            }
            Boxes => {
                for &side in BoxName::value_variants() {
                    let (name, flags) = with(&name, &flags, "--box", &typed(side));
                    rows.push(Row::new(name, flags, true));
                }
            }
            Affinity | Medoids | Linkage => {
                for &distance in SetDistanceName::value_variants() {
                    let (name, flags) = with(&name, &flags, "--set-distance", &typed(distance));
                    rows.push(Row::new(name, flags, method == Medoids));
                }
            }
            _ => rows.push(Row::new(name, flags.clone(), method != MethodName::Fdbscan)),
        }
        if method == Goc {
            let flags = format!("{flags} --k-rule constant --starts 10 --swaps 150");
            rows.push(Row::new("goc-best-of-10".into(), flags, true));
        }
    }
    rows
}

fn with(name: &str, flags: &str, flag: &str, value: &str) -> (String, String) {
    (format!("{name}/{value}"), format!("{flags} {flag} {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_and_every_oracle_has_a_row_and_no_name_stands_twice() {
        let rows = all();
        for method in MethodName::value_variants() {
            let flag = format!("--method {}", typed(*method));
            assert!(rows.iter().any(|row| row.flags.starts_with(&flag)), "{method:?}");
        }
        for oracle in OracleName::value_variants() {
            let flags = format!("--method goc --oracle {}", typed(*oracle));
            assert!(rows.iter().any(|row| row.flags == flags), "{oracle:?}");
        }
        let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rows.len());
    }

    #[test]
    fn a_name_stands_for_all_that_begin_with_it_up_to_a_slash() {
        let named = |name: &str| all().iter().filter(|row| row.is_called(name)).count();
        assert_eq!(named("goc"), OracleName::value_variants().len());
        assert_eq!((named("goc/k-means"), named("goc-hull"), named("go")), (1, 1, 0));
    }
}
