//! One message, two ways to say it.
//!
//! A rule is checked once, for the command and for Python alike, but people know the settings by other
//! names: `--k-by` here, `k_by` there. Messages name a setting in braces, `{k_by}`, and whoever shows
//! them says how they are to be read.

use crate::sampling_names::WORDS;
use crate::settings::LIST;

/// How settings are called in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// The command's flags: `--max-iterations`.
    Flags,
    /// Python's keywords: `max_iter`.
    Keywords,
}

impl Speech {
    /// The text with every `{setting}` in these words.
    ///
    /// ```
    /// use goc_pipeline::Speech;
    /// let text = "raise {max_iterations}";
    /// assert_eq!(Speech::Flags.of(text), "raise --max-iterations");
    /// assert_eq!(Speech::Keywords.of(text), "raise max_iter");
    /// ```
    pub fn of(self, text: &str) -> String {
        let mut said = text.to_string();
        for setting in LIST.iter().filter(|setting| text.contains(setting.name)) {
            let word = match self {
                Speech::Flags => format!("--{}", setting.flag),
                Speech::Keywords => setting.python.to_string(),
            };
            said = said.replace(&format!("{{{}}}", setting.name), &word);
        }
        for (name, flag, keyword) in WORDS {
            said = said.replace(name, if self == Speech::Flags { flag } else { keyword });
        }
        said
    }
}
