//! The query string: kept raw for signing, decoded once for acting. One parser serves both.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// A query string, as sent and as decoded pairs in the order sent.
#[derive(Clone, Debug, Default)]
pub struct Query {
    raw: String,
    pairs: Vec<(String, String)>,
    /// Of each pair, whether it was sent without `=`.
    words: Vec<bool>,
}

/// The query is not percent-encoded UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadQuery;

impl Query {
    pub fn parse(raw: &str) -> Result<Self, BadQuery> {
        let (mut pairs, mut words) = (Vec::new(), Vec::new());
        for part in raw.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            words.push(!part.contains('='));
            pairs.push((decode(name)?, decode(value)?));
        }
        Ok(Self { raw: raw.to_owned(), pairs, words })
    }

    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The first value of a parameter; names are compared without regard to case, as the service does.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// A parameter that has a value; an empty one counts as absent.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn has_words(&self) -> bool {
        self.words.contains(&true)
    }

    /// The pairs as .NET reads them: a word without `=` is a value of the empty name.
    pub fn pairs_of_dotnet(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs()
            .zip(&self.words)
            .map(|((name, value), word)| if *word { ("", name) } else { (name, value) })
    }

    pub fn count(&self, name: &str) -> usize {
        self.pairs.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name)).count()
    }
}

/// Percent-decoding with `+` as a space, as in query strings.
fn decode(text: &str) -> Result<String, BadQuery> {
    let spaced: Cow<'_, str> = if text.contains('+') { text.replace('+', " ").into() } else { text.into() };
    percent_decode_str(&spaced).decode_utf8().map(Cow::into_owned).map_err(|_| BadQuery)
}
