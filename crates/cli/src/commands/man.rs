//! `goc man`: the manual pages, made from the same declarations as the help.

use std::path::PathBuf;

use clap::Args;
use clap_mangen::Man as Page;
use goc_tables::Files;

use super::Work;
use crate::console;
use crate::failure::Result;

/// Print the manual page, or write those of all commands into a folder
#[derive(Args)]
#[command(after_help = "Example: goc man | man -l -
Example: goc man --dir ~/.local/share/man/man1")]
pub struct Man {
    /// Folder for the pages: goc.1, goc-cluster.1 and so on [default: goc.1 to standard output]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Every manual page: its file name and the command it describes.
fn pages() -> Vec<(String, clap::Command)> {
    let mut goc = crate::command();
    goc.build(); // global flags reach the subcommands, which get their full names
    let commands = goc.get_subcommands().filter(|command| command.get_name() != "help");
    let named = commands.map(|command| {
        let name = format!("goc-{}", command.get_name());
        (format!("{name}.1"), command.clone().name(name))
    });
    let named: Vec<_> = named.collect();
    std::iter::once(("goc.1".to_string(), goc)).chain(named).collect()
}

/// One page as roff.
fn roff(command: clap::Command) -> Result<String> {
    let mut page = Vec::new();
    Page::new(command).render(&mut page).map_err(|e| failed!("cannot write the manual page: {e}"))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

impl Work for Man {
    fn files(&self) -> Files {
        match &self.dir {
            Some(dir) => Files::default().writes_into(dir, pages().into_iter().map(|(name, _)| name)),
            None => Files::default(),
        }
    }

    fn run(self) -> Result<()> {
        let Some(dir) = self.dir else {
            return console::print(&roff(pages().swap_remove(0).1)?);
        };
        std::fs::create_dir_all(&dir)
            .map_err(|e| failed!("{}: cannot create the folder: {e}", dir.display()))?;
        let pages = pages();
        let count = pages.len();
        for (name, command) in pages {
            goc_tables::write_text(&roff(command)?, &dir.join(name))?;
        }
        console::note(format!("{count} manual pages in {}", dir.display()));
        Ok(())
    }
}
