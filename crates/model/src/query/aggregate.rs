//! COUNT, SUM, AVG, MIN, MAX over the records that a query wants.

use std::cmp::Ordering;

use super::evaluate::Asked;
use super::expression::Expression;
use super::value::{Number, Problem, Value};

#[derive(Clone, Debug)]
pub struct Aggregate {
    pub(super) kind: Kind,
    pub(super) of: Expression,
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    CountAll,
    Count,
    Sum,
    Average,
    Min,
    Max,
}

impl Kind {
    pub fn find(name: &str) -> Option<Self> {
        Some(match name {
            "COUNT" => Self::Count,
            "SUM" => Self::Sum,
            "AVG" | "AVERAGE" => Self::Average,
            "MIN" => Self::Min,
            "MAX" => Self::Max,
            _ => return None,
        })
    }
}

/// What has been counted so far. A record that one of the aggregates cannot take is counted by none.
#[derive(Debug)]
pub struct Aggregates(Vec<Counted>);

#[derive(Clone, Debug, Default)]
struct Counted {
    count: u64,
    /// Of whole numbers, while there was nothing else.
    whole: i128,
    float: f64,
    is_float: bool,
    best: Option<Value<'static>>,
}

impl Aggregates {
    pub fn new(aggregates: &[Aggregate]) -> Self {
        Self(vec![Counted::default(); aggregates.len()])
    }

    pub fn add<'a>(&mut self, aggregates: &'a [Aggregate], asked: &Asked<'a>) -> Result<(), Problem> {
        let values: Result<Vec<Value<'_>>, Problem> =
            aggregates.iter().map(|aggregate| asked.value(&aggregate.of)).collect();
        let values = values?;
        for ((aggregate, counted), value) in aggregates.iter().zip(&self.0).zip(&values) {
            let best = counted.best.as_ref().map_or(0, Value::length);
            asked.work.spend(2 * (value.length() + best.min(value.length())))?;
            counted.check(aggregate.kind, value)?;
        }
        for ((aggregate, counted), value) in aggregates.iter().zip(&mut self.0).zip(&values) {
            counted.add(aggregate.kind, value)?;
        }
        Ok(())
    }

    /// Bytes of text that are kept.
    pub fn held(&self) -> usize {
        self.0.iter().filter_map(|counted| counted.best.as_ref()).map(Value::length).sum()
    }

    pub fn values(&self, aggregates: &[Aggregate]) -> Vec<Value<'static>> {
        aggregates.iter().zip(&self.0).map(|(aggregate, counted)| counted.value(aggregate.kind)).collect()
    }
}

impl Counted {
    /// Whether the value can be added.
    fn check(&self, kind: Kind, value: &Value<'_>) -> Result<(), Problem> {
        if value.is_null() {
            return Ok(());
        }
        match (kind, &self.best) {
            (Kind::CountAll | Kind::Count, _) => Ok(()),
            (Kind::Sum | Kind::Average, _) => value.number().map(|_| ()),
            (Kind::Min | Kind::Max, Some(best)) => value.compare(best).map(|_| ()),
            (Kind::Min | Kind::Max, None) => value.text().map(|_| ()),
        }
    }

    fn add(&mut self, kind: Kind, value: &Value<'_>) -> Result<(), Problem> {
        if kind != Kind::CountAll && value.is_null() {
            return Ok(());
        }
        self.count += 1;
        match kind {
            Kind::CountAll | Kind::Count => {}
            Kind::Sum | Kind::Average => match value.number()? {
                Number::Int(number) => {
                    self.whole = self.whole.saturating_add(i128::from(number));
                    self.float += number as f64;
                }
                Number::Float(number) => {
                    self.float += number;
                    self.is_float = true;
                }
            },
            Kind::Min | Kind::Max => {
                let wanted = if kind == Kind::Min { Ordering::Less } else { Ordering::Greater };
                let better = match &self.best {
                    Some(best) => value.compare(best)? == Some(wanted),
                    None => true,
                };
                if better {
                    self.best = Some(owned(value)?);
                }
            }
        }
        Ok(())
    }

    fn value(&self, kind: Kind) -> Value<'static> {
        let sum = match i64::try_from(self.whole) {
            Ok(whole) if !self.is_float => Number::Int(whole),
            _ => Number::Float(self.float),
        };
        match kind {
            Kind::CountAll | Kind::Count => Value::Int(i64::try_from(self.count).unwrap_or(i64::MAX)),
            _ if self.count == 0 => Value::Null,
            Kind::Sum => sum.value(),
            Kind::Average => Value::Float(sum.float() / self.count as f64),
            Kind::Min | Kind::Max => self.best.clone().unwrap_or(Value::Null),
        }
    }
}

fn owned(value: &Value<'_>) -> Result<Value<'static>, Problem> {
    Ok(match value {
        Value::Boolean(value) => Value::Boolean(*value),
        Value::Int(number) => Value::Int(*number),
        Value::Float(number) => Value::Float(*number),
        Value::Time(moment) => Value::Time(*moment),
        other => Value::Text(other.text()?.into_owned().into()),
    })
}
