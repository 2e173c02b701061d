//! Points in time with the offset that they were written in.

use crate::time::{Civil, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub utc: Timestamp,
    /// Minutes that local time is ahead.
    pub offset: i32,
}

/// What dates are taken apart into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    TimezoneHour,
    TimezoneMinute,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const TICKS: u64 = 10_000_000;
const DAY: i64 = 86_400;

impl Part {
    pub fn find(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "year" => Self::Year,
            "month" => Self::Month,
            "day" => Self::Day,
            "hour" => Self::Hour,
            "minute" => Self::Minute,
            "second" => Self::Second,
            "timezone_hour" => Self::TimezoneHour,
            "timezone_minute" => Self::TimezoneMinute,
            _ => return None,
        })
    }

    fn seconds(self) -> i64 {
        match self {
            Self::Day => DAY,
            Self::Hour => 3600,
            Self::Minute => 60,
            _ => 1,
        }
    }
}

impl Moment {
    pub fn utc(utc: Timestamp) -> Self {
        Self { utc, offset: 0 }
    }

    /// The forms of ISO 8601: `2007T`, `2007-02T`, `2007-02-23`, with a time of day to the minute or finer and an
    /// offset or `Z`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if !text.is_ascii() {
            return None;
        }
        let (date, time) = text.split_once('T').unwrap_or((text, ""));
        let date = match date.len() {
            4 => format!("{date}-01-01"),
            7 => format!("{date}-01"),
            _ => date.to_owned(),
        };
        let (time, offset) = match time.rfind(['+', '-']) {
            Some(at) => {
                let (time, offset) = time.split_at(at);
                let (hours, minutes) = offset[1..].split_once(':')?;
                let number = |text: &str| match text.len() {
                    2 => text.parse::<u8>().ok().map(i32::from),
                    _ => None,
                };
                let minutes = number(hours).filter(|hours| *hours < 24)? * 60
                    + number(minutes).filter(|minutes| *minutes < 60)?;
                (time, if offset.starts_with('-') { -minutes } else { minutes })
            }
            None => (time.strip_suffix('Z').unwrap_or(time), 0),
        };
        let local = match time {
            "" => Timestamp::parse_iso(&date)?,
            time => Timestamp::parse_iso(&format!("{date}T{time}Z"))?,
        };
        Some(Self { utc: local.plus_seconds(-i64::from(offset) * 60), offset })
    }

    fn local(self) -> Timestamp {
        self.utc.plus_seconds(i64::from(self.offset) * 60)
    }

    pub fn iso(self) -> String {
        let text = self.local().iso_trimmed();
        match self.offset {
            0 => text,
            offset => format!("{}{}", text.trim_end_matches('Z'), shown(offset, ":")),
        }
    }

    pub fn part(self, part: Part) -> i64 {
        let Civil { year, month, day, hour, minute, second, .. } = self.local().civil();
        let number = match part {
            Part::Year => year,
            Part::Month => month,
            Part::Day => day,
            Part::Hour => hour,
            Part::Minute => minute,
            Part::Second => second,
            Part::TimezoneHour => return i64::from(self.offset / 60),
            Part::TimezoneMinute => return i64::from(self.offset % 60),
        };
        number as i64
    }

    /// `None` for what the calendar does not reach.
    pub fn plus(self, part: Part, quantity: i64) -> Option<Self> {
        let months = match part {
            Part::Year => quantity.checked_mul(12)?,
            Part::Month => quantity,
            Part::TimezoneHour | Part::TimezoneMinute => return None,
            _ => {
                let ticks = quantity.checked_mul(part.seconds())?.checked_mul(TICKS as i64)?;
                let utc = Timestamp(self.utc.0.checked_add_signed(ticks)?);
                return (utc <= Timestamp::MAX).then_some(Self { utc, ..self });
            }
        };
        let local = self.local();
        let at = local.civil();
        let month = i64::try_from(at.year * 12 + at.month - 1).ok()?.checked_add(months)?;
        let (year, month) = (u64::try_from(month.div_euclid(12)).ok()?, month.rem_euclid(12) as u64 + 1);
        // The 31st of January and a month more is the last of February.
        let in_day = local.0 % (DAY as u64 * TICKS);
        let first = (28..=at.day).rev().chain([at.day]);
        let day = first.into_iter().find_map(|day| Timestamp::of_date(year, month, day))?;
        let moved = Timestamp(day.0 + in_day);
        Some(Self { utc: moved.plus_seconds(-i64::from(self.offset) * 60), ..self })
    }

    /// How many whole ones of this part lie between the two.
    pub fn until(self, other: Self, part: Part) -> i64 {
        let months = |moment: Self| {
            let at = moment.utc.civil();
            (at.year * 12 + at.month) as i64
        };
        match part {
            Part::Year | Part::Month => {
                let mut between = months(other) - months(self);
                let into_month = |moment: Self| {
                    let at = moment.utc.civil();
                    (at.day, moment.utc.0 % (DAY as u64 * TICKS))
                };
                let (from, to) = (into_month(self), into_month(other));
                if between > 0 && to < from {
                    between -= 1;
                } else if between < 0 && to > from {
                    between += 1;
                }
                if part == Part::Year { between / 12 } else { between }
            }
            _ => (other.utc.0 as i64 - self.utc.0 as i64) / TICKS as i64 / part.seconds(),
        }
    }

    /// As a format of `TO_STRING` says; what is no letter of a format stands for itself.
    pub fn format(self, format: &str) -> String {
        let at = self.local().civil();
        let mut text = String::new();
        let mut rest = format;
        while let Some(letter) = rest.chars().next() {
            if letter == '\'' {
                let (quoted, behind) = rest[1..].split_once('\'').unwrap_or((&rest[1..], ""));
                text.push_str(quoted);
                rest = behind;
                continue;
            }
            let run = rest.chars().take_while(|next| *next == letter).count();
            rest = &rest[run * letter.len_utf8()..];
            self.formatted(&mut text, &at, letter, run);
        }
        text
    }

    fn formatted(self, text: &mut String, at: &Civil, letter: char, run: usize) {
        let padded = |number: u64| format!("{number:0run$}");
        let month = MONTHS.get(at.month as usize - 1).copied().unwrap_or("January");
        let half = if at.hour.is_multiple_of(12) { 12 } else { at.hour % 12 };
        match (letter, run) {
            ('y', 2) => text.push_str(&format!("{:02}", at.year % 100)),
            ('y', _) => text.push_str(&format!("{:04}", at.year)),
            ('M', 1 | 2) => text.push_str(&padded(at.month)),
            ('M', 3) => text.push_str(&month[..3]),
            ('M', _) => text.push_str(month),
            ('d', 1 | 2) => text.push_str(&padded(at.day)),
            ('a', _) => text.push_str(if at.hour < 12 { "AM" } else { "PM" }),
            ('h', 1 | 2) => text.push_str(&padded(half)),
            ('H', 1 | 2) => text.push_str(&padded(at.hour)),
            ('m', 1 | 2) => text.push_str(&padded(at.minute)),
            ('s', 1 | 2) => text.push_str(&padded(at.second)),
            ('S', _) => {
                let fraction = format!("{:07}", at.fraction);
                text.push_str(&fraction[..run.min(fraction.len())]);
                text.extend(std::iter::repeat_n('0', run.saturating_sub(fraction.len())));
            }
            ('X', _) if self.offset == 0 => text.push('Z'),
            ('X' | 'x', 1) if self.offset % 60 == 0 => text.push_str(&shown(self.offset, "")[..3]),
            ('X' | 'x', 1 | 2 | 4) => text.push_str(&shown(self.offset, "")),
            ('X' | 'x', 3 | 5) => text.push_str(&shown(self.offset, ":")),
            _ => text.extend(std::iter::repeat_n(letter, run)),
        }
    }
}

fn shown(offset: i32, between: &str) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs();
    format!("{sign}{:02}{between}{:02}", minutes / 60, minutes % 60)
}
