// SPDX-License-Identifier: GPL-2.0

//! A request that was sent, and whether what came of it is right.

use crate::{
    files::{
        by_port,
        Slot, //
    },
    message::{
        attr,
        number,
        Message,
        Request, //
    },
    oracle::{
        Reply,
        Verdict, //
    },
    spec::Spec,
    told, //
};
use std::collections::BTreeMap;

const NLM_F_ACK_TLVS: u16 = 0x200;
const NLMSGERR_ATTR_MSG: u16 = 1;
const NLMSGERR_ATTR_MISS_TYPE: u16 = 5;
/// Of the request that an acknowledgement quotes.
const QUOTED: usize = 20;

/// What a request was made to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The model knows what comes of it.
    Sound,
    /// It must be refused, for this reason.
    Malformed(&'static str),
    /// Some bits were flipped: nobody knows.
    Wild,
}

/// A request, and what is known of it.
pub struct Asked {
    pub op: String,
    pub request: Request,
    pub sort: Sort,
    pub verdict: Verdict,
}

/// How often an operation was done, refused, malformed.
pub type Tally = BTreeMap<String, [u64; 3]>;

/// Compares an acknowledgement and the answer before it with the verdict. The error number comes back.
pub fn check(
    spec: &Spec,
    asked: &Asked,
    ack: &Message<'_>,
    reply: Option<&[u8]>,
    slots: &[Slot],
) -> Result<i32, String> {
    let code = -(number(&ack.payload[..4]) as i32);
    match asked.sort {
        Sort::Wild => return Ok(code),
        Sort::Malformed(_) if code != 0 => return Ok(code),
        Sort::Malformed(what) => return Err(format!("was done in spite of {what}")),
        Sort::Sound => {}
    }
    let errors = &asked.verdict.errors;
    match code {
        0 if errors.is_empty() => {}
        code if errors.contains(&code) => {
            return explained(ack)
                .then_some(code)
                .ok_or("refused without a word".into())
        }
        code => return Err(format!("answered with {code}")),
    }
    let found = reply.and_then(|payload| match asked.op.as_str() {
        "peer-get" => told::peer(spec, payload, |port| by_port(slots, port)).map(Reply::Peer),
        _ => told::key(spec, payload),
    });
    match found == asked.verdict.reply {
        true => Ok(0),
        false => Err(format!("told {found:?}, from {reply:02x?}")),
    }
}

/// Whether a refusal says why, or which attribute is missing.
fn explained(ack: &Message<'_>) -> bool {
    let said = ack.payload.get(QUOTED..).unwrap_or_default();
    let says = |number| attr(said, number).is_some_and(|text| text.len() > 1);
    ack.flags & NLM_F_ACK_TLVS != 0 && (says(NLMSGERR_ATTR_MSG) || says(NLMSGERR_ATTR_MISS_TYPE))
}

pub fn count_in(tally: &mut Tally, asked: &Asked, code: i32) {
    let column = match (asked.sort, code) {
        (Sort::Malformed(_), _) => 2,
        (_, 0) => 0,
        _ => 1,
    };
    tally.entry(asked.op.clone()).or_default()[column] += 1;
}

/// A batch up to the request that went wrong.
pub fn report(wrong: &str, at: usize, all: &[Asked]) -> String {
    let mut text = String::new();
    for asked in &all[..=at] {
        text += &format!(
            "{} {:?} {:?}\n    {:?}\n",
            asked.op, asked.sort, asked.verdict, asked.request
        );
    }
    text + wrong
}
