//! Points in time as the service counts them: 100 ns ticks since 0001-01-01T00:00:00Z.
//! An ETag, a snapshot id and a table Timestamp are the same number in three notations.

use std::fmt;

const TICKS_PER_SECOND: u64 = 10_000_000;
const SECONDS_PER_DAY: u64 = 86_400;
/// Ticks between 0001-01-01 and 1970-01-01.
const UNIX_EPOCH: u64 = 621_355_968_000_000_000;
/// Last tick of the year 9999, the end of what the wire formats can print.
const LAST: u64 = 3_155_378_975_999_999_999;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// 0001-01-01 was a Monday in the proleptic Gregorian calendar.
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub u64);

/// A calendar reading of a [`Timestamp`].
pub(crate) struct Civil {
    pub year: u64,
    pub month: u64,
    pub day: u64,
    weekday: u64,
    pub hour: u64,
    pub minute: u64,
    pub second: u64,
    pub fraction: u64,
}

impl Timestamp {
    pub const MAX: Timestamp = Timestamp(LAST);
    /// What a blob of uncommitted blocks only shows as its Last-Modified (conditional.md section 1).
    pub const YEAR_1601: Timestamp = Timestamp(504_911_232_000_000_000);

    pub const fn from_unix_ticks(ticks: u64) -> Self {
        Timestamp(ticks.saturating_add(UNIX_EPOCH))
    }

    /// 100 ns since 1970; what lies before is 0.
    pub const fn to_unix_ticks(self) -> u64 {
        self.0.saturating_sub(UNIX_EPOCH)
    }

    pub const fn plus_seconds(self, seconds: i64) -> Self {
        let distance = seconds.unsigned_abs().saturating_mul(TICKS_PER_SECOND);
        let moved =
            if seconds < 0 { self.0.saturating_sub(distance) } else { self.0.saturating_add(distance) };
        Timestamp(if moved > LAST { LAST } else { moved })
    }

    /// Truncated to the second: the resolution of Last-Modified and of both date conditions.
    pub const fn whole_seconds(self) -> Self {
        Timestamp(self.0 - self.0 % TICKS_PER_SECOND)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    pub fn rfc1123(self) -> String {
        let at = self.civil();
        let mut text = String::with_capacity(29);
        text.push_str(WEEKDAYS.get(at.weekday as usize).copied().unwrap_or("Mon"));
        text.push_str(", ");
        digits(&mut text, at.day, 2);
        text.push(' ');
        text.push_str(MONTHS.get(at.month as usize - 1).copied().unwrap_or("Jan"));
        text.push(' ');
        digits(&mut text, at.year, 4);
        text.push(' ');
        clock(&mut text, &at);
        text.push_str(" GMT");
        text
    }

    /// `2011-03-09T01:42:34.9360000Z`: snapshot ids, version ids, times in error messages.
    pub fn iso7(self) -> String {
        let at = self.civil();
        let mut text = self.iso_seconds(&at);
        text.push('.');
        digits(&mut text, at.fraction, 7);
        text.push('Z');
        text
    }

    /// As [`iso7`](Self::iso7) without the trailing zeros of the fraction: table Timestamp and ETag.
    pub fn iso_trimmed(self) -> String {
        let at = self.civil();
        let mut text = self.iso_seconds(&at);
        if at.fraction != 0 {
            text.push('.');
            digits(&mut text, at.fraction, 7);
            text.truncate(text.trim_end_matches('0').len());
        }
        text.push('Z');
        text
    }

    /// RFC 1123, RFC 850 or asctime.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(usual) = Self::parse_rfc1123(text) {
            return Some(usual);
        }
        if let Some((_, rest)) = text.split_once(", ") {
            let rest = rest.strip_suffix(" GMT")?;
            let (date, time) = rest.rsplit_once(' ')?;
            let separator = if date.contains('-') { '-' } else { ' ' };
            let mut parts = date.split(separator);
            let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
            if parts.next().is_some() {
                return None;
            }
            let year = match (separator, year.len()) {
                // RFC 850 has two digits; the window is the one of HTTP dates since 1999.
                ('-', 2) => match number(year)? {
                    recent @ 0..=49 => 2000 + recent,
                    old => 1900 + old,
                },
                (_, 4) => number(year)?,
                _ => return None,
            };
            return Self::assemble(year, month_number(month)?, number(day)?, parse_clock(time)?, 0);
        }
        let mut parts = text.split_ascii_whitespace();
        let (weekday, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let (time, year) = (parts.next()?, parts.next()?);
        if weekday.len() != 3 || year.len() != 4 || parts.next().is_some() {
            return None;
        }
        Self::assemble(number(year)?, month_number(month)?, number(day)?, parse_clock(time)?, 0)
    }

    /// The form that nearly everybody sends, read by position.
    #[rustfmt::skip]
    fn parse_rfc1123(text: &str) -> Option<Self> {
        let &[
            w1, w2, w3, b',', b' ', d1, d2, b' ', m1, m2, m3, b' ', y1, y2, y3, y4, b' ',
            h1, h2, b':', n1, n2, b':', s1, s2, b' ', b'G', b'M', b'T',
        ] = text.as_bytes() else { return None };
        let named = |a: u8, b: u8, c: u8| [a, b, c].iter().all(u8::is_ascii_alphabetic).then_some([a, b, c]);
        named(w1, w2, w3)?;
        let month = named(m1, m2, m3)?;
        let month = MONTHS.iter().position(|name| name.as_bytes() == month)? as u64 + 1;
        let pair = |tens: u8, ones: u8| {
            (tens.is_ascii_digit() && ones.is_ascii_digit())
                .then(|| u64::from(tens - b'0') * 10 + u64::from(ones - b'0'))
        };
        let year = pair(y1, y2)? * 100 + pair(y3, y4)?;
        Self::assemble(year, month, pair(d1, d2)?, (pair(h1, h2)?, pair(n1, n2)?, pair(s1, s2)?), 0)
    }

    /// ISO 8601 in every form that a SAS or a stored access policy may carry: a date alone, or a date with
    /// minutes, seconds or up to seven fraction digits, in UTC (`Z` or an offset).
    pub fn parse_iso(text: &str) -> Option<Self> {
        let text = text.trim();
        let Some((date, time)) = text.split_once('T') else {
            let (year, month, day) = parse_date(text)?;
            return Self::assemble(year, month, day, (0, 0, 0), 0);
        };
        let (year, month, day) = parse_date(date)?;
        let (time, offset_minutes) = match time.strip_suffix('Z') {
            Some(time) => (time, 0),
            None => split_offset(time)?,
        };
        let (time, fraction) = match time.split_once('.') {
            Some((time, fraction)) => (time, parse_fraction(fraction)?),
            None => (time, 0),
        };
        let clock = if time.len() == 5 {
            let (hour, minute) = time.split_once(':')?;
            (two_digits(hour)?, two_digits(minute)?, 0)
        } else {
            parse_clock(time)?
        };
        Some(Self::assemble(year, month, day, clock, fraction)?.plus_seconds(-offset_minutes * 60))
    }

    /// The value of `snapshot=` and `versionid=`: a full time of day in UTC is required.
    pub fn parse_snapshot(text: &str) -> Option<Self> {
        (text.len() >= 20 && text.ends_with('Z')).then(|| Self::parse_iso(text)).flatten()
    }

    fn iso_seconds(self, at: &Civil) -> String {
        let mut text = String::with_capacity(28);
        digits(&mut text, at.year, 4);
        text.push('-');
        digits(&mut text, at.month, 2);
        text.push('-');
        digits(&mut text, at.day, 2);
        text.push('T');
        clock(&mut text, at);
        text
    }

    fn assemble(
        year: u64,
        month: u64,
        day: u64,
        (hour, minute, second): (u64, u64, u64),
        fraction: u64,
    ) -> Option<Self> {
        let valid = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        if !valid {
            return None;
        }
        let seconds = days_before(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
        Some(Timestamp(seconds * TICKS_PER_SECOND + fraction))
    }

    /// The first moment of a day, if there is such a day.
    pub(crate) fn of_date(year: u64, month: u64, day: u64) -> Option<Self> {
        Self::assemble(year, month, day, (0, 0, 0), 0)
    }

    pub(crate) fn civil(self) -> Civil {
        let ticks = self.0.min(LAST);
        let (seconds, fraction) = (ticks / TICKS_PER_SECOND, ticks % TICKS_PER_SECOND);
        let (days, in_day) = (seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
        // Years that begin in March put the leap day last, so that month lengths follow one formula.
        // 306 days lie between 0000-03-01 and 0001-01-01.
        let from_march = days + 306;
        let (era, day_of_era) = (from_march / 146_097, from_march % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Civil {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * march_month + 2) / 5 + 1,
            weekday: days % 7,
            hour: in_day / 3600,
            minute: in_day / 60 % 60,
            second: in_day % 60,
            fraction,
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iso7())
    }
}

/// Days between 0001-01-01 and the given date.
const fn days_before(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let march_month = if month > 2 { month - 3 } else { month + 9 };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * march_month + 2) / 5 + day - 1 - 306
}

const fn days_in_month(year: u64, month: u64) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

fn digits(text: &mut String, value: u64, width: u32) {
    let mut divisor = 10u64.pow(width - 1);
    while divisor > 0 {
        text.push(char::from(b'0' + (value / divisor % 10) as u8));
        divisor /= 10;
    }
}

fn clock(text: &mut String, at: &Civil) {
    digits(text, at.hour, 2);
    text.push(':');
    digits(text, at.minute, 2);
    text.push(':');
    digits(text, at.second, 2);
}

/// Digits only: `u64::from_str` would also take a sign.
fn number(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn two_digits(text: &str) -> Option<u64> {
    (text.len() == 2).then(|| number(text)).flatten()
}

fn month_number(name: &str) -> Option<u64> {
    MONTHS.iter().position(|month| month.eq_ignore_ascii_case(name)).map(|index| index as u64 + 1)
}

fn parse_date(text: &str) -> Option<(u64, u64, u64)> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if year.len() != 4 || parts.next().is_some() {
        return None;
    }
    Some((number(year)?, two_digits(month)?, two_digits(day)?))
}

fn parse_clock(text: &str) -> Option<(u64, u64, u64)> {
    let mut parts = text.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    Some((two_digits(hour)?, two_digits(minute)?, two_digits(second)?))
}

fn parse_fraction(text: &str) -> Option<u64> {
    let missing = 7u32.checked_sub(u32::try_from(text.len()).ok()?)?;
    Some(number(text)? * 10u64.pow(missing))
}

/// Splits `12:00:00+01:30` into the clock and the minutes to subtract.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    let at = text.rfind(['+', '-'])?;
    let (time, offset) = (text.get(..at)?, text.get(at + 1..)?);
    let (hours, minutes) = offset.split_once(':')?;
    let magnitude = i64::try_from(two_digits(hours)? * 60 + two_digits(minutes)?).ok()?;
    let sign = if text.get(at..)?.starts_with('-') { -1 } else { 1 };
    Some((time, sign * magnitude))
}

#[cfg(test)]
mod tests;
