//! The subset of YAML that table headers use.
//!
//! ECSV, and astropy inside Parquet and FITS, describe columns in YAML. A YAML parser produces the
//! events; here they become a tree of text, lists and maps. Depth and size are bounded, so that a
//! damaged or hostile header is an error and not a stack overflow.

use std::collections::HashMap;

use yaml_rust2::parser::{Event, Parser, Tag};
use yaml_rust2::scanner::TScalarStyle;

const DEPTH: usize = 64;
const NODES: usize = 1_000_000;

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A scalar's text; null is empty.
    Text(String),
    List(Vec<Node>),
    /// In order of appearance.
    Map(Vec<(String, Node)>),
}

impl Node {
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Map(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, node)| node),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        if let Node::Text(text) = self { Some(text) } else { None }
    }

    /// The entries of a map, or of a list of maps (how an ordered map is written).
    pub fn entries(&self) -> Vec<(&str, &Node)> {
        match self {
            Node::Map(entries) => entries.iter().map(|(key, node)| (key.as_str(), node)).collect(),
            Node::List(items) => items.iter().flat_map(Node::entries).collect(),
            Node::Text(_) => Vec::new(),
        }
    }

    /// One line of text for any node: a scalar unchanged, anything else as flow YAML.
    pub fn flat(&self) -> String {
        match self {
            Node::Text(text) => text.clone(),
            Node::List(items) => {
                let parts: Vec<String> = items.iter().map(Node::nested).collect();
                format!("[{}]", parts.join(", "))
            }
            Node::Map(entries) => {
                let parts: Vec<String> =
                    entries.iter().map(|(key, node)| format!("{}: {}", scalar(key), node.nested())).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    fn nested(&self) -> String {
        match self {
            // Numbers and booleans inside a list stay bare: `[1, 2.5]`.
            Node::Text(text) if text.parse::<f64>().is_ok() || text == "true" || text == "false" => {
                text.clone()
            }
            Node::Text(text) => scalar(text),
            other => other.flat(),
        }
    }
}

/// A text as a YAML scalar: bare if it cannot be misread, otherwise in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    const WORDS: [&str; 12] =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if word {
        return text.to_string();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Also the characters that YAML treats as line ends or a byte order mark.
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// An open node while events are processed.
enum Open {
    List(Vec<Node>),
    Map(Vec<(String, Node)>, Option<String>),
}

/// Parses one document; the error says what was wrong.
pub(crate) fn parse(text: &str) -> Result<Node, String> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<(Open, usize)> = Vec::new();
    let mut anchors: HashMap<usize, Node> = HashMap::new();
    let mut nodes = 0usize;
    loop {
        let (event, mark) = parser.next_token().map_err(|error| error.to_string())?;
        let at = mark.line();
        let (node, anchor) = match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart => continue,
            Event::StreamEnd | Event::DocumentEnd => return Err("the YAML header is empty".into()),
            Event::SequenceStart(anchor, _) => {
                open.push((Open::List(Vec::new()), anchor));
                if open.len() > DEPTH {
                    return Err(format!("line {at} of the YAML header is nested too deeply"));
                }
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push((Open::Map(Vec::new(), None), anchor));
                if open.len() > DEPTH {
                    return Err(format!("line {at} of the YAML header is nested too deeply"));
                }
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some((Open::List(items), anchor)) => (Node::List(items), anchor),
                Some((Open::Map(entries, None), anchor)) => (Node::Map(entries), anchor),
                _ => return Err(format!("line {at} of the YAML header closes what is not open")),
            },
            Event::Scalar(text, style, anchor, tag) => (Node::Text(plain(text, style, tag)), anchor),
            Event::Alias(anchor) => match anchors.get(&anchor) {
                Some(node) => {
                    nodes += size(node);
                    (node.clone(), 0)
                }
                None => return Err(format!("line {at} of the YAML header refers to nothing")),
            },
        };
        nodes += 1;
        if nodes > NODES {
            return Err("the YAML header is too large".into());
        }
        if anchor > 0 {
            anchors.insert(anchor, node.clone());
        }
        match open.last_mut() {
            None => return Ok(node),
            Some((Open::List(items), _)) => items.push(node),
            Some((Open::Map(entries, key), _)) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => match node {
                    Node::Text(text) => *key = Some(text),
                    _ => return Err(format!("line {at} of the YAML header has a key that is no text")),
                },
            },
        }
    }
}

/// A bare `null` or `~` is not text; in quotes or with a tag it is.
fn plain(text: String, style: TScalarStyle, tag: Option<Tag>) -> String {
    let null = style == TScalarStyle::Plain
        && tag.is_none()
        && matches!(text.as_str(), "~" | "null" | "Null" | "NULL");
    if null { String::new() } else { text }
}

fn size(node: &Node) -> usize {
    match node {
        Node::Text(_) => 1,
        Node::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Node::Map(entries) => 1 + entries.iter().map(|(_, node)| size(node)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_from_its_scalar() {
        for text in [
            "plain",
            "",
            " ",
            "1.5",
            "null",
            "No",
            "it's",
            "a \"b\" \\",
            "x: y # z",
            "two\nlines\t",
            "é\u{1F30C}\u{85}\u{7f}\u{0}",
            "- a",
        ] {
            assert_eq!(
                parse(&format!("{{k: {}}}", scalar(text))).unwrap().get("k"),
                Some(&Node::Text(text.into())),
                "{text:?}"
            );
        }
    }

    #[test]
    fn deep_and_exploding_headers_are_errors() {
        assert!(parse(&"[".repeat(100_000)).is_err());
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..12 {
            let prior = format!("*a{}, ", n - 1).repeat(10);
            bomb.push_str(&format!("a{n}: &a{n} [{prior}x]\n"));
        }
        assert!(parse(&bomb).is_err());
    }

    #[test]
    fn nested_values_become_one_line_of_text() {
        let node = parse("a: [1, 2.5, {b: 'x y'}]").unwrap();
        assert_eq!(node.get("a").unwrap().flat(), "[1, 2.5, {b: \"x y\"}]");
    }
}
