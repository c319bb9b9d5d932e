// SPDX-License-Identifier: GPL-2.0

//! The family's specification, `ovpn.yaml` of the kernel: operations, attributes, their types and
//! limits. Numbers follow from the order, as for every user of such a file.

use std::collections::HashMap;
use yaml_rust2::{
    Yaml,
    YamlLoader, //
};

/// What an attribute holds.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number of `len` bytes.
    Number {
        len: usize,
        big_endian: bool,
        min: u64,
        max: u64,
    },
    /// Bytes, of one length or at most that many.
    Bytes { exact: Option<usize>, max: usize },
    /// The attributes of a set.
    Nest(String),
}

#[derive(Clone, Debug)]
pub struct Attr {
    pub name: String,
    pub number: u16,
    pub kind: Kind,
}

/// The attributes that may be there, by their order in the file.
pub type Set = Vec<Attr>;

#[derive(Clone, Debug)]
pub struct Op {
    pub name: String,
    pub number: u8,
    /// The set of a message's attributes.
    pub set: String,
    /// What a request is made of.
    pub request: Vec<String>,
    pub can_dump: bool,
}

pub struct Spec {
    /// Without the notifications.
    pub ops: Vec<Op>,
    sets: HashMap<String, Set>,
}

impl Spec {
    /// Reads the file's text.
    ///
    /// # Panics
    ///
    /// If the file is not what this program knows: then it has to be changed first.
    pub fn parse(text: &str) -> Self {
        let yaml = &YamlLoader::load_from_str(text).expect("YAML")[0];
        let mut enums = HashMap::new();
        let mut constants = HashMap::new();
        for definition in list(&yaml["definitions"]) {
            let name = string(&definition["name"]);
            match definition["type"].as_str() {
                Some("const") => {
                    constants.insert(name, definition["value"].as_i64().expect("value") as usize);
                }
                _ => {
                    enums.insert(name, list(&definition["entries"]).len() as u64);
                }
            }
        }
        let mut sets: HashMap<String, Set> = HashMap::new();
        for set in list(&yaml["attribute-sets"]) {
            let parent = set["subset-of"].as_str().map(|name| sets[name].clone());
            let attrs = list(&set["attributes"])
                .iter()
                .enumerate()
                .map(|(index, attr)| {
                    let name = string(&attr["name"]);
                    match &parent {
                        None => Attr {
                            number: index as u16 + 1,
                            kind: kind(attr, &enums, &constants),
                            name,
                        },
                        Some(parent) => {
                            let mut same =
                                find(parent, &name).expect("attribute of parent").clone();
                            if let Some(nested) = attr["nested-attributes"].as_str() {
                                same.kind = Kind::Nest(nested.to_string());
                            }
                            same
                        }
                    }
                });
            let attrs = attrs.collect();
            sets.insert(string(&set["name"]), attrs);
        }
        let ops = list(&yaml["operations"]["list"]).iter().enumerate();
        let ops = ops.filter(|(_, op)| op["notify"].is_badvalue());
        let ops = ops.map(|(index, op)| Op {
            name: string(&op["name"]),
            number: index as u8 + 1,
            set: string(&op["attribute-set"]),
            request: list(&op["do"]["request"]["attributes"])
                .iter()
                .map(string)
                .collect(),
            can_dump: !op["dump"].is_badvalue(),
        });
        Self {
            ops: ops.collect(),
            sets,
        }
    }

    pub fn set(&self, name: &str) -> &Set {
        &self.sets[name]
    }

    /// The set of an operation's object, and the object's own number.
    pub fn object(&self, op: &Op) -> (u16, &Set) {
        let attrs = self.set(&op.set).iter();
        let mut nests = attrs.filter(|attr| op.request.contains(&attr.name));
        let nest = nests.find_map(|attr| match &attr.kind {
            Kind::Nest(set) => Some((attr.number, self.set(set))),
            _ => None,
        });
        nest.expect("an operation with an object")
    }

    pub fn op(&self, name: &str) -> &Op {
        let mut ops = self.ops.iter();
        ops.find(|op| op.name == name)
            .expect("an operation of that name")
    }
}

pub fn find<'a>(set: &'a Set, name: &str) -> Option<&'a Attr> {
    set.iter().find(|attr| attr.name == name)
}

fn kind(attr: &Yaml, enums: &HashMap<String, u64>, constants: &HashMap<String, usize>) -> Kind {
    let checks = &attr["checks"];
    let limit = |name: &str| checks[name].as_i64().map(|number| number as u64);
    let length = |name: &str| match &checks[name] {
        Yaml::String(constant) => Some(constants[constant]),
        number => number.as_i64().map(|number| number as usize),
    };
    let number = |len: usize| {
        let all = u64::MAX >> (64 - 8 * len);
        let entries = attr["enum"].as_str().map(|name| enums[name] - 1);
        Kind::Number {
            len,
            big_endian: attr["byte-order"].as_str() == Some("big-endian"),
            min: limit("min").unwrap_or(0),
            max: limit("max").or(entries).unwrap_or(all),
        }
    };
    match string(&attr["type"]).as_str() {
        "u16" => number(2),
        "u32" | "s32" => number(4),
        // Of four or eight bytes, as the sender likes.
        "uint" => number(8),
        "binary" => Kind::Bytes {
            exact: length("exact-len"),
            max: length("max-len")
                .or(length("exact-len"))
                .unwrap_or(usize::from(u16::MAX)),
        },
        "nest" => Kind::Nest(string(&attr["nested-attributes"])),
        other => panic!("an attribute of type {other}"),
    }
}

fn list(yaml: &Yaml) -> &[Yaml] {
    yaml.as_vec().map_or(&[], Vec::as_slice)
}

fn string(yaml: &Yaml) -> String {
    yaml.as_str().expect("a string").to_string()
}
