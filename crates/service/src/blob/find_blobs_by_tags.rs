//! Find Blobs by Tags, in an account or in one container.

use lazuli_model::tags::{Tags, WhereExpression};

use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct FindBlobsByTags {
    /// Of the account where none is named.
    pub container: Option<String>,
    /// Compares at least one tag: see [`WhereExpression::value_range`].
    pub expression: WhereExpression,
    /// Where the page before ended.
    pub after: Option<FoundAt>,
    pub max_results: usize,
    /// What the page may take in memory.
    pub max_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedBlob {
    pub container: String,
    pub name: String,
    /// Of the tag that it was found by.
    pub value: String,
    /// Those that the expression compares.
    pub tags: Tags,
}

#[derive(Clone, Debug)]
pub struct TaggedBlobs {
    pub items: Vec<TaggedBlob>,
    pub next: Option<FoundAt>,
}

/// A place in the order in which matches are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundAt {
    pub container: String,
    /// The value of the tag that it was found by, and its name; none is behind everything in the container.
    pub blob: Option<(String, String)>,
}

impl FindBlobsByTags {
    pub async fn execute(&self, services: &Services, context: &Context) -> Answer<TaggedBlobs> {
        services.view(context).await?.find_blobs(self).await
    }
}

impl TaggedBlob {
    pub fn place(&self) -> FoundAt {
        FoundAt { container: self.container.clone(), blob: Some((self.value.clone(), self.name.clone())) }
    }
}

impl FoundAt {
    /// For the marker of a page. No part of it holds a NUL.
    pub fn position(&self) -> Position {
        let name = match &self.blob {
            Some((value, blob)) => format!("{}\0{value}\0{blob}", self.container),
            None => self.container.clone(),
        };
        Position::Name { name, ticks: u64::MAX }
    }

    /// None for a marker of another list.
    pub fn of(position: Position) -> Option<Self> {
        let Position::Name { name, ticks: u64::MAX } = position else { return None };
        let Some((container, rest)) = name.split_once('\0') else {
            return Some(Self { container: name, blob: None });
        };
        let (value, blob) = rest.split_once('\0')?;
        let blob = (!blob.contains('\0')).then(|| (value.to_owned(), blob.to_owned()))?;
        Some(Self { container: container.to_owned(), blob: Some(blob) })
    }
}
