//! A small checker of JSON Schema: the keywords that the schemas of `docs/json/` use, and no others.
//!
//! It is stricter than the schemas: a key that they do not list is an error, unless `additionalProperties` says what may
//! stand there. Readers should pass over keys that they do not know; a test should not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

/// Those that need no check of their own here, or have one.
const KEYWORDS: [&str; 7] = [
    "$schema",
    "$ref",
    "title",
    "description",
    "type",
    "enum",
    "required",
];

/// All schemas of a folder, by the names of their files.
pub(super) struct Schemas {
    files: BTreeMap<String, Value>,
}

/// What is wrong with a value, and which properties of schemas were met.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) wrong: Vec<String>,
    pub(super) met: BTreeSet<String>,
}

/// A schema and where it stands.
#[derive(Clone)]
struct Place<'a> {
    file: &'a str,
    /// The path inside the file.
    inside: String,
    schema: &'a Value,
}

impl Schemas {
    pub(super) fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let schema =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            files.insert(name, schema);
        }
        Self { files }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.files.keys()
    }

    /// Holds a value against the schema of a file.
    pub(super) fn check(&self, file: &str, value: &Value) -> Outcome {
        let (file, schema) = self
            .files
            .get_key_value(file)
            .unwrap_or_else(|| panic!("there is no schema {file}"));
        let mut outcome = Outcome::default();
        let place = Place {
            file,
            inside: "#".to_owned(),
            schema,
        };
        self.check_at(&place, value, "", &mut outcome);
        outcome
    }

    /// Every property that the schemas describe, with its description.
    pub(super) fn properties(&self) -> BTreeMap<String, Option<String>> {
        let mut found = BTreeMap::new();
        for (file, schema) in &self.files {
            collect(&format!("{file}#"), schema, &mut found);
        }
        found
    }

    fn resolve<'a>(&'a self, place: &Place<'a>, reference: &str) -> Place<'a> {
        let (file, inside) = reference.split_once('#').expect("a `#` in $ref");
        let file = if file.is_empty() { place.file } else { file };
        let (file, whole) = self
            .files
            .get_key_value(file)
            .unwrap_or_else(|| panic!("$ref to {file}, which is not there"));
        let schema = whole
            .pointer(inside)
            .unwrap_or_else(|| panic!("$ref to {reference}, which is not there"));
        Place {
            file,
            inside: format!("#{inside}"),
            schema,
        }
    }

    fn check_at(&self, place: &Place<'_>, value: &Value, path: &str, outcome: &mut Outcome) {
        let schema = place.schema;
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.resolve(place, reference);
            return self.check_at(&target, value, path, outcome);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let tried = choices.iter().enumerate().map(|(number, schema)| {
                let inside = format!("{}/anyOf/{number}", place.inside);
                let choice = Place {
                    inside,
                    schema,
                    ..place.clone()
                };
                let mut outcome = Outcome::default();
                self.check_at(&choice, value, path, &mut outcome);
                outcome
            });
            // The choice that fits best tells what is wrong.
            if let Some(best) = tried.min_by_key(|outcome| outcome.wrong.len()) {
                outcome.wrong.extend(best.wrong);
                outcome.met.extend(best.met);
            }
            return;
        }
        if !has_type(&schema["type"], value) {
            outcome
                .wrong
                .push(format!("{path} is {value:.60} and not {}", schema["type"]));
            return;
        }
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            let allowed = Value::from(allowed.clone());
            outcome
                .wrong
                .push(format!("{path} is {value}, not one of {allowed}"));
        }
        match value {
            Value::Object(_) => self.check_object(place, value, path, outcome),
            Value::Array(items) => {
                let inner = Place {
                    inside: format!("{}/items", place.inside),
                    schema: &schema["items"],
                    ..place.clone()
                };
                for (number, item) in items.iter().enumerate() {
                    self.check_at(&inner, item, &format!("{path}[{number}]"), outcome);
                }
            }
            _ => {}
        }
    }

    fn check_object(&self, place: &Place<'_>, value: &Value, path: &str, outcome: &mut Outcome) {
        let schema = place.schema;
        for key in schema["required"].as_array().into_iter().flatten() {
            if value.get(key.as_str().unwrap()).is_none() {
                outcome.wrong.push(format!("{path} has no {key}"));
            }
        }
        for (key, inner) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            let at = |name: String, schema| Place {
                inside: format!("{}/{name}", place.inside),
                schema,
                ..place.clone()
            };
            if let Some(known) = schema["properties"].get(key) {
                let known = at(format!("properties/{key}"), known);
                outcome
                    .met
                    .insert(format!("{}{}", known.file, known.inside));
                self.check_at(&known, inner, &path, outcome);
            } else if schema["additionalProperties"].is_object() {
                let others = at(
                    "additionalProperties".to_owned(),
                    &schema["additionalProperties"],
                );
                self.check_at(&others, inner, &path, outcome);
            } else if schema["additionalProperties"] != Value::Bool(true) {
                outcome
                    .wrong
                    .push(format!("{path} is not in {}{}", place.file, place.inside));
            }
        }
    }
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = |name: &Value| name == found || (name == "number" && found == "integer");
    match wanted {
        Value::Null => true,
        Value::Array(several) => several.iter().any(fits),
        one => fits(one),
    }
}

/// Finds properties at any depth, and refuses keywords that the checker does not know.
fn collect(place: &str, schema: &Value, found: &mut BTreeMap<String, Option<String>>) {
    for (key, inner) in schema.as_object().into_iter().flatten() {
        let at = format!("{place}/{key}");
        match key.as_str() {
            "properties" | "$defs" => {
                for (name, inner) in inner.as_object().into_iter().flatten() {
                    let at = format!("{at}/{name}");
                    if key == "properties" {
                        let description = inner["description"].as_str().map(str::to_owned);
                        found.insert(at.clone(), description);
                    }
                    collect(&at, inner, found);
                }
            }
            "items" | "additionalProperties" => collect(&at, inner, found),
            "anyOf" => {
                for (number, inner) in inner.as_array().into_iter().flatten().enumerate() {
                    collect(&format!("{at}/{number}"), inner, found);
                }
            }
            known => assert!(KEYWORDS.contains(&known), "{at}: unknown keyword"),
        }
    }
}

#[test]
fn values_are_held_against_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let schema = r##"{
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/number"},
            "b": {"type": "array", "items": {"enum": ["x", "y"]}},
            "c": {"type": "object", "additionalProperties": {"type": "integer"}},
            "d": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/number"}]}
        },
        "required": ["a"],
        "$defs": {"number": {"type": "number"}}
    }"##;
    std::fs::write(folder.path().join("s"), schema).unwrap();
    let schemas = Schemas::read(folder.path());
    let wrong = |text: &str| {
        let outcome = schemas.check("s", &serde_json::from_str(text).unwrap());
        outcome.wrong.join("; ")
    };
    assert_eq!(
        wrong(r#"{"a": 1, "b": ["x"], "c": {"k": 2}, "d": null}"#),
        ""
    );
    assert_eq!(wrong(r#"{"a": 1.5, "d": 2}"#), "");
    assert_eq!(wrong(r#"{"b": []}"#), r#" has no "a""#);
    assert!(wrong(r#"{"a": "1"}"#).contains(".a is"));
    assert!(wrong(r#"{"a": 1, "b": ["z"]}"#).contains(".b[0] is"));
    assert!(wrong(r#"{"a": 1, "c": {"k": 2.5}}"#).contains(".c.k is"));
    assert!(wrong(r#"{"a": 1, "d": "2"}"#).contains(".d is"));
    assert!(wrong(r#"{"a": 1, "e": 2}"#).contains(".e is not in s#"));
    let met = schemas.check("s", &serde_json::json!({"a": 1})).met;
    assert_eq!(met.into_iter().collect::<Vec<_>>(), ["s#/properties/a"]);
    assert_eq!(schemas.properties().len(), 4);
}
