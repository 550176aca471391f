//! Messages of the domain name system, as far as looking up addresses needs them (RFC 1035, RFC 3596).

use std::net::IpAddr;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Record {
    V4 = 1,
    V6 = 28,
}

/// What a server says.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Addresses; none where the name has none of this kind.
    Addresses(Vec<IpAddr>),
    /// There is no such name.
    NoSuchName,
    /// The answer does not fit: ask again over TCP.
    Truncated,
    /// The server cannot help.
    Refused,
}

const INTERNET: u16 = 1;
const HEADER: usize = 12;

/// A question; none where the name cannot be one.
pub(super) fn question(id: u16, name: &str, record: Record) -> Option<Vec<u8>> {
    let mut message = Vec::with_capacity(HEADER + name.len() + 6);
    message.extend(id.to_be_bytes());
    // Recursion desired; one question.
    message.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.strip_suffix('.').unwrap_or(name).split('.') {
        let len = u8::try_from(label.len()).ok().filter(|len| (1..64).contains(len))?;
        message.push(len);
        message.extend(label.as_bytes());
    }
    message.push(0);
    message.extend((record as u16).to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    (message.len() <= HEADER + 255 + 4).then_some(message)
}

/// What `message` answers to `question`; none where it is no answer to it.
pub(super) fn answer(message: &[u8], question: &[u8]) -> Option<Answer> {
    let (header, rest) = message.split_at_checked(HEADER)?;
    let is_response = header[2] & 0x80 != 0;
    let asked = &question[HEADER..];
    if header[..2] != question[..2] || !is_response || number(&header[4..]) != Some(1) {
        return None;
    }
    // Names are compared without regard to case: servers may change it.
    if !rest.get(..asked.len())?.eq_ignore_ascii_case(asked) {
        return None;
    }
    if header[2] & 0x02 != 0 {
        return Some(Answer::Truncated);
    }
    match header[3] & 0x0f {
        0 => {}
        3 => return Some(Answer::NoSuchName),
        _ => return Some(Answer::Refused),
    }
    let record = number(&asked[asked.len() - 4..])?;
    let mut at = HEADER + asked.len();
    let mut addresses = Vec::new();
    for _ in 0..number(&header[6..])? {
        at = behind_name(message, at)?;
        let (kind, length) = (number(message.get(at..)?)?, number(message.get(at + 8..)?)?);
        let data = message.get(at + 10..at + 10 + usize::from(length))?;
        at += 10 + usize::from(length);
        // Aliases need no look: a server that recurses sends what they lead to as well.
        if kind == record {
            addresses.push(match *data {
                [a, b, c, d] => IpAddr::from([a, b, c, d]),
                _ => IpAddr::from(<[u8; 16]>::try_from(data).ok()?),
            });
        }
    }
    Some(Answer::Addresses(addresses))
}

/// The place behind a name: labels up to an empty one or a reference to a name elsewhere.
fn behind_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            len if len & 0xc0 == 0xc0 => return Some(at + 2),
            len => at += 1 + usize::from(len),
        }
    }
}

fn number(bytes: &[u8]) -> Option<u16> {
    bytes.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to `question` with these records, each with its name as a reference to the question's.
    fn reply(question: &[u8], flags: [u8; 2], records: &[(u16, &[u8])]) -> Vec<u8> {
        let mut message = question.to_vec();
        message[2] = 0x80 | flags[0];
        message[3] = flags[1];
        message[7] = records.len() as u8;
        for (kind, data) in records {
            message.extend([0xc0, 12]);
            message.extend(kind.to_be_bytes());
            message.extend([0, 1, 0, 0, 0, 60]);
            message.extend((data.len() as u16).to_be_bytes());
            message.extend(*data);
        }
        message
    }

    #[test]
    fn a_question_has_the_name_in_labels() {
        let message = question(0x1234, "a.example", Record::V6).unwrap();
        assert_eq!(message, b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x07example\0\0\x1c\0\x01");
        assert_eq!(question(1, "a.example.", Record::V4), question(1, "a.example", Record::V4));
    }

    #[test]
    fn what_is_no_name_cannot_be_asked_for() {
        let long = "x".repeat(64);
        let deep = "x.".repeat(128);
        for name in ["", ".", "a..b", ".a", &long, &deep] {
            assert_eq!(question(1, name, Record::V4), None, "{name}");
        }
    }

    #[test]
    fn addresses_are_found_behind_aliases() {
        let question = question(7, "a.example", Record::V4).unwrap();
        let records: [(u16, &[u8]); 3] = [(5, b"\x01b\xc0\x0e"), (1, &[10, 0, 0, 1]), (1, &[10, 0, 0, 2])];
        let found = answer(&reply(&question, [1, 0], &records), &question);
        assert_eq!(found, Some(Answer::Addresses(vec![[10, 0, 0, 1].into(), [10, 0, 0, 2].into()])));
    }

    #[test]
    fn servers_say_why_there_is_none() {
        let question = question(7, "a.example", Record::V4).unwrap();
        assert_eq!(answer(&reply(&question, [0, 3], &[]), &question), Some(Answer::NoSuchName));
        assert_eq!(answer(&reply(&question, [0, 2], &[]), &question), Some(Answer::Refused));
        assert_eq!(answer(&reply(&question, [2, 0], &[]), &question), Some(Answer::Truncated));
        assert_eq!(answer(&reply(&question, [0, 0], &[]), &question), Some(Answer::Addresses(Vec::new())));
    }

    #[test]
    fn answers_to_other_questions_are_none() {
        let asked = question(7, "a.example", Record::V4).unwrap();
        for other in [question(8, "a.example", Record::V4), question(7, "b.example", Record::V4)] {
            assert_eq!(answer(&reply(&other.unwrap(), [0, 0], &[]), &asked), None);
        }
        assert_eq!(answer(&asked, &asked), None, "a question is no answer");
    }

    #[test]
    fn damaged_answers_are_none() {
        let question = question(7, "a.example", Record::V6).unwrap();
        let whole = reply(&question, [0, 0], &[(28, &[1; 16]), (28, &[2; 16])]);
        assert!(matches!(answer(&whole, &question), Some(Answer::Addresses(found)) if found.len() == 2));
        for len in 0..whole.len() {
            assert_eq!(answer(&whole[..len], &question), None, "{len} bytes");
        }
        let odd = reply(&question, [0, 0], &[(28, &[1; 5])]);
        assert_eq!(answer(&odd, &question), None);
    }
}
