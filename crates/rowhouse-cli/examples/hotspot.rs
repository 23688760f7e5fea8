//! Which row keys load one server in a cluster, and which load all? The program runs a cluster with
//! four region servers in this process, as `rowhouse demo hotspot` does, and checks what the
//! literature says about salts.

#[path = "../src/command/demo/hotspot/mod.rs"]
mod hotspot;

use clap::Parser;

#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    hotspot: hotspot::HotspotArgs,
}

fn main() -> rowhouse::Result<()> {
    let all = hotspot::run(&Args::parse().hotspot)?;
    let of = |name: &str| all.iter().find(|it| it.name == name).expect("the design is measured");
    // Growing keys are written to one server, salted ones to all.
    let plain = of("plain");
    let salted = of("salted");
    assert!(plain.shares[0] > 0.99, "the busiest server has {:?}", plain.shares);
    let factor = salted.writes_per_second / plain.writes_per_second;
    assert!(factor >= 3.5, "four salts write {factor:.2} times as much");
    // A reader that does not know the salt queries every server.
    assert_eq!((plain.get.servers, salted.get.servers), (1.0, 4.0));
    // A bucket computed from the key needs no such search.
    assert_eq!(of("bucketed by hash").get.servers, 1.0);
    println!("four salts write {factor:.1} times as much as the plain key");
    Ok(())
}
