//! How a static program looks up host names.

/// Restricts lookups to `/etc/hosts` and DNS. A static program of glibc would otherwise load the
/// modules that the machine's `nsswitch.conf` names, which may be of another glibc.
#[cfg(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static"))]
pub(crate) fn use_hosts_file_and_dns() {
    use std::ffi::{c_char, c_int};
    unsafe extern "C" {
        fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
    }
    for (database, services) in [(c"hosts", c"files dns"), (c"passwd", c"files")] {
        // SAFETY: glibc declares the function so, and copies both strings. No other thread runs.
        let refused = unsafe { __nss_configure_lookup(database.as_ptr(), services.as_ptr()) } != 0;
        assert!(!refused, "glibc has the services `files` and `dns`");
    }
}

/// A program that loads glibc looks up names as that is configured.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static")))]
pub(crate) fn use_hosts_file_and_dns() {}
