//! What the card reports about its driver: mistakes, and requests for features that the card does
//! not model.

/// The most texts of each kind that one session keeps.
const MAX_TEXTS: usize = 256;

/// The reports on the current driver. Each text appears once.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    port: usize,
    /// The driver's mistakes, in words.
    pub(crate) notes: Vec<String>,
    /// The unmodelled features that the driver asked for, in words.
    pub(crate) unmodelled: Vec<String>,
}

impl Diagnostics {
    pub(crate) fn new(port: usize) -> Self {
        Self {
            port,
            notes: Vec::new(),
            unmodelled: Vec::new(),
        }
    }

    /// Records a driver's mistake.
    pub(crate) fn note(&mut self, text: String) {
        add_once(&mut self.notes, text);
    }

    /// Records and logs that a driver asked for something that the card does not model.
    pub(crate) fn note_unmodelled(&mut self, text: String) {
        let port = self.port;
        if let Some(text) = add_once(&mut self.unmodelled, text) {
            tracing::warn!(port, "not modelled: {text}");
        }
    }

    /// Forgets everything: a new driver has connected.
    pub(crate) fn clear(&mut self) {
        self.notes.clear();
        self.unmodelled.clear();
    }
}

/// Appends a text that is not in the list yet, while there is room. Returns the text if it is new.
fn add_once(texts: &mut Vec<String>, text: String) -> Option<&String> {
    if texts.len() >= MAX_TEXTS || texts.contains(&text) {
        return None;
    }
    texts.push(text);
    texts.last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_kept_once_and_up_to_a_limit() {
        let mut diagnostics = Diagnostics::new(0);
        for n in 0..2 * MAX_TEXTS {
            diagnostics.note(format!("note {}", n % 200));
            diagnostics.note_unmodelled(format!("feature {n}"));
        }
        assert_eq!(diagnostics.notes.len(), 200);
        assert_eq!(diagnostics.unmodelled.len(), MAX_TEXTS);
        diagnostics.clear();
        assert!(diagnostics.notes.is_empty() && diagnostics.unmodelled.is_empty());
    }
}
