//! `goc completions`: the shell's completion of commands, flags and their values.

use clap::Args;
use clap_complete::Shell;
use goc_tables::Files;

use super::Work;
use crate::console;
use crate::failure::Result;

/// Print the completion script of a shell
#[derive(Args)]
#[command(after_help = "Example: goc completions bash > ~/.local/share/bash-completion/completions/goc")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Work for Completions {
    fn files(&self) -> Files {
        Files::default()
    }

    fn run(self) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command(), "goc", &mut script);
        console::print(&String::from_utf8_lossy(&script))
    }
}
