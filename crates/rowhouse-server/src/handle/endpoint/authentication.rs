//! HBase's AuthenticationService: a token for jobs of the user who calls.

use rowhouse_format::convert::endpoint;
use rowhouse_format::proto;
use rowhouse_model::Result;

use super::PROTOS;
use crate::access::Identity;
use crate::context::Context;

/// Makes a token, which ends no later than the proof of the user.
///
/// # Errors
/// `AccessDenied` for a user who is only claimed, and on a server that takes no tokens.
pub(super) fn token(context: &Context, identity: &Identity) -> Result<proto::NameBytesPair> {
    let cluster = &context.cluster;
    let token = cluster.access.users.token_for(identity, &cluster.id)?;
    let token = proto::AuthenticationToken {
        identifier: Some(token.identifier),
        password: Some(token.password),
        service: Some(token.service.into()),
    };
    let answer = proto::GetAuthenticationTokenResponse { token: Some(token) };
    let class = format!("{PROTOS}AuthenticationProtos$GetAuthenticationTokenResponse");
    Ok(endpoint::answer(&class, &answer))
}

/// Returns the user who calls, and the proof.
pub(super) fn who_am_i(identity: &Identity) -> proto::NameBytesPair {
    let user = Some(identity.user.clone()).filter(|user| !user.is_empty());
    let method = user.is_some().then(|| identity.proof.method().to_owned());
    let answer = proto::WhoAmIResponse { username: user, auth_method: method };
    endpoint::answer(&format!("{PROTOS}AuthenticationProtos$WhoAmIResponse"), &answer)
}
