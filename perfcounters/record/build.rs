//! Turns `metrics.toml` into the enum `Metric` and the table of its properties. If a name in the file is
//! wrong, the compiler rejects what is written here.

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    metric: Vec<Metric>,
}

/// One metric; the head of `metrics.toml` explains the fields. The others are for the report.
#[derive(Deserialize)]
struct Metric {
    name: String,
    label: String,
    description: String,
    unit: String,
    digits: usize,
    group: String,
    backends: Vec<String>,
    #[serde(default)]
    simulated: Vec<String>,
    quotient: Option<[String; 2]>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=metrics.toml");
    let file: File = toml::from_str(&fs::read_to_string("metrics.toml")?)?;
    let out = Path::new(&env::var("OUT_DIR")?).join("metrics.rs");
    fs::write(out, generate(&file.metric)?)?;
    Ok(())
}

/// The source of the enum and of the table.
fn generate(metrics: &[Metric]) -> Result<String, std::fmt::Error> {
    let (mut variants, mut all, mut table) = (String::new(), String::new(), String::new());
    for metric in metrics {
        let variant = variant(&metric.name);
        writeln!(variants, "/// {}", metric.description)?;
        writeln!(variants, "#[serde(rename = {:?})]", metric.name)?;
        writeln!(variants, "#[strum(serialize = {:?})]", metric.name)?;
        writeln!(variants, "{variant},")?;
        write!(all, "Self::{variant}, ")?;
        table.push_str(&properties(metric));
    }
    let count = metrics.len();
    Ok(format!(
        "/// A quantity that a backend measures; `metrics.toml` lists them, in this order.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize,\n\
         serde::Deserialize, strum::Display, strum::EnumString, strum::IntoStaticStr)]\n\
         pub enum Metric {{\n{variants}}}\n\
         impl Metric {{\n\
         /// All metrics, in the order of `metrics.toml`.\n\
         pub const ALL: [Metric; {count}] = [{all}];\n}}\n\
         static PROPERTIES: [Properties; {count}] = [\n{table}];\n"
    ))
}

fn properties(metric: &Metric) -> String {
    let path = |of: &str, name: &String| format!("{of}::{}", variant(name));
    let backends = |names: &[String]| {
        let names = names.iter().map(|name| path("BackendName", name));
        names.collect::<Vec<_>>().join(", ")
    };
    let quotient = metric.quotient.as_ref().map_or("None".into(), |parts| {
        let [over, under] = parts.each_ref().map(|name| path("Metric", name));
        format!("Some(({over}, {under}))")
    });
    format!(
        "Properties {{ label: {:?}, unit: {:?}, digits: {}, group: {}, backends: &[{}], \
         simulated: &[{}], quotient: {quotient} }},\n",
        metric.label,
        metric.unit,
        metric.digits,
        path("Group", &metric.group),
        backends(&metric.backends),
        backends(&metric.simulated),
    )
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
