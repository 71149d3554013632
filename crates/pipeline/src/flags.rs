//! The settings as command-line flags, generated from their list.
//!
//! `Settings` flattens into any clap command: every row of the list becomes a flag with its
//! possible values, its default and its help.

use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr};
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::settings::{Kind, LIST, Setting, Settings};
use crate::speech::Speech;

/// Words as values of a flag, each with its help.
pub fn possible_values(
    words: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> PossibleValuesParser {
    PossibleValuesParser::new(words.into_iter().map(|(word, about)| match about {
        "" => PossibleValue::new(word),
        about => PossibleValue::new(word).help(Speech::Flags.of(about)),
    }))
}

/// The flag of a setting.
fn flag(setting: &'static Setting) -> Arg {
    let kind = (setting.kind)();
    let mut arg =
        Arg::new(setting.name).long(setting.flag).help(StyledStr::from(Speech::Flags.of(setting.help)));
    if !setting.heading.is_empty() {
        arg = arg.help_heading(setting.heading);
    }
    if kind == Kind::Flag {
        return arg.action(ArgAction::SetTrue);
    }
    let value_name = match setting.value_name {
        "" => setting.name.to_uppercase(),
        name => name.to_string(),
    };
    arg = arg.value_name(value_name).action(ArgAction::Set).allow_negative_numbers(true);
    if let Some(default) = setting.default() {
        arg = arg.default_value(default);
    }
    match kind {
        Kind::Words(words) => arg.value_parser(possible_values(words)),
        _ => arg.value_parser(move |text: &str| {
            setting.set(&mut Settings::default(), text).map(|()| text.to_string())
        }),
    }
}

impl clap::FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut settings = Self::default();
        settings.update_from_arg_matches(matches)?;
        Ok(settings)
    }

    /// Sets what was typed; everything else stays as it is.
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let typed = |setting: &&Setting| {
            matches.value_source(setting.name) == Some(clap::parser::ValueSource::CommandLine)
        };
        for setting in LIST.iter().filter(typed) {
            let text = match (setting.kind)() {
                Kind::Flag => matches.get_flag(setting.name).then(|| "true".to_string()),
                _ => matches.get_one::<String>(setting.name).cloned(),
            };
            if let Some(text) = text {
                setting.set(self, &text).map_err(|error| Error::raw(ErrorKind::InvalidValue, error))?;
            }
        }
        Ok(())
    }
}

impl clap::Args for Settings {
    fn augment_args(command: Command) -> Command {
        LIST.iter().fold(command, |command, setting| command.arg(flag(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
