//! The shell commands that lead to a design.

use super::table_design::Design;
use super::workload::Workload;

impl Design {
    /// Returns the shell command that creates a table with this design, on several lines; `NAME`
    /// stands for the table name.
    ///
    /// ```
    /// use rowhouse_schema::{Design, Workload};
    ///
    /// let workload = Workload::parse("field user string: 3 values\nfield at millis: now")?;
    /// let design = Design::new(&workload, "[user string][at millis desc]", "")?;
    /// let command = "create 'NAME', 'd',\n  KEY => '[user string][at millis desc]'";
    /// assert_eq!(design.declaration(), command);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn declaration(&self) -> String {
        let families: Vec<String> = self.families().iter().map(|name| quoted(name)).collect();
        let key = quoted(&self.key().to_string());
        let mut command = format!("create 'NAME', {},\n  KEY => {key}", families.join(", "));
        if let Some(columns) = self.columns() {
            command += &format!(",\n  COLUMNS => {}", quoted(&columns.to_string()));
        }
        if !self.indexes().is_empty() {
            command += &format!(",\n  INDEXES => {}", quoted(&self.index_texts().join("; ")));
        }
        command
    }

    /// Returns the shell commands from the present design in a workload to this one, while programs
    /// use the table, or a sentence if no commands lead there; nothing if the workload has no
    /// present design.
    ///
    /// ```
    /// use rowhouse_schema::{Design, Workload};
    ///
    /// let text = "\
    /// key [at millis][user string]
    /// field user string: 3 values
    /// field at millis: now";
    /// let workload = Workload::parse(text)?;
    /// let design = Design::new(&workload, "[user string][at millis desc]", "")?;
    /// assert_eq!(
    ///     design.steps(&workload),
    ///     [
    ///         "alter 'NAME', INDEXES => 'advised [user][at desc] covers *'",
    ///         "promote_index 'NAME', 'advised'",
    ///         "alter 'NAME', INDEXES => ''",
    ///     ]
    /// );
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn steps(&self, workload: &Workload) -> Vec<String> {
        let Some(present) = workload.key() else { return Vec::new() };
        let alter = |indexes: &[String]| {
            format!("alter 'NAME', INDEXES => {}", quoted(&indexes.join("; ")))
        };
        let last = alter(&self.index_texts());
        if present.to_string() == self.key().to_string() {
            return vec![last];
        }
        let Some(copy) = self.copy_of(present, "advised") else {
            return vec![
                "The types of the fields change, so no index leads there: create the table anew, \
                 and import its rows."
                    .to_owned(),
            ];
        };
        let with_copy: Vec<String> = workload.indexes().iter().cloned().chain([copy]).collect();
        let promote = "promote_index 'NAME', 'advised'".to_owned();
        // The last step drops the old key, which the promotion leaves as an index.
        vec![alter(&with_copy), promote, last]
    }

    fn index_texts(&self) -> Vec<String> {
        self.indexes().iter().map(ToString::to_string).collect()
    }
}

/// Returns a text as the shell reads it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
