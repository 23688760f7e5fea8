//! Simulations of designs. One runs at a time for all readers, and the last one can be read until
//! the next begins.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use rowhouse_model::{Error, ErrorKind};
use tokio::sync::OwnedSemaphorePermit;

use super::super::page::{Page, Place};
use super::super::reader::Reader;
use super::super::shown::count;
use super::super::state::{Web, failed};
use super::super::words;
use super::form::page_of;
use super::latest::{Designs, Progress, Simulation, Simulations};
use crate::http::body::{Read, read_form};
use crate::http::form::pairs;
use crate::limits::{WEB_DESIGN_FORM_BYTES_MAX, WEB_DESIGN_WAIT, WEB_SIMULATION_WAIT};
use crate::simulator::DesignSimulator;

const PATH: &str = "/design/simulation";
/// How often a browser looks for progress.
const REFRESH: Duration = Duration::from_secs(1);

/// Returns the form that begins a simulation.
pub(super) fn offer(reader: &Reader) -> Markup {
    html! { form action=(PATH) method="post" {
        @for name in ["w", "table", "lang"] {
            @let value = reader.param(name);
            @if !value.is_empty() { input type="hidden" name=(name) value=(value); }
        }
        button { (reader.text(words::SIMULATE_BEST)) }
        span.dim { (reader.text(words::SIMULATE_MORE)) }
    } }
}

/// Names what simulates designs if the server does not.
pub(super) fn elsewhere(reader: &Reader) -> Markup {
    html! { p.dim {
        (reader.text(words::DESIGN_SIMULATE)) " " code { "rowhouse advise" } (reader.text(words::END))
    } }
}

/// Begins a simulation, unless one runs, and leads to the page with the progress.
pub(in crate::web) async fn start(
    State(web): State<Web>,
    reader: Reader,
    request: Request,
) -> Response {
    let fields = match read_form(request.into_body(), WEB_DESIGN_FORM_BYTES_MAX).await {
        Read::Whole(body) => String::from_utf8(body).ok().and_then(|body| pairs(&body).ok()),
        Read::TooLong(_) | Read::Lost => None,
    };
    let refuse = |error: Error| Page::of_error(&reader, &error).response(&web, &reader);
    let Some(fields) = fields else {
        return refuse(Error::invalid(format!(
            "the form is malformed, or too long: max={WEB_DESIGN_FORM_BYTES_MAX}"
        )));
    };
    let Some(simulator) = web.context.cluster.options.simulator.clone() else {
        return refuse(Error::new(
            ErrorKind::Unsupported,
            "this server simulates no designs: use rowhouse advise",
        ));
    };
    let Ok(permit) = Arc::clone(&web.designs).try_acquire_owned() else {
        return Page::busy(&reader).response(&web, &reader);
    };
    let reader = reader.with_fields(&fields);
    let simulation = web.simulations.begin(fields, web.context.cluster.store.now_millis());
    let address = reader.link(&format!("{PATH}/{}", simulation.number), &[]);
    let served = Arc::downgrade(&web.simulations);
    let running = Arc::clone(&simulation);
    let run = move || running.run(web, &reader, &*simulator, &served, permit);
    tokio::spawn(async move {
        if let Err(error) = tokio::task::spawn_blocking(run).await {
            tracing::error!(%error, "a simulation of designs was interrupted");
            let error = Error::new(ErrorKind::Io, format!("the simulation ended: {error}"));
            *simulation.state.lock() = Progress::Ended(Box::new(Err(error)));
        }
    });
    (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response()
}

/// Shows the progress of a simulation, or the designs.
pub(in crate::web) async fn show(
    State(web): State<Web>,
    Path(number): Path<i64>,
    reader: Reader,
) -> Response {
    let Some(simulation) = web.simulations.get(number) else {
        let body = html! { p { (reader.text(words::SIMULATION_GONE)) } };
        let mut page = Page::new(Place::Design, reader.text(words::DESIGN), body);
        page.status = StatusCode::NOT_FOUND;
        return page.response(&web, &reader);
    };
    let made = tokio::task::spawn_blocking(move || {
        let of_fields = reader.with_fields(&simulation.fields);
        simulation.page(&of_fields).response(&web, &reader)
    });
    made.await.unwrap_or_else(|error| failed(&error))
}

impl Simulation {
    fn run(
        &self,
        web: Web,
        reader: &Reader,
        simulator: &dyn DesignSimulator,
        served: &Weak<Simulations>,
        _permit: OwnedSemaphorePermit,
    ) {
        let begun = Instant::now();
        let designs = Designs::search(&web, reader, reader.param("w"), begun + WEB_DESIGN_WAIT);
        // What is left needs no table, and ends when the pages do.
        drop(web);
        let until = Instant::now() + WEB_SIMULATION_WAIT;
        let simulated = designs.and_then(|designs| {
            designs.simulated(simulator, &mut |number, count| {
                *self.state.lock() = Progress::Simulating(number, count);
                Instant::now() < until && served.strong_count() > 0
            })
        });
        *self.state.lock() = Progress::Ended(Box::new(simulated));
    }

    fn page(&self, reader: &Reader) -> Page {
        let state = self.state.lock();
        let progress = match &*state {
            Progress::Ended(designs) => {
                return page_of(reader, reader.param("w"), (**designs).as_ref(), &html! {});
            }
            Progress::Estimating => html! { p role="status" { (reader.text(words::ESTIMATING)) } },
            Progress::Simulating(number, most) => html! {
                p role="status" {
                    (reader.text(words::SIMULATING)) (reader.text(words::COLON)) (count(*number)) " "
                    (reader.text(words::AT_MOST)) " " (count(*most))
                }
                progress aria-label=(reader.text(words::SIMULATING)) max=(most) value=(number - 1) {}
            },
        };
        Page::new(Place::Design, reader.text(words::DESIGN), progress).refreshed(REFRESH)
    }
}
