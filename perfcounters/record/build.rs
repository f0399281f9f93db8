//! Turns `metrics.toml` into the enum `Metric` and the table of its properties. If a name in the file is
//! wrong, the compiler rejects what is written here.

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// The metrics of each table.
#[derive(Deserialize)]
struct Tables {
    counter: Vec<Metric>,
    throughput: Vec<Metric>,
    latency: Vec<Metric>,
}

/// One metric; the head of `metrics.toml` explains the fields. The others are for the report.
#[derive(Deserialize)]
struct Metric {
    name: String,
    label: String,
    description: String,
    unit: Option<String>,
    digits: Option<usize>,
    backends: Option<Vec<String>>,
    #[serde(default)]
    simulated: Vec<String>,
    quotient: Option<[String; 2]>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=metrics.toml");
    let tables: Tables = toml::from_str(&fs::read_to_string("metrics.toml")?)?;
    let out = Path::new(&env::var("OUT_DIR")?).join("metrics.rs");
    fs::write(out, generate(tables)?)?;
    Ok(())
}

/// The source of the enum and of its properties.
fn generate(tables: Tables) -> Result<String, std::fmt::Error> {
    let (mut variants, mut all, mut properties) = (String::new(), String::new(), String::new());
    for (group, metrics) in [
        ("Counter", tables.counter),
        ("Throughput", tables.throughput),
        ("Latency", tables.latency),
    ] {
        for metric in metrics {
            let (name, variant) = (&metric.name, variant(&metric.name));
            writeln!(variants, "/// {}", metric.description)?;
            writeln!(
                variants,
                "#[serde(rename = {name:?})] #[strum(serialize = {name:?})]"
            )?;
            writeln!(variants, "{variant},")?;
            write!(all, "Self::{variant}, ")?;
            writeln!(
                properties,
                "Self::{variant} => &Properties {{ label: {:?}, unit: {:?}, digits: {}, \
                 group: Group::{group}, backends: &[{}], simulated: &[{}], quotient: {} }},",
                metric.label,
                metric.unit.as_deref().unwrap_or("us"),
                metric.digits.unwrap_or(2),
                paths(
                    "BackendName",
                    &metric.backends.unwrap_or(vec!["wall".into()])
                ),
                paths("BackendName", &metric.simulated),
                metric.quotient.map_or("None".into(), |parts| {
                    format!("Some(({}))", paths("Metric", &parts))
                }),
            )?;
        }
    }
    Ok(format!(
        "/// A quantity that a backend measures; `metrics.toml` lists them, in this order.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize,\n\
         serde::Deserialize, strum::Display, strum::EnumCount, strum::EnumString, strum::IntoStaticStr)]\n\
         pub enum Metric {{\n{variants}}}\n\
         impl Metric {{\n\
         /// All metrics, in the order of `metrics.toml`.\n\
         pub const ALL: [Self; <Self as strum::EnumCount>::COUNT] = [{all}];\n\
         fn properties(self) -> &'static Properties {{ match self {{\n{properties}}} }}\n}}\n"
    ))
}

/// The variants of an enum with these names, separated by commas.
fn paths(of: &str, names: &[String]) -> String {
    let paths = names.iter().map(|name| format!("{of}::{}", variant(name)));
    paths.collect::<Vec<_>>().join(", ")
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
