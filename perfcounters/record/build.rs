//! Turns `metrics.toml` into the enum `Metric` and the table of its properties.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// The backends, as `metrics.toml` and the enum `BackendName` call them.
const BACKENDS: [(&str, &str); 5] = [
    ("perf", "Perf"),
    ("model", "Model"),
    ("valgrind", "Valgrind"),
    ("lockstep", "Lockstep"),
    ("wall", "Wall"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    metric: Vec<Metric>,
}

/// One metric; the head of `metrics.toml` explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    name: String,
    label: String,
    description: String,
    unit: String,
    digits: u32,
    wanted: Option<Wanted>,
    group: Group,
    backends: Vec<String>,
    simulated: Vec<String>,
    quotient: Option<[String; 2]>,
    percentile: Option<f64>,
    #[serde(default)]
    notes: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Less,
    More,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Group {
    Counter,
    Throughput,
    Latency,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=metrics.toml");
    let file: File = toml::from_str(&fs::read_to_string("metrics.toml")?)?;
    let names: Vec<&str> = file.metric.iter().map(|m| m.name.as_str()).collect();
    for (index, metric) in file.metric.iter().enumerate() {
        if let Some(problem) = metric.problem(&names[..index], &names) {
            return Err(format!("metrics.toml: {}: {problem}", metric.name).into());
        }
    }
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("metrics.rs"), generate(&file.metric)?)?;
    Ok(())
}

impl Metric {
    /// The error in the entry, if there is one.
    fn problem(&self, earlier: &[&str], all: &[&str]) -> Option<String> {
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !self.name.starts_with(|c: char| c.is_ascii_lowercase()) || !self.name.chars().all(word)
        {
            return Some("a name has lower-case letters, digits and underscores".into());
        }
        if earlier.contains(&self.name.as_str()) {
            return Some("the name occurs twice".into());
        }
        if self.digits > 6 || self.backends.is_empty() {
            return Some("a metric has at most 6 digits and at least one backend".into());
        }
        for backend in &self.backends {
            if backend_variant(backend).is_err() {
                return Some(format!("there is no backend {backend:?}"));
            }
        }
        for backend in self.simulated.iter().chain(self.notes.keys()) {
            if !self.backends.contains(backend) {
                return Some(format!("{backend} is not among its backends"));
            }
        }
        for part in self.quotient.iter().flatten() {
            if !all.contains(&part.as_str()) {
                return Some(format!("its quotient divides {part:?}, which is no metric"));
            }
        }
        None
    }
}

/// The source of the enum and of the table.
fn generate(metrics: &[Metric]) -> Result<String, Box<dyn Error>> {
    let mut variants = String::new();
    let mut all = String::new();
    let mut table = String::new();
    for metric in metrics {
        let variant = variant(&metric.name);
        writeln!(variants, "/// {}\n{variant},", metric.description)?;
        write!(all, "Metric::{variant}, ")?;
        table.push_str(&properties(metric)?);
    }
    let count = metrics.len();
    Ok(format!(
        "/// A quantity that a backend measures; `metrics.toml` lists them, in this order.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n\
         pub enum Metric {{\n{variants}}}\n\
         impl Metric {{\n\
         /// All metrics, in the order of `metrics.toml`.\n\
         pub const ALL: [Metric; {count}] = [{all}];\n}}\n\
         static PROPERTIES: [Properties; {count}] = [\n{table}];\n"
    ))
}

fn properties(metric: &Metric) -> Result<String, Box<dyn Error>> {
    let backends = |names: &[String]| -> Result<String, Box<dyn Error>> {
        let names = names.iter().map(|name| backend_variant(name));
        Ok(names.collect::<Result<Vec<_>, _>>()?.join(", "))
    };
    let mut notes = String::new();
    for (backend, note) in &metric.notes {
        write!(notes, "({}, {note:?}), ", backend_variant(backend)?)?;
    }
    let quotient = metric
        .quotient
        .as_ref()
        .map(|[over, under]| format!("(Metric::{}, Metric::{})", variant(over), variant(under)));
    let some = |text: Option<String>| text.map_or("None".into(), |text| format!("Some({text})"));
    Ok(format!(
        "Properties {{ name: {:?}, label: {:?}, description: {:?}, unit: {:?}, digits: {}, \
         wanted: {}, group: Group::{:?}, backends: &[{}], simulated: &[{}], quotient: {}, \
         percentile: {}, notes: &[{notes}] }},\n",
        metric.name,
        metric.label,
        metric.description,
        metric.unit,
        metric.digits,
        some(metric.wanted.as_ref().map(|it| format!("Wanted::{it:?}"))),
        metric.group,
        backends(&metric.backends)?,
        backends(&metric.simulated)?,
        some(quotient),
        some(metric.percentile.map(|it| format!("{it:?}"))),
    ))
}

/// The path of a backend's enum variant.
fn backend_variant(name: &str) -> Result<String, String> {
    BACKENDS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, variant)| format!("BackendName::{variant}"))
        .ok_or_else(|| format!("there is no backend {name:?}"))
}

/// `l1_hits` becomes `L1Hits`, `latency_p99_9_us` becomes `LatencyP99_9Us`.
fn variant(name: &str) -> String {
    let mut result = String::new();
    for word in name.split('_') {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if digit(result.chars().last()) && digit(word.chars().next()) {
            result.push('_');
        }
        let mut letters = word.chars();
        result.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        result.push_str(letters.as_str());
    }
    result
}
