//! The records, in an SQLite database.

use std::path::Path;

use anyhow::{ensure, Context, Result};
use rusqlite::{params, Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

/// The most records of a database, so that clients who post cannot fill memory or disk.
pub const MAX_RECORDS: u64 = 1_000_000;

/// The longest name of a record in bytes.
const MAX_NAME: usize = 1024;

/// A record.
#[derive(Debug, Serialize, PartialEq)]
pub struct Record {
    id: i64,
    name: String,
    value: f64,
}

/// A record that a client posts. It has no id yet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRecord {
    name: String,
    value: f64,
}

/// Why a record is not stored.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no record.
    Malformed,
    /// There are too many records already.
    Full,
    /// The database fails.
    Failed,
}

/// The records of a database.
pub struct Records {
    database: Connection,
    count: u64,
}

impl Records {
    /// Opens a database file, or one in memory. If it has no records yet, it gets `count` of them.
    ///
    /// # Errors
    /// If the file cannot be used, or has another table of this name.
    pub fn open(file: Option<&Path>, count: u64) -> Result<Self> {
        let name = file.map_or("memory".into(), |file| file.display().to_string());
        let database = match file {
            Some(file) => Connection::open(file),
            None => Connection::open_in_memory(),
        };
        let records = database
            .map_err(anyhow::Error::from)
            .and_then(|database| Self::prepare(database, count));
        records.with_context(|| format!("{name}: cannot use the database"))
    }

    fn prepare(mut database: Connection, count: u64) -> Result<Self> {
        database.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = NORMAL;
             CREATE TABLE IF NOT EXISTS records (
                 id INTEGER PRIMARY KEY, name TEXT NOT NULL, value REAL NOT NULL
             );",
        )?;
        let stored: i64 =
            database.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?;
        if stored == 0 {
            let transaction = database.transaction()?;
            {
                let mut insert = transaction
                    .prepare("INSERT INTO records (id, name, value) VALUES (?1, ?2, ?3)")?;
                for id in 1..=count {
                    insert.execute(params![id as i64, format!("record {id}"), id as f64 / 8.0])?;
                }
            }
            transaction.commit()?;
        }
        let records = Self {
            count: if stored == 0 { count } else { stored as u64 },
            database,
        };
        ensure!(
            records.count <= MAX_RECORDS,
            "it has {} records; at most {MAX_RECORDS} are served",
            records.count
        );
        Ok(records)
    }

    /// The number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Appends a record as JSON. Returns whether there is such a record.
    ///
    /// # Errors
    /// If the database fails.
    pub fn read(&self, id: i64, json: &mut Vec<u8>) -> Result<bool> {
        let mut select = self
            .database
            .prepare_cached("SELECT id, name, value FROM records WHERE id = ?1")?;
        let record = select
            .query_row([id], |row| {
                Ok(Record {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    value: row.get(2)?,
                })
            })
            .optional()?;
        match record {
            Some(record) => {
                serde_json::to_writer(json, &record)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Stores the record that a client posted as JSON, and appends it with its id.
    ///
    /// # Errors
    /// Why it is not stored.
    pub fn add(&mut self, posted: &[u8], json: &mut Vec<u8>) -> Result<(), Refusal> {
        let new: NewRecord = serde_json::from_slice(posted).map_err(|_| Refusal::Malformed)?;
        if new.name.len() > MAX_NAME || !new.value.is_finite() {
            return Err(Refusal::Malformed);
        }
        if self.count >= MAX_RECORDS {
            return Err(Refusal::Full);
        }
        let insert = || -> rusqlite::Result<i64> {
            self.database
                .prepare_cached("INSERT INTO records (name, value) VALUES (?1, ?2)")?
                .insert(params![new.name, new.value])
        };
        let id = insert().map_err(|_| Refusal::Failed)?;
        self.count += 1;
        let record = Record {
            id,
            name: new.name,
            value: new.value,
        };
        serde_json::to_writer(json, &record).map_err(|_| Refusal::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(records: &Records, id: i64) -> Option<String> {
        let mut json = Vec::new();
        let found = records.read(id, &mut json).unwrap();
        found.then(|| String::from_utf8(json).unwrap())
    }

    #[test]
    fn a_record_is_read_by_its_id() {
        let records = Records::open(None, 100).unwrap();
        assert_eq!(records.count(), 100);
        let expected = r#"{"id":8,"name":"record 8","value":1.0}"#;
        assert_eq!(read(&records, 8).as_deref(), Some(expected));
        for id in [0, -1, 101, i64::MAX] {
            assert_eq!(read(&records, id), None);
        }
    }

    #[test]
    fn a_posted_record_stays_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("records.db");
        let mut records = Records::open(Some(&file), 2).unwrap();
        let mut json = Vec::new();
        records
            .add(br#"{"name":"new \"x\"","value":2.5}"#, &mut json)
            .unwrap();
        let expected = r#"{"id":3,"name":"new \"x\"","value":2.5}"#;
        assert_eq!(String::from_utf8(json).unwrap(), expected);
        drop(records);
        let records = Records::open(Some(&file), 2).unwrap();
        assert_eq!(records.count(), 3);
        assert_eq!(read(&records, 3).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let mut records = Records::open(None, 1).unwrap();
        let long = format!(r#"{{"name":"{}","value":1}}"#, "x".repeat(MAX_NAME + 1));
        for posted in [
            "",
            "{}",
            "[1]",
            r#"{"name":"x"}"#,
            r#"{"name":"x","value":1,"id":7}"#,
            &long,
        ] {
            let refused = records.add(posted.as_bytes(), &mut Vec::new());
            assert_eq!(refused, Err(Refusal::Malformed), "{posted}");
        }
        assert_eq!(records.count(), 1);
    }

    #[test]
    fn a_file_that_is_no_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(
            &file,
            "this is no database, and long enough to have a header",
        )
        .unwrap();
        let Err(error) = Records::open(Some(&file), 1) else {
            panic!("it was opened")
        };
        assert!(
            format!("{error:#}").contains("text: cannot use the database"),
            "{error:#}"
        );
    }
}
