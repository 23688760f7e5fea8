//! The options ANALYZE and SVG: what a read looked at, instead of the rows.

use rowhouse::query::Analysis;

use crate::analysis::json_of;
use crate::drawing::write_drawing;
use crate::shell::failure::{Result, usage_error};
use crate::shell::grammar::Value;
use crate::shell::options::{OptionText, Options};
use crate::shell::session::Session;

pub(super) const ANALYZE: OptionText = (
    "ANALYZE",
    "true or 'json': runs the read and shows what it looked at; on a data directory only",
);
pub(super) const SVG: OptionText =
    ("SVG", "with ANALYZE: a file to draw into: the files and what was read of them");

/// How an analysis is shown.
pub(super) struct Analyze {
    as_json: bool,
    svg: Option<String>,
}

impl Analyze {
    /// Takes the options; `None` if the rows themselves are requested.
    pub(super) fn take(options: &mut Options) -> Result<Option<Self>> {
        let svg = options.take_text("SVG")?;
        let as_json = match options.take("ANALYZE") {
            None if svg.is_none() => return Ok(None),
            None | Some(Value::Boolean(true)) => false,
            Some(Value::Boolean(false)) => return Ok(None),
            Some(Value::Text(text)) if text == "json" => true,
            Some(other) => {
                return usage_error(format!("ANALYZE must be true, false or 'json': {other}"));
            }
        };
        Ok(Some(Self { as_json, svg }))
    }

    pub(super) fn say(&self, session: &mut Session, analysis: &Analysis) -> Result<()> {
        if let Some(path) = &self.svg {
            write_drawing(path, &analysis.to_svg())?;
        }
        if self.as_json {
            session.say(json_of(analysis))
        } else {
            session.say(analysis.to_string().trim_end())
        }
    }
}
