mod language;
mod model;
