//! Casts and functions.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::evaluate::Asked;
use super::expression::{Expression, Function, Side, Type};
use super::moment::{Moment, Part};
use super::value::{CONVERSION, Number, OVERFLOW, Problem, Value};

/// A text that a function makes is no longer.
const TEXT_MAX: usize = 4 * 1024 * 1024;
/// The work of looking up a character, as bytes that are only looked at.
const LETTER: usize = 4;

impl<'a> Value<'a> {
    pub fn cast(self, wanted: Type) -> Result<Value<'a>, Problem> {
        if self.is_null() {
            return Ok(Value::Null);
        }
        Ok(match (wanted, self) {
            (Type::Text, text @ Value::Text(_)) => text,
            (Type::Text, value) => Value::Text(value.text()?.into_owned().into()),
            (Type::Boolean, value) => Value::Boolean(value.boolean()?),
            (Type::Timestamp, value) => Value::Time(value.time()?),
            (Type::Float, value) => Value::Float(value.number()?.float()),
            (Type::Int, value) => match value.number()? {
                Number::Int(number) => Value::Int(number),
                // Bounds that both types can tell exactly.
                Number::Float(number) if (-9.2e18..9.2e18).contains(&number) => Value::Int(number as i64),
                Number::Float(_) => return Err(OVERFLOW),
            },
        })
    }
}

impl<'a> Asked<'a> {
    pub(super) fn call(&self, function: Function, arguments: &'a [Expression]) -> Result<Value<'a>, Problem> {
        let argument = |at: usize| match arguments.get(at) {
            Some(argument) => self.value(argument),
            None => Ok(Value::Null),
        };
        match function {
            Function::UtcNow => return Ok(Value::Time(Moment::utc(self.now))),
            Function::Coalesce => {
                for argument in arguments {
                    let value = self.value(argument)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                return Ok(Value::Null);
            }
            Function::NullIf => {
                let value = argument(0)?;
                let equal = self.order(&value, &argument(1)?)? == Some(Ordering::Equal);
                return Ok(if equal { Value::Null } else { value });
            }
            _ => {}
        }
        let first = argument(0)?;
        if first.is_null() {
            return Ok(Value::Null);
        }
        self.look_at(&first)?;
        Ok(match function {
            Function::CharLength => Value::Int(first.text()?.chars().count() as i64),
            Function::Lower => {
                self.work.spend(first.length() * LETTER)?;
                text(first.text()?.to_lowercase())?
            }
            Function::Upper => {
                self.work.spend(first.length() * LETTER)?;
                text(first.text()?.to_uppercase())?
            }
            Function::Substring => {
                let number = |value: Value<'_>| match self.number(&value)? {
                    Number::Int(number) => Ok(number),
                    Number::Float(_) => Err(CONVERSION),
                };
                // Counted from 0, as the reference shows.
                let from = number(argument(1)?)?;
                let length = if arguments.len() > 2 { number(argument(2)?)? } else { i64::MAX };
                if length < 0 {
                    return Err(CONVERSION);
                }
                let end = from.saturating_add(length).max(0);
                let from = from.max(0);
                let whole = first.text()?;
                let taken = usize::try_from(end.saturating_sub(from)).unwrap_or(usize::MAX);
                let skipped = usize::try_from(from).unwrap_or(usize::MAX);
                self.work.spend(whole.len())?;
                text(whole.chars().skip(skipped).take(taken).collect())?
            }
            Function::ToText => {
                let format = argument(1)?;
                self.work.spend(format.length() * LETTER)?;
                text(first.time()?.format(&format.text()?))?
            }
            Function::ToTimestamp => Value::Time(first.time()?),
            Function::UtcNow | Function::Coalesce | Function::NullIf => Value::Null,
        })
    }

    pub(super) fn trim(
        &self,
        side: Side,
        characters: Option<&'a Expression>,
        whole: &'a Expression,
    ) -> Result<Value<'a>, Problem> {
        let value = self.value(whole)?;
        let characters = match characters {
            Some(characters) => self.value(characters)?,
            None => Value::Text(" ".into()),
        };
        if value.is_null() || characters.is_null() {
            return Ok(Value::Null);
        }
        self.work.spend(characters.length() * LETTER + value.length() * LETTER)?;
        let characters = Letters::new(&characters.text()?);
        let whole = value.text()?;
        let among = |letter: char| characters.contains(letter);
        let mut rest: &str = &whole;
        if side != Side::Trailing {
            rest = rest.trim_start_matches(among);
        }
        if side != Side::Leading {
            rest = rest.trim_end_matches(among);
        }
        Ok(Value::Text(Cow::Owned(rest.to_owned())))
    }

    pub(super) fn date_add(&self, part: Part, both: &'a [Expression; 2]) -> Result<Value<'a>, Problem> {
        let (quantity, date) = (self.value(&both[0])?, self.value(&both[1])?);
        if quantity.is_null() || date.is_null() {
            return Ok(Value::Null);
        }
        let Number::Int(quantity) = self.number(&quantity)? else { return Err(CONVERSION) };
        Ok(Value::Time(self.time(&date)?.plus(part, quantity).ok_or(OVERFLOW)?))
    }

    pub(super) fn date_diff(&self, part: Part, both: &'a [Expression; 2]) -> Result<Value<'a>, Problem> {
        let (from, to) = (self.value(&both[0])?, self.value(&both[1])?);
        if from.is_null() || to.is_null() {
            return Ok(Value::Null);
        }
        Ok(Value::Int(self.time(&from)?.until(self.time(&to)?, part)))
    }
}

/// A set of characters.
struct Letters {
    ascii: u128,
    /// In order.
    others: Vec<char>,
}

impl Letters {
    fn new(text: &str) -> Self {
        let ascii = text.bytes().filter(u8::is_ascii).fold(0, |all, byte| all | 1 << byte);
        let mut others: Vec<char> = text.chars().filter(|letter| !letter.is_ascii()).collect();
        others.sort_unstable();
        others.dedup();
        Self { ascii, others }
    }

    fn contains(&self, letter: char) -> bool {
        match letter.is_ascii() {
            true => self.ascii >> u32::from(letter) & 1 == 1,
            false => self.others.binary_search(&letter).is_ok(),
        }
    }
}

fn text(made: String) -> Result<Value<'static>, Problem> {
    if made.len() > TEXT_MAX { Err(OVERFLOW) } else { Ok(Value::Text(made.into())) }
}
