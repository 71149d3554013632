//! Every command's help is a promise; a change of it is seen here.

use crate::desk::Desk;

#[test]
fn help_of_every_command_says_what_it_did_before() {
    let desk = Desk::new();
    for command in [
        "",
        "demo",
        "simulate",
        "actions",
        "stars",
        "candidates",
        "cluster",
        "predict",
        "score",
        "compare",
        "plot",
        "report",
        "reproduce",
        "completions",
        "man",
    ] {
        let run = desk.done(&format!("{command} --help"));
        assert_eq!(run.err, "");
        let name = if command.is_empty() { "goc" } else { command };
        insta::assert_snapshot!(format!("help_{name}"), run.out);
    }
}

#[test]
fn every_command_has_an_example_in_its_help() {
    let desk = Desk::new();
    let all = desk.done("--help").out;
    let listed =
        all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        assert!(
            desk.done(&format!("{command} --help")).out.contains(&format!("Example: goc {command}")),
            "{command}"
        );
    }
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(Desk::new().done("--version").out, format!("goc {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_is_exit_2_and_says_how() {
    let desk = Desk::new();
    for words in ["", "cluster", "cluster x.csv", "frobnicate", "cluster x.csv --k two", "score"] {
        let run = desk.goc(words);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{words}");
        assert!(run.err.contains("Usage:") || run.err.contains("--help"), "{words}: {}", run.err);
    }
}

#[test]
fn completions_of_every_shell_know_all_commands_and_flags() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.done(&format!("completions {shell}")).out;
        for word in ["cluster", "stars", "completions", "penalty-scale", "no-clobber"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let desk = Desk::new();
    let main = desk.done("man").out;
    assert!(main.contains(".TH goc 1"), "{main}");
    desk.done("man --dir pages");
    for (page, word) in
        [("goc.1", "Cluster objects"), ("goc-cluster.1", "no\\-clobber"), ("goc-man.1", "dir")]
    {
        let text = desk.text(&format!("pages/{page}"));
        assert!(text.contains(word), "{page}: {word}");
    }
    assert_eq!(desk.text("pages/goc.1"), main);
}
