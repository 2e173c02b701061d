//! What strace wrote, as calls.

use std::collections::HashMap;

/// A system call that ended. `started` and `ended` are moments on one axis.
#[derive(Debug)]
pub struct Call {
    pub name: String,
    /// The arguments as printed; strings are replaced by `$`.
    pub args: Vec<String>,
    /// The strings, in order.
    pub strings: Vec<Vec<u8>>,
    pub result: i64,
    pub started: usize,
    pub ended: usize,
}

impl Call {
    pub fn number(&self, arg: usize) -> i64 {
        self.args.get(arg).and_then(|text| text.parse().ok()).unwrap_or(-1)
    }

    /// The written bytes, of all parts.
    pub fn data(&self) -> Vec<u8> {
        let mut data = self.strings.concat();
        assert!(self.result <= data.len() as i64, "strace cut a string short");
        data.truncate(self.result.max(0) as usize);
        data
    }
}

/// Parses the output of `strace -f -xx` (all strings in hexadecimal) in the order in which calls ended.
pub fn parse(text: &str) -> Vec<Call> {
    let mut unfinished: HashMap<&str, (usize, &str)> = HashMap::new();
    let mut calls = Vec::new();
    for (moment, line) in text.lines().enumerate() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(begin) = rest.strip_suffix("<unfinished ...>") {
            // A descriptor is free for others before its close has returned.
            if let Some(number) = begin.trim_end().strip_prefix("close(") {
                calls.extend(call(&format!("close({number}) = 0"), moment, moment));
                continue;
            }
            unfinished.insert(pid, (moment, begin));
        } else if let Some(resumed) = rest.strip_prefix("<... ") {
            let Some((started, begin)) = unfinished.remove(pid) else { continue };
            let Some((_, end)) = resumed.split_once(" resumed>") else { continue };
            calls.extend(call(&format!("{begin}{end}"), started, moment));
        } else {
            calls.extend(call(rest, moment, moment));
        }
    }
    calls
}

fn call(text: &str, started: usize, ended: usize) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let (args, result) = rest
        .rsplit_once(") ")
        .and_then(|(args, result)| Some((args, result.trim_start().strip_prefix("= ")?)))?;
    let result = result.split_whitespace().next()?;
    let result = match result.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None => result.parse().ok()?,
    };
    let mut strings = Vec::new();
    let mut plain = String::new();
    for (index, part) in args.split('"').enumerate() {
        if index % 2 == 0 {
            plain.push_str(part);
        } else {
            plain.push('$');
            strings.push(bytes(part)?);
        }
    }
    let args = plain.split(", ").map(|arg| arg.trim().to_owned()).collect();
    Some(Call { name: name.to_owned(), args, strings, result, started, ended })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    hex.split("\\x").skip(1).map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

#[test]
fn lines_become_calls() {
    let text = "7  write(3, \"\\x61\\x62\", 2) = 2\n\
                9  close(3 <unfinished ...>\n\
                8  fsync(4 <unfinished ...>\n\
                7  pwritev(5, [{iov_base=\"\\x61\", iov_len=1}, {iov_base=\"\\x62\", iov_len=1}], 2, 4096) = 2\n\
                9  <... close resumed>) = 0\n\
                8  <... fsync resumed>)             = -1 EIO (Input/output error)\n";
    let calls = parse(text);
    assert_eq!((calls.len(), calls[1].name.as_str(), calls[1].number(0)), (4, "close", 3));
    let calls = [&calls[0], &calls[2], &calls[3]];
    assert_eq!((calls[0].name.as_str(), calls[0].number(0), calls[0].data()), ("write", 3, b"ab".to_vec()));
    assert_eq!((calls[1].number(0), calls[1].args.last().unwrap().as_str()), (5, "4096"));
    assert_eq!((calls[1].data(), calls[1].result), (b"ab".to_vec(), 2));
    assert_eq!(
        (calls[2].name.as_str(), calls[2].result, calls[2].started, calls[2].ended),
        ("fsync", -1, 2, 5)
    );
}
