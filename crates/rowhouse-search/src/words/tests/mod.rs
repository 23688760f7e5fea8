mod language;
mod model;
mod ranking;
