//! The process's limit on open files and sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit on open files and sockets to `required`, or as far as the system permits. Logs
/// a warning if the limit stays lower: connections beyond it are not accepted.
pub(crate) fn raise(required: u64) {
    let limit = getrlimit(Resource::Nofile);
    let have = limit.current.unwrap_or(u64::MAX);
    if have >= required {
        return;
    }
    let most = limit.maximum.unwrap_or(u64::MAX);
    let raised = Rlimit { current: Some(required.min(most)), maximum: limit.maximum };
    let now = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => required.min(most),
        Err(_) => have,
    };
    if now < required {
        tracing::warn!(
            limit = now,
            required,
            "too few file descriptors: some connections will not be accepted; raise `ulimit -n`"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_as_far_as_the_system_lets_it() {
        let before = getrlimit(Resource::Nofile);
        let least = before.current.unwrap_or(u64::MAX);
        raise(least.saturating_add(1));
        let after = getrlimit(Resource::Nofile);
        let most = before.maximum.unwrap_or(u64::MAX);
        assert_eq!(after.current.unwrap_or(u64::MAX), least.saturating_add(1).min(most));
    }
}
