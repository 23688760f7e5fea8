//! What the HTTP ports share: connections, bodies, and which requests are answered.

pub(crate) mod body;
mod connection;
pub(crate) mod form;
pub(crate) mod guard;
mod held_answer;
mod paced;

pub(crate) use self::connection::{HttpClient, HttpPort};
pub(crate) use self::held_answer::{Connection, HeldAnswer};
