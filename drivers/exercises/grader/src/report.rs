//! Marks: for people, and as `results.json` in exercism's form (version 3 of its test runners).

use serde_json::{json, Value};

use crate::course::Test;
use crate::run::Outcome;

/// Characters of a driver's output. Exercism's form permits no more.
const MAX_OUTPUT: usize = 500;

/// The results so far.
#[derive(Default)]
pub struct Results {
    /// For people.
    pub text: String,
    tests: Vec<Value>,
    marks: u32,
    full_marks: u32,
    /// The compiler's.
    errors: Option<String>,
    /// Instructions a packet of this driver and of the project's.
    pub instructions: Option<[f64; 2]>,
}

impl Results {
    /// Whether all tests so far have passed.
    pub fn full(&self) -> bool {
        self.marks == self.full_marks
    }

    /// Adds a test of part `task_id`. Only the first that fails is described: the others may follow from it.
    pub fn add(&mut self, test: &Test, task_id: usize, (outcome, output): (Outcome, String)) {
        let (name, weight, first) = (&test.name, test.weight, self.full());
        let (status, word, step) = match outcome {
            Outcome::Passed => ("pass", "pass ", None),
            Outcome::Failed(step) => ("fail", "FAIL ", Some(step)),
            Outcome::Crashed(reason) => ("error", "CRASH", Some(reason)),
        };
        let marks = if step.is_none() { weight } else { 0 };
        self.marks += marks;
        self.full_marks += weight;
        self.text += &format!("  {word} {marks}/{weight}  {name}\n");
        let message = step.filter(|_| first);
        if let Some(step) = &message {
            self.text += &format!("        {step}\n");
        }
        let output: String = output.chars().take(MAX_OUTPUT).collect();
        let output = message.as_ref().map(|_| output);
        self.tests.push(
            json!({"name": name, "status": status, "message": message, "output": output,
            "task_id": task_id, "weight": weight, "marks": marks}),
        );
    }

    /// Adds tests that cannot run, because the driver does not compile.
    pub fn add_error(&mut self, tests: &[&Test], errors: &str) {
        self.full_marks += tests.iter().map(|test| test.weight).sum::<u32>();
        self.text += &format!("It does not compile:\n{errors}");
        *self.errors.get_or_insert_default() += errors;
    }

    /// The last lines for people.
    pub fn end(&self) -> String {
        let marks = format!("marks: {} of {}", self.marks, self.full_marks);
        self.instructions.map_or(marks.clone(), |[own, shipped]| {
            format!(
                "{marks}\ninstructions a packet (no marks): {own:.2}; of the project's driver, built alike: {shipped:.2}"
            )
        })
    }

    /// `results.json`. The seed repeats the run.
    pub fn json(&self, seed: u64) -> Value {
        let status = match (&self.errors, self.full()) {
            (Some(_), _) => "error",
            (None, full) => ["fail", "pass"][usize::from(full)],
        };
        json!({"version": 3, "status": status, "message": self.errors, "tests": self.tests, "marks": self.marks,
            "full_marks": self.full_marks, "seed": seed, "instructions": self.instructions})
    }
}
