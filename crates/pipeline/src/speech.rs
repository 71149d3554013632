//! One message in two wordings.
//!
//! A rule is checked once for the command and for Python, but they name settings differently:
//! `--k-by` and `k_by`. Messages name a setting in braces, `{k_by}`, and the front end that shows
//! them chooses the wording.

use crate::sampling_names::WORDS;
use crate::settings::LIST;

/// How messages name settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// The command's flags: `--max-iterations`.
    Flags,
    /// Python's keywords: `max_iter`.
    Keywords,
}

impl Speech {
    /// The text with every `{setting}` replaced by its name in this wording.
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
