//! An expression asked about a record. Null is neither true nor false.

use std::cmp::Ordering;

use super::expression::{Comparison, Expression, LikePattern, Operator};
use super::like::Pattern;
use super::moment::Moment;
use super::value::{CONVERSION, DIVISION, Number, OVERFLOW, Problem, Value};
use super::work::{STEP, Work};
use crate::time::Timestamp;

/// A record.
pub trait Row {
    /// The field of this slot among the columns of the query. To find and decode it is work.
    fn column(&self, slot: usize, work: &Work) -> Result<Value<'_>, Problem>;
}

/// A record, when it is looked at, and what has been done for it.
pub struct Asked<'a> {
    pub row: &'a dyn Row,
    pub now: Timestamp,
    pub work: &'a Work,
}

impl<'a> Asked<'a> {
    pub(super) fn value(&self, expression: &'a Expression) -> Result<Value<'a>, Problem> {
        self.work.spend(STEP)?;
        Ok(match expression {
            Expression::Null => Value::Null,
            Expression::Boolean(value) => Value::Boolean(*value),
            Expression::Int(number) => Value::Int(*number),
            Expression::Float(number) => Value::Float(*number),
            Expression::Text(text) => Value::Text(text.as_str().into()),
            Expression::Column(slot) => self.row.column(*slot, self.work)?,
            Expression::All(all) => self.joined(all, false)?,
            Expression::Any(all) => self.joined(all, true)?,
            Expression::Not(test) => known(self.truth(test)?.map(|value| !value)),
            Expression::Compare(comparison, both) => self.compared(*comparison, &both.0, &both.1)?,
            Expression::Arithmetic(first, rest) => self.arithmetic(first, rest)?,
            Expression::Negate(value) => match self.value(value)? {
                null if null.is_null() => Value::Null,
                value => match self.number(&value)? {
                    Number::Int(number) => Value::Int(number.checked_neg().ok_or(OVERFLOW)?),
                    Number::Float(number) => Value::Float(-number),
                },
            },
            Expression::Like { value, pattern, negated } => {
                let found = self.like(value, pattern)?;
                known(found.map(|found| found != *negated))
            }
            Expression::In { value, list, negated } => {
                known(self.is_in(value, list)?.map(|found| found != *negated))
            }
            Expression::Between { bounds, negated } => {
                let [value, low, high] = &**bounds;
                let value = self.value(value)?;
                let low = self.order(&value, &self.value(low)?)?.map(|order| order != Ordering::Less);
                let high = self.order(&value, &self.value(high)?)?.map(|order| order != Ordering::Greater);
                let both = match (low, high) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                known(both.map(|found| found != *negated))
            }
            Expression::IsNull { value, negated } => Value::Boolean(self.value(value)?.is_null() != *negated),
            Expression::IsMissing { value, negated } => {
                Value::Boolean((self.value(value)? == Value::Missing) != *negated)
            }
            Expression::Case { operand, whens, otherwise } => {
                self.case(operand.as_deref(), whens, otherwise)?
            }
            Expression::Cast(value, wanted) => {
                let value = self.value(value)?;
                self.look_at(&value)?;
                value.cast(*wanted)?
            }
            Expression::Call(function, arguments) => self.call(*function, arguments)?,
            Expression::Trim { side, characters, text } => self.trim(*side, characters.as_deref(), text)?,
            Expression::DateAdd(part, both) => self.date_add(*part, both)?,
            Expression::DateDiff(part, both) => self.date_diff(*part, both)?,
            Expression::Extract(part, value) => match self.value(value)? {
                null if null.is_null() => Value::Null,
                value => Value::Int(self.time(&value)?.part(*part)),
            },
        })
    }

    pub(super) fn truth(&self, expression: &'a Expression) -> Result<Option<bool>, Problem> {
        let value = self.value(expression)?;
        if value.is_null() {
            return Ok(None);
        }
        self.look_at(&value)?;
        value.boolean().map(Some)
    }

    /// Counts the text of a value, which is about to be read.
    pub(super) fn look_at(&self, value: &Value<'_>) -> Result<(), Problem> {
        self.work.spend(value.length())
    }

    pub(super) fn number(&self, value: &Value<'_>) -> Result<Number, Problem> {
        self.look_at(value)?;
        value.number()
    }

    pub(super) fn time(&self, value: &Value<'_>) -> Result<Moment, Problem> {
        self.look_at(value)?;
        value.time()
    }

    pub(super) fn order(&self, one: &Value<'_>, two: &Value<'_>) -> Result<Option<Ordering>, Problem> {
        let (first, second) = (one.length(), two.length());
        let both = matches!((one, two), (Value::Text(_), Value::Text(_)));
        self.work.spend(if both { first.min(second) } else { first + second })?;
        one.compare(two)
    }

    /// AND, where one false decides, or OR, where one true does.
    fn joined(&self, all: &'a [Expression], deciding: bool) -> Result<Value<'a>, Problem> {
        let mut unknown = false;
        for one in all {
            match self.truth(one)? {
                Some(value) if value == deciding => return Ok(Value::Boolean(deciding)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { Value::Null } else { Value::Boolean(!deciding) })
    }

    fn compared(
        &self,
        comparison: Comparison,
        one: &'a Expression,
        two: &'a Expression,
    ) -> Result<Value<'a>, Problem> {
        let order = self.order(&self.value(one)?, &self.value(two)?)?;
        Ok(known(order.map(|order| match comparison {
            Comparison::Equal => order == Ordering::Equal,
            Comparison::NotEqual => order != Ordering::Equal,
            Comparison::Less => order == Ordering::Less,
            Comparison::LessOrEqual => order != Ordering::Greater,
            Comparison::Greater => order == Ordering::Greater,
            Comparison::GreaterOrEqual => order != Ordering::Less,
        })))
    }

    fn arithmetic(
        &self,
        first: &'a Expression,
        rest: &'a [(Operator, Expression)],
    ) -> Result<Value<'a>, Problem> {
        let mut result = self.value(first)?;
        for (operator, operand) in rest {
            let operand = self.value(operand)?;
            if result.is_null() || operand.is_null() {
                return Ok(Value::Null);
            }
            self.work.spend(result.length() + operand.length())?;
            result = computed(*operator, &result, &operand)?;
        }
        Ok(result)
    }

    fn like(&self, value: &'a Expression, pattern: &'a LikePattern) -> Result<Option<bool>, Problem> {
        let value = self.value(value)?;
        if value.is_null() {
            return Ok(None);
        }
        let text = value.text()?;
        let matches = |pattern: &Pattern| {
            self.work.spend(pattern.work(text.len()))?;
            Ok(Some(pattern.matches(&text)))
        };
        match pattern {
            LikePattern::Fixed(pattern) => matches(pattern),
            LikePattern::Computed { pattern, escape } => {
                let pattern = self.value(pattern)?;
                if pattern.is_null() {
                    return Ok(None);
                }
                self.work.spend(Pattern::parsing(pattern.length()))?;
                matches(&Pattern::parse(&pattern.text()?, *escape).ok_or(CONVERSION)?)
            }
        }
    }

    fn is_in(&self, value: &'a Expression, list: &'a [Expression]) -> Result<Option<bool>, Problem> {
        let value = self.value(value)?;
        let mut unknown = false;
        for one in list {
            match self.order(&value, &self.value(one)?)? {
                Some(Ordering::Equal) => return Ok(Some(true)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { None } else { Some(false) })
    }

    fn case(
        &self,
        operand: Option<&'a Expression>,
        whens: &'a [(Expression, Expression)],
        otherwise: &'a Expression,
    ) -> Result<Value<'a>, Problem> {
        let operand = operand.map(|operand| self.value(operand)).transpose()?;
        for (when, then) in whens {
            let holds = match &operand {
                Some(operand) => self.order(operand, &self.value(when)?)? == Some(Ordering::Equal),
                None => self.truth(when)? == Some(true),
            };
            if holds {
                return self.value(then);
            }
        }
        self.value(otherwise)
    }
}

fn known(value: Option<bool>) -> Value<'static> {
    value.map_or(Value::Null, Value::Boolean)
}

fn computed(operator: Operator, one: &Value<'_>, two: &Value<'_>) -> Result<Value<'static>, Problem> {
    // A number added to a date counts days.
    if let Value::Time(moment) = one {
        let days = match two.number()? {
            Number::Int(days) => days,
            Number::Float(_) => return Err(CONVERSION),
        };
        let days = match operator {
            Operator::Add => days,
            Operator::Subtract => days.checked_neg().ok_or(OVERFLOW)?,
            _ => return Err(CONVERSION),
        };
        return Ok(Value::Time(moment.plus(super::moment::Part::Day, days).ok_or(OVERFLOW)?));
    }
    let (one, two) = (one.number()?, two.number()?);
    if let (Number::Int(one), Number::Int(two)) = (one, two) {
        if two == 0 && matches!(operator, Operator::Divide | Operator::Remainder) {
            return Err(DIVISION);
        }
        let result = match operator {
            Operator::Add => one.checked_add(two),
            Operator::Subtract => one.checked_sub(two),
            Operator::Multiply => one.checked_mul(two),
            Operator::Divide => one.checked_div(two),
            Operator::Remainder => one.checked_rem(two),
        };
        return result.map(Value::Int).ok_or(OVERFLOW);
    }
    let (one, two) = (one.float(), two.float());
    if two == 0.0 && matches!(operator, Operator::Divide | Operator::Remainder) {
        return Err(DIVISION);
    }
    let result = match operator {
        Operator::Add => one + two,
        Operator::Subtract => one - two,
        Operator::Multiply => one * two,
        Operator::Divide => one / two,
        Operator::Remainder => one % two,
    };
    if result.is_finite() { Ok(Value::Float(result)) } else { Err(OVERFLOW) }
}
