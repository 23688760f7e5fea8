//! An analysis as a drawing: the files in each family, and what was read from them.

use rowhouse_model::{Svg, SvgStyle, escape};
use rowhouse_store::{FILE_PARTS, FamilyReads, FileReads};

use super::{Analysis, size, why_not_read};

const LEFT: f64 = 250.0;
const WIDTH: f64 = 512.0;
const LINE: f64 = 20.0;
const BAR: f64 = 14.0;
const PART: f64 = WIDTH / FILE_PARTS as f64;

impl Analysis {
    /// Returns a drawing in SVG: a bar for each file, on which the parts that were read are marked.
    /// It is readable on light and dark pages and in print.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let analysis = mail.query("user = 'bob'").analyze().await?;
    /// std::fs::write("bob.svg", analysis.to_svg()).expect("the directory can be written");
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_svg(&self) -> String {
        let mut drawing = Drawing { svg: Svg::new(), y: 24.0 };
        drawing.line(16.0, "title", &self.asked);
        let total = self.total();
        let sums = format!(
            "{} of {} files; {} blocks from the cache, {} from the disk ({}); {} cells looked at, {} returned",
            total.files_read,
            total.files_read + total.files_left_out,
            total.blocks_cached,
            total.blocks_from_disk,
            size(total.bytes_from_disk),
            total.cells_read,
            self.cells_returned(),
        );
        drawing.line(16.0, "", &sums);
        for table in &self.reads.tables {
            for region in &table.regions {
                let [from, to] = [&region.range.start, &region.range.stop]
                    .map(|key| self.key(&table.table, key));
                drawing.y += 6.0;
                let heading = format!("{}: region from {from} to {to}", table.table);
                drawing.line(16.0, "heading", &heading);
                region.families.iter().for_each(|family| drawing.family(family));
            }
        }
        drawing.finish()
    }
}

const STYLE: SvgStyle<'_> = SvgStyle {
    font_size: 11,
    rules: ".title { font-size: 14px } .heading { font-weight: bold } \
            .file { fill: #e6edf5; stroke: #667 } .out { fill: none; stroke-dasharray: 3 3 } \
            .read { fill: #b33c00 }",
    dark: ".file { fill: #26323f; stroke: #99a } .out { fill: none } .read { fill: #ffa94d }",
    print: ".file { fill: #eee; stroke: #444 } .out { fill: none } .read { fill: #333 }",
};

struct Drawing {
    svg: Svg,
    /// The next line's base line.
    y: f64,
}

impl Drawing {
    fn line(&mut self, x: f64, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(r#"class="{class}""#) };
        self.svg.text((x, self.y), &class, text);
        self.y += LINE;
    }

    fn family(&mut self, reads: &FamilyReads) {
        let name = escape(&reads.family);
        let text = format!("family {name}, memory: {} cells looked at", reads.memory_cells);
        self.line(24.0, "", &text);
        reads.files.iter().for_each(|file| self.file(file));
    }

    fn file(&mut self, file: &FileReads) {
        let y = self.y - BAR + 3.0;
        let why = why_not_read(file);
        let class = if why.is_some() { "file out" } else { "file" };
        self.svg.rect(class, (LEFT, y), (WIDTH, BAR));
        let mut first = 0;
        for run in file.parts_read.chunk_by(|one, next| one == next) {
            let x = LEFT + first as f64 * PART;
            let width = run.len() as f64 * PART;
            first += run.len();
            if run[0] {
                self.svg.rect("read", (x, y), (width, BAR));
            }
        }
        let name = format!("{}, {}", file.path, size(file.len));
        self.svg.text((LEFT - 8.0, self.y), r#"text-anchor="end""#, &name);
        let result = why.unwrap_or_else(|| {
            let blocks = file.blocks_cached + file.blocks_from_disk;
            format!("{blocks} blocks, {} cells", file.cells_read)
        });
        self.line(LEFT + WIDTH + 8.0, "", &result);
    }

    fn finish(self) -> String {
        self.svg.finish((LEFT + WIDTH + 230.0, self.y + 8.0), &STYLE)
    }
}
